/** A dream's plan: what would happen to which memories and why, before anything is written, and its text for people. */

import { findNameProblem } from "../disk/fence.ts";
import { attempt, isObject } from "../errors.ts";
import { type Fields, filled, list, readInput, required, text } from "../input.ts";
import { neutraliseTags } from "../recall/neutral.ts";
import { findBytes, findText, INDEX_FILE, type Store, walk } from "../store/store.ts";
import { sha256 } from "../text/hash.ts";
import { diffLines } from "../tools/write.ts";

/** `text` is always the whole new file. Files are named by their path below the directory. */
export type Op =
  /** `from`: the memories and logs that it was distilled from. */
  | { kind: "create"; file: string; text: string; from: string[]; reason: string }
  /** `into` may be one of `files` or a new file; the others of `files` are removed. */
  | { kind: "merge"; files: string[]; into: string; text: string; reason: string }
  /** `from`: where else something in it comes from. */
  | { kind: "rewrite"; file: string; text: string; from?: string[]; reason: string }
  /** `successor`: the memory that now says it, if there is one. */
  | { kind: "retire"; file: string; successor: string | null; reason: string }
  /** Sorts our own lines, and removes lines that point to `dead` files. */
  | { kind: "reindex"; dead: string[]; reason: string };

export interface Plan {
  ops: Op[];
  /** SHA-256 of every existing memory that the plan names, as the planner saw it. */
  base: Record<string, string>;
}

/** Hashes by file: taken before a planner starts, so that changes in the meantime are noticed. */
export type Snapshot = ReadonlyMap<string, string>;

export function takeSnapshot(directory: Store): Snapshot {
  const hashes = new Map<string, string>();
  for (const file of walk(directory.path, directory.recursive).files) {
    const hash = hashOf(directory, file);
    if (hash !== null) hashes.set(file, hash);
  }
  return hashes;
}

export function makePlan(ops: Op[], snapshot: Snapshot): Plan {
  const named = new Set(ops.flatMap(namedFiles));
  return { ops, base: Object.fromEntries([...snapshot].filter(([file]) => named.has(file))) };
}

/** Null if the file does not exist or cannot be read: nothing can be planned for it. */
export function hashOf(directory: Store, file: string): string | null {
  const data = attempt(() => findBytes(directory, file), null);
  return data && sha256(data);
}

/** The file that an op writes or removes for good; null for the index. */
export function targetOf(op: Op): string | null {
  return op.kind === "reindex" ? null : op.kind === "merge" ? op.into : op.file;
}

/** Every memory or log that an op looks at or changes. */
export function namedFiles(op: Op): string[] {
  if (op.kind === "merge") return [...op.files, op.into];
  const others = op.kind === "retire" ? [op.successor] : "from" in op ? op.from : [];
  return [targetOf(op), ...(others ?? [])].filter((file) => file !== null);
}

/** Whether an op creates the file. */
export function isNewFile(op: Op, file: string): boolean {
  return targetOf(op) === file && (op.kind === "create" || (op.kind === "merge" && !op.files.includes(file)));
}

/** The new text by file, null for a file that is removed. */
export function changesOf(ops: Op | readonly Op[]): Map<string, string | null> {
  const changes = new Map<string, string | null>();
  for (const op of [ops].flat()) {
    const gone = op.kind === "merge" ? op.files : op.kind === "retire" ? [op.file] : [];
    for (const file of gone) changes.set(file, null);
    if ("text" in op) changes.set(targetOf(op)!, op.text);
  }
  return changes;
}

/** One line for people and for the journal. */
export function describeOp(op: Op): string {
  const target = targetOf(op) ?? INDEX_FILE;
  const what = op.kind === "merge" ? `${op.files.join(", ")} into ${target}` : target;
  const successor = op.kind === "retire" && op.successor ? ` in favour of ${op.successor}` : "";
  return `${op.kind} ${what}${successor}: ${op.reason}`;
}

/** More than this at once is no longer tidying up, and the diff is too long to read. */
const MAX_OPS = 200;

/** Reads a model's plan, `{"ops": [...]}`, strictly: an unknown word is a problem, and nothing is guessed. */
export function parseOps(text: string): { ops: Op[] } | { problems: string[] } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { problems: [`the plan is not valid JSON: ${(error as Error).message}`] };
  }
  const given = isObject(value) ? value.ops : null;
  if (!Array.isArray(given)) return { problems: ['the plan is not an object with a list "ops"'] };
  if (given.length > MAX_OPS)
    return { problems: [`the plan has ${given.length} operations; at most ${MAX_OPS} are allowed`] };
  const [ops, problems]: [Op[], string[]] = [[], []];
  for (const [at, op] of given.entries()) {
    try {
      ops.push(readOp(op));
    } catch (error) {
      problems.push(`operation ${at + 1}: ${(error as Error).message}`);
    }
  }
  return problems.length > 0 ? { problems } : { ops };
}

const NEEDED = required(filled(text()));
const LIST = required(list());

const FIELDS: Record<Op["kind"], Fields> = {
  create: { file: NEEDED, text: NEEDED, from: LIST, reason: NEEDED },
  merge: { files: LIST, into: NEEDED, text: NEEDED, reason: NEEDED },
  rewrite: { file: NEEDED, text: NEEDED, from: list(), reason: NEEDED },
  retire: { file: NEEDED, successor: text(), reason: NEEDED },
  reindex: { reason: NEEDED },
};

/** Throws with all that is wrong with it. A field that is null is as good as left out: in an answer by a schema all are there. */
function readOp(given: unknown): Op {
  if (!isObject(given)) throw new Error("it is not an object");
  const { kind, ...fields } = given;
  if (!Object.hasOwn(FIELDS, String(kind))) throw new Error(`its kind is not one of ${Object.keys(FIELDS).join(", ")}`);
  const set = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
  const op = { kind, ...readInput(FIELDS[kind as Op["kind"]], set, (name) => `${kind}: "${name}"`) } as Op;
  // Dead links are found on disk; the model is not asked.
  if (op.kind === "reindex") return { ...op, dead: [] };
  return op.kind === "retire" ? { ...op, successor: op.successor || null } : op;
}

/** A plan as it was kept, in a file that anybody may have changed: null if a step is none, or names what is elsewhere. */
export function readKeptPlan(value: unknown): Plan | null {
  if (!isObject(value) || !Array.isArray(value.ops) || !isObject(value.base)) return null;
  const ops = attempt(() => (value.ops as unknown[]).map(readKeptOp), null);
  const isInside = ops?.flatMap(namedFiles).every((file) => findNameProblem(file) === null);
  return ops && isInside ? { ops, base: value.base as Plan["base"] } : null;
}

function readKeptOp(given: unknown): Op {
  if (!isObject(given) || given.kind !== "reindex") return readOp(given);
  const { dead, ...op } = given;
  return { ...readOp(op), ...readInput({ dead: LIST }, { dead }) } as Op;
}

/** Reads the files as they are now; the check, not this, refuses one that changed. No memory may move the cursor or hide a line. */
export function formatPlan(plan: Plan, directory: Store): string {
  if (plan.ops.length === 0) return "Nothing to tidy up.\n";
  const steps = plan.ops.map((op, at) => {
    const dead = op.kind === "reindex" ? op.dead.map((file) => `-the line of ${file}\n`) : [];
    const diffs = [...changesOf(op)].map(([file, text]) => {
      const before = findText(directory, file);
      const head = `--- ${before === null ? "(new)" : file}\n+++ ${text === null ? "(gone)" : file}\n`;
      return `${head}${diffLines(before ?? "", text ?? "")}\n`;
    });
    return `${at + 1}. ${describeOp(op).replace(/\s+/g, " ")}\n${[...dead, ...diffs].join("")}`;
  });
  return neutraliseTags(steps.join("\n"));
}

/** "2 merged, 1 retired"; for reports and the ledger. */
export function countOps(plan: Plan): string {
  const counts = Object.entries(WORDS).flatMap(([kind, word]) => {
    const count = plan.ops.filter((op) => op.kind === kind).length;
    return count === 0 ? [] : [kind === "reindex" ? word : `${count} ${word}`];
  });
  return counts.join(", ") || "nothing to do";
}

const WORDS: Record<Op["kind"], string> = {
  ...{ create: "created", merge: "merged", rewrite: "rewritten", retire: "retired" },
  reindex: "index sorted",
};
