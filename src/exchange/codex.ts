/** Importing Codex's memories: its handbook and summary in `~/.codex/memories`, a memory for each section. */

import { basename, dirname, join } from "node:path";
import { statOrNull } from "../disk/fence.ts";
import { walk } from "../store/store.ts";
import { describeBody, type Harvest, type Imported } from "./harvest.ts";
import { splitSections } from "./sections.ts";
import { readSource } from "./source-file.ts";

/** Raw material that the other files were made of. */
const RAW: ReadonlySet<string> = new Set(["raw_memories.md"]);

export function readCodex(path: string): Harvest {
  const isFile = statOrNull(path)?.isFile() === true;
  const folder = isFile ? dirname(path) : path;
  // Its own MEMORY.md is no index but the handbook itself.
  const handbook = statOrNull(join(folder, "MEMORY.md"))?.isFile() ? ["MEMORY.md"] : [];
  const files = isFile ? [basename(path)] : [...handbook, ...walk(folder, false).files];
  const found: Imported[] = [];
  const problems: string[] = [];
  for (const file of files) {
    if (RAW.has(file)) {
      problems.push(`${file} is passed over: the other files were made of it`);
      continue;
    }
    const read = readSource(join(folder, file), { follow: isFile });
    if ("problem" in read) problems.push(read.problem);
    else found.push(...splitSections(read.text).map(({ path, body }) => sectionOf(file, read.modified, path, body)));
  }
  return { found, problems };
}

/** A model wrote them about the user's sessions: conclusions. */
function sectionOf(file: string, at: string, path: readonly string[], body: string): Imported {
  const description = describeBody(body);
  return {
    name: path.join(": ") || description,
    description,
    type: null,
    body,
    when: [],
    at,
    origin: { from: "codex", id: `${file}/${path.join("/") || "top"}` },
    trust: "inferred",
  };
}
