/** Where the parts of an entry are, as store/row-entry.ts lays it out, and of a record, as store/row-index.ts does; a test compares them. */

export const MAGIC: u32 = 0x3252444d;
export const HEAD: u32 = 128;
export const VECTOR: u32 = 400;
export const VALUES: u32 = 16;
export const DIMENSIONS: i32 = 384;
export const UNKNOWN: f32 = -2;
export const PLAIN: u32 = 2;

export const AT_ROW_BYTES: usize = 4;
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
export function mtimeOf(entry: usize): f64 {
  return isRecord(entry) ? load<f64>(entry, RECORD_MTIME) : load<f64>(entry, AT_MTIME);
}

@inline
export function lengthOf(entry: usize): f32 {
  return isRecord(entry) ? load<f32>(entry, RECORD_LENGTH) : load<f32>(entry, AT_LENGTH);
}

@inline
export function vectorsOf(entry: usize): u32 {
  return isRecord(entry) ? <u32>load<u8>(entry, RECORD_TEXTS) + load<u8>(entry, RECORD_CUES) : load<u32>(entry, AT_VECTORS);
}
