/** Splits a text into lines that keep their line breaks, so that joining them gives the same bytes. */

export function splitLines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** The line break that a text uses. */
export function eolOf(lines: readonly string[]): string {
  return lines[0]?.endsWith("\r\n") ? "\r\n" : "\n";
}
