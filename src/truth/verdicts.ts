/** Writes verdicts down beside the memories, so that recall can show them without looking at the code. */

import { statSync } from "node:fs";
import { join } from "node:path";
import { type Directory, withDirectory } from "../store/store.ts";
import type { Finding } from "./claim.ts";
import { isProblem } from "./claim.ts";
import type { MemoryVerdict } from "./examination.ts";
import { type KeptVerdict, readVerdicts, writeVerdicts } from "./kept-verdict.ts";

/** A line beside a memory, not a report. */
const MAX_NAMED = 3;
const MAX_SAYS = 300;

/** One sentence of what is wrong. */
function describeProblems(findings: readonly Finding[]): string {
  const wrong = findings.filter(({ verdict }) => isProblem(verdict));
  const named = wrong.slice(0, MAX_NAMED).map(({ claim, verdict, to, evidence }) => {
    if (claim.kind === "date") return `says ${claim.text}, which has passed`;
    if (verdict === "moved" && to !== undefined) return `names ${claim.text}, moved to ${to}`;
    return `names ${claim.text}, ${verdict === "changed" ? evidence : "which is gone"}`;
  });
  if (wrong.length > named.length) named.push(`and ${wrong.length - named.length} more`);
  return named.join("; ").replace(/\s+/g, " ").slice(0, MAX_SAYS).toWellFormed();
}

export interface VerdictNews {
  file: string;
  verdict: MemoryVerdict;
  findings: readonly Finding[];
}

/** `isAll`: the run looked at every memory, so that what is not among them is forgotten. A failure is logged: it is only a cache. */
export async function keepVerdicts(
  directory: Directory,
  head: string,
  news: readonly VerdictNews[],
  isAll: boolean,
): Promise<void> {
  if (directory.readOnly || news.length === 0) return;
  const at = directory.now().toISOString();
  try {
    await withDirectory(directory, () => {
      const kept = new Map<string, KeptVerdict>(isAll ? [] : readVerdicts(directory.path));
      for (const { file, verdict, findings } of news) {
        const stat = statSync(join(directory.path, file), { throwIfNoEntry: false });
        if (!stat) continue;
        const says = describeProblems(findings);
        kept.set(file, { verdict, at, head, says, bytes: stat.size, mtimeMs: stat.mtimeMs });
      }
      writeVerdicts(directory.path, kept);
    });
  } catch (error) {
    directory.log(`verdicts were not kept: ${(error as Error).message}`);
  }
}
