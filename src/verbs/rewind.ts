/** `rewind`: the checkpoints of a session, or back to one of them. */

import { MemdirError } from "../errors.ts";
import { openAgent } from "../open-agent.ts";
import type { RewindReport } from "../session/file-history.ts";
import { readSession } from "../session/session-reader.ts";
import { cutLine } from "../text/sanitise.ts";
import { redactSecrets } from "../text/secrets.ts";
import { count, dim, flag, type Line, text, verb } from "../verb.ts";
import { findOne } from "./sessions.ts";

export const rewind = verb({
  args: ["id?"],
  input: {
    id: text("the session's id, or the beginning of it (default: the last session)", "ID"),
    to: text("go back to the state before this prompt, by number or id", "N"),
    code: flag("restore only the files"),
    conversation: flag("restore only the conversation"),
  },
  examples: ["rewind 3f2a --to 1 --code"],
  writes: ({ to }) => to !== undefined,
  async run(memdir, { id = "latest", to, code = false, conversation = false }, { env }) {
    const session = await readSession((await findOne(memdir, id)).path);
    const agent = await openAgent({ memdir, env, model: null, from: session });
    try {
      const points = agent.checkpoints();
      if (to === undefined) return points.map((point) => ({ ...point, label: redactSecrets(point.label) }));
      const point = points.find((one) => one.id === to) ?? points[Number(to) - 1];
      if (!point)
        throw new MemdirError("not-found", `there is no checkpoint ${JSON.stringify(to)}; memdir rewind lists them`);
      const what = code === conversation ? "both" : code ? "code" : "conversation";
      return { checkpoint: point.id, ...(await agent.rewind(point.id, what)), session: session.id };
    } finally {
      agent.close();
    }
  },
  exitCode: (result) =>
    !Array.isArray(result) && result.files?.steps.some(({ action }) => action === "refused") ? 1 : 0,
  say(result, { call }) {
    if (!Array.isArray(result)) {
      const { files, prompt, session } = result;
      const back = call(`rewind ${session.slice(0, 8)} --to ${files?.undo} --code`);
      return [
        ...sayRewound(files),
        ...(files?.undo ? [dim(`${back} reverts this`)] : []),
        ...(prompt === null ? [] : ["the conversation is back before that prompt"]),
      ];
    }
    if (result.length === 0) return ["This session has no checkpoint: none of its prompts came with a file history."];
    return result.map(({ at, label, files }, i): Line => {
      const when = at.slice(0, 16).replace("T", " ");
      const changed = dim(`(${count(files, "file")} changed since)`);
      return [`${String(i + 1).padStart(3)}  ${when}  ${cutLine(label, 80)} `, changed];
    });
  },
});

const DONE: Record<string, string> = { restore: "restored", remove: "removed", refused: "not changed" };

export function sayRewound(report: RewindReport | null): Line[] {
  if (!report) return [];
  const changed = report.steps.filter(({ action }) => action !== "none");
  if (changed.length === 0) return ["no file had to be changed"];
  return changed.map(({ path, action, outside, reason }) => {
    const note = reason ? `: ${reason}` : outside ? " (another program had changed it since; that is kept too)" : "";
    return `${DONE[action] ?? action} ${path}${note}`;
  });
}
