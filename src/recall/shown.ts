/** A memory as it is shown: its text without the cues, which are for finding and not for reading. */

/** The field and what belongs to it: lines that are further in, items of a list, empty lines. */
const CUES = /^([ \t]*)when:.*(?:\n(?:\1[ \t]+.*|\1-.*|[ \t]*\r?))*\n?/m;
const FENCE = /^---[ \t]*\r?\n/;

export function shownContent(text: string): string {
  if (!FENCE.test(text)) return text;
  const end = text.indexOf("\n---", 3);
  if (end < 0) return text;
  // One line break more belongs to the head than is cut off it.
  return text.slice(0, end + 1).replace(CUES, "") + text.slice(end + 1);
}
