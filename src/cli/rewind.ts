/** `memdir rewind`: the checkpoints of a session, and back to one of them. */

import { processEnv } from "../config.ts";
import { MemdirError } from "../errors.ts";
import { openAgent } from "../open-agent.ts";
import { readSession } from "../session/session-reader.ts";
import { cutLine } from "../text/sanitise.ts";
import type { Run } from "./command.ts";
import { findOne } from "./console/agent-open.ts";
import { describeRewind } from "./console/slash-session.ts";

export const run: Run = async (call) => {
  const { terminal } = call;
  const memdir = await call.open();
  const session = await readSession((await findOne(memdir, call.args[0] ?? "latest")).path);
  const agent = await openAgent({ memdir, env: processEnv(), model: null, from: session });
  const points = agent.checkpoints();
  const to = call.value("to");
  if (to === undefined) {
    if (call.json) terminal.json(points);
    else if (points.length === 0)
      terminal.print("This session has no checkpoint: none of its prompts came with a file history.");
    else terminal.print(points.map((point, i) => rowOf(point, i, terminal.color.dim)).join("\n"));
    return 0;
  }
  const point = points.find(({ id }) => id === to) ?? points[Number(to) - 1];
  if (!point)
    throw new MemdirError("not-found", `there is no checkpoint ${JSON.stringify(to)}; memdir rewind lists them`);
  const conversation = call.flag("conversation");
  const code = call.flag("code");
  const rewound = await agent.rewind(point.id, code === conversation ? "both" : code ? "code" : "conversation");
  agent.close();
  if (call.json) terminal.json({ checkpoint: point.id, ...rewound });
  else {
    for (const line of describeRewind(rewound.files)) terminal.print(line);
    if (rewound.files?.undo)
      terminal.print(
        terminal.color.dim(`memdir rewind ${session.id.slice(0, 8)} --to ${rewound.files.undo} --code takes it back`),
      );
    if (rewound.prompt !== null) terminal.print("the conversation is back before that prompt");
  }
  return rewound.files?.steps.some(({ action }) => action === "refused") ? 1 : 0;
};

function rowOf(point: { at: string; label: string; files: number }, i: number, dim: (text: string) => string): string {
  const label = cutLine(point.label, 80);
  return `${String(i + 1).padStart(3)}  ${point.at.slice(0, 16).replace("T", " ")}  ${label} ${dim(`(${point.files} ${point.files === 1 ? "file" : "files"} changed since)`)}`;
}
