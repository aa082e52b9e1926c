/** How many columns a text takes on a terminal: wide characters two, marks none, escape sequences none. */

/** Our own colours and weights: what width, wrapping and cutting look through. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
export const SGR = /\x1b\[[0-9;]*m/g;

/** What a person sees as one character. */
export function graphemes(text: string): string[] {
  // Segmenting is a hundred times dearer than this look, and most text is plain.
  return PLAIN.test(text) ? text.split("") : Array.from(segmenter().segment(text), ({ segment }) => segment);
}

export function widthOf(text: string): number {
  const bare = text.includes("\x1b") ? text.replace(SGR, "") : text;
  if (PLAIN.test(bare)) return bare.length;
  let width = 0;
  for (const { segment } of segmenter().segment(bare)) width += graphemeWidth(segment);
  return width;
}

export function graphemeWidth(grapheme: string): number {
  const code = grapheme.codePointAt(0) ?? 0;
  if (code < 0x7f) {
    // A keycap such as 1️⃣ begins with a plain digit.
    return code < 0x20 ? 0 : grapheme.length > 1 && grapheme.includes("\ufe0f") ? 2 : 1;
  }
  if (code < 0xa0 || ZERO.test(grapheme)) return 0;
  if (isWide(code) || EMOJI.test(grapheme)) return 2;
  return 1;
}

/** Printable ASCII only: every unit is one character of one column. */
const PLAIN = /^[\x20-\x7e]*$/;
/** Nothing but marks and format characters, such as a combining accent that arrived alone. */
const ZERO = /^[\p{Mn}\p{Me}\p{Cf}\p{Default_Ignorable_Code_Point}\u1160-\u11ff]+$/u;
/** Shown as a picture: by itself, or because a variation selector asks for it. */
const EMOJI = /^(?:\p{Emoji_Presentation}|\p{Emoji}\ufe0f)/u;

/** Unicode's East Asian Wide and Fullwidth, in blocks; the pictures among them are known by EMOJI. */
const WIDE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2329, 0x232a],
  [0x2e80, 0x303e],
  [0x3041, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6f],
  [0xff01, 0xff60],
  [0xffe0, 0xffe6],
  [0x16fe0, 0x18cff],
  [0x1aff0, 0x1b2ff],
  [0x1f200, 0x1f2ff],
  [0x20000, 0x3fffd],
];

function isWide(code: number): boolean {
  return code >= 0x1100 && WIDE.some(([from, to]) => code >= from && code <= to);
}

let cached: Intl.Segmenter | null = null;

function segmenter(): Intl.Segmenter {
  cached ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  return cached;
}
