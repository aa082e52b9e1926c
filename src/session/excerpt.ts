/** Text of a conversation on one line, short and harmless to print. */

/** Sequences that a terminal obeys instead of showing; one that does not end takes the rest of its line with it. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const ESCAPES = /\x1b[\]P^_X][^\x07\x1b\n]*(?:\x07|\x1b\\)?|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?|\x1b[ -/]*[0-~]?/g;

/** Marks that change the direction of what follows, and marks that show as nothing. */
const UNSEEN = /[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g;

/** A title or an excerpt needs no more of a pasted log, and patterns over megabytes take time. */
const MAX_LOOKED_AT = 20_000;

export function plainLine(text: string): string {
  return text
    .slice(0, MAX_LOOKED_AT)
    .toWellFormed()
    .replace(ESCAPES, "")
    .replace(UNSEEN, "")
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim();
}

/** Cut at a word if there is one near. */
export function cutLine(text: string, maxCharacters: number): string {
  const plain = plainLine(text);
  const characters = [...plain];
  if (characters.length <= maxCharacters) return plain;
  const head = characters.slice(0, maxCharacters - 1).join("");
  const space = head.lastIndexOf(" ");
  return `${space > head.length * 0.7 ? head.slice(0, space) : head}…`;
}

/** About this many characters with what stands at `at` among them. */
export function excerptAround(text: string, at: number, length: number, maxCharacters: number): string {
  const margin = Math.max(0, Math.floor((maxCharacters - length) / 2));
  let start = Math.max(0, at - margin);
  let end = Math.min(text.length, Math.max(at + length + margin, start + maxCharacters));
  start = Math.max(0, Math.min(start, end - maxCharacters));
  // Whole words at both ends, if they are short enough to look for.
  if (start > 0) start += /^\S{0,20}\s/.exec(text.slice(start, at))?.[0].length ?? 0;
  if (end < text.length) end -= /\s\S{0,20}$/.exec(text.slice(at + length, end))?.[0].length ?? 0;
  return `${start > 0 ? "…" : ""}${plainLine(text.slice(start, end))}${end < text.length ? "…" : ""}`;
}
