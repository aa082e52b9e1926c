/** Phrases that name something: scripts and packages, branches, tags and commits, links and addresses, and days until which something holds. */

import { isPlaceholder } from "./claims-tokens.ts";

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

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const MONTH =
  "(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\\.?";
const DAY = "(\\d{1,2})(?:st|nd|rd|th)?";
const DATES: readonly [RegExp, (groups: string[], base: Date) => string | null][] = [
  [
    /(?<![\d-])(\d{4})-(\d\d)-(\d\d)(?![\d-])/g,
    ([year, month, day]) => dayOf(Number(year), Number(month), Number(day)),
  ],
  [
    new RegExp(`\\b${MONTH}\\s+${DAY},?\\s+(\\d{4})\\b`, "gi"),
    ([month, day, year]) => dayOf(Number(year), monthOf(month), Number(day)),
  ],
  [
    new RegExp(`\\b${DAY}\\s+(?:of\\s+)?${MONTH},?\\s+(\\d{4})\\b`, "gi"),
    ([day, month, year]) => dayOf(Number(year), monthOf(month), Number(day)),
  ],
  [
    new RegExp(`\\b${MONTH}\\s+${DAY}\\b(?!,?\\s+\\d{4}|[\\d:])`, "gi"),
    ([month, day], base) => nextDay(base, monthOf(month), Number(day)),
  ],
  [
    new RegExp(`\\b${DAY}\\s+(?:of\\s+)?${MONTH}\\b(?!,?\\s+\\d{4})`, "gi"),
    ([day, month], base) => nextDay(base, monthOf(month), Number(day)),
  ],
  [
    new RegExp(`(?<!\\d(?:st|nd|rd|th)?\\s{1,3}(?:of\\s{1,3})?)\\b${MONTH}\\s+(\\d{4})\\b`, "gi"),
    ([month, year]) => lastOf(Number(year), monthOf(month)),
  ],
  [/\bQ([1-4])[\s/-]*(\d{4})\b/gi, ([quarter, year]) => lastOf(Number(year), Number(quarter) * 3)],
  [/\bend of (?:the year )?(\d{4})\b/gi, ([year]) => lastOf(Number(year), 12)],
];

/** A year, or a month with a number beside it. */
const HINT = /\b(?:19|20)\d\d\b|\d[\s,]|\s\d/;
/** Each of the forms has one of these. */
const YEAR_OR_MONTH = /\d{4}|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec/i;

/** Right before a day that ends something. */
const UNTIL =
  /\b(?:until|till|til|by|before|through|thru|no later than|not later than|latest)\s+(?:the\s+)?(?:end\s+of\s+|around\s+|about\s+|early\s+|mid-?\s*|late\s+|(?:mon|tues|wednes|thurs|fri|satur|sun)day,?\s+)?$/i;
/** Of things that are distinguished by their age: "orders created before". */
const FILTERS =
  /\b(?:filed|created|opened|written|made|merged|recorded|saved|sent|issued|signed|built|older|newer|dated|data|rows?|records?|orders?|invoices?|commits?|logs?|tickets?|entries|everything|anything|those|accounts?|users?|versions?|customers?|releases?)\s+(?:from\s+)?(?:before|after|until|through|by|till)\s+$/i;
/** Some words before a day on which something ends, or has to be done. */
const ENDS =
  /(?:\b(?:due|deadline|expires?|expiring|expiry|ends?|ending|freeze|scheduled|to be released|releases? (?:on|is|in|date|planned)|launch(?:es)? (?:on|is|in|date|planned)|launching|ships?|shipping|go(?:es)?[- ]live|cut-?over|sunset(?:s|ted)?|eol|end of life|lasts?|goal for|target(?: date)?|milestone|planned|plans? for|will|is going to|closes?|closing|renewal|new date|eta|out of office|(?:remov|delet|expir|stopp|dropp|disabl|switch|shut|turn|unavailab|invalid|gone)\w*\s+(?:off\s+|down\s+)?after)\b)[^.;]{0,40}$/i;
/** The day is that of something that happened, or from when on something holds. */
const HAPPENED =
  /\b(?:since|as of|from|decided|agreed|was|were|had|happened|occurred|introduced|started|began|launched|released|shipped|merged|deployed|migrated|created|updated|written|noted|reported|met|incident|outage|post-?mortem|on call|said|asked|confirmed|verified|measured|last|dated|effective|moved|slipped|signed|joined|left|hired|fixed|found|completed|finished|done|frozen on|removed on|dropped on|born|founded|version|snapshot|ago)\b[^.;,]{0,30}$/i;
/** The text says that the deadline is over or has moved. */
const OVER =
  /^[^.;]{0,30}\b(?:but (?:slipped|moved|postponed|delayed)|has passed|is over|was met|done|completed|shipped|finished|slipped|postponed|happened)\b/i;

export function findDates(text: string, base: Date): WordClaim[] {
  if (!HINT.test(text) || !YEAR_OR_MONTH.test(text)) return [];
  const taken: [number, number][] = [];
  const claims: WordClaim[] = [];
  for (const [pattern, read] of DATES) {
    for (const match of text.matchAll(pattern)) {
      const { 0: words, index } = match;
      const end = index + words.length;
      if (taken.some(([from, to]) => index < to && end > from)) continue;
      const day = read(match.slice(1), base);
      taken.push([index, end]);
      if (day === null || !isDeadline(text, index, end)) continue;
      claims.push({ kind: "date", text: words, at: index, loose: false, day });
    }
  }
  return claims;
}

/** Of two words before the day, the nearer one decides. */
function isDeadline(text: string, at: number, end: number): boolean {
  const before = text.slice(Math.max(0, at - 90), at);
  if (/--[\w-]+[\s=]+[`"']?$/.test(before) || OVER.test(text.slice(end, end + 60))) return false;
  if (UNTIL.test(before)) return !FILTERS.test(before);
  // The second of two days: "from … to …".
  if (/\d\s*(?:to|–|—|-|until)\s*$/.test(before) && /\b(?:from|between|valid|freeze|leave|sprint)\b/i.test(before))
    return true;
  const ends = lastMatch(before, ENDS);
  const happened = lastMatch(before, HAPPENED);
  if (ends < 0)
    return /^[`"')\s]*(?:is|are) (?:the |our |a )?(?:\w+ )?(?:deadline|due|cut-?off|last day|end of|release|launch|go-live)/i.test(
      text.slice(end, end + 60),
    );
  return ends > happened;
}

/** Where the last word of the pattern begins that reaches the end; -1 for none. */
function lastMatch(text: string, pattern: RegExp): number {
  let found = -1;
  for (let from = 0; from < text.length; ) {
    const match = pattern.exec(text.slice(from));
    if (!match) break;
    found = from + match.index;
    from = found + 1;
  }
  return found;
}

function monthOf(word: string | undefined): number {
  return MONTHS.indexOf((word ?? "").slice(0, 3).toLowerCase()) + 1;
}

function dayOf(year: number, month: number, day: number): string | null {
  const time = Date.UTC(year, month - 1, day);
  const iso = Number.isNaN(time) ? "" : new Date(time).toISOString().slice(0, 10);
  return iso === `${String(year).padStart(4, "0")}-${String(month).padStart(2, "0")}-${String(day).padStart(2, "0")}`
    ? iso
    : null;
}

function lastOf(year: number, month: number): string {
  return new Date(Date.UTC(year, month, 0)).toISOString().slice(0, 10);
}

/** Without a year: the next such day after it was written. */
function nextDay(base: Date, month: number, day: number): string | null {
  const year = base.getUTCFullYear();
  const day1 = dayOf(year, month, day);
  return day1 !== null && day1 >= base.toISOString().slice(0, 10) ? day1 : dayOf(year + 1, month, day);
}
