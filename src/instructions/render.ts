/** Instruction files as the text that goes to the model: one preamble, then each file under a line that says what it is. */

import type { InstructionFile } from "./file.ts";

/** Our own words for what every host says in some way: these are instructions, and they come first. */
export const PREAMBLE =
  "What follows was written by the user, the team or the organisation for work in this codebase. Follow it exactly; where it differs from your usual way of working, it wins.";

export type RenderedInstructions =
  | { role: "user"; text: string }
  | { role: "system"; text: string; cache_control: { type: "ephemeral" } };

/** No clock and no random order: an unchanged disk gives the same bytes, so that prompt caches hold. "" for no files. */
export function renderInstructions(files: readonly InstructionFile[]): string {
  if (files.length === 0) return "";
  return [PREAMBLE, ...files.map((file) => `${headerOf(file)}\n\n${file.content}`)].join("\n\n");
}

/** As a user message in a reminder (what hosts do today), or as a system block that may be cached. */
export function renderFor(files: readonly InstructionFile[], place: "user" | "system"): RenderedInstructions | null {
  const text = renderInstructions(files);
  if (text === "") return null;
  if (place === "system") return { role: "system", text, cache_control: { type: "ephemeral" } };
  return { role: "user", text: `<system-reminder>\n${text}\n</system-reminder>` };
}

function headerOf({ path, label, source }: InstructionFile): string {
  return source === "project" ? `Contents of ${path}:` : `Contents of ${path} (${label}):`;
}
