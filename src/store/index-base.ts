/** What memdir remembers of MEMORY.md as it last left it: how foreign edits are told from our own. */

import { join } from "node:path";
import { writeCacheFile } from "../disk/atomic.ts";
import { readRegular } from "../disk/regular.ts";
import { type Directory, INDEX_FILE, statePath } from "./directory.ts";
import type { RemovedLine } from "./index-text.ts";

export interface Base {
  /** Null when memdir has not written the index yet, or the record is gone. */
  text: string | null;
  /** The times of the directory and its folders then: unchanged means that nobody put a file into them. */
  folders: Record<string, number> | null;
  /** Lines by hand that were out of sight for a moment while ours stood in their place. */
  hidden: HiddenLine[];
  /** Lines of ours that were replaced or removed, newest last: a stale editor may bring them back. */
  retired: string[];
}

export interface HiddenLine extends RemovedLine {
  /** When, in milliseconds. */
  since: number;
}

/** Longer than a program holds a text that it has read before it writes it back. */
const HIDDEN_MS = 10_000;

/** Enough for what one open editor can have missed. */
const MAX_RETIRED = 200;

export function readBase(directory: Directory): Base {
  try {
    const data = readRegular(statePath(directory, "index.base"))?.toString("utf8") ?? "";
    const newline = data.indexOf("\n");
    const { folders, hidden, retired } = JSON.parse(data.slice(0, newline)) as Omit<Base, "text">;
    const now = directory.now().getTime();
    const fresh = hidden.filter(({ since }) => Math.abs(now - since) < HIDDEN_MS);
    return { text: data.slice(newline + 1), folders, hidden: fresh, retired };
  } catch {
    return { text: null, folders: null, hidden: [], retired: [] };
  }
}

/** Only a help for the next writer: without it our own text is taken for somebody else's, which costs time and nothing else. */
export function writeBase(directory: Directory, base: Base): void {
  const { text, ...rest } = base;
  const head = JSON.stringify({ ...rest, retired: base.retired.slice(-MAX_RETIRED) });
  try {
    writeCacheFile(statePath(directory, "tmp"), statePath(directory, "index.base"), `${head}\n${text ?? ""}`);
  } catch (error) {
    directory.log(`index.base was not written: ${(error as Error).message}`);
  }
}

export function indexPath(directory: Directory): string {
  return join(directory.path, INDEX_FILE);
}
