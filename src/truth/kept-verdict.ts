/** Verdicts as they are kept beside the memories: read by recall, which has no time to check the code. */

import { openState, type StateRecord } from "../store/store.ts";
import { localDay } from "../text/local-day.ts";
import type { MemoryVerdict } from "./examination.ts";

export interface KeptVerdict {
  verdict: MemoryVerdict;
  /** When it was looked up, ISO. */
  at: string;
  /** The commit it was looked up at; "" outside git. */
  head: string;
  /** "names src/auth.ts, moved to src/session/auth.ts"; "" when nothing is wrong. */
  says: string;
  /** The file as it was then: another size or time, and the verdict is of another text. */
  bytes: number;
  mtimeMs: number;
}

export type Verdicts = ReadonlyMap<string, KeptVerdict>;

const VERSION = 1;
/** Thousands of memories; what is larger is not ours. */
const MAX_BYTES = 8 << 20;

/** By file; empty when there are none. Reads one small file, never throws. */
export function readVerdicts(directoryPath: string): Verdicts {
  return new Map(Object.entries(verdictsIn(directoryPath).read()?.memories ?? {}));
}

/** Replaces all of them. */
export function writeVerdicts(directoryPath: string, verdicts: Verdicts): void {
  verdictsIn(directoryPath).write({ version: VERSION, memories: Object.fromEntries(verdicts) });
}

interface VerdictsFile {
  version: number;
  memories: Record<string, KeptVerdict>;
}

function verdictsIn(directoryPath: string): StateRecord<VerdictsFile> {
  return openState(directoryPath).record("verdicts", parse, { maxBytes: MAX_BYTES });
}

function parse(value: unknown): VerdictsFile | null {
  if (!isRecord(value) || value.version !== VERSION || !isRecord(value.memories)) return null;
  const known = Object.entries(value.memories).filter((pair): pair is [string, KeptVerdict] => isKept(pair[1]));
  return { version: VERSION, memories: Object.fromEntries(known) };
}

/** The verdict on the file as it is now, or null when it has changed since, or was never looked at. */
export function findVerdict(
  verdicts: Verdicts,
  file: string,
  stat: { bytes: number; mtimeMs: number },
): KeptVerdict | null {
  const kept = verdicts.get(file);
  return kept && kept.bytes === stat.bytes && Math.abs(kept.mtimeMs - stat.mtimeMs) < 2 ? kept : null;
}

/** What is shown beside a memory; null for a memory that was never checked. */
export function formatVerdict(kept: KeptVerdict | null, now: Date): string {
  if (kept === null || kept.verdict === "unchecked") return "unchecked";
  const day = localDay(new Date(kept.at));
  const when = day === localDay(now) ? "today" : `on ${day}`;
  return kept.verdict === "holds" ? `verified ${when}` : `${kept.says} (looked up ${when})`;
}

function isKept(value: unknown): value is KeptVerdict {
  if (!isRecord(value)) return false;
  const { verdict, at, says, bytes, mtimeMs } = value;
  const isVerdict = verdict === "holds" || verdict === "doubtful" || verdict === "unchecked";
  return (
    isVerdict &&
    typeof at === "string" &&
    !Number.isNaN(Date.parse(at)) &&
    typeof says === "string" &&
    typeof bytes === "number" &&
    typeof mtimeMs === "number"
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
