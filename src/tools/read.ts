/** The Read tool: a file's lines with their numbers, and a note of what the model has now seen. */

import type { Tool } from "../model/tool.ts";
import { MAX_RESULT_CHARS } from "../model/tool-result.ts";
import { TOOL_WORDS } from "../prompts/tool-descriptions.ts";
import { type FileContent, isBinary, readFileAt, reasonOf } from "./file.ts";
import { countOf, decodeText, linesOf, numberLines, usesCrlf } from "./file-text.ts";
import { buildSchema, readInput } from "./input.ts";
import { findNearNames } from "./near-names.ts";
import { findPlace, type Place, permitRead } from "./place.ts";
import type { Workbench } from "./workbench.ts";

/** Larger files are logs and data, which are searched rather than read. */
export const MAX_FILE_BYTES = 50_000_000;
/** As many as Claude Code shows, so that models expect it. */
const MAX_LINES = 2000;
const MAX_LINE_CHARS = 2000;

/** Leaves room for notes: a longer result would be cut by the agent loop, and then more counted as seen than was shown. */
const MAX_SHOWN_CHARS = MAX_RESULT_CHARS - 4000;

const FIELDS = {
  file_path: { type: "string", required: true, filled: true },
  offset: { type: "integer", minimum: 0 },
  limit: { type: "integer", minimum: 1 },
} as const;

export function openRead(bench: Workbench): Tool {
  const words = TOOL_WORDS.Read;
  return {
    name: "Read",
    description: words.description,
    schema: buildSchema(FIELDS, words.inputs),
    async run(input, { signal }) {
      const { file_path, offset, limit } = readInput(FIELDS, input);
      const place = findPlace(bench, file_path);
      await permitRead(bench, "Read", place, signal);
      const { bytes } = readExisting(place);
      const view = viewOf(place, bytes, Math.max(1, offset ?? 1), limit ?? MAX_LINES);
      bench.files.note(place.real, { bytes, lines: view.seen });
      bench.onTouch({ path: place.path });
      const remark = bench.store?.owns(place.real) ? bench.store.remark(place.real) : null;
      return remark ? `${remark}\n${view.shown}` : view.shown;
    },
  };
}

/** Throws for what is missing, with names that may have been meant, and for what cannot be read. */
export function readExisting(place: Place): FileContent {
  let content: FileContent | null;
  try {
    content = readFileAt(place.real, MAX_FILE_BYTES);
  } catch (error) {
    throw new Error(`${place.shown} cannot be read: ${reasonOf(error)}`);
  }
  if (!content) throw missing(place);
  if (!isBinary(content.bytes)) return content;
  const [first, second] = content.bytes;
  const isWide = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  const what = isWide ? "it is UTF-16; convert it to UTF-8 first" : "it is a binary file";
  throw new Error(`${place.shown} cannot be read as text: ${what}`);
}

interface View {
  shown: string;
  /** Null: everything, uncut. */
  seen: { from: number; to: number } | null;
}

function viewOf(place: Place, bytes: Buffer, from: number, limit: number): View {
  if (bytes.length === 0) return { shown: `${place.shown} is empty`, seen: null };
  const { text, exact } = decodeText(bytes);
  const all = linesOf(text);
  if (all.length === 0) return { shown: `${place.shown} holds nothing but a byte order mark`, seen: null };
  if (from > all.length) {
    throw new Error(`${place.shown} has only ${countOf(all.length, "line")}; offset ${from} is behind its end`);
  }
  const { lines, cut } = take(all, from, limit);
  const to = from + lines.length - 1;
  const notes: string[] = [];
  if (from > 1 || to < all.length) {
    const next = to < all.length ? `; go on with offset ${to + 1}` : "";
    notes.push(`lines ${from}-${to} of ${all.length.toLocaleString("en-US")}${next}`);
  }
  if (cut > 0) notes.push(`${countOf(cut, "line")} cut at ${MAX_LINE_CHARS} characters`);
  if (usesCrlf(text)) notes.push("lines end with CRLF; Edit keeps that");
  if (!exact) notes.push("some bytes are not UTF-8 and shown as \ufffd; it cannot be edited without losing them");
  const tail = notes.length > 0 ? `\n\n[${notes.join(". ")}.]` : "";
  const isWhole = from === 1 && to === all.length && cut === 0;
  return { shown: numberLines(lines, from) + tail, seen: isWhole ? null : { from, to } };
}

/** As many lines as are asked for and fit, at least one. */
function take(all: readonly string[], from: number, limit: number): { lines: string[]; cut: number } {
  const lines: string[] = [];
  let cut = 0;
  let chars = 0;
  for (const line of all.slice(from - 1, from - 1 + limit)) {
    const shown = line.length > MAX_LINE_CHARS ? `${cutText(line, MAX_LINE_CHARS)}…` : line;
    chars += shown.length + 7;
    if (lines.length > 0 && chars > MAX_SHOWN_CHARS) break;
    if (shown !== line) cut++;
    lines.push(shown);
  }
  return { lines, cut };
}

/** Never half a character. */
function cutText(text: string, maxChars: number): string {
  const start = text.slice(0, maxChars);
  return start.isWellFormed() ? start : start.slice(0, -1);
}

export function missing(place: Place): Error {
  const near = findNearNames(place.real);
  if (near === null) return new Error(`${place.shown} does not exist, nor does its folder; use Glob to find the file`);
  const meant = near.length > 0 ? `; did you mean ${near.join(" or ")} in the same folder?` : "";
  return new Error(`${place.shown} does not exist${meant}`);
}
