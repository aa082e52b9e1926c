/** The compiled scan.as with a memory of its own. */

import { openWasm } from "../meaning/wasm.ts";
import { SCAN_BYTES } from "./scan-bytes.ts";

/** Addresses are bytes in `memory`; what the functions do is said in scan.as. */
export interface Scan {
  readonly memory: Uint8Array;
  listEntries(from: number, end: number, out: number): number;
  matchNames(
    names: number,
    bytes: number,
    entries: number,
    count: number,
    table: number,
    slots: number,
    unknown: number,
  ): number;
  listNewest(entries: number, count: number, limit: number, out: number): number;
  summarise(entries: number, count: number, out: number): void;
  matchTerms(
    entries: number,
    count: number,
    terms: number,
    termCount: number,
    weights: number,
    stride: number,
    lengths: number,
    having: number,
  ): void;
  matchVectors(entries: number, count: number, query: number, scale: number, text: number, cue: number): void;
  sumRows(from: number, count: number, out: number): number;
  addTerms(
    weights: number,
    stride: number,
    lengths: number,
    count: number,
    termCount: number,
    rarities: number,
    certainties: number,
    k1: number,
    b: number,
    meanLength: number,
    words: number,
    rare: number,
  ): void;
  meanMeaning(entries: number, count: number, text: number, cue: number): number;
  scoreAll(
    entries: number,
    count: number,
    text: number,
    cue: number,
    words: number,
    middle: number,
    meaningShare: number,
    wordShare: number,
    coverageShare: number,
    coverageFloor: number,
    coverageOfWords: number,
    scores: number,
  ): void;
}

export function openScan(memoryBytes: number): Scan {
  return openWasm<Scan>(SCAN_BYTES, memoryBytes);
}
