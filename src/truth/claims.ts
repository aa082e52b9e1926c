/** Finds the claims of a memory that can be checked: each once, with its position, and not what is only mentioned. */

import { isObject } from "../errors.ts";
import { type Memory, valuesOf } from "../store/store.ts";
import { parseDocument } from "../text/frontmatter.ts";
import { CLAIM_KINDS, type Claim, type ClaimKind } from "./claim.ts";
import { findDates, findLinks, findPackage, findScripts, findUrls, findValues } from "./claims-phrases.ts";
import { findName, findPath, findTokens, type Token, type TokenClaim } from "./claims-tokens.ts";
import { findPassages, type Passage } from "./passages.ts";
import { findRecords } from "./records.ts";

interface ClaimContext {
  /** Absolute; paths below it are the project's own. */
  root: string;
  /** The project's names: "in the X repo" means another one unless X is here. */
  names: readonly string[];
  /** When the memory was written, for days without a year. */
  written: Date;
  /** Why the whole memory is a record of past work. */
  record?: string | undefined;
}

export type FoundClaims = ReturnType<typeof findClaims>;

/** Each thing is checked once, where it is first named. `silenced`: not checked, because the memory says so. */
export function findClaims(text: string, context: ClaimContext) {
  const document = parseDocument(text);
  const metadata = Object.fromEntries(document.fields.map(({ key, value }) => [key, value]));
  const silenced = readSilenced(metadata);
  if (silenced.some(({ text }) => text === "*")) return { claims: [] as Claim[], silenced };
  const quiet = new Set(silenced.map(({ text }) => text));
  const found = new Map<string, Claim>();
  const keyOf = ({ kind, text }: Pick<Claim, "kind" | "text">) => `${kind}\0${text.replace(/\/$/, "")}`;
  const lineOf = lineCounter(text);
  const passages = findPassages(text, document);
  const foreign = foreignParagraphs(passages, context.names);
  const records = findRecords(passages, context.written);
  const struck = [...text.matchAll(STRUCK)].map(({ 0: whole, index }) => ({ from: index, to: index + whole.length }));
  const isStruck = ({ at }: Unplaced) => struck.some(({ from, to }) => from < at && at < to);
  for (const passage of passages) {
    const mark = records.get(passage);
    const record = context.record ?? mark?.reason;
    // A deadline is a day itself: only what is over its paragraph makes it part of a record.
    const isDeadline = ({ kind }: Unplaced) => kind === "date" && mark?.isOwn !== false;
    for (const claim of claimsOf(passage, context, foreign.has(passage.paragraph))) {
      const isRecord = record !== undefined && claim.in === undefined && !isDeadline(claim);
      if (isStruck(claim) || isOwnVariable(claim, text) || quiet.has(claim.text)) continue;
      const known = found.get(keyOf(claim));
      const placed: Claim = { ...claim, line: lineOf(claim.at), declared: false, place: passage };
      if (isRecord) Object.assign(placed, { in: "record", record });
      if (known) merge(known, placed);
      else found.set(keyOf(claim), placed);
    }
  }
  for (const claim of readDeclared(metadata)) {
    const at = text.indexOf(claim.text);
    found.set(keyOf(claim), { ...claim, at, line: lineOf(Math.max(0, at)) });
  }
  return { claims: [...found.values()], silenced };
}

/** ~~What was crossed out~~ is no longer claimed; it may go over several sentences, but not over an empty line. */
const STRUCK = /~~(?:(?!~~|\n\s*\n)[\s\S]){1,4000}~~/g;

/** A variable that a script in the memory both sets and reads is that script's own. */
function isOwnVariable({ kind, text: name }: Unplaced, text: string): boolean {
  if (kind !== "env" && kind !== "constant") return false;
  return new RegExp(`^[ \\t]*${name}=`, "m").test(text) && new RegExp(`\\$\\{?${name}\\b`).test(text);
}

/** Something that is named a thousand times does not need a list of all places; and each sentence takes milliseconds to judge. */
const [MAX_PLACES, MAX_SENTENCES] = [100, 8];

function merge(known: Claim, claim: Claim): void {
  known.loose &&= claim.loose;
  if (claim.file !== undefined) known.file ??= claim.file;
  let further = claim.at;
  // What is said of now counts more than what is said of a day or of a plan.
  if (known.in !== undefined && claim.in === undefined) {
    further = known.at;
    known.at = claim.at;
    known.line = claim.line;
    known.place = claim.place as Passage;
    delete known.in;
    delete known.record;
  } else if (known.in === undefined && claim.in === undefined && claim.place) {
    const again = known.again ?? [];
    const isSame = claim.value === known.value && claim.lineNumber === known.lineNumber;
    const isNew = ![known, ...again].some(({ place }) => place === claim.place);
    if (isSame && isNew && again.length < MAX_SENTENCES)
      known.again = [...again, { line: claim.line, place: claim.place }];
  }
  known.more ??= [];
  if (known.more.length < MAX_PLACES && known.text === claim.text) known.more.push(further);
}

type Unplaced = Omit<Claim, "line" | "declared">;

function claimsOf(passage: Passage, context: ClaimContext, isForeign: boolean): Unplaced[] {
  const { text, at: offset, command } = passage;
  const claims: Unplaced[] = [];
  const tense = (at: number, length: number) => (command ? "present" : tenseOf(passage, at, at + length));
  const days = command ? [] : findDates(text, context.written);
  const others = command ? [] : [...findLinks(text), ...findUrls(text)];
  for (const { at, ...word } of [...days, ...findScripts(text), ...others]) {
    if (word.kind === "script" && (isForeign || tense(at, word.text.length) !== "present")) continue;
    claims.push({ ...word, at: offset + at });
  }
  if (isForeign) return claims;
  const namedFiles = findNamedFiles(text);
  for (const token of findTokens(passage)) {
    const found = tokenClaims(token, text, context.root, namedFiles);
    // `old.*` → `new.*`: what is said after it comes after the whole span.
    const tick = token.code && !command ? text.indexOf("`", token.at + token.text.length) : -1;
    const spoken = found.length === 0 ? "past" : tense(token.at, tick < 0 ? token.text.length : tick - token.at);
    const isPlan = spoken === "planned";
    if (spoken === "past" || (isPlan && !isMissing(passage, token.at))) continue;
    for (const { shift, ...claim } of found) {
      if (isPlan && (claim.loose || (claim.kind !== "path" && claim.kind !== "symbol"))) continue;
      claims.push({ ...claim, at: offset + token.at + shift, ...(isPlan && { in: "plan" as const }) });
    }
  }
  for (const { at, ...value } of command ? [] : findValues(text)) {
    const file = namedFiles.get(at) ?? onlyPath(text, context.root);
    if (tense(at, value.text.length) === "present")
      claims.push({ ...value, at: offset + at, ...(file !== undefined && { file }) });
  }
  return claims;
}

const PLAIN = /^[A-Za-z]?[a-z]*$/;

/** A word may be several things until it is checked. */
function tokenClaims(token: Token, text: string, root: string, namedFiles: ReadonlyMap<number, string>): TokenClaim[] {
  const claims: TokenClaim[] = [];
  // Most words are only words.
  if (token.code || !PLAIN.test(token.text)) {
    const path = findPath(token, root);
    if (path) claims.push(path);
    if (path && !path.loose) return claims;
    const name = findName(token);
    const file = name ? namedFiles.get(token.at) : undefined;
    if (name) claims.push(file === undefined ? name : { ...name, file });
  }
  const isFirst = token.code && (token.nth === 0 || !token.span.includes(" "));
  const pack = findPackage(text, token.text, token.at, isFirst);
  if (pack) claims.push({ kind: pack.kind, text: pack.text, shift: 0, loose: true });
  return claims;
}

/** The file that a sentence names, if it names one. */
function onlyPath(text: string, root: string): string | undefined {
  const paths = findTokens({ text, command: false }).flatMap((token) => findPath(token, root) ?? []);
  return paths.length === 1 && !paths[0]?.loose ? paths[0]?.text : undefined;
}

/** Once a paragraph mentions another project, the rest of it is about that one. */
function foreignParagraphs(passages: readonly Passage[], names: readonly string[]): Set<number> {
  return new Set(
    passages
      .filter(({ text, lead, command }) => !command && isForeign(`${lead} ${text}`, names))
      .map(({ paragraph }) => paragraph),
  );
}

/** Offsets are mostly ascending. */
function lineCounter(text: string): (at: number) => number {
  let last = { at: 0, line: 1 };
  return (at) => {
    if (at < last.at) last = { at: 0, line: 1 };
    let { line } = last;
    for (let i = text.indexOf("\n", last.at); i >= 0 && i < at; i = text.indexOf("\n", i + 1)) line++;
    last = { at, line };
    return line;
  };
}

type Declared = Omit<Claim, "line" | "at">;

function readDeclared(metadata: Memory["metadata"]): Declared[] {
  return entriesOf(metadata, "claims").flatMap((entry) => {
    const [, word = "", rest = ""] = /^\s*([a-z]+)\s*:\s*(.+?)\s*$/.exec(entry) ?? [];
    const kind = CLAIM_KINDS.find((each) => each === word);
    return kind ? [declaredOf(kind, rest)] : [];
  });
}

function declaredOf(kind: ClaimKind, text: string): Declared {
  const claim: Declared = { kind, text, loose: false, declared: true };
  const tied = kind === "symbol" ? /^(\S+)\s+in\s+(\S+)$/.exec(text) : null;
  if (tied) return { ...claim, text: tied[1] as string, file: tied[2] as string };
  if (kind === "date") return { ...claim, day: text };
  if (kind !== "script") return claim;
  const [, program, name] = /^(npm|make|just)\s+(?:run\s+)?(\S+)$/.exec(text) ?? [];
  return program && name ? { ...claim, text: name, program } : { ...claim, program: "npm" };
}

function readSilenced(metadata: Memory["metadata"]): { text: string; reason: string }[] {
  const [whole] = valuesOf(metadata, "unchecked");
  if (typeof whole === "string") return whole.trim() === "" ? [] : [{ text: "*", reason: whole.trim() }];
  return entriesOf(metadata, "unchecked").flatMap((entry) => {
    const colon = entry.indexOf(": ");
    const reason = entry.slice(colon + 2).trim();
    return colon > 0 && reason !== "" ? [{ text: entry.slice(0, colon).trim(), reason }] : [];
  });
}

/** A list of texts, or a map. */
function entriesOf(metadata: Memory["metadata"], key: string): string[] {
  const [value] = valuesOf(metadata, key);
  if (Array.isArray(value)) return value.filter((item) => typeof item === "string");
  if (!isObject(value)) return value ? [String(value)] : [];
  return Object.entries(value).flatMap(([name, text]) => (typeof text === "string" ? [`${name}: ${text}`] : []));
}

const NAME = "[`\"'*]*([A-Za-z_$][\\w$.:#]*)(?:\\([^()]{0,40}\\))?[`\"'*]*";
const KIND =
  "(?:(?:the|a|an|our)\\s+)?(?:(?:function|method|class|type|struct|hook|component|helper|constant|interface|module)\\s+)?";
const PATH = "[`\"'(*]*((?:\\.\\/)?[\\w@.+-]+(?:\\/[\\w@.+-]+)+|[\\w-]+\\.[a-z]{1,5}\\b)";
const IN =
  "(?:\\(|,?\\s*(?:which |that )?(?:lives?|sits|is|are|defined|found|comes|kept|declared|implemented|declared)?\\s*(?:defined |found |declared |implemented )?(?:in|from|at|inside|under|of)\\s+)(?:the\\s+)?(?:file\\s+)?";
const NAME_FIRST = new RegExp(`(?<![\\w$.\`])${NAME}\\s*${IN}${PATH}`, "g");
const PATH_FIRST = new RegExp(
  `(?<![\\w/])${PATH}[\`"')*]*(?:\\s+(?:has|holds|defines|exports|contains|provides|declares|implements|keeps)|\\s*[:—–])\\s+${KIND}${NAME}`,
  "g",
);

const IN_FIRST = new RegExp(`\\b[Ii]n\\s+(?:the\\s+file\\s+)?${PATH}[\`"')*]*,?\\s+${KIND}${NAME}`, "g");

/** Offset of the name in the sentence -> the path. */
function findNamedFiles(text: string): ReadonlyMap<number, string> {
  const files = new Map<number, string>();
  if (!/[/.]\w/.test(text)) return files;
  for (const { 0: whole, 1: name = "", 2: path = "", index } of text.matchAll(NAME_FIRST)) {
    files.set(index + whole.indexOf(name), cleanPath(path));
  }
  for (const pattern of [PATH_FIRST, IN_FIRST]) {
    for (const { 0: whole, 1: path = "", 2: name = "", index } of text.matchAll(pattern)) {
      const at = index + whole.lastIndexOf(name);
      if (!files.has(at)) files.set(at, cleanPath(path));
    }
  }
  return files;
}

function cleanPath(path: string): string {
  return path.replace(/^\.\//, "").replace(/[.,;:]+$/, "");
}

// --- How a sentence mentions a thing: as existing, gone or planned; and whether it is about another project. What was gone before
// the line was written is told by git (`examination.ts`); the few words here are for what is said first and committed later.

type Tense = "present" | "past" | "planned";

/** Words further away belong to something else. */
const REACH = 160;

/** Said before the thing; between them are only articles and further things, so that "removed A, see B" says nothing of B. */
const GONE_BEFORE =
  /(?:^|[\s(*])(?:removed?|deleted?|renamed?|replaced?|supersedes?|moved (?:it |them )?from|no longer|used to \w+(?: in| at)?|instead of|rather than|not in|(?:don['’]t|do not|never) use)\s+(?:(?:the|its|our|all|both|and|or|old|files?)\s+|\S*[`./_(]\S*\s+)*[`"'(*]*$/i;
/** "A was removed", "A and B are gone", "A (deleted)", "src/a.ts → src/b.ts". */
const GONE_AFTER =
  /^[`"')\s*:]*(?:(?:(?:and|or|,)\s*\S+\s+){0,3}(?:(?:is|was|are|were|has|have|been|now)\s+){0,3}[(,]?\s*(?:removed|deleted|renamed|replaced by|gone|no longer|moved to|does(?: not|n['’]t) exist)\b|(?:→|->|=>)\s*[`"']?[\w-]*[./]\w)/i;
/** What must not be done or used may well be gone. */
const FORBIDDEN = /^\s*(?:[-*+|]\s*|\d+[.)]\s+)?(?:\*\*)?[❌🚫⛔]/u;
const PLANNED =
  /\b(?:will|should|going to|plans? to|planned|todo|want to|need to)\b[^.]{0,60}?\b(?:add|creat|introduc|writ|build|extract|implement|mov|renam|replac)\w*|^\s*[-*+]\s+\[ \]|\bnot yet\b/i;
/** What stands under such a heading or in such a list, or behind such words and a colon. */
const PLANS =
  /\b(?:planned|todo|next steps?|not (?:yet )?(?:built|started|implemented)|do(?:es)?(?: not|n['’]t) exist)\b/i;

/** "in the billing repo"; what else sounds like another project was right nowhere. */
const NAMED_PROJECT =
  /\b(?:in|from|of|inside|under)\s+(?:the\s+)?[`"']?([\w.-]+(?:\/[\w.-]+)?)[`"']?(?:['’]s)?\s+(?:repo(?:sitory)?|project|codebase|monorepo)\b/gi;
const OWN = /^(?:this|our|the|same|main|current|whole|entire|my|own|mono|git|root|new)$/i;

/** Whether it is of another project is asked of the whole paragraph: `isForeign`. */
function tenseOf({ text, lead, over }: Pick<Passage, "text" | "lead" | "over">, at: number, end: number): Tense {
  if (FORBIDDEN.test(text)) return "past";
  const before = text.slice(Math.max(0, at - REACH), at);
  if (GONE_BEFORE.test(before) || GONE_AFTER.test(text.slice(end, end + REACH))) return "past";
  const colon = /^[\s*#>-]*([^:`]{3,60}):\**\s/.exec(text.slice(0, at))?.[1] ?? "";
  // A title may be the name of a to-do application.
  const isPlan = [lead, colon, ...over.filter((each) => !each.startsWith("# "))].some((each) => PLANS.test(each));
  // A question claims nothing.
  return isPlan || text.trimEnd().endsWith("?") || PLANNED.test(before) ? "planned" : "present";
}

/** Said before a thing that is to be made; between them are only articles and further things. */
const MADE =
  /\b(?:add|creat|introduc|writ|build|implement|extract)(?:e|ing)?\s+(?:(?:the|an?|its|our|new|both|and|or|files?|class|function)\s+|\S*[`./_(]\S*\s+)*[`"'(*]*$/i;
const OPENS = /^[\s\-*+|>`#\d.)[\]]*(?:[^:`]{3,60}:\**[\s`]*)?$/;
const MISSING = /\b(?:planned|not (?:yet )?(?:built|started|implemented)|not yet|do(?:es)?(?: not|n['’]t) exist)\b/i;

/** Whether a plan says of this very thing that it is not there yet. Other plans, and the rules of a checklist, only use it. */
function isMissing({ text, over }: Pick<Passage, "text" | "over">, at: number): boolean {
  const before = text.slice(0, at);
  return MADE.test(before.slice(-REACH)) || (OPENS.test(before) && [text, ...over].some((each) => MISSING.test(each)));
}

/** `names` are what this project is called. */
function isForeign(text: string, names: readonly string[]): boolean {
  if (!/repo|project|codebase/i.test(text)) return false;
  for (const [, name = ""] of text.matchAll(NAMED_PROJECT)) {
    const own = OWN.test(name) || names.some((each) => each !== "" && name.toLowerCase().endsWith(each.toLowerCase()));
    if (!own) return true;
  }
  return false;
}
