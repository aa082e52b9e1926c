/** What a host loads at start, what it skips and why, and what touching a file adds. */

import { resolve } from "node:path";
import { buildStartContext, type StartContext } from "../context/start.ts";
import { approximateTokens } from "../context/window.ts";
import { isWithin, realPath } from "../disk/fence.ts";
import { MemdirError } from "../errors.ts";
import type { InstructionFile } from "../instructions/file.ts";
import type { Memdir } from "../memdir.ts";
import { clip, mainOf } from "./answer.ts";
import type { ContextAnswer, InstructionRow } from "./api.ts";

/** Instructions are never megabytes long, and the page shows all of them at once. */
const MAX_TEXT_CHARS = 200_000;

export async function answerContext(memdir: Memdir, touch: string | null): Promise<ContextAnswer> {
  const context = await readContext(memdir, touch === null ? [] : [insideProject(memdir, touch)]);
  const { index, truncated } = context.memory;
  return {
    loaded: context.instructions.map(rowOf),
    notLoaded: context.skipped.map(({ path, reason }) => ({ path, reason })),
    added: context.nested.map(rowOf),
    index: index === null ? null : { text: index, bytes: Buffer.byteLength(index), isCut: truncated },
    warnings: context.warnings,
  };
}

/** As `Memdir.context`, but a missing index is shown as it would be generated and not written. */
export async function readContext(memdir: Memdir, touched: readonly string[]): Promise<StartContext> {
  const directory = { ...mainOf(memdir), readOnly: true };
  const instructions = await memdir.instructions();
  return buildStartContext(directory, instructions, memdir.location, memdir.config, memdir.warnings, touched);
}

/** The file need not exist: what would be loaded depends on its path alone. */
function insideProject({ location: { project } }: Memdir, path: string): string {
  const touched = resolve(project.cwd, path);
  if (path.includes("\0") || !isWithin(realPath(project.worktreeRoot ?? project.cwd), realPath(touched))) {
    throw new MemdirError(
      "outside",
      `${JSON.stringify(path.slice(0, 80))} is outside the project; give a file inside it`,
    );
  }
  return touched;
}

function rowOf({ path, source, content, label, importedBy }: InstructionFile): InstructionRow {
  return {
    path,
    source,
    bytes: Buffer.byteLength(content),
    tokens: approximateTokens(content),
    reason: importedBy === null ? label : `imported by ${importedBy}`,
    text: clip(content, MAX_TEXT_CHARS),
  };
}
