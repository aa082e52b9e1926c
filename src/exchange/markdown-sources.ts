/** Readers of Markdown files: any folder of them, Obsidian's among them, the notes of basic-memory, Codex's memories, Gemini CLI's and Cursor's rules. */

import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { statOrNull } from "../disk/fence.ts";
import { isMemoryType, parseMemory, stemOf, type Trust, walk } from "../store/store.ts";
import { type Field, findField, parseDocument } from "../text/frontmatter.ts";
import { sha256 } from "../text/hash.ts";
import {
  describeBody,
  type Harvest,
  type Imported,
  MAX_MEMORIES,
  nameBody,
  readSource,
  textOf,
  textsOf,
  timeOf,
} from "./imported.ts";

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
    ...links.map((file) => `${file} is a symbolic link: skipped`),
    ...skipped.map((each) => `${each.path} is skipped: ${each.reason}`),
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
    if (note.body === "" && note.description === "") problems.push(`${file} is empty: skipped`);
    else found.push({ ...note, at: note.at ?? read.modified, origin: { from, id: idOf(read.text, file) }, trust });
  }
  return { found, problems };
}

/** Raw material that the other files were made of. */
const RAW: ReadonlySet<string> = new Set(["raw_memories.md"]);

/** The handbook and summary in `~/.codex/memories`: a memory for each section. */
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
      problems.push(`${file} is skipped: the other files were made of it`);
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

const GEMINI_SECTION = /^gemini added memories$/i;

/** What Gemini CLI was asked to remember: a section of GEMINI.md. The rest of the file is instructions, which stay where they are. */
export function readGemini(path: string): Harvest {
  const file = statOrNull(path)?.isDirectory() ? join(path, "GEMINI.md") : path;
  const read = readSource(file, { follow: true });
  if ("problem" in read) return { found: [], problems: [read.problem] };
  const sections = splitSections(read.text).filter(({ path }) => GEMINI_SECTION.test(path.at(-1) ?? ""));
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

/** Deep enough for any project; a loop of mounts ends here. */
const MAX_DEPTH = 8;

const OLD_RULES = ".cursorrules";

/** `.cursor/rules/**.mdc` and the older `.cursorrules`. `path`: the project, its folder of rules, or one rule. */
export function readCursor(path: string): Harvest {
  const isFile = statOrNull(path)?.isFile() === true;
  const rules = join(path, ".cursor", "rules");
  const folder = isFile ? dirname(path) : statOrNull(rules)?.isDirectory() ? rules : path;
  const files = isFile ? [basename(path)] : [];
  const problems: string[] = [];
  // A project without rules has no .mdc files of its own: other folders are not searched.
  if (!isFile && (folder === rules || /[/\\]rules$/.test(folder))) visitRules(folder, "", 0, files, problems);
  const found: Imported[] = [];
  const add = (file: string, at: string, follow: boolean) => {
    const read = readSource(at, { follow });
    if ("problem" in read) problems.push(read.problem);
    else found.push(ruleOf(file, read));
  };
  for (const file of files.slice(0, MAX_MEMORIES)) add(file, join(folder, file), isFile);
  if (!isFile && statOrNull(join(path, OLD_RULES))?.isFile()) add(OLD_RULES, join(path, OLD_RULES), false);
  return { found: found.filter(({ body }) => body !== ""), problems };
}

function visitRules(root: string, folder: string, depth: number, files: string[], problems: string[]): void {
  if (depth > MAX_DEPTH) return;
  try {
    const entries = readdirSync(join(root, folder), { withFileTypes: true });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const file = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) visitRules(root, file, depth + 1, files, problems);
      else if (entry.isFile() && entry.name.endsWith(".mdc")) files.push(file);
      else if (entry.isSymbolicLink()) problems.push(`${file} is a symbolic link: skipped`);
    }
  } catch (error) {
    problems.push(`${folder || "."} cannot be read (${(error as NodeJS.ErrnoException).code}): skipped`);
  }
}

/** Files of a repository, which anybody may have written: a document until the user says what they are (`--type feedback`). */
function ruleOf(file: string, { text, modified }: { text: string; modified: string }): Imported {
  const stem = file === OLD_RULES ? "cursor rules" : basename(file).replace(/\.mdc$/, "");
  const note = readNote(text, stem);
  const described = textOf(parseDocument(text).fields.find(({ key }) => key === "description")?.value);
  return {
    ...note,
    name: stem.replace(/[-_]+/g, " "),
    description: described || describeBody(note.body),
    when: globsOf(text).map((glob) => `working on ${glob}`),
    at: modified,
    origin: { from: "cursor", id: file },
    trust: "document",
  };
}

/** More than anybody writes into one field. */
const MAX_GLOBS = 2000;

/** A comma between braces belongs to the glob. */
function globsOf(text: string): string[] {
  const value = parseDocument(text).fields.find(({ key }) => key === "globs")?.value;
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
    when: parseMemory("x.md", text).when,
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

/** Sections of headings up to `depth`; deeper ones stay in the text of theirs. */
export function splitSections(text: string, depth = 2): Section[] {
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
    if (heading && heading.level <= depth) {
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
