/** Foreign text made harmless for a terminal: nothing in it can move the cursor, set a title, or hide what it says. */

/** Columns of a tab; as in most editors, and what Markdown takes it for. */
const TAB = "    ";

/**
 * Line breaks become `\n`, tabs spaces (or what is given); escape sequences, control characters and marks that turn the direction of writing
 * are gone, and what is no Unicode is replaced. Linear in the text. Doing it twice changes nothing more.
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
    // Titles, links, pictures. One that does not end loses only its beginning: its words are shown.
    "\\x1b[\\]P^_X][^\\x07\\x1b\\x9c\\n]*(?:\\x07|\\x1b\\\\|\\x9c)",
    // Colours, moves of the cursor, modes.
    "(?:\\x1b\\[|\\x9b)[0-?]*[ -/]*[@-~]",
    // Character sets and commands of one letter.
    "\\x1b[ -/]+[0-~]",
    "\\x1b[0-OQ-WYZ\\\\`-~]",
  ].join("|"),
  "g",
);
const BREAKS = /\r\n?|[\v\f\x85\u2028\u2029]/g;
/** Control characters, and what turns the direction of writing or shows as nothing while it says something. */
const HARMFUL = /(?![\n\t])\p{Cc}|[\p{Bidi_Control}\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;
