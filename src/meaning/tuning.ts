/**
 * What training changed of MiniLM's weights (`training/tune.py`): four bits a number for matrices, whole numbers for the rest. Read
 * from beginning to end, in the order in which the weights are loaded.
 */

import { readFileSync } from "node:fs";
import { broken } from "./tensor-file.ts";

export interface Tuning {
  /** Layers before it are as they were. */
  firstLayer: number;
  /** The next rows of a matrix: their scales, and what is added to them. */
  readRows(memory: Uint8Array, to: { change: number; scales: number; rows: number; columns: number }): void;
  /** The next numbers take the place of those that are there. */
  replace(memory: Uint8Array, to: number, count: number): void;
  /** Throws unless everything was read. */
  finish(): void;
}

const MAGIC = 0x5754444d;
const VERSION = 1;
const HEAD_BYTES = 12;

export function openTuning(file: string): Tuning {
  const bytes = readFileSync(file);
  if (bytes.length < HEAD_BYTES || bytes.readUInt32LE(0) !== MAGIC || bytes.readUInt32LE(4) !== VERSION)
    throw broken(file, "it is not what this version of memdir expects");
  let at = HEAD_BYTES;
  const copy = (memory: Uint8Array, to: number, count: number): void => {
    if (at + count > bytes.length) throw broken(file, "it ends too early");
    memory.set(bytes.subarray(at, at + count), to);
    at += count;
  };
  return {
    firstLayer: bytes.readUInt32LE(8),
    readRows(memory, { change, scales, rows, columns }) {
      for (let row = 0; row < rows; row++) {
        copy(memory, scales + row * 4, 4);
        copy(memory, change + (row * columns) / 2, columns / 2);
      }
    },
    replace: (memory, to, count) => copy(memory, to, count * 4),
    finish() {
      if (at !== bytes.length) throw broken(file, "it is longer than expected");
    },
  };
}
