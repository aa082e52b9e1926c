/** A memory's text cut to what one file may take: whole characters, at a line's end where one is near, and a note that it was cut. */

/** As much of one file as hosts show. Bytes, not characters, so that no language gets more room than another. */
export const MAX_MEMORY_BYTES_PER_FILE = 4096;

/** Lines without much in them, such as a pasted log, crowd a prompt before they reach the byte limit. */
export const MAX_MEMORY_LINES_PER_FILE = 200;

/** The first that leaves at least as much room for the content is used. */
const MARKERS = [
  "\n\n[cut here: this is only the beginning, read the file for the whole of it]",
  "\n[cut]",
  "",
] as const;

/** A line longer than this share of the text is cut inside rather than dropped. */
const NEAR = 0.75;

/** The marker lies inside `maxBytes` and below the last of `maxLines`. Cutting what was cut to the same limits changes nothing. */
export function cutContent(
  text: string,
  { maxBytes: most = MAX_MEMORY_BYTES_PER_FILE, maxLines = MAX_MEMORY_LINES_PER_FILE } = {},
): { content: string; cut: boolean } {
  const maxBytes = Math.max(0, Math.floor(most));
  const end = lineLimit(text, maxLines);
  if (end === text.length && fits(text, maxBytes)) return { content: text, cut: false };

  const marker = MARKERS.find((candidate) => 2 * candidate.length <= maxBytes) ?? "";
  const room = maxBytes - marker.length;
  const lines = text.slice(0, end);
  const kept = fits(lines, room) ? lines : atLineEnd(firstBytes(lines, room));
  return { content: kept.trimEnd() + marker, cut: true };
}

/** One line's text at a length in characters, with an ellipsis in place of what is cut off. */
export function clipLine(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}

/** The longest beginning of at most `maxBytes` that ends between two characters. */
function firstBytes(text: string, maxBytes: number): string {
  // A character takes a byte at least, so the rest of a large text need not be encoded.
  const bytes = Buffer.from(text.slice(0, maxBytes + 1));
  let end = Math.min(bytes.length, maxBytes);
  while (end > 0 && end < bytes.length && (bytes[end]! & 0xc0) === 0x80) end--;
  return bytes.toString("utf8", 0, end);
}

function atLineEnd(text: string): string {
  const newline = text.lastIndexOf("\n");
  return newline >= text.length * NEAR ? text.slice(0, newline) : text;
}

/** Where the last line that may be shown ends; our own marker is no line of the text. */
function lineLimit(text: string, maxLines: number): number {
  const last = MARKERS[0];
  const length = text.endsWith(last) ? text.length - last.length : text.length;
  let at = -1;
  for (let line = 0; line < maxLines; line++) {
    at = text.indexOf("\n", at + 1);
    if (at === -1 || at >= length) return text.length;
  }
  if (maxLines === 0) return text.trim() === "" ? text.length : 0;
  return text.slice(at).trim() === "" ? text.length : at;
}

function fits(text: string, maxBytes: number): boolean {
  return text.length <= maxBytes && Buffer.byteLength(text) <= maxBytes;
}
