/** What the page has to know before it shows anything. */

import { basename } from "node:path";
import type { Start } from "./api.ts";
import type { Desk } from "./desk.ts";

export async function answerStart({ memdir, env, readOnly, version }: Desk): Promise<Start> {
  const { project } = memdir.location;
  return {
    version,
    project: basename(project.worktreeRoot ?? project.cwd),
    readOnly,
    directories: memdir.directories.map(({ scope, path, readOnly }) => ({ scope, path, readOnly })),
    warnings: [...memdir.warnings],
    hasModel: (env.MEMDIR_MODEL ?? "").trim() !== "",
  };
}
