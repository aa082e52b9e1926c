/** A dream's plan: what would happen to which memories and why, before anything is written, and its text for people. */

import { neutraliseTags } from "../recall/neutral.ts";
import { findBytes, findText, INDEX_FILE, isDailyLog, OVERFLOW_FILE, type Store, walk } from "../store/store.ts";
import { sha256 } from "../text/hash.ts";
import { diffLines } from "../tools/line-diff.ts";

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
  try {
    const data = findBytes(directory, file);
    return data ? sha256(data) : null;
  } catch {
    return null;
  }
}

/** Every memory or log that an op looks at or changes. */
export function namedFiles(op: Op): string[] {
  if (op.kind === "create" || op.kind === "rewrite") return [op.file, ...(op.from ?? [])];
  if (op.kind === "merge") return [...op.files, op.into];
  return op.kind === "retire" ? [op.file, ...(op.successor ? [op.successor] : [])] : [];
}

/** The new text by file, null for a file that is removed. */
export function changesOf(op: Op): Map<string, string | null> {
  if (op.kind === "create" || op.kind === "rewrite") return new Map([[op.file, op.text]]);
  if (op.kind === "retire") return new Map([[op.file, null]]);
  if (op.kind === "reindex") return new Map();
  return new Map([...op.files.map((file): [string, null] => [file, null]), [op.into, op.text]]);
}

/** One line for people and for the journal. */
export function describeOp(op: Op): string {
  if (op.kind === "create") return `create ${op.file}: ${op.reason}`;
  if (op.kind === "merge") return `merge ${op.files.join(", ")} into ${op.into}: ${op.reason}`;
  if (op.kind === "rewrite") return `rewrite ${op.file}: ${op.reason}`;
  if (op.kind === "reindex") return `reindex ${INDEX_FILE}: ${op.reason}`;
  return `retire ${op.file}${op.successor ? ` in favour of ${op.successor}` : ""}: ${op.reason}`;
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
  const ops = isObject(value) ? value.ops : null;
  if (!Array.isArray(ops)) return { problems: ['the plan is not an object with a list "ops"'] };
  if (ops.length > MAX_OPS)
    return { problems: [`the plan has ${ops.length} operations; at most ${MAX_OPS} are allowed`] };
  const filled = ops.map(withoutNulls);
  const problems = filled.flatMap((op, at) =>
    findShapeProblems(op).map((problem) => `operation ${at + 1}: ${problem}`),
  );
  return problems.length > 0 ? { problems } : { ops: (filled as Op[]).map(withDefaults) };
}

/** In an answer by a schema every operation has every field. */
function withoutNulls(op: unknown): unknown {
  return isObject(op) ? Object.fromEntries(Object.entries(op).filter(([, value]) => value !== null)) : op;
}

type Shape = "text" | "texts" | "text or null" | "texts, if any";

const SHAPES: Record<Op["kind"], Record<string, Shape>> = {
  create: { file: "text", text: "text", from: "texts", reason: "text" },
  merge: { files: "texts", into: "text", text: "text", reason: "text" },
  rewrite: { file: "text", text: "text", from: "texts, if any", reason: "text" },
  retire: { file: "text", successor: "text or null", reason: "text" },
  reindex: { reason: "text" },
};

function findShapeProblems(op: unknown): string[] {
  if (!isObject(op)) return ["it is not an object"];
  const kind = String(op.kind);
  if (!Object.hasOwn(SHAPES, kind)) return [`its kind is not one of ${Object.keys(SHAPES).join(", ")}`];
  const shape = SHAPES[kind as Op["kind"]];
  const unknown = Object.keys(op).filter((key) => key !== "kind" && !Object.hasOwn(shape, key));
  const wrong = Object.entries(shape).filter(([key, wanted]) => !fits(op[key], wanted));
  return [
    ...unknown.map((key) => `${kind} has no field ${JSON.stringify(key.slice(0, 40))}`),
    ...wrong.map(([key, wanted]) => `${kind} needs ${key}: ${wanted}`),
  ];
}

function fits(value: unknown, shape: Shape): boolean {
  const isText = (each: unknown) => typeof each === "string" && each.trim() !== "" && each.isWellFormed();
  if (shape === "texts, if any") return value === undefined || (Array.isArray(value) && value.every(isText));
  if (shape === "texts") return Array.isArray(value) && value.length > 0 && value.every(isText);
  return isText(value) || (shape === "text or null" && value === undefined);
}

/** Dead links are found on disk; the model is not asked. */
function withDefaults(op: Op): Op {
  if (op.kind === "reindex") return { ...op, dead: [] };
  return op.kind === "retire" ? { ...op, successor: op.successor ?? null } : op;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether a file of this name can be a memory at all. */
export function isMemoryFile(file: string): boolean {
  const parts = file.split("/");
  return (
    file.endsWith(".md") &&
    parts.at(-1) !== INDEX_FILE &&
    file !== OVERFLOW_FILE &&
    !isDailyLog(file) &&
    parts.every((part) => !part.startsWith("."))
  );
}

/** Reads the files as they are now; the check, not this, refuses one that changed. */
export function formatPlan(plan: Plan, directory: Store): string {
  if (plan.ops.length === 0) return "Nothing to tidy up.\n";
  return plan.ops
    .map((op, at) => `${at + 1}. ${shown(describeOp(op).replace(/\s+/g, " "))}\n${formatOp(op, directory)}`)
    .join("\n");
}

/** "2 merged, 1 retired"; for reports and the ledger. */
export function countOps(plan: Plan): string {
  const counts = Object.entries(WORDS).flatMap(([kind, word]) => {
    const count = plan.ops.filter((op) => op.kind === kind).length;
    if (count === 0) return [];
    return [kind === "reindex" ? word : `${count} ${word}`];
  });
  return counts.join(", ") || "nothing to do";
}

const WORDS: Record<Op["kind"], string> = {
  create: "created",
  merge: "merged",
  rewrite: "rewritten",
  retire: "retired",
  reindex: "index sorted",
};

function formatOp(op: Op, directory: Store): string {
  if (op.kind === "reindex") return op.dead.map((file) => `-the line of ${shown(file)}\n`).join("");
  return [...changesOf(op)].map(([file, text]) => formatFile(file, text, directory)).join("");
}

function formatFile(file: string, text: string | null, directory: Store): string {
  const before = findText(directory, file);
  const head = `--- ${before === null ? "(new)" : shown(file)}\n+++ ${text === null ? "(gone)" : shown(file)}\n`;
  return `${head}${shown(diffLines(before ?? "", text ?? ""))}\n`;
}

/** The text of a memory must not move the cursor or hide a line of the diff. */
function shown(text: string): string {
  return neutraliseTags(text);
}
