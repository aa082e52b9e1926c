/** What checking their claims against the code has found of a directory's memories, for the lines above them. */

import { ageInDays } from "../store/store.ts";
import { findVerdict, formatVerdict, readVerdicts } from "../truth/kept-verdict.ts";

export interface Checked {
  verdict: "holds" | "doubtful" | "unchecked";
  /** Whole days since it was looked up; 0 for what was not. */
  days: number;
  /** "verified today", "unchecked", or what is wrong. */
  text: string;
}

export type FindChecked = (file: string, stat: { bytes: number; mtimeMs: number }) => Checked | null;

/** Finds nothing where nobody checks: then the age alone has to do. Reads one file, when it is first asked. */
export function openChecked(directoryPath: string, now: Date): FindChecked {
  let verdicts: ReturnType<typeof readVerdicts> | null = null;
  return (file, stat) => {
    verdicts ??= readVerdicts(directoryPath);
    if (verdicts.size === 0) return null;
    const kept = findVerdict(verdicts, file, stat);
    return {
      verdict: kept?.verdict ?? "unchecked",
      days: kept ? ageInDays(Date.parse(kept.at), now.getTime()) : 0,
      text: formatVerdict(kept, now),
    };
  };
}
