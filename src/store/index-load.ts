/** MEMORY.md as the model sees it: cut exactly as the client cuts, and generated as the client does when it is missing. */

import { statSync } from "node:fs";
import { join } from "node:path";
import { exchange, isWithin, realPath, removeQuietly, writeTemporary } from "../disk/fence.ts";
import { walk } from "../project/locate.ts";
import { parseDocument } from "../text/frontmatter.ts";
import { stripForClient } from "../text/lines.ts";
import { redactSecrets } from "../text/secrets.ts";
import { type Directory, fileMode, type IndexLimits, isShared, openPins, readStart, statePath } from "./directory.ts";
import { indexPath, readOverflow, readText } from "./index-file.ts";
import { isOver, linkedFiles } from "./index-line.ts";
import { stemOf } from "./memory.ts";

/** MEMORY.md as a model sees it. */
export interface IndexView {
  /** Absolute path of the directory that the index belongs to. */
  dir: string;
  /** What is loaded, without the warning. */
  index: string;
  /** Lines of the whole index, not only of the part that is loaded. */
  lines: number;
  /** Characters (UTF-16 units) of the whole index. */
  chars: number;
  /** Whether the index is too large and only its beginning is loaded. */
  truncated: boolean;
  /** What is not loaded and what to do about it; null when all of it is loaded. */
  warning: IndexWarning | null;
  /** Files that only the overflow page points to. */
  overflow: string[];
}

/** What is wrong with MEMORY.md. */
export interface IndexWarning {
  /** How many lines the whole index has; null unless they are too many. */
  lines: number | null;
  /** How many characters (UTF-16 units) the whole index has; null unless they are too many. */
  chars: number | null;
  /** How many lines are not loaded; null when the index is one giant line that was cut. */
  cutLines: number | null;
  /** The number of the first line that is not loaded, from 1; null when `cutLines` is. */
  firstCutLine: number | null;
  /** The warning in words, with advice, ready to be shown. */
  message: string;
}

export function loadIndex(directory: Directory, options: { generate: boolean }): IndexView {
  const isForeign = isForeignLink(directory);
  // The client follows a link here, so for looking we do too; a directory or fifo is no index.
  const text = isForeign ? "" : (readText(indexPath(directory)) ?? (options.generate ? generateIndex(directory) : ""));
  const overflowText = readOverflow(directory);
  const inIndex = linkedFiles(text);
  const overflow = [...linkedFiles(overflowText)].filter((file) => !inIndex.has(file));
  const cut = cutIndex(text, directory.limits);
  return { dir: directory.path, ...cut, warning: isForeign ? FOREIGN : cut.warning, overflow };
}

/** Users may link their own index; one that came with a repository could lead to any of their files. */
function isForeignLink(directory: Directory): boolean {
  const isInClone = isShared(directory) || directory.scope.endsWith("@local");
  return isInClone && !isWithin(realPath(directory.path), realPath(indexPath(directory)));
}

const FOREIGN: IndexWarning = {
  lines: null,
  chars: null,
  cutLines: null,
  firstCutLine: null,
  message: "MEMORY.md is a link that leads out of the directory, so it is not read: replace it with a file.",
};

/** Lines first, then at the last newline under the character limit; one giant line is cut inside, never inside a character. */
export function cutIndex(text: string, limits: IndexLimits): Omit<IndexView, "dir" | "overflow"> {
  const whole = stripForClient(text).trim();
  const all = whole === "" ? [] : whole.split("\n");
  const size = { lines: all.length, chars: whole.length };
  if (!isOver(size, limits)) {
    return { index: toLf(whole), ...size, truncated: false, warning: null };
  }
  let kept = all.slice(0, limits.maxLines).join("\n");
  let insideLine = false;
  if (kept.length > limits.maxChars) {
    const newline = kept.lastIndexOf("\n", limits.maxChars);
    insideLine = newline <= 0;
    kept = insideLine ? cutCodePoints(kept, limits.maxChars) : kept.slice(0, newline);
  }
  const keptLines = kept.split("\n").length;
  const cut = insideLine && all.length === 1 ? null : all.length - keptLines;
  const warning: Omit<IndexWarning, "message"> = {
    lines: size.lines > limits.maxLines ? size.lines : null,
    chars: size.chars > limits.maxChars ? size.chars : null,
    cutLines: cut,
    firstCutLine: cut === null ? null : keptLines + 1,
  };
  const first = (cut === null ? kept.slice(-40) : (all[keptLines] ?? "")).trim();
  return {
    index: toLf(kept).trimEnd(),
    ...size,
    truncated: true,
    warning: { ...warning, message: inWords(warning, first, limits) },
  };
}

function inWords(warning: Omit<IndexWarning, "message">, first: string, limits: IndexLimits): string {
  const over = [
    warning.lines === null ? "" : `${warning.lines} lines (limit ${limits.maxLines})`,
    warning.chars === null ? "" : `${warning.chars} characters (limit ${limits.maxChars})`,
  ].filter((part) => part !== "");
  const excerpt = JSON.stringify(first.length > 60 ? `${cutCodePoints(first, 60)}…` : first);
  const lost =
    warning.cutLines === null
      ? `the line is cut after ${excerpt}`
      : `${warning.cutLines} line${warning.cutLines === 1 ? "" : "s"} from line ${warning.firstCutLine} on (${excerpt}) are not loaded`;
  return `MEMORY.md has ${over.join(" and ")}: ${lost}. Keep one line per memory, under 200 characters; \`memdir index --rebuild\` moves the least valuable lines to an overflow page.`;
}

function cutCodePoints(text: string, length: number): string {
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}

function toLf(text: string): string {
  return text.replaceAll("\r\n", "\n");
}

/** A line shows a hundred characters of it. */
const MAX_HEADER_BYTES = 64 * 1024;
/** Numbers of the client's own generator, as observed. */
const GENERATED = { lineChars: 150, lines: 140, chars: 17_500 };

/**
 * The index that the client makes when there are memories and no MEMORY.md: newest first, stem as title. It is written
 * too, as the client does, so that both see the same; where it cannot be written it is only shown.
 */
function generateIndex(directory: Directory): string {
  const { files } = walk(directory.path, directory.recursive);
  const usable = files
    .filter((file) => !/[[\]()]/.test(file))
    .map((file) => ({ file, mtimeMs: statSync(join(directory.path, file), { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .sort((a, b) => b.mtimeMs - a.mtimeMs || (a.file < b.file ? -1 : 1));
  const lines: string[] = [];
  let chars = 0;
  for (const { file } of usable) {
    const line = generatedLine(directory, file);
    if (lines.length >= GENERATED.lines || chars + line.length + 1 > GENERATED.chars) break;
    lines.push(line);
    chars += line.length + 1;
  }
  if (lines.length === 0) return "";
  const text = `${lines.join("\n")}\n`;
  if (!directory.readOnly) writeGenerated(directory, text);
  return text;
}

function generatedLine(directory: Directory, file: string): string {
  const { fields, problems } = parseDocument(readStart(directory, file, MAX_HEADER_BYTES).toString("utf8"));
  const field = fields.find((f) => f.key === "description");
  const isText = field && typeof field.value === "string" && !(field.style === "plain" && isOtherScalar(field.value));
  const words = isText && problems.length === 0 ? (field.value as string) : "";
  const description = redactSecrets(words).replace(/\s+/g, " ").trim();
  const link = `- [${stemOf(file)}](${file})`;
  const line = `${link} — ${description}`;
  if (description === "" || link.length >= GENERATED.lineChars - 4) return link;
  return line.length > GENERATED.lineChars ? `${cutCodePoints(line, GENERATED.lineChars - 1)}…` : line;
}

/** An unquoted number, boolean or null is not text for the client. */
function isOtherScalar(value: string): boolean {
  return /^(true|false|null|~|[-+]?(\d[\d_]*)?\.?\d+(e[-+]?\d+)?|0x[0-9a-f]+|0o[0-7]+|[-+]?\.inf|\.nan)$/i.test(
    value.trim(),
  );
}

function writeGenerated(directory: Directory, text: string): void {
  try {
    const { pinned, close } = openPins(directory);
    try {
      const temporary = writeTemporary(statePath(pinned, "tmp"), text, fileMode(directory));
      // Somebody else may have made one meanwhile: theirs stays.
      const result = exchange(temporary, indexPath(directory), () => false, null);
      if (result === "changed") removeQuietly(temporary);
    } finally {
      close();
    }
  } catch (error) {
    directory.log(`MEMORY.md was not written: ${(error as Error).message}`);
  }
}
