/** Whether a plan may be carried out: on the files as they are now, without losing, raising or smuggling in anything. */

import { lstatSync } from "node:fs";
import { join } from "node:path";
import { findNameProblem } from "../disk/fence.ts";
import {
  type Directory,
  findNamesake,
  isConflictCopy,
  isDailyLog,
  leastTrust,
  type Memory,
  mayBecome,
  parseMemory,
  readMemory,
  sameName,
  scan,
  TRUSTS,
  type Trust,
  trustOf,
} from "../store/store.ts";
import { findRelativeDates } from "../text/relative-dates.ts";
import { findSecrets } from "../text/secrets.ts";
import { changesOf, hashOf, isMemoryFile, namedFiles, type Op, type Plan } from "./dream-plan.ts";
import { findOrigins, isUntold } from "./origin.ts";

type Checked = { ok: true } | { ok: false; problems: string[] };

/** Every problem at once, so that its author can fix all of them. Never throws for what a plan says. */
export async function checkPlan(plan: Plan, directory: Directory): Promise<Checked> {
  const named = findNamedProblems(plan, directory);
  // What follows reads the files: without sound names and hashes there is nothing to judge.
  if (named.length > 0) return { ok: false, problems: named };
  const problems = [...findOverlaps(plan), ...findMissingSuccessors(plan, directory)];
  for (const op of plan.ops) {
    const found = [...findLosses(op, directory), ...(await findTextProblems(op, plan, directory))];
    problems.push(...found.map((problem) => `${op.kind} ${targetOf(op)}: ${problem}`));
  }
  return problems.length === 0 ? { ok: true } : { ok: false, problems: [...new Set(problems)] };
}

/** Names that lead nowhere else, files that are there and unchanged. Also asked again with the lock held. */
export function findNamedProblems(plan: Plan, directory: Directory): string[] {
  return [...new Set(plan.ops.flatMap((op) => namedProblems(op, plan, directory)))];
}

function namedProblems(op: Op, plan: Plan, directory: Directory): string[] {
  const made = new Set(plan.ops.flatMap((each) => [...newFilesOf(each)]));
  return namedFiles(op).flatMap((file) => {
    const shown = JSON.stringify(file.slice(0, 100));
    const bad = findNameProblem(file);
    if (bad) return [`${shown} is refused: ${bad}`];
    if (logsOf(op).includes(file)) return hashOf(directory, file) === null ? [`${file} is not there`] : [];
    if (!isMemoryFile(file)) return [`${shown} is no memory: a plan changes memories only`];
    const base = Object.hasOwn(plan.base, file) ? plan.base[file] : undefined;
    if (base === undefined) {
      if (!made.has(file)) return [`${file} is not there`];
      const taken = lstatSync(join(directory.path, file), { throwIfNoEntry: false });
      return taken ? [`${file} is there already: choose another file name, or rewrite it`] : [];
    }
    const now = hashOf(directory, file);
    if (now === null) return [`${file} is gone or cannot be read since the plan was made`];
    if (now !== base) return [`${file} changed since the plan was made`];
    return findUntouchable(op, file, directory);
  });
}

/** Files that an op makes, as far as they are not there. */
function newFilesOf(op: Op): string[] {
  if (op.kind === "create") return [op.file];
  return op.kind === "merge" && !op.files.includes(op.into) ? [op.into] : [];
}

function findUntouchable(op: Op, file: string, directory: Directory): string[] {
  if (op.kind === "create" && op.file === file) return [`${file} is there already: rewrite it, or choose another name`];
  if (op.kind === "merge" && op.into === file && !op.files.includes(file))
    return [`${file} is there already: name it among the files that are merged`];
  const memory = readMemory(directory, file);
  if (isConflictCopy(memory)) return [`${file} is one side of a conflict: a person decides what becomes of it`];
  return memory.broken ? [`${file} cannot be parsed (${memory.problems[0]}): it is not touched`] : [];
}

/** One memory, one fate. */
function findOverlaps(plan: Plan): string[] {
  const seen = new Set<string>();
  return plan.ops.flatMap((op) =>
    [...changesOf(op).keys()].flatMap((file) => {
      const key = file.normalize("NFC").toLowerCase();
      if (seen.has(key)) return [`${file} is changed by more than one operation`];
      seen.add(key);
      return [];
    }),
  );
}

function findMissingSuccessors(plan: Plan, directory: Directory): string[] {
  const after = new Map(plan.ops.flatMap((op) => [...changesOf(op)]));
  return plan.ops.flatMap((op) => {
    if (op.kind !== "retire" || op.successor === null) return [];
    const text = after.get(op.successor);
    const stays = text === undefined ? hashOf(directory, op.successor) !== null : text !== null;
    return stays ? [] : [`retire ${op.file}: its successor ${op.successor} goes, too`];
  });
}

/** What may not disappear: corrections, what is pinned, and anything without a word why. */
function findLosses(op: Op, directory: Directory): string[] {
  const problems = op.reason.trim() === "" ? ["there is no reason"] : [];
  if (op.kind === "merge" && new Set([...op.files, op.into]).size < 2) problems.push("a merge needs two memories");
  for (const [file, text] of changesOf(op)) {
    const old = op.kind === "create" ? null : findMemory(directory, file);
    if (!old) continue;
    const merged = op.kind === "merge" ? parseMemory(op.into, op.text) : null;
    if (text === null && old.pinned) problems.push(`${file} is pinned: it stays`);
    if (text === null && old.type === "feedback" && !merged)
      problems.push(`${file} is a correction: it is never retired, only merged`);
    const next = merged ?? (text === null ? null : parseMemory(file, text));
    if (!next) continue;
    if (next.type !== old.type) problems.push(`${file} has the type ${old.type}, the new text ${next.type}`);
    const lost = text === null ? [] : Object.keys(old.metadata).filter((key) => !Object.hasOwn(next.metadata, key));
    for (const key of lost) problems.push(`the new text has lost the field ${JSON.stringify(key.slice(0, 40))}`);
    if (old.pinned && !next.pinned) problems.push(`${file} is pinned: the new text must say so, too`);
    if (old.type === "feedback" && !keepsRule(old, next))
      problems.push(`the rule of ${file} must stay word for word: ${JSON.stringify(ruleOf(old.body).slice(0, 200))}`);
  }
  return problems;
}

/** What a correction demands: its text up to the reasons for it. */
export function ruleOf(body: string): string {
  const end = body.search(/^[ \t]*(?:\*\*)?(?:Why|How to apply)\b/im);
  return plain(end > 0 ? body.slice(0, end) : body);
}

export function keepsRule(old: Pick<Memory, "body">, next: Pick<Memory, "body">): boolean {
  return plain(next.body).includes(ruleOf(old.body));
}

function plain(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

async function findTextProblems(op: Op, plan: Plan, directory: Directory): Promise<string[]> {
  const problems = findSecrets(op.reason).map(({ rule }) => `the reason holds what looks like a secret (${rule})`);
  if (!("text" in op)) return problems;
  const file = op.kind === "merge" ? op.into : op.file;
  const next = parseMemory(file, op.text);
  for (const problem of next.problems) problems.push(problem);
  if (next.body.trim() === "") problems.push("the new text has no body");
  if (typeof next.metadata.name !== "string") problems.push("the new text has no name");
  for (const { rule, line } of findSecrets(op.text))
    problems.push(`line ${line} holds what looks like a secret (${rule})`);
  const parts = sourcesOf(op, plan, directory);
  // What never had one need not get one: rules do not invent.
  if (next.description === "" && (parts.length === 0 || parts.some(({ description }) => description !== "")))
    problems.push("the new text has no description");
  problems.push(...findClaims(next, parts));
  const taken = await findTaken(op, next, parts, directory);
  problems.push(...findTrustProblems(op, next, parts, taken), ...(await findDateProblems(next, parts, directory)));
  const namesake = findTakenName(op, next, plan, directory);
  if (namesake) problems.push(`${namesake} has this type and name already: rewrite or merge it`);
  return problems;
}

/** Logs that an op was distilled from. */
function logsOf(op: Op): string[] {
  return op.kind === "create" || op.kind === "rewrite" ? (op.from ?? []).filter(isDailyLog) : [];
}

/** The memories that a new text was made of, and those that go in its favour: what it takes over must not gain trust that way. */
function sourcesOf(op: Op, plan: Plan, directory: Directory): Memory[] {
  const into = op.kind === "merge" ? op.into : "file" in op ? op.file : null;
  const retired = plan.ops.flatMap((each) => (each.kind === "retire" && each.successor === into ? [each.file] : []));
  const named = op.kind === "create" ? op.from : namedFiles(op);
  const files = new Set([...named, ...retired].filter((file) => !isDailyLog(file)));
  return [...files].flatMap((file) => findMemory(directory, file) ?? []);
}

/** The trust of memories that are not named and whose words are in the new text all the same: what a tool or a document said. */
async function findTaken(op: Op, next: Memory, parts: readonly Memory[], directory: Directory): Promise<Trust[]> {
  const named = new Set([...parts.map(({ file }) => file), ...namedFiles(op)]);
  const others = scan(directory).memories.flatMap(({ header: { file, source } }) => {
    const trust = trustOf(source);
    const memory = !named.has(file) && isUntold(trust) ? findMemory(directory, file) : null;
    return memory ? [{ trust, text: wordsIn(memory) }] : [];
  });
  return others.length === 0 ? [] : findOrigins(wordsIn(next), parts.map(wordsIn).join("\n"), others);
}

function wordsIn({ name, description, when, body }: Memory): string {
  return [name, description, ...when, body].join("\n");
}

function findTrustProblems(op: Op, next: Memory, parts: readonly Memory[], taken: readonly Trust[]): string[] {
  // What a log says was concluded by an agent, no matter who said it first.
  const fromLog = logsOf(op).length > 0 || parts.length === 0;
  const allowed = leastTrust([
    ...parts.map(({ source }) => trustOf(source)),
    ...(fromLog ? (["inferred"] as const) : []),
    ...taken,
  ]);
  const trust = trustOf(next.source);
  if (TRUSTS.indexOf(trust) > TRUSTS.indexOf(allowed))
    return [`it is made of what has the source ${allowed}, so it must say "source: ${allowed}"`];
  const was = parts.every((part) => part.type === next.type && trustOf(part.source) === trust);
  if (!mayBecome(next.type, trust) && !(was && parts.length > 0))
    return [`what has the source ${trust} cannot become a ${next.type} memory`];
  return [];
}

/** In a project memory no relative date at all; elsewhere ("never on Fridays") none that was not there. */
async function findDateProblems(next: Memory, parts: readonly Memory[], directory: Directory): Promise<string[]> {
  const dates = await findRelativeDates(`${next.description}\n\n${next.body}`, directory.now());
  const known = next.type === "project" ? "" : plain(parts.map((part) => `${part.description} ${part.body}`).join(" "));
  return dates
    .filter(({ words }) => !known.toLowerCase().includes(words.toLowerCase()))
    .map(({ words }) => `${JSON.stringify(words)} means nothing later: write the date`);
}

/** Another memory of this type and name; one that had the name before may keep it. */
function findTakenName(op: Op, next: Memory, plan: Plan, directory: Directory): string | null {
  const own = new Set(changesOf(op).keys());
  if ([...own].some((file) => sameName(findMemory(directory, file)?.name ?? "", next.name))) return null;
  const changed = new Map(plan.ops.flatMap((each) => [...changesOf(each)]));
  const others = [
    ...scan(directory).memories.flatMap(({ header }) => (changed.has(header.file) ? [] : [header])),
    ...[...changed].flatMap(([file, text]) => (text === null ? [] : [parseMemory(file, text)])),
  ];
  return (
    findNamesake(
      others.filter(({ file }) => !own.has(file)),
      next,
    )?.file ?? null
  );
}

function findMemory(directory: Directory, file: string): Memory | null {
  return hashOf(directory, file) === null ? null : readMemory(directory, file);
}

function targetOf(op: Op): string {
  if (op.kind === "reindex") return "the index";
  return op.kind === "merge" ? `into ${op.into}` : op.file;
}

/** What a planned text claims beyond the memories that it is made of, and what it must not lose of them. */
function findClaims(next: Memory, parts: readonly Memory[]): string[] {
  const problems: string[] = [];
  const enforced = new Set(parts.map(enforcedIn).filter((block) => block !== NONE));
  const claimed = enforcedIn(next);
  if (claimed !== NONE && !enforced.has(claimed))
    problems.push("only people write what is enforced: leave `enforce` as it is, or out of a new memory");
  if (enforced.size > (claimed === NONE ? 0 : 1))
    problems.push("what is enforced must stay: a text holds one `enforce`, so memories that differ in it stay apart");
  if (next.pinned && !parts.some(({ pinned }) => pinned)) problems.push("only people pin a memory: leave out `pinned`");
  const known = new Set(parts.flatMap(({ supersedes }) => supersedes));
  if (isUntold(trustOf(next.source)) && next.supersedes.some((name) => !known.has(name)))
    problems.push("what a tool or a document says takes nobody's place: leave out `supersedes`");
  return problems;
}

export function isEnforced(memory: Memory): boolean {
  return enforcedIn(memory) !== NONE;
}

const NONE = "[null,null]";

/** At the top level and under `metadata`, as it is read in both places. */
function enforcedIn({ metadata }: Memory): string {
  const nested = metadata.metadata as Record<string, unknown> | null | undefined;
  return JSON.stringify([metadata.enforce ?? null, (typeof nested === "object" && nested?.enforce) || null]);
}
