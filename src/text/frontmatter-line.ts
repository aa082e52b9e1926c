/** What a frontmatter is made of: fields with their spans, and the lines they stand on. */

export type FieldValue = string | FieldValue[] | { [key: string]: FieldValue };

export interface Field {
  key: string;
  value: FieldValue;
  /** How it was written: decides whether an unquoted `true` or `42` is text. */
  style: "plain" | "quoted" | "block" | "list" | "map" | "empty";
  /** The field's whole lines in the text, from the key's line to the end of its last line, line break included. */
  start: number;
  end: number;
  indent: number;
  /** A comment after a quoted or bracketed value, kept when the value is replaced. */
  comment: string;
  /** Fields inside, when the value is a block map. */
  fields: Field[];
}

/** A line of the frontmatter and where it stands in the text. */
export interface Line {
  text: string;
  start: number;
  end: number;
  number: number;
}

export function isBlankOrComment(line: string): boolean {
  const text = line.trim();
  return text === "" || text.startsWith("#");
}

export function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

/** Where the key's colon is, or -1. A quoted key may hold colons itself. */
export function keyEnd(line: string): number {
  const text = line.trimStart();
  const quote = text[0];
  if (quote === '"' || quote === "'") {
    // The quoted part must be all of the key: a quoted text may hold colons, and escaped quotes, too.
    const key = (quote === '"' ? /^"(?:\\.|[^"\\])*"\s*:/ : /^'(?:''|[^'])*'\s*:/).exec(text);
    return key ? key[0].length - 1 + indentOf(line) : -1;
  }
  return line.indexOf(":");
}

export function unquoteKey(key: string): string {
  const quote = key[0];
  return (quote === '"' || quote === "'") && key.length > 1 && key.endsWith(quote) ? key.slice(1, -1) : key;
}
