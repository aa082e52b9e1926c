/** Chance that depends on its seed alone. */

export interface Dice {
  /** From 0 up to, and without, `count`. */
  below(count: number): number;
  pick<T>(from: readonly T[]): T;
  of(alphabet: string, length: number): string;
  lower(length: number): string;
  upper(length: number): string;
  digits(length: number): string;
  hex(length: number): string;
  alnum(length: number): string;
  url64(length: number): string;
  base64(length: number): string;
}

const LOWER = "abcdefghijklmnopqrstuvwxyz";
const DIGITS = "0123456789";
const ALNUM = LOWER + LOWER.toUpperCase() + DIGITS;

export function makeDice(seed: number): Dice {
  let state = seed | 0;
  const roll = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (count: number) => Math.floor(roll() * count);
  const of = (alphabet: string, length: number) =>
    Array.from({ length }, () => alphabet[below(alphabet.length)]).join("");
  return {
    below,
    of,
    pick: (from) => from[below(from.length)] as (typeof from)[number],
    lower: (length) => of(LOWER, length),
    upper: (length) => of(LOWER.toUpperCase(), length),
    digits: (length) => of(DIGITS, length),
    hex: (length) => of(`${DIGITS}abcdef`, length),
    alnum: (length) => of(ALNUM, length),
    url64: (length) => of(`${ALNUM}-_`, length),
    base64: (length) => of(`${ALNUM}+/`, length),
  };
}
