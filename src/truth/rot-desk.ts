/** A directory measured with all that is known of it: instructions, what was surfaced, verdicts. */

import { join } from "node:path";
import { statOrNull } from "../disk/fence.ts";
import type { Directory } from "../store/store.ts";
import { findVerdict, readVerdicts } from "./kept-verdict.ts";
import { measureRot, type Rot } from "./rot.ts";
import { gatherRot } from "./rot-input.ts";
import type { RotInput, RotMemory, RotVerdict } from "./rot-kind.ts";

export interface Measured extends Rot {
  scope: string;
  dir: string;
}

/** With what it was measured from, for whoever wants to act on it. */
export interface MeasuredDirectory {
  rot: Measured;
  memories: readonly RotMemory[];
}

export async function measureDirectory(
  directory: Directory,
  known: Pick<RotInput, "termsOf" | "instructions" | "surfaced">,
  tell: (done: number, total: number) => void = () => {},
): Promise<MeasuredDirectory> {
  const gathered = await gatherRot(directory, tell);
  const measured = measureRot({ ...gathered, ...known, verdicts: readKnownVerdicts(directory) });
  return { rot: { scope: directory.scope, dir: directory.path, ...measured }, memories: gathered.memories };
}

/** Of what `memdir verify` found last, that which is about the files as they are now. */
function readKnownVerdicts(directory: Directory): ReadonlyMap<string, RotVerdict> {
  const verdicts = readVerdicts(directory.path);
  const known = new Map<string, RotVerdict>();
  for (const file of verdicts.keys()) {
    const stat = statOrNull(join(directory.path, file));
    const kept = stat ? findVerdict(verdicts, file, { bytes: stat.size, mtimeMs: stat.mtimeMs }) : null;
    if (!kept) continue;
    const problem = kept.verdict === "doubtful" ? kept.says || "says what is no longer so" : null;
    known.set(file, { problem, isUnchecked: kept.verdict === "unchecked" });
  }
  return known;
}
