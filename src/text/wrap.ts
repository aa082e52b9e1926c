/** Text fitted to a terminal: how many columns it takes, wrapped at words, cut with an ellipsis, padded. Colours continue across a break. */

/** Our own colours and weights: they take no columns. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
export const SGR = /\x1b\[[0-9;]*m/g;
/** Printable ASCII only: every unit is one character of one column. */
const PLAIN = /^[\x20-\x7e]*$/;
/** Nothing but control characters, marks and format characters, such as a combining accent on its own. */
const ZERO = /^[\p{Cc}\p{Mn}\p{Me}\p{Cf}\p{Default_Ignorable_Code_Point}\u1160-\u11ff]+$/u;
/** Emoji, by themselves or through a variation selector; and Unicode's East Asian Wide and Fullwidth, in blocks. */
const WIDE =
  /^(?:\p{Emoji_Presentation}|\p{Emoji}\ufe0f|[\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18cff}\u{1aff0}-\u{1b2ff}\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}])/u;

let segmenter: Intl.Segmenter | null = null;

/** What a person sees as one character. */
export function graphemes(text: string): string[] {
  // Segmenting takes a hundred times as long, and most text is plain.
  if (PLAIN.test(text)) return text.split("");
  segmenter ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

export function widthOf(text: string): number {
  const bare = text.includes("\x1b") ? text.replace(SGR, "") : text;
  return PLAIN.test(bare) ? bare.length : graphemes(bare).reduce((width, one) => width + graphemeWidth(one), 0);
}

export function graphemeWidth(grapheme: string): number {
  if (ZERO.test(grapheme)) return 0;
  return WIDE.test(grapheme) ? 2 : 1;
}

/** The narrowest that can be wrapped to: a wide character has to fit. */
const MIN_COLUMNS = 2;

/**
 * Lines of at most `columns`. Breaks at spaces and next to wide characters, and inside a word only if it is longer than a line.
 * Only spaces at a break are lost. Each line closes the colours it opened, and the next one opens them again.
 */
export function wrapText(text: string, columns: number): string[] {
  const limit = Math.max(MIN_COLUMNS, columns);
  return restyle(text.split("\n").flatMap((line) => (widthOf(line) <= limit ? [line] : wrapLine(line, limit))));
}

/** At most `columns` wide, on one line; an ellipsis stands for what was cut. */
export function cut(text: string, columns: number): string {
  if (columns <= 0) return "";
  if (widthOf(text) <= columns) return text;
  let kept = "";
  let width = 0;
  for (const unit of unitsOf(text).flatMap((one) => (isStyle(one) ? [one] : graphemes(one)))) {
    width += isStyle(unit) ? 0 : graphemeWidth(unit);
    if (width >= columns) break;
    kept += unit;
  }
  return restyle([`${kept}…`]).join("");
}

/** Padded with spaces up to `columns`. */
export function pad(text: string, columns: number, align: "left" | "right" | "center" | null = "left"): string {
  const room = Math.max(0, columns - widthOf(text));
  const before = align === "right" ? room : align === "center" ? Math.floor(room / 2) : 0;
  return `${" ".repeat(before)}${text}${" ".repeat(room - before)}`;
}

function wrapLine(line: string, columns: number): string[] {
  const lines: string[] = [];
  let [current, width, gap] = ["", 0, ""];
  const push = (unit: string, size: number) => {
    if (width > 0 && width + gap.length + size > columns) {
      lines.push(current);
      [current, width, gap] = ["", 0, ""];
    }
    // At the beginning of a line, indentation is dropped in favour of the words.
    const space = gap.length + size > columns ? "" : gap;
    current += space + unit;
    width += space.length + size;
    gap = "";
  };
  for (const unit of unitsOf(line)) {
    if (isStyle(unit)) current += unit;
    else if (unit.startsWith(" ")) gap = width === 0 && lines.length > 0 ? "" : gap + unit;
    else if (widthOf(unit) <= columns) push(unit, widthOf(unit));
    else for (const grapheme of graphemes(unit)) push(grapheme, graphemeWidth(grapheme));
  }
  return [...lines, width + gap.length <= columns ? current + gap : current];
}

const UNITS = new RegExp(`${SGR.source}| +|[^ \\x1b]+|\\x1b`, "g");

/** Style sequences, runs of spaces, words; every wide character is a unit of its own. */
function unitsOf(line: string): string[] {
  return (line.match(UNITS) ?? []).flatMap((run) => {
    if (PLAIN.test(run) || isStyle(run)) return [run];
    const units: string[] = [];
    let inWord = false;
    for (const grapheme of graphemes(run)) {
      const isWide = graphemeWidth(grapheme) === 2;
      if (inWord && !isWide) units[units.length - 1] += grapheme;
      else units.push(grapheme);
      inWord = !isWide;
    }
    return units;
  });
}

function isStyle(unit: string): boolean {
  return unit.startsWith("\x1b");
}

/** What the codes of our own styles close. */
const CLOSES: Record<number, RegExp> = { 0: /./, 22: /\[[12]m/, 23: /\[3m/, 24: /\[4m/, 29: /\[9m/, 39: /\[[39]\d/ };

/** Closes at the end of each line what is open there, and opens it again on the next. */
function restyle(lines: string[]): string[] {
  let open: string[] = [];
  return lines.map((line) => {
    const before = open.join("");
    for (const style of line.match(SGR) ?? []) {
      const closed = CLOSES[Number.parseInt(style.slice(2), 10) || 0];
      open = closed ? open.filter((one) => !closed.test(one)) : [...open, style];
    }
    return `${before}${line}${open.length > 0 ? "\x1b[0m" : ""}`;
  });
}
