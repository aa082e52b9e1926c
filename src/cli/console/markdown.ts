/** Markdown as it streams in, to text for the terminal: each block as soon as it is complete, code line by line. */

import type { MarkedToken, Token, Tokens } from "marked";
import { sanitise } from "../../text/sanitise.ts";
import { pad, widthOf, wrapText } from "../../text/wrap.ts";
import { openPaint, type Paint } from "../../verb.ts";

export interface MarkdownOptions {
  /** Asked for every block: the terminal may change its size meanwhile. */
  columns: number | (() => number);
  color: boolean;
  /** `lexer` of marked, which is loaded only where something is rendered. */
  lexer(text: string): Token[];
}

/** Longer blocks are rendered in parts: the lexer's time may grow with the square of what it is given, to about 0.3 s here. */
const MAX_BLOCK_CHARS = 16_000;
const MAX_LEXED_CHARS = 20_000;
/** In narrower columns nothing can be laid out; the terminal breaks the lines then. */
const MIN_COLUMNS = 10;
const FENCE = /^( *)(`{3,}(?=[^`]*$)|~{3,})(.*)$/;
const HEADING = /^ {0,3}#{1,6}(?: |$)/;
/** An item of a list that is not itself indented; three of its marks are a rule. */
const ITEM = /^(?! {0,3}([-*])(?: *\1){2,} *$) {0,3}(?:[-*+]|\d{1,9}[.)])(?: |$)/;

/** Never throws; what cannot be rendered is printed as it is. Control sequences in the text are removed. */
export function openMarkdown({ columns, color, lexer }: MarkdownOptions) {
  const paint = openPaint(color);
  /** A line that is not complete, and the lines of a block that may go on. */
  let unfinished = "";
  let block: string[] = [];
  let held = 0;
  /** The code fence that is open outside a list. */
  let fence: { indent: number; closing: RegExp } | null = null;
  let isFirst = true;

  const gap = () => {
    const before = isFirst ? "" : "\n";
    isFirst = false;
    return before;
  };
  const render = (text: string): string[] => {
    const room = Math.max(MIN_COLUMNS, typeof columns === "number" ? columns : columns());
    try {
      // One line alone may be longer than all of a block should be.
      if (text.length <= MAX_LEXED_CHARS) return renderBlocks(lexer(text), { columns: room, depth: 0, paint });
    } catch {
      // Nested so deeply that the lexer's stack or ours overflows: its words are what matters.
    }
    return wrapText(text, room);
  };
  const flush = (): string => {
    const text = block.join("\n");
    block = [];
    held = 0;
    const lines = text.trim() === "" ? [] : render(text);
    return lines.length === 0 ? "" : `${gap()}${lines.join("\n")}\n`;
  };
  const hold = (line: string): string => {
    block.push(line);
    held += line.length + 1;
    return held > MAX_BLOCK_CHARS ? flush() : "";
  };
  /** What can be printed because of this line. */
  const take = (line: string): string => {
    const isList = ITEM.test(block[0] ?? "");
    if (fence) {
      const code = line.replace(new RegExp(`^ {0,${fence.indent}}`), "");
      const isEnd = fence.closing.test(line);
      if (isEnd) fence = null;
      return isEnd ? "" : `${codeLine(code, paint)}\n`;
    }
    // What is indented belongs to the list, code too.
    if (isList && line.startsWith("  ")) return hold(line);
    const [, { length: indent } = "", marks = "", info = ""] = FENCE.exec(line) ?? [];
    if (marks !== "" && indent < 4) {
      const before = `${flush()}${gap()}`;
      fence = { indent, closing: new RegExp(`^ *${marks[0]}{${marks.length},} *$`) };
      return info.trim() === "" ? before : `${before}  ${paint.dim(info.trim())}\n`;
    }
    if (line.trim() === "") return isList ? hold(line) : flush();
    // A list goes on over blank lines as long as what follows belongs to it.
    const isOutside = isList && block.at(-1)?.trim() === "" && !ITEM.test(line);
    const isHeading = HEADING.test(line) && !(isList && line.startsWith(" "));
    const before = isOutside || isHeading ? flush() : "";
    return `${before}${hold(line)}${isHeading ? flush() : ""}`;
  };
  const takeAll = (text: string) => sanitise(text).split("\n").map(take).join("");
  return {
    /** Text that is finished and can be printed, whole lines with their breaks; "" while nothing is. */
    push(delta: string): string {
      const end = delta.lastIndexOf("\n");
      const lines = unfinished + delta.slice(0, Math.max(0, end)).replace(/\r$/, "");
      unfinished = end < 0 ? unfinished + delta : delta.slice(end + 1);
      return end < 0 ? "" : takeAll(lines);
    },
    end(): string {
      const rest = `${unfinished === "" ? "" : takeAll(unfinished)}${flush()}`;
      unfinished = "";
      fence = null;
      isFirst = true;
      return rest;
    },
  };
}

interface BlockOptions {
  columns: number;
  /** Of lists and quotes around it. */
  depth: number;
  paint: Paint;
}

/** Deeper levels are no longer moved in: a narrow terminal has no room for it, and the text matters more. */
const MAX_DEPTH = 6;
/** A rule need not be as wide as the terminal. */
const MAX_RULE = 40;

function renderBlocks(tokens: readonly Token[], options: BlockOptions, isTight = false): string[] {
  const blocks = tokens.map((token) => renderBlock(token as MarkedToken, options)).filter(({ length }) => length > 0);
  return blocks.flatMap((lines, index) => (index > 0 && !isTight ? ["", ...lines] : lines));
}

function renderBlock(token: MarkedToken, options: BlockOptions): string[] {
  const { columns, paint } = options;
  switch (token.type) {
    case "space":
      return [];
    case "heading": {
      const text = inline(token.tokens, paint);
      // Without colour its own marks tell a heading from a line.
      if (!paint.on) return wrapText(`${"#".repeat(token.depth)} ${text}`, columns);
      return wrapText(paint.bold(token.depth === 1 ? paint.underline(text) : text), columns);
    }
    case "code": {
      // Not wrapped: the terminal breaks long lines by itself, and copied code stays whole.
      const lines = token.text.split("\n").map((line) => codeLine(line, paint));
      return token.lang ? [`  ${paint.dim(token.lang)}`, ...lines] : lines;
    }
    case "blockquote": {
      const bar = options.depth < MAX_DEPTH ? `${paint.dim("│")} ` : "";
      return indented(token.tokens, options, bar, bar);
    }
    case "list":
      return token.items.flatMap((item, index) => renderItem(token, item, index, options));
    case "table":
      return renderTable(token, options);
    case "hr":
      return [paint.dim("─".repeat(Math.min(columns, MAX_RULE)))];
    case "paragraph":
    case "text":
      return wrapText(inline(token.tokens ?? [token], paint), columns);
    default:
      // HTML, link definitions and what else there may be: as it was written.
      return wrapText(paint.dim(token.raw.trimEnd()), columns);
  }
}

function codeLine(line: string, paint: Paint): string {
  return line === "" ? "" : `  ${paint.cyan(line)}`;
}

function renderItem(list: Tokens.List, { tokens }: Tokens.ListItem, index: number, options: BlockOptions): string[] {
  const [first] = tokens;
  const task = first?.type === "checkbox" ? inline([first], options.paint) : "";
  const marker = `${list.ordered ? `${(list.start === "" ? 1 : list.start) + index}.` : "-"} ${task}`;
  const lines = indented(tokens.slice(task === "" ? 0 : 1), options, marker, " ".repeat(marker.length), !list.loose);
  return [...(list.loose && index > 0 ? [""] : []), ...(lines.length > 0 ? lines : [marker])];
}

function indented(
  tokens: readonly Token[],
  options: BlockOptions,
  first: string,
  rest: string,
  isTight = false,
): string[] {
  const isDeep = options.depth >= MAX_DEPTH;
  const columns = isDeep ? options.columns : Math.max(MIN_COLUMNS, options.columns - widthOf(first));
  const lines = renderBlocks(tokens, { ...options, depth: options.depth + 1, columns }, isTight);
  const indent = isDeep ? "" : rest;
  return lines.map((line, index) => {
    if (index === 0) return `${first}${line}`;
    return line === "" ? indent.trimEnd() : `${indent}${line}`;
  });
}

function inline(tokens: readonly Token[], paint: Paint): string {
  return tokens.map((token) => renderSpan(token as MarkedToken, paint)).join("");
}

function renderSpan(token: MarkedToken, paint: Paint): string {
  switch (token.type) {
    case "text":
      return token.tokens ? inline(token.tokens, paint) : decode(token.raw);
    case "escape":
      return token.text;
    case "strong":
    case "em":
    case "del":
      return paint[WEIGHTS[token.type]](inline(token.tokens, paint));
    case "codespan":
      // Without colour the marks stay: what is code must be told from words.
      return paint.on ? paint.cyan(token.text) : `\`${token.text}\``;
    case "br":
      return "\n";
    case "checkbox":
      return token.checked ? "[x] " : "[ ] ";
    case "link":
    case "image": {
      const { href, title, text } = token;
      const shown = token.type === "image" ? `[image: ${text}]` : paint.underline(inline(token.tokens, paint));
      // An address that is its own text is not said twice.
      const isSame = token.type === "link" && (text === href || `mailto:${text}` === href);
      return isSame ? shown : `${shown} ${paint.dim(`(${href}${title ? ` "${title}"` : ""})`)}`;
    }
    default:
      return token.raw;
  }
}

const WEIGHTS = { strong: "bold", em: "italic", del: "strikethrough" } as const;

/** The few entities that people write; all others stay. */
function decode(text: string): string {
  return text.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity);
}

const ENTITIES: Record<string, string> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'" };

/** Narrower cells break every word. */
const MIN_CELL = 6;
const GAP = " │ ";

function renderTable(table: Tokens.Table, { columns, paint }: BlockOptions): string[] {
  const [header = [], ...rows] = [table.header, ...table.rows].map((row) =>
    row.map(({ tokens }) => inline(tokens, paint)),
  );
  const widths = fitWidths([header, ...rows], columns - GAP.length * (header.length - 1));
  if (!widths) {
    // Too narrow for columns: each row as lines with their names.
    if (rows.length === 0) return header.flatMap((name) => wrapText(paint.bold(name), columns));
    return rows.flatMap((row, index) => [
      ...(index > 0 ? [""] : []),
      ...header.flatMap((name, cell) => wrapText(`${paint.bold(name)}: ${row[cell] ?? ""}`, columns)),
    ]);
  }
  const line = (cells: readonly string[]) => {
    const wrapped = widths.map((width, index) => wrapText(cells[index] ?? "", width));
    const height = Math.max(...wrapped.map(({ length }) => length));
    const cell = (row: number) => (width: number, index: number) =>
      pad(wrapped[index]?.[row] ?? "", width, table.align[index]);
    return Array.from({ length: height }, (_, row) => widths.map(cell(row)).join(paint.dim(GAP)).trimEnd());
  };
  const rule = paint.dim(widths.map((width) => "─".repeat(width)).join("─┼─"));
  return [...line(header.map(paint.bold)), rule, ...rows.flatMap(line)];
}

/** Takes from the widest until all fit; null when cells would become too narrow to read. */
function fitWidths(rows: readonly (readonly string[])[], room: number): number[] | null {
  const natural = (index: number) => Math.max(1, ...rows.flatMap((row) => (row[index] ?? "").split("\n").map(widthOf)));
  const widths = (rows[0] ?? []).map((_, index) => natural(index));
  const sum = (limit: number) => widths.reduce((total, width) => total + Math.min(width, limit), 0);
  if (sum(Number.POSITIVE_INFINITY) > room && sum(MIN_CELL) > room) return null;
  for (let over = sum(Number.POSITIVE_INFINITY) - room; over > 0; over--) {
    const widest = widths.lastIndexOf(Math.max(...widths));
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}
