/** `memdir chat`: one prompt through the agent, for scripts; without -p the console. */

import type { AgentEvent } from "../agent/state.ts";
import type { TurnResult } from "../agent/turn.ts";
import { processEnv } from "../config.ts";
import { MemdirError } from "../errors.ts";
import { plainLine } from "../text/sanitise.ts";
import type { Call, Run, Terminal } from "./command.ts";
import { openAgentFor } from "./console/agent-open.ts";
import { previewText } from "./console/agent-preview.ts";

export const run: Run = async (call) => {
  const text = await readPrompt(call);
  if (text === null) return (await import("./console.ts")).run(call);
  const memdir = await call.open();
  const { agent, offline } = await openAgentFor(call, memdir, processEnv(), null);
  if (offline) {
    const preview = await agent.preview(text);
    const said = previewText(preview, memdir, call.terminal.color);
    if (call.json) call.terminal.json({ text: said, sessionId: null, usage: null, memories: preview.memories });
    else call.terminal.print(said);
    return 0;
  }
  const stop = new AbortController();
  const onInterrupt = () => stop.abort();
  process.once("SIGINT", onInterrupt);
  try {
    const onEvent = (event: AgentEvent) => warn(event, call.terminal);
    const result = await agent.say(text, { signal: stop.signal, onEvent });
    const code = report(call, result, agent.sessionId);
    // The answer is out; whoever does not want to wait for the rest stops it.
    await agent.drain({ signal: stop.signal });
    return code;
  } finally {
    process.off("SIGINT", onInterrupt);
    agent.close();
  }
};

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
function warn(event: AgentEvent, terminal: Terminal): void {
  if (event.type === "problem") terminal.warn(`memdir: warning: ${event.message}`);
  if (event.type === "learnt") {
    for (const { file, action } of event.saved) terminal.warn(`memdir: note: learnt: ${action} ${plainLine(file)}`);
    if (event.problem !== null) terminal.warn(`memdir: note: nothing was learnt: ${plainLine(event.problem)}`);
  }
  if (event.type === "retry") terminal.warn(`memdir: note: ${event.error.message}; trying again`);
  if (event.type === "tool-end" && event.result.isError) {
    const [first = ""] = event.result.content.split("\n");
    terminal.warn(`memdir: note: ${event.call.name} failed: ${first}`);
  }
}

function report(call: Call, result: TurnResult, sessionId: string): number {
  const { text, ended, error, usage, memories } = result;
  if (ended === "error" || ended === "aborted") {
    const message = error?.message ?? "stopped before there was an answer";
    const code = error?.kind === "auth" || error?.kind === "bad-request" ? "usage" : "model";
    throw new MemdirError(code, `${message}; what was said is kept: memdir chat --resume ${sessionId} -p TEXT goes on`);
  }
  if (call.json) call.terminal.json({ text, sessionId, usage, memories, ended });
  else call.terminal.print(text);
  const why = {
    length: "the answer was cut at its limit",
    turns: "it took too many steps",
    refused: "the model declined",
  };
  if (ended !== "done") call.terminal.warn(`memdir: warning: ${why[ended as keyof typeof why] ?? ended}`);
  return ended === "refused" ? 3 : 0;
}
