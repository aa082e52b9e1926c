/**
 * The end of a turn or session, or a compaction, in another agent: decides without a model and within a few milliseconds whether it
 * is worth extracting from; if so, it starts a background process, or asks the agent to look back itself. And the transcript is
 * archived, where the user wants that.
 */

import { existsSync, fstatSync, lstatSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Env } from "../config.ts";
import {
  isAlive,
  moveInto,
  PRIVATE_MODE,
  pinFolder,
  removeQuietly,
  withRegular,
  writeTemporary,
} from "../disk/fence.ts";
import { lazily } from "../errors.ts";
import { type Cursor, checkGates, type GateState, moveCursor, readCursor } from "../learn/extraction-gates.ts";
import { checkBudget, type Ledger, openLedger } from "../learn/ledger.ts";
import { slugOf } from "../project/locate.ts";
import { findDirectories, findPlace } from "../project/scopes.ts";
import { buildLookBack } from "../prompts/hooks.ts";
import { sessionIdOf } from "../session/session-reader.ts";
import type { World } from "../world.ts";
import { type Answer, type Event, failOpen, formatContinuation, type Host, tell } from "./event.ts";
import { syncBeside } from "./team-sync.ts";
import {
  hasMemoryWrite,
  isForeign,
  lastMarks,
  lastMessageId,
  markOf,
  readTurnTail,
  type TurnTail,
} from "./turn-tail.ts";

/**
 * `start`: what the background process is given, with the mark of the last message (`markOf`), "" if it is not known; `ask`:
 * what the agent is asked before it stops.
 */
export type StopAnswer =
  | { start: { transcript: string; cwd: string; mark: string } }
  | { ask: string }
  | { skipped: string };

export function answerStop(event: Event, host: Host): Answer {
  const { env } = host;
  const log = (text: string) => {
    if (env.MEMDIR_DEBUG) tell(text);
  };
  // A turn that cannot be judged is still archived.
  const unknown: StopAnswer = { skipped: "it could not be judged" };
  const answer = failOpen(() => decide(event, { env, now: () => new Date(), log }), unknown, host);
  if ("skipped" in answer) log(`extraction skipped: ${answer.skipped}`);
  return {
    out: "ask" in answer ? formatContinuation(answer.ask) : "",
    after() {
      if ("start" in answer) {
        const { transcript, cwd, mark } = answer.start;
        host.start(["extract-hook", "--transcript", transcript, "--mark", mark], cwd);
      }
      // Sub-agents stop far more often than a memory is written.
      if (!event.isSubAgent) syncBeside(event, host);
      if (event.kind !== "Stop") archive(event, env);
    },
  };
}

/** Archives the transcript, which the host will remove some day. */
function archive({ transcript, cwd }: Event, env: Env): void {
  if (transcript === null) return;
  const { hooks, claudeDir } = findPlace({ cwd }, env).config;
  if (hooks.archive) archiveTranscript({ transcript, session: sessionIdOf(transcript), cwd, claudeDir });
}

/** Records a skip in the ledger, if there is a memory directory; if not, nothing is created. */
export function decide(event: Event, world: Pick<World, "env" | "now" | "log">): StopAnswer {
  const stop = openStop(event, world);
  if (stop.skipped !== undefined) return { skipped: stop.skipped };
  if (stop.isAsking) return askOnce(event, stop);
  const skipped = findReason(stop);
  const { transcript, cwd, mark } = stop;
  return skipped === null ? { start: { transcript, cwd, mark } } : { skipped };
}

type Stop = Exclude<ReturnType<typeof openStop>, { skipped: string }>;

function openStop(event: Event, { env, now, log }: Pick<World, "env" | "now" | "log">) {
  const { transcript, cwd, isSubAgent, lastMessage } = event;
  if (transcript === null) return { skipped: "the host named no transcript" };
  const { config, location } = findPlace({ cwd }, env);
  if (config.disabled !== null) return { skipped: `memory is off: ${config.disabled}` };
  if (config.hooks.stop === "off") return { skipped: "hooks.stop is off" };
  const { learn } = config;
  const isAsking = config.hooks.stop === "continue";
  return {
    ...{ learn, transcript, cwd, isSubAgent, isAsking, session: nameSession(event, transcript) },
    directory: findDirectories({ cwd, now, log, withOlder: false }, config, location).main,
    /** Whether a model would be asked; asking the agent costs its own tokens, not our budget. */
    hasModel: !isAsking && learn.model !== null,
    /** The mark of the host's last message, "" if it is not known. */
    mark: lastMessage.trim() !== "" && !isForeign(transcript) ? markOf(lastMessage) : "",
  };
}

/** As the background process determines it: Claude Code names its files by it, others write it into them. */
function nameSession({ session }: Event, transcript: string): string {
  const told = isForeign(transcript) ? session : null;
  return told !== null && PLAIN_ID.test(told) ? told : sessionIdOf(transcript);
}

const PLAIN_ID = /^[\w.-]{1,128}$/;

/** Once per turn: after the agent was asked, the turn counts as handled, whether or not it saved anything. */
function askOnce({ kind, isContinued }: Event, stop: Stop): StopAnswer {
  if (kind !== "Stop") return { skipped: "the agent looks back at the end of its turns" };
  if (!isContinued) {
    const skipped = findReason(stop);
    return skipped === null ? { ask: buildLookBack(stop.directory.path) } : { skipped };
  }
  const cursor = readCursor(stop.directory.path, stop.session);
  // Whichever hook continued the turn: we were called at its first end, and asked then if there was anything to ask.
  if (existsSync(stop.directory.path)) advance(stop, cursor, readTurnTail(stop.transcript, cursor, 1));
  return { skipped: "the turn was continued once" };
}

/** Everything said so far counts as handled. */
function advance({ directory, session }: Stop, cursor: Cursor | null, tail: TurnTail | null): void {
  const message = lastMessageId(tail ?? NO_TAIL);
  if (message === null) return;
  const to = { message, at: directory.now().toISOString() };
  try {
    moveCursor(directory.path, session, { from: cursor, to, ids: [message] });
  } catch (error) {
    directory.log(`the cursor could not be moved: ${(error as Error).message}`);
  }
}

/** Why nothing is started; null if something is. */
function findReason(stop: Stop): string | null {
  const { directory, learn, transcript, session, hasModel } = stop;
  const ledger = openLedger(directory.path, directory, learn.prices);
  const cursor = readCursor(directory.path, session);
  const tail = lazily(() => {
    const read = readTurnTail(transcript, cursor, learn.everyTurns);
    // The host calls us before it has written the turn: then nothing is known of it, and the background process waits for it.
    return (read?.prompts.length ?? 0) === 0 && isLagging(transcript, stop.mark) ? NO_TAIL : read;
  });
  const answer = checkGates(readState(stop, ledger, tail));
  const reason = answer.go ? findIdle(hasModel, tail()) : answer.reason;
  if (reason === null) return null;
  // The agent has saved what was worth saving.
  if (!answer.go && answer.advance) advance(stop, cursor, tail());
  if (existsSync(directory.path)) ledger.skip("extraction", session, reason);
  return reason;
}

function isLagging(transcript: string, mark: string): boolean {
  return mark !== "" && !lastMarks(readTurnTail(transcript, null, 1)?.lines ?? []).includes(mark);
}

const NO_TAIL: TurnTail = { lines: [], prompts: [], isWhole: false };

/** Each is determined only when the gates ask for it, the cheapest first. */
function readState(stop: Stop, ledger: Ledger, tail: () => TurnTail | null): GateState {
  const { directory, learn, session, cwd, isSubAgent, hasModel } = stop;
  const written = lazily(() => hasMemoryWrite(tail()?.lines ?? [], { dir: directory.path, cwd }));
  /** Nothing is known of a turn that began far back, so it is not skipped. */
  const turns = () => (tail()?.isWhole === false ? Number.POSITIVE_INFINITY : (tail()?.prompts.length ?? 0));
  const asks = lazily(() => !written() && (tail()?.prompts.some(mayAskToKeep) ?? false));
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
      // Rules cost nothing, and they save explicit requests; whether there is one may not be known here.
      return hasModel && !asks() && !isUnknown(tail()) ? checkBudget(ledger, learn, session) : { ok: true as const };
    },
  };
}

function isUnknown(tail: TurnTail | null): boolean {
  return tail !== null && !tail.isWhole && tail.prompts.length === 0;
}

/** Rules use only what the user said. */
function findIdle(hasModel: boolean, tail: TurnTail | null): string | null {
  if (hasModel || !tail?.isWhole || !tail.prompts.every(isIdle)) return null;
  return "no model is configured, and there is nothing for the rules";
}

/**
 * A request to remember something contains one of these words, in the languages of learn/said-requests.ts, whose own patterns take
 * as long to compile as everything else here. False alarms are fine: the background process checks again, thoroughly.
 */
const ASKING =
  /^\s*#|remember|memor|mind|forget|\bnot(?:es?\b|i[ez])|reference|next time|future|\b(?:from|for) (?:now|here|later)|forward|henceforth|should know|(?:save|store|record|write|put|add|commit)\b.{0,40}(?:this|that|down|following)|merke? |denke? |behalte? |vergiss|ab (?:jetzt|sofort|heute)|von (?:nun|jetzt)|zukunft|künftig|fortan|souv[ie]|rappel|retiens|retenez|mémor|oubli|garde|doréna|désorm|partir d|avenir|recuerd|acuérd|olvid|en cuenta|anota|adelante|lembr|esqueç|ricorda|dimentic|onthoud|vergeet|[记記忘]|现在|現在|今[后後]|以[后後]|今以后|これから|覚え|憶|メモ|기억|잊지|앞으로|이제부터|apunta|guarda/i;

/** More than people type before they say what to remember. */
const MAX_ASKED_CHARS = 4_000;

export function mayAskToKeep(prompt: string): boolean {
  return ASKING.test(prompt.slice(0, MAX_ASKED_CHARS));
}

/** Thanks, agreement, or a command for the host; ten characters of Chinese are a sentence. */
const IDLE =
  /^(?:[^\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]{0,11}|\/[\w:-]+(?:\s.*)?|(?:ok(?:ay)?|thanks|thank you|thx|great|perfect|nice|yes|no|go on|go ahead)\b.{0,12})$/is;
const MAX_IDLE_CHARS = 200;

/** Whether there is nothing in it for the rules. */
export function isIdle(prompt: string): boolean {
  const text = prompt.trim();
  return text.length <= MAX_IDLE_CHARS && IDLE.test(text) && !mayAskToKeep(text);
}

// --- A copy of a session's transcript in a folder that the host does not clean up, for users who want to keep their conversations.

interface Archiving {
  /** Absolute path of the transcript. */
  transcript: string;
  session: string;
  /** The host's working directory, which the folder is named by as the host names its own. */
  cwd: string;
  claudeDir: string;
}

/** Weeks of one conversation; more could not be copied in the second that a session has to end. */
const MAX_BYTES = 200 * 1024 * 1024;

/** False when there is nothing to copy, or nothing new. Links are not followed on either side. Throws when the disk refuses. */
export function archiveTranscript({ transcript, session, cwd, claudeDir }: Archiving): boolean {
  if (!/^[\w.-]{1,128}$/.test(session) || session.startsWith(".")) return false;
  // Every host's transcript has this ending; anything else is not a conversation.
  if (!/\.jsonl?$/.test(transcript)) return false;
  const archive = (fd: number, size: number) => {
    if (size === 0 || size > MAX_BYTES) return false;
    const folder = makeFolder(claudeDir, slugOf(cwd));
    try {
      return copy(fd, folder.path, `${session}.jsonl`);
    } finally {
      folder.close();
    }
  };
  return withRegular(transcript, archive) ?? false;
}

/** One after the other, each checked before anything is made in it. */
function makeFolder(claudeDir: string, slug: string): { path: string; close: () => void } {
  const top = join(claudeDir, "memdir-archive");
  for (const folder of [top, join(top, slug)]) {
    if (!lstatSync(folder, { throwIfNoEntry: false })) mkdirSync(folder, { mode: 0o700 });
    if (!lstatSync(folder).isDirectory()) throw new Error(`${folder} is a link or not a folder; remove it`);
  }
  return pinFolder(join(top, slug));
}

/** A transcript only grows, so a copy that is as long and no older is the same. Not flushed: the original stays for weeks. */
function copy(from: number, folder: string, name: string): boolean {
  const { size, mtimeMs } = fstatSync(from);
  const target = join(folder, name);
  const there = lstatSync(target, { throwIfNoEntry: false });
  if (there?.isFile() && (there.size > size || (there.size === size && there.mtimeMs >= mtimeMs))) return false;
  sweep(folder, name);
  const bytes = readFileSync(from).subarray(0, size);
  moveInto(writeTemporary(folder, bytes, PRIVATE_MODE, ".copy", false, `-${name}`), target, false);
  return true;
}

/** Leftovers of copies of this session that were killed halfway: their processes are gone, since a session ends once. */
function sweep(folder: string, name: string): void {
  for (const each of readdirSync(folder)) {
    const writer = Number(/^\.copy-(\d+)-/.exec(each)?.[1]);
    const isLeft = each.endsWith(`-${name}`) && (writer === process.pid || (writer > 0 && !isAlive(writer)));
    if (isLeft) removeQuietly(join(folder, each));
  }
}
