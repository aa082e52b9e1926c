/** Lines of a diff folded to a terminal: what goes on is indented, so that no part of a text poses as a line of its own. */

import { wrapText } from "./console/wrap.ts";

/** The sign of a diff's line and a space: what goes on stands below the words. */
const INDENT = "  ";

/** With infinite columns every line stays as it is. */
export function foldLines(lines: readonly string[], columns: number): string[] {
  const room = columns - INDENT.length;
  return lines.flatMap((line) => wrapText(line, room).map((part, at) => (at === 0 ? part : `${INDENT}${part}`)));
}
