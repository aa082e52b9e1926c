/** A directory measured with all that the command line knows: instructions, the surface log, verdicts. */

import { join } from "node:path";
import { statOrNull } from "../disk/stat.ts";
import type { Memdir } from "../memdir.ts";
import type { Directory } from "../memory/directory.ts";
import { readSurfaceLog } from "../recall/surface-log.ts";
import { termsOf } from "../recall/terms.ts";
import { findVerdict, readVerdicts } from "../truth/kept-verdict.ts";
import type { InstructionText } from "../truth/restated.ts";
import { measureRot, type Rot } from "../truth/rot.ts";
import { gatherRot } from "../truth/rot-input.ts";
import type { RotInput, RotMemory, RotVerdict } from "../truth/rot-kind.ts";
import type { Call } from "./command.ts";

export interface Measured extends Rot {
  scope: string;
  dir: string;
}

/** With what it was measured from, for whoever wants to act on it. */
export async function measureDirectory(
  call: Call,
  memdir: Memdir,
  directory: Directory,
): Promise<{ rot: Measured; memories: readonly RotMemory[] }> {
  const bar = call.terminal.progress("reading memories");
  const gathered = await gatherRot(directory, bar.show);
  bar.end();
  const measured = measureRot({
    ...gathered,
    termsOf,
    instructions: await readInstructions(memdir),
    verdicts: readKnownVerdicts(directory),
    surfaced: readSurfaced(memdir, directory),
  });
  return { rot: { scope: directory.scope, dir: directory.path, ...measured }, memories: gathered.memories };
}

/** What every session of this project is told anyway. */
export async function readInstructions(memdir: Memdir): Promise<InstructionText[]> {
  const files = await (await memdir.instructions()).load();
  return files.map(({ path, content }) => ({ path, text: content }));
}

/** Only the directory that is written to has a log, and a memory of another scope is also shown in other projects. */
function readSurfaced(memdir: Memdir, directory: Directory): RotInput["surfaced"] {
  if (directory !== memdir.directories[0]) return null;
  const log = readSurfaceLog(directory.path);
  const [first] = log;
  if (!first) return null;
  const ours = log.flatMap(({ memories }) => memories.filter(({ scope }) => scope === directory.scope));
  return { since: first.at, files: new Set(ours.map(({ file }) => file)) };
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
