/**
 * Learning in the background of one session: notes while it runs, extraction after a turn; the user waits for neither.
 */

import { messageOf } from "../errors.ts";
import {
  type Extractor,
  type Learning,
  type LearnRequest,
  type LearnResult,
  learn,
  type Prompt,
  recordSkip,
} from "../learn/learn.ts";
import { asksToKeep } from "../learn/said.ts";
import type { Conversation } from "../model/agent-loop.ts";
import { usedNothing } from "../model/ask.ts";
import { beginNotes, countAnswer, endNotes, NO_NOTES, type NotesOptions, shouldTakeNotes, takeNotes } from "./notes.ts";

export interface LearnerOptions {
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

interface EndedTurn extends Required<Pick<LearnRequest, "messages" | "conversation">>, Pick<LearnRequest, "isWanted"> {
  /** What the user said. */
  prompt: Prompt;
  memoryWritten: boolean;
}

export type SessionLearner = ReturnType<typeof openSessionLearner>;

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

export function openSessionLearner(learning: Learning, extractor: Extractor, given: LearnerOptions) {
  const { notes: options, takesNotes, tell } = given;
  const { directory, ledger, inbox } = learning;
  const { session } = options;
  const stopping = new AbortController();
  const looking = new Set<Promise<void>>();
  const writing = new Set<Promise<void>>();
  let notes = NO_NOTES;
  let isEnding = false;
  let failures = 0;

  const beside = (work: Promise<unknown>, pending: Set<Promise<void>>) => {
    const done: Promise<void> = work
      .then(() => {})
      .catch((error: Error) => directory.log(`learning: ${error.message}`))
      .finally(() => pending.delete(done));
    pending.add(done);
  };
  const queue = openLearnQueue(learning, extractor, ({ saved, failed }) => {
    failures = failed === null ? 0 : failures + 1;
    if (saved.length === 0 && failed === null) return;
    const files = saved.map(({ file, action }) => ({ file, action }));
    tell({ saved: files, waiting: inbox.list().length, problem: failed });
  });

  const writeNotes = async (conversation: Conversation, signal: AbortSignal) => {
    notes = beginNotes(notes);
    const { provider, name } = options.model();
    const result = await takeNotes(directory, options, { conversation, signal });
    notes = endNotes(notes, result.ok);
    const { ok, edits, problem, usage } = result;
    const produced = ok ? `${edits} edits` : `nothing (${problem})`;
    if (!usedNothing(usage)) ledger.spend({ kind: "notes", session, model: `${provider}/${name}`, usage, produced });
    return result;
  };

  const ended = async (turn: EndedTurn) => {
    const { messages, conversation, prompt, memoryWritten, isWanted } = turn;
    // Requests that were saved are done.
    const explicit = !memoryWritten && (await asksToKeep(prompt.text, new Date(prompt.at)));
    if (failures >= MAX_FAILURES && !explicit) {
      return ledger.skip("extraction", session, `extraction failed ${failures} times in a row in this session`);
    }
    if (isEnding) return ledger.skip("extraction", session, "the session is ending");
    const asked = explicit ? [prompt] : [];
    const request = { session, messages, conversation, memoryWrittenInTurn: memoryWritten, explicit, asked };
    queue.request({ ...request, ...(isWanted && { isWanted }) });
  };

  return {
    /** One answer of the model, at a moment when the conversation can be forked. Returns at once. */
    answered(answer: Parameters<typeof countAnswer>[1], conversation: () => Promise<Conversation>) {
      notes = countAnswer(notes, answer);
      if (!takesNotes || stopping.signal.aborted || !shouldTakeNotes(notes)) return;
      const { enabled, budget } = learning.gates(session);
      if (!enabled || learning.mode === "off" || learning.mode === "read-only") return;
      // Set before the first await: the next answer must see it running.
      notes = beginNotes(notes);
      if (!budget.ok) {
        // Said once for every stretch of the conversation that would have had notes.
        notes = endNotes(notes, true);
        return ledger.skip("notes", session, budget.reason);
      }
      const written = conversation().then((now) => writeNotes(now, stopping.signal));
      const failed = (error: unknown) => {
        notes = endNotes(notes, false);
        throw error;
      };
      beside(written.catch(failed), writing);
    },
    /** A turn ended with an answer. Returns at once. */
    ended: (turn: EndedTurn): void => beside(ended(turn), looking),
    /** Because the user wants them now; ignores the gates. */
    async takeNotes(conversation: Conversation, signal?: AbortSignal) {
      // One file, one writer.
      await Promise.all(writing);
      return writeNotes(conversation, signal ?? stopping.signal);
    },
    isBusy: () => looking.size > 0 || writing.size > 0 || queue.isBusy(),
    /** Waits for running work, at most this long; then stops it. */
    async drain(ms: number): Promise<void> {
      // Extraction is requested only when it is done.
      if (!(await endsWithin(Promise.all(looking), Math.min(ms, MAX_LOOK_MS)))) isEnding = true;
      const written = Promise.all(writing);
      await Promise.all([queue.drain(ms), endsWithin(written, ms)]);
      if (writing.size === 0) return;
      stopping.abort();
      await endsWithin(written, GRACE_MS);
    },
  };
}

/** Time for a stopped run to record its cost. */
const GRACE_MS = 250;

/**
 * Runs extractions in the background of a conversation: one at a time, then the latest waiting one, with a bounded wait
 * at the end. `onDone` is called after every run that was not skipped.
 */
export function openLearnQueue(
  learning: Learning,
  extractor: Extractor,
  onDone: (result: LearnResult) => void = () => {},
) {
  const { directory } = learning;
  const stopping = new AbortController();
  let running: Promise<void> | null = null;
  let waiting: LearnRequest | null = null;

  const runAll = async (first: LearnRequest): Promise<void> => {
    for (let next: LearnRequest | null = first; next; ) {
      const result = await learn(learning, extractor, { ...next, signal: stopping.signal });
      try {
        if (result.skipped === null) onDone(result);
      } catch (error) {
        directory.log(`extraction: ${messageOf(error)}`);
      }
      next = waiting && { ...waiting, trailing: true };
      waiting = null;
    }
    running = null;
  };

  return {
    /** Returns at once and never throws. While one runs, only the latest request waits: it holds what the others held. */
    request(request: LearnRequest): void {
      if (stopping.signal.aborted) recordSkip(learning, request.session, "the session is ending");
      else if (running) {
        directory.log("extraction is waiting: another one is running");
        waiting = waiting ? join(waiting, request) : request;
      } else running = runAll(request);
    },
    /** Waits for running and waiting work, at most this long; then stops it, and the cursor stays. */
    async drain(ms: number): Promise<void> {
      if (!running || (await endsWithin(running, ms))) return;
      // Nothing is lost, because the cursor stays.
      if (waiting) recordSkip(learning, waiting.session, "the session ended before it could start");
      waiting = null;
      directory.log(`extraction stopped: it was still running ${ms} ms after the session ended`);
      stopping.abort();
      if (running) await endsWithin(running, GRACE_MS);
    },
    isBusy: () => running !== null,
  };
}

/** An explicit request stays explicit; the combined turn counts as having written a memory only if both did. */
function join(earlier: LearnRequest, later: LearnRequest): LearnRequest {
  return {
    ...later,
    explicit: earlier.explicit === true || later.explicit === true,
    asked: [...(earlier.asked ?? []), ...(later.asked ?? [])],
    memoryWrittenInTurn: earlier.memoryWrittenInTurn === true && later.memoryWrittenInTurn === true,
  };
}

async function endsWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
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
