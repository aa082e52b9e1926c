/** The Edit tool of session notes: it changes a draft in memory, knows one file, and refuses what damages the notes' form. */

import { normalize } from "node:path";
import type { Tool } from "../model/tool.ts";
import { buildSizeReminders } from "../prompts/learning.ts";
import { TOOL_WORDS } from "../prompts/tool-descriptions.ts";
import { applyMatches, findMatches, hintFor } from "../tools/edit.ts";
import { buildSchema, readInput } from "../tools/input.ts";
import { findDamage, MAX_NOTES_BYTES, measureNotes } from "./notes-template.ts";

export interface NotesDraft {
  text: string;
  /** How many edits were taken. */
  edits: number;
}

/** As the agent's own Edit declares them: a fork that declares another tool would lose the provider's cache. */
const FIELDS = {
  file_path: { type: "string", required: true, filled: true },
  old_string: { type: "string", required: true },
  new_string: { type: "string", required: true },
  replace_all: { type: "boolean" },
} as const;

/** Nothing reaches the disk: the draft is written when the whole run went well. Synchronous, so that calls of one turn do not mix. */
export function openNotesEdit(path: string, draft: NotesDraft, countTokens: (text: string) => number): Tool {
  const begun = draft.text;
  return {
    name: "Edit",
    description: TOOL_WORDS.Edit.description,
    schema: buildSchema(FIELDS, TOOL_WORDS.Edit.inputs),
    run(input) {
      const { file_path, old_string: old, new_string: fresh, replace_all: all = false } = readInput(FIELDS, input);
      if (normalize(file_path) !== path) throw new Error(`only ${path} can be edited here`);
      draft.text = edit(draft.text, begun, { old, fresh, all });
      draft.edits++;
      const reminders = buildSizeReminders(measureNotes(draft.text, countTokens));
      return reminders === "" ? "edited" : `edited\n\n${reminders}`;
    },
  };
}

function edit(text: string, begun: string, { old, fresh, all }: { old: string; fresh: string; all: boolean }): string {
  if (old === "") throw new Error("old_string is empty: name the text after which something is to come, or to replace");
  if (old === fresh) throw new Error("old_string and new_string are the same; there is nothing to change");
  if (fresh.includes("\0")) throw new Error("new_string holds a NUL character, which is no text");
  const matches = findMatches(text, old, fresh);
  if (matches.length === 0) throw new Error(`old_string was not found in the notes${hintFor(text, old)}`);
  if (matches.length > 1 && !all) {
    throw new Error(`old_string occurs ${matches.length} times: add lines around it until it is unique`);
  }
  const changed = applyMatches(text, matches);
  const damage = findDamage(begun, changed);
  if (damage) throw new Error(`not edited: ${damage}; headings and the lines in italics below them must stay`);
  if (Buffer.byteLength(changed) > MAX_NOTES_BYTES) {
    throw new Error(`not edited: the notes would be larger than ${MAX_NOTES_BYTES} bytes; shorten other parts first`);
  }
  return changed;
}
