/** What a model is told about its memory: the section, the index, and on request the memories that the index names. */

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { buildMemoryPart, buildMemorySection, type SectionName, type ToolNames } from "../prompts/memory-section.ts";
import { fitMemories, MAX_SESSION_MEMORY_BYTES } from "../recall/budget.ts";
import { formatHeader, shownContent } from "../recall/injection.ts";
import { neutraliseTags } from "../recall/neutral.ts";
import {
  type Directory,
  findAuthor,
  findBytes,
  keysOf,
  listMemories,
  loadIndex,
  names,
  parseHeader,
  readReferences,
} from "../store/store.ts";

export interface MemoryPromptOptions {
  /** Only this part. */
  section?: SectionName;
  /** What the host calls its tools. */
  tools?: Partial<ToolNames>;
  /** False leaves the index for the user context. */
  withIndex?: boolean;
  /** Also every memory that the index names, oldest layout's way; within this many bytes if a number is given. */
  files?: boolean | number;
  /** Memories that were recalled for this prompt, formatted. */
  memories?: string;
  transcriptsDir?: string | null;
  teamDir?: string | null;
  /** False only looks. By default the directory is made, since the model is told that it is there. */
  makeDirectory?: boolean;
}

/** Equal files give equal bytes; ages are in it only together with the files themselves. */
export async function buildMemoryPrompt(directory: Directory, options: MemoryPromptOptions = {}): Promise<string> {
  const { section, files, memories, makeDirectory = true, ...rest } = options;
  if (makeDirectory && !directory.readOnly) mkdirSync(directory.path, { recursive: true, mode: 0o700 });
  // The other parts say nothing of it, and reading it takes longer than writing them.
  const wanted = section === undefined ? options.withIndex !== false || Boolean(files) : section === "index";
  const view = wanted ? loadIndex(directory, { generate: true }) : null;
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

/** Every file that the index names, in its order; one that is missing is passed over. */
async function loadReferenced(
  directory: Directory,
  index: string,
  maxBytes = MAX_SESSION_MEMORY_BYTES,
): Promise<string> {
  const { rows } = await listMemories(directory);
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
