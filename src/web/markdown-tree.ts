/** Markdown as a tree of known kinds: everything else in a memory, including raw HTML, becomes text. */

import type { MarkedToken, Token, Tokens } from "marked";
import { attempt } from "../errors.ts";
import { ABYSS } from "../instructions/imports.ts";
import { clip } from "./answer.ts";
import type { MarkdownNode, Ref } from "./shapes.ts";

/** Which memory a `[[name]]` or a link to a file means; null for none. */
export type FindLinked = (name: string) => Ref | null;

/** A memory is a page. Longer texts are shown unformatted: the parser's time grows faster than the text. */
const MAX_CHARS = 100_000;
/** Deeper than people write, and far from overflowing a stack. */
const MAX_DEPTH = 40;
const MAX_NODES = 20_000;

/** Must not throw: if the parser fails, everything is shown as plain text. */
export async function buildMarkdownTree(text: string, find: FindLinked): Promise<MarkdownNode[]> {
  if (text.trim() === "") return [];
  if (text.length > MAX_CHARS || ABYSS.test(text)) return [plainText(text)];
  const { Lexer } = await import("marked");
  try {
    return nodesOf(new Lexer({ gfm: true }).lex(text), { find, left: MAX_NODES }, 0);
  } catch {
    // Nesting spread over many lines can overflow the parser's stack.
    return [plainText(text)];
  }
}

/** The beginning of a huge text: the editor has all of it. */
function plainText(text: string): MarkdownNode {
  return { kind: "pre", text: clip(text, MAX_CHARS) };
}

interface Building {
  find: FindLinked;
  /** How many nodes may still be made. */
  left: number;
}

function nodesOf(tokens: readonly Token[], building: Building, depth: number): MarkdownNode[] {
  const nodes: MarkdownNode[] = [];
  for (const token of tokens) {
    if (building.left-- <= 0) break;
    nodes.push(
      ...(depth > MAX_DEPTH ? textNodes(token.raw, building) : nodeOf(token as MarkedToken, building, depth + 1)),
    );
  }
  return nodes;
}

type Build<T> = (token: T, building: Building, depth: number) => MarkdownNode[];

/** What each token becomes; one of any other kind is its text. */
const BUILD: { [Type in MarkedToken["type"]]?: Build<Extract<MarkedToken, { type: Type }>> } = {
  space: () => [],
  def: () => [],
  hr: () => [{ kind: "hr" }],
  br: () => [{ kind: "br" }],
  code: ({ text }) => [{ kind: "pre", text }],
  codespan: ({ text }) => [{ kind: "code", text }],
  escape: ({ text }) => [{ kind: "text", text }],
  checkbox: ({ checked }) => [{ kind: "task", checked }],
  heading: (token, ...at) => [{ kind: `h${Math.min(6, Math.max(1, token.depth))}`, children: inside(token, ...at) }],
  paragraph: (...at) => paragraphsOf(inside(...at)),
  blockquote: (...at) => [{ kind: "blockquote", children: inside(...at) }],
  strong: (...at) => [{ kind: "strong", children: inside(...at) }],
  em: (...at) => [{ kind: "em", children: inside(...at) }],
  del: (...at) => [{ kind: "del", children: inside(...at) }],
  list: ({ ordered, items }, ...at) => [
    { kind: ordered ? "ol" : "ul", children: items.map((item) => ({ kind: "li", children: inside(item, ...at) })) },
  ],
  table: (...at) => [tableOf(...at)],
  link: linkOf,
  image: imageOf,
  text: (token, ...at) => ("tokens" in token && token.tokens ? inside(token, ...at) : textNodes(token.text, at[0])),
  html(token) {
    const isBlock = "block" in token && token.block;
    const text: MarkdownNode = { kind: "text", text: isBlock ? token.raw.trimEnd() : token.raw };
    return isBlock ? [{ kind: "p", children: [text] }] : [text];
  },
};

function nodeOf(token: MarkedToken, building: Building, depth: number): MarkdownNode[] {
  const build = BUILD[token.type] as Build<MarkedToken> | undefined;
  return build ? build(token, building, depth) : textNodes(token.raw, building);
}

function inside({ tokens = [] }: { tokens?: Token[] }, building: Building, depth: number): MarkdownNode[] {
  return nodesOf(tokens, building, depth);
}

/** What feedback begins its reason and its use with. */
const LABEL = /^(why|how to apply)\s*:?$/i;

/** A paragraph, or several where a line of it begins with **Why:** or **How to apply:**. */
function paragraphsOf(children: MarkdownNode[]): MarkdownNode[] {
  const paragraphs: MarkdownNode[] = [{ kind: "p", children: [] }];
  for (const [at, node] of children.entries()) {
    const label = at === 0 || children[at - 1]?.kind === "br" ? labelOf(node) : null;
    if (label !== null) paragraphs.push({ kind: "labelled", text: label, children: [] });
    else paragraphs.at(-1)?.children?.push(node);
  }
  return paragraphs.flatMap(({ children: inside = [], ...paragraph }) => {
    const trimmed = trim(inside);
    return trimmed.length === 0 && paragraph.kind === "p" ? [] : [{ ...paragraph, children: trimmed }];
  });
}

function labelOf({ kind, children = [] }: MarkdownNode): string | null {
  const [text, ...more] = children;
  if (kind !== "strong" || text?.kind !== "text" || more.length > 0) return null;
  return LABEL.test(text.text?.trim() ?? "") ? (text.text as string).replace(/\s*:?\s*$/, "") : null;
}

/** Without the line break before the next part, and the colon or space after the label. */
function trim(nodes: MarkdownNode[]): MarkdownNode[] {
  const end = nodes.at(-1)?.kind === "br" ? nodes.slice(0, -1) : nodes;
  const [first, ...rest] = end;
  return first?.kind === "text" ? [{ ...first, text: first.text?.replace(/^\s*:?\s+/, "") ?? "" }, ...rest] : end;
}

function tableOf(table: Tokens.Table, building: Building, depth: number): MarkdownNode {
  const row = (cells: readonly Tokens.TableCell[], kind: "th" | "td"): MarkdownNode => ({
    kind: "tr",
    children: cells.map(({ tokens, align }) => ({
      ...{ kind, children: nodesOf(tokens, building, depth) },
      ...(align && { align }),
    })),
  });
  return {
    kind: "table",
    children: [
      { kind: "thead", children: [row(table.header, "th")] },
      { kind: "tbody", children: table.rows.map((cells) => row(cells, "td")) },
    ],
  };
}

function linkOf({ href, tokens, text }: Tokens.Link, building: Building, depth: number): MarkdownNode[] {
  const children = nodesOf(tokens, building, depth);
  const safe = safeHref(href);
  if (safe !== null) return [{ kind: "a", href: safe, children }];
  const file = fileOf(href);
  if (file === null) return children;
  return [{ kind: "memory-link", text, href: file, ref: building.find(file) }];
}

/** The page loads nothing external, so an image becomes a link to it. */
function imageOf({ href, text }: Tokens.Image): MarkdownNode[] {
  const safe = safeHref(href);
  const label: MarkdownNode = { kind: "text", text: text || href };
  return safe === null ? [label] : [{ kind: "a", href: safe, children: [label] }];
}

const PROTOCOLS: ReadonlySet<string> = new Set(["http:", "https:", "mailto:"]);

/** Null for what is relative, and for what a browser would do something else with than go there. */
function safeHref(href: string): string | null {
  const url = attempt(() => new URL(href), null);
  return url && PROTOCOLS.has(url.protocol) ? url.href : null;
}

/** A file next to this one, by name; null for any other target. */
function fileOf(href: string): string | null {
  const [path = ""] = href.split("#", 1);
  if (!/\.md$/i.test(path) || /^[a-z][a-z0-9+.-]*:|^\/|\\/i.test(path)) return null;
  return attempt(() => decodeURIComponent(path).replace(/^(?:\.\/)+/, ""), path);
}

const MEMORY_LINK = /\[\[([^\]\n]{1,200})\]\]/g;

function textNodes(text: string, building: Building): MarkdownNode[] {
  const nodes: MarkdownNode[] = [];
  // A line break in the file is one on the page: notes are written in lines.
  const say = (words: string) => {
    for (const [nth, line] of words.split("\n").entries()) {
      if (nth > 0) nodes.push({ kind: "br" });
      if (line !== "") nodes.push({ kind: "text", text: decodeEntities(line) });
    }
  };
  let at = 0;
  for (const match of text.matchAll(MEMORY_LINK)) {
    const name = (match[1] as string).trim();
    if (name === "") continue;
    say(text.slice(at, match.index));
    nodes.push({ kind: "memory-link", text: name, href: name, ref: building.find(name) });
    at = match.index + match[0].length;
  }
  say(text.slice(at));
  return nodes;
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u00a0",
  mdash: "—",
  ndash: "–",
  hellip: "…",
};

/** The few that people write; it becomes a text node, so that none of them means anything more than its character. */
function decodeEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,6}));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? whole;
    const code = Number.parseInt(decimal ?? hex, decimal === undefined ? 16 : 10);
    return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : whole;
  });
}
