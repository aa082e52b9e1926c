/** One question to a hook, a plugin or a server, asked exactly as a client would: started, asked, and ended in time. */

import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { StringDecoder } from "node:string_decoder";
import { endGroup } from "../child-group.ts";
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
  return talk(command, [], { shell: true }, asked, (child, heard) => {
    const { prompt, session, cwd } = asked;
    child.stdin?.end(JSON.stringify({ session_id: session, transcript_path: "", cwd, hook_event_name: event, prompt }));
    return () => judge(heard(), asked);
  });
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
  return talk(node, args, {}, asked, (_child, heard) => () => judge(heard(), asked));
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
  return talk(command, args, {}, asked, (child, heard, done) => {
    const send = (message: object) => child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    const clientInfo = { name: "memdir-doctor", version: "1" };
    send({ id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo } });
    let isGreeted = false;
    child.stdout?.on("data", () => {
      const replies = parseLines(heard());
      if (!isGreeted && replies.some(({ id, result }) => id === 1 && result !== undefined)) {
        isGreeted = true;
        send({ method: "notifications/initialized" });
        send({ id: 2, method: "tools/call", params: call });
      }
      const reply = replies.find(({ id }) => id === 2);
      if (reply) done(judge(JSON.stringify(reply.result ?? reply), asked));
    });
    return () => (isGreeted ? "it ended before it answered" : "it ended before it said hello");
  });
}

type Begin = (child: ChildProcess, heard: () => string, done: (outcome: Outcome) => void) => () => Outcome;

/** Ends with what `begin` makes of it: by `done`, or, when the process has ended, by what it returned. */
function talk(
  command: string,
  args: readonly string[],
  how: SpawnOptions,
  asked: Asked,
  begin: Begin,
): Promise<Outcome> {
  return new Promise((resolve) => {
    const { cwd, env, deadlineMs } = asked;
    // A group of its own, so that what a shell has started ends with it.
    const child = spawn(command, [...args], {
      ...how,
      cwd,
      env,
      detached: process.platform !== "win32",
      windowsHide: true,
      stdio: "pipe",
    });
    let out = "";
    let complaint = "";
    const decoder = new StringDecoder("utf8");
    const finish = (outcome: Outcome) => {
      clearTimeout(timer);
      endGroup(child, "SIGKILL");
      resolve(outcome);
    };
    const timer = setTimeout(() => finish(`it did not answer within ${Math.round(deadlineMs / 1000)} s`), deadlineMs);
    child.on("error", (error) => finish(`it cannot be started: ${error.message}`));
    child.stdin?.on("error", () => {});
    child.stdout?.on("data", (bytes: Buffer) => {
      out += decoder.write(bytes);
    });
    child.stderr?.on("data", (bytes: Buffer) => {
      if (complaint.length < 500) complaint += bytes.toString("utf8");
    });
    const whenEnded = begin(child, () => out, finish);
    child.on("close", (code) => {
      const said = complaint.trim().split("\n")[0] ?? "";
      finish(code === 0 || whenEnded() === null ? whenEnded() : `it ended with code ${code}${said && `: ${said}`}`);
    });
  });
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
