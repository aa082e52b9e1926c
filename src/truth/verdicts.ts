/** Verdicts stored next to the memories, so that recall can show them without checking the code. */

import { statSync } from "node:fs";
import { join } from "node:path";
import { openState, type StateRecord, type Store } from "../store/store.ts";
import { localDay } from "../text/local-day.ts";
import { isShown } from "./claim.ts";
import type { Examination, MemoryVerdict, Weighed } from "./examination.ts";

interface KeptVerdict {
  verdict: MemoryVerdict;
  /** When it was checked, ISO. */
  at: string;
  /** The commit it was checked at; "" outside git. */
  head: string;
  /** "names src/auth.ts, moved to src/session/auth.ts"; "" when nothing is wrong. */
  says: string;
  /** How many things it names that exist, and how many went after it was written. */
  exist: number;
  gone: number;
  /** The file's stamp at that time: with another size or time, the verdict is for another text. */
  bytes: number;
  mtimeMs: number;
}

export type Verdicts = ReadonlyMap<string, KeptVerdict>;

const VERSION = 2;
/** Enough for thousands of memories; we never write a larger file. */
const MAX_BYTES = 8 << 20;

/** By file; empty when there are none. Reads one small file, never throws. */
export function readVerdicts(directoryPath: string): Verdicts {
  return new Map(Object.entries(verdictsIn(directoryPath).read()?.memories ?? {}));
}

interface VerdictsFile {
  version: number;
  memories: Record<string, KeptVerdict>;
}

function verdictsIn(directoryPath: string): StateRecord<VerdictsFile> {
  return openState(directoryPath).record("verdicts", parse, { maxBytes: MAX_BYTES });
}

function parse(value: unknown): VerdictsFile | null {
  const { version, memories } = value as VerdictsFile;
  if (version !== VERSION) return null;
  return { version, memories: Object.fromEntries(Object.entries(memories).filter(([, kept]) => isKept(kept))) };
}

/** The verdict on the current file, or null if it has changed since or was never checked. */
export function findVerdict(verdicts: Verdicts, file: string, stat: Pick<KeptVerdict, "bytes" | "mtimeMs">) {
  const kept = verdicts.get(file);
  return kept && kept.bytes === stat.bytes && Math.abs(kept.mtimeMs - stat.mtimeMs) < 2 ? kept : null;
}

/** What is shown next to a memory, "" for nothing. That names exist does not make a memory true, and nothing says so. */
export function formatVerdict(kept: KeptVerdict | null): string {
  if (kept === null || kept.verdict === "unchecked") return "";
  const checked = `(checked ${localDay(new Date(kept.at))})`;
  if (kept.verdict === "doubtful") return `${kept.says} ${checked}`;
  return kept.exist === 1
    ? `the one thing it names still exists ${checked}`
    : `the ${kept.exist} things it names still exist ${checked}`;
}

const VERDICTS: ReadonlySet<unknown> = new Set<MemoryVerdict>(["holds", "doubtful", "unchecked"]);

function isKept(value: unknown): boolean {
  const { verdict, at, says, bytes, mtimeMs, exist, gone } = (value ?? {}) as Record<string, unknown>;
  const isDated = typeof at === "string" && !Number.isNaN(Date.parse(at));
  const isCounted = [bytes, mtimeMs, exist, gone].every((each) => typeof each === "number");
  return VERDICTS.has(verdict) && isDated && typeof says === "string" && isCounted;
}

/** A line next to a memory, not a report. */
const MAX_NAMED = 3;
const MAX_SAYS = 300;

/** One sentence of what is wrong. */
function describeProblems(findings: readonly Weighed[]): string {
  const wrong = findings.filter(isShown);
  const named = wrong.slice(0, MAX_NAMED).map(({ claim, verdict, to, evidence }) => {
    if (claim.kind === "date") return `says ${claim.text}, which has passed`;
    if (verdict === "moved" && to !== undefined) return `names ${claim.text}, moved to ${to}`;
    if (verdict === "built") return `plans ${claim.text}, which exists`;
    return `names ${claim.text}, ${verdict === "changed" ? evidence : "which is gone"}`;
  });
  if (wrong.length > named.length) named.push(`and ${wrong.length - named.length} more`);
  return named.join("; ").replace(/\s+/g, " ").slice(0, MAX_SAYS).toWellFormed();
}

type VerdictNews = Pick<Examination["memories"][0], "file" | "verdict" | "findings">;

/**
 * `isAll`: the run covered every memory, so verdicts on others are dropped. An error is only logged, because this is a
 * cache.
 */
export async function keepVerdicts(directory: Store, head: string, news: readonly VerdictNews[], isAll: boolean) {
  if (directory.readOnly || news.length === 0) return;
  const at = directory.now().toISOString();
  try {
    await directory.change(() => {
      const kept = new Map<string, KeptVerdict>(isAll ? [] : readVerdicts(directory.path));
      for (const { file, verdict, findings } of news) {
        const stat = statSync(join(directory.path, file), { throwIfNoEntry: false });
        if (!stat) continue;
        const things = findings.filter(({ claim }) => claim.kind !== "date" && claim.kind !== "url");
        const exist = things.filter((each) => each.verdict === "holds").length;
        const gone = things.filter((each) => each.verdict === "gone" && isShown(each)).length;
        const says = describeProblems(findings);
        kept.set(file, { verdict, at, head, says, exist, gone, bytes: stat.size, mtimeMs: stat.mtimeMs });
      }
      verdictsIn(directory.path).write({ version: VERSION, memories: Object.fromEntries(kept) });
    });
  } catch (error) {
    directory.log(`the verdicts could not be saved: ${(error as Error).message}`);
  }
}
