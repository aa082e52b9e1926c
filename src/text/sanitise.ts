/** Makes foreign text safe for a terminal: nothing in it can move the cursor, set a title, or hide what it says. */
/** The width of a tab, as in most editors and in Markdown. */
const TAB = "    ";

/**
 * Line breaks become `\n` and tabs become spaces (or the given text). Escape sequences, control characters and
 * bidirectional marks are removed, and invalid Unicode is replaced. Linear in the text, and idempotent.
 */
export function sanitise(text: string, tab = TAB): string {
  if (CLEAN.test(text)) return text;
  return text.toWellFormed().replace(SEQUENCES, "").replace(BREAKS, "\n").replaceAll("\t", tab).replace(HARMFUL, "");
}

/** The same on one line. */
export function sanitiseLine(text: string): string {
  return sanitise(text)
    .replace(/\s*\n\s*/g, " ")
    .trim();
}

const CLEAN = /^[\x20-\x7e\n]*$/;
const SEQUENCES = new RegExp(
  [
    // Titles, links, images. If one is never closed, only its start is removed and its text is shown.
    "\\x1b[\\]P^_X][^\\x07\\x1b\\x9c\\n]*(?:\\x07|\\x1b\\\\|\\x9c)",
    // Colours, cursor movement, modes.
    "(?:\\x1b\\[|\\x9b)[0-?]*[ -/]*[@-~]",
    // Character sets and one-letter commands.
    "\\x1b[ -/]+[0-~]",
    "\\x1b[0-OQ-WYZ\\\\`-~]",
  ].join("|"),
  "g",
);
const BREAKS = /\r\n?|[\v\f\x85\u2028\u2029]/g;
/** Control characters, bidirectional marks, and invisible characters that carry meaning. */
const HARMFUL = /(?![\n\t])\p{Cc}|[\p{Bidi_Control}\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/** Invisible characters without an effect: harmless, but a title made of them looks empty. */
const UNSEEN = /[\u200b\u2060-\u2064]/g;

/** A title or an excerpt does not need more of a pasted log, and patterns over megabytes take time. */
const MAX_LOOKED_AT = 20_000;

/** The text on one line with single spaces, for titles and excerpts. */
export function plainLine(text: string): string {
  return sanitise(text.slice(0, MAX_LOOKED_AT)).replace(UNSEEN, "").replace(/\s+/g, " ").trim();
}

/** Cuts at a word boundary if one is near. */
export function cutLine(text: string, maxCharacters: number): string {
  const plain = plainLine(text);
  const characters = [...plain];
  if (characters.length <= maxCharacters) return plain;
  const head = characters.slice(0, maxCharacters - 1).join("");
  const space = head.lastIndexOf(" ");
  return `${space > head.length * 0.7 ? head.slice(0, space) : head}…`;
}

/** About this many characters around position `at`. */
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

// --- A number with its noun in the singular or plural.

export function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}
