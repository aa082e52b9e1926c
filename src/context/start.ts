/** What a session starts with: instruction files and index for a host, the memory section for a model. */

import { statSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../config.ts";
import { isWithin } from "../disk/fence.ts";
import type { InstructionFile, SkippedFile } from "../instructions/file.ts";
import type { Instructions } from "../instructions/instructions.ts";
import type { Location } from "../project/locate.ts";
import { sessionsFolder } from "../project/scopes.ts";
import { buildMemoryPart, buildMemorySection, type SectionName, type ToolNames } from "../prompts/memory.ts";
import { fitMemories, formatHeader, MAX_SESSION_MEMORY_BYTES } from "../recall/injection.ts";
import { neutraliseTags, shownContent } from "../recall/neutral.ts";
import {
  ageInDays,
  findAuthor,
  findBytes,
  type IndexWarning,
  keysOf,
  loadIndex,
  makeDirectory,
  names,
  parseHeader,
  readReferences,
  type Store,
} from "../store/store.ts";

/** What a host loads at startup, and what touching files adds. */
export interface StartContext {
  /** Instruction files loaded at start, in the order they are shown. */
  instructions: InstructionFile[];
  /** What the touched files add, in order. */
  nested: InstructionFile[];
  /** Candidates that are not loaded, each with the reason. */
  skipped: SkippedFile[];
  /** The memory directory (null when memory is off), its index as loaded (null when empty or off), and whether and why that was cut. */
  memory: { dir: string | null; index: string | null; truncated: boolean; warning: IndexWarning | null };
  /** Touched memories, and their age in days if the host mentions it. */
  recallAge: { path: string; days: number | null }[];
  /** Working directory (`cwd`), project root (`root`), `platform`, and the folder with transcripts (`transcripts`). */
  environment: Record<string, string>;
  /** Problems with settings, the directory and instruction files, in words. */
  warnings: string[];
}

/** From this age on the client mentions how old a memory is when it is read. */
const STALE_DAYS = 2;

export async function buildStartContext(
  directory: Store,
  instructions: Instructions,
  location: Location,
  config: Config,
  warnings: readonly string[],
  touched: readonly string[],
): Promise<StartContext> {
  const on = config.disabled === null;
  // A host that trusts the repository follows its settings, as recorded cases demand; memdir itself does not, and the warnings say
  // so. Nothing but MEMORY.md is read there, to show what the host would load.
  const shown = location.untrusted
    ? { ...directory, path: location.untrusted.dir, inRepository: true, readOnly: true }
    : directory;
  // The switch that drops all instruction files drops the index with them; memory itself stays on.
  const view = on && !config.claudeMdsDisabled ? loadIndex(shown, { generate: !location.untrusted }) : null;
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
      // The third store, after memories and instructions: kept by the host by working directory, not by root.
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

/** Options for the text about memory. */
export interface MemoryPromptOptions {
  /** Builds only this section. */
  section?: SectionName | undefined;
  /** What the host calls its tools. */
  tools?: Partial<ToolNames> | undefined;
  /** Set to false to leave out the index, for the user context. */
  withIndex?: boolean | undefined;
  /** Also every memory that the index names, as in the oldest layout; within this many bytes if a number is given. */
  files?: boolean | number | undefined;
  /** Memories that were recalled for this prompt, formatted. */
  memories?: string | undefined;
  /** Where session transcripts are kept; null if they are not. */
  transcriptsDir?: string | null | undefined;
  /** The team's directory; null for none. */
  teamDir?: string | null | undefined;
  /** Set to false to change nothing on disk. By default the directory is created, because the model is told that it exists, and a missing index is written. */
  makeDirectory?: boolean | undefined;
}

/** Equal files give equal bytes; ages are only shown with the files themselves. */
export async function buildMemoryPrompt(directory: Store, options: MemoryPromptOptions = {}): Promise<string> {
  const { section, files, memories, makeDirectory: isMade = true, ...rest } = options;
  const readOnly = directory.readOnly || !isMade;
  if (!readOnly) makeDirectory(directory);
  // The other parts do not need it, and reading it takes longer than building them.
  const wanted = section === undefined ? options.withIndex !== false || Boolean(files) : section === "index";
  const view = wanted ? loadIndex({ ...directory, readOnly }, { generate: true }) : null;
  const referenced =
    files && view ? await loadReferenced(directory, view.index, files === true ? undefined : files) : "";
  const shown = [referenced, memories ?? ""].filter((text) => text !== "").join("\n\n");
  const parts = {
    ...rest,
    dir: directory.path,
    index: neutraliseTags(view?.index ?? "").replaceAll(/<(?=\/?memory-index)/gi, "&lt;"),
    indexWarning: view?.warning?.message ?? null,
    ...(shown === "" ? {} : { memories: shown }),
  };
  return section ? buildMemoryPart(section, parts) : buildMemorySection(parts);
}

/** Every file that the index names, in its order; missing ones are skipped. */
async function loadReferenced(directory: Store, index: string, maxBytes = MAX_SESSION_MEMORY_BYTES): Promise<string> {
  const { rows } = await directory.rows();
  const known = rows.filter(({ unreadable }) => !unreadable).map((row) => ({ row, keys: keysOf(row) }));
  const named = index
    .split("\n")
    .flatMap(readReferences)
    .flatMap((reference) => known.find(({ keys }) => names(reference, keys))?.row ?? []);
  const candidates = [...new Set(named)].flatMap((row) => {
    const { file } = row;
    const bytes = findBytes(directory, file);
    if (!bytes) return [];
    const path = join(directory.path, file);
    const { source } = parseHeader(file, bytes);
    const header = formatHeader({
      path,
      scope: row.scope,
      ageDays: row.ageDays,
      source,
      author: findAuthor(directory, file),
    });
    return [{ path, title: row.name, header, content: shownContent(bytes.toString("utf8")) }];
  });
  return fitMemories(candidates, { maxBytes, limit: candidates.length }).text;
}
