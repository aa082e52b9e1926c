/** Importing what Gemini CLI was asked to remember: the items of a section of its own in GEMINI.md. */

import { join } from "node:path";
import { statOrNull } from "../disk/fence.ts";
import { sha256 } from "../text/hash.ts";
import { describeBody, type Harvest, nameBody } from "./harvest.ts";
import { splitItems, splitSections } from "./sections.ts";
import { readSource } from "./source-file.ts";

const SECTION = /^gemini added memories$/i;

/** The rest of the file is instructions, which stay where they are. */
export function readGemini(path: string): Harvest {
  const file = statOrNull(path)?.isDirectory() ? join(path, "GEMINI.md") : path;
  const read = readSource(file, { follow: true });
  if ("problem" in read) return { found: [], problems: [read.problem] };
  const sections = splitSections(read.text).filter(({ path }) => SECTION.test(path.at(-1) ?? ""));
  const items = sections.flatMap(({ body }) => splitItems(body));
  return {
    found: items.map((body) => ({
      name: nameBody(body),
      description: describeBody(body),
      type: null,
      body,
      when: [],
      // One file for all of them: its time says nothing about a single one.
      at: null,
      // They have no names: a reworded one is another one.
      origin: { from: "gemini", id: sha256(body).slice(0, 12) },
      trust: "user",
    })),
    problems: sections.length === 0 ? [`${file} has no section "Gemini Added Memories"`] : [],
  };
}
