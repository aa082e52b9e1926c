/** The commands that run the agent: `chat` for one prompt, and `memdir` alone, the console. */

import type { AgentEvent } from "../agent/state.ts";
import type { TurnResult } from "../agent/turn.ts";
import { MemdirError } from "../errors.ts";
import { whyNoAgent } from "../open-agent.ts";
import { configuredModel } from "../verbs/model.ts";
import { openAgentFor } from "./agent.ts";
import { answer, type Call, cancellable, note, type Run, warning } from "./command.ts";
import { sayPreview } from "./console/line.ts";
import { ENDS, MAY_GO_ON } from "./console/turn-view.ts";
import { isDumb, print } from "./terminal.ts";

/** On a terminal or on a pipe. */
export const openConsole: Run = async (call) => {
  if (call.json) throw new MemdirError("usage", "--json needs a prompt: memdir chat -p TEXT --json");
  const memdir = await call.open();
  const { runInteractive, runLines } = await import("./console/console.ts");
  return (call.terminal.interactive && !isDumb(call.env) ? runInteractive : runLines)(call, memdir);
};

export const start: Run = async (call) => {
  const text = await readPrompt(call);
  if (text !== null) return say(call, text);
  if (call.json) return openConsole(call);
  throw new MemdirError("usage", "chat needs a prompt: memdir chat -p TEXT; memdir alone opens the console");
};

async function say(call: Call, text: string): Promise<number> {
  const memdir = await call.open();
  const { agent, offline } = await openAgentFor(call, memdir, null);
  if (offline) {
    // Nothing was answered: a script must not take this for an answer.
    if (call.json) throw new MemdirError("usage", whyNoAgent(configuredModel(call.env)));
    const preview = await agent.preview(text);
    call.terminal.warn(`memdir: ${whyNoAgent(configuredModel(call.env))}`);
    print(call.terminal, sayPreview(preview, memdir));
    return 2;
  }
  return cancellable(async (signal) => {
    try {
      const result = await agent.say(text, { signal, onEvent: (event) => showEvent(call, event) });
      const code = report(call, result, agent.sessionId);
      // The answer is out; whoever does not want to wait for the rest stops it.
      await agent.drain({ signal });
      return code;
    } finally {
      agent.close();
    }
  });
}

/** Null: none was given. "-" is standard input. */
async function readPrompt(call: Call): Promise<string | null> {
  const given = call.value("prompt");
  if (given === undefined) return null;
  const text = given === "-" ? await call.terminal.readInput() : given;
  if (text.trim() === "")
    throw new MemdirError("usage", "the prompt is empty: memdir chat -p TEXT, or -p - for standard input");
  return text;
}

/** On standard error: what a script's author wants to see and a program reading the answer does not. */
function showEvent(call: Call, event: AgentEvent): void {
  if (event.type === "problem") warning(call, [event.message]);
  if (event.type === "learnt") {
    const learnt = event.saved.map(({ file, action }) => `learnt: ${action} ${file}`);
    const problem = event.problem === null ? [] : [`nothing was learnt: ${event.problem}`];
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
    throw new MemdirError(
      code,
      `${message}; the conversation is kept: to continue it, run memdir chat --resume ${sessionId} -p TEXT`,
    );
  }
  answer(call, { text, sessionId, usage, memories, ended }, [{ raw: text }]);
  const more = MAY_GO_ON.has(ended) ? `; to continue, run memdir chat --resume ${sessionId} -p "go on"` : "";
  if (ended !== "done") warning(call, [`${ENDS[ended] ?? ended}${more}`]);
  return ended === "refused" ? 3 : 0;
}
