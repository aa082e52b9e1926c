/** What all hooks share: the host's events, input and output, and the deadline. */

import { readSync, type Stats, writeSync } from "node:fs";
import { basename, join } from "node:path";
import type { Directory, RowEntry } from "../store/store.ts";
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
} as const;

export type HookEvent = (typeof EVENTS)[keyof typeof EVENTS];

/** Null for an event that memdir does not handle. Without a name it is a prompt. */
export function eventOf(name: unknown): HookEvent | null {
  if (name === undefined) return "UserPromptSubmit";
  return typeof name === "string" && Object.hasOwn(EVENTS, name) ? EVENTS[name as keyof typeof EVENTS] : null;
}

/** What every host passes with every event; everything else is ignored. */
export interface EventInput {
  hook_event_name?: unknown;
  session_id?: unknown;
  transcript_path?: unknown;
  cwd?: unknown;
  /** Only from Codex. */
  turn_id?: unknown;
}

/** Recognised by a turn id, which is missing when a session starts, or by the name of its transcript, if it keeps one. */
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

export type Deadline = ReturnType<typeof openDeadline>;

/** One run of a hook. */
export interface HookRun extends Pick<World, "env" | "now"> {
  deadline: Deadline;
  /** Reports an error that is not thrown. */
  onFault: (error: Error) => void;
}

/** `elapsedMs`: since this process started. Not from `performance`, which Node loads on first use. */
export function openDeadline(elapsedMs: () => number = () => process.uptime() * 1000) {
  let limitMs = Number.POSITIVE_INFINITY;
  let missed = 0;
  const isOver = () => elapsedMs() > limitMs;
  return {
    /** Counts from the start of the process, like the person who waits. */
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
  };
}

export { MAX_HOOK_CHARS as MAX_CHARS } from "../config.ts";

/** Not through process.stdout: opening it loads Node's streams, which takes longer than most hooks. */
export function writeAll(fd: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
}

/** For MEMDIR_DEBUG. */
export function tell(text: string): void {
  try {
    writeSync(2, `memdir: ${text}\n`);
  } catch {
    // Standard error is closed.
  }
}

/** Starts a command of memdir's in the background: detached and without our streams, as it outlives us. */
export function startDetached(args: readonly string[], cwd: string, input: number | "ignore" = "ignore"): void {
  const { spawn } = process.getBuiltinModule("node:child_process");
  const child = spawn(process.execPath, [join(__dirname, "cli.js"), ...args], {
    cwd,
    detached: true,
    stdio: [input, "ignore", "ignore"],
    windowsHide: true,
  });
  child.on("error", () => {});
  child.unref();
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

/** The capacity of a pipe on most systems. */
const PIECE_BYTES = 64 * 1024;
/** For a stream that returns EAGAIN instead of blocking. */
const PAUSE_MS = 5;
const MAX_PAUSES = 400;

/** Undefined when nothing was sent. Throws if it is not JSON. For a host that sends nothing and stays connected, the host's timeout ends us. */
export function readInput(fd: number): unknown {
  const pieces: Buffer[] = [];
  for (let piece = readPiece(fd); piece.length > 0; piece = readPiece(fd)) {
    pieces.push(piece);
    // A full piece is rarely the last one, and parsing takes time.
    const value = piece.length < PIECE_BYTES && isEnd(piece) ? parse(pieces) : undefined;
    if (value !== undefined) return value;
  }
  const text = textOf(pieces);
  return text.trim() === "" ? undefined : JSON.parse(text);
}

/** Empty at the end. */
function readPiece(fd: number): Buffer {
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  for (let pauses = 0; ; pauses++) {
    try {
      return piece.subarray(0, readSync(fd, piece, 0, piece.length, null));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // A closed pipe on Windows.
      if (code === "EOF") return piece.subarray(0, 0);
      if (code !== "EAGAIN" || pauses === MAX_PAUSES) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
    }
  }
}

function isEnd(piece: Buffer): boolean {
  return /[}\]]\s*$/.test(piece.toString("latin1", Math.max(0, piece.length - 16)));
}

/** Undefined while it is incomplete. */
function parse(pieces: readonly Buffer[]): unknown {
  try {
    return JSON.parse(textOf(pieces));
  } catch {
    return undefined;
  }
}

/** Without the byte order mark that some Windows shells add. */
function textOf(pieces: readonly Buffer[]): string {
  return Buffer.concat(pieces)
    .toString("utf8")
    .replace(/^\ufeff/, "");
}

export interface ToolCall {
  name: string;
  input: Readonly<Record<string, unknown>>;
}

const PATCH_FILE = /^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$/gm;

/** The files that a call reads or changes, as written in its input or in a patch. */
export function namedFiles(input: ToolCall["input"]): string[] {
  const named = [input.file_path, input.notebook_path, input.path, input.filePath, input.absolute_path];
  const inPatch = [...patchOf(input).matchAll(PATCH_FILE)].map(([, file]) => file);
  return [...named, ...inPatch].filter((file) => typeof file === "string");
}

/** "" for none. Whether it is a patch, only the text itself shows. */
export function patchOf({ input, patch, command }: ToolCall["input"]): string {
  return String([input, patch, command].find((text) => typeof text === "string") ?? "");
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

export function rehearsedDirectory(path: string): Directory {
  return {
    path,
    scope: "user",
    inRepository: false,
    readOnly: true,
    recursive: false,
    limits: { maxLines: 200, maxChars: 25_000 },
    ageDays: { recent: 2, stale: 8, old: 31 },
    now: () => new Date(0),
    by: "hook",
    log: () => {},
  };
}

/** `file` must exist in the directory; the hashes are those of the prompt's terms. */
export function rehearsedEntry(file: string, hashes: readonly number[]): RowEntry {
  const terms = Uint32Array.from(hashes).sort();
  const weights = new Uint16Array(terms.length).fill(8);
  const vectors = [false, true].map((isCue) => ({ hash: 1, isCue, scale: 0.01, values: new Int8Array(384).fill(1) }));
  return {
    ...{ file, name: "one", type: "project", links: ["two"], isInferred: true, isPlain: false, isForHooks: false },
    ...{ mtimeMs: 0, ctimeMs: 0, size: 0, ino: 0, hash: 0, isSettled: false, saidMs: 0, createdMs: 0, commitMs: 0 },
    details: { header: {} as RowEntry["details"]["header"], rule: null, day: null },
    ranking: { terms, weights, length: 8 * terms.length, vectors },
  };
}
