/** Memories as MCP resources: `memory://<scope>/<file>` for each, `memory://index` for MEMORY.md. */

import { join } from "node:path";
import type { Memdir } from "../memdir.ts";
import { cutContent, neutralise, neutraliseLine } from "../recall/neutral.ts";
import { type Row, readBytes } from "../store/store.ts";
import { ProtocolError } from "./protocol.ts";

export const INDEX_URI = "memory://index";
const MARKDOWN = "text/markdown";
/** A page is one answer: small enough for any host to hold. */
const PAGE = 100;
/** No memory that a person wrote is longer. */
const MAX_BYTES = 256 * 1024;

export const RESOURCE_TEMPLATES = [
  {
    uriTemplate: "memory://{scope}/{+file}",
    name: "memory",
    title: "A memory",
    description: "One memory by its scope (user, project, team, agent:NAME) and its file name",
    mimeType: MARKDOWN,
  },
];

const INDEX = {
  uri: INDEX_URI,
  name: "index",
  title: "Index of memories",
  description: "MEMORY.md: one line for each memory of this project",
  mimeType: MARKDOWN,
};

export async function listResources(memdir: Memdir, cursor: string | undefined): Promise<object> {
  const offset = readCursor(cursor);
  const rows = new Map((await memdir.list()).filter(({ unreadable }) => !unreadable).map((row) => [uriOf(row), row]));
  const memories = [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([uri, row]) => describe(uri, row));
  const all = [INDEX, ...memories];
  const next = offset + PAGE;
  return { resources: all.slice(offset, next), ...(next < all.length && { nextCursor: String(next) }) };
}

/** What hosts show to a model is made harmless, as recall does: of plain text nothing changes. */
export async function readResource(memdir: Memdir, uri: string): Promise<object> {
  const text = uri === INDEX_URI ? (await memdir.index()).index : await readMemory(memdir, uri);
  const { content } = cutContent(neutralise(text), { maxBytes: MAX_BYTES, maxLines: Infinity });
  return { contents: [{ uri, mimeType: MARKDOWN, text: content }] };
}

/** Clients show no more. */
const MAX_COMPLETIONS = 100;

/** For the two variables of the address above: those that begin with it first, then those that contain it. */
export async function completeResource(memdir: Memdir, name: string, value: string, scope: unknown): Promise<object> {
  const rows = (await memdir.list()).filter(({ unreadable }) => !unreadable);
  const files = rows.filter((row) => typeof scope !== "string" || row.scope === scope).map(({ file }) => file);
  return complete(name === "scope" ? memdir.directories.map((each) => each.scope) : files, value);
}

export function complete(all: readonly string[], value: string): object {
  const wanted = value.toLowerCase();
  const found = [...new Set(all)].filter((each) => each.toLowerCase().includes(wanted)).sort();
  const [first, others] = [true, false].map((begins) =>
    found.filter((each) => each.toLowerCase().startsWith(wanted) === begins),
  ) as [string[], string[]];
  const values = [...first, ...others].slice(0, MAX_COMPLETIONS).map(neutraliseLine);
  return { completion: { values, total: found.length, hasMore: found.length > values.length } };
}

/** Only files that are listed are read: the address is compared, never made into a path. */
async function readMemory(memdir: Memdir, uri: string): Promise<string> {
  const row = (await memdir.list()).find((row) => !row.unreadable && uriOf(row) === uri);
  const directory = memdir.directories.find(({ path }) => row && join(path, row.file) === row.path);
  if (!row || !directory)
    throw new ProtocolError("badParams", `there is no resource ${uri}: resources/list names them`, { uri });
  return readBytes(directory, row.file).toString("utf8");
}

function describe(uri: string, row: Row): object {
  return {
    uri,
    name: neutraliseLine(row.file),
    title: neutraliseLine(row.name),
    description: neutraliseLine(row.description),
    mimeType: MARKDOWN,
    size: row.bytes,
    annotations: { lastModified: row.modified },
  };
}

export function uriOf({ scope, file }: Row): string {
  const encode = (part: string) => encodeURIComponent(part.toWellFormed());
  return `memory://${encode(scope)}/${file.split("/").map(encode).join("/")}`;
}

function readCursor(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  if (/^\d{1,9}$/.test(cursor)) return Number(cursor);
  throw new ProtocolError("badParams", "the cursor is unknown: list again from the beginning");
}
