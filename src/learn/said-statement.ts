/** A sentence as a statement: without the small talk before it, with its reason set apart, and its name, description and type. */

import type { MemoryType } from "../store/store.ts";
import { isOrder, isQuestion, saysNothing } from "./said-gates.ts";
import type { Sentence } from "./said-speech.ts";

export interface Statement extends Sentence {
  /** A "no" came before it. */
  corrected: boolean;
  /** "heads up", "by the way" came before it. */
  announced: boolean;
}

/** More than a few of them is not how people begin. */
const MAX_LEADS = 6;

export function stripLead({ text, plain }: Sentence): Statement {
  const statement: Statement = { text, plain, corrected: false, announced: false };
  for (let i = 0; i < MAX_LEADS; i++) {
    const lead = LEAD.exec(statement.plain);
    if (!lead || lead[0].length >= statement.plain.length) break;
    statement.corrected ||= lead.groups?.no !== undefined;
    statement.announced ||= lead.groups?.news !== undefined;
    statement.text = statement.text.slice(lead[0].length);
    statement.plain = statement.plain.slice(lead[0].length);
  }
  return statement;
}

const LEAD =
  /^(?:(?<no>(?:oh |wait,? |hey,? |um,? )?(?:no(?:,? no)?|nope|nah|wrong(?: again)?|actually|not (?:quite|like that|that way))(?:[,.!:;]| [-–—]) *|wait[,.!:;] ?)|(?<news>(?:heads[- ]up|fyi|for your information|by the way|btw|just so you know|so you know|good to know|for context|for info)[,:!.]? (?:that )?|(?:update|news|announcement|change of plans?|new plan|reminder): )|(?:(?:ah|oh),? (?:yes|right|ok|sure)|ok|okay|oh|ah|hey|hi|hello|yes|yep|yeah|right|well|quick intro|thanks|thank you|thx|good|great|nice|cool|perfect|fine|hm+|ugh|sorry|listen|look|then|one more thing|one thing|important|also|and|but|so|anyway|again)(?:[,:;.!]| [-–—]) *|(?:please|pls|and|also|but|so|then|ok|okay|oh|hey) (?=\S))/i;

/** The statement inside an order for work: "update the roadmap: SDK 3 is dropped" -> "SDK 3 is dropped". */
export function stripOrder(sentence: Sentence): string | null {
  if (saysNothing(sentence) || isQuestion(sentence.plain)) return null;
  const { text, plain } = stripLead(sentence);
  if (!isOrder(plain)) return text;
  const colon = plain.indexOf(": ");
  return colon === -1 ? null : text.slice(colon + 2);
}

export function formatBody(type: MemoryType, statement: string, context: readonly string[]): string {
  const { rule, why } = splitReason(statement);
  // Read later by another person, "I" must be clear.
  const told = type === "user" && /^(?:i|i'm|i’m|my|im|call me)\b/i.test(rule) ? `The user says: ${rule}` : rule;
  const body = [told, ...context].map(endSentence).join(" ");
  return why === null ? body : `${body}\n\n**Why:** ${endSentence(why)}`;
}

/** "since" is a reason only where no time follows. */
const REASON =
  /(?:,| [-–—])?(?: (?:mostly|mainly|partly|just|simply))? (?:because(?! of\b)|'cause|cuz|so that(?!['’])|as otherwise|weil|parce que|parce qu'|puisque|porque|ya que|since (?=(?:we|it|they|there|nobody|everyone|our|he|she|you|i|this|that|not|some|all)\b(?! (?:day|week|month|year|morning|release|version)\b))) ?/i;

function splitReason(statement: string): { rule: string; why: string | null } {
  const match = REASON.exec(statement);
  if (!match || match.index < 8) return { rule: statement, why: null };
  const why = statement.slice(match.index + match[0].length).trim();
  // A reason of one word ("because reasons") or one in the middle of brackets is left where it is.
  if (why.split(" ").length < 2 || /\([^)]*$/.test(statement.slice(0, match.index)))
    return { rule: statement, why: null };
  const rule = statement.slice(0, match.index);
  return { rule, why: /so that/i.test(match[0]) ? `so that ${why}` : why };
}

export function endSentence(text: string): string {
  const trimmed = text.trim();
  return /[.!?…:。！？]$/.test(trimmed)
    ? trimmed
    : `${trimmed}${/[\u3040-\u30ff\u4e00-\u9fff]$/.test(trimmed) ? "。" : "."}`;
}

/** The length of a title that fits a line of a list. */
const MAX_WORDS = 8;
const MAX_NAME = 80;
/** Keeps most index lines, with name and file, under 200 characters. */
const MAX_DESCRIPTION = 140;

/**
 * Statements that begin alike get different names, as a save under a name that is taken would be an update: of a long one the
 * first words are taken and the most telling ones of the rest (names, numbers, identifiers), in their order.
 */
export function nameStatement(statement: string): string {
  // Without its "every" a weekday would be one day.
  const line = statement
    .replace(/\s+/g, " ")
    .trim()
    .replace(/\b(?:every|each) ((?:mon|tues|wednes|thurs|fri|satur|sun)day)\b/gi, "$1s");
  const picked = isSpaced(line) ? pickWords(line.split(" ")) : pickUnspaced(line);
  // Text without spaces may still hold many short words of another script.
  const cut = picked.split(" ").slice(0, MAX_WORDS).join(" ");
  return stripEnds(cut.replace(/["“”„«»「」『』`]/g, "")) || "note";
}

export function describeStatement(statement: string): string {
  const line = statement.replace(/\s+/g, " ").trim();
  if (line.length <= MAX_DESCRIPTION) return line;
  const cut = line.slice(0, MAX_DESCRIPTION - 1);
  const end = isSpaced(line) ? cut.lastIndexOf(" ") : lastWordEnd(cut);
  return `${stripEnds(end > 0 ? cut.slice(0, end) : wellFormed(cut))}…`;
}

/** Chinese and Japanese write words without spaces between them. */
function isSpaced(line: string): boolean {
  const unspaced = line.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/gu)?.length ?? 0;
  return unspaced < line.length / 4;
}

const FILLER =
  /^(?:a|an|the|please|just|really|very|also|that|which|so|then|is|are|was|were|be|been|will|it|its|it's|our|we|you|they|and|there)$/i;

function pickWords(all: readonly string[]): string {
  const fitting = all.map((word) => (word.length > MAX_NAME ? wellFormed(word.slice(0, MAX_NAME)) : word));
  const whole = (words: readonly string[]) => words.length <= MAX_WORDS && words.join(" ").length <= MAX_NAME;
  if (whole(fitting)) return fitting.join(" ");
  const clause = firstClause(fitting);
  if (whole(clause)) return clause.join(" ");
  const words = dropFiller(clause);
  if (whole(words)) return words.join(" ");
  const opening = words.slice(0, MAX_WORDS - TELLING);
  const telling = words
    .map((word, at) => ({ at, weight: weigh(word) }))
    .slice(opening.length)
    .sort((a, b) => b.weight - a.weight || a.at - b.at)
    .slice(0, TELLING)
    .sort((a, b) => a.at - b.at)
    .map(({ at }) => words[at]!);
  let name = "";
  for (const word of [...opening, ...telling]) {
    const longer = name === "" ? word : `${name} ${word}`;
    if (longer.length <= MAX_NAME) name = longer;
  }
  return name.replace(/[,;:](?= )/g, "");
}

/** How many of the words come from the rest of a long statement. */
const TELLING = 2;

/** A clause shorter than this says too little alone; one that is followed by an exception, or is about "them", says something else. */
const MIN_CLAUSE = 4;

function firstClause(words: readonly string[]): readonly string[] {
  if (/^(?:it|they|this|that|these|those|he|she|there)$/i.test(words[0] ?? "")) return words;
  const end = words.findIndex((word, i) => i >= MIN_CLAUSE - 1 && /[,;.]$/.test(word)) + 1;
  return end === 0 || /^(?:except|unless|not|but|only|and|or|if|when)$/i.test(words[end] ?? "")
    ? words
    : words.slice(0, end);
}

function dropFiller(words: readonly string[]): readonly string[] {
  return words.filter((word, i) => i === 0 || !FILLER.test(bare(word)));
}

function weigh(word: string): number {
  const core = bare(word);
  const digits = /\d/.test(core) ? 6 : 0;
  if (core.length < 2) return digits;
  return digits + (/\p{Lu}/u.test(core) ? 5 : 0) + (/[_/.-]/.test(core) ? 3 : 0) + Math.min(core.length, 10) / 3;
}

/** The first clause, in whole words. */
function pickUnspaced(line: string): string {
  const clause = /^[^，。、；,;]{6,40}(?=[，。、；,;])/u.exec(line)?.[0];
  if (clause && line.length > 40) return `${clause}${pickTail(line.slice(clause.length))}`;
  return line.length <= 40 ? line : line.slice(0, lastWordEnd(line.slice(0, 40)));
}

/** Latin words and numbers after the first clause distinguish two such statements. */
function pickTail(rest: string): string {
  const words = rest.match(/[A-Za-z0-9][\w./-]{1,20}/g)?.slice(0, 2) ?? [];
  return words.length > 0 ? ` ${words.join(" ")}` : "";
}

function lastWordEnd(text: string): number {
  let last = 0;
  for (const { index } of new Intl.Segmenter(undefined, { granularity: "word" }).segment(text)) last = index;
  return last || wellFormed(text).length;
}

function bare(word: string): string {
  return word.replace(/^[^\p{L}\p{N}#@\\/]+|[^\p{L}\p{N}]+$/gu, "");
}

/** No punctuation at the ends, and no word that waits for another one. */
function stripEnds(name: string): string {
  return name
    .replace(/^[\s.,;:!?、。，：–—-]+|[\s.,;:!?、。，：–—-]+$/gu, "")
    .replace(/(?: (?:the|a|an|of|and|or|to|in|on|at|for|with|by|from|that|is|are|because|but|not))+$/i, "");
}

function wellFormed(text: string): string {
  return text.replace(/[\uD800-\uDBFF]$/, "");
}

/** Enough to tell; a longer text is not searched to its end. */
const MAX_LOOK = 600;

export function typeOfStatement(text: string): MemoryType {
  const statement = text.slice(0, MAX_LOOK);
  if (REFERENCE.test(statement)) return "reference";
  if (FEEDBACK.test(statement)) return "feedback";
  return USER.test(statement) ? "user" : "project";
}

/** Systems in which teams keep things. */
export const SYSTEM =
  "(?:linear|jira|notion|confluence|slack|mattermost|zulip|discord|(?:ms|microsoft) teams|grafana|datadog|sentry|backtrace|crashlytics|kibana|splunk|new relic|honeycomb|prometheus|pagerduty|opsgenie|figma|miro|zeplin|1password|bitwarden|lastpass|keeper|(?:hashicorp )?vault|polarion|codebeamer|doors|retool|google (?:drive|docs?|sheets?|calendar)|gdrive|onedrive|sharepoint|dropbox|nextcloud|power bi|looker|tableau|metabase|superset|bigquery|snowflake|databricks|airtable|asana|trello|clickup|shortcut|youtrack|redmine|bugzilla|phabricator|gerrit|zendesk|intercom|freshdesk|hubspot|salesforce|servicenow|github (?:issues|projects?|discussions|wiki)|gitlab|bitbucket|azure devops|jenkins|buildkite|circleci|teamcity|artifactory|nexus|minio|s3|launchdarkly|amplitude|mixpanel|posthog|statuspage|testrail|lokalise|crowdin|transifex|the (?:team |company |internal |shared )?(?:wiki|intranet|runbook|spreadsheet|shared drive|nas|handbook|file server)|the [\\w-]+ archive)";
export const ADDRESS = String.raw`(?:(?:https?|smb|s3|gs|ssh|ftp):\/\/\S+|\\\\[\w.-]+\\\S+|\b(?:[a-z0-9-]{1,40}\.){1,4}(?:com|org|net|io|dev|app|example|internal|local|lan|corp|cloud|ai)\b|(?<![\w.])\/(?:mnt|nfs|srv|net|Volumes|shares?)\/\S+|(?<![\w&])#[a-z][\w-]{2,}|[\w.+-]{2,40}@(?:[\w-]{1,40}\.){1,4}[a-z]{2,})`;
export const PLACE = `(?:\\b${SYSTEM}\\b|${ADDRESS})`;

const REFERENCE = new RegExp(
  String.raw`https?:\/\/|\b(?:tracked|documented|found|lives?|kept|stored|dashboards?|runbooks?|is|are|go(?:es)?)\b.{0,80}\b(?:in|at|on|under|to)\b.{0,40}${PLACE}`,
  "i",
);
const FEEDBACK =
  /^(?:to|not to)\s|\b(?:never|always|don'?t|do not|stop|avoid|prefer to|use\b.{0,80}\b(?:instead|not)|instead of|must|should|please)\b|(?<!\p{L})(?:nie|niemals|immer|nur|kein(?:e[nrs]?)?|bitte|jamais|toujours|siempre|nunca)(?!\p{L})|不要|必须|一定|总是|永远|别|请|必ず|常に|ください|しないで|ないこと|禁止/iu;
const USER = /^(?:i\b|i'm|my\b|me\b|the user\b|ich\b|je\b|j'|mon\b|ma\b|yo\b|mi\b|mein|我|私)/i;
