/** Blocks of Markdown as lines for the terminal. */

import type { Token, Tokens } from "marked";
import { renderInline } from "./markdown-inline.ts";
import { renderTable } from "./markdown-table.ts";
import type { Paint } from "./paint.ts";
import { widthOf } from "./width.ts";
import { wrapText } from "./wrap.ts";

export interface BlockOptions {
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
