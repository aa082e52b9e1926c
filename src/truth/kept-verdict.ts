/** Verdicts as they lie beside the memories: read by recall, which has no time to look at the code. */

import { join } from "node:path";
import { readRegular } from "../disk/regular.ts";
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

export const VERDICTS_FILE = "verdicts.json";
export const VERDICTS_VERSION = 1;
/** Thousands of memories; what is larger is not ours. */
const MAX_BYTES = 8 << 20;
/** By file; empty when there are none. Reads one small file, never throws. */
export function readVerdicts(directoryPath: string): Verdicts {
  try {
    const text = readRegular(join(directoryPath, ".memdir", VERDICTS_FILE), { maxBytes: MAX_BYTES })?.toString("utf8");
    const kept: unknown = text === undefined ? null : JSON.parse(text);
    if (!isRecord(kept) || kept.version !== VERDICTS_VERSION || !isRecord(kept.memories)) return new Map();
    return new Map(Object.entries(kept.memories).filter((pair): pair is [string, KeptVerdict] => isKept(pair[1])));
  } catch {
    return new Map();
  }
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

/** What is shown beside a memory; null is a memory that nobody looked at. */
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
