/** What a model wants of the team's memories, before anything is done about it. */

import { basename } from "node:path";
import { MemdirError } from "../errors.ts";
import { parseMemory, readBytes, type Store } from "../store/store.ts";
import type { Proposal } from "./proposal.ts";

/** What of a proposal a model says; `by` is what it calls itself. */
export type Wish = Pick<Proposal, "action" | "file" | "type" | "name" | "description" | "body" | "when"> & {
  reason?: string | undefined;
  by: string;
};

/** A memory's file as a model wrote it whole. Only what it says is proposed: no rule, no mark that only people set. */
export function wishOfText(file: string, text: string, isNew: boolean, by: string): Wish {
  const { type, name, description, body, when, problems, broken } = parseMemory(file, text);
  if (broken) throw new MemdirError("broken", `${basename(file)} was not proposed: ${problems[0]}`);
  const words = { type, name, description, body: body.trim(), when };
  return { action: isNew ? "save" : "update", file: isNew ? null : file, ...words, by };
}

export function wishToForget(team: Store, file: string, by: string): Wish {
  const { type, name } = parseMemory(file, readBytes(team, file));
  return { action: "forget", file, type, name, description: "", body: "", when: [], by };
}
