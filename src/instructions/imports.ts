/** `@path` imports in a Markdown text: in running text, not in code, HTML blocks or link targets; and which file each leads to. */

import { extname, join, resolve } from "node:path";
import type { Token } from "marked";

/**
 * The targets of `@path` imports in a Markdown text, in order of appearance, each once: `\ ` read as a space, `#fragment`
 * dropped. `resolveImport` decides whether a target is a path that may be followed. Must not throw: a text that the
 * Markdown parser gives up on has no imports.
 *
 * @param text a file without its frontmatter and block comments
 */
export async function findImports(text: string): Promise<string[]> {
  if (!CANDIDATE.test(text) || ABYSS.test(text)) return [];
  const { Lexer } = await import("marked");
  const found = new Set<string>();
  try {
    for (const passage of passagesOf(text.replace(/\r\n?/g, "\n"))) {
      if (!CANDIDATE.test(passage)) continue;
      // The client parses without GitHub's extensions: with them `@a@b.md` would be a mail address and `~~@a.md~~` an import.
      const lexer = new Lexer({ gfm: false });
      lexer.blockTokens(passage, lexer.tokens);
      // What `lex` does next, without the paragraphs that cannot contain an import.
      for (const { src, tokens } of lexer.inlineQueue) if (src.includes("@")) lexer.inlineTokens(src, tokens);
      collect(lexer.tokens, found);
    }
  } catch {
    // Nesting spread over many lines can still overflow the parser's stack.
    return [];
  }
  return [...found];
}

/** Every import looks like this: it may follow a mark such as `*`, `[` or `>` that the parser removes, but no letter. */
const CANDIDATE = /(?<![A-Za-z0-9])@\S/;

/**
 * A line a hundred quotes or lists deep, by its marks or by its indent at two columns a level: no person wrote it, and the
 * parser reads the text again for each level.
 */
export const ABYSS =
  /^(?:[ \t]{200,}(?:[>+*-]|\d{1,9}[.)])|[ \t]*(?:(?:>|(?:[+*-]|\d{1,9}[.)])(?=[ \t]))[ \t]*){100})/m;

/** At the start of a run of text or after white space; ends at white space or at a backslash that escapes no space. */
const IMPORT = /(?<!\S)@(?<target>(?:\\ |[^\s\\])+)/g;

/** Only the innermost runs of text count, so that code inside a list item is not read along with the item. */
function collect(tokens: readonly Token[], found: Set<string>): void {
  for (const token of tokens) {
    if (token.type === "list") collect(token.items, found);
    else if ("tokens" in token && token.tokens) collect(token.tokens, found);
    else if (token.type === "text") for (const target of targetsIn(token.raw)) found.add(target);
  }
}

function targetsIn(run: string): string[] {
  return [...run.matchAll(IMPORT)].flatMap(({ groups }) => {
    const target = groups?.target?.split("#", 1)[0]?.replaceAll("\\ ", " ");
    return target ? [target] : [];
  });
}

/** An empty line, then text at the margin: no list, quote, code or paragraph continues across it, only a fence does. */
const BREAK = /\n\n(?=[A-Za-z@#])/;

/**
 * HTML at the start of a line, fences off the margin and link definitions may reach across a break in ways not worth
 * following, and the parser ignores the rare Unicode line ends.
 */
const ENTANGLED =
  /^[^A-Za-z\n]*<|^[^A-Za-z`~\n]+(?:```|~~~)|<(?:[!?]|\/?(?:pre|script|style|textarea)\b)|\]:|[\u2028\u2029]/im;

const FENCE = /^(`{3,}|~{3,})(.*)$/gm;

/**
 * Parts that parse the same alone as within the whole. Parsing is most of the cost of loading instructions, and most parts
 * of a file contain no `@`.
 */
function passagesOf(text: string): string[] {
  if (ENTANGLED.test(text)) return [text];
  const passages: string[] = [];
  let pending: string[] = [];
  let fence: string | null = null;
  for (const part of text.split(BREAK)) {
    pending.push(part);
    fence = fenceAfter(part, fence);
    if (fence !== null) continue;
    passages.push(pending.join("\n\n"));
    pending = [];
  }
  return pending.length > 0 ? [...passages, pending.join("\n\n")] : passages;
}

/** The mark of the fence that is open at the end of `part`, given the one open at its start. */
function fenceAfter(part: string, open: string | null): string | null {
  for (const [, mark = "", rest = ""] of part.matchAll(FENCE)) {
    if (open === null) open = mark.startsWith("`") && rest.includes("`") ? null : mark;
    else if (mark.startsWith(open) && /^ *$/.test(rest)) open = null;
  }
  return open;
}

type ImportTarget = { path: string } | { refused: "url" | "extension" | "not-a-path" };

/**
 * `~/` is the home, an absolute path is kept, anything else is relative to `folder`: that of the importing file, or of its
 * target if it is a link. Must not throw.
 */
export function resolveImport(target: string, from: { folder: string; home: string }): ImportTarget {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(target)) return { refused: "url" };
  if (!PATH_START.test(target) || target.includes("\0")) return { refused: "not-a-path" };
  const path = target.startsWith("~/") ? join(from.home, target.slice(2)) : resolve(from.folder, target);
  // Of the target as written: `.env` and `Makefile` have no extension, `site.env` has one.
  const extension = extname(target).slice(1).toLowerCase();
  return extension === "" || FOLLOWED.has(extension) ? { path } : { refused: "extension" };
}

/** `@über.md` is not followed, `@docs/ü.md` is; `@@c.md` is not, `@a@b.md` is. A lone `/` or `~` is not a path. */
const PATH_START = /^(?:[A-Za-z0-9._-]|~\/|\/.)/s;

/** Extensions that Claude Code 2.1.325 was seen to follow. It ignored others, such as mdx, jsonl, svg, tf, nix and jl. */
const SEEN = [
  "md txt json",
  "html htm css scss sass less js mjs cjs jsx ts mts cts tsx vue svelte astro ejs hbs pug jade php",
  "py pyi pyw rb erb pl pm lua r sh bash zsh fish ps1 bat cmd",
  "clj cljs edn ex exs erl hrl hs lhs elm ml mli dart",
  "cmake make makefile gradle sbt",
];

/** Not in the recordings; text formats as common as those that were followed. */
const ASSUMED = [
  "text rst adoc asciidoc org tex latex log diff patch lock",
  "yaml yml toml xml csv ini cfg conf config env properties sql graphql gql proto",
  "go rs java kt kts scala swift c h cc cpp cxx hpp hxx cs",
];

const FOLLOWED = new Set([...SEEN, ...ASSUMED].flatMap((names) => names.split(" ")));
