/** The commands that run the agent: `chat` for one prompt, `rewind`, and `memdir` alone, the console. */

import type { AgentEvent } from "../agent/state.ts";
import type { TurnResult } from "../agent/turn.ts";
import { MemdirError } from "../errors.ts";
import { openAgent } from "../open-agent.ts";
import { readSession } from "../session/session-reader.ts";
import { cutLine, plainLine } from "../text/sanitise.ts";
import { describeRewind, findOne, openAgentFor } from "./agent.ts";
import { answer, type Call, cancellable, count, note, type Run, warning } from "./command.ts";
import { previewText } from "./console/line.ts";

/** On a terminal or on a pipe. */
export const openConsole: Run = async (call) => {
  const memdir = await call.open();
  if (!call.terminal.interactive) return (await import("./console/piped.ts")).runPiped(call, memdir);
  return (await import("./console/console.ts")).runInteractive(call, memdir);
};

export const chat: Run = async (call) => {
  const text = await readPrompt(call);
  return text === null ? openConsole(call) : say(call, text);
};

async function say(call: Call, text: string): Promise<number> {
  const memdir = await call.open();
  const { agent, offline } = await openAgentFor(call, memdir, null);
  if (offline) {
    const preview = await agent.preview(text);
    const said = previewText(preview, memdir, call.terminal.color);
    // Nothing was answered: a script must not take this for an answer.
    return answer(call, { text: said, sessionId: null, usage: null, memories: preview.memories }, () => said, 2);
  }
  return cancellable(async (_, { signal }) => {
    try {
      const result = await agent.say(text, { signal, onEvent: (event) => showEvent(call, event) });
      const code = report(call, result, agent.sessionId);
      // The answer is out; whoever does not want to wait for the rest stops it.
      await agent.drain({ signal });
      return code;
    } finally {
      agent.close();
    }
  })(call);
}

/** Null: none was given. "-" is standard input. */
async function readPrompt(call: Call): Promise<string | null> {
  const given = call.value("prompt");
  if (given === undefined) {
    if (call.json) throw new MemdirError("usage", "--json needs a prompt: memdir chat -p TEXT --json");
    return null;
  }
  const text = given === "-" ? await call.terminal.readInput() : given;
  if (text.trim() === "")
    throw new MemdirError("usage", "the prompt is empty: memdir chat -p TEXT, or -p - for standard input");
  return text;
}

/** On standard error: what a script's author wants to see and a program reading the answer does not. */
function showEvent(call: Call, event: AgentEvent): void {
  if (event.type === "problem") warning(call, [event.message]);
  if (event.type === "learnt") {
    const learnt = event.saved.map(({ file, action }) => `learnt: ${action} ${plainLine(file)}`);
    const problem = event.problem === null ? [] : [`nothing was learnt: ${plainLine(event.problem)}`];
    note(call, [...learnt, ...problem]);
  }
  if (event.type === "retry") note(call, [`${event.error.message}; trying again`]);
  if (event.type === "tool-end" && event.result.isError)
    note(call, [`${event.call.name} failed: ${event.result.content.split("\n")[0]}`]);
}

function report(call: Call, result: TurnResult, sessionId: string): number {
  const { text, ended, error, usage, memories } = result;
  if (ended === "error" || ended === "aborted") {
    const message = error?.message ?? "stopped before there was an answer";
    const code = error?.kind === "auth" || error?.kind === "bad-request" ? "usage" : "model";
    throw new MemdirError(code, `${message}; what was said is kept: memdir chat --resume ${sessionId} -p TEXT goes on`);
  }
  answer(call, { text, sessionId, usage, memories, ended }, () => text);
  const why = {
    length: "the answer was cut at its limit",
    turns: "it took too many steps",
    refused: "the model declined",
  };
  if (ended !== "done") warning(call, [why[ended as keyof typeof why] ?? ended]);
  return ended === "refused" ? 3 : 0;
}

/** The checkpoints of a session, or back to one of them. */
export const rewind: Run = async (call) => {
  const { dim } = call.terminal.color;
  const memdir = await call.open();
  const session = await readSession((await findOne(memdir, call.args[0] ?? "latest")).path);
  const agent = await openAgent({ memdir, env: call.env, model: null, from: session });
  const points = agent.checkpoints();
  const to = call.value("to");
  if (to === undefined) {
    return answer(call, points, () =>
      points.length === 0
        ? "This session has no checkpoint: none of its prompts came with a file history."
        : points.map(({ at, label, files }, i) => {
            const when = at.slice(0, 16).replace("T", " ");
            const changed = dim(`(${count(files, "file")} changed since)`);
            return `${String(i + 1).padStart(3)}  ${when}  ${cutLine(label, 80)} ${changed}`;
          }),
    );
  }
  const point = points.find(({ id }) => id === to) ?? points[Number(to) - 1];
  if (!point)
    throw new MemdirError("not-found", `there is no checkpoint ${JSON.stringify(to)}; memdir rewind lists them`);
  const conversation = call.flag("conversation");
  const code = call.flag("code");
  const rewound = await agent.rewind(point.id, code === conversation ? "both" : code ? "code" : "conversation");
  agent.close();
  const { files, prompt } = rewound;
  const back = `memdir rewind ${session.id.slice(0, 8)} --to ${files?.undo} --code takes it back`;
  const lines = () => [
    ...describeRewind(files),
    ...(files?.undo ? [dim(back)] : []),
    ...(prompt === null ? [] : ["the conversation is back before that prompt"]),
  ];
  const isRefused = files?.steps.some(({ action }) => action === "refused");
  return answer(call, { checkpoint: point.id, ...rewound }, lines, isRefused ? 1 : 0);
};
