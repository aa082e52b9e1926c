/**
 * Fits text to a terminal: measures columns, wraps at words, cuts with an ellipsis and pads; colours continue across a
 * break.
 */

/** Our own colours and weights: what width, wrapping and cutting look through. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
export const SGR = /\x1b\[[0-9;]*m/g;

/** What a person sees as one character. */
export function graphemes(text: string): string[] {
  // Segmenting is a hundred times slower than this check, and most text is plain.
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

/** Printable ASCII only: every unit is one character, one column wide. */
const PLAIN = /^[\x20-\x7e]*$/;
/** Only marks and format characters, such as a combining accent on its own. */
const ZERO = /^[\p{Mn}\p{Me}\p{Cf}\p{Default_Ignorable_Code_Point}\u1160-\u11ff]+$/u;
/** Shown as an emoji, on its own or because of a variation selector. */
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

/** The narrowest that can be wrapped to: a wide character has to fit. */
const MIN_COLUMNS = 2;

/**
 * Lines of at most `columns`. Breaks at spaces and next to wide characters; a longer word is broken where necessary.
 * Only spaces at a break are lost. Each line closes the colours it opened and the next one opens them again.
 */
export function wrapText(text: string, columns: number): string[] {
  const limit = Math.max(MIN_COLUMNS, columns);
  return restyle(text.split("\n").flatMap((line) => (widthOf(line) <= limit ? [line] : wrapLine(line, limit))));
}

/** At most `columns` wide, on one line; what was cut shows as an ellipsis. */
export function cut(text: string, columns: number): string {
  if (columns <= 0) return "";
  if (widthOf(text) <= columns) return text;
  let kept = "";
  let width = 0;
  for (const piece of pieces(text)) {
    if (isStyle(piece)) {
      kept += piece;
      continue;
    }
    for (const grapheme of graphemes(piece)) {
      const next = graphemeWidth(grapheme);
      if (width + next > columns - 1) return restyle([`${kept}…`])[0] ?? "";
      kept += grapheme;
      width += next;
    }
  }
  return kept;
}

/** Padded with spaces up to `columns`. */
export function pad(text: string, columns: number, align: "left" | "right" | "center" | null = "left"): string {
  const room = Math.max(0, columns - widthOf(text));
  const before = align === "right" ? room : align === "center" ? Math.floor(room / 2) : 0;
  return `${" ".repeat(before)}${text}${" ".repeat(room - before)}`;
}

function wrapLine(line: string, columns: number): string[] {
  const lines: string[] = [];
  let current = "";
  let width = 0;
  let gap = "";
  const push = (unit: string, unitWidth: number) => {
    if (width > 0 && width + gap.length + unitWidth > columns) {
      lines.push(current);
      current = "";
      width = 0;
      gap = "";
    }
    // At the beginning of a line, indentation is dropped in favour of the words.
    const space = gap.length + unitWidth > columns ? "" : gap;
    current += space + unit;
    width += space.length + unitWidth;
    gap = "";
  };
  for (const unit of units(line)) {
    if (isStyle(unit)) current += unit;
    else if (SPACES.test(unit)) gap = width === 0 && lines.length > 0 ? "" : gap + unit;
    else {
      const unitWidth = widthOf(unit);
      if (unitWidth <= columns) push(unit, unitWidth);
      else for (const grapheme of graphemes(unit)) push(grapheme, graphemeWidth(grapheme));
    }
  }
  lines.push(width + gap.length <= columns ? current + gap : current);
  return lines;
}

/** Style sequences, runs of spaces, words; wide characters one by one. */
function* units(line: string): Generator<string> {
  for (const piece of pieces(line)) {
    if (isStyle(piece)) {
      yield piece;
      continue;
    }
    for (const run of piece.match(/ +|[^ ]+/g) ?? []) {
      if (ASCII.test(run)) {
        yield run;
        continue;
      }
      let word = "";
      for (const grapheme of graphemes(run)) {
        if (graphemeWidth(grapheme) < 2) {
          word += grapheme;
          continue;
        }
        if (word !== "") yield word;
        word = "";
        yield grapheme;
      }
      if (word !== "") yield word;
    }
  }
}

const ASCII = /^[\x20-\x7e]*$/;
const SPACES = /^ +$/;

/** Text and style sequences in turn. */
function pieces(text: string): string[] {
  return text.includes("\x1b") ? text.split(STYLE_SPLIT).filter((piece) => piece !== "") : [text];
}

const STYLE_SPLIT = new RegExp(`(${SGR.source})`);

function isStyle(piece: string): boolean {
  return piece.startsWith("\x1b");
}

/** Closes open styles at the end of each line, and opens them again on the next. */
function restyle(lines: string[]): string[] {
  if (!lines.some((line) => line.includes("\x1b"))) return lines;
  let open: string[] = [];
  return lines.map((line) => {
    const before = open.join("");
    for (const style of line.match(SGR) ?? []) open = applyStyle(open, style);
    return `${before}${line}${open.length > 0 ? "\x1b[0m" : ""}`;
  });
}

function applyStyle(open: readonly string[], style: string): string[] {
  const code = Number.parseInt(style.slice(2), 10) || 0;
  if (code === 0) return [];
  const closed = CLOSES[code];
  return closed ? open.filter((each) => !closed(Number.parseInt(each.slice(2), 10))) : [...open, style];
}

/** What each closing code ends; all other codes open something. */
const CLOSES: Record<number, (open: number) => boolean> = {
  22: (open) => open === 1 || open === 2,
  23: (open) => open === 3,
  24: (open) => open === 4,
  27: (open) => open === 7,
  29: (open) => open === 9,
  39: (open) => (open >= 30 && open <= 38) || (open >= 90 && open <= 97),
  49: (open) => open >= 40 && open <= 48,
};
