/** What a host loads at start: instruction files and the index, as one value. */

import { statSync } from "node:fs";
import type { Config } from "../config.ts";
import { isWithin } from "../disk/fence.ts";
import type { InstructionFile, SkippedFile } from "../instructions/file.ts";
import type { Instructions } from "../instructions/instructions.ts";
import type { Location } from "../project/locate.ts";
import { sessionsFolder } from "../project/sessions-folder.ts";
import { ageInDays, type Directory, type IndexWarning, loadIndex } from "../store/store.ts";

/** What a host loads at start, and what touching files adds. */
export interface StartContext {
  instructions: InstructionFile[];
  /** What the touched files add, in order. */
  nested: InstructionFile[];
  /** Candidates that are not loaded, each with the reason. */
  skipped: SkippedFile[];
  memory: { dir: string | null; index: string | null; truncated: boolean; warning: IndexWarning | null };
  /** Touched memories, and from how many days on the host says how old they are. */
  recallAge: { path: string; days: number | null }[];
  environment: Record<string, string>;
  warnings: string[];
}

/** From this age on the client says how old a memory is when it is read. */
const STALE_DAYS = 2;

export async function buildStartContext(
  directory: Directory,
  instructions: Instructions,
  location: Location,
  config: Config,
  warnings: readonly string[],
  touched: readonly string[],
): Promise<StartContext> {
  const on = config.disabled === null;
  // A host that trusts the repository follows its settings; memdir itself does not, and the warnings say so.
  const shown = location.untrusted ? { ...directory, path: location.untrusted.dir, readOnly: true } : directory;
  // The switch that drops all instruction files drops the index with them; memory itself stays on.
  const view = on && !config.claudeMdsDisabled ? loadIndex(shown, { generate: true }) : null;
  const off = config.claudeMdsDisabled;
  const nested: InstructionFile[] = [];
  for (const path of off ? [] : touched) nested.push(...(await instructions.touch(path)));
  return {
    instructions: off ? [] : await instructions.load(),
    nested,
    skipped: off ? [] : await instructions.skipped(),
    memory: {
      dir: on ? shown.path : null,
      index: view && view.index !== "" ? view.index : null,
      truncated: view?.truncated ?? false,
      warning: view?.warning ?? null,
    },
    recallAge: touched
      .filter((path) => isWithin(shown.path, path))
      .map((path) => ({ path, days: on ? staleDays(path, directory.now().getTime()) : null })),
    environment: {
      cwd: location.project.cwd,
      root: location.project.root,
      platform: process.platform,
      // The third store, after memories and instructions: kept by the host under the working directory, not the root.
      transcripts: sessionsFolder(config, location.project),
    },
    warnings: [...warnings, ...(off ? [] : await instructions.problems()).map(({ message }) => message)],
  };
}

function staleDays(path: string, nowMs: number): number | null {
  const stat = statSync(path, { throwIfNoEntry: false });
  const days = stat ? ageInDays(stat.mtimeMs, nowMs) : 0;
  return days >= STALE_DAYS ? days : null;
}
