/** Texts fitted to columns: wrapped at words, cut with an ellipsis, filled up; colours go on over the break. */

import { graphemes, graphemeWidth, SGR, widthOf } from "./width.ts";

/** The narrowest that can be wrapped to: a wide character has to fit. */
const MIN_COLUMNS = 2;

/**
 * Lines of at most `columns`. Breaks at spaces and next to wide characters; a longer word is broken where it must be. Only
 * spaces at a break are lost. Each line closes the colours it opened and the next one opens them again.
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

/** Filled with spaces up to `columns`. */
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
    // At the beginning of a line indentation gives way to the words.
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

/** Style sequences, runs of spaces, words; wide characters each for themselves. */
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

/** Closes at the end of each line what is open there, and opens it again on the next. */
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

/** What a closing code ends; all others open something. */
const CLOSES: Record<number, (open: number) => boolean> = {
  22: (open) => open === 1 || open === 2,
  23: (open) => open === 3,
  24: (open) => open === 4,
  27: (open) => open === 7,
  29: (open) => open === 9,
  39: (open) => (open >= 30 && open <= 38) || (open >= 90 && open <= 97),
  49: (open) => open >= 40 && open <= 48,
};
