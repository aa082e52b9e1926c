/** Finds in a memory what can be looked up: each thing once, with its place, and not what is only spoken of. */

import { parseDocument } from "../text/frontmatter.ts";
import type { Claim } from "./claim.ts";
import { findPackage, findScripts, type WordClaim } from "./claims-commands.ts";
import { findDates } from "./claims-dates.ts";
import { readDeclared, readSilenced } from "./claims-declared.ts";
import { findPath } from "./claims-paths.ts";
import { findBranches, findCommits, findLinks, findTags, findUrls } from "./claims-refs.ts";
import { findName } from "./claims-symbols.ts";
import { findPassages, type Passage } from "./passages.ts";
import { isForeign, standingOf } from "./standing.ts";
import { findTies } from "./ties.ts";
import { findTokens, type Token } from "./tokens.ts";

export interface ClaimContext {
  /** Absolute; paths below it are the project's own. */
  root: string;
  /** What the project is called: "in the X repo" is another one unless X is here. */
  names: readonly string[];
  /** When the memory was written, for days without a year. */
  written: Date;
}

export interface FoundClaims {
  claims: Claim[];
  /** Not looked up, on somebody's word. */
  silenced: { text: string; reason: string }[];
}

/** Each thing is looked up once, wherever it stands first. */
export function findClaims(text: string, context: ClaimContext): FoundClaims {
  const document = parseDocument(text);
  const metadata = Object.fromEntries(document.fields.map(({ key, value }) => [key, value]));
  const silenced = readSilenced(metadata);
  if (silenced.some(({ text }) => text === "*")) return { claims: [], silenced };
  const quiet = new Set(silenced.map(({ text }) => text));
  const found = new Map<string, Claim>();
  const lineOf = lineCounter(text);
  const keep = (claim: Omit<Claim, "line" | "declared">) => {
    const key = `${claim.kind}\0${claim.text.replace(/\/$/, "")}`;
    const known = found.get(key);
    if (quiet.has(claim.text)) return;
    if (!known) found.set(key, { ...claim, line: lineOf(claim.at), declared: false });
    else merge(known, claim);
  };
  const passages = findPassages(text, document);
  const foreign = foreignParagraphs(passages, context.names);
  for (const passage of passages) {
    for (const claim of claimsOf(passage, context, foreign.has(passage.paragraph))) keep(claim);
  }
  const declared = readDeclared(metadata).map((claim) => {
    const at = text.indexOf(claim.text);
    return { ...claim, at, line: lineOf(Math.max(0, at)) };
  });
  for (const claim of declared) found.set(`${claim.kind}\0${claim.text.replace(/\/$/, "")}`, claim);
  return { claims: [...found.values()], silenced };
}

/** A thing that is named a thousand times needs no list of all places. */
const MAX_PLACES = 100;

function merge(known: Claim, claim: Unplaced): void {
  known.loose &&= claim.loose;
  if (claim.file !== undefined) known.file ??= claim.file;
  known.more ??= [];
  if (known.more.length < MAX_PLACES && known.text === claim.text) known.more.push(claim.at);
}

type Unplaced = Omit<Claim, "line" | "declared">;

function claimsOf(passage: Passage, context: ClaimContext, isForeign: boolean): Unplaced[] {
  const { text, at: offset, command } = passage;
  const claims: Unplaced[] = [];
  const isPresent = (at: number, length: number) => command || standingOf(passage, at, at + length) === "present";
  for (const { at, ...word } of command ? findScripts(text) : wordClaims(text, context.written)) {
    const isLocal = word.kind === "script" || word.kind === "branch" || word.kind === "tag" || word.kind === "commit";
    if (isLocal && (isForeign || !isPresent(at, word.text.length))) continue;
    claims.push({ ...word, at: offset + at });
  }
  if (isForeign) return claims;
  const ties = findTies(text);
  for (const token of findTokens(passage)) {
    const found = tokenClaims(token, text, context.root, ties);
    if (found.length === 0 || !isPresent(token.at, token.text.length)) continue;
    for (const { shift, ...claim } of found) claims.push({ ...claim, at: offset + token.at + shift });
  }
  return claims;
}

type TokenClaim = Omit<Unplaced, "at"> & { shift: number };
const PLAIN = /^[A-Za-z]?[a-z]*$/;

/** A word may be several things until it is looked up. */
function tokenClaims(token: Token, text: string, root: string, ties: ReadonlyMap<number, string>): TokenClaim[] {
  const claims: TokenClaim[] = [];
  // Most words are only words.
  if (token.code || !PLAIN.test(token.text)) {
    const path = findPath(token, root);
    if (path) claims.push({ kind: "path", ...path });
    if (path && !path.loose) return claims;
    const name = findName(token);
    const file = name ? ties.get(token.at) : undefined;
    if (name) claims.push(file === undefined ? name : { ...name, file });
  }
  const isFirst = token.code && (token.nth === 0 || !token.span.includes(" "));
  const pack = findPackage(text, token.text, token.at, isFirst);
  if (pack) claims.push({ kind: pack.kind, text: pack.text, shift: 0, loose: true });
  return claims;
}

function wordClaims(text: string, written: Date): WordClaim[] {
  return [
    ...findDates(text, written),
    ...findScripts(text),
    ...findBranches(text),
    ...findTags(text),
    ...findCommits(text),
    ...findLinks(text),
    ...findUrls(text),
  ];
}

/** Once a paragraph has gone over to another project, all that follows in it is about that one. */
function foreignParagraphs(passages: readonly Passage[], names: readonly string[]): Set<number> {
  return new Set(
    passages
      .filter(({ text, lead, command }) => !command && isForeign(`${lead} ${text}`, names))
      .map(({ paragraph }) => paragraph),
  );
}

/** Offsets come in rising order, mostly. */
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
