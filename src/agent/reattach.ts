/** The files that the model had last seen, shown again after a compaction, within what that may cost (B10.7). */

import { remind } from "../context/attachments.ts";
import { approximateTokens } from "../context/window.ts";
import { isWithin, readRegular } from "../disk/fence.ts";
import type { TextBlock } from "../model/ask.ts";
import { buildFileReattachment } from "../prompts/compaction.ts";
import type { SeenFile } from "../session/file-state.ts";
import { decodeText, linesOf, numberLines } from "../tools/file-text.ts";
import type { AgentState } from "./state.ts";
import { noteTouch } from "./workbench.ts";

/** As the client that we share files with does it. */
const MAX_FILES = 5;
const MAX_FILE_TOKENS = 5_000;
const MAX_TOTAL_TOKENS = 50_000;

/** Newest first. What is gone, too large to read, or a memory (which is recalled when it helps) is passed over. */
export function reattachFiles(state: AgentState, seen: readonly SeenFile[]): { blocks: TextBlock[]; paths: string[] } {
  const memories = state.world.memdir.directories.map(({ path }) => path);
  const blocks: TextBlock[] = [];
  const paths: string[] = [];
  let left = MAX_TOTAL_TOKENS;
  for (const { path } of seen) {
    if (blocks.length >= MAX_FILES || left <= 0) break;
    if (memories.some((dir) => isWithin(dir, path))) continue;
    const file = readText(path);
    if (file === null) continue;
    const lines = fitLines(file.lines, Math.min(left, MAX_FILE_TOKENS));
    if (lines.length === 0) continue;
    const whole = lines.length === file.lines.length;
    const shown = numberLines(lines, 1);
    blocks.push(remind("file", buildFileReattachment(path, shown, !whole)));
    state.files.note(path, { bytes: file.bytes, lines: whole ? null : { from: 1, to: lines.length } });
    noteTouch(state, { path });
    left -= approximateTokens(shown);
    paths.push(path);
  }
  return { blocks, paths };
}

const MAX_BYTES = 4 * 1024 * 1024;

function readText(path: string): { bytes: Buffer; lines: string[] } | null {
  try {
    const bytes = readRegular(path, { maxBytes: MAX_BYTES });
    if (!bytes || bytes.length === 0 || bytes.includes(0)) return null;
    return { bytes, lines: linesOf(decodeText(bytes).text) };
  } catch {
    return null;
  }
}

/** As many lines as the tokens allow, each with its number. */
function fitLines(all: readonly string[], maxTokens: number): string[] {
  let tokens = 0;
  const end = all.findIndex((line) => {
    tokens += approximateTokens(line) + NUMBER_TOKENS;
    return tokens > maxTokens;
  });
  return all.slice(0, end < 0 ? all.length : end);
}

/** What a line's number and break take. */
const NUMBER_TOKENS = 3;
