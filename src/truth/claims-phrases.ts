/** Phrases that name something: scripts and packages, links and addresses, and days until which something holds. */

import { findDeadlines } from "../text/deadlines.ts";
import type { Claim } from "./claim.ts";
import { isPlaceholder } from "./claims-tokens.ts";

type WordClaim = Pick<Claim, "kind" | "text" | "at" | "loose" | "program" | "day">;

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
  const wiki = [...text.matchAll(WIKI)]
    // Brackets of a shell or a data format are no link.
    .filter(
      ({ 1: name = "", index }) => LINK_NAME.test(name) && !spans.some(({ from, to }) => from < index && index < to),
    )
    .map(({ 1: name = "", index }) => ({ kind: "link" as const, text: name.trim(), at: index + 2, loose: false }));
  const markdown = [...text.matchAll(MARKDOWN)]
    .filter(({ 1: target = "" }) => !target.includes("://"))
    .map(({ 1: target = "", index, 0: whole }) => ({
      kind: "link" as const,
      text: target,
      at: index + whole.indexOf(target),
      loose: false,
    }));
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
