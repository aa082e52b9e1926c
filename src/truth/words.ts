/** Looks for many words at once, in bytes: one pass over a text, however many words are wanted. */

export interface WordScan {
  /** Calls `hit` for each wanted word that stands whole between `from` and `to`. */
  scan(bytes: Uint8Array, from: number, to: number, hit: (word: string, at: number, end: number) => void): void;
}

interface Wanted {
  word: string;
  bytes: Uint8Array;
}

/** Letters, digits, `_`, `$` and everything beyond ASCII. */
const IS_WORD = Uint8Array.from({ length: 256 }, (_, c) =>
  c >= 128 || c === 36 || /\w/.test(String.fromCharCode(c)) ? 1 : 0,
);
const HYPHEN = 45;
/** Half a million bits, of which thousands of words set few: nearly all words of a text end here. */
const FILTER_WORDS = 1 << 14;

/** A word may hold other signs (`dry-run`, `@a/b`): it is found by its last part. */
export function openScan(words: Iterable<string>): WordScan {
  const filter = new Uint32Array(FILTER_WORDS);
  /** The same of words that are whole, without a part before this one. */
  const whole = new Uint32Array(FILTER_WORDS);
  /** The signs before last parts: numbers are everywhere, but not behind a hyphen. */
  const isJoint = new Uint8Array(256);
  const byHash = new Map<number, Wanted[]>();
  for (const word of words) {
    const bytes = Buffer.from(word);
    let start = bytes.length;
    while (start > 0 && IS_WORD[bytes[start - 1] as number]) start--;
    if (start === bytes.length) continue;
    let hash = 0;
    for (let i = start; i < bytes.length; i++) hash = (Math.imul(hash, 31) + (bytes[i] as number)) | 0;
    setBit(filter, hash);
    if (start === 0) setBit(whole, hash);
    else isJoint[bytes[start - 1] as number] = 1;
    byHash.set(hash, [...(byHash.get(hash) ?? []), { word, bytes }]);
  }
  return {
    scan(bytes, from, to, hit) {
      for (let i = from; i < to; ) {
        let c = bytes[i] as number;
        if (IS_WORD[c] === 0) {
          i++;
          continue;
        }
        const start = i;
        let hash = 0;
        do {
          hash = (Math.imul(hash, 31) + c) | 0;
          c = ++i < to ? (bytes[i] as number) : 0;
        } while (IS_WORD[c] === 1);
        if (!hasBit(filter, hash)) continue;
        if (hasBit(whole, hash) || (start > from && isJoint[bytes[start - 1] as number] === 1))
          report(bytes, from, i, byHash.get(hash), hit);
      }
    },
  };
}

function setBit(filter: Uint32Array, hash: number): void {
  const at = hash & (FILTER_WORDS - 1);
  filter[at] = (filter[at] as number) | (1 << ((hash >>> 14) & 31));
}

function hasBit(filter: Uint32Array, hash: number): boolean {
  return ((filter[hash & (FILTER_WORDS - 1)] as number) & (1 << ((hash >>> 14) & 31))) !== 0;
}

function report(
  bytes: Uint8Array,
  from: number,
  end: number,
  wanted: readonly Wanted[] | undefined,
  hit: (word: string, at: number, end: number) => void,
): void {
  for (const { word, bytes: own } of wanted ?? []) {
    const at = end - own.length;
    if (at < from || !own.every((byte, i) => bytes[at + i] === byte)) continue;
    if (at > from && IS_WORD[bytes[at - 1] as number]) continue;
    // `dry-run` is not in `dry-run-all`.
    const isLonger = word.includes("-") && bytes[end] === HYPHEN && IS_WORD[bytes[end + 1] ?? 0];
    if (!isLonger) hit(word, at, end);
  }
}
