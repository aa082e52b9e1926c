/** All of `memdir lint`: the format (verbs/lint.ts), and whether the content belongs in a memory, and in this one. */

import { attempt } from "../errors.ts";
import { type LintProblem, lintDirectory } from "../memory/lint.ts";
import { type Memory, type MemoryType, parseMemory, readBytes, type Store, scan } from "../store/store.ts";
import { parseDocument } from "../text/frontmatter.ts";
import type { TermsOf } from "../text/likeness.ts";
import { blankCode } from "../text/lines.ts";
import { findSentences, type InstructionText, leadOf, openRestated } from "./restated.ts";

/** Longer texts are data, and have already been reported as oversized. */
const MAX_CHARS = 100_000;

/** Grouped by file, those of the index last. */
export async function lintStore(directory: Store, instructions: readonly InstructionText[], termsOf: TermsOf) {
  const format = await lintDirectory(directory);
  const wording = lintMemories(readAll(directory), instructions, termsOf);
  const files = [...new Set([...format, ...wording].map(({ file }) => file))];
  const known = new Set(scan(directory).map(({ file }) => file));
  const inOrder = [...files.filter((file) => known.has(file)).sort(), ...files.filter((file) => !known.has(file))];
  const all = new Map<string, LintProblem[]>(inOrder.map((file) => [file, []]));
  for (const problem of [...format, ...wording]) all.get(problem.file)?.push(problem);
  return [...all.values()].flat();
}

/** Checks the content of memories that can be parsed; a broken file has more urgent problems. */
export function lintMemories(
  memories: readonly { memory: Memory; text: string }[],
  instructions: readonly InstructionText[],
  termsOf: TermsOf,
): LintProblem[] {
  const restated = openRestated(instructions, termsOf);
  return memories.flatMap(({ memory, text }) => {
    if (memory.broken || memory.unreadable) return [];
    const short = { ...memory, body: memory.body.slice(0, MAX_CHARS) };
    const said = restated(short);
    const remarks: Remark[] = [
      ...findVagueDescription(short, termsOf),
      ...findDerivable(short),
      ...findTwoFacts(short),
      ...findPassing(short),
      ...findWrongType(short),
      ...(said ? [{ rule: "restated", message: restatedMessage(said), line: null }] : []),
    ];
    const above = remarks.some(({ line }) => line !== null) ? linesAbove(text) : 0;
    return remarks.map(({ rule, message, line }) => {
      return { file: memory.file, line: line === null ? null : line + above, rule, message };
    });
  });
}

function restatedMessage({ path, line }: { path: string; line: number }): string {
  return `${path} already says this (line ${line} of what is loaded), so every prompt pays for it twice: remove one of them`;
}

function readAll(directory: Store): { memory: Memory; text: string }[] {
  return scan(directory).flatMap(({ file }) => {
    // One that cannot be read is reported by the format check.
    const data = attempt(() => readBytes(directory, file), null);
    return data === null ? [] : [{ memory: parseMemory(file, data), text: data.toString("utf8") }];
  });
}

/** How many lines are before the body. */
function linesAbove(text: string): number {
  const region = text.slice(parseDocument(text).bodyStart);
  const start = text.length - region.trimStart().length;
  return text.slice(0, start).split("\n").length - 1;
}

/** Words that could describe any memory. */
const EMPTY_WORDS =
  /\b(?:notes?|misc(?:ellaneous)?|stuff|things?|info(?:rmation)?|details?|various|general|important|some|memory|memories|todo|tbd|wip|update[sd]?|untitled|new|description|see below|remember(?:ed)?|project|file|text|a|an|the|to|about|on|of|for|and|this|my|our)\b/gi;
const PLACEHOLDER = /^(?:n\/?a|none|\.{2,}|-+|x+|test|foo|lorem ipsum.*|see (?:below|above|body|file))$/i;
/** Scripts without spaces, or other languages: their content is not judged. */
const OTHER_SCRIPT = /[^\p{Script=Latin}\p{Script=Common}\p{Script=Inherited}]/u;

/** The format check reports a missing description. */
function findVagueDescription({ description, name, body }: Memory, termsOf: TermsOf): Remark[] {
  if (description === "" || OTHER_SCRIPT.test(description)) return [];
  const add = (message: string): Remark[] => [{ rule: "vague-description", message, line: null }];
  const rest = description
    .replace(EMPTY_WORDS, " ")
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
  const advice = "say in one line what is in it, the way a person would search for it";
  if (rest === "" || PLACEHOLDER.test(description.trim()))
    return add(`the description ${JSON.stringify(description)} would fit any memory: ${advice}`);
  const known = new Set(termsOf(name.replace(/[-_]+/g, " ")));
  const words = termsOf(rest);
  const isLonger = rest.split(" ").length > name.split(/[^\p{L}\p{N}]+/u).filter(Boolean).length;
  const isRepeated = squeeze(rest) === squeeze(name) || (!isLonger && words.every((word) => known.has(word)));
  // A memory of one sentence has nothing else to describe.
  const isWhole = description.endsWith("…")
    ? squeeze(body).startsWith(squeeze(description))
    : squeeze(body) === squeeze(description);
  return isRepeated && !isWhole ? add(`the description only repeats the name: ${advice}`) : [];
}

function squeeze(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");
}

const WHY = /^[ \t]*(?:\*\*why:?\*\*|#{1,6}[ \t]*why\b)/gim;
const TURN =
  /^[ \t]*(?:[-*+][ \t]+)?(?:unrelated(?:ly)?(?: to (?:this|that|the above))?|on (?:another|a different|an unrelated) note|separately|something else|different topic|another thing)\s*[:,]/im;
/** Parts of one memory, not memories of their own. */
const PART =
  /^(?:rule|fact|why|how(?: to apply)?|context|background|summary|details?|examples?|notes?|what(?: was decided)?|decision|status|exceptions?|see also|links?|references?|history|when|where|who|steps?|consequences?|alternatives?|impact|evidence|source)\b/i;
/** Two could be a fact and its background; three topics are three memories. */
const MAX_TOPICS = 2;

function findTwoFacts({ body }: Memory): Remark[] {
  const text = blankCode(body, { onlyFences: true });
  const add = (index: number, message: string): Remark[] => [
    { rule: "two-facts", message: `${message}: put each into its own memory`, line: lineAt(text, index) },
  ];
  const reasons = [...text.matchAll(WHY)];
  const [, second] = reasons;
  if (second) return add(second.index, `${reasons.length} reasons (**Why:**), so ${reasons.length} facts in one file`);
  const turn = TURN.exec(text);
  if (turn) return add(turn.index, `${JSON.stringify(turn[0].trim())} begins another fact`);
  const headings = [...text.matchAll(/^(#{1,4})[ \t]+(.+)$/gm)];
  const topics = headings.filter(([, , title = ""]) => !PART.test(title.trim()));
  const level = topics[0]?.[1];
  const same = topics.filter(([, marks]) => marks === level);
  if (same.length <= MAX_TOPICS) return [];
  return add(same[1]?.index ?? 0, `${same.length} topics under separate headings`);
}

const PASSING: readonly RegExp[] = [
  /^(?:(?:i am|i'm|we are|we're) )?(?:currently|right now|still|now) (?:working on|debugging|fixing|refactoring|implementing|investigating|in the middle of)\b/im,
  /^(?:i am|i'm|we are|we're) (?:in the middle of|debugging|fixing|refactoring|implementing|working through)\b/im,
  /^(?:todo|to do|left to do|still to do|next steps?|remaining (?:work|steps)|progress(?: so far)?|status)\s*:/im,
  /^working on [A-Z]+-\d+\b/im,
];

/** Only the beginning of the memory counts: a list of steps somewhere does not make it a temporary note. */
export function findPassing({ body }: Memory): Remark[] {
  const head = body.trimStart().split(/\n\s*\n/)[0] ?? "";
  if (!PASSING.some((pattern) => pattern.exec(head)?.index === 0)) return [];
  const message =
    "the state of a task does not outlive the session: put it into the plan or the ticket, and forget this memory";
  return [{ rule: "passing", message, line: 1 }];
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split("\n").length;
}

/** "Never commits": a habit. "Never commit": an order. */
const ORDER =
  /^(?:please )?(?:(?:never|always) (?!\w+(?:s|ed|ing)\b)[a-z-]+ |(?:do not|don['’]t) (?!know|like|have|want|care)[a-z-]+ |(?:stop|avoid) [a-z]+|use \S.{0,60}\b(?:instead of|rather than|and never|, never|, not)\b)/i;
const PERSON =
  /^(?:the user (?:is|has)|i am|i['’]m|i have) (?:an? (?:[\w-]+ ){0,4}(?:\w+er|\w+or|\w+ist|\w+ian|scientist|engineer|developer|designer|manager|student|lead|analyst|researcher|beginner|expert|veteran)\b|colou?r[- ]blind|new to|\w+ years of|left-handed|dyslexic|deaf)/i;
const SYSTEM =
  "(?:linear|jira|notion|confluence|slack|grafana|datadog|sentry|pagerduty|figma|miro|1password|google (?:drive|docs?|sheets?)|sharepoint|asana|trello|zendesk|looker|tableau|https?:\\/\\/\\S+)";
const POINTER = new RegExp(
  `^[^.!?]{3,80}?\\b(?:is|are|live|lives|goes|go)\\b(?: (?:tracked|documented|kept|filed|stored|found|recorded|posted))? (?:in|at|on|under) (?:the )?${SYSTEM}`,
  "i",
);
const DATED =
  /^(?:the |our )?[^.!?]{3,60}?\b(?:is|are|ends?|starts?|ships?)\b(?: (?:due|planned|frozen|switched off|released|closed|moved))? (?:on|until|by|from) \d{4}-\d\d-\d\d\b/i;
const RULE_WORDS = /\b(?:never|always|don['’]t|do not|must|should|avoid|prefer|use)\b/i;

function findWrongType({ type, typeExplicit, body }: Memory): Remark[] {
  const [first] = typeExplicit ? findSentences(leadOf(body)) : [];
  const better = first === undefined ? null : typeOf(first, type);
  if (better === null || better === type) return [];
  const what = {
    feedback: "a rule",
    user: "about the user",
    reference: "a pointer",
    project: "a fact about the project",
  };
  const message = `reads like ${what[better]}, so its type should be ${better} and not ${type}`;
  return [{ rule: "wrong-type", message, line: null }];
}

/** Null if the words leave it open, which is the usual case. */
function typeOf(first: string, type: MemoryType): MemoryType | null {
  if (ORDER.test(first)) return type === "user" || type === "reference" ? "feedback" : null;
  if (PERSON.test(first)) return "user";
  if (RULE_WORDS.test(first)) return null;
  if (POINTER.test(first)) return type === "user" || type === "project" ? "reference" : null;
  return DATED.test(first) && (type === "user" || type === "feedback") ? "project" : null;
}

/** A memory may name a file or two, and show a line of code: only what is mostly that is meant here. */
const MOSTLY = 0.6;
/** As many lines are a listing, and not an example. */
const MIN_LISTED = 4;
const MIN_COMMITS = 3;
const MIN_CODE_LINES = 8;

const PATH = "`?(?:\\.{0,2}/)?(?:[\\w.@-]+/)*[\\w.@-]+\\.[a-z]{1,5}`?";
const FOLDER = "`?(?:[\\w.@-]+/)+`?";
const LISTED = new RegExp(
  `^\\s*(?:(?:[-*+]|\\d{1,3}[.)])\\s+)?(?:\\*\\*)?(?:${PATH}|${FOLDER})(?:\\*\\*)?(?:\\s*$|\\s*(?:[-–—:(]|is\\b|holds\\b|contains\\b).{0,80}$)`,
);
const TREE = /^[\s│|]*(?:├|└|\|--|`--|\+--)/;
const LS = /^(?:total \d+|[-dl](?:[r-][w-][xsStT-]){3}[.@+]?\s+\d+\s)/;
const COMMIT = /^\s*(?:[-*+]\s+)?`?(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}`?[\s:(]/;
const GIT_LOG = /^commit [0-9a-f]{7,40}\b/;
const STATUS = /^(?:[MADRCU?]{1,2}|modified:|new file:|deleted:|renamed:)\s+\S+(?:\s*->\s*\S+)?$/;
const DEFINED = new RegExp(
  `^(?:[-*+]\\s+)?(?:the\\s+)?\`?[\\w .$()-]{2,50}\`?\\s+(?:is|are|lives?|sits?)\\s+(?:(?:defined|implemented|located|declared|found)\\s+)?in\\s+${PATH}[.;]?$`,
  "i",
);
const PATHS_IN_ROW = new RegExp(`^(?:${PATH}(?:\\s+(?:and|or)\\s+|\\s*,\\s*(?:and\\s+)?)){3,}${PATH}`);

function findDerivable({ body }: Memory): Remark[] {
  const { lines, code } = partsOf(body);
  const all = [...lines, ...code];
  const mostly = (some: readonly Line[], least: number) =>
    some.length >= least && some.length >= MOSTLY * all.length ? some : [];
  const like = (form: RegExp) => all.filter(({ text }) => form.test(text));
  const listed = all.filter(({ text }) => LISTED.test(text) || TREE.test(text) || LS.test(text));
  const defined = lines.filter(({ text }) => DEFINED.test(text.trim()));
  const row = lines.length <= 2 ? lines.filter(({ text }) => PATHS_IN_ROW.test(text)) : [];
  const logged = like(GIT_LOG);
  const kinds: [what: string, found: readonly Line[]][] = [
    ["a listing of files", mostly(listed, MIN_LISTED)],
    ["a listing of files", row],
    ["git history", mostly(like(COMMIT), MIN_COMMITS)],
    ["git history", logged.length >= 2 ? logged : []],
    ["the list of changed files", mostly(like(STATUS), MIN_COMMITS)],
    ["where things are defined", mostly(defined, 3)],
    ["code", mostly(code, MIN_CODE_LINES)],
  ];
  return kinds
    .filter(([, found]) => found.length > 0)
    .slice(0, 1)
    .map(([what, found]) => ({
      rule: "derivable",
      message: `${what} can be read in the repository, and changes there: keep only what was surprising about it`,
      line: found[0]!.line,
    }));
}

interface Line {
  text: string;
  /** In the body, from 1. */
  line: number;
}

/** The body up to its reasons, which say why it is kept, in prose and in code; commands to type are prose. */
function partsOf(body: string): { lines: Line[]; code: Line[] } {
  const lines: Line[] = [];
  const code: Line[] = [];
  let fence: { mark: string; isShell: boolean } | null = null;
  for (const [at, text] of body.split(/\r?\n/).entries()) {
    const [, mark, language = ""] = /^\s*(`{3,}|~{3,})\s*([\w+-]*)/.exec(text) ?? [];
    if (mark !== undefined) {
      if (fence && mark.startsWith(fence.mark)) fence = null;
      else fence ??= { mark, isShell: /^(?:sh|bash|zsh|shell|console|fish|powershell)$/i.test(language) };
    } else if (!fence && /^\s*(?:\*\*(?:why|how to apply)|#{1,6}\s*(?:why|how to apply)\b)/i.test(text)) break;
    else if (text.trim() !== "") (fence && !fence.isShell ? code : lines).push({ text, line: at + 1 });
  }
  return { lines, code };
}

export interface Remark {
  rule: string;
  message: string;
  /** In the body, from 1; null if it concerns all of it. */
  line: number | null;
}
