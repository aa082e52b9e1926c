/**
 * What a dream can do without a model: merge duplicates, retire what a named memory supersedes, whose deadline has passed or
 * all of whose names are gone, remove dead links, sort the index. Every step rests on evidence; a date alone is none.
 */

import { statSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../errors.ts";
import {
  arrangeIndex,
  findDeadLines,
  formatSource,
  indexPath,
  isConflictCopy,
  leastTrust,
  type Memory,
  mayBecome,
  openHeaders,
  parseMemory,
  peekIndex,
  readBytes,
  type Source,
  type Store,
  stemOf,
  trustOf,
} from "../store/store.ts";
import { editBody, editFields, type MetadataValue } from "../text/frontmatter.ts";
import { isAlike, plain, type Weighed, weigh } from "../text/likeness.ts";
import { findRelativeDates } from "../text/relative-dates.ts";
import { termsOf } from "../text/terms.ts";
import { compareWorth, findExpiry } from "../truth/health-findings.ts";
import { findVerdict, readVerdicts, type Verdicts } from "../truth/verdicts.ts";
import { isEnforced, keepsRule, ruleOf } from "./dream-check.ts";
import { makePlan, type Op, type Plan, takeSnapshot } from "./dream-plan.ts";

/** A memory with what it is compared by. */
interface Known {
  memory: Memory;
  text: string;
  weight: Weighed;
}

/** Prefers to keep two memories apart rather than merge different ones. */
export async function dreamOffline(directory: Store): Promise<Plan> {
  const snapshot = takeSnapshot(directory);
  const known = [...snapshot.keys()].flatMap((file) => understand(directory, file));
  const expired = findOutlived(directory, known);
  const gone = new Set(expired.flatMap((op) => (op.kind === "retire" ? [op.file] : [])));
  const merges = await findDuplicates(
    known.filter(({ memory }) => !gone.has(memory.file)),
    directory.now(),
  );
  return makePlan([...expired, ...merges, ...findIndexWork(directory)], snapshot);
}

/** Only memories without problems; the others, and what is gone or unreadable since the directory was listed, are left alone. */
function understand(directory: Store, file: string): Known[] {
  return attempt(() => {
    const bytes = readBytes(directory, file);
    const memory = parseMemory(file, bytes);
    if (memory.problems.length > 0 || isConflictCopy(memory)) return [];
    return [{ memory, text: bytes.toString("utf8"), weight: weigh(memory, termsOf) }];
  }, []);
}

/** Corrections, pinned memories and enforced rules are for people to retire. */
function findOutlived(directory: Store, known: readonly Known[]): Op[] {
  const verdicts = readVerdicts(directory.path);
  const successors = new Map(
    known.flatMap(({ memory }) => memory.supersedes.map((name) => [stemOf(name).toLowerCase(), memory] as const)),
  );
  return known.flatMap(({ memory }): Op[] => {
    const { file, name, type, pinned } = memory;
    if (pinned || type === "feedback" || type === "user" || isEnforced(memory)) return [];
    const successor = successors.get(stemOf(file).toLowerCase()) ?? successors.get(name.toLowerCase());
    if (successor && successor.file !== file)
      return [{ kind: "retire", file, successor: successor.file, reason: `superseded by ${successor.file}` }];
    const reason = findExpiry(memory, directory.now()) ?? findEmptied(directory, verdicts, file);
    return reason === null ? [] : [{ kind: "retire", file, successor: null, reason }];
  });
}

/** One name may have been a detail. */
const MIN_GONE = 2;

/** By the last `memdir verify` of this text. */
function findEmptied({ path }: Store, verdicts: Verdicts, file: string): string | null {
  const stat = statSync(join(path, file), { throwIfNoEntry: false });
  const kept = stat ? findVerdict(verdicts, file, { bytes: stat.size, mtimeMs: stat.mtimeMs }) : null;
  if (!kept || kept.gone < MIN_GONE || kept.exist > 0) return null;
  return `all ${kept.gone} things it names were removed after it was written`;
}

async function findDuplicates(known: readonly Known[], now: Date): Promise<Op[]> {
  const ops: Op[] = [];
  const left = new Set([...known].sort(byWorth));
  for (const first of left) {
    left.delete(first);
    const others = [...left].filter((other) => canJoin(first, other) && isAlike(first.weight, other.weight));
    if (others.length === 0) continue;
    const op = mergeInto(first, others, now);
    // A relative date cannot be made absolute without knowing when it was said.
    if (first.memory.type === "project" && findRelativeDates(op.text, now).length > 0) continue;
    for (const other of others) left.delete(other);
    ops.push(op);
  }
  return ops.sort((a, b) => (a.kind === "merge" && b.kind === "merge" && a.into < b.into ? -1 : 1));
}

function byWorth({ memory: a }: Known, { memory: b }: Known): number {
  const [timeA, timeB] = [a.modified ?? a.created ?? "", b.modified ?? b.created ?? ""];
  return compareWorth(a, b, timeA === timeB ? 0 : timeA < timeB ? 1 : -1);
}

/** Text from a document must not be mixed into what the user is or wants; what is pinned and enforced rules stay where they are. */
function canJoin(a: Known, b: Known): boolean {
  if (a.memory.type !== b.memory.type || b.memory.pinned || isEnforced(b.memory)) return false;
  const [one, two] = [trustOf(a.memory.source), trustOf(b.memory.source)];
  return one === two || mayBecome(a.memory.type, leastTrust([one, two]));
}

function mergeInto(first: Known, others: readonly Known[], now: Date): Op & { kind: "merge" } {
  const all = [first, ...others].map(({ memory }) => memory);
  const trust = leastTrust(all.map((memory) => trustOf(memory.source)));
  const source: Source | null = all.find((memory) => trustOf(memory.source) === trust)?.source ?? null;
  const fields: Record<string, MetadataValue> = {};
  for (const key of ["when", "links", "supersedes"] as const) {
    const values = [...new Set(all.flatMap((memory) => memory[key]))];
    if (values.length > first.memory[key].length) fields[key] = values;
  }
  if (trust !== trustOf(first.memory.source) && source) fields.source = formatSource(source);
  const body = others.reduce((text, { memory }) => addWhatIsNew(text, memory), first.memory.body.trim());
  const names = others.map(({ memory }) => memory.file).join(", ");
  const said = ({ description, body }: Memory) => plain(`${description}\n${body}`);
  const isExact = others.every(({ memory }) => said(memory) === said(first.memory));
  return {
    kind: "merge",
    files: all.map(({ file }) => file),
    into: first.memory.file,
    text: editFields(editBody(first.text, body), { ...fields, modified: now.toISOString() }),
    reason: `${names} ${others.length === 1 ? "says" : "say"} ${isExact ? "exactly" : "nearly"} the same`,
  };
}

/** Paragraphs that hold a word the text does not have are kept, and the rule of a correction is kept as it was said. */
function addWhatIsNew(body: string, memory: Memory): string {
  if (memory.type === "feedback" && !keepsRule(memory, { body })) return `${body}\n\n${memory.body.trim()}`;
  const terms = new Set(termsOf(body));
  const fresh = memory.body
    .trim()
    .split(/\r?\n\s*\n/)
    .filter((paragraph) => termsOf(paragraph).some((term) => !terms.has(term)))
    .filter((paragraph) => memory.type !== "feedback" || ruleOf(body) !== plain(paragraph));
  return [body, ...fresh].join("\n\n");
}

function findIndexWork(directory: Store): Op[] {
  const index = peekIndex(indexPath(directory));
  const dead = findDeadLines(directory);
  const arranged = arrangeIndex(index, openHeaders(directory));
  if (arranged === index) return [];
  const some = dead.slice(0, 3).join(", ") + (dead.length > 3 ? ` and ${dead.length - 3} more` : "");
  const reason =
    dead.length > 0 ? `removes lines that point to nothing (${some}) and puts corrections first` : "corrections first";
  return [{ kind: "reindex", dead, reason }];
}
