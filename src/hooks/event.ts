/** What all hooks share: the client's events, input and output, the process that answers them, and the deadline. */

import { type Stats, writeSync } from "node:fs";
import { basename, isAbsolute } from "node:path";
import type { World } from "../world.ts";

/** Claude Code's names, which Codex shares, and Gemini CLI's. */
const EVENTS = {
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
  /** Our own: a client has connected to a server, and prompts will come. */
  Connect: "Connect",
} as const;

export type HookEvent = (typeof EVENTS)[keyof typeof EVENTS];

/** Null for an event that memdir does not handle. Without a name it is a prompt. */
function eventOf(name: unknown): HookEvent | null {
  if (name === undefined) return "UserPromptSubmit";
  return typeof name === "string" && Object.hasOwn(EVENTS, name) ? EVENTS[name as keyof typeof EVENTS] : null;
}

/** As a host passes it. */
export type EventInput = Readonly<Record<string, unknown>>;

export type Event = ReturnType<typeof readEvent>;

/** What memdir knows of an event; everything else that a host passes is ignored, and so is what is of another type. */
export function readEvent(input: EventInput) {
  const text = (name: string) => (typeof input[name] === "string" ? input[name] : "");
  const { hook_event_name: name, tool_input: given, tool_response: response } = input;
  const transcript = text("transcript_path");
  return {
    kind: eventOf(name),
    /** The host's own, which it expects in the answer. */
    name: typeof name === "string" ? name : "UserPromptSubmit",
    cwd: text("cwd") || process.cwd(),
    session: text("session_id") || null,
    transcript: isAbsolute(transcript) ? transcript : null,
    /** Recognised by a turn id, which is missing when a session starts, or by the name of its transcript, if it keeps one. */
    isCodex: typeof input.turn_id === "string" || /^rollout-.*\.jsonl$/.test(basename(transcript)),
    /** Why a session starts. */
    source: text("source"),
    prompt: text("prompt"),
    call: {
      name: text("tool_name"),
      input: typeof given === "object" && given !== null ? (given as ToolCall["input"]) : { input: given },
    },
    response,
    /** The turn continued because of a hook. */
    isContinued: input.stop_hook_active === true,
    isSubAgent: text("agent_id") !== "",
    /** What the transcript should end with; it is written a little later. Only from Claude Code. */
    lastMessage: text("last_assistant_message"),
  };
}

/** What is printed, "" for nothing; and what is done once the client has it. */
export interface Answer {
  out: string;
  after?: () => void | Promise<void>;
}

export const NOTHING: Answer = { out: "" };

/** The process that answers, for one event: a command answers a single one, a server or a plugin many, and keeps what it has loaded. */
export interface Host extends Pick<World, "env" | "now"> {
  deadline: Deadline;
  /** Reports an error that is not thrown. */
  onFault: (error: Error) => void;
  /** The folder of the session; throws if it was deleted. */
  startedIn(): string;
  /** Starts a command of memdir's in the background. */
  start(args: readonly string[], cwd: string, input?: number | "ignore"): void;
  /** What `make` made the first time that this process was asked for it. */
  keep<T>(key: string, make: () => T): T;
}

/** What the work returns; after an error, which is reported, `otherwise`: the rest of the answer does not depend on it. */
export function failOpen<T>(work: () => T, otherwise: T, { onFault }: Pick<Host, "onFault">): T {
  try {
    return work();
  } catch (error) {
    onFault(error as Error);
    return otherwise;
  }
}

export type Deadline = ReturnType<typeof openDeadline>;

/** `elapsedMs`: since the call. Not from `performance`, which Node loads on first use. */
export function openDeadline(elapsedMs: () => number = openTimer()) {
  let limitMs = Number.POSITIVE_INFINITY;
  let missed = 0;
  const isOver = () => elapsedMs() > limitMs;
  return {
    /** Counts from the call, like the person who waits. */
    set: (ms: number): void => {
      limitMs = ms;
    },
    isOver,
    /** The same, and counts that work was skipped because of it. */
    isMissed: () => isOver() && ++missed > 0,
    /** How often work was skipped. */
    get missed(): number {
      return missed;
    },
    /** Null when time is up first. */
    race: async <T>(work: Promise<T>): Promise<T | null> => {
      if (limitMs === Number.POSITIVE_INFINITY) return work;
      let timer: NodeJS.Timeout | undefined;
      const end = new Promise<null>((done) => {
        timer = setTimeout(() => done(null), Math.max(0, limitMs - elapsedMs()));
      });
      return Promise.race([work, end]).finally(() => clearTimeout(timer));
    },
  };
}

function openTimer(): () => number {
  const start = process.uptime();
  return () => (process.uptime() - start) * 1000;
}

export { MAX_HOOK_CHARS as MAX_CHARS } from "../config.ts";

/** For MEMDIR_DEBUG. */
export function tell(text: string): void {
  try {
    writeSync(2, `memdir: ${text}\n`);
  } catch {
    // Standard error is closed.
  }
}

/** Text that is added to the conversation. The event has the host's name for it. */
export function formatContext(hookEventName: string, additionalContext: string): string {
  return `${JSON.stringify({ hookSpecificOutput: { hookEventName, additionalContext } })}\n`;
}

/** Denies a call. Gemini CLI has its own format. */
export function formatDenial(hookEventName: string, reason: string): string {
  if (hookEventName === "BeforeTool") return `${JSON.stringify({ decision: "deny", reason })}\n`;
  const decision = { permissionDecision: "deny", permissionDecisionReason: reason };
  return `${JSON.stringify({ hookSpecificOutput: { hookEventName, ...decision } })}\n`;
}

/** Makes the turn continue, with the reason as the next message. The same for all hosts. */
export function formatContinuation(reason: string): string {
  return `${JSON.stringify({ decision: "block", reason })}\n`;
}

export interface ToolCall {
  name: string;
  input: Readonly<Record<string, unknown>>;
}

/** Claude Code's tools with their names in other hosts, in lower case. */
const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  Bash: ["run_shell_command", "shell", "local_shell", "exec_command", "bash"],
  Write: ["write_file", "write"],
  Edit: ["replace", "edit", "apply_patch"],
  Read: ["read_file", "read_many_files", "read"],
};

/** A tool by Claude Code's name for it. */
export function usualName(name: string): string {
  return Object.keys(OTHER_NAMES).find((usual) => OTHER_NAMES[usual]?.includes(name.toLowerCase())) ?? name;
}

export const WRITERS: ReadonlySet<string> = new Set(["Write", "Edit", "MultiEdit", "NotebookEdit", "Update"]);

/** Blanks before and after are ignored, as Codex does. */
const PATCH_FILE = /^[^\S\r\n\u2028\u2029]*\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$/gm;

/** The files that a call reads, searches or changes, as written in its input or in a patch. */
export function namedFiles(input: ToolCall["input"]): string[] {
  const { file_path, notebook_path, path, filePath, absolute_path, paths, include, glob } = input;
  const named: unknown[] = [file_path, notebook_path, path, filePath, absolute_path, paths, include, glob].flat();
  const inPatch = [...patchOf(input).matchAll(PATCH_FILE)].map(([, file]) => file?.trim());
  return [...named, ...inPatch].filter((file) => typeof file === "string");
}

/** "" for none. Whether it is a patch, only the text itself shows. */
export function patchOf({ input, patch, command }: ToolCall["input"]): string {
  const parts: unknown[] = [input, patch, command].flat();
  return parts.filter((part) => typeof part === "string").join("\n");
}

export function isPatch(text: string): boolean {
  return text.includes("*** Begin Patch");
}

/** A shell command; "" for none. */
export function commandOf({ command, cmd }: ToolCall["input"]): string {
  const parts: unknown[] = [command ?? cmd].flat();
  return parts.filter((part) => typeof part === "string").join(" ");
}

/** As long as a book of five hundred pages; anything larger is a mistake or an attack. */
const MAX_BYTES = 1024 * 1024;

/** An ordinary file of ordinary size. */
export function isMemorySized(stat: Stats): boolean {
  return stat.isFile() && stat.size <= MAX_BYTES;
}
