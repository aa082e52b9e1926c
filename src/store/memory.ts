/** A memory: one Markdown file, read leniently. Whatever is wrong with it is said in `problems`; nothing is dropped. */

import { isUtf8 } from "node:buffer";
import { type Document, type Field, type FieldValue, findField, parseDocument } from "../text/frontmatter.ts";

/** The fields of a memory without its body. */
export interface Header {
  /** Path below the directory, with `/` on every system. */
  file: string;
  name: string;
  description: string;
  type: MemoryType;
  /** False when the file names no valid type; `type` is then the folder's or `user`. */
  typeExplicit: boolean;
  created: string | null;
  modified: string | null;
  verified: string | null;
  pinned: boolean;
  links: string[];
  /** Names or files of memories that this one replaces: they rank under it. */
  supersedes: string[];
  /** Cues: situations in which this memory should come to mind. */
  when: string[];
  source: Source | null;
  problems: string[];
  /** The file cannot be parsed safely: it is listed and never rewritten. */
  broken: boolean;
  /** It could not be opened at all. */
  unreadable: boolean;
}

/** Who said it, and where. */
export interface Source {
  by: string;
  session: string | null;
  message: string | null;
}

export interface Memory extends Header {
  body: string;
  /** Every field of the frontmatter as it was read. */
  metadata: Record<string, FieldValue>;
}

export function parseMemory(file: string, content: string | Buffer): Memory {
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

function headerOf(file: string, document: Document, utf8: boolean): Header {
  const read = (key: string) => readField(document.fields, key);
  const problems = [...document.problems];
  if (!utf8) problems.unshift("not valid UTF-8: it is shown with replacement characters and never rewritten");
  const broken = problems.length > 0;
  if (!document.hasFrontmatter && problems.length === 0) problems.push(NO_FRONTMATTER);

  const typeText = firstWord(textOf(read("type")));
  const typeExplicit = isMemoryType(typeText);
  if (document.hasFrontmatter && !typeExplicit) {
    const known = MEMORY_TYPES.join(", ");
    problems.push(typeText === "" ? `no type: write one of ${known}` : `the type "${typeText}" is none of ${known}`);
  }
  return {
    file,
    name: textOf(read("name")) || stemOf(file),
    description: textOf(read("description")),
    type: typeExplicit ? (typeText as MemoryType) : typeOfFolder(file),
    typeExplicit,
    created: dateOf(read("created")),
    modified: dateOf(read("modified")),
    verified: dateOf(read("verified")),
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

const NO_FRONTMATTER = "no frontmatter: name, description and type are unknown";

/** Without it a Markdown file is a memory only if the index names it. */
export function hasFrontmatter({ problems }: Pick<Header, "problems">): boolean {
  return !problems.includes(NO_FRONTMATTER);
}

/** A field at the top level, or under `metadata`, where Claude Code moves fields. */
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

export const MEMORY_TYPES = ["user", "feedback", "project", "reference"] as const;

export type MemoryType = (typeof MEMORY_TYPES)[number];

export function isMemoryType(value: unknown): value is MemoryType {
  return MEMORY_TYPES.includes(value as MemoryType);
}
