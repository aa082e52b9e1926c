/** Exporting memories: one document, a folder of files, JSON, or a section of AGENTS.md. Those with secrets are left out, and no foreign file is overwritten. */

import { isUtf8 } from "node:buffer";
import { existsSync, lstatSync, rmSync } from "node:fs";
import { basename, dirname, extname, join, relative } from "node:path";
import {
  isWithin,
  makeFolders,
  moveInto,
  readRegular,
  realPath,
  resolveInside,
  SHARED_MODE,
  statOrNull,
  writeTemporary,
} from "../disk/fence.ts";
import { attempt, MemdirError, onDisk } from "../errors.ts";
import type { Memdir } from "../memdir.ts";
import { neutralise, neutraliseLine } from "../recall/neutral.ts";
import {
  formatAuthorship,
  MEMORY_TYPES,
  type Memory,
  type MemoryType,
  parseMemory,
  readAuthors,
  trustOf,
} from "../store/store.ts";
import { sha256 } from "../text/hash.ts";
import { findMarked, putMarked } from "../text/lines.ts";
import { findSecrets } from "../text/secrets.ts";

export const EXPORT_FORMATS = ["markdown", "json", "agents-md"] as const;

interface ExportRequest {
  format: (typeof EXPORT_FORMATS)[number];
  type?: MemoryType | undefined;
  /** A file or a folder; null: only the text. */
  output: string | null;
  force?: boolean;
  /** Also the team's memories in a file of instructions, each with its author; otherwise only with the scope `team`. */
  team?: boolean;
}

/** What is about working here; what is about the user is exported only when it is asked for by name. */
const SHARED_TYPES: readonly MemoryType[] = ["feedback", "project"];

/**
 * `output` is the file or folder that was written to, `text` null when it went to a folder; `removed` are files that an earlier export
 * wrote and whose memories are gone.
 */
export async function exportMemories(
  memdir: Pick<Memdir, "config" | "directories" | "list">,
  { format, type, output, force = false, team = false }: ExportRequest,
) {
  // There it would be a memory itself, and another scope's among the project's.
  if (output !== null && memdir.directories.some(({ path }) => isWithin(realPath(path), realPath(output))))
    throw new MemdirError("usage", `${output} is in a memory directory: choose another --output`);
  const instructing = format === "agents-md";
  const types = type === undefined ? (instructing ? SHARED_TYPES : undefined) : [type];
  const { memories, left } = await collectMemories(memdir, { types, instructing, team });
  const exported = memories.map(({ file }) => file);
  const done = (text: string | null, { removed = [] as string[], to = output } = {}) => {
    return { output: to, exported, left, text, removed };
  };
  if (format === "agents-md") {
    const section = formatSection(await signTeam(memdir, memories));
    const isIn = output !== null && (/[/\\]$/.test(output) || statOrNull(output)?.isDirectory());
    const file = isIn ? join(output, "AGENTS.md") : output;
    const isEmpty = (text: string) => memories.length === 0 && !hasSection(text);
    if (file !== null) editFile(file, (text) => (isEmpty(text) ? text : putSection(file, text, section)));
    return done(`${section}\n`, { to: file });
  }
  if (format === "markdown" && output !== null && isFolder(output)) {
    const { removed } = writeFolder(output, new Map(memories.map(({ file, text }) => [file, text])), force);
    return done(null, { removed });
  }
  const [text, isOwn] = format === "json" ? [formatJson(memories), OWN_JSON] : [formatMarkdown(memories), OWN_MARKDOWN];
  if (output !== null) writeFile(output, text, isOwn, force);
  return done(text);
}

/** What is there decides; of what is not, a name without an ending is a folder's. */
function isFolder(output: string): boolean {
  const stat = statOrNull(output);
  return stat ? stat.isDirectory() : /[/\\]$/.test(output) || extname(output) === "";
}

/** `file` is the path in a folder of the export: scopes beside the main one have folders of their own. */
type Collected = { file: string; scope: string; text: string; memory: Memory; path: string };

/** `types`: only these. `instructing`: for a file where every sentence is an instruction; `team`: also the team's. `left`: what is not exported, and why. */
async function collectMemories(
  memdir: Pick<Memdir, "directories" | "list">,
  { types, instructing, team }: { types: readonly MemoryType[] | undefined; instructing: boolean; team: boolean },
) {
  const main = memdir.directories[0]?.scope ?? "project";
  const memories: Collected[] = [];
  const left: { file: string; reason: string }[] = [];
  const seen = new Set<string>();
  for (const row of (await memdir.list()).filter(({ type }) => types === undefined || types.includes(type))) {
    const { scope } = row;
    const file = scope === main ? row.file : `${scope.replace(/[^\w.-]+/g, "-")}/${row.file}`;
    const data = row.unreadable ? null : readRegular(row.path);
    const text = data?.toString("utf8") ?? "";
    const memory = parseMemory(row.file, text);
    // Older layouts are listed under the same scope: the first one found counts.
    const known = seen.has(file) ? "another directory has a memory in a file of this name" : null;
    const foreign = instructing ? objectToInstruction(memory, { scope, main, team }) : null;
    const reason = foreign ?? objectToText(data, text) ?? known;
    if (reason === null) memories.push({ file, scope, text, memory, path: row.path });
    else left.push({ file, reason });
    seen.add(file);
  }
  return { memories, left };
}

/**
 * A project's instructions are for everyone who works on it: what the user or one agent keeps for itself is not. What others wrote
 * into a cloned repository must not become an instruction of the user's unasked.
 */
function objectToInstruction(
  { source }: Memory,
  { scope, main, team }: { scope: string; main: string; team: boolean },
): string | null {
  if (scope === "team" && main !== "team" && !team)
    return "others may have written the team's memories: --team adds them, each with its author";
  if (scope !== main && scope !== "team")
    return `it belongs to the ${scope} scope, not the project's: --scope ${scope} exports it`;
  const trust = trustOf(source);
  if (trust !== "document" && trust !== "tool") return null;
  return `its words come from a ${trust}: as an instruction they would be more than that`;
}

function objectToText(data: Buffer | null, text: string): string | null {
  if (!data) return "it cannot be read";
  if (!isUtf8(data)) return "it is not valid UTF-8";
  const secrets = findSecrets(text).map(({ rule, line }) => `${rule} in line ${line}`);
  return secrets.length > 0 ? `it holds what looks like a secret: ${secrets.join(", ")}` : null;
}

/** Raised when a reader of the old shape would misread the new one. */
const VERSION = 1;

/** With the whole file: fields that only its writer knows come back as they were. */
function formatJson(memories: readonly Collected[]): string {
  const rows = memories.map(({ scope, file, text, memory }) => {
    const { type, name, description, created, modified, pinned, when, body, metadata } = memory;
    return { scope, file, type, name, description, created, modified, pinned, when, body, metadata, text };
  });
  return `${JSON.stringify({ memdir: VERSION, memories: rows }, null, 2)}\n`;
}

/** How an export begins, which another one may replace. */
const OWN_JSON = /^\s*\{\s*"memdir":\s*\d+\s*,\s*"memories":/;

const MARK = "<!-- memdir export: written by `memdir export`, replaced by the next one -->";
const OWN_MARKDOWN = new RegExp(`^\\uFEFF?${MARK}`);

const HEADINGS: Record<MemoryType, string> = {
  user: "About the user",
  feedback: "How to work",
  project: "About the project",
  reference: "Where to look",
};

function formatMarkdown(memories: readonly Collected[]): string {
  const parts = byType(memories).flatMap(([heading, own]) => [`## ${heading}`, ...own.map(formatOne)]);
  return `${[MARK, "# Memories", ...parts].join("\n\n")}\n`;
}

function byType(memories: readonly Collected[]): [heading: string, own: Memory[]][] {
  return MEMORY_TYPES.map((type): [string, Memory[]] => [
    HEADINGS[type],
    memories.flatMap(({ memory }) => (memory.type === type ? [memory] : [])),
  ]).filter(([, own]) => own.length > 0);
}

function formatOne({ name, description, body }: Memory): string {
  const said = body.trim().replaceAll("\r\n", "\n");
  const lead = description === "" || said.includes(description) ? [] : [`*${tame(description)}*`];
  return [`### ${tame(name)}`, ...lead, ...(said === "" ? [] : [said])].join("\n\n");
}

const BEGIN = "<!-- memdir:begin (written by `memdir export`; what stands between the marks is replaced) -->";
const END = "<!-- memdir:end -->";
const BEGIN_LINE = /^[ \t]*<!-- memdir:begin\b.*-->[ \t]*$/gm;
const END_LINE = /^[ \t]*<!-- memdir:end\b.*-->[ \t]*$/gm;

function formatSection(memories: readonly Collected[]): string {
  const parts = byType(memories).flatMap(([heading, own]) => {
    return [`### ${heading}`, own.map(formatItem).join("\n").trimEnd()];
  });
  return [BEGIN, "## Memory", ...parts, END].join("\n\n");
}

/** The team's memories with their authors, and without anything that could pass for words of the user or the host. */
async function signTeam(memdir: Pick<Memdir, "config" | "directories">, memories: readonly Collected[]) {
  const signed: Collected[] = [];
  for (const one of memories) {
    const directory = memdir.directories.find(({ path, scope }) => scope === "team" && isWithin(path, one.path));
    if (!directory) {
      signed.push(one);
      continue;
    }
    // One call of git for a whole directory, and then kept.
    const author = (await readAuthors(directory, memdir.config.env)).get(relative(directory.path, one.path));
    const by = (author && formatAuthorship(author)) || "author unknown";
    const { name, description, body } = one.memory;
    const clean = { description: neutraliseLine(description), body: neutralise(body) };
    signed.push({ ...one, memory: { ...one.memory, ...clean, name: `${neutraliseLine(name)} (team: ${by})` } });
  }
  return signed;
}

/** Inside a list item nothing of a body can end the section or open another one. */
function formatItem({ name, description, body }: Memory): string {
  const said = (body.trim() || description).replaceAll("\r\n", "\n").replaceAll("<!--", "\\<!--");
  const lines = said.split("\n").map((line) => (line.trim() === "" ? "" : `  ${line}`));
  const short =
    lines.length === 1 && said.length < ONE_LINE && /^[\p{L}\p{N}`"'(]/u.test(said) && !/^\d+[.)]/.test(said);
  return short ? `- **${tame(name)}**: ${said}` : `- **${tame(name)}**\n\n${lines.join("\n")}\n`;
}

/** A longer text reads better below its name, and a list or a heading is one only there. */
const ONE_LINE = 200;

function tame(text: string): string {
  return text.replace(/\s+/g, " ").trim().replaceAll("<!--", "\\<!--").replace(/[*`]/g, "");
}

export function hasSection(text: string): boolean {
  return text.search(BEGIN_LINE) >= 0 || text.search(END_LINE) >= 0;
}

/** The file with its section replaced, or added at the end; every other byte stays. */
export function putSection(file: string, text: string, section: string): string {
  const broken = `${file} has a mark of memdir's without its other half, or more than one pair: fix them by hand`;
  return putMarked(text, findMarked(text, BEGIN_LINE, END_LINE, new MemdirError("conflict", broken)), section);
}

// --- Writing an export: aside and renamed, and never over a file that is not an earlier export unless that is wanted.

/** One file; `own` recognises an earlier export by its text. */
function writeFile(path: string, text: string, own: RegExp, force: boolean): void {
  const before = readThere(path);
  if (before === text) return;
  if (before !== null && !force && !own.test(before)) {
    const message = `${path} exists and is not an export of memdir: choose another --output, or --force`;
    throw new MemdirError("conflict", message);
  }
  replace(path, text);
}

/** A file of the user's in which only a part is ours: `edit` makes the new text of the old one. */
function editFile(path: string, edit: (text: string) => string): void {
  const before = readThere(path) ?? "";
  const after = edit(before);
  if (after !== before) replace(path, after);
}

/** What the last export into a folder wrote: by it the next one knows what may be replaced. */
const RECEIPT = ".memdir-export.json";

/**
 * A folder with a file for each memory. Files that the last export wrote and that did not change since are replaced, and removed
 * when their memory is gone; every other file stays, and one in the way is a conflict before anything is written.
 */
function writeFolder(dir: string, files: ReadonlyMap<string, string>, force: boolean): { removed: string[] } {
  if (statOrNull(dir)?.isFile()) throw new MemdirError("conflict", `${dir} is a file: give a folder with --output`);
  const receipt = readReceipt(join(dir, RECEIPT));
  const isOurs = (file: string, text: string) => receipt.get(file) === sha256(text);
  const foreign = [...files].flatMap(([file, text]) => {
    const there = readThere(resolveInside(dir, file));
    return there === null || there === text || force || isOurs(file, there) ? [] : [file];
  });
  if (foreign.length > 0) {
    const some = foreign.slice(0, 3).join(", ") + (foreign.length > 3 ? ` and ${foreign.length - 3} more` : "");
    const message = `in ${dir} other files are in the way (${some}): nothing was written; --force replaces them`;
    throw new MemdirError("conflict", message);
  }
  for (const [file, text] of files) {
    const path = resolveInside(dir, file);
    if (readThere(path) !== text) replace(path, text);
  }
  const removed = [...receipt.keys()].filter((file) => !files.has(file) && removeOwn(dir, file, isOurs));
  const hashes = Object.fromEntries([...files].map(([file, text]) => [file, sha256(text)]));
  replace(join(dir, RECEIPT), `${JSON.stringify({ memdir: 1, files: hashes }, null, 2)}\n`);
  return { removed };
}

function removeOwn(dir: string, file: string, isOurs: (file: string, text: string) => boolean): boolean {
  // Where a link or something else took its place, it is not ours any more.
  return attempt(() => {
    const path = resolveInside(dir, file);
    const there = readThere(path);
    const isOwn = there !== null && isOurs(file, there);
    if (isOwn) rmSync(path);
    return isOwn;
  }, false);
}

function readReceipt(path: string): Map<string, string> {
  const files = attempt(() => JSON.parse(readThere(path) ?? "{}").files, null);
  return new Map(
    Object.entries(files ?? {}).flatMap(([file, hash]) => (typeof hash === "string" ? [[file, hash]] : [])),
  );
}

/** Null when there is nothing. Throws for a directory or a pipe in the file's place. */
function readThere(path: string): string | null {
  const data = onDisk("read", path, () => readRegular(path, { follow: true }));
  if (data && isUtf8(data)) return data.toString("utf8");
  if (data)
    throw new MemdirError("conflict", `${path} is not valid UTF-8 and would not survive it: nothing was written`);
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return null;
  throw new MemdirError("conflict", `${path} is not a regular file: choose another --output`);
}

/** A link stays, and the file beside it that it leads to is written, as with an AGENTS.md that is a link to CLAUDE.md. */
function replace(path: string, text: string): void {
  const target = realPath(path);
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() && !isWithin(realPath(dirname(path)), target))
    throw new MemdirError(
      "outside",
      `${path} is a link to ${target}, outside its folder: give that file with --output`,
    );
  onDisk("write", path, () => {
    if (!existsSync(dirname(target))) makeFolders(dirname(target));
    const mode = statOrNull(target)?.mode ?? SHARED_MODE;
    moveInto(writeTemporary(dirname(target), text, mode & 0o777, `.${basename(target)}`), target);
  });
}
