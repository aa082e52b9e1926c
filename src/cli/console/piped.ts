/** The console on a pipe: lines in, answers out, and it ends with the input. */

import { createInterface } from "node:readline";
import type { Memdir } from "../../memdir.ts";
import { describeSession, openAgentFor } from "../agent.ts";
import type { Call } from "../command.ts";
import { answerLine, greet } from "./line.ts";
import type { Console } from "./slash.ts";
import { openTurnView } from "./turn-view.ts";

/** For output whose width is not known. */
const columns = () => 100;

export async function runPiped(call: Call, memdir: Memdir): Promise<number> {
  const { terminal } = call;
  const { agent, offline, from } = await openAgentFor(call, memdir, null);
  await greet(memdir, agent.model(), terminal);
  if (from) terminal.print(describeSession(from, terminal.color));
  const console: Console = {
    ...{ ...call, json: false, open: async () => memdir, memdir, agent, offline, columns, choose: null, release: null },
    working: (_, work) => work(new AbortController().signal),
    suggest: () => {},
  };
  let code = 0;
  const talk = async (words: string) => {
    const { lexer } = await import("marked");
    const { cwd } = memdir.location.project;
    const view = openTurnView({ print: terminal.print, paint: terminal.color, columns, cwd, lexer });
    const result = await agent.say(words, { onEvent: view.show });
    view.end(result);
    if (result.ended === "error") code = 3;
  };
  for await (const line of createInterface({ input: process.stdin, terminal: false })) {
    const end = await answerLine(line, console, talk);
    if (end === "leave") break;
    // The exit code remembers it.
    if (end === "failed") code = Math.max(code, 2);
  }
  await agent.drain();
  agent.close();
  return code;
}
