/**
 * Learning in the background of one session: notes while it runs, extraction after a turn; the user waits for neither.
 */

import type { Conversation } from "../model/agent-loop.ts";
import { type Usage, usedNothing } from "../model/ask.ts";
import { type Extractor, type Learning, type LearnRequest, type LearnResult, learn, reasonOf } from "./learn.ts";
import { keepExplicit } from "./rules.ts";
import { understandSaid } from "./said.ts";
import {
  beginNotes,
  countAnswer,
  endNotes,
  NO_NOTES,
  type NotesOptions,
  type NotesResult,
  shouldTakeNotes,
  takeNotes,
} from "./session-notes.ts";
import type { HeardMessage } from "./window.ts";

interface LearnerOptions {
  notes: NotesOptions;
  /** Whether notes are taken without being asked for. */
  takesNotes: boolean;
  tell: (learnt: Learnt) => void;
}

/** The result of a turn, for a person to see. */
export interface Learnt {
  saved: readonly { file: string; action: string }[];
  /** Proposals that wait for a person. */
  waiting: number;
  problem: string | null;
}

interface EndedTurn {
  /** All of the session, oldest first. */
  messages: readonly HeardMessage[];
  conversation: Conversation;
  /** What the user said, and what the agent had said before it. */
  prompt: { id: string; text: string; at: string };
  answerBefore: string;
  memoryWritten: boolean;
  /** Whether the user still wants memories in this session. */
  isWanted?: () => boolean;
}

export interface SessionLearner {
  /** One answer of the model, at a moment when the conversation can be forked. Returns at once. */
  answered(answer: { contextTokens: number; toolCalls: number }, conversation: () => Promise<Conversation>): void;
  /** A turn ended with an answer. Returns at once. */
  ended(turn: EndedTurn): void;
  /** Because the user wants them now; ignores the gates. */
  takeNotes(conversation: Conversation, signal?: AbortSignal): Promise<NotesResult>;
  isBusy(): boolean;
  /** Waits for running work, at most this long; then stops it. */
  drain(ms: number): Promise<void>;
}

/**
 * The rules need a few milliseconds, but saving may have to wait for another process, and a user who quits does not
 * wait.
 */
const MAX_LOOK_MS = 1_000;

/**
 * After three failures the next one will fail too, and each attempt costs money. The messages wait for the next session
 * or `memdir extract`.
 */
const MAX_FAILURES = 3;

export function openSessionLearner(
  learning: Learning,
  extractor: Extractor,
  { notes: options, takesNotes, tell }: LearnerOptions,
): SessionLearner {
  const { directory, ledger, inbox, mode } = learning;
  const { session } = options;
  const stopping = new AbortController();
  const looking = new Set<Promise<void>>();
  const writing = new Set<Promise<void>>();
  let notes = NO_NOTES;
  let isEnding = false;

  const beside = (work: Promise<unknown>, pending: Set<Promise<void>>) => {
    const done: Promise<void> = work
      .then(() => {})
      .catch((error: Error) => directory.log(`learning: ${error.message}`))
      .finally(() => pending.delete(done));
    pending.add(done);
  };

  let failures = 0;
  const queue = openLearnQueue(learning, extractor, ({ saved, failed }) => {
    failures = failed === null ? 0 : failures + 1;
    if (saved.length === 0 && failed === null) return;
    const files = saved.map(({ file, action }) => ({ file, action }));
    tell({ saved: files, waiting: inbox.list().length, problem: failed });
  });

  const writeNotes = async (conversation: Conversation, signal: AbortSignal): Promise<NotesResult> => {
    notes = beginNotes(notes);
    const { provider, name } = options.model();
    const result = await takeNotes(directory, options, { conversation, signal });
    notes = endNotes(notes, result.ok);
    noteCost(`${provider}/${name}`, result.usage, result.ok ? `${result.edits} edits` : `nothing (${result.problem})`);
    return result;
  };
  const noteCost = (model: string, usage: Usage, produced: string) => {
    if (usedNothing(usage)) return;
    const at = directory.now().toISOString();
    ledger.spend({ at, kind: "notes", session, model, usage, produced, skipped: null });
  };

  const ended = async (turn: EndedTurn) => {
    const { messages, conversation, prompt, answerBefore, memoryWritten, isWanted } = turn;
    // Requests that were saved are done.
    const explicit = !memoryWritten && (await asksToKeep(prompt, answerBefore));
    const { budget } = learning.gates(session);
    if (explicit && !budget.ok) {
      const kept = await keepExplicit(learning, session, [prompt]);
      const saved = kept.map(({ file, action }) => ({ file, action }));
      if (saved.length > 0) return tell({ saved, waiting: inbox.list().length, problem: null });
    }
    if (failures >= MAX_FAILURES && !explicit) {
      return ledger.skip("extraction", session, `extraction failed ${failures} times in a row in this session`);
    }
    if (isEnding) return ledger.skip("extraction", session, "the session is ending");
    const request = { session, messages, conversation, memoryWrittenInTurn: memoryWritten, explicit };
    queue.request({ ...request, ...(isWanted && { isWanted }) });
  };

  return {
    answered(answer, conversation) {
      notes = countAnswer(notes, answer);
      if (!takesNotes || stopping.signal.aborted || !shouldTakeNotes(notes).go) return;
      const { enabled, budget } = learning.gates(session);
      if (!enabled || mode === "off" || mode === "read-only") return;
      if (!budget.ok) {
        // Said once for every stretch of the conversation that would have had notes.
        notes = endNotes(beginNotes(notes), true);
        return ledger.skip("notes", session, budget.reason);
      }
      // Set before the first await: the next answer must see it running.
      notes = beginNotes(notes);
      beside(
        conversation().then(
          (now) => writeNotes(now, stopping.signal),
          (error) => {
            notes = endNotes(notes, false);
            throw error;
          },
        ),
        writing,
      );
    },
    ended(turn) {
      beside(ended(turn), looking);
    },
    async takeNotes(conversation, signal) {
      // One file, one writer.
      await Promise.all(writing);
      return writeNotes(conversation, signal ?? stopping.signal);
    },
    isBusy: () => looking.size > 0 || writing.size > 0 || queue.isBusy(),
    async drain(ms) {
      // Extraction is requested only when it is done.
      const looked = Promise.all(looking).then(() => {});
      if (!(await endsWithin(looked, Math.min(ms, MAX_LOOK_MS)))) isEnding = true;
      const written = Promise.all(writing).then(() => {});
      await Promise.all([queue.drain(ms), endsWithin(written, ms)]);
      if (writing.size === 0) return;
      stopping.abort();
      await endsWithin(written, GRACE_MS);
    },
  };
}

/** What the rules recognise as an explicit request, in any wording. */
async function asksToKeep({ text, at }: EndedTurn["prompt"], answerBefore: string): Promise<boolean> {
  const said = await understandSaid(text, new Date(at), answerBefore);
  return said.some(({ explicit, act }) => explicit && act !== "forget");
}

/**
 * Runs extractions in the background of a conversation: one at a time, then the latest waiting one, with a bounded wait
 * at the end.
 */
interface LearnQueue {
  /** Returns at once and never throws. While one runs, only the latest request waits: it holds what the others held. */
  request(request: LearnRequest): void;
  /** Waits for running and waiting work, at most this long; then stops it, and the cursor stays. */
  drain(ms: number): Promise<void>;
  isBusy(): boolean;
}

/** Time for a stopped run to record its cost. */
const GRACE_MS = 250;

/** `onDone` is called after every run that was not skipped. */
export function openLearnQueue(
  learning: Learning,
  extractor: Extractor,
  onDone: (result: LearnResult) => void = () => {},
): LearnQueue {
  const { directory, ledger } = learning;
  const stopping = new AbortController();
  let running: Promise<void> | null = null;
  let waiting: LearnRequest | null = null;

  const run = async (request: LearnRequest): Promise<void> => {
    const signals = [stopping.signal, ...(request.signal ? [request.signal] : [])];
    const result = await learn(learning, extractor, { ...request, signal: AbortSignal.any(signals) });
    try {
      if (result.skipped === null) onDone(result);
    } catch (error) {
      directory.log(`extraction: ${reasonOf(error)}`);
    }
  };

  const runAll = async (first: LearnRequest): Promise<void> => {
    for (let next: LearnRequest | null = first; next; ) {
      await run(next);
      next = waiting && { ...waiting, trailing: true };
      waiting = null;
    }
    running = null;
  };

  /** Nothing is lost, because the cursor stays. */
  const drop = ({ session }: LearnRequest, reason: string) => {
    directory.log(`extraction skipped: ${reason}`);
    ledger.skip("extraction", session, reason);
  };

  return {
    request(request) {
      if (stopping.signal.aborted) return drop(request, "the session is ending");
      if (!running) {
        running = runAll(request);
        return;
      }
      directory.log("extraction is waiting: another one is running");
      if (waiting && waiting.session !== request.session) drop(waiting, "a turn of another session replaced it");
      waiting = waiting?.session === request.session ? join(waiting, request) : request;
    },
    async drain(ms) {
      if (!running || (await endsWithin(running, ms))) return;
      if (waiting) drop(waiting, "the session ended before it could start");
      waiting = null;
      directory.log(`extraction stopped: it was still running ${ms} ms after the session ended`);
      stopping.abort();
      await endsWithin(running ?? Promise.resolve(), GRACE_MS);
    },
    isBusy: () => running !== null,
  };
}

/** An explicit request stays explicit; the combined turn counts as having written a memory only if both did. */
function join(earlier: LearnRequest, later: LearnRequest): LearnRequest {
  return {
    ...later,
    explicit: earlier.explicit === true || later.explicit === true,
    memoryWrittenInTurn: earlier.memoryWrittenInTurn === true && later.memoryWrittenInTurn === true,
  };
}

async function endsWithin(work: Promise<void>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  try {
    return await Promise.race([work.then(() => true as const), late]);
  } finally {
    clearTimeout(timer);
  }
}
