/** Importing the auto memory that Claude Code keeps for another project, or kept on another machine, in any of its layouts. */

import { basename, dirname, join } from "node:path";
import { statOrNull } from "../disk/fence.ts";
import { slugOf } from "../project/locate.ts";
import { countMemories, listEntries } from "../project/scopes.ts";
import { INDEX_FILE, parseIndexLine, parseMemory, walk } from "../store/store.ts";
import { splitLines } from "../text/lines.ts";
import {
  describeBody,
  type Harvest,
  type Imported,
  MAX_WALKED,
  readFiles,
  readSource,
  type Source,
} from "./imported.ts";
import { readNote, splitSections } from "./markdown-sources.ts";

const FROM = "claude-code";

/** `path`: the folder of memories, the project's folder around it, or the project itself, looked up below `claudeDir`. */
export function readClaudeCode(path: string, claudeDir: string): Harvest {
  const { dir, recursive } = findFolder(path, claudeDir);
  const { files, links } = walk(dir, recursive, MAX_WALKED);
  const problems = links.map((file) => `${file} is a symbolic link: skipped`);
  const index = statOrNull(join(dir, INDEX_FILE)) ? readSource(join(dir, INDEX_FILE)) : { text: "", modified: "" };
  if ("problem" in index) problems.push(index.problem);
  const { text: indexText, modified } = "text" in index ? index : { text: "", modified: "" };
  const pointers = splitLines(indexText).flatMap((line) => parseIndexLine(line) ?? []);
  const hooks = new Map(pointers.map(({ file, hook }) => [file, hook]));
  const owner = basename(basename(dir) === "memory" ? dirname(dir) : dir);
  const read = readFiles(dir, files, {}, (file, source) => [
    memoryOf(file, source, hooks.get(file.normalize("NFC")) ?? "", owner),
  ]);
  return { found: [...read.found, ...notesOf(indexText, modified, owner)], problems: [...problems, ...read.problems] };
}

/** Folders of other projects that hold memories, the one in use left out. */
export function findClaudeProjects(claudeDir: string, own: string): { path: string; memories: number }[] {
  const projects = join(claudeDir, "projects");
  return listEntries(projects)
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(projects, entry.name, "memory"))
    .filter((path) => path !== own)
    .map((path) => ({ path, memories: countMemories(path, { recursive: true }) }))
    .filter(({ memories }) => memories > 0);
}

/** Beside transcripts only the folder's own files are memories: its other folders belong to sessions. */
function findFolder(path: string, claudeDir: string): { dir: string; recursive: boolean } {
  const isFolder = (dir: string) => statOrNull(dir)?.isDirectory() === true;
  const nested = [join(path, "memory"), join(claudeDir, "projects", slugOf(path), "memory")].find(isFolder);
  const isOwn = countMemories(path, { recursive: false, limit: 1 }) > 0 || statOrNull(join(path, INDEX_FILE)) !== null;
  if (nested && !(isOwn && nested !== join(path, "memory"))) return { dir: nested, recursive: true };
  const hasTranscripts = listEntries(path).some(({ name }) => name.endsWith(".jsonl"));
  return { dir: path, recursive: !hasTranscripts };
}

function memoryOf(file: string, read: Source, hook: string, owner: string): Imported {
  const memory = parseMemory(file, read.text);
  const note = readNote(read.text, memory.name);
  const hasFrontmatter = Object.keys(memory.metadata).length > 0;
  return {
    ...note,
    name: memory.name === "" ? note.name : hasFrontmatter ? memory.name : note.name,
    description: memory.description || hook || note.description,
    type: memory.typeExplicit ? memory.type : null,
    at: memory.modified ?? note.at ?? read.modified,
    origin: { from: FROM, id: `${owner}/${file}` },
    // What it says about its source is kept with its text.
    trust: "user",
    ...(hasFrontmatter ? { text: read.text } : {}),
    file,
  };
}

/** The first layouts kept the notes themselves in MEMORY.md: what is neither a pointer nor a heading is one. */
function notesOf(index: string, at: string, owner: string): Imported[] {
  const lines = splitLines(index).filter((line) => parseIndexLine(line) === null);
  return splitSections(lines.join("")).flatMap(({ path, body }): Imported[] => {
    const title = path.at(-1) ?? "";
    // A line or two between pointers introduce them.
    if (index.length > lines.join("").length && !/^\s*[-*+] /m.test(body)) return [];
    return [
      {
        name: title || describeBody(body),
        description: describeBody(body),
        body,
        at: at || null,
        origin: { from: FROM, id: `${owner}/${INDEX_FILE}/${path.join("/") || "top"}` },
        trust: "user",
      },
    ];
  });
}
