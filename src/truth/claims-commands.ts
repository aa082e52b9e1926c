/** Scripts of package files, targets of make, and packages that a sentence names. */

import { isPlaceholder } from "./claims-words.ts";

export interface WordClaim {
  kind: "script" | "package" | "branch" | "tag" | "commit" | "url" | "link" | "date";
  text: string;
  at: number;
  loose: boolean;
  program?: string;
  day?: string;
}

const RUN =
  /\b(npm|yarn|pnpm|bun|make|just)((?:\s+(?:run|run-script|-s|--silent|-w\s+\S+|-C\s+\S+))*)\s+([A-Za-z][\w:.-]*)/g;
/** What these programs do by themselves. */
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
/** A plain word is a package's name only where one stands. */
const CUE =
  /(?:^[\s*#-]*|(?:\b(?:uses?|using|through|via|with|on|by|and|or|depends on|package|packages|library|libraries|dependency|dependencies|crate|gem|adopted|chose|prefer|is|are|our|plus|run|over)|[:,(+/&])\s+|\()$/i;
const AFTER = /^\s*(?:package|library|dependency|crate|gem|module|npm|client|for\b)/i;

/** Every one is loose: only what was once a dependency counts. */
export function findPackage(text: string, word: string, at: number, code: boolean): WordClaim | null {
  const name = word.includes("@") ? word.replace(/@[\^~]?\d[\w.]*$/, "") : word;
  if (name.length < 2 || name.length > 100 || !(PACKAGE.test(name) || MODULE.test(name))) return null;
  if (!code && !CUE.test(text.slice(Math.max(0, at - 24), at)) && !AFTER.test(text.slice(at + word.length)))
    return null;
  return { kind: "package", text: name, at, loose: true };
}
