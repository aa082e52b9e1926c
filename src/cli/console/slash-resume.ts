/** What a person sees of a session that is gone on with: when it was, how long, and how it ended. */

import { textOf } from "../../model/ask.ts";
import type { ResumedSession } from "../../session/session-reader.ts";
import { cutLine, plainLine } from "../../text/sanitise.ts";
import type { Color } from "../command.ts";

/** The last exchange, enough to find the thread again. */
const MAX_CHARS = 400;

export function describeSession({ id, title, messages, prompts, problems }: ResumedSession, color: Color): string {
  const last = prompts.at(-1)?.text ?? "";
  const answer = messages.findLast(({ role }) => role === "assistant");
  const lines = [
    `resumed ${id.slice(0, 8)}${title ? `: ${plainLine(title)}` : ""} ${color.dim(`(${messages.length} messages)`)}`,
    ...(last === "" ? [] : [color.dim(`> ${cutLine(last, MAX_CHARS)}`)]),
    ...(answer ? [color.dim(cutLine(textOf(answer.content), MAX_CHARS))] : []),
    ...problems.map((problem) => color.yellow(`note: ${plainLine(problem)}`)),
  ];
  return lines.join("\n");
}
