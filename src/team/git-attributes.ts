/** Memdir's lines in `.gitattributes`: which files git merges with our drivers. Everything else stays byte for byte. */

export const MEMORY_DRIVER = "memdir";
export const INDEX_DRIVER = "memdir-index";

/** The last line that matches a path decides: the index comes behind the rule that holds for all of the folder. */
const LINES = [
  `.claude/memory/**/*.md merge=${MEMORY_DRIVER}`,
  `.claude/memory/MEMORY.md merge=${INDEX_DRIVER}`,
  `.claude/memory/MEMORY.more.md merge=${INDEX_DRIVER}`,
];
const COMMENT = "# memdir: memories are merged by section (memdir init --team)";

/** The same text when all of it is there in the right order. `text` is null for no file. */
export function addAttributes(text: string | null): string {
  const before = text ?? "";
  if (hasAttributes(before)) return before;
  const eol = before.includes("\r\n") ? "\r\n" : "\n";
  // What is there in part, or in another order, comes anew at the end.
  const rest = removeAttributes(before);
  const gap = rest === "" || rest.endsWith("\n") ? "" : eol;
  return `${rest}${gap}${[COMMENT, ...LINES].map((line) => line + eol).join("")}`;
}

export function removeAttributes(text: string): string {
  const own = new Set([COMMENT, ...LINES]);
  return splitLines(text)
    .filter((line) => !own.has(line.trim()))
    .join("");
}

export function hasAttributes(text: string): boolean {
  const lines = splitLines(text).map((line) => line.trim());
  const places = LINES.map((line) => lines.lastIndexOf(line));
  return places.every((place, at) => place >= 0 && (at === 0 || place > (places[0] as number)));
}

function splitLines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}
