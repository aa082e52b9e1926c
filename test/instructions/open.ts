/** Instruction files on a real disk, and the instructions that are opened on them. */

import fs from "node:fs";
import path from "node:path";
import { readConfig } from "../../src/config.ts";
import { openInstructions } from "../../src/instructions/instructions.ts";
import { openScope, type ScopeOptions } from "../../src/instructions/load.ts";
import { findProject } from "../../src/project/locate.ts";
import type { World } from "../world.ts";

/** `put(folder, "sub", "name.md", text)`: the file's path is the answer. */
export function put(...parts: [...string[], string]): string {
  const content = parts.pop() as string;
  const file = path.join(...parts);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, content);
  return file;
}

export function open(world: World, options: ScopeOptions = {}, cwd = world.project) {
  const project = findProject(cwd);
  const config = readConfig({ cwd, env: world.env, projectRoot: project.root });
  return openInstructions(openScope(project, config, options));
}
