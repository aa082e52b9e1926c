/** Regular expressions made of plain text. */

/** Matches this text and nothing else. */
export function literally(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

/**
 * Matches whole texts that are made of these patterns with anything between them. Each is taken at its first place and kept there (a
 * lookahead does not backtrack), so many of them are not slow.
 */
export function spread([first = "", ...rest]: readonly string[]): string {
  const last = rest.pop();
  const middle = rest.map((piece, i) => `(?=(.*?${piece}))\\${i + 1}`).join("");
  return `^${first}${middle}${last === undefined ? "" : `.*${last}`}$`;
}
