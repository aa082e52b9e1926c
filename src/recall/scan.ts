/** The compiled scan.as with a memory of its own. */

import { openWasm, type Wasm } from "../meaning/wasm.ts";
import { SCAN_BYTES } from "./scan-bytes.ts";

/** What each function takes and does is said in scan.as. */
export type Scan = Wasm<
  | "listEntries"
  | "listRecords"
  | "dropEarlier"
  | "findFile"
  | "matchNames"
  | "listNewest"
  | "summarise"
  | "matchTerms"
  | "listLengths"
  | "takePostings"
  | "matchVectors"
  | "matchEntry"
  | "matchCues"
  | "compareSigns"
  | "scoreSigns"
  | "nearestText"
  | "addTerm"
  | "summariseMeaning"
  | "scoreAll"
  | "floorOf"
  | "listAbove"
>;

export function openScan(memoryBytes: number): Scan {
  return openWasm(SCAN_BYTES, memoryBytes);
}
