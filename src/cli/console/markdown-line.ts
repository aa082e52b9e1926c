/** What a line of Markdown begins, as far as streaming has to know it. */

export interface Fence {
  /** Language and whatever else stands behind the opening fence. */
  info: string;
  indent: number;
  closes(line: string): boolean;
  /** A line of the code without the fence's own indentation. */
  unindent(line: string): string;
}

/** Null when the line opens no code fence. */
export function openFence(line: string): Fence | null {
  const match = /^( *)(`{3,}|~{3,})(.*)$/.exec(line);
  if (!match) return null;
  const [, indent = "", marks = "", info = ""] = match;
  // Behind backticks another one would make it a code span.
  if (marks.startsWith("`") && info.includes("`")) return null;
  const closing = new RegExp(`^ *${marks[0]}{${marks.length},} *$`);
  return {
    info: info.trim(),
    indent: indent.length,
    closes: (each) => closing.test(each),
    unindent: (each) => each.replace(new RegExp(`^ {0,${indent.length}}`), ""),
  };
}

/** Begins an item of a list that is not itself indented. */
export function isListLine(line: string): boolean {
  return /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?: |$)/.test(line) && !/^ {0,3}([-*])(?: *\1){2,} *$/.test(line);
}
