/** Branches, tags and commits that a sentence names, and links to other memories. */

import type { WordClaim } from "./claims-commands.ts";
import { isPlaceholder } from "./claims-words.ts";

const REF = "([A-Za-z0-9][\\w./+-]*[\\w])";
const BRANCH_BEFORE = new RegExp(
  `\\bbranch(?:es)?\\s+(?:named\\s+|called\\s+|is\\s+|off\\s+|from\\s+)?([\`"']?)${REF}`,
  "gi",
);
const BRANCH_AFTER = new RegExp(`([\`"']?)${REF}\\1\\s+\\(?(?:git\\s+)?branch(?:es)?\\b`, "gi");
/** Names that are branches even when nothing marks them as names. */
const USUAL = /^(?:main|master|develop|development|dev|staging|production|trunk|next|canary|gh-pages)$/;
const HISTORIC = /\bmerged?\b|\bcreate\b|\bnew branch\b|\bcheckout -b\b|\bnames?\b|\bnaming\b|\blike\b|\bprefix/i;

export function findBranches(text: string): WordClaim[] {
  if (!/branch/i.test(text) || HISTORIC.test(text)) return [];
  const claims: WordClaim[] = [];
  for (const pattern of [BRANCH_BEFORE, BRANCH_AFTER]) {
    for (const { 0: whole, 1: quote = "", 2: raw = "", index } of text.matchAll(pattern)) {
      const name = raw.replace(/[.]+$/, "");
      const isName =
        USUAL.test(name) ||
        (quote !== "" && !/^(?:the|a|this|each|every|new)$/i.test(name)) ||
        /^[a-z][\w.-]*\/[\w.-]/.test(name);
      if (!isName || isPlaceholder(name)) continue;
      claims.push({ kind: "branch", text: name, at: index + whole.indexOf(raw), loose: false });
    }
  }
  return claims;
}

const TAG =
  /\btag(?:ged|s)?\s+(?:as\s+|with\s+|is\s+|the\s+|version\s+)?[`"']?(v?\d+\.\d+(?:\.\d+)?[\w.+-]*)|\b(v\d+\.\d+(?:\.\d+)?[\w.+-]*)[`"']?\s+(?:is\s+)?(?:the\s+)?(?:\w+\s+)?tag\b/gi;

export function findTags(text: string): WordClaim[] {
  if (!/tag/i.test(text)) return [];
  return [...text.matchAll(TAG)].flatMap(({ 0: whole, 1: after, 2: before, index }) => {
    const raw = after ?? before ?? "";
    const name = raw.replace(/[.]+$/, "");
    return isPlaceholder(name) || /x$/.test(name)
      ? []
      : [{ kind: "tag" as const, text: name, at: index + whole.indexOf(raw), loose: false }];
  });
}

const COMMIT =
  /\b(?:commit|sha|revision|rev|fixed in|introduced in|reverted in|see|since)\s+[`"'(]*([0-9a-f]{7,40})\b/gi;

export function findCommits(text: string): WordClaim[] {
  if (!/[0-9a-f]{7}/i.test(text)) return [];
  return [...text.matchAll(COMMIT)].flatMap(({ 0: whole, 1: hash = "", index }) =>
    /\d/.test(hash) && /[a-f]/i.test(hash)
      ? [
          {
            kind: "commit" as const,
            text: hash.toLowerCase(),
            at: index + whole.length - hash.length,
            loose: !/commit/i.test(whole),
          },
        ]
      : [],
  );
}

const WIKI = /\[\[([^\]|#\n]{1,120})(?:[|#][^\]\n]{0,120})?\]\]/g;
const MARKDOWN = /\]\(<?([^()\s<>]{1,200}\.md)(?:#[^)\s]*)?>?\)/g;

export function findLinks(text: string): WordClaim[] {
  if (!text.includes("[[") && !text.includes("](")) return [];
  const wiki = [...text.matchAll(WIKI)].map(({ 1: name = "", index }) => ({
    kind: "link" as const,
    text: name.trim(),
    at: index + 2,
    loose: true,
  }));
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
  return [...text.matchAll(URL_LIKE)].map(({ 0: url, index }) => ({
    kind: "url" as const,
    text: url.replace(/[.,;:!?]+$/, ""),
    at: index,
    loose: true,
  }));
}
