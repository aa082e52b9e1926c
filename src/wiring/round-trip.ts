/** One question to a hook, a plugin or a server, asked exactly as a client would: started, asked, and ended in time. */

import { StringDecoder } from "node:string_decoder";
import { type ChildCall, runChild } from "../child-group.ts";
import { attempt } from "../errors.ts";
import type { Env } from "../world.ts";
import type { Server } from "./parts.ts";

export interface Asked {
  prompt: string;
  /** One of its own for each question: what a session was shown is not shown to it again. */
  session: string;
  /** A word that only an answer from the probe holds. */
  word: string;
  cwd: string;
  env: Env;
  deadlineMs: number;
}

/** Null when the probe came back, else what went wrong. Must not throw. */
export type Outcome = string | null;

/** `command` is a line for a shell, as clients take it. */
export function askHook(command: string, event: string, asked: Asked): Promise<Outcome> {
  const { prompt, session, cwd } = asked;
  const input = JSON.stringify({ session_id: session, transcript_path: "", cwd, hook_event_name: event, prompt });
  return talk(command, [], asked, { input, shell: true });
}

/** OpenCode's plugin, loaded by Node in the place of OpenCode. */
export function askPlugin(node: string, file: string, asked: Asked): Promise<Outcome> {
  const script = `
    const { Memdir } = await import((await import("node:url")).pathToFileURL(process.argv[1]).href);
    const parts = [{ id: "prt_1", messageID: "msg_1", type: "text", text: process.argv[2] }];
    const hooks = await Memdir({ directory: process.cwd() });
    await hooks["chat.message"]({ sessionID: process.argv[3] }, { parts });
    process.stdout.write(parts.slice(1).map((part) => part.text).join("\\n"));`;
  const args = ["--input-type=module", "--no-warnings", "-e", script, file, asked.prompt, asked.session];
  return talk(node, args, asked);
}

/** An MCP server on its standard streams: greeted, then asked to recall, or, with an event, as a client's hook asks it. */
export function askServer(
  { command, args }: Pick<Server, "command" | "args">,
  asked: Asked,
  event?: string,
): Promise<Outcome> {
  const { prompt, session, cwd } = asked;
  const call = event
    ? { name: "hook", arguments: { hook_event_name: event, session_id: session, cwd, prompt } }
    : { name: "recall", arguments: { prompt } };
  const clientInfo = { name: "memdir-doctor", version: "1" };
  const messages = [
    { id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo } },
    { method: "notifications/initialized" },
    { id: 2, method: "tools/call", params: call },
  ];
  const input = messages.map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`).join("");
  const replyIn = (out: string) => parseLines(out).find(({ id }) => id === 2);
  return talk(command, args, asked, {
    input,
    isAnswered: (out) => replyIn(out) !== undefined,
    judge(out) {
      const reply = replyIn(out);
      if (reply) return judge(JSON.stringify(reply.result ?? reply), asked);
      const isGreeted = parseLines(out).some(({ id, result }) => id === 1 && result !== undefined);
      return isGreeted ? "it ended before it answered" : "it ended before it said hello";
    },
  });
}

interface Talk extends Pick<ChildCall<never>, "input" | "shell"> {
  /** Whether what was heard is enough; without it the end is waited for. */
  isAnswered?(out: string): boolean;
  judge?(out: string): Outcome;
}

/** For what a process that has ended left in its pipes. */
const DRAIN_MS = 1_000;

async function talk(program: string, args: readonly string[], asked: Asked, how: Talk = {}): Promise<Outcome> {
  const { cwd, env, deadlineMs } = asked;
  const { input, shell, isAnswered = () => false, judge: judgeAll = (text: string) => judge(text, asked) } = how;
  let out = "";
  let complaint = "";
  const decoder = new StringDecoder("utf8");
  const { code, cut, problem } = await runChild<"answered">(program, args, {
    ...{ cwd, env, input, shell, timeoutMs: deadlineMs, graceMs: 0, drainMs: DRAIN_MS },
    onOut(bytes, stop) {
      out += decoder.write(bytes);
      if (isAnswered(out)) stop("answered");
    },
    onErr(bytes) {
      if (complaint.length < 500) complaint += bytes.toString("utf8");
    },
  });
  if (cut === "not started") return `it cannot be started: ${problem}`;
  if (cut === "timeout") return `it did not answer within ${Math.round(deadlineMs / 1000)} s`;
  const outcome = judgeAll(out);
  if (cut === "answered" || code === 0 || outcome === null) return outcome;
  const said = complaint.trim().split("\n")[0] ?? "";
  return `it ended with code ${code}${said && `: ${said}`}`;
}

function judge(answer: string, { word }: Asked): Outcome {
  if (answer.includes(word)) return null;
  return answer.trim() === "" ? "it answered, but said nothing" : "it answered, but not with the probe";
}

function parseLines(text: string): { id?: unknown; result?: unknown }[] {
  return text.split("\n").flatMap((line) => {
    const message = attempt<unknown, null>(() => JSON.parse(line), null);
    return typeof message === "object" && message !== null ? [message] : [];
  });
}
