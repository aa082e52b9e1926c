/** The compiled scan.as with a memory of its own. */

import { openWasm } from "../meaning/wasm.ts";
import { SCAN_BYTES } from "./scan-bytes.ts";

/** Addresses are bytes in the memory; what the functions do is said in scan.as. */
export interface Scan {
  readonly memory: Uint8Array;
  /** Makes it at least this large. Views of the former memory end. */
  grow(bytes: number): Uint8Array;
  listEntries(from: number, end: number, limit: number, isWhole: boolean, out: number): number;
  dropEarlier(entries: number, count: number, table: number, slots: number): void;
  findFile(entries: number, count: number, name: number, bytes: number): number;
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
  copyTimes(entries: number, count: number, out: number): number;
  summarise(entries: number, count: number, out: number): void;
  matchTerms(
    entries: number,
    count: number,
    terms: number,
    termCount: number,
    rows: number,
    stride: number,
    lengths: number,
    having: number,
    sieve: number,
  ): void;
  sumRows(from: number, count: number, out: number): number;
  matchVectors(entries: number, count: number, query: number, scale: number, text: number, cue: number): void;
  nearestText(entry: number, query: number, isCue: boolean): number;
  addTerm(
    positions: number,
    weights: number,
    having: number,
    lengths: number,
    rarity: number,
    certainty: number,
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
  floorOf(scores: number, count: number, limit: number, heap: number): number;
  listAbove(scores: number, count: number, least: number, out: number): number;
}

export function openScan(memoryBytes: number): Scan {
  return openWasm<Scan>(SCAN_BYTES, memoryBytes, true);
}
