/** A memory: one Markdown file, read leniently. Whatever is wrong with it is said in `problems`; nothing is dropped. */

import { isUtf8 } from "node:buffer";
import { checkGivenType, isObject, MemdirError } from "../errors.ts";
import { findDeadlines } from "../text/deadlines.ts";
import { type Document, type Field, type FieldValue, findField, parseDocument } from "../text/frontmatter.ts";
import { sha256 } from "../text/hash.ts";
import { isDay } from "../text/local-day.ts";
import { redactSecrets } from "../text/secrets.ts";

/** The fields of a memory without its body. */
export interface Header {
  /** Path below the directory, with `/` on every system. */
  file: string;
  /** Its title, or the file's name without `.md` where the file does not give one. */
  name: string;
  /** One line on what it is about; "" where the file does not give one. */
  description: string;
  /** What it is about. */
  type: MemoryType;
  /** False when the file names no valid type; `type` is then the folder's or `user`. */
  typeExplicit: boolean;
  /** When it was first written, ISO; null where the file does not say. */
  created: string | null;
  /** When it was last changed, ISO; null where the file does not say. */
  modified: string | null;
  /** When it was last found to hold, ISO; null where the file does not say. */
  verified: string | null;
  /** The moment from which it no longer applies; a day without a time is included in full. */
  expires: string | null;
  /** Whether it must stay: prune and dream never remove it. */
  pinned: boolean;
  /** Names or files of related memories. */
  links: string[];
  /** Names or files of memories that this one replaces and outranks. */
  supersedes: string[];
  /** Cues: situations in which this memory should come to mind. */
  when: string[];
  /** Who said it and where; null where the file does not say. */
  source: Source | null;
  /** What is wrong with the file, in words. */
  problems: string[];
  /** The file cannot be parsed safely: it is listed and never rewritten. */
  broken: boolean;
  /** It could not be opened at all. */
  unreadable: boolean;
}

/** Who said it, and where. */
export interface Source {
  /** The person or program, such as `user` or an agent's name. */
  by: string;
  /** The id of the session it was said in; null if unknown. */
  session: string | null;
  /** The id of the message it was said in; null if unknown. */
  message: string | null;
}

/** A memory as it was read from its file. */
export interface Memory extends Header {
  /** The Markdown below the frontmatter. */
  body: string;
  /** Every field of the frontmatter as it was read. */
  metadata: Record<string, FieldValue>;
}

/** Reads the text of a memory file; problems are in the result and never thrown. */
export function parseMemory(file: string, content: string | Buffer): Memory {
  const isGiven = typeof content === "string" || content instanceof Uint8Array;
  checkGivenType(typeof file === "string" && isGiven, "parseMemory", "give the file's name and its text or bytes");
  const document = parseDocument(content.toString());
  const metadata = Object.fromEntries(document.fields.map((f) => [f.key, f.value]));
  return { ...headerOf(file, document, isText(content)), body: document.body, metadata };
}

export function parseHeader(file: string, content: string | Buffer): Header {
  return headerOf(file, parseDocument(content.toString()), isText(content));
}

function isText(content: string | Buffer): boolean {
  return typeof content === "string" || isUtf8(content);
}

/** Which encoding it is cannot be known; Latin-1 is the usual one. */
const NOT_UTF8 =
  "not valid UTF-8: open it in an editor and save it as UTF-8, or convert it with `iconv -f latin1 -t utf-8`; until then memdir shows it with replacement characters and does not change it";

function headerOf(file: string, document: Document, utf8: boolean): Header {
  const read = (key: string) => readField(document.fields, key);
  const problems = [...document.problems];
  if (!utf8) problems.unshift(NOT_UTF8);
  const broken = problems.length > 0;
  if (!document.hasFrontmatter && problems.length === 0) problems.push(NO_FRONTMATTER);

  const typeText = firstWord(textOf(read("type")));
  const typeExplicit = isMemoryType(typeText);
  if (document.hasFrontmatter && !typeExplicit) {
    const known = MEMORY_TYPES.join(", ");
    problems.push(
      typeText === "" ? `no type: write one of ${known}` : `"${typeText}" is not a type: use one of ${known}`,
    );
  }
  const end = read("expires");
  const day = firstWord(textOf(end));
  // As YAML has it, these are no value.
  const isGiven = end !== null && end.value !== "" && day !== "null" && day !== "~";
  if (isGiven && !isDay(day)) problems.push(BAD_END);
  return {
    file,
    name: textOf(read("name")) || stemOf(file),
    description: textOf(read("description")),
    type: typeExplicit ? (typeText as MemoryType) : typeOfFolder(file),
    typeExplicit,
    created: dateOf(read("created")),
    modified: dateOf(read("modified")),
    verified: dateOf(read("verified")),
    expires: endOf(end),
    pinned: /^(true|yes)$/i.test(firstWord(textOf(read("pinned")))),
    links: listOf(read("links")),
    supersedes: listOf(read("supersedes")),
    when: listOf(read("when")),
    source: sourceOf(read("source")),
    problems,
    broken,
    unreadable: false,
  };
}

/** Fields that every writer writes anew. */
const OWN_FIELDS: readonly string[] = ["name", "description", "type", "created", "modified"];

/** What a text says of itself when its body is saved under a head of our own. Absent fields are undefined. */
export function readGivenFields(text: string) {
  const document = parseDocument(text);
  const { fields } = document;
  const { pinned, links, supersedes, when, source } = headerOf("given.md", document, true);
  const day = firstWord(textOf(readField(fields, "expires")));
  const some = (list: string[]) => (list.length > 0 ? list : undefined);
  const kept = {
    when: some(when),
    links: some(links),
    supersedes: some(supersedes),
    pinned: readField(fields, "pinned") ? pinned : undefined,
    expires: isDay(day) ? day : undefined,
    source: source ?? undefined,
  };
  const given = fields.flatMap(({ key, value }): [string, FieldValue][] =>
    key === "metadata" && typeof value === "object" && !Array.isArray(value) ? Object.entries(value) : [[key, value]],
  );
  const isLeft = ([key, value]: [string, FieldValue]) =>
    value !== "" && !OWN_FIELDS.includes(key) && kept[key as keyof typeof kept] === undefined;
  /** Names of the fields that have no place in a save. */
  const left = [...new Set(given.filter(isLeft).map(([key]) => key))];
  return { ...kept, left };
}

/** Nothing that was given is dropped in silence. */
export function noteLeft(left: Iterable<string>): string[] {
  const names = [...new Set(left)].map((name) => oneLine(redactSecrets(name)));
  const more = names.length > SHOWN_FIELDS ? ` and ${names.length - SHOWN_FIELDS} more` : "";
  return names.length === 0 ? [] : [`not kept: ${names.slice(0, SHOWN_FIELDS).join(", ")}${more}`];
}

/** A folder of notes may have any number of fields. */
const SHOWN_FIELDS = 10;

const NO_FRONTMATTER = "no frontmatter: name, description and type are unknown";

/** Without it a Markdown file is a memory only if the index names it. */
export function hasFrontmatter({ problems }: Pick<Header, "problems">): boolean {
  return !problems.includes(NO_FRONTMATTER);
}

/** What a field says at the top level, and then what it says under `metadata`, where Claude Code moves fields. */
export function valuesOf(metadata: Memory["metadata"], key: string): FieldValue[] {
  const moved = metadata.metadata;
  return [metadata[key], isObject(moved) ? moved[key] : undefined].filter((value) => value !== undefined);
}

/** The same with its place in the file. */
function readField(fields: readonly Field[], key: string): Field | null {
  const top = findField(fields, [key]);
  if (top) return top;
  const metadata = findField(fields, ["metadata"]);
  const value =
    metadata && typeof metadata.value === "object" ? (metadata.value as Record<string, FieldValue>)[key] : undefined;
  if (!metadata || value === undefined) return null;
  return findField(metadata.fields, [key]) ?? { ...metadata, key, value };
}

export function stemOf(file: string): string {
  return file.slice(file.lastIndexOf("/") + 1).replace(/\.md$/, "");
}

/** A type folder is a hint where the file itself says nothing. */
function typeOfFolder(file: string): MemoryType {
  const folder = file.split("/")[0] ?? "";
  return file.includes("/") && isMemoryType(folder) ? folder : "user";
}

/** Whether the file or its folder says so: without either, `user` is only a guess. */
export function isOfType({ file, type, typeExplicit }: Pick<Header, "file" | "type" | "typeExplicit">, wanted: string) {
  return type === wanted && (typeExplicit || file.startsWith(`${wanted}/`));
}

function textOf(field: Field | null): string {
  return typeof field?.value === "string" ? field.value.trim() : "";
}

/** Plain values keep what follows a `#`; where only one word makes sense, a comment is a comment. */
function firstWord(text: string): string {
  return text.replace(/\s+#.*$/, "").trim();
}

function listOf(field: Field | null): string[] {
  const value = field?.value;
  if (Array.isArray(value)) return value.filter((v): v is string => typeof v === "string" && v !== "");
  return typeof value === "string" && value !== "" ? [value] : [];
}

function dateOf(field: Field | null): string | null {
  const text = firstWord(textOf(field));
  const time = Date.parse(text);
  return Number.isNaN(time) ? null : new Date(time).toISOString();
}

export const BAD_END = 'expires is not a date: write it as "2026-12-31"';

/** A day without a time is the last one on which something holds. */
function endOf(field: Field | null): string | null {
  const date = dateOf(field);
  const isDay = /^\d{4}-\d\d-\d\d$/.test(firstWord(textOf(field)));
  return date !== null && isDay ? new Date(Date.parse(date) + DAY_MS).toISOString() : date;
}

/** `user`, or `inferred session=… message=…`, or a map with `by`, `session` and `message`. */
function sourceOf(field: Field | null): Source | null {
  if (!field) return null;
  if (typeof field.value === "string") {
    const [by = "", ...rest] = field.value.trim().split(/\s+/);
    const part = (key: string) => rest.find((r) => r.startsWith(`${key}=`))?.slice(key.length + 1) ?? null;
    return by === "" ? null : { by, session: part("session"), message: part("message") };
  }
  if (Array.isArray(field.value)) return null;
  const { by, session, message } = field.value;
  const text = (value: FieldValue | undefined) => (typeof value === "string" && value !== "" ? value : null);
  return text(by) === null ? null : { by: by as string, session: text(session), message: text(message) };
}

export function formatSource(source: Source): string {
  const session = source.session ? ` session=${source.session}` : "";
  const message = source.message ? ` message=${source.message}` : "";
  return `${source.by}${session}${message}`;
}

/** Every type that a memory can have. */
export const MEMORY_TYPES = ["user", "feedback", "project", "reference"] as const;

/** What a memory is about: the person, how they want the work done, the project, or where something is kept. */
export type MemoryType = (typeof MEMORY_TYPES)[number];

/** Whether a value is a memory type. */
export function isMemoryType(value: unknown): value is MemoryType {
  return MEMORY_TYPES.includes(value as MemoryType);
}

// --- Names of memories and the file names made from them.

/** A name is a title, not a text. */
const MAX_NAME_LENGTH = 200;

/** Short enough for any file system and for a line of the index. */
const MAX_SLUG_LENGTH = 40;

/** A name on one line, normalised, without control characters. */
export function cleanName(name: string): string {
  const clean = name
    .normalize("NFC")
    .replace(/[\s\p{Cc}\u2028\u2029]+/gu, " ")
    .trim();
  if (clean === "") throw new MemdirError("usage", 'the name is empty: give one, such as "prefers tabs"');
  if (clean.length > MAX_NAME_LENGTH) {
    throw new MemdirError(
      "usage",
      `the name has ${clean.length} characters, the limit is ${MAX_NAME_LENGTH}: put the details into the body`,
    );
  }
  return clean;
}

/** The same text on one line; for descriptions and cues. */
export function oneLine(text: string): string {
  return text.normalize("NFC").replace(/\s+/g, " ").trim();
}

/** Lower-case letters and digits of any script joined by `_`; a name without any (only emoji) gets a hash. */
export function slugify(name: string): string {
  const words = name
    .normalize("NFKC")
    .toLowerCase()
    .normalize("NFC")
    .replace(/[^\p{L}\p{N}\p{M}]+/gu, "_");
  const slug = [...words.replace(/^_+|_+$/g, "")].slice(0, MAX_SLUG_LENGTH).join("").replace(/_+$/, "");
  return slug === "" ? `memory_${sha256(name).slice(0, 8)}` : slug;
}

/** `{type}_{slug}.md`, with a number from the second one on. The type in front keeps clear of reserved names like `con.md`. */
export function fileNameFor(type: MemoryType, name: string, number = 1): string {
  return `${type}_${slugify(name)}${number > 1 ? `_${number}` : ""}.md`;
}

/** File names under which other writers may keep a memory of this name: kebab case, without the type. */
export function otherFileNames(type: MemoryType, name: string): string[] {
  const slug = slugify(name);
  const kebab = slug.replaceAll("_", "-");
  return [...new Set([`${type}-${kebab}.md`, `${type}_${kebab}.md`, `${slug}.md`, `${kebab}.md`])];
}

/** Without case and after NFC: on most disks, and for most people, these are one name. */
export function sameName(a: string, b: string): boolean {
  return oneLine(a).toLowerCase() === oneLine(b).toLowerCase();
}

// --- How far a memory is trusted, by who said it, and what may become of what is trusted less.

/** Least trusted first: text of a document, what a tool printed, what an agent concluded, what the user said. */
export const TRUSTS = ["document", "tool", "inferred", "user"] as const;
/** How far the origin of a memory is trusted, least trusted first. */
export type Trust = (typeof TRUSTS)[number];

/**
 * A memory without a source was written by hand or by another program: it counts as the user's, so that nothing less
 * trusted replaces it. An unknown word is no promise: it counts as a conclusion.
 */
export function trustOf(source: Source | null): Trust {
  if (source === null) return "user";
  return TRUSTS.find((trust) => trust === source.by.toLowerCase()) ?? "inferred";
}

/** A memory made of several pieces is trusted no more than the least of them. */
export function leastTrust(trusts: readonly Trust[]): Trust {
  return trusts.reduce((least, trust) => (TRUSTS.indexOf(trust) < TRUSTS.indexOf(least) ? trust : least), "user");
}

export function mayReplace(old: Source | null, fresh: Trust): boolean {
  return TRUSTS.indexOf(fresh) >= TRUSTS.indexOf(trustOf(old));
}

/** What a tool printed or a document says can be noted as a fact; how to work, and who the user is, only they can say. */
export function mayBecome(type: MemoryType, trust: Trust): boolean {
  return trust === "user" || trust === "inferred" || (type !== "feedback" && type !== "user");
}

/** Whether the file itself says that it no longer holds. Rows of unreadable files say nothing. */
export function isExpired({ expires }: { expires?: string | null | undefined }, now: Date): boolean {
  return typeof expires === "string" && Date.parse(expires) <= now.getTime();
}

// --- The deadline that a note about a project is about, and whether it is well past.

/** A deadline this long past is not merely late. */
const OVERDUE_DAYS = 30;
const DAY_MS = 86_400_000;
/** What a memory is about stands in its beginning; a deadline further down is a detail. */
const LEAD_CHARS = 300;

/** YYYY-MM-DD; null for a memory that is about no deadline, or about several. */
export function findDay(
  memory: Pick<Memory, "type" | "pinned" | "name" | "description" | "body" | "created" | "modified">,
): string | null {
  if (memory.type !== "project" || memory.pinned) return null;
  const lead = memory.body.trimStart().slice(0, LEAD_CHARS);
  const said = `${memory.name}\n${memory.description}\n${lead}`;
  const written = memory.modified ?? memory.created;
  const days = new Set(findDeadlines(said, new Date(written ?? 0)).map(({ day }) => day));
  const [day = null] = days;
  // A day that was past when it was written is that of an event. Without a date of writing, both are possible.
  return days.size === 1 && day !== null && written !== null && written.slice(0, 10) < day ? day : null;
}

/** How many days past, where that is long ago and the memory was not looked at since; else null. */
export function daysOverdue(day: string, { verified }: Pick<Header, "verified">, now: Date): number | null {
  const days = Math.floor((now.getTime() - Date.parse(day)) / DAY_MS);
  return days > OVERDUE_DAYS && !(verified !== null && verified.slice(0, 10) > day) ? days : null;
}

// --- The mark of a memory that was kept because it could not be merged with another: which one it competes with.

export const CONFLICT_FIELD = "conflict_with";

/** Two people said different things: which one holds is for neither of them to find decided. */
export function isConflictCopy({ metadata }: Pick<Memory, "metadata">): boolean {
  return metadata[CONFLICT_FIELD] !== undefined;
}
