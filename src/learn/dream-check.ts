/**
 * Checks whether a plan may be carried out: the files must be unchanged, and nothing may be lost, gain trust or be
 * smuggled in.
 */

import { lstatSync } from "node:fs";
import { join } from "node:path";
import { findNameProblem } from "../disk/fence.ts";
import {
  findNamesake,
  isConflictCopy,
  isDailyLog,
  leastTrust,
  type Memory,
  mayBecome,
  parseMemory,
  readMemory,
  type Store,
  sameName,
  scan,
  TRUSTS,
  type Trust,
  trustOf,
} from "../store/store.ts";
import { findRelativeDates } from "../text/relative-dates.ts";
import { findSecrets } from "../text/secrets.ts";
import { changesOf, hashOf, isMemoryFile, namedFiles, type Op, type Plan } from "./dream-plan.ts";
import { findOrigins, isUntold, readUntold, wordsIn } from "./origin.ts";

type Checked = { ok: true } | { ok: false; problems: string[] };

/** Returns every problem at once, so that the planner can fix all of them. Never throws because of a plan. */
export async function checkPlan(plan: Plan, directory: Store): Promise<Checked> {
  const named = findNamedProblems(plan, directory);
  // The rest reads the files, so names and hashes must be right first.
  if (named.length > 0) return { ok: false, problems: named };
  const problems = [...findOverlaps(plan), ...findMissingSuccessors(plan, directory)];
  for (const op of plan.ops) {
    const found = [...findLosses(op, directory), ...(await findTextProblems(op, plan, directory))];
    problems.push(...found.map((problem) => `${op.kind} ${targetOf(op)}: ${problem}`));
  }
  return problems.length === 0 ? { ok: true } : { ok: false, problems: [...new Set(problems)] };
}

/** Names must stay inside the directory, and files must exist unchanged. Checked again with the lock held. */
export function findNamedProblems(plan: Plan, directory: Store): string[] {
  return [...new Set(plan.ops.flatMap((op) => namedProblems(op, plan, directory)))];
}

function namedProblems(op: Op, plan: Plan, directory: Store): string[] {
  const made = new Set(plan.ops.flatMap((each) => [...newFilesOf(each)]));
  return namedFiles(op).flatMap((file) => {
    const shown = JSON.stringify(file.slice(0, 100));
    const bad = findNameProblem(file);
    if (bad) return [`${shown} is refused: ${bad}`];
    if (logsOf(op).includes(file)) return hashOf(directory, file) === null ? [`${file} does not exist`] : [];
    if (!isMemoryFile(file)) return [`${shown} is not a memory: a plan can only change memories`];
    const base = Object.hasOwn(plan.base, file) ? plan.base[file] : undefined;
    if (base === undefined) {
      if (!made.has(file)) return [`${file} does not exist`];
      const taken = lstatSync(join(directory.path, file), { throwIfNoEntry: false });
      return taken ? [`${file} already exists: choose another file name, or rewrite it`] : [];
    }
    const now = hashOf(directory, file);
    if (now === null) return [`${file} was removed or became unreadable since the plan was made`];
    if (now !== base) return [`${file} changed since the plan was made`];
    return findUntouchable(op, file, directory);
  });
}

/** Files that an op creates. */
function newFilesOf(op: Op): string[] {
  if (op.kind === "create") return [op.file];
  return op.kind === "merge" && !op.files.includes(op.into) ? [op.into] : [];
}

function findUntouchable(op: Op, file: string, directory: Store): string[] {
  if (op.kind === "create" && op.file === file) return [`${file} already exists: rewrite it, or choose another name`];
  if (op.kind === "merge" && op.into === file && !op.files.includes(file))
    return [`${file} already exists: name it among the files that are merged`];
  const memory = readMemory(directory, file);
  if (isConflictCopy(memory)) return [`${file} is one side of a conflict, which a person must resolve`];
  return memory.broken ? [`${file} cannot be parsed (${memory.problems[0]}), so it must not be changed`] : [];
}

/** Each memory may be changed by one operation only. */
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

function findMissingSuccessors(plan: Plan, directory: Store): string[] {
  const after = new Map(plan.ops.flatMap((op) => [...changesOf(op)]));
  return plan.ops.flatMap((op) => {
    if (op.kind !== "retire" || op.successor === null) return [];
    const text = after.get(op.successor);
    const stays = text === undefined ? hashOf(directory, op.successor) !== null : text !== null;
    return stays ? [] : [`retire ${op.file}: its successor ${op.successor} is removed too`];
  });
}

/** What must not disappear: corrections, pinned memories, and anything without a reason. */
function findLosses(op: Op, directory: Store): string[] {
  const problems = op.reason.trim() === "" ? ["the reason is missing"] : [];
  if (op.kind === "merge" && new Set([...op.files, op.into]).size < 2) problems.push("a merge needs two memories");
  for (const [file, text] of changesOf(op)) {
    const old = op.kind === "create" ? null : findMemory(directory, file);
    if (!old) continue;
    const merged = op.kind === "merge" ? parseMemory(op.into, op.text) : null;
    if (text === null && old.pinned) problems.push(`${file} is pinned and must stay`);
    if (text === null && old.type === "feedback" && !merged)
      problems.push(`${file} is a correction and can only be merged, not retired`);
    const next = merged ?? (text === null ? null : parseMemory(file, text));
    if (!next) continue;
    if (next.type !== old.type) problems.push(`${file} has the type ${old.type}, the new text ${next.type}`);
    const lost = text === null ? [] : Object.keys(old.metadata).filter((key) => !Object.hasOwn(next.metadata, key));
    for (const key of lost) problems.push(`the new text has lost the field ${JSON.stringify(key.slice(0, 40))}`);
    if (old.pinned && !next.pinned) problems.push(`${file} is pinned, so the new text must be pinned too`);
    if (old.type === "feedback" && !keepsRule(old, next))
      problems.push(`the rule of ${file} must stay word for word: ${JSON.stringify(ruleOf(old.body).slice(0, 200))}`);
  }
  return problems;
}

/** The rule of a correction: its text up to the reasons. */
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

async function findTextProblems(op: Op, plan: Plan, directory: Store): Promise<string[]> {
  const problems = findSecrets(op.reason).map(({ rule }) => `the reason contains what looks like a secret (${rule})`);
  if (!("text" in op)) return problems;
  const file = op.kind === "merge" ? op.into : op.file;
  const next = parseMemory(file, op.text);
  for (const problem of next.problems) problems.push(problem);
  if (next.body.trim() === "") problems.push("the new text has no body");
  if (typeof next.metadata.name !== "string") problems.push("the new text has no name");
  for (const { rule, line } of findSecrets(op.text))
    problems.push(`line ${line} contains what looks like a secret (${rule})`);
  const parts = sourcesOf(op, plan, directory);
  // A memory that never had one does not need one: rules do not make one up.
  if (next.description === "" && (parts.length === 0 || parts.some(({ description }) => description !== "")))
    problems.push("the new text has no description");
  problems.push(...findClaims(next, parts));
  const taken = await findTaken(op, next, parts, directory);
  problems.push(...findTrustProblems(op, next, parts, taken), ...(await findDateProblems(next, parts, directory)));
  const namesake = findTakenName(op, next, plan, directory);
  if (namesake) problems.push(`${namesake} already has this type and name: rewrite or merge it`);
  return problems;
}

/** Logs that an op was distilled from. */
function logsOf(op: Op): string[] {
  return op.kind === "create" || op.kind === "rewrite" ? (op.from ?? []).filter(isDailyLog) : [];
}

/** The memories that a new text was made of, and those that go in its favour: what it takes over must not gain trust that way. */
function sourcesOf(op: Op, plan: Plan, directory: Store): Memory[] {
  const into = op.kind === "merge" ? op.into : "file" in op ? op.file : null;
  const retired = plan.ops.flatMap((each) => (each.kind === "retire" && each.successor === into ? [each.file] : []));
  const named = op.kind === "create" ? op.from : namedFiles(op);
  const files = new Set([...named, ...retired].filter((file) => !isDailyLog(file)));
  return [...files].flatMap((file) => findMemory(directory, file) ?? []);
}

/** The trust of memories that are not named and whose words are in the new text all the same: what a tool or a document said. */
async function findTaken(op: Op, next: Memory, parts: readonly Memory[], directory: Store): Promise<Trust[]> {
  const named = new Set([...parts.map(({ file }) => file), ...namedFiles(op)]);
  const others = readUntold(directory, named);
  return others.length === 0 ? [] : findOrigins(wordsIn(next), parts.map(wordsIn).join("\n"), others);
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
    return [`it is based on memories with the source ${allowed}, so it must say "source: ${allowed}"`];
  const was = parts.every((part) => part.type === next.type && trustOf(part.source) === trust);
  if (!mayBecome(next.type, trust) && !(was && parts.length > 0))
    return [`text with the source ${trust} cannot become a ${next.type} memory`];
  return [];
}

/** A project memory must not have any relative date; others ("never on Fridays") must not gain one. */
async function findDateProblems(next: Memory, parts: readonly Memory[], directory: Store): Promise<string[]> {
  const dates = findRelativeDates(`${next.description}\n\n${next.body}`, directory.now());
  const known = next.type === "project" ? "" : plain(parts.map((part) => `${part.description} ${part.body}`).join(" "));
  return dates
    .filter(({ words }) => !known.toLowerCase().includes(words.toLowerCase()))
    .map(({ words }) => `${JSON.stringify(words)} means nothing later: write the date`);
}

/** Another memory of this type and name; one that had the name before may keep it. */
function findTakenName(op: Op, next: Memory, plan: Plan, directory: Store): string | null {
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

function findMemory(directory: Store, file: string): Memory | null {
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
    problems.push("only people can write enforced rules: leave `enforce` as it is, and omit it from a new memory");
  if (enforced.size > (claimed === NONE ? 0 : 1))
    problems.push(
      "enforced rules must stay: a memory can have only one `enforce`, so memories with different ones cannot be merged",
    );
  if (next.pinned && !parts.some(({ pinned }) => pinned)) problems.push("only people can pin a memory: omit `pinned`");
  const known = new Set(parts.flatMap(({ supersedes }) => supersedes));
  if (isUntold(trustOf(next.source)) && next.supersedes.some((name) => !known.has(name)))
    problems.push("text from a tool or a document cannot supersede a memory: omit `supersedes`");
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
