/** The memory of compiled code that the rows are in: what is where, and room behind them for what is worked out. */

import { align, type Bulk, type Directory, type OpenCache, type Vector } from "../store/store.ts";
import type { Indexed } from "./indexed.ts";
import type { Links } from "./links.ts";
import type { Scan } from "./scan.ts";

export interface Resident {
  directories: readonly Directory[];
  scan: Scan;
  /** The compiled code's memory. Another one after it has grown. */
  bytes: Buffer;
  /** Entries end here; behind it is room for what is worked out, which ends there. */
  used: number;
  roomEnd: number;
  /** The address of each entry or of its record, 0 for one that no longer counts; and how many of them are filled. */
  list: Uint32Array;
  count: number;
  /** From which position on entries are another directory's. */
  owners: { from: number; owner: number }[];
  caches: (Cache | null)[];
  /** Of large stores: what stays on disk. */
  indexes: Indexed[];
  /** Records whose whole entries are behind `used` for a moment: position and the record's address. */
  whole: [at: number, record: number][];
  /** How many rankings there were: one that stays open has more of an index in memory. */
  rankings: number;
  /** The commit at which each directory's rows were dated; "" for none. */
  commits: string[];
  /** Vectors of a file before it changed: they are still right for texts that stayed the same. */
  former: Map<string, () => Vector[]>;
  /** Worked out when first needed after a change. */
  links: Links | null;
  bulks: Bulk[][] | null;
}

export type Cache = Pick<OpenCache, "ino" | "size" | "head"> & {
  /** False when it should be written anew: it is damaged, or much of it was appended. */
  isTidy: boolean;
};

/** The address of so many zeros behind the entries; valid until the next call. */
export function reserve(resident: Resident, bytes: number): number {
  for (const [at, record] of resident.whole.splice(0)) if (resident.list[at] !== 0) resident.list[at] = record;
  resident.roomEnd = align(resident.used);
  const at = extend(resident, bytes);
  resident.bytes.fill(0, at, at + bytes);
  return at;
}

/** More room behind that, with anything in it. */
export function extend(resident: Resident, bytes: number): number {
  const at = resident.roomEnd;
  resident.roomEnd = align(at + bytes);
  if (resident.roomEnd > resident.bytes.length)
    resident.bytes = Buffer.from(resident.scan.grow(resident.roomEnd + (bytes >> 2)).buffer);
  return at;
}

/**
 * Parts of these sizes behind one another, each zeroed and aligned: where each begins; valid until the next call. Those of `more`
 * may hold anything.
 */
export function layOut<Part extends string, More extends string = never>(
  resident: Resident,
  sizes: Record<Part, number>,
  more?: Record<More, number>,
): Record<Part | More, number> {
  const at = reserve(resident, bytesOf(sizes));
  return { ...placesOf(sizes, at), ...(more && addRoom(resident, more)) } as Record<Part | More, number>;
}

/** Parts behind those, which may hold anything. Views of the memory are to be made anew: it may have grown. */
export function addRoom<Part extends string>(resident: Resident, sizes: Record<Part, number>): Record<Part, number> {
  return placesOf(sizes, extend(resident, bytesOf(sizes)));
}

function bytesOf(sizes: Record<string, number>): number {
  return Object.values(sizes).reduce((sum, bytes) => sum + align(bytes), 0);
}

function placesOf<Part extends string>(sizes: Record<Part, number>, from: number): Record<Part, number> {
  let at = from;
  const places = Object.entries<number>(sizes).map(([name, bytes]) => {
    at += align(bytes);
    return [name, at - align(bytes)];
  });
  return Object.fromEntries(places);
}
