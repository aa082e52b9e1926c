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
const FILTER_BITS = 16;

/** A word may hold other signs (`dry-run`, `@a/b`): it is found by its last part. */
export function openScan(words: Iterable<string>): WordScan {
  const filter = new Uint8Array(1 << FILTER_BITS);
  const byHash = new Map<number, Wanted[]>();
  for (const word of words) {
    const bytes = Buffer.from(word);
    let start = bytes.length;
    while (start > 0 && IS_WORD[bytes[start - 1] as number]) start--;
    if (start === bytes.length) continue;
    let hash = 0;
    for (let i = start; i < bytes.length; i++) hash = (Math.imul(hash, 31) + (bytes[i] as number)) | 0;
    filter[hash & 0xffff] = 1;
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
        let hash = 0;
        do {
          hash = (Math.imul(hash, 31) + c) | 0;
          c = ++i < to ? (bytes[i] as number) : 0;
        } while (IS_WORD[c] === 1);
        if (filter[hash & 0xffff] === 1) report(bytes, from, i, byHash.get(hash), hit);
      }
    },
  };
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
