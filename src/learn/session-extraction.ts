/** A session that lies on disk, learnt from as far as it has not been yet: by a model in several runs, or by rules at once. */

import { addUsage, NO_USAGE, textOf, type Usage } from "../model/ask.ts";
import type { HeardSession } from "../session/transcripts.ts";
import type { Store } from "./apply.ts";
import { applyAll } from "./apply-all.ts";
import { type ExtractionWorld, extract } from "./extraction.ts";
import { type Cursor, moveCursor, readCursor, sinceCursor } from "./extraction-gates.ts";
import type { Inbox } from "./inbox.ts";
import type { LearnMode } from "./proposal.ts";
import { extractByRules, type SpokenMessage } from "./rules.ts";
import { type HeardMessage, hearSession, ownWords } from "./window.ts";

/** Why a session is skipped that was looked at to its end. */
export const NOTHING_NEW = "nothing was said since the last time";

export interface SessionExtraction {
  /** Messages that were new when it began. */
  messages: number;
  saved: { file: string; action: string }[];
  /** What was not kept, with the reason. */
  refused: string[];
  /** Why nothing, or not all of it, was looked at. */
  skipped: string | null;
  /** Why a model could not do it: the same is looked at again. */
  failed: string | null;
  turns: number;
  usage: Usage;
}

/** What has not been learnt from yet. */
export function findNew(dir: string, session: HeardSession): readonly HeardMessage[] {
  return sinceCursor(hearSession(session), readCursor(dir, session.id));
}

export interface SessionExtractionOptions {
  signal?: AbortSignal;
  /** Told after every run how many messages are done, of how many. */
  onProgress?: (done: number, total: number) => void;
}

/** Somebody asked for it: neither the throttle nor the switch for what runs by itself counts. Must not throw. */
export async function extractSession(
  world: ExtractionWorld,
  session: HeardSession,
  { signal, onProgress = () => {} }: SessionExtractionOptions = {},
): Promise<SessionExtraction> {
  const done = nothing(findNew(world.memory.dir, session).length);
  const asked: ExtractionWorld = { ...world, gates: () => ({ ...world.gates(), enabled: true }) };
  const request = {
    session: session.id,
    messages: hearSession(session),
    trailing: true,
    ...(signal && { signal }),
  };
  if (done.messages === 0) return { ...done, skipped: NOTHING_NEW };
  for (let left = done.messages; left > 0; ) {
    const result = await extract(asked, request);
    done.saved.push(...result.saved.map(({ file, action }) => ({ file, action })));
    done.refused.push(...result.refused);
    done.turns += result.turns;
    done.usage = addUsage(done.usage, result.usage);
    done.skipped = result.skipped;
    done.failed = result.failed;
    if (result.skipped !== null || result.failed !== null) break;
    onProgress(done.messages - result.left, done.messages);
    // No step forward: the same would be asked again.
    if (result.left >= left) break;
    left = result.left;
  }
  return done;
}

export interface RulesWorld {
  store: Store;
  inbox: Pick<Inbox, "add" | "wasRejected">;
  mode: LearnMode;
  /** The memory directory. */
  dir: string;
  now: () => Date;
  log: (message: string) => void;
}

/** Must not throw. */
export async function extractSessionByRules(world: RulesWorld, session: HeardSession): Promise<SessionExtraction> {
  const { store, inbox, mode, dir } = world;
  const from = readCursor(dir, session.id);
  const all = hearSession(session);
  const fresh = sinceCursor(all, from);
  const done = nothing(fresh.length);
  if (mode === "off" || mode === "read-only") return { ...done, skipped: `learning is ${mode} here (learn.mode)` };
  if (fresh.length === 0) return { ...done, skipped: NOTHING_NEW };
  try {
    const proposals = await extractByRules(speak(session, all, fresh), await store.list(), session.id);
    Object.assign(done, await applyAll(store, inbox, proposals, mode));
    if (done.failed === null) advance(world, session.id, from, all);
  } catch (error) {
    done.failed = error instanceof Error ? error.message : String(error);
  }
  return done;
}

function nothing(messages: number): SessionExtraction {
  return { messages, saved: [], refused: [], skipped: null, failed: null, turns: 0, usage: NO_USAGE };
}

/** What the two said to one another. The answer before it comes along: "yes, always like that" points back at it. */
function speak(
  { prompts }: HeardSession,
  all: readonly HeardMessage[],
  fresh: readonly HeardMessage[],
): SpokenMessage[] {
  const typed = new Map(prompts.map(({ uuid, text }) => [uuid, ownWords(text)]));
  const before = all.slice(0, all.length - fresh.length).findLast(({ message }) => message.role === "assistant");
  return [...(before ? [before] : []), ...fresh].flatMap(({ id, at, message }): SpokenMessage[] => {
    if (message.role === "assistant") return [{ id, role: "assistant", text: textOf(message.content), at: at ?? "" }];
    const text = typed.get(id);
    return text === undefined ? [] : [{ id, role: "user", text, at: at ?? "" }];
  });
}

function advance({ dir, now, log }: RulesWorld, session: string, from: Cursor | null, all: readonly HeardMessage[]) {
  const last = all.at(-1);
  if (!last) return;
  try {
    const to = { message: last.id, at: now().toISOString() };
    moveCursor(dir, session, { from, to, ids: all.map(({ id }) => id) });
  } catch (error) {
    log(`extraction: the cursor could not be moved, the same is looked at again: ${String(error)}`);
  }
}
