/** Importing a folder of Markdown files, Obsidian's among them, or a single file; and the notes of basic-memory. */

import { basename, join } from "node:path";
import { statOrNull } from "../disk/fence.ts";
import { stemOf, type Trust, walk } from "../store/store.ts";
import { parseDocument } from "../text/frontmatter.ts";
import { type Harvest, type Imported, MAX_MEMORIES, textOf } from "./harvest.ts";
import { readNote } from "./note.ts";
import { readSource } from "./source-file.ts";

/** What others wrote down is data: it never becomes a rule or a fact about the user by itself. */
export function readMarkdown(path: string): Harvest {
  return readNotes(path, "markdown", "document", (_, file) => file);
}

/** An agent writes them for the user; a note is known by its permalink, wherever its file moves. */
export function readBasicMemory(path: string): Harvest {
  return readNotes(path, "basic-memory", "inferred", (text, file) => {
    const permalink = parseDocument(text).fields.find(({ key }) => key === "permalink");
    return textOf(permalink?.value) || file;
  });
}

function readNotes(path: string, from: string, trust: Trust, idOf: (text: string, file: string) => string): Harvest {
  const isFolder = statOrNull(path)?.isDirectory() === true;
  const { files, links, skipped } = isFolder ? walk(path) : { files: [basename(path)], links: [], skipped: [] };
  const problems = [
    ...links.map((file) => `${file} is a symbolic link: passed over`),
    ...skipped.map((each) => `${each.path} is passed over: ${each.reason}`),
  ];
  const found: Imported[] = [];
  for (const file of files) {
    if (found.length === MAX_MEMORIES) {
      problems.push(`only the first ${MAX_MEMORIES} of ${files.length} files are taken`);
      break;
    }
    const read = readSource(isFolder ? join(path, file) : path, { follow: !isFolder });
    if ("problem" in read) {
      problems.push(read.problem);
      continue;
    }
    const note = readNote(read.text, stemOf(file));
    if (note.body === "" && note.description === "") problems.push(`${file} is empty: passed over`);
    else found.push({ ...note, at: note.at ?? read.modified, origin: { from, id: idOf(read.text, file) }, trust });
  }
  return { found, problems };
}
