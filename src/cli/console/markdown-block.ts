/** Markdown as lines for the terminal: blocks, what is inside a line, and tables fitted to the columns there are. */

import type { Token, Tokens } from "marked";
import { pad, widthOf, wrapText } from "../../text/wrap.ts";
import type { Paint } from "../terminal.ts";

interface BlockOptions {
  columns: number;
  /** Of lists and quotes around it. */
  depth: number;
  paint: Paint;
}

/** Deeper levels are no longer moved in: a narrow terminal has no room for it, and the text matters more. */
const MAX_DEPTH = 6;
const MIN_COLUMNS = 10;
/** A rule need not be as wide as the terminal. */
const MAX_RULE = 40;

export function renderTokens(tokens: readonly Token[], options: BlockOptions, isTight = false): string[] {
  const lines: string[] = [];
  for (const token of tokens) {
    const block = renderToken(token, options);
    if (block.length === 0) continue;
    if (lines.length > 0 && !isTight) lines.push("");
    // One by one: a block may have more lines than a call has room for arguments.
    for (const line of block) lines.push(line);
  }
  return lines;
}

function renderToken(token: Token, options: BlockOptions): string[] {
  const { columns, paint } = options;
  switch (token.type) {
    case "space":
      return [];
    case "heading":
      return renderHeading(token as Tokens.Heading, options);
    case "code":
      return renderCode(token as Tokens.Code, paint);
    case "blockquote":
      return renderQuote(token as Tokens.Blockquote, options);
    case "list":
      return renderList(token as Tokens.List, options);
    case "table":
      return renderTable(token as Tokens.Table, options);
    case "hr":
      return [paint.dim("─".repeat(Math.min(columns, MAX_RULE)))];
    case "paragraph":
    case "text":
      return wrapText(renderInline(inlineOf(token), paint), columns);
    default:
      // HTML, link definitions and what else there may be: as it was written.
      return wrapText(paint.dim(token.raw.trimEnd()), columns);
  }
}

function renderHeading({ depth, tokens }: Tokens.Heading, { columns, paint }: BlockOptions): string[] {
  const text = renderInline(tokens, paint);
  // Without colour its own marks tell a heading from a line.
  if (!paint.on) return wrapText(`${"#".repeat(depth)} ${text}`, columns);
  return wrapText(paint.bold(depth === 1 ? paint.underline(text) : text), columns);
}

/** Not wrapped: the terminal breaks long lines by itself, and copied code stays whole. */
function renderCode({ lang = "", text }: Tokens.Code, paint: Paint): string[] {
  const lines = text.split("\n").map((line) => (line === "" ? "" : `  ${paint.cyan(line)}`));
  return lang === "" ? lines : [`  ${paint.dim(lang)}`, ...lines];
}

function renderQuote({ tokens }: Tokens.Blockquote, options: BlockOptions): string[] {
  return indentLines(renderTokens(tokens, inside(options, 2)), paintedBar(options), paintedBar(options));
}

function paintedBar({ paint, depth }: BlockOptions): string {
  return depth < MAX_DEPTH ? `${paint.dim("│")} ` : "";
}

function renderList(list: Tokens.List, options: BlockOptions): string[] {
  const lines: string[] = [];
  const first = typeof list.start === "number" ? list.start : 1;
  for (const [index, item] of list.items.entries()) {
    const task = item.tokens[0]?.type === "checkbox" ? renderInline(item.tokens.slice(0, 1), options.paint) : "";
    const marker = `${list.ordered ? `${first + index}.` : "-"} ${task}`;
    const isDeep = options.depth >= MAX_DEPTH;
    const content = renderTokens(
      task === "" ? item.tokens : item.tokens.slice(1),
      inside(options, isDeep ? 0 : widthOf(marker)),
      !list.loose,
    );
    if (list.loose && lines.length > 0) lines.push("");
    const indent = isDeep ? "" : " ".repeat(marker.length);
    for (const line of indentLines(content.length > 0 ? content : [""], marker, indent)) lines.push(line);
  }
  return lines;
}

function inside(options: BlockOptions, used: number): BlockOptions {
  return { ...options, depth: options.depth + 1, columns: Math.max(MIN_COLUMNS, options.columns - used) };
}

function indentLines(lines: readonly string[], first: string, rest: string): string[] {
  return lines.map((line, index) =>
    index === 0 ? `${first}${line}` : line === "" ? rest.trimEnd() : `${rest}${line}`,
  );
}

function inlineOf(token: Token): readonly Token[] {
  return "tokens" in token && token.tokens ? token.tokens : [token];
}

function renderInline(tokens: readonly Token[], paint: Paint): string {
  return tokens.map((token) => renderSpan(token, paint)).join("");
}

function renderSpan(token: Token, paint: Paint): string {
  switch (token.type) {
    case "text":
      return "tokens" in token && token.tokens ? renderInline(token.tokens, paint) : decode(token.raw);
    case "escape":
      return (token as Tokens.Escape).text;
    case "strong":
      return paint.bold(renderInline((token as Tokens.Strong).tokens, paint));
    case "em":
      return paint.italic(renderInline((token as Tokens.Em).tokens, paint));
    case "del":
      return paint.strike(renderInline((token as Tokens.Del).tokens, paint));
    case "codespan":
      // Without colour the marks stay: what is code must be told from words.
      return paint.on ? paint.cyan((token as Tokens.Codespan).text) : `\`${(token as Tokens.Codespan).text}\``;
    case "br":
      return "\n";
    case "checkbox":
      return (token as Tokens.Checkbox).checked ? "[x] " : "[ ] ";
    case "link":
      return renderLink(token as Tokens.Link, paint);
    case "image":
      return renderImage(token as Tokens.Image, paint);
    default:
      return token.raw;
  }
}

function renderLink({ href, title, text, tokens }: Tokens.Link, paint: Paint): string {
  const shown = renderInline(tokens, paint);
  // An address that is its own text is not said twice.
  if (text === href || `mailto:${text}` === href) return paint.underline(shown);
  return `${paint.underline(shown)} ${paint.dim(`(${target(href, title)})`)}`;
}

function renderImage({ href, title, text }: Tokens.Image, paint: Paint): string {
  return `[image: ${text}] ${paint.dim(`(${target(href, title)})`)}`;
}

function target(href: string, title?: string | null): string {
  return title ? `${href} "${title}"` : href;
}

/** The few entities that people write; all others stay. */
function decode(text: string): string {
  return text.includes("&") ? text.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity) : text;
}

const ENTITIES: Record<string, string> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'" };

/** Narrower cells break every word. */
const MIN_CELL = 6;
const GAP = " │ ";

function renderTable(table: Tokens.Table, { columns, paint }: { columns: number; paint: Paint }): string[] {
  const header = table.header.map(({ tokens }) => renderInline(tokens, paint));
  const rows = table.rows.map((row) => row.map(({ tokens }) => renderInline(tokens, paint)));
  const widths = fitWidths(naturalWidths([header, ...rows]), columns - GAP.length * (header.length - 1));
  if (!widths) return renderRecords(header, rows, columns, paint);
  const line = (cells: readonly string[], weight: (text: string) => string) => {
    const wrapped = widths.map((width, index) => wrapText(cells[index] ?? "", width));
    const height = Math.max(...wrapped.map((lines) => lines.length));
    return Array.from({ length: height }, (_, row) =>
      widths
        .map((width, index) => pad(weight(wrapped[index]?.[row] ?? ""), width, table.align[index]))
        .join(paint.dim(GAP))
        .trimEnd(),
    );
  };
  const rule = paint.dim(widths.map((width) => "─".repeat(width)).join("─┼─"));
  return [...line(header, paint.bold), rule, ...rows.flatMap((row) => line(row, (text) => text))];
}

function naturalWidths(rows: readonly (readonly string[])[]): number[] {
  const first = rows[0] ?? [];
  return first.map((_, index) =>
    Math.max(1, ...rows.map((row) => Math.max(...(row[index] ?? "").split("\n").map(widthOf)))),
  );
}

/** Takes from the widest until it fits; null when cells would become too narrow to read. */
function fitWidths(natural: readonly number[], room: number): number[] | null {
  const sum = natural.reduce((total, width) => total + width, 0);
  if (sum <= room) return [...natural];
  const least = natural.reduce((total, width) => total + Math.min(width, MIN_CELL), 0);
  if (least > room) return null;
  // The largest limit under which all fit; then one column more for those that want it, as long as there are any.
  let limit = MIN_CELL;
  const under = (max: number) => natural.reduce((total, width) => total + Math.min(width, max), 0);
  while (under(limit + 1) <= room) limit++;
  let left = room - under(limit);
  return natural.map((width) => {
    if (width <= limit || left === 0) return Math.min(width, limit);
    left--;
    return limit + 1;
  });
}

function renderRecords(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  columns: number,
  paint: Paint,
): string[] {
  if (rows.length === 0) return header.flatMap((name) => wrapText(paint.bold(name), columns));
  return rows.flatMap((row, index) => [
    ...(index > 0 ? [""] : []),
    ...header.flatMap((name, cell) => wrapText(`${paint.bold(name)}: ${row[cell] ?? ""}`, columns)),
  ]);
}
