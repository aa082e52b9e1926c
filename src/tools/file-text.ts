/** A file's bytes as text, without losing how they were written: byte order mark, line ends, bytes that are no UTF-8. */

interface FileText {
  /** Without the byte order mark, line ends as they are. */
  text: string;
  bom: boolean;
  /** Whether the same bytes come out again: false when some are no UTF-8. */
  exact: boolean;
}

export function decodeText(bytes: Buffer): FileText {
  const bom = bytes.length >= 3 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  const body = bom ? bytes.subarray(3) : bytes;
  const text = body.toString("utf8");
  return { text, bom, exact: !text.includes("\ufffd") || Buffer.from(text).equals(body) };
}

export function encodeText(text: string, bom: boolean): Buffer {
  return Buffer.from(bom ? `\ufeff${text}` : text);
}

/** Lines without their ends; what follows the last line end counts only if there is something. */
export function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
}

/** Whether most lines end with CRLF. */
export function usesCrlf(text: string): boolean {
  const crlf = count(text, "\r\n");
  return crlf > 0 && crlf * 2 >= count(text, "\n");
}

export function numberLines(lines: readonly string[], first: number): string {
  return lines.map((line, i) => `${String(first + i).padStart(5)}→${line}`).join("\n");
}

export function countOf(number: number, noun: string): string {
  return `${number.toLocaleString("en-US")} ${noun}${number === 1 ? "" : "s"}`;
}

function count(text: string, part: string): number {
  let found = 0;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) found++;
  return found;
}
