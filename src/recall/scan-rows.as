/** Rows, for scan.as: where their parts are, how they are read from the cache's bytes, matched with files, and counted. */

// The parts of an entry, as store/row-entry.ts lays it out, and of a record, as store/row-index.ts does; a test compares them.
export const MAGIC: u32 = 0x3252444d;
export const HEAD: u32 = 128;
export const VECTOR: u32 = 400;
export const VALUES: u32 = 16;
export const DIMENSIONS: i32 = 384;
export const UNKNOWN: f32 = -2;
export const PLAIN: u32 = 2;

export const AT_ROW_BYTES: usize = 4;
const AT_CHECK: usize = 8;
const AT_MTIME: usize = 16;
export const AT_FILE: usize = 72;
export const AT_LINKS: usize = 76;
export const AT_NAME: usize = 80;
export const AT_JSON: usize = 84;
export const AT_TERMS: usize = 88;
export const AT_VECTORS: usize = 92;
export const AT_FLAGS: usize = 100;
const AT_LENGTH: usize = 104;
export const AT_RANK_AT: usize = 108;
export const AT_RANK_BYTES: usize = 112;
export const AT_VECTORS_AT: usize = 120;

const RECORD_MAGIC: u32 = 0x3352444d;
export const RECORD: usize = 48;
export const RECORD_ROW_AT: usize = 4;
const RECORD_MTIME: usize = 8;
export const RECORD_NAME: usize = 16;
export const RECORD_VECTORS_AT: usize = 24;
export const RECORD_ROW_BYTES: usize = 28;
export const RECORD_FIRST_VECTOR: usize = 32;
export const RECORD_LENGTH: usize = 36;
export const RECORD_TEXTS: usize = 40;
export const RECORD_CUES: usize = 41;
export const RECORD_FLAGS: usize = 42;
export const LINKED: u32 = 16;

@inline
export function isRecord(entry: usize): bool {
  return load<u32>(entry) == RECORD_MAGIC;
}

@inline
function mtimeOf(entry: usize): f64 {
  return isRecord(entry) ? load<f64>(entry, RECORD_MTIME) : load<f64>(entry, AT_MTIME);
}

@inline
function lengthOf(entry: usize): f32 {
  return isRecord(entry) ? load<f32>(entry, RECORD_LENGTH) : load<f32>(entry, AT_LENGTH);
}

@inline
export function vectorsOf(entry: usize): u32 {
  return isRecord(entry) ? <u32>load<u8>(entry, RECORD_TEXTS) + load<u8>(entry, RECORD_CUES) : load<u32>(entry, AT_VECTORS);
}

/** Of its file's name. */
function nameOf(entry: usize): u64 {
  const file = entry + HEAD;
  return isRecord(entry) ? load<u64>(entry, RECORD_NAME) : hashed(file, file + load<u32>(entry, AT_FILE));
}

/**
 * Writes the address of every record to `out`, 0 for one that makes no sense; how many do. Rows begin at `rowsFrom` and end
 * at `rowsEnd` of the file, vectors end at `end`, all in sixteens; there are the signs of `vectors`.
 */
export function listRecords(from: usize, count: i32, rowsFrom: u32, rowsEnd: u32, end: u32, vectors: u32, out: usize): i32 {
  let sound = 0;
  for (let i = 0; i < count; i++) {
    const at = from + <usize>i * RECORD;
    const own = vectorsOf(at);
    const row = load<u32>(at, RECORD_ROW_AT);
    const isSound =
      isRecord(at) &&
      row >= rowsFrom &&
      <u64>row + (load<u32>(at, RECORD_ROW_BYTES) >> 4) <= rowsEnd &&
      load<u32>(at, RECORD_VECTORS_AT) >= rowsEnd &&
      <u64>load<u32>(at, RECORD_VECTORS_AT) + own * (VECTOR >> 4) <= end &&
      <u64>load<u32>(at, RECORD_FIRST_VECTOR) + own <= vectors;
    store<u32>(out + (<usize>i << 2), isSound ? <u32>at : 0);
    if (isSound) sound++;
  }
  return sound;
}

/**
 * Writes the address of every entry to `out`, as long as it is clear where the next one begins, and 0 for a damaged one; how many
 * there are. `limit` is where ranking parts must end; with `isWhole` each one comes right behind its row part.
 */
export function listEntries(from: usize, end: usize, limit: usize, isWhole: bool, out: usize): i32 {
  let count = 0;
  for (let at = from; at + HEAD <= end; ) {
    const bytes = load<u32>(at, AT_ROW_BYTES);
    if (load<u32>(at) != MAGIC || bytes < HEAD || bytes & 15 || bytes > end - at) break;
    const names = <u64>load<u32>(at, AT_FILE) + load<u32>(at, AT_LINKS) + load<u32>(at, AT_NAME);
    if (<u64>HEAD + names + load<u32>(at, AT_JSON) > bytes) break;
    const rank = load<u32>(at, AT_RANK_BYTES);
    const rankAt = load<u32>(at, AT_RANK_AT);
    const vectors = load<u32>(at, AT_VECTORS_AT);
    if (rankAt & 15 || rank & 15 || <u64>rankAt + rank > <u64>(limit - at) || (isWhole && rankAt != bytes)) break;
    if (<u64>load<u32>(at, AT_TERMS) * 6 > vectors) break;
    if (<u64>vectors + <u64>load<u32>(at, AT_VECTORS) * VECTOR != rank) break;
    store<u32>(out + (<usize>count << 2), isSoundRow(at, bytes) ? <u32>at : 0);
    count++;
    at += isWhole ? bytes + rank : bytes;
  }
  return count;
}

function isSoundRow(entry: usize, bytes: u32): bool {
  let check: u32 = 0x811c9dc5;
  for (let word: usize = 0; word < bytes; word += 4) {
    if (word != AT_CHECK) check = (check ^ load<u32>(entry + word)) * 0x01000193;
  }
  return check == load<u32>(entry, AT_CHECK);
}

/** Of several entries of a file the last one stays, the others become 0. `table` is zeroed, with twice as many slots as entries. */
export function dropEarlier(entries: usize, count: i32, table: usize, slots: u32): void {
  for (let i = count - 1; i >= 0; i--) {
    const place = entries + (<usize>i << 2);
    const entry = <usize>load<u32>(place);
    if (entry == 0) continue;
    if (!keep(table, slots, nameOf(entry), 1)) store<u32>(place, 0);
  }
}

/** Where the last entry of this file is in the list; -1 for none. */
export function findFile(entries: usize, count: i32, name: usize, bytes: u32): i32 {
  const hash = hashed(name, name + bytes);
  for (let i = count - 1; i >= 0; i--) {
    const entry = <usize>load<u32>(entries + (<usize>i << 2));
    if (entry != 0 && (isRecord(entry) || load<u32>(entry, AT_FILE) == bytes) && nameOf(entry) == hash) return i;
  }
  return -1;
}

/**
 * Matches the entries with the names of the files that are there (separated by zeros). Of several entries of a file the
 * last one stays; the others, and those whose file is gone, become 0 in the list. Writes the numbers of names without an
 * entry to `unknown`; how many. `table` is zeroed, with `slots` (a power of two, twice the names at least) of 16 bytes.
 */
export function matchNames(
  names: usize,
  bytes: i32,
  entries: usize,
  count: i32,
  table: usize,
  slots: u32,
  unknown: usize,
): i32 {
  const end = names + bytes;
  let number: u32 = 0;
  for (let at = names; at < end; at++) {
    const start = at;
    while (at < end && load<u8>(at) != 0) at++;
    number++;
    keep(table, slots, hashed(start, at), number);
  }
  for (let i = count - 1; i >= 0; i--) {
    const place = entries + (<usize>i << 2);
    const entry = <usize>load<u32>(place);
    if (entry == 0) continue;
    const slot = slotOf(table, slots, nameOf(entry));
    // Whether the name is there and no later entry has claimed it.
    if (load<u32>(slot, 8) == 0 || load<u32>(slot, 12) == 1) store<u32>(place, 0);
    else store<u32>(slot, 1, 12);
  }
  let left = 0;
  for (let slot: u32 = 0; slot < slots; slot++) {
    const at = table + (<usize>slot << 4);
    if (load<u32>(at, 8) == 0 || load<u32>(at, 12) == 1) continue;
    store<u32>(unknown + (<usize>left << 2), load<u32>(at, 8) - 1);
    left++;
  }
  return left;
}

/** Two of 32 bits, as store/row-index.ts makes them, where numbers of 64 bits are slow. */
function hashed(from: usize, end: usize): u64 {
  let first: u32 = 0x811c9dc5;
  let second: u32 = 0x9dc5811c;
  for (; from < end; from++) {
    const byte = <u32>load<u8>(from);
    first = (first ^ byte) * 0x01000193;
    second = (second ^ byte) * 0x85ebca6b;
    second ^= second >> 15;
  }
  return ((<u64>second) << 32) | first;
}

/** The slot of this hash: its own if it was kept, else the one that it would be kept in. */
function slotOf(table: usize, slots: u32, hash: u64): usize {
  let slot = <u32>(hash >> 32) & (slots - 1);
  let at = table + (<usize>slot << 4);
  while (load<u32>(at, 8) != 0 && load<u64>(at) != hash) {
    slot = (slot + 1) & (slots - 1);
    at = table + (<usize>slot << 4);
  }
  return at;
}

/** False when it was kept before. */
function keep(table: usize, slots: u32, hash: u64, number: u32): bool {
  const at = slotOf(table, slots, hash);
  if (load<u32>(at, 8) != 0) return false;
  store<u64>(at, hash);
  store<u32>(at, number, 8);
  return true;
}

/** Writes the positions of the entries whose files changed last to `out`, at most `limit`; how many. */
export function listNewest(entries: usize, count: i32, limit: i32, out: usize): i32 {
  let found = 0;
  for (let i = 0; i < count; i++) {
    const entry = <usize>load<u32>(entries + (<usize>i << 2));
    if (entry == 0) continue;
    const time = mtimeOf(entry);
    let place = found;
    while (place > 0 && timeAt(entries, out, place - 1) < time) place--;
    if (place >= limit) continue;
    if (found < limit) found++;
    for (let k = found - 1; k > place; k--) {
      store<u32>(out + (<usize>k << 2), load<u32>(out + (<usize>(k - 1) << 2)));
    }
    store<u32>(out + (<usize>place << 2), i);
  }
  return found;
}

function timeAt(entries: usize, list: usize, place: i32): f64 {
  const position = load<u32>(list + (<usize>place << 2));
  return mtimeOf(<usize>load<u32>(entries + (<usize>position << 2)));
}

/** Of the live entries: their lengths, as a row; the sum of them as an 8-byte number, then as 4-byte numbers how many there are, have links, have no frontmatter, have no vectors. */
export function summarise(entries: usize, count: i32, lengths: usize, out: usize): void {
  let live = 0;
  let linked = 0;
  let plain = 0;
  let bare = 0;
  let length: f64 = 0;
  for (let i = 0; i < count; i++) {
    const entry = <usize>load<u32>(entries + (<usize>i << 2));
    if (entry == 0) continue;
    live++;
    const flags = isRecord(entry) ? <u32>load<u8>(entry, RECORD_FLAGS) : load<u32>(entry, AT_FLAGS);
    if (isRecord(entry) ? flags & LINKED : load<u32>(entry, AT_LINKS)) linked++;
    if (flags & PLAIN) plain++;
    if (vectorsOf(entry) == 0) bare++;
    const own = lengthOf(entry);
    store<f32>(lengths + (<usize>i << 2), own);
    length += <f64>own;
  }
  store<f64>(out, length);
  store<i32>(out, live, 8);
  store<i32>(out, linked, 12);
  store<i32>(out, plain, 16);
  store<i32>(out, bare, 20);
}
