/** What touching a file below the working directory adds: rules that match it, and the files of the folders on the way. */

import { dirname, join, relative, resolve, sep } from "node:path";
import { isWithin, realPath } from "../disk/real-path.ts";
import { statOrNull } from "../disk/stat.ts";
import type { InstructionFile } from "./file.ts";
import { foldersBetween } from "./folders.ts";
import { matchesPaths } from "./globs.ts";
import { isClaudeFile, type Loaded, loader, type WaitingRule } from "./load.ts";
import type { InstructionScope } from "./scope.ts";

/** Adds to `loaded` and returns what is new. Each file comes once until everything is loaded afresh. */
export async function touchFile(scope: InstructionScope, loaded: Loaded, path: string): Promise<InstructionFile[]> {
  const file = resolve(scope.cwd, path);
  // The name must lie below, and its folder in truth, too: a linked folder leads elsewhere.
  if (!isWithin(scope.cwd, file) || !isWithin(scope.cwd, realPath(dirname(file)))) return [];
  const start = loaded.files.length;
  const atStart = loaded.files.some(
    (each) => each.source !== "user" && each.source !== "managed" && isClaudeFile(each),
  );
  const load = loader(scope, loaded, false);
  // Whoever reads or writes an instruction file knows it already.
  loaded.paths.add(file);

  const wait = (rule: WaitingRule) => isRuleFor(rule, file);
  const outer = loaded.waiting.filter(({ source }) => source === "managed" || source === "user");
  const inner = loaded.waiting.filter((rule) => !outer.includes(rule));
  for (const rule of outer.filter(wait)) await load.file(rule.path, rule.source);
  for (const folder of foldersBetween(scope.cwd, dirname(file))) {
    // Below what is not there is nothing either.
    if (!statOrNull(folder)?.isDirectory()) break;
    const hasClaude = await load.file(join(folder, "CLAUDE.md"), "project");
    await load.file(join(folder, ".claude", "CLAUDE.md"), "project");
    await load.file(join(folder, "CLAUDE.local.md"), "local");
    await load.rules(join(folder, ".claude", "rules"), "project", folder);
    const here = loaded.waiting.filter(({ base }) => base === folder);
    for (const rule of here.filter(wait)) await load.file(rule.path, rule.source);
    const byClient = scope.agents && !atStart && !hasClaude && !loaded.paths.has(join(folder, "CLAUDE.md"));
    if (byClient || scope.allAgents) await load.agents(folder);
    if (scope.allAgents) await load.others(folder);
  }
  for (const rule of inner.filter(wait)) await load.file(rule.path, rule.source);
  loaded.waiting = loaded.waiting.filter((rule) => !loaded.paths.has(rule.path));
  return loaded.files.slice(start);
}

function isRuleFor(rule: WaitingRule, file: string): boolean {
  if (!isWithin(rule.base, file)) return false;
  return matchesPaths(rule.patterns, relative(rule.base, file).split(sep).join("/"));
}
