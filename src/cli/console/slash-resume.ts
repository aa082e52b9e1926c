/** What a person sees of a session that is gone on with: when it was, how long, and how it ended. */

import { textOf } from "../../model/ask.ts";
import type { ResumedSession } from "../../session/session-reader.ts";
import type { Color } from "../command.ts";
import { sanitise } from "./sanitise.ts";

/** The last exchange, enough to find the thread again. */
const MAX_CHARS = 400;

export function describeSession({ id, title, messages, prompts, problems }: ResumedSession, color: Color): string {
  const last = prompts.at(-1)?.text ?? "";
  const answer = messages.findLast(({ role }) => role === "assistant");
  const lines = [
    `resumed ${id.slice(0, 8)}${title ? `: ${oneLine(title)}` : ""} ${color.dim(`(${messages.length} messages)`)}`,
    ...(last === "" ? [] : [color.dim(`> ${clip(last)}`)]),
    ...(answer ? [color.dim(clip(textOf(answer.content)))] : []),
    ...problems.map((problem) => color.yellow(`note: ${sanitise(problem)}`)),
  ];
  return lines.join("\n");
}

function clip(text: string): string {
  const line = oneLine(text);
  return line.length > MAX_CHARS ? `${line.slice(0, MAX_CHARS - 1)}…` : line;
}

function oneLine(text: string): string {
  return sanitise(text).replace(/\s+/g, " ").trim();
}
