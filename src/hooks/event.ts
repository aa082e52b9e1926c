/** The events of other programs that we answer, each under the name that its host gives it. */

import { basename } from "node:path";

export type HookEvent =
  | "SessionStart"
  | "UserPromptSubmit"
  | "PreToolUse"
  | "PostToolUse"
  | "Stop"
  | "PreCompact"
  | "SessionEnd";

/** Claude Code's names, which Codex shares, and Gemini CLI's. */
const EVENTS: Readonly<Record<string, HookEvent>> = {
  SessionStart: "SessionStart",
  UserPromptSubmit: "UserPromptSubmit",
  PreToolUse: "PreToolUse",
  PostToolUse: "PostToolUse",
  Stop: "Stop",
  PreCompact: "PreCompact",
  SessionEnd: "SessionEnd",
  BeforeAgent: "UserPromptSubmit",
  BeforeTool: "PreToolUse",
  AfterTool: "PostToolUse",
  AfterAgent: "Stop",
  PreCompress: "PreCompact",
};

/** Null for an event that is not ours. A host that names none sends a prompt. */
export function eventOf(name: unknown): HookEvent | null {
  if (name === undefined) return "UserPromptSubmit";
  return typeof name === "string" && Object.hasOwn(EVENTS, name) ? (EVENTS[name] as HookEvent) : null;
}

/** What every host passes with every event; everything else is ignored. */
export interface EventInput {
  hook_event_name?: unknown;
  session_id?: unknown;
  transcript_path?: unknown;
  cwd?: unknown;
  /** Codex's alone. */
  turn_id?: unknown;
}

/** Known by what it sends: a turn's id, except when a session starts, and the name of its transcript, except where it keeps none. */
export function isCodex({ turn_id: turn, transcript_path: transcript }: EventInput): boolean {
  if (typeof turn === "string") return true;
  return typeof transcript === "string" && /^rollout-.*\.jsonl$/.test(basename(transcript));
}

export function cwdOf({ cwd }: EventInput): string {
  return typeof cwd === "string" && cwd !== "" ? cwd : process.cwd();
}

export function sessionOf({ session_id: session }: EventInput): string | null {
  return typeof session === "string" && session !== "" ? session : null;
}
