/** What a host loads at start, what it passes over and why, and what touching a file adds. */

import { resolve } from "node:path";
import { buildStartContext, type StartContext } from "../context/start.ts";
import { approximateTokens } from "../context/window.ts";
import { isWithin, realPath } from "../disk/fence.ts";
import { MemdirError } from "../errors.ts";
import type { InstructionFile } from "../instructions/file.ts";
import type { ContextAnswer, InstructionRow } from "./api.ts";
import { type Desk, mainOf } from "./desk.ts";

/** Files of megabytes are no instructions, and the page shows all of them at once. */
const MAX_TEXT_CHARS = 200_000;

export async function answerContext(desk: Desk, touch: string | null): Promise<ContextAnswer> {
  const context = await readContext(desk, touch === null ? [] : [insideProject(desk, touch)]);
  const { index, truncated } = context.memory;
  return {
    loaded: context.instructions.map(rowOf),
    notLoaded: context.skipped.map(({ path, reason }) => ({ path, reason })),
    added: context.nested.map(rowOf),
    index: index === null ? null : { text: index, bytes: Buffer.byteLength(index), isCut: truncated },
    warnings: context.warnings,
  };
}

/** As `Memdir.context`, only that looking writes nothing: a missing index is shown as it would be, and not made. */
export async function readContext(desk: Desk, touched: readonly string[]): Promise<StartContext> {
  const { memdir } = desk;
  const looked = { ...mainOf(desk), readOnly: true };
  const instructions = await memdir.instructions();
  return buildStartContext(looked, instructions, memdir.location, memdir.config, memdir.warnings, touched);
}

/** It need not be there: what would be loaded depends on its place alone. */
function insideProject({ memdir }: Desk, path: string): string {
  const { project } = memdir.location;
  const root = project.worktreeRoot ?? project.cwd;
  const touched = resolve(project.cwd, path);
  if (path.includes("\0") || !isWithin(realPath(root), realPath(touched))) {
    throw new MemdirError(
      "outside",
      `${JSON.stringify(path.slice(0, 80))} lies outside the project: name one of its files`,
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
    text: content.length > MAX_TEXT_CHARS ? `${content.slice(0, MAX_TEXT_CHARS).toWellFormed()}…` : content,
  };
}
