/** Readers of Markdown files: Claude Code's memory of another project or machine, any folder of them, Obsidian's among them, the notes of basic-memory, Codex's memories, Gemini CLI's and Cursor's rules. */

import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { statOrNull } from "../disk/fence.ts";
import { countMemories, slugOf } from "../project/locate.ts";
import { listEntries } from "../project/scopes.ts";
import {
  INDEX_FILE,
  isMemoryType,
  parseIndexLine,
  parseMemory,
  readGivenFields,
  stemOf,
  type Trust,
  walk,
} from "../store/store.ts";
import { type Field, findField, parseDocument } from "../text/frontmatter.ts";
import { sha256 } from "../text/hash.ts";
import { splitLines } from "../text/lines.ts";
import {
  describeBody,
  type Harvest,
  type Imported,
  joinHarvests,
  type Listing,
  MAX_WALKED,
  nameBody,
  readFile,
  readFiles,
  readSource,
  type Source,
  textOf,
  textsOf,
  timeOf,
} from "./imported.ts";

/** What others wrote down is data: it never becomes a rule or a fact about the user by itself. */
export function readMarkdown(path: string): Harvest {
  return readNotes(path, "markdown", "document");
}

/** An agent writes them for the user; a note is known by its permalink, wherever its file moves. */
export function readBasicMemory(path: string): Harvest {
  return readNotes(path, "basic-memory", "inferred", "permalink");
}

/** Read into the body, the name and the time of a note. */
const READ_FIELDS = ["title", "summary", "tags", "updated", "date"];

function readNotes(path: string, from: string, trust: Trust, idField = ""): Harvest {
  return readFiles(path, listNotes, (file, { text, modified }) => {
    const note = readNote(text, stemOf(file));
    if (note.body === "" && note.description === "") return `${file} is empty: skipped`;
    const id = textOf(fieldIn(text, idField)) || file;
    const { links, pinned, expires, ...given } = readGivenFields(text);
    // A document's word is not enough to rank other memories under it, nor for who said it.
    const left = [...given.left, ...(["supersedes", "source"] as const).filter((key) => given[key] !== undefined)];
    const unread = left.filter((key) => key !== idField && !READ_FIELDS.includes(key));
    return [{ ...note, links, pinned, expires, left: unread, at: note.at ?? modified, origin: { from, id }, trust }];
  });
}

function listNotes(folder: string, recursive = true): Listing {
  const { files, links, skipped } = walk(folder, recursive, MAX_WALKED);
  const linked = links.map((file) => `${file} is a symbolic link: skipped`);
  return { files, problems: [...linked, ...skipped.map(({ path, reason }) => `${path} is skipped: ${reason}`)] };
}

/** Raw material that Codex made the other files of. */
const CODEX_RAW = "raw_memories.md";

/** The handbook and summary in `~/.codex/memories`: a memory for each section. A model wrote them about the user's sessions: conclusions. */
export function readCodex(path: string): Harvest {
  const list = (folder: string) => {
    // Its own MEMORY.md is not an index but the handbook itself.
    const handbook = statOrNull(join(folder, INDEX_FILE))?.isFile() ? [INDEX_FILE] : [];
    return { files: [...handbook, ...walk(folder, false, MAX_WALKED).files] };
  };
  return readFiles(path, list, (file, { text, modified }) => {
    if (file === CODEX_RAW) return `${file} is skipped: the other files were made of it`;
    return splitSections(text).map(({ path, body }) => ({
      name: path.join(": ") || describeBody(body),
      description: describeBody(body),
      body,
      at: modified,
      origin: { from: "codex", id: `${file}/${path.join("/") || "top"}` },
      trust: "inferred",
    }));
  });
}

const GEMINI_SECTION = /^gemini added memories$/i;

/** What Gemini CLI was asked to remember: a section of GEMINI.md. The rest of the file is instructions, which stay where they are. */
export function readGemini(path: string): Harvest {
  const file = statOrNull(path)?.isDirectory() ? join(path, "GEMINI.md") : path;
  return readFile(file, (text) => {
    const sections = splitSections(text).filter(({ path }) => GEMINI_SECTION.test(path.at(-1) ?? ""));
    const items = sections.flatMap(({ body }) => splitItems(body));
    return {
      // They have no time, as one file holds all of them, and no names: a reworded one is another one.
      found: items.map((body) => ({
        name: nameBody(body),
        description: describeBody(body),
        body,
        origin: { from: "gemini", id: sha256(body).slice(0, 12) },
        trust: "user",
      })),
      problems: sections.length === 0 ? [`${file} has no section "Gemini Added Memories"`] : [],
    };
  });
}

/** Deep enough for any project; a loop of mounts ends here. */
const MAX_DEPTH = 8;

const OLD_RULES = ".cursorrules";

/** `.cursor/rules/**.mdc` and the older `.cursorrules`. `path`: the project, its folder of rules, or one rule. */
export function readCursor(path: string): Harvest {
  const rules = join(path, ".cursor", "rules");
  const isProject = statOrNull(rules)?.isDirectory() === true;
  // A project without rules has no .mdc files of its own: other folders are not searched.
  const list = (folder: string) => (isProject || /[/\\]rules$/.test(folder) ? listRules(folder) : { files: [] });
  const found = readFiles(isProject ? rules : path, list, ruleOf);
  const isOld = statOrNull(join(path, OLD_RULES))?.isFile() === true;
  return isOld
    ? joinHarvests(
        found,
        readFiles(path, () => ({ files: [OLD_RULES] }), ruleOf),
      )
    : found;
}

function listRules(
  root: string,
  folder = "",
  depth = 0,
  listing = { files: [] as string[], problems: [] as string[] },
) {
  if (depth > MAX_DEPTH) return listing;
  try {
    const entries = readdirSync(join(root, folder), { withFileTypes: true });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const file = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) listRules(root, file, depth + 1, listing);
      else if (entry.isSymbolicLink()) listing.problems.push(`${file} is a symbolic link: skipped`);
      else if (entry.isFile() && file.endsWith(".mdc")) listing.files.push(file);
    }
  } catch (error) {
    listing.problems.push(`${folder || "."} cannot be read (${(error as NodeJS.ErrnoException).code}): skipped`);
  }
  return listing;
}

/** Files of a repository could be by anyone: a document until the user says what they are (`--type feedback`). */
function ruleOf(file: string, { text, modified }: Source): Imported[] {
  const stem = file === OLD_RULES ? "cursor rules" : basename(file).replace(/\.mdc$/, "");
  const note = readNote(text, stem);
  if (note.body === "") return [];
  return [
    {
      ...note,
      name: stem.replace(/[-_]+/g, " "),
      description: textOf(fieldIn(text, "description")) || describeBody(note.body),
      when: globsOf(text).map((glob) => `working on ${glob}`),
      at: modified,
      origin: { from: "cursor", id: file },
      trust: "document",
    },
  ];
}

function fieldIn(text: string, key: string): unknown {
  return parseDocument(text).fields.find((field) => field.key === key)?.value;
}

/** More than anyone writes into one field. */
const MAX_GLOBS = 2000;

/** A comma between braces belongs to the glob. */
function globsOf(text: string): string[] {
  const value = fieldIn(text, "globs");
  const all = typeof value === "string" ? value.slice(0, MAX_GLOBS).split(/,(?![^{}]*\})/) : textsOf(value);
  return all.map((glob) => glob.trim()).filter((glob) => glob !== "");
}

/** One Markdown file as a memory: frontmatter where there is some, else its heading and its first words. `stem` names it where nothing else does. */
export function readNote(text: string, stem: string): Omit<Imported, "origin" | "trust"> {
  const { fields, body } = parseDocument(text);
  const first = (...keys: string[]) =>
    keys.map((key) => textOf(fieldOf(fields, key))).find((value) => value !== "") ?? "";
  const [top = "", ...below] = body.trim().split("\n");
  const heading = headingOf(top);
  const title = heading?.level === 1 ? heading.title : "";
  const name = first("name", "title") || title || stem;
  const type = first("type");
  const content = title !== "" && title === name ? below.join("\n").trim() : body.trim();
  return {
    name,
    description: first("description", "summary") || describeBody(content),
    type: isMemoryType(type) ? type : null,
    body: withTags(content, tagsOf(fields)),
    when: readGivenFields(text).when ?? [],
    at: ["modified", "updated", "date", "created"].map((key) => timeOf(fieldOf(fields, key))).find(Boolean) ?? null,
  };
}

/** At the top, or under `metadata`, where Claude Code moves fields. */
function fieldOf(fields: readonly Field[], key: string): unknown {
  return (findField(fields, [key]) ?? findField(fields, ["metadata", key]))?.value;
}

function tagsOf(fields: readonly Field[]): string[] {
  const value = fieldOf(fields, "tags");
  return typeof value === "string" ? value.split(/[\s,]+/).filter((tag) => tag !== "") : textsOf(value);
}

/** They are words that recall can find it by. */
function withTags(body: string, tags: readonly string[]): string {
  return tags.length === 0 ? body : `${body}\n\nTags: ${tags.map((tag) => tag.replace(/^#/, "")).join(", ")}`.trim();
}

/** A section of a long document. Code fences are looked through. */
interface Section {
  /** Headings from the outermost, the section's own last; none for what comes before the first. */
  path: string[];
  body: string;
}

/** Deeper headings stay in the text of their section. */
const SECTION_LEVEL = 2;

export function splitSections(text: string): Section[] {
  const sections: Section[] = [];
  let path: { level: number; title: string }[] = [];
  let lines: string[] = [];
  const end = () => {
    const body = lines.join("\n").trim();
    if (body !== "") sections.push({ path: path.map(({ title }) => title), body });
    lines = [];
  };
  for (const { line, isCode } of linesOf(text)) {
    const heading = isCode ? null : headingOf(line);
    if (heading && heading.level <= SECTION_LEVEL) {
      end();
      path = [...path.filter(({ level }) => level < heading.level), heading];
    } else lines.push(line);
  }
  end();
  return sections;
}

/** `## Title ##` as its level and title; null for any other line. */
function headingOf(line: string): { level: number; title: string } | null {
  const marks = /^ {0,3}(#{1,6})(?=[ \t])/.exec(line);
  if (!marks) return null;
  const title = line.slice(marks[0].length).trim();
  // Marks behind it close it, if a space comes before them; by hand, as a pattern would take quadratic time on a long line.
  let end = title.length;
  while (title[end - 1] === "#") end--;
  const isClosed = end === 0 || /[ \t]/.test(title[end - 1] as string);
  return { level: (marks[1] as string).length, title: isClosed ? title.slice(0, end).trimEnd() : title };
}

/** The items of the outermost list, each with the lines that belong to it. */
export function splitItems(text: string): string[] {
  const items: string[][] = [];
  for (const { line, isCode } of linesOf(text)) {
    const item = isCode ? null : /^ {0,1}(?:[-*+]|\d{1,9}[.)])[ \t]+(.*)$/.exec(line);
    if (item) items.push([item[1] as string]);
    else items.at(-1)?.push(line);
  }
  return items.map((lines) => outdent(lines).trim()).filter((item) => item !== "");
}

function outdent(lines: readonly string[]): string {
  return lines.map((line, at) => (at === 0 ? line : line.replace(/^ {1,4}|^\t/, ""))).join("\n");
}

/** Every line, and whether it belongs to a code block; the fences themselves do. */
function linesOf(text: string): { line: string; isCode: boolean }[] {
  let fence: string | null = null;
  return text.split("\n").map((line) => {
    const mark = /^\s*(`{3,}|~{3,})(.*)$/.exec(line);
    if (fence === null && mark) {
      fence = mark[1] as string;
      return { line, isCode: true };
    }
    const isCode = fence !== null;
    if (fence !== null && mark?.[1]?.startsWith(fence) && mark[2]?.trim() === "") fence = null;
    return { line, isCode };
  });
}

// --- The auto memory of Claude Code, for another project or from another machine, in any of its layouts.

const FROM = "claude-code";

/** `path`: the folder of memories, the project's folder around it, or the project itself, looked up below `claudeDir`. */
export function readClaudeCode(path: string, claudeDir: string): Harvest {
  const { dir, recursive } = findFolder(path, claudeDir);
  const index = statOrNull(join(dir, INDEX_FILE)) ? readSource(join(dir, INDEX_FILE)) : { text: "", modified: "" };
  const { text: indexText, modified } = "text" in index ? index : { text: "", modified: "" };
  const pointers = splitLines(indexText).flatMap((line) => parseIndexLine(line) ?? []);
  const hooks = new Map(pointers.map(({ file, hook }) => [file, hook]));
  const owner = basename(basename(dir) === "memory" ? dirname(dir) : dir);
  const read = readFiles(
    dir,
    (folder) => listNotes(folder, recursive),
    (file, source) => [memoryOf(file, source, hooks.get(file.normalize("NFC")) ?? "", owner)],
  );
  const problems = "problem" in index ? [index.problem] : [];
  return joinHarvests(read, { found: notesOf(indexText, modified, owner), problems });
}

/** Beside transcripts only the folder's own files are memories: its other folders belong to sessions. */
function findFolder(path: string, claudeDir: string): { dir: string; recursive: boolean } {
  const isFolder = (dir: string) => statOrNull(dir)?.isDirectory() === true;
  const nested = [join(path, "memory"), join(claudeDir, "projects", slugOf(path), "memory")].find(isFolder);
  const isOwn = countMemories(path, false) > 0 || statOrNull(join(path, INDEX_FILE)) !== null;
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
