/** What the model sees: a folder as a list, a text with line numbers, an image. */

import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { readRegular } from "../disk/fence.ts";
import { attempt, MemdirError } from "../errors.ts";
import { MAX_DEPTH } from "../store/store.ts";
import { type Item, missing, ROOT } from "./item.ts";

/** The API's format for a tool result. */
export interface ImageBlock {
  type: "image";
  /** The image's bytes in base64, with their media type. */
  source: { type: "base64"; media_type: "image/png" | "image/jpeg" | "image/gif" | "image/webp"; data: string };
}

/** The API tells the model that texts are cut here. */
export const MAX_VIEW_CHARS = 16_000;

/** The reference's limit: line numbers are six digits wide. */
const MAX_LINES = 999_999;
const NUMBER_WIDTH = 6;

/** Notes are never this large; a database that was left here must not be read into memory. */
const MAX_READ_BYTES = 64 << 20;

/** The API refuses larger images. */
const MAX_IMAGE_BYTES = 5 << 20;

/** As the header of the list promises. */
const LISTED_DEPTH = 2;

export function viewFolder({ shown, path }: Item, maxChars: number): string {
  const { bytes, lines } = listFolder(path, shown, 1);
  const header = `Here're the files and directories up to 2 levels deep in ${shown}, excluding hidden items and node_modules:`;
  const all = [`${formatSize(bytes)}\t${shown}`, ...lines];
  const kept = countFitting(all, maxChars);
  const left = all.length - kept;
  const note =
    left === 0 ? [] : [`[cut at ${maxChars} characters: ${left} more; ${ROOT}/MEMORY.md lists the memories]`];
  return [header, ...all.slice(0, kept), ...note].join("\n");
}

export function viewText(item: Item, text: string, range: unknown, maxChars: number): string {
  const { shown } = item;
  const lines = text.split("\n");
  if (lines.length > MAX_LINES) {
    throw new MemdirError("usage", `File ${shown} has too many lines (${lines.length}). Maximum is 999,999 lines.`);
  }
  const { first, last } = parseRange(range, lines.length);
  return `Here's the content of ${shown} with line numbers:\n${numberLines(lines, first, last, maxChars)}`;
}

/** Lines around an edit, numbered. */
export function viewSnippet(text: string, first: number, last: number, maxChars: number): string {
  const lines = text.split("\n");
  return numberLines(lines, Math.max(1, first - 2), Math.min(lines.length, last + 2), maxChars);
}

export function readItem({ shown, path, kind, bytes }: Item): Buffer {
  if (kind === "other") throw new MemdirError("usage", `Unsupported file type for ${shown}`);
  if (bytes > MAX_READ_BYTES) throw new MemdirError("usage", `File ${shown} is too large (${formatSize(bytes)}).`);
  const data = readRegular(path, { maxBytes: MAX_READ_BYTES });
  if (!data) throw missing(shown, ". Please provide a valid path.");
  return data;
}

/** The image in these bytes, whatever the file is called, or null. */
export function viewImage({ shown }: Item, data: Buffer): ImageBlock | null {
  const type = IMAGES.find(([, isOne]) => isOne(data))?.[0];
  if (!type) return null;
  if (data.length > MAX_IMAGE_BYTES)
    throw new MemdirError("usage", `File ${shown} is too large for an image (${formatSize(data.length)}).`);
  return { type: "image", source: { type: "base64", media_type: type, data: data.toString("base64") } };
}

const IMAGES: readonly [ImageBlock["source"]["media_type"], (data: Buffer) => boolean][] = [
  ["image/png", (data) => data.toString("latin1", 0, 8) === "\x89PNG\r\n\x1a\n"],
  ["image/jpeg", (data) => data.toString("latin1", 0, 3) === "\xff\xd8\xff"],
  ["image/gif", (data) => /^GIF8[79]a$/.test(data.toString("latin1", 0, 6))],
  ["image/webp", (data) => /^RIFF.{4}WEBP$/s.test(data.toString("latin1", 0, 12))],
];

export function formatSize(bytes: number): string {
  const step = bytes < 1 ? 0 : Math.min(3, Math.floor(Math.log(bytes) / Math.log(1024)));
  const size = bytes / 1024 ** step;
  return `${Number.isInteger(size) ? size : size.toFixed(1)}${"BKMG"[step]}`;
}

/** A folder's size is the sum of what it shows, because systems report different sizes for a folder itself. */
function listFolder(folder: string, shown: string, depth: number): { bytes: number; lines: string[] } {
  const lines: string[] = [];
  let bytes = 0;
  for (const name of readNames(folder)) {
    const path = join(folder, name);
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat?.isFile()) {
      bytes += stat.size;
      lines.push(`${formatSize(stat.size)}\t${shown}/${name}`);
    } else if (stat?.isDirectory() && depth <= MAX_DEPTH) {
      const inner = listFolder(path, `${shown}/${name}`, depth + 1);
      bytes += inner.bytes;
      lines.push(`${formatSize(inner.bytes)}\t${shown}/${name}/`, ...(depth < LISTED_DEPTH ? inner.lines : []));
    }
  }
  return { bytes, lines };
}

/** A folder that cannot be read shows nothing. */
function readNames(folder: string): string[] {
  const names = attempt(() => readdirSync(folder), []);
  return names.filter((name) => !name.startsWith(".") && name !== "node_modules").sort();
}

function parseRange(range: unknown, count: number): { first: number; last: number } {
  if (range === undefined || range === null) return { first: 1, last: count };
  const [from, to] = Array.isArray(range) ? range : [];
  const first = Math.max(1, from);
  const last = to === -1 ? count : Math.min(count, to);
  if (Array.isArray(range) && range.length === 2 && [from, to].every(Number.isInteger) && first <= last)
    return { first, last };
  throw new MemdirError(
    "usage",
    `Invalid \`view_range\` parameter: ${JSON.stringify(range)}. It should be two lines of the file, [first, last], within [1, ${count}]; -1 stands for the last one.`,
  );
}

function numberLines(lines: readonly string[], first: number, last: number, maxChars: number): string {
  const all = lines
    .slice(first - 1, last)
    .map((line, i) => `${String(first + i).padStart(NUMBER_WIDTH)}\t${line.replace(/\r$/, "")}`);
  const kept = countFitting(all, maxChars);
  if (kept === all.length) return all.join("\n");
  // A line that is too long on its own is cut, because no other view would show it.
  const shown = kept === 0 ? [(all[0] as string).slice(0, maxChars).toWellFormed()] : all.slice(0, kept);
  const next = first + shown.length;
  const rest = next > last ? "the line continues" : `view_range [${next}, ${last}] shows what follows`;
  return [...shown, `[cut at ${maxChars} characters: ${rest}]`].join("\n");
}

function countFitting(lines: readonly string[], maxChars: number): number {
  let chars = 0;
  const over = lines.findIndex((line) => {
    chars += line.length + 1;
    return chars > maxChars + 1;
  });
  return over < 0 ? lines.length : over;
}
