/** Large pastes in the editor: each stands in the text as one private character, is shown as a note and handed on in full. */

/** What was pasted, by number; a paste that was deleted keeps its place, so that a kill can be put back. */
export type Pastes = readonly string[];

/** From here on a paste would push the conversation off the screen. */
const LARGE_LINES = 10;
const LARGE_CHARS = 1000;

/** The last private plane's end: no font has icons there, unlike the planes before it. */
const FIRST_MARK = 0x10f000;
const LAST_MARK = 0x10fffd;

/** Any of the private characters. */
export const MARKS = /[\u{10f000}-\u{10fffd}]/u;
const ALL_MARKS = new RegExp(MARKS.source, "gu");

export function isLarge(content: string): boolean {
  return content.length > LARGE_CHARS || countLines(content) > LARGE_LINES;
}

/** The character that stands for a paste; null when all are used up. */
export function markOf(number: number): string | null {
  return FIRST_MARK + number <= LAST_MARK ? String.fromCodePoint(FIRST_MARK + number) : null;
}

/** Typed or pasted text cannot pose as a paste. */
export function hideMarks(text: string): string {
  return MARKS.test(text) ? text.replace(ALL_MARKS, "\ufffd") : text;
}

/** The text with every paste shown: in full, or as a note. */
export function showPastes(text: string, pastes: Pastes, show: (content: string, number: number) => string): string {
  if (!MARKS.test(text)) return text;
  return text.replace(ALL_MARKS, (mark) => {
    const number = (mark.codePointAt(0) ?? 0) - FIRST_MARK;
    return show(pastes[number] ?? "", number + 1);
  });
}

export function pasteNote(content: string, number: number): string {
  const lines = countLines(content);
  return `[pasted text #${number}, ${lines > 1 ? `${lines} lines` : `${content.length} characters`}]`;
}

/** A break at the very end begins no further line. */
function countLines(content: string): number {
  let lines = 1;
  for (let at = content.indexOf("\n"); at >= 0 && at < content.length - 1; at = content.indexOf("\n", at + 1)) lines++;
  return lines;
}
