/**
 * Checks whether a plan may be carried out, and carries it out: the files must be unchanged, and nothing may be lost, gain trust
 * or be smuggled in.
 */

import { lstatSync } from "node:fs";
import { join } from "node:path";
import { findNameProblem } from "../disk/fence.ts";
import { attempt, MemdirError } from "../errors.ts";
import {
  arrangeIndex,
  findNamesake,
  findNewDates,
  findObjections,
  findText,
  isConflictCopy,
  isDailyLog,
  leastTrust,
  type Memory,
  oneLine,
  openHeaders,
  parseMemory,
  readMemory,
  type Store,
  sameName,
  scan,
  TRUSTS,
  trustOf,
} from "../store/store.ts";
import { findSecrets } from "../text/secrets.ts";
import { changesOf, describeOp, hashOf, isNewFile, namedFiles, type Op, type Plan, targetOf } from "./dream-plan.ts";
import { findOrigins, isUntold, readUntold, wordsIn } from "./origin.ts";
import { describeObjection, findFileProblem } from "./proposal.ts";

/**
 * All of its files or none, reverted by one undo. The journal entry; null if the plan was empty. Throws `conflict`, with every
 * problem in its details, if the plan no longer fits the directory.
 */
export async function applyPlan(directory: Store, plan: Plan): Promise<string | null> {
  const { ops } = plan;
  if (ops.length === 0) return null;
  refuse(await checkPlan(plan, directory));
  return directory.change(async (writer) => {
    // The check took a while, and other programs may have written in the meantime.
    refuse(findNamedProblems(plan, writer));
    const changes = changesOf(ops);
    const arrange = (index: string | null) => arrangeIndex(index ?? "", openHeaders(writer, changes));
    const isSorted = ops.some(({ kind }) => kind === "reindex");
    const { entry } = await writer.apply({
      action: "dream",
      trust: "inferred",
      reason: `dream: ${ops.map(describeOp).join("; ")}`,
      writes: new Map([...changes].map(([file, text]) => [file, text === null ? null : Buffer.from(text)])),
      plan: isSorted ? ({ index, more }) => ({ pages: { index: arrange(index), more } }) : undefined,
    });
    return entry?.id ?? null;
  });
}

function refuse(problems: readonly string[]): void {
  if (problems.length === 0) return;
  const some = problems.slice(0, 3).join("; ") + (problems.length > 3 ? ` and ${problems.length - 3} more` : "");
  const message = `the dream's plan was not applied: ${some}; nothing was written, so dream again`;
  throw new MemdirError("conflict", message, { details: problems });
}

/** Every problem at once, so that the planner can fix all of them. Never throws because of a plan. */
export async function checkPlan(plan: Plan, directory: Store): Promise<string[]> {
  const named = findNamedProblems(plan, directory);
  // The rest reads the files, so names and hashes must be right first.
  if (named.length > 0) return named;
  const problems = findOverlaps(plan);
  for (const op of plan.ops) {
    const found = [...findLosses(op, plan, directory), ...(await findTextProblems(op, plan, directory))];
    problems.push(...found.map((problem) => `${op.kind} ${targetOf(op) ?? "the index"}: ${problem}`));
  }
  return [...new Set(problems)];
}

/** Names must stay inside the directory, and files must exist unchanged. Checked again with the lock held. */
function findNamedProblems(plan: Plan, directory: Store): string[] {
  const problems = plan.ops.flatMap((op) => namedFiles(op).map((file) => findNamedProblem(file, op, plan, directory)));
  return [...new Set(problems.filter((problem) => problem !== null))];
}

function findNamedProblem(file: string, op: Op, { ops, base }: Plan, directory: Store): string | null {
  const shown = JSON.stringify(file.slice(0, 100));
  const bad = findNameProblem(file);
  if (bad) return `${shown} is refused: ${bad}`;
  const now = hashOf(directory, file);
  if (isSource(op, file)) return now === null ? `${file} does not exist` : null;
  if (isDailyLog(file) || findFileProblem(file) !== null)
    return `${shown} is not a memory: a plan can only change memories`;
  if (!Object.hasOwn(base, file)) {
    if (!ops.some((each) => isNewFile(each, file))) return `${file} does not exist`;
    const taken = lstatSync(join(directory.path, file), { throwIfNoEntry: false });
    return taken ? `${file} already exists: choose another file name, or rewrite it` : null;
  }
  if (now === null) return `${file} was removed or became unreadable since the plan was made`;
  if (now !== base[file]) return `${file} changed since the plan was made`;
  if (isNewFile(op, file)) return `${file} already exists: rewrite it, merge it, or choose another name`;
  const memory = readMemory(directory, file);
  if (isConflictCopy(memory)) return `${file} is one side of a conflict, which a person must resolve`;
  return memory.broken ? `${file} cannot be parsed (${memory.problems[0]}), so it must not be changed` : null;
}

/** A log that an op was distilled from. */
function isSource(op: Op, file: string): boolean {
  return "from" in op && op.from?.includes(file) === true && isDailyLog(file);
}

/** Each memory may be changed by one operation only. */
function findOverlaps(plan: Plan): string[] {
  const files = plan.ops.flatMap((op) => [...changesOf(op).keys()]);
  const keys = files.map((file) => file.normalize("NFC").toLowerCase());
  const twice = files.filter((_, i) => keys.indexOf(keys[i]!) < i);
  return twice.map((file) => `${file} is changed by more than one operation`);
}

/** What must not disappear: successors, corrections, pinned memories, and anything without a reason. */
function findLosses(op: Op, plan: Plan, directory: Store): string[] {
  const problems = op.reason.trim() === "" ? ["the reason is missing"] : [];
  if (op.kind === "merge" && new Set([...op.files, op.into]).size < 2) problems.push("a merge needs two memories");
  const successor = op.kind === "retire" ? op.successor : null;
  if (successor !== null && plan.ops.some((each) => changesOf(each).get(successor) === null))
    problems.push(`its successor ${successor} is removed too`);
  const merged = op.kind === "merge" ? parseMemory(op.into, op.text) : null;
  for (const [file, text] of changesOf(op)) {
    const old = op.kind === "create" ? null : findMemory(directory, file);
    if (!old) continue;
    const next = merged ?? (text === null ? null : parseMemory(file, text));
    if (text === null && old.pinned) problems.push(`${file} is pinned and must stay`);
    if (!next && old.type === "feedback") problems.push(`${file} is a correction and can only be merged, not retired`);
    if (next) problems.push(...findChanged(file, old, next, text === null));
  }
  return problems;
}

/** What a memory must keep; of one that is merged into another, its own fields may go. */
function findChanged(file: string, old: Memory, next: Memory, isMerged: boolean): string[] {
  const lost = isMerged ? [] : Object.keys(old.metadata).filter((key) => !Object.hasOwn(next.metadata, key));
  return [
    ...(next.type === old.type ? [] : [`${file} has the type ${old.type}, the new text ${next.type}`]),
    ...lost.map((key) => `the new text has lost the field ${JSON.stringify(key.slice(0, 40))}`),
    ...(old.pinned && !next.pinned ? [`${file} is pinned, so the new text must be pinned too`] : []),
    ...(old.type === "feedback" && !keepsRule(old, next)
      ? [`the rule of ${file} must stay word for word: ${JSON.stringify(ruleOf(old.body).slice(0, 200))}`]
      : []),
  ];
}

/** The rule of a correction: its text up to the reasons. */
export function ruleOf(body: string): string {
  const end = body.search(/^[ \t]*(?:\*\*)?(?:Why|How to apply)\b/im);
  return oneLine(end > 0 ? body.slice(0, end) : body);
}

export function keepsRule(old: Pick<Memory, "body">, next: Pick<Memory, "body">): boolean {
  return oneLine(next.body).includes(ruleOf(old.body));
}

/** What the store's gate would refuse, and what only matters for a text that nobody has read yet. */
async function findTextProblems(op: Op, plan: Plan, directory: Store): Promise<string[]> {
  const problems = findSecrets(op.reason).map(({ rule }) => `the reason contains what looks like a secret (${rule})`);
  for (const [file, text] of changesOf(op)) {
    const draft = { file, text, before: findText(directory, file) };
    problems.push(...findObjections(draft, { trust: "inferred" }).map(describeObjection));
  }
  if (!("text" in op)) return problems;
  const next = parseMemory(targetOf(op)!, op.text);
  const parts = sourcesOf(op, plan, directory);
  problems.push(...next.problems);
  if (next.body.trim() === "") problems.push("the new text has no body");
  if (typeof next.metadata.name !== "string") problems.push("the new text has no name");
  // A memory that never had one does not need one: rules do not make one up.
  if (next.description === "" && (parts.length === 0 || parts.some(({ description }) => description !== "")))
    problems.push("the new text has no description");
  if (next.pinned && !parts.some(({ pinned }) => pinned)) problems.push("only people can pin a memory: omit `pinned`");
  // The gate lets a block pass that is not enforced because of its source; a person's edit could wake it up.
  if (isEnforced(next) && !parts.some(isEnforced))
    problems.push("only people can write enforced rules: omit `enforce`");
  const known = new Set(parts.flatMap(({ supersedes }) => supersedes));
  if (isUntold(trustOf(next.source)) && next.supersedes.some((name) => !known.has(name)))
    problems.push("text from a tool or a document cannot supersede a memory: omit `supersedes`");
  const namesake = findTakenName(op, next, plan, directory);
  if (namesake) problems.push(`${namesake} already has this type and name: rewrite or merge it`);
  problems.push(...(await findRaisedTrust(op, next, parts, directory)));
  const textOf = ({ description, body }: Memory) => `${description}\n\n${body}`;
  // A project memory must not have any relative date; others ("never on Fridays") must not gain one.
  const before = next.type === "project" ? "" : parts.map(textOf).join("\n");
  const dates = await findNewDates(textOf(next), before, directory.now());
  return [...problems, ...dates.map(({ words }) => `${JSON.stringify(words)} means nothing later: write the date`)];
}

/** At the top level or under `metadata`, as it is read in both places. */
export function isEnforced({ metadata: { enforce, metadata } }: Memory): boolean {
  return (enforce ?? (metadata as { enforce?: unknown } | null | undefined)?.enforce ?? null) !== null;
}

/** The memories that a new text was made of, and those that go in its favour: what it takes over must not gain trust that way. */
function sourcesOf(op: Op, plan: Plan, directory: Store): Memory[] {
  const into = targetOf(op);
  const retired = plan.ops.flatMap((each) => (each.kind === "retire" && each.successor === into ? [each.file] : []));
  const named = op.kind === "create" ? op.from : namedFiles(op);
  const files = new Set([...named, ...retired].filter((file) => !isDailyLog(file)));
  return [...files].flatMap((file) => findMemory(directory, file) ?? []);
}

/** Also counts memories that are not named and whose words are in the new text all the same: what a tool or a document said. */
async function findRaisedTrust(op: Op, next: Memory, parts: readonly Memory[], directory: Store): Promise<string[]> {
  const others = readUntold(directory, new Set([...parts.map(({ file }) => file), ...namedFiles(op)]));
  const taken = others.length === 0 ? [] : await findOrigins(wordsIn(next), parts.map(wordsIn).join("\n"), others);
  // What a log says was concluded by an agent, no matter who said it first.
  const isConcluded = parts.length === 0 || namedFiles(op).some((file) => isSource(op, file));
  const concluded = isConcluded ? (["inferred"] as const) : [];
  const allowed = leastTrust([...parts.map(({ source }) => trustOf(source)), ...concluded, ...taken]);
  if (TRUSTS.indexOf(trustOf(next.source)) <= TRUSTS.indexOf(allowed)) return [];
  return [`it is based on memories with the source ${allowed}, so it must say "source: ${allowed}"`];
}

/** Another memory of this type and name; one that had the name before may keep it. */
function findTakenName(op: Op, next: Memory, plan: Plan, directory: Store): string | null {
  const own = changesOf(op);
  if ([...own.keys()].some((file) => sameName(findMemory(directory, file)?.name ?? "", next.name))) return null;
  const changed = changesOf(plan.ops);
  const others = [
    ...scan(directory).filter(({ file }) => !changed.has(file)),
    ...[...changed].flatMap(([file, text]) => (text === null || own.has(file) ? [] : [parseMemory(file, text)])),
  ];
  return findNamesake(others, next)?.file ?? null;
}

function findMemory(directory: Store, file: string): Memory | null {
  return attempt(() => readMemory(directory, file), null);
}
