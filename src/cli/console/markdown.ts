/** Markdown as it streams in, to text for the terminal: each block as soon as it is complete, code line by line. */

import type { Token } from "marked";
import { sanitise } from "../../text/sanitise.ts";
import { wrapText } from "../../text/wrap.ts";
import { openPaint, type Paint } from "../terminal.ts";
import { renderTokens } from "./markdown-block.ts";

export interface MarkdownOptions {
  /** Asked for every block: the terminal may change its size meanwhile. */
  columns: number | (() => number);
  color: boolean;
  /** `lexer` of marked, which is loaded only where something is rendered. */
  lexer(text: string): Token[];
}

interface MarkdownStream {
  /** Text that is finished and can be printed, whole lines with their breaks; "" while nothing is. */
  push(delta: string): string;
  end(): string;
}

/** Longer blocks are rendered in parts: the lexer's time may grow with the square of what it is given, to about 0.3 s here. */
const MAX_BLOCK_CHARS = 16_000;
const MAX_LEXED_CHARS = 20_000;

/** Never throws; what cannot be rendered is printed as it is. Control sequences in the text are removed. */
export function openMarkdown(options: MarkdownOptions): MarkdownStream {
  const reader = openReader(options);
  let unfinished = "";
  const take = (text: string) =>
    sanitise(text)
      .split("\n")
      .map((line) => takeLine(reader, line))
      .join("");
  return {
    push(delta) {
      const end = delta.lastIndexOf("\n");
      if (end < 0) {
        unfinished += delta;
        return "";
      }
      const lines = unfinished + delta.slice(0, end).replace(/\r$/, "");
      unfinished = delta.slice(end + 1);
      return take(lines);
    },
    end() {
      const rest = `${unfinished === "" ? "" : take(unfinished)}${flush(reader)}`;
      unfinished = "";
      Object.assign(reader, openReader(options));
      return rest;
    },
  };
}

const CODE_INDENT = "  ";
/** Narrower than this nothing can be laid out; the terminal breaks the lines then. */
const MIN_COLUMNS = 10;

/** Where in the text the stream is. */
interface Reader {
  paint: Paint;
  columns(): number;
  lexer: MarkdownOptions["lexer"];
  /** Lines of a block that may go on. */
  block: string[];
  blockChars: number;
  /** The code fence that is open; its lines are printed as they come. */
  fence: Fence | null;
  /** One inside a list: its blank lines do not end the block. */
  innerFence: Fence | null;
  /** Whether anything was printed that the next block keeps a distance from. */
  printed: boolean;
}

function openReader({ columns, color, lexer }: MarkdownOptions): Reader {
  return {
    paint: openPaint(color),
    columns: () => Math.max(MIN_COLUMNS, typeof columns === "number" ? columns : columns()),
    lexer,
    block: [],
    blockChars: 0,
    fence: null,
    innerFence: null,
    printed: false,
  };
}

/** What can be printed because of this line. */
function takeLine(reader: Reader, line: string): string {
  const { block } = reader;
  if (reader.fence) return takeCode(reader, reader.fence, line);
  if (reader.innerFence) {
    if (reader.innerFence.closes(line)) reader.innerFence = null;
    return hold(reader, line);
  }
  const fence = openFence(line);
  const isNested = isList(block) && line.startsWith("  ");
  if (fence && isNested) reader.innerFence = fence;
  else if (fence && fence.indent < 4) {
    const before = flush(reader);
    reader.fence = fence;
    const info = fence.info === "" ? "" : `${CODE_INDENT}${reader.paint.dim(fence.info)}\n`;
    return `${before}${gap(reader)}${info}`;
  }
  if (line.trim() === "") return isList(block) ? hold(reader, line) : flush(reader);
  const before = endsBlock(block, line) ? flush(reader) : "";
  const held = hold(reader, line);
  return `${before}${held}${isHeading(line) && reader.block.length === 1 ? flush(reader) : ""}`;
}

function takeCode(reader: Reader, fence: Fence, line: string): string {
  if (fence.closes(line)) {
    reader.fence = null;
    return "";
  }
  const code = fence.unindent(line);
  return code === "" ? "\n" : `${CODE_INDENT}${reader.paint.cyan(code)}\n`;
}

function hold(reader: Reader, line: string): string {
  reader.block.push(line);
  reader.blockChars += line.length + 1;
  return reader.blockChars > MAX_BLOCK_CHARS ? flush(reader) : "";
}

function flush(reader: Reader): string {
  const text = reader.block.join("\n");
  Object.assign(reader, { block: [], blockChars: 0, innerFence: null });
  if (text.trim() === "") return "";
  const lines = renderBlock(text, reader);
  return lines.length === 0 ? "" : `${gap(reader)}${lines.join("\n")}\n`;
}

function gap(reader: Reader): string {
  const before = reader.printed ? "\n" : "";
  reader.printed = true;
  return before;
}

function renderBlock(text: string, { columns, lexer, paint }: Reader): string[] {
  try {
    // One line alone may be longer than all of a block should be.
    if (text.length > MAX_LEXED_CHARS) return wrapText(text, columns());
    return renderTokens(lexer(text), { columns: columns(), depth: 0, paint });
  } catch {
    // Nested so deeply that the lexer's stack or ours overflows: its words are what matters.
    return wrapText(text, columns());
  }
}

/** A list goes on over blank lines as long as what follows belongs to it. */
function isList(block: readonly string[]): boolean {
  return block[0] !== undefined && isListLine(block[0]);
}

/** Whether the line begins something else than what is being collected. */
function endsBlock(block: readonly string[], line: string): boolean {
  if (block.length === 0) return false;
  if (isHeading(line)) return !isList(block) || !line.startsWith(" ");
  return isList(block) && block.at(-1)?.trim() === "" && !line.startsWith("  ") && !isListLine(line);
}

function isHeading(line: string): boolean {
  return /^ {0,3}#{1,6}(?: |$)/.test(line);
}

interface Fence {
  /** Language and whatever else stands behind the opening fence. */
  info: string;
  indent: number;
  closes(line: string): boolean;
  /** A line of the code without the fence's own indentation. */
  unindent(line: string): string;
}

/** Null when the line opens no code fence. */
function openFence(line: string): Fence | null {
  const match = /^( *)(`{3,}|~{3,})(.*)$/.exec(line);
  if (!match) return null;
  const [, indent = "", marks = "", info = ""] = match;
  // Behind backticks another one would make it a code span.
  if (marks.startsWith("`") && info.includes("`")) return null;
  const closing = new RegExp(`^ *${marks[0]}{${marks.length},} *$`);
  return {
    info: info.trim(),
    indent: indent.length,
    closes: (each) => closing.test(each),
    unindent: (each) => each.replace(new RegExp(`^ {0,${indent.length}}`), ""),
  };
}

/** Begins an item of a list that is not itself indented. */
function isListLine(line: string): boolean {
  return /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?: |$)/.test(line) && !/^ {0,3}([-*])(?: *\1){2,} *$/.test(line);
}
