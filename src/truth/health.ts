/** The health of a directory: what is wrong with its memories, a score, and what to do. */

import { join } from "node:path";
import { statOrNull } from "../disk/fence.ts";
import { removedKeys } from "../memory/references.ts";
import {
  indexPath,
  openListing,
  parseMemory,
  peekIndex,
  type Row,
  readBytes,
  readOverflow,
  type Store,
  unreadable,
} from "../store/store.ts";
import { findSecrets } from "../text/secrets.ts";
import {
  findProblems,
  HEALTH_KINDS,
  type HealthFinding,
  type HealthInput,
  type HealthKind,
  type HealthMemory,
  WEIGHTS,
} from "./health-findings.ts";
import { findVerdict, readVerdicts } from "./verdicts.ts";

export type MeasuredDirectory = Awaited<ReturnType<typeof measureDirectory>>;
export type Measured = MeasuredDirectory["health"];

/** Includes the data it was measured from, for callers that act on it. */
export async function measureDirectory(
  directory: Store,
  known: Pick<HealthInput, "termsOf" | "instructions" | "surfaced">,
  tell: (done: number, total: number) => void = () => {},
) {
  const gathered = await gatherHealth(directory, tell);
  const measured = measureHealth({ ...gathered, ...known, verdicts: readKnownVerdicts(directory) });
  return { health: { scope: directory.scope, dir: directory.path, ...measured }, memories: gathered.memories };
}

/** The last results of `memdir verify` that still apply to the current files. */
function readKnownVerdicts(directory: Store): ReadonlyMap<string, string> {
  const verdicts = readVerdicts(directory.path);
  const known = new Map<string, string>();
  for (const file of verdicts.keys()) {
    const stat = statOrNull(join(directory.path, file));
    const kept = stat ? findVerdict(verdicts, file, { bytes: stat.size, mtimeMs: stat.mtimeMs }) : null;
    if (kept?.verdict === "doubtful") known.set(file, kept.says);
  }
  return known;
}

type Health = ReturnType<typeof measureHealth>;
type Counts = Record<HealthKind, number>;

export function measureHealth(input: HealthInput) {
  const found = findProblems(input);
  const countOf = (kind: HealthKind) => found.filter((each) => each.kind === kind).length;
  const counts = Object.fromEntries(HEALTH_KINDS.map((kind) => [kind, countOf(kind)])) as Counts;
  const rankOf = ({ kind }: HealthFinding) => HEALTH_KINDS.indexOf(kind);
  const findings = found.sort((a, b) => rankOf(a) - rankOf(b) || (a.file < b.file ? -1 : a.file > b.file ? 1 : 0));
  return {
    /** 100: nothing to fix. */
    score: scoreHealth(findings, input.memories.length),
    memories: input.memories.length,
    counts,
    /** How many points of the 100 each kind costs: the score is what is left, rounded down. */
    points: pointsOf(findings, input.memories.length),
    findings,
    /** At most three, the most useful first. */
    first: chooseFirst(findings, counts, input.memories),
  };
}

/** A larger file is data: it is oversized, and nothing else is checked. */
const MAX_READ_BYTES = 1 << 20;
/** Updating the progress bar more often costs too much. */
const STEP = 200;

export async function gatherHealth(directory: Store, tell: (done: number, total: number) => void = () => {}) {
  const { rows } = await directory.rows();
  const memories: HealthMemory[] = [];
  for (const row of rows) {
    if (memories.length % STEP === 0) tell(memories.length, rows.length);
    memories.push(readOne(directory, row));
  }
  const index = peekIndex(indexPath(directory));
  const isListed = openListing(index, readOverflow(directory));
  const linked = new Set(rows.filter(isListed).map(({ file }) => file.normalize("NFC")));
  const now = directory.now();
  return { memories, linked: index.trim() === "" ? null : linked, removed: removedKeys(directory), now };
}

function readOne(directory: Store, row: Row): HealthMemory {
  const modifiedMs = Date.parse(row.modified);
  try {
    if (row.unreadable) throw new Error(row.problems[0]);
    const bytes = readBytes(directory, row.file);
    const secrets = findSecrets(bytes.subarray(0, MAX_READ_BYTES).toString("utf8"));
    return { modifiedMs, memory: parseMemory(row.file, bytes), secrets };
  } catch (error) {
    // Gone or locked since it was listed.
    const problems = row.problems.length > 0 ? row.problems : [(error as Error).message];
    return { modifiedMs, memory: { ...unreadable(row.file, ""), problems, body: "", metadata: {} }, secrets: [] };
  }
}

/** One secret among a thousand memories is not 0.1 % of a problem. */
const MOST_WITH_SECRET = 60;

/** A memory with several problems counts as the worst of them. */
export function pointsOf(findings: readonly HealthFinding[], memories: number): Partial<Record<HealthKind, number>> {
  const worst = new Map<string, HealthKind>();
  for (const { kind, file } of findings) {
    const known = worst.get(file);
    if (known === undefined || WEIGHTS[kind] > WEIGHTS[known]) worst.set(file, kind);
  }
  const points: Partial<Record<HealthKind, number>> = {};
  for (const kind of worst.values()) points[kind] = (points[kind] ?? 0) + (100 * WEIGHTS[kind]) / Math.max(1, memories);
  return points;
}

export function scoreHealth(findings: readonly HealthFinding[], memories: number): number {
  if (memories === 0) return 100;
  const lost = Object.values(pointsOf(findings, memories)).reduce((sum, points) => sum + points, 0);
  // Rounded down: 100 means that nothing is wrong.
  const score = Math.max(0, Math.floor(100 - lost));
  const isWhole = findings.length === 0;
  const most = findings.some(({ kind }) => kind === "secret") ? MOST_WITH_SECRET : isWhole ? 100 : 99;
  return Math.min(score, most);
}

/** What each kind costs in whole points, so that they add up to what the score lacks; a secret bears what its limit takes besides. */
export function wholePoints({ score, points }: Pick<Health, "score" | "points">): Partial<Record<HealthKind, number>> {
  const whole: Partial<Record<HealthKind, number>> = {};
  const kinds = HEALTH_KINDS.filter((kind) => points[kind] !== undefined);
  let rest = 100 - score;
  for (const kind of kinds) {
    whole[kind] = Math.floor(points[kind] as number);
    rest -= whole[kind];
  }
  const lost = (kind: HealthKind) => (points[kind] as number) % 1;
  for (const kind of kinds.toSorted((a, b) => lost(b) - lost(a))) {
    if (rest <= 0) break;
    whole[kind] = (whole[kind] as number) + 1;
    rest--;
  }
  if (rest > 0 && whole.secret !== undefined) whole.secret += rest;
  return whole;
}

const MAX_FIRST = 3;

/** Each with what to do, for a person, and a command that does it, or starts it. */
function chooseFirst(findings: HealthFinding[], counts: Counts, memories: HealthInput["memories"]) {
  const prunable = new Set(suggestPrune({ findings }, memories).map(({ file }) => file));
  // Squared: ten misleading memories come before a hundred that are only found less often.
  const gainOf = (kind: HealthKind) => (kind === "secret" ? Infinity : WEIGHTS[kind] ** 2 * counts[kind]);
  const kinds = HEALTH_KINDS.filter((kind) => counts[kind] > 0).sort((a, b) => gainOf(b) - gainOf(a));
  return kinds.slice(0, MAX_FIRST).map((kind) => {
    const own = findings.filter((each) => each.kind === kind);
    const canPrune = own.some(({ file }) => prunable.has(file));
    return { kind, count: counts[kind], ...adviceFor(kind, counts[kind], own[0]?.file ?? "", canPrune) };
  });
}

export function adviceFor(kind: HealthKind, count: number, file: string, canPrune = false) {
  const memories = count === 1 ? "1 memory" : `${count} memories`;
  const verb = (one: string, many: string) => `${memories} ${count === 1 ? one : many}`;
  const edit = `memdir edit ${quote(file)}`;
  // Corrections and pinned memories are never pruned: only the user can say that one may go.
  const prune = canPrune ? "memdir prune --suggest" : `memdir forget ${quote(file)}`;
  const advice: Record<HealthKind, [text: string, command: string]> = {
    secret: [`remove the secret from ${memories} and rotate it, because it was exposed`, edit],
    unreadable: [`fix ${memories} that cannot be parsed`, "memdir lint"],
    false: [
      `${verb("is", "are")} out of date: what ${count === 1 ? "it names" : "they name"} has changed`,
      "memdir verify",
    ],
    duplicate: [`${verb("duplicates", "duplicate")} another one`, "memdir dream --plan"],
    expired: [`${verb("is", "are")} about a date in the past`, prune],
    "near-duplicate": [`${verb("nearly duplicates", "nearly duplicate")} another one`, "memdir dream --plan"],
    restated: [`${verb("repeats", "repeat")} your instruction files`, prune],
    oversized: [`split ${memories}: a memory with one fact is easier to find`, edit],
    unlinked: [`${verb("is", "are")} not in the index`, "memdir index --rebuild"],
    "dead-link": [`${verb("refers", "refer")} to a missing memory`, edit],
    "never-recalled": [
      `${verb("was", "were")} never recalled: add cues, or forget ${count === 1 ? "it" : "them"}`,
      "memdir enrich",
    ],
  };
  const [text, command] = advice[kind];
  return { text, command };
}

function quote(file: string): string {
  return /^[\w./-]+$/.test(file) ? file : `'${file.replaceAll("'", "'\\''")}'`;
}

export interface Suggestion {
  file: string;
  reason: string;
  /** A correction: only the user may forget it. */
  byHand: boolean;
  /** The memories that still say it and must stay. */
  instead: string[];
}

/**
 * The surest reason first. What is merely large, unlinked or without cues can be fixed; what holds a secret must be; a
 * near-duplicate may have words of its own, which a dream keeps.
 */
const REASONS: readonly (readonly [kind: HealthKind, reason: (finding: HealthFinding) => string])[] = [
  ["duplicate", ({ detail }) => detail],
  ["expired", ({ detail }) => detail],
  ["restated", ({ detail }) => detail],
  ["never-recalled", ({ detail }) => `never recalled: ${detail}`],
];

/** Pinned memories are excluded, and of two that duplicate each other at least one stays. */
export function suggestPrune(
  health: { findings: readonly HealthFinding[] },
  memories: HealthInput["memories"],
): Suggestion[] {
  const known = new Map(memories.map(({ memory }) => [memory.file, memory]));
  const kept = new Set<string>();
  const found = new Map<string, Suggestion>();
  for (const [kind, reasonOf] of REASONS) {
    for (const finding of health.findings) {
      const { file, others } = finding;
      if (finding.kind !== kind || found.has(file) || kept.has(file)) continue;
      const memory = known.get(file);
      if (!memory || memory.pinned || memory.problems.length > 0) continue;
      // A correction that an instruction file holds is not lost; for any other reason it stays unmentioned.
      const byHand = memory.type === "feedback";
      if ((byHand && kind !== "restated") || others.some((other) => found.has(other))) continue;
      for (const other of others) kept.add(other);
      found.set(file, { file, reason: reasonOf(finding), byHand, instead: others });
    }
  }
  return [...found.values()].sort((a, b) => (a.file < b.file ? -1 : 1));
}
