/**
 * The end of a turn in another agent (`dist/hook-stop.cjs`): whether it is worth looking at, decided without a model and in a few
 * milliseconds; if so, a process of its own is started that nobody waits for. It fails open: whatever goes wrong, the host goes on.
 */

import { existsSync, writeSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { type Env, processEnv } from "../config.ts";
import { findDirectories, findPlace } from "../directories.ts";
import { checkBudget } from "../learn/budget.ts";
import { moveCursor, readCursor } from "../learn/cursor.ts";
import { checkGates, type GateState } from "../learn/extraction-gates.ts";
import { type Ledger, openLedger } from "../learn/ledger.ts";
import type { LearnConfig } from "../learn-config.ts";
import { type Directory, statePath } from "../memory/directory.ts";
import { sessionIdOf } from "../session/session-reader.ts";
import { hasMemoryWrite, lastMessageId, markOf, readTurnTail, type TurnTail } from "./turn-tail.ts";

/** What Claude Code passes at the end of a turn. Whether another hook made the turn go on is no matter: nothing is answered here. */
export interface StopInput {
  transcript_path?: unknown;
  cwd?: unknown;
  /** In a sub-agent. */
  agent_id?: unknown;
  /** What the transcript should end with; it is written a little later. */
  last_assistant_message?: unknown;
}

/** What the process is told that does the work. */
export interface Start {
  transcript: string;
  cwd: string;
  /** Of the last message, "" if it is not known (`markOf`). */
  mark: string;
}

export type StopAnswer = { start: Start } | { skipped: string };

export function main(input: StopInput): void {
  const env = processEnv();
  const log = (text: string) => {
    if (env.MEMDIR_DEBUG) tell(`memdir: ${text}\n`);
  };
  try {
    const answer = decide(input, { env, now: new Date(), log });
    if ("start" in answer) start(answer.start);
    else log(`extraction skipped: ${answer.skipped}`);
  } catch (error) {
    log((error as Error).stack ?? String(error));
  }
}

function tell(text: string): void {
  try {
    writeSync(2, text);
  } catch {
    // Nobody listens.
  }
}

export interface StopWorld {
  env: Env;
  now: Date;
  log: (text: string) => void;
}

/** Notes a skip in the ledger, where there is a memory directory; where there is none, nothing is left behind. */
export function decide(input: StopInput, world: StopWorld): StopAnswer {
  const { transcript_path: transcript, last_assistant_message: last } = input;
  if (typeof transcript !== "string" || !isAbsolute(transcript)) return { skipped: "the host named no transcript" };
  const cwd = typeof input.cwd === "string" && input.cwd !== "" ? input.cwd : process.cwd();
  const { config, location } = findPlace({ cwd }, world.env);
  if (config.disabled !== null) return { skipped: `memory is off: ${config.disabled}` };
  const { env, now, log } = world;
  const options = { cwd, now: () => now, log, withOlder: false };
  const directory = findDirectories(options, config, location).main;
  const stop: Stop = { env, directory, learn: config.learn, transcript, cwd, isSubAgent: isNamed(input.agent_id) };
  const skipped = findReason(stop);
  if (skipped !== null) return { skipped };
  return { start: { transcript, cwd, mark: typeof last === "string" && last.trim() !== "" ? markOf(last) : "" } };
}

function isNamed(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

interface Stop {
  env: Env;
  directory: Directory;
  learn: LearnConfig;
  transcript: string;
  cwd: string;
  isSubAgent: boolean;
}

/** Why nothing is started; null when it is. */
function findReason(stop: Stop): string | null {
  const { directory, learn, transcript, env } = stop;
  const session = sessionIdOf(transcript);
  const ledger = openLedger({ file: statePath(directory, "ledger.jsonl"), prices: learn.prices }, directory);
  const cursor = readCursor(directory.path, session);
  const tail = later(() => readTurnTail(transcript, cursor, learn.everyTurns));
  const hasModel = (env.MEMDIR_MODEL ?? "").trim() !== "";
  const state = readState(stop, { ledger, session, tail, hasModel });
  const answer = checkGates(state);
  const reason = answer.go ? findIdle(hasModel, tail()) : answer.reason;
  if (reason === null) return null;
  if (!answer.go && answer.advance) advance();
  if (existsSync(directory.path)) ledger.skip("extraction", session, reason);
  return reason;

  /** The agent has kept what there was to keep. */
  function advance(): void {
    const message = lastMessageId(tail() ?? NO_TAIL);
    if (message === null) return;
    const to = { message, at: directory.now().toISOString() };
    try {
      moveCursor(directory.path, session, { from: cursor, to, ids: [message] });
    } catch (error) {
      directory.log(`the cursor could not be moved: ${(error as Error).message}`);
    }
  }
}

const NO_TAIL: TurnTail = { lines: [], prompts: [], isWhole: false };

interface Seen {
  ledger: Ledger;
  session: string;
  tail: () => TurnTail | null;
  hasModel: boolean;
}

/** Each is looked for only when the gates come to it: they go by what it costs. */
function readState({ directory, learn, cwd, isSubAgent }: Stop, { ledger, session, tail, hasModel }: Seen): GateState {
  const written = later(() => hasMemoryWrite(tail()?.lines ?? [], { dir: directory.path, cwd }));
  /** Of a turn that began far back nothing is known, so it is looked at. */
  const turns = () => (tail()?.isWhole === false ? Number.POSITIVE_INFINITY : (tail()?.prompts.length ?? 0));
  const asks = later(() => !written() && (tail()?.prompts.some(mayAskToKeep) ?? false));
  return {
    enabled: true,
    isSubAgent,
    mode: directory.scope === "team" ? learn.teamMode : learn.mode,
    everyTurns: learn.everyTurns,
    get newMessages() {
      return turns();
    },
    get turnsSince() {
      return turns();
    },
    get memoryWrittenInTurn() {
      return written();
    },
    get explicit() {
      return asks();
    },
    get budget() {
      // Rules cost nothing, and they keep what was asked for in so many words.
      return hasModel && !asks() ? checkBudget(ledger, learn, session) : { ok: true as const };
    },
  };
}

/**
 * Words without which nobody asks to remember something, in the languages of learn/said-explicit.ts, whose own patterns take as long
 * to compile as everything else here takes. Rather once too often: the process that is started looks again, and closely.
 */
const ASKING =
  /^\s*#|remember|memor|mind|forget|\bnot(?:es?\b|i[ez])|reference|next time|future|\b(?:from|for) (?:now|here|later)|forward|henceforth|should know|(?:save|store|record|write|put|add|commit)\b.{0,40}(?:this|that|down|following)|merke? |denke? |behalte? |vergiss|ab (?:jetzt|sofort|heute)|von (?:nun|jetzt)|zukunft|künftig|fortan|souv[ie]|rappel|retiens|retenez|mémor|oubli|garde|doréna|désorm|partir d|avenir|recuerd|acuérd|olvid|en cuenta|anota|adelante|lembr|esqueç|ricorda|dimentic|onthoud|vergeet|[记記忘]|现在|現在|今[后後]|以[后後]|今以后|これから|覚え|憶|メモ|기억/i;

/** More than anybody types before saying what is to be kept. */
const MAX_ASKED_CHARS = 4_000;

export function mayAskToKeep(prompt: string): boolean {
  return ASKING.test(prompt.slice(0, MAX_ASKED_CHARS));
}

/** A word of thanks or agreement, or a command for the host. */
const IDLE =
  /^(?:.{0,11}|\/[\w:-]+(?:\s.*)?|(?:ok(?:ay)?|thanks|thank you|thx|great|perfect|nice|yes|no|go on|go ahead)\b.{0,12})$/is;
const MAX_IDLE_CHARS = 200;

/** Nothing in it that the rules could keep. */
export function isIdle(prompt: string): boolean {
  const text = prompt.trim();
  return text.length <= MAX_IDLE_CHARS && IDLE.test(text) && !mayAskToKeep(text);
}

/** Rules look at what the user said and at nothing else. */
function findIdle(hasModel: boolean, tail: TurnTail | null): string | null {
  if (hasModel || !tail?.isWhole || !tail.prompts.every(isIdle)) return null;
  return "no model is configured, and there is nothing for the rules";
}

function later<T>(find: () => T): () => T {
  let found: { value: T } | null = null;
  return () => {
    found ??= { value: find() };
    return found.value;
  };
}

/** In a session of its own, with nothing of ours open: it outlives us and the host. */
function start({ transcript, cwd, mark }: Start): void {
  const args = [join(__dirname, "cli.js"), "extract", "--transcript", transcript, "--session-hook", mark];
  const { spawn } = process.getBuiltinModule("node:child_process");
  const child = spawn(process.execPath, args, { cwd, detached: true, stdio: "ignore", windowsHide: true });
  child.on("error", () => {});
  child.unref();
}

/** Goes through everything once, so that all of it is in the compiled form that is kept. Writes nothing, starts nothing. */
export function rehearse(): void {
  const place = { dir: __dirname, cwd: __dirname };
  const call = { type: "tool_use", id: "1", name: "Write", input: { file_path: join(__dirname, "one.md") } };
  const result = { type: "tool_result", tool_use_id: "2", is_error: true, content: "" };
  const lines = [
    { type: "user", uuid: "1", message: { role: "user", content: "a prompt of several words, remember it" } },
    {
      type: "assistant",
      uuid: "2",
      parentUuid: "1",
      message: { id: "1", content: [{ type: "text", text: "" }, call] },
    },
    { type: "user", uuid: "3", parentUuid: "2", message: { role: "user", content: [result] } },
  ].map((line) => JSON.stringify(line));
  hasMemoryWrite(lines, place);
  lastMessageId({ lines, isWhole: true });
  findPlace({ cwd: __dirname }, processEnv());
  readCursor(__dirname, "rehearsal");
  const tail = readTurnTail(__filename, { message: "1.1", at: "" }, 1) ?? NO_TAIL;
  findIdle(false, { ...tail, isWhole: true, prompts: ["a prompt of several words, remember it"] });
  const world = { now: () => new Date(0), log: () => {} };
  const ledger = openLedger({ file: join(__dirname, "rehearsal", "ledger.jsonl") }, world);
  checkBudget(ledger, { tokensPerDay: 1, tokensPerSession: 1, costPerDay: null }, "rehearsal");
}
