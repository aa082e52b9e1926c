/**
 * The vocabulary of the sentence model in AssemblyScript: an index of its words, and words cut into their longest known pieces.
 *
 * Parsing the file as JSON takes 14 ms, which is a quarter of a cold start; reading it here takes 2.
 * scripts/build-kernel.mjs compiles this file into kernel-bytes.ts. The caller lays out the memory.
 *
 * The index is a hash table of 65,536 entries of 8 bytes: the upper 48 bits of a word's hash and its number. The words
 * themselves are not kept: two of them with the same 48 bits would be a chance of one in 600,000, and a test looks them up.
 */

const SLOTS: u32 = 65536;
/** Half full at most, so that searches are short, and end. */
const MAX_WORDS: i32 = 32768;
const MAX_NUMBER: u32 = 0xffff;
const FNV_START: u64 = 0xcbf29ce484222325;
const FNV_PRIME: u64 = 0x100000001b3;

/** Reads `{"word": 1, "next": 2}` into an empty table. The number of words, or -1 when it is anything else. */
export function indexWords(from: usize, end: usize, table: usize): i32 {
  let at = skipSpace(from, end);
  if (at >= end || load<u8>(at) != 0x7b) return -1; // {
  let count = 0;
  while (true) {
    at = skipSpace(at + 1, end);
    if (at >= end || load<u8>(at++) != 0x22) return -1; // "
    let hash = FNV_START;
    for (; at < end; at++) {
      let byte = load<u8>(at);
      if (byte == 0x22) break;
      if (byte == 0x5c) {
        if (++at >= end) return -1;
        byte = load<u8>(at);
        if (byte != 0x22 && byte != 0x5c && byte != 0x2f) return -1; // \n or \u0000: no word of an uncased model
      }
      hash = hashed(hash, byte);
    }
    at = skipSpace(at + 1, end);
    if (at >= end || load<u8>(at) != 0x3a) return -1; // :
    at = skipSpace(at + 1, end);
    const digits = at;
    let number: u32 = 0;
    for (; at < end; at++) {
      const digit = <u32>load<u8>(at) - 0x30;
      if (digit > 9) break;
      number = number * 10 + digit;
      if (number > MAX_NUMBER) return -1;
    }
    if (at == digits || ++count > MAX_WORDS) return -1;
    keep(table, hash, number);
    at = skipSpace(at, end);
    if (at >= end) return -1;
    const next = load<u8>(at);
    if (next == 0x7d) return count; // }
    if (next != 0x2c) return -1; // ,
  }
}

/** Cuts a word into numbers of pieces, 4 bytes each, at most one per byte of the word. How many; 0 when a part is unknown. */
export function splitWord(word: usize, length: i32, table: usize, out: usize): i32 {
  const end = word + length;
  let count = 0;
  // Pieces that go on with a word start with ##.
  for (let start = FNV_START; word < end; start = hashed(hashed(FNV_START, 0x23), 0x23)) {
    let hash = start;
    let best = -1;
    for (let at = word; at < end; ) {
      hash = hashed(hash, load<u8>(at++));
      const number = find(table, hash);
      if (number >= 0) {
        best = number;
        word = at;
      }
    }
    if (best < 0) return 0;
    store<i32>(out + (<usize>count << 2), best);
    count++;
  }
  return count;
}

function hashed(hash: u64, byte: u8): u64 {
  return (hash ^ byte) * FNV_PRIME;
}

function keep(table: usize, hash: u64, number: u32): void {
  let slot = slotOf(hash);
  while (load<u64>(table + (<usize>slot << 3)) != 0) slot = (slot + 1) % SLOTS;
  store<u64>(table + (<usize>slot << 3), (hash & ~0xffff) | number);
}

function find(table: usize, hash: u64): i32 {
  let slot = slotOf(hash);
  while (true) {
    const entry = load<u64>(table + (<usize>slot << 3));
    if (entry == 0) return -1;
    if ((entry ^ hash) >> 16 == 0) return <i32>(entry & 0xffff);
    slot = (slot + 1) % SLOTS;
  }
}

function slotOf(hash: u64): u32 {
  return <u32>(hash ^ (hash >> 32)) % SLOTS;
}

function skipSpace(at: usize, end: usize): usize {
  while (at < end && load<u8>(at) <= 0x20) at++;
  return at;
}
