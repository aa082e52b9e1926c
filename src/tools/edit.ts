/** The Edit tool: one text in a file becomes another, where the model has read it. */

import type { Tool } from "../model/tool.ts";
import { TOOL_WORDS } from "../prompts/tool-descriptions.ts";
import type { LineEdit } from "../session/file-lines.ts";
import { changeFile, type InTurn, type Plan, refuseUnseen } from "./change.ts";
import { applyMatches, findMatches, hintFor, lineEditsOf, type Match } from "./edit-match.ts";
import { countOf, decodeText, encodeText, linesOf, numberLines } from "./file-text.ts";
import { buildSchema, readInput } from "./input.ts";
import { findPlace, isReadable, type Place } from "./place.ts";
import { missing, readExisting } from "./read.ts";
import type { Workbench } from "./workbench.ts";
import { planWrite, readBase } from "./write.ts";

/** Enough to see that the edit landed where it should. */
const CONTEXT_LINES = 2;
const MAX_SHOWN_EDITS = 5;
const MAX_SHOWN_LINES = 40;

const FIELDS = {
  file_path: { type: "string", required: true, filled: true },
  old_string: { type: "string", required: true },
  new_string: { type: "string", required: true },
  replace_all: { type: "boolean" },
} as const;

interface Wanted {
  old: string;
  fresh: string;
  all: boolean;
}

export function openEdit(bench: Workbench, inTurn: InTurn): Tool {
  const words = TOOL_WORDS.Edit;
  return {
    name: "Edit",
    description: words.description,
    schema: buildSchema(FIELDS, words.inputs),
    async run(input, { signal }) {
      const { file_path, old_string: old, new_string: fresh, replace_all: all = false } = readInput(FIELDS, input);
      if (old === fresh) throw new Error("old_string and new_string are the same; there is nothing to change");
      const place = findPlace(bench, file_path);
      return changeFile(bench, "Edit", place, () => planEdit(bench, place, { old, fresh, all }), { inTurn, signal });
    },
  };
}

function planEdit(bench: Workbench, place: Place, wanted: Wanted): Plan {
  const there = readBase(place);
  if (wanted.old === "") {
    if (there?.bytes.length) throw new Error(`${place.shown} is not empty: old_string must name the text to replace`);
    return planWrite(bench, place, wanted.fresh);
  }
  // Names beside it are told only where reading is free.
  if (!there) throw isReadable(bench, place) ? missing(place) : new Error(`${place.shown} does not exist`);
  // Whatever else is wrong, a file that was not read comes first.
  refuseUnseen(bench, place, { kind: "edit", lines: [] });
  const base = readExisting(place);
  const { text, bom, exact } = decodeText(base.bytes);
  if (!exact) throw new Error(`${place.shown} holds bytes that are not UTF-8, and an edit would lose them`);

  const matches = findMatches(text, wanted.old, wanted.fresh);
  refuseUnclear(place, text, wanted, matches);
  const edits = lineEditsOf(text, matches);
  refuseUnseen(bench, place, { kind: "edit", lines: edits });
  const changed = applyMatches(text, matches);
  const times = matches.length > 1 ? ` in ${countOf(matches.length, "place")}` : "";
  const result = `edited ${place.shown}${times}:\n${showEdits(changed, edits)}`;
  return { base, bytes: encodeText(changed, bom), edits, result };
}

function refuseUnclear(place: Place, text: string, { old, all }: Wanted, matches: readonly Match[]): void {
  if (matches.length === 0) throw new Error(`old_string was not found in ${place.shown}${hintFor(text, old)}`);
  if (matches.length === 1 || all) return;
  const lines = lineEditsOf(text, matches).map(({ from }) => from);
  const shown = lines.length > 5 ? `${lines.slice(0, 5).join(", ")}, …` : lines.join(", ");
  throw new Error(
    `old_string occurs ${matches.length} times in ${place.shown} (lines ${shown}): add lines around it until it is unique, or set replace_all`,
  );
}

function showEdits(changed: string, edits: readonly LineEdit[]): string {
  const lines = linesOf(changed);
  let shift = 0;
  const parts: string[] = [];
  for (const { from, to, into } of edits) {
    if (parts.length === MAX_SHOWN_EDITS) {
      parts.push(`… and ${countOf(edits.length - MAX_SHOWN_EDITS, "more place")}`);
      break;
    }
    const first = Math.max(1, from + shift - CONTEXT_LINES);
    const last = Math.min(lines.length, from + shift + into - 1 + CONTEXT_LINES);
    const shown = lines.slice(first - 1, last);
    const rest = shown.length - MAX_SHOWN_LINES;
    parts.push(
      numberLines(shown.slice(0, MAX_SHOWN_LINES), first) + (rest > 0 ? `\n… ${countOf(rest, "line")} more` : ""),
    );
    shift += into - (to - from + 1);
  }
  return lines.length === 0 ? "(the file is empty now)" : parts.join("\n--\n");
}
