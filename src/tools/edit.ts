/** The Edit tool: replaces text in a file where the model has read it. */

import { filled, flag, required, text } from "../input.ts";
import type { InTurn, Tool } from "../model/tool.ts";
import type { LineEdit } from "../session/file-state.ts";
import { lineEnd } from "../text/lines.ts";
import { literally } from "../text/pattern.ts";
import { countOf, decodeText, encodeText, linesOf, numberLines, usesCrlf } from "./file.ts";
import { missing, readExisting, readTarget } from "./read.ts";
import { defineTool, findTarget, isReadable, type Target, type Workbench } from "./workbench.ts";
import { changeFile, type Plan, planWrite, refuseUnseen } from "./write.ts";

/** Enough to see that the edit landed where it should. */
const CONTEXT_LINES = 2;
const MAX_SHOWN_EDITS = 5;
const MAX_SHOWN_LINES = 40;

export const EDIT_FIELDS = {
  file_path: required(filled(text())),
  old_string: required(text()),
  new_string: required(text()),
  replace_all: flag(),
};

export interface Wanted {
  old: string;
  fresh: string;
  all: boolean;
}

export function openEdit(bench: Workbench, inTurn: InTurn): Tool {
  return defineTool("Edit", EDIT_FIELDS, async (input, call) => {
    const { file_path, old_string: old, new_string: fresh, replace_all: all = false } = input;
    if (old === fresh) throw new Error("old_string and new_string are the same; there is nothing to change");
    const target = findTarget(bench, file_path);
    return changeFile(bench, call, target, () => planEdit(bench, target, { old, fresh, all }), inTurn);
  });
}

function planEdit(bench: Workbench, target: Target, wanted: Wanted): Plan {
  const there = readTarget(target, "written");
  if (wanted.old === "") {
    if (there?.bytes.length) throw new Error(`${target.shown} is not empty: old_string must name the text to replace`);
    return planWrite(bench, target, wanted.fresh);
  }
  // Similar names are suggested only where reading needs no permission.
  if (!there) throw isReadable(bench, target) ? missing(target) : new Error(`${target.shown} does not exist`);
  // Whatever else is wrong, an unread file is reported first.
  refuseUnseen(bench, target, { kind: "edit", lines: [] });
  const base = readExisting(target);
  const { text, bom, exact } = decodeText(base.bytes);
  if (!exact) throw new Error(`${target.shown} contains bytes that are not UTF-8, which an edit would lose`);

  const matches = findClear(target.shown, text, wanted);
  const edits = lineEditsOf(text, matches);
  refuseUnseen(bench, target, { kind: "edit", lines: edits });
  const changed = applyMatches(text, matches);
  const times = matches.length > 1 ? ` in ${countOf(matches.length, "place")}` : "";
  const result = `edited ${target.shown}${times}:\n${showEdits(changed, edits)}`;
  return { base, bytes: encodeText(changed, bom), edits, result };
}

/** Throws when the text to replace is not there, or in several places although only one was meant. */
export function findClear(shown: string, text: string, { old, fresh, all }: Wanted): Match[] {
  const matches = findMatches(text, old, fresh);
  if (matches.length === 0) throw new Error(`old_string was not found in ${shown}${hintFor(text, old)}`);
  if (matches.length === 1 || all) return matches;
  const lines = lineEditsOf(text, matches).map(({ from }) => from);
  const places = lines.length > 5 ? `${lines.slice(0, 5).join(", ")}, …` : lines.join(", ");
  throw new Error(
    `old_string occurs ${matches.length} times in ${shown} (lines ${places}): add lines around it until it is unique, or set replace_all`,
  );
}

function showEdits(changed: string, edits: readonly LineEdit[]): string {
  const lines = linesOf(changed);
  let shift = 0;
  const parts = edits.slice(0, MAX_SHOWN_EDITS).map(({ from, to, into }) => {
    const first = Math.max(1, from + shift - CONTEXT_LINES);
    const last = Math.min(lines.length, from + shift + into - 1 + CONTEXT_LINES);
    shift += into - (to - from + 1);
    return showLines(lines.slice(first - 1, last), first, MAX_SHOWN_LINES);
  });
  const rest = edits.length - MAX_SHOWN_EDITS;
  if (rest > 0) parts.push(`… and ${countOf(rest, "more place")}`);
  return lines.length === 0 ? "(the file is empty now)" : parts.join("\n--\n");
}

/** Offsets in the current text, and the replacement. */
interface Match {
  start: number;
  end: number;
  fresh: string;
}

/** A longer pattern is more than the engine compiles. */
const MAX_PATTERN = 20_000;

/** In order, without overlaps. A model writes LF: in a text with CRLF it means CRLF, and new lines get the same ends. */
export function findMatches(text: string, old: string, fresh: string): Match[] {
  const hasCrlf = text.includes("\r\n");
  // Of an old text this long, all line ends are taken to be as most are.
  if (hasCrlf && old.length > MAX_PATTERN) {
    const toFile = (given: string) => (usesCrlf(text) ? given.replace(/\r?\n/g, "\r\n") : given);
    const region = toFile(old);
    const starts: Match[] = [];
    for (let start = text.indexOf(region); start >= 0; start = text.indexOf(region, start + region.length))
      starts.push({ start, end: start + region.length, fresh: toFile(fresh) });
    return starts;
  }
  const literal = literally(hasCrlf ? old.replaceAll("\r\n", "\n") : old);
  const source = hasCrlf ? literal.replaceAll("\r", "\\r(?!\\n)").replaceAll("\n", "\\r?\\n") : literal;
  const crlf = usesCrlf(text);
  const newLines = hasCrlf ? fresh.replaceAll("\r\n", "\n") : fresh;
  return [...text.matchAll(new RegExp(source, "g"))].map(({ 0: region, index: start }) => {
    const isCrlf = region.includes("\n") ? region.includes("\r\n") : crlf;
    return { start, end: start + region.length, fresh: isCrlf ? newLines.replaceAll("\n", "\r\n") : newLines };
  });
}

export function applyMatches(text: string, matches: readonly Match[]): string {
  const parts: string[] = [];
  let at = 0;
  for (const { start, end, fresh } of matches) {
    parts.push(text.slice(at, start), fresh);
    at = end;
  }
  return parts.join("") + text.slice(at);
}

/** The lines that the matches change, as whole lines: a removed line end takes the next line with it. */
export function lineEditsOf(text: string, matches: readonly Match[]): LineEdit[] {
  const changed = applyMatches(text, matches);
  const edits: LineEdit[] = [];
  // `at` begins a line, which is `grown` further in the changed text.
  let [at, line, grown, next] = [0, 1, 0, 0];
  while (next < matches.length) {
    const start = at + text.slice(at, matches[next]?.start).lastIndexOf("\n") + 1;
    line += linesOf(text.slice(at, start)).length;
    const from = start + grown;
    let end = start;
    do {
      // The first round starts with the line of the first match, each later one with a line that the previous match reached into.
      end = lineEnd(text, end);
      for (let match = matches[next]; match && match.start < end; match = matches[++next]) {
        end = Math.max(end, lineEnd(text, match.end - 1));
        grown += match.fresh.length - (match.end - match.start);
      }
    } while (end + grown > from && changed[end + grown - 1] !== "\n" && end < text.length);
    const count = linesOf(text.slice(start, end)).length;
    edits.push({ from: line, to: line + count - 1, into: linesOf(changed.slice(from, end + grown)).length });
    line += count;
    at = end;
  }
  return edits;
}

/** What follows "was not found": the likely cause, if there is one. */
function hintFor(text: string, old: string): string {
  if (/^\s*\d+→/m.test(old))
    return ": it holds line numbers; leave out the number and arrow that Read puts before a line";
  const words = old.split(/\s+/).filter((word) => word !== "");
  const pattern = words.map(literally).join("\\s+");
  const near = words.length > 0 && pattern.length < MAX_PATTERN ? new RegExp(pattern).exec(text) : null;
  const [place] = near
    ? lineEditsOf(text, [{ start: near.index, end: near.index + near[0].length, fresh: near[0] }])
    : [];
  if (!place) return "; read the file again and copy the text exactly";
  const { from, to } = place;
  const range = from === to ? `line ${from} differs` : `lines ${from}-${to} differ`;
  const found = showLines(linesOf(text).slice(from - 1, to), from, MAX_HINT_LINES);
  return `: ${range} from it only in whitespace (tabs, spaces or line ends). Copy exactly:\n${found}`;
}

const MAX_HINT_LINES = 20;

function showLines(lines: readonly string[], first: number, max: number): string {
  const rest = lines.length - max;
  return numberLines(lines.slice(0, max), first) + (rest > 0 ? `\n… ${countOf(rest, "line")} more` : "");
}
