/** Phrases that name something: scripts and packages, links and addresses, days until which something holds, and values. */

import { findDeadlines } from "../text/deadlines.ts";
import type { Claim } from "./claim.ts";
import { ENV_NAME, isCodeShaped, isPlaceholder } from "./claims-tokens.ts";

type WordClaim = Pick<Claim, "kind" | "text" | "at" | "loose" | "program" | "day" | "value">;

const RUN =
  /\b(npm|yarn|pnpm|bun|make|just)((?:\s+(?:run|run-script|-s|--silent|-w\s+\S+|-C\s+\S+))*)\s+([A-Za-z][\w:.-]*)/g;
/** Built-in commands of these programs. */
const BUILT_IN =
  /^(?:install|ci|i|add|remove|rm|update|upgrade|publish|pack|init|exec|dlx|create|link|audit|outdated|why|config|version|login|run|sure|it|them|this|that|use|your|our|a|an|the|sense|and|or|to|in|on|is|for|with|up|changes?|workspaces?|cache|store|set|get|ls|list|view|info|prune|dedupe|x|pm)$/;

export function findScripts(text: string): WordClaim[] {
  const claims: WordClaim[] = [];
  if (!/npm|yarn|bun|make|just/.test(text)) return claims;
  for (const { 0: whole, 1: program = "", 2: between = "", 3: raw = "", index } of text.matchAll(RUN)) {
    const name = raw.replace(/[.:]+$/, "");
    if (BUILT_IN.test(name) || isPlaceholder(name)) continue;
    const isRun = /run/.test(between) || program === "make" || program === "just";
    const isShort = program === "npm" && /^(?:test|start|stop|restart)$/.test(name);
    if (!isRun && !isShort && program === "npm") continue;
    claims.push({
      kind: "script",
      text: name,
      at: index + whole.length - raw.length,
      loose: !isRun || program !== "npm",
      program: program === "make" || program === "just" ? program : "npm",
    });
  }
  return claims;
}

const PACKAGE = /^(?:@[a-z0-9][\w.-]*\/)?[a-z][a-z0-9]*(?:[-._][a-z0-9]+)*$/;
const MODULE = /^(?:[\w-]+\.)+[a-z]{2,}(?:\/[\w.-]+)+$/;
/** A plain word is a package's name only after or before such words. */
const CUE =
  /(?:^[\s*#-]*|(?:\b(?:uses?|using|through|via|with|on|by|and|or|depends on|package|packages|library|libraries|dependency|dependencies|crate|gem|adopted|chose|prefer|is|are|our|plus|run|over)|[:,(+/&])\s+|\()$/i;
const AFTER = /^\s*(?:package|library|dependency|crate|gem|module|npm|client|for\b)/i;

/** All of these are uncertain: only what was once a dependency counts. */
export function findPackage(text: string, word: string, at: number, code: boolean): WordClaim | null {
  const name = word.includes("@") ? word.replace(/@[\^~]?\d[\w.]*$/, "") : word;
  if (name.length < 2 || name.length > 100 || !(PACKAGE.test(name) || MODULE.test(name))) return null;
  if (!code && !CUE.test(text.slice(Math.max(0, at - 24), at)) && !AFTER.test(text.slice(at + word.length)))
    return null;
  return { kind: "package", text: name, at, loose: true };
}

const WIKI = /\[\[([^\]|#\n]{1,120})(?:[|#][^\]\n]{0,120})?\]\]/g;
const MARKDOWN = /\]\(<?([^()\s<>]{1,200}\.md)(?:#[^)\s]*)?>?\)/g;

const LINK_NAME = /^[\p{L}\p{N}](?:[\p{L}\p{N}\p{M} _'’/&+-]|\.md$)*$/u;

export function findLinks(text: string): WordClaim[] {
  if (!text.includes("[[") && !text.includes("](")) return [];
  const spans = [...text.matchAll(/`[^`]+`/g)].map(({ 0: span, index }) => ({ from: index, to: index + span.length }));
  const link = (text: string, at: number): WordClaim => ({ kind: "link", text, at, loose: false });
  const wiki = [...text.matchAll(WIKI)].flatMap(({ 1: name = "", index }) => {
    // Brackets of a shell or a data format are no link.
    const isData = !LINK_NAME.test(name) || spans.some(({ from, to }) => from < index && index < to);
    return isData ? [] : [link(name.trim(), index + 2)];
  });
  const markdown = [...text.matchAll(MARKDOWN)].flatMap(({ 0: whole, 1: target = "", index }) =>
    target.includes("://") ? [] : [link(target, index + whole.indexOf(target))],
  );
  return [...wiki, ...markdown];
}

const URL_LIKE = /\bhttps?:\/\/[^\s`<>"')\]]+/gi;

export function findUrls(text: string): WordClaim[] {
  if (!text.includes("://")) return [];
  return [...text.matchAll(URL_LIKE)].map(({ 0: url, index }) => {
    return { kind: "url", text: url.replace(/[.,;:!?]+$/, ""), at: index, loose: true };
  });
}

export function findDates(text: string, written: Date): WordClaim[] {
  return findDeadlines(text, written).map((deadline) => ({ kind: "date", loose: false, ...deadline }));
}

// --- Values that a memory gives for a named setting or constant, and values as a line of code states them.

const LITERAL = "-?\\d[\\d_,]*(?:\\.\\d+)*(?:[a-zA-Z%]{0,3}\\b)?|\"[^\"\\n]{1,80}\"|'[^'\\n]{1,80}'|true\\b|false\\b";
/** `poolSize` is 10 · poolSize = 10 · `poolSize` (10) · poolSize 10 in src/db.ts */
const SAID = new RegExp(
  `([\`"'*]*)([A-Za-z_$][\\w$]*(?:[.-][A-Za-z_$][\\w$]*){0,4})\\1(?:\\s*(?:=(?!=)|:)\\s*|\\s+(?:is|of|set to|is set to|defaults? to|equals)\\s+|\\s*\\(|\\s+(?=\\S+\\s+in\\s))\`?(${LITERAL})(?=[\`"'*).,;:\\s]|$)`,
  "g",
);

/** Loose: a value counts only if the code states that name's value, and once stated this one. */
export function findValues(text: string): WordClaim[] {
  // Most numbers are part of a name.
  if (!/[\s=:(`](?:-?\d|["']|true\b|false\b)/.test(text)) return [];
  return [...text.matchAll(SAID)].flatMap(({ 0: whole, 2: said = "", 3: value = "", index }) => {
    const name = said.slice(said.search(/[^.-]+$/));
    if (!ENV_NAME.test(name) && !isCodeShaped(name)) return [];
    const at = index + whole.indexOf(said) + said.length - name.length;
    return [{ kind: "value" as const, text: name, at, value: normalValue(value), loose: true }];
  });
}

const STATED = new RegExp(
  `^["'\`\\]]?\\s*(?:\\??:\\s*[A-Za-z_][\\w<>[\\]|. ]{0,40}?\\s*(?==))?(?::=|=(?![=>])|:(?!:))\\s*(${LITERAL})\\s*[,;})\\]]*\\s*(?:(?:\\/\\/|#|--|\\/\\*).*)?$`,
);

/** The literal that a line gives to the name which ends at `end`; null where it is not plain. */
export function statedValue(line: string, end: number): string | null {
  const literal = STATED.exec(line.slice(end, end + 200).trimEnd())?.[1];
  return literal === undefined ? null : normalValue(literal);
}

/** `10_000`, `10,000` and `10000` are one value, as are `"a"` and `'a'`, and `2.0f` and `2.0`. */
function normalValue(literal: string): string {
  const bare = literal.replace(/^["']|["']$/g, "");
  return /^-?\d/.test(literal) ? bare.replace(/[_,]/g, "").replace(/(?<=\d)[fFlLuUdm]$/, "") : bare;
}
