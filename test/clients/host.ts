/** A client that hosts us: how its settings are written, how it is started, and what its model is shown. */

import type { Ran } from "../cli/run.ts";
import type { RecordedRequest, ToolCall } from "../model-server/reply.ts";
import type { Desk } from "./client.ts";

/** When our hook is called; hosts have their own names for it. */
export type Moment = "start" | "prompt" | "before-tool" | "after-tool" | "stop";

export interface Wiring {
  /** Program and arguments of our MCP server. */
  server?: readonly string[];
  hook?: { command: string; moments: readonly Moment[] };
}

export interface Host {
  name: string;
  /** As `memdir init --agent` takes it. */
  agent: string;
  /** As it names itself to an MCP server, and memdir in a memory's source. */
  by: string;
  /** Writes its settings: the loopback model, and what is to be wired by hand. */
  prepare(desk: Desk, wiring?: Wiring): void;
  /** One prompt, headless; tools need no permission. */
  start(desk: Desk, prompt: string, env?: Record<string, string>): Promise<Ran>;
  /** How its model calls a tool of our server. */
  tool(name: string): Pick<ToolCall, "name" | "namespace">;
  /** Names of the tools that its model is shown; a namespace stands before the name, with a dot. */
  shown(request: RecordedRequest): string[];
  /** Which tools of ours its model is shown from the beginning. */
  always: readonly string[];
  /** How its model runs a command in a shell. */
  shell(command: string): ToolCall;
  /** Whether our hook can read its transcript, of which it is told at the end of a turn. */
  hasReadableTranscript: boolean;
}

export const ALL_TOOLS = ["recall", "save", "read", "list", "forget", "undo", "verify"];

/** The layout of hooks that Claude Code, Codex and Gemini CLI share. */
export function hooksOf(wiring: Wiring, events: Record<Moment, string>, entry: object): object | undefined {
  if (!wiring.hook) return undefined;
  const { command, moments } = wiring.hook;
  const groups = moments.map((moment) => [events[moment], [{ hooks: [{ type: "command", command, ...entry }] }]]);
  return Object.fromEntries(groups);
}
