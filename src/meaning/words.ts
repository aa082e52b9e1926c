/**
 * Words as vectors, for processes that have no time to load a model: MiniLM's sentence vectors distilled into a sum of
 * word-piece vectors (`scripts/words/`). Only the rows of the words at hand are read from the file.
 */

import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { hashOf } from "../text/hash.ts";
import { findSorted } from "../text/sorted.ts";
import { eachWord } from "./word-split.ts";

export interface Words {
  readonly dimensions: number;
  /** Of each row in the file: its scale as a 4-byte number, then its values, two in a byte, the first of them in the lower half. */
  readonly rowBytes: number;
  /** Numbers of the rows that a text is the sum of. */
  findRows(text: string): number[];
  /** The vector that every sum begins with, then these rows, copied to `at`. False when the file is not what it was. */
  readRows(rows: readonly number[], into: Uint8Array, at: number): boolean;
  close(): void;
}

const MAGIC = 0x5657444d;
const VERSION = 3;
/** Magic, version, number of pieces, number of dimensions. */
const HEAD_BYTES = 16;
/** The rest of a long prompt is mostly pasted text. */
export const MAX_PIECES = 128;
/** No piece of the model's vocabulary is longer than 18 letters. */
const MAX_PIECE_LETTERS = 24;
/** Unknown words add nothing and cost the most to look up, so a megabyte of them must not be read. */
const MAX_CHARACTERS = 4_000;

/** Null if the file is missing or has another format. */
export function openWords(file: string): Words | null {
  let fd: number | null = null;
  try {
    fd = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const words = readTable(fd);
    if (!words) closeSync(fd);
    return words;
  } catch {
    if (fd !== null) closeSync(fd);
    return null;
  }
}

function readTable(fd: number): Words | null {
  const head = new Uint32Array(HEAD_BYTES / 4);
  readSync(fd, head, 0, HEAD_BYTES, 0);
  const [magic, version, count = 0, dimensions = 0] = head;
  const rowBytes = 4 + Math.ceil(dimensions / 2);
  const hashesAt = HEAD_BYTES + dimensions * 4;
  const rowsAt = hashesAt + count * 4;
  if (magic !== MAGIC || version !== VERSION || fstatSync(fd).size !== rowsAt + count * rowBytes) return null;
  const hashes = new Uint32Array(count);
  if (readSync(fd, hashes, 0, count * 4, hashesAt) !== count * 4) return null;
  return {
    dimensions,
    rowBytes,
    findRows(text) {
      const rows: number[] = [];
      eachWord(text.slice(0, MAX_CHARACTERS), (word) => {
        if (word !== null) addPieces(rows, word, hashes);
        return rows.length < MAX_PIECES;
      });
      return rows.slice(0, MAX_PIECES);
    },
    readRows(rows, into, at) {
      const first = dimensions * 4;
      if (readSync(fd, into, at, first, HEAD_BYTES) !== first) return false;
      return rows.every(
        (row, i) => readSync(fd, into, at + first + i * rowBytes, rowBytes, rowsAt + row * rowBytes) === rowBytes,
      );
    },
    close: () => closeSync(fd),
  };
}

/** The longest known piece first, then the longest that continues from there; empty if a part is unknown. */
function addPieces(rows: number[], word: string, hashes: Uint32Array): void {
  const before = rows.length;
  for (let start = 0; start < word.length; ) {
    let end = Math.min(word.length, start + MAX_PIECE_LETTERS);
    let row = -1;
    for (; end > start; end--) {
      row = findSorted(hashes, hashOf(start > 0 ? `##${word.slice(start, end)}` : word.slice(0, end)));
      if (row >= 0) break;
    }
    if (row < 0) {
      rows.length = before;
      return;
    }
    rows.push(row);
    start = end;
  }
}
