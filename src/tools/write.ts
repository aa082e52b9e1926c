/** The Write tool: a whole file, new or in the place of one that was read. */

import type { Tool } from "../model/tool.ts";
import { TOOL_WORDS } from "../prompts/tool-descriptions.ts";
import { changeFile, type InTurn, type Plan, refuseUnseen } from "./change.ts";
import { type FileContent, readFileAt, reasonOf } from "./file.ts";
import { countOf, linesOf } from "./file-text.ts";
import { buildSchema, readInput } from "./input.ts";
import { findPlace, type Place } from "./place.ts";
import { MAX_FILE_BYTES } from "./read.ts";
import type { Workbench } from "./workbench.ts";

const FIELDS = {
  file_path: { type: "string", required: true, filled: true },
  content: { type: "string", required: true },
} as const;

export function openWrite(bench: Workbench, inTurn: InTurn): Tool {
  const words = TOOL_WORDS.Write;
  return {
    name: "Write",
    description: words.description,
    schema: buildSchema(FIELDS, words.inputs),
    async run(input, { signal }) {
      const { file_path, content } = readInput(FIELDS, input);
      const place = findPlace(bench, file_path);
      return changeFile(bench, "Write", place, () => planWrite(bench, place, content), { inTurn, signal });
    },
  };
}

/** Also for an Edit that makes a new file. */
export function planWrite(bench: Workbench, place: Place, content: string): Plan {
  const base = readBase(place);
  refuseUnseen(bench, place, { kind: "write" });
  const bytes = Buffer.from(content);
  if (bytes.length > MAX_FILE_BYTES) throw new Error(`${place.shown} would have more than 50 MB; write less`);
  const verb = base ? "updated" : "created";
  return { base, bytes, edits: null, result: `${verb} ${place.shown} (${countOf(linesOf(content).length, "line")})` };
}

/** Null when nothing is there; throws when something stands there that cannot be written over. */
export function readBase(place: Place): FileContent | null {
  try {
    return readFileAt(place.real, MAX_FILE_BYTES);
  } catch (error) {
    throw new Error(`${place.shown} cannot be written: ${reasonOf(error)}`);
  }
}
