/** Learning beside one session: notes while it goes on, extraction when a turn has ended; neither keeps anybody waiting. */

import type { Conversation } from "../model/agent-loop.ts";
import { type Usage, usedNothing } from "../model/ask.ts";
import type { ExtractionWorld } from "./extraction.ts";
import { endsWithin, GRACE_MS, openExtractor } from "./extractor.ts";
import type { Ledger } from "./ledger.ts";
import { understandSaid } from "./said.ts";
import {
  beginNotes,
  countAnswer,
  endNotes,
  NO_NOTES,
  type NotesResult,
  type NotesWorld,
  shouldTakeNotes,
  takeNotes,
} from "./session-notes.ts";
import type { HeardMessage } from "./window.ts";

export interface LearnerWorld {
  session: string;
  extraction: ExtractionWorld;
  notes: NotesWorld;
  /** Whether notes are taken without being asked for. */
  takesNotes: boolean;
  ledger: Pick<Ledger, "spend" | "skip">;
  /** Without a model and its budget: what the user asked for in so many words. */
  keepExplicit: (said: { id: string; text: string; at: string }) => Promise<Learnt["saved"]>;
  /** How many proposals wait for a person. */
  waiting: () => number;
  tell: (learnt: Learnt) => void;
}

/** What came of a turn, for a person to see. */
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
  /** Because the user wants them now: whatever the gates say. */
  takeNotes(conversation: Conversation, signal?: AbortSignal): Promise<NotesResult>;
  isBusy(): boolean;
  /** Waits for what is under way, at most this long; then it is stopped. */
  drain(ms: number): Promise<void>;
}

/** The rules need some milliseconds; but what they keep may have to wait for another process, and who leaves does not. */
const MAX_LOOK_MS = 1_000;

/** What failed three times will fail again, and each try costs. Its messages wait for the next session or `memdir extract`. */
const MAX_FAILURES = 3;

export function openSessionLearner(world: LearnerWorld): SessionLearner {
  const { session, extraction, ledger } = world;
  const stopping = new AbortController();
  const looking = new Set<Promise<void>>();
  const writing = new Set<Promise<void>>();
  let notes = NO_NOTES;
  let isEnding = false;

  const beside = (work: Promise<unknown>, pending: Set<Promise<void>>) => {
    const done: Promise<void> = work
      .then(() => {})
      .catch((error: Error) => extraction.log(`learning: ${error.message}`))
      .finally(() => pending.delete(done));
    pending.add(done);
  };

  let failures = 0;
  const extractor = openExtractor(extraction, ({ saved, failed }) => {
    failures = failed === null ? 0 : failures + 1;
    if (saved.length === 0 && failed === null) return;
    const files = saved.map(({ file, action }) => ({ file, action }));
    world.tell({ saved: files, waiting: world.waiting(), problem: failed });
  });

  const writeNotes = async (conversation: Conversation, signal: AbortSignal): Promise<NotesResult> => {
    notes = beginNotes(notes);
    const { model } = extraction;
    const result = await takeNotes(world.notes, { conversation, signal });
    notes = endNotes(notes, result.ok);
    noteCost(model, result.usage, result.ok ? `${result.edits} edits` : `nothing (${result.problem})`);
    return result;
  };
  const noteCost = (model: string, usage: Usage, produced: string) => {
    if (usedNothing(usage)) return;
    const at = extraction.now().toISOString();
    ledger.spend({ at, kind: "notes", session, model, usage, produced, skipped: null });
  };

  const ended = async (turn: EndedTurn) => {
    const { messages, conversation, prompt, answerBefore, memoryWritten, isWanted } = turn;
    // What was asked for and kept is done.
    const explicit = !memoryWritten && (await asksToKeep(prompt, answerBefore));
    const { budget } = extraction.gates();
    if (explicit && !budget.ok) {
      const saved = await world.keepExplicit(prompt);
      if (saved.length > 0) return world.tell({ saved, waiting: world.waiting(), problem: null });
    }
    if (failures >= MAX_FAILURES && !explicit) {
      return ledger.skip("extraction", session, `it failed ${failures} times in a row in this session`);
    }
    if (isEnding) return ledger.skip("extraction", session, "the session is ending");
    const request = { session, messages, conversation, memoryWrittenInTurn: memoryWritten, explicit };
    extractor.request({ ...request, ...(isWanted && { isWanted }) });
  };

  return {
    answered(answer, conversation) {
      notes = countAnswer(notes, answer);
      if (!world.takesNotes || stopping.signal.aborted || !shouldTakeNotes(notes).go) return;
      const { mode, enabled, budget } = extraction.gates();
      if (!enabled || mode === "off" || mode === "read-only") return;
      if (!budget.ok) {
        // Said once for every stretch of the conversation that would have had notes.
        notes = endNotes(beginNotes(notes), true);
        return ledger.skip("notes", session, budget.reason);
      }
      // Before anything is waited for: the next answer must find it running.
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
    isBusy: () => looking.size > 0 || writing.size > 0 || extractor.isBusy(),
    async drain(ms) {
      // Only when it is done, an extraction is asked for.
      const looked = Promise.all(looking).then(() => {});
      if (!(await endsWithin(looked, Math.min(ms, MAX_LOOK_MS)))) isEnding = true;
      const written = Promise.all(writing).then(() => {});
      await Promise.all([extractor.drain(ms), endsWithin(written, ms)]);
      if (writing.size === 0) return;
      stopping.abort();
      await endsWithin(written, GRACE_MS);
    },
  };
}

/** In whatever words: what the rules take for an explicit request. */
async function asksToKeep({ text, at }: EndedTurn["prompt"], answerBefore: string): Promise<boolean> {
  const said = await understandSaid(text, new Date(at), answerBefore);
  return said.some(({ explicit, act }) => explicit && act !== "forget");
}
