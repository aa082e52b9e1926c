/**
 * The one pipeline for learning, by a model or by rules: gates, lock, extraction, applying each proposal, cursor,
 * ledger.
 */

import { messageOf } from "../errors.ts";
import type { Conversation } from "../model/agent-loop.ts";
import { addUsage, NO_USAGE, type Usage } from "../model/ask.ts";
import { type HeardMessage, hearSession } from "../session/heard.ts";
import type { HeardSession } from "../session/session-reader.ts";
import type { Store } from "../store/store.ts";
import { redactSecrets } from "../text/secrets.ts";
import { type Applied, type Applying, applyProposal } from "./apply.ts";
import {
  type Cursor,
  checkGates,
  clearExtractionLock,
  type GateState,
  moveCursor,
  NOTHING_NEW,
  readCursor,
  SWITCHED_OFF,
  sinceCursor,
  takeExtractionLock,
} from "./extraction-gates.ts";
import type { Inbox } from "./inbox.ts";
import type { Ledger } from "./ledger.ts";
import type { Proposal } from "./proposal.ts";

/** Where memdir learns, and what it may do there. */
export interface Learning extends Applying {
  /** The one that is written to. */
  directory: Store;
  ledger: Ledger;
  inbox: Inbox;
  /** Read again before every run. */
  gates: (session: string) => Pick<GateState, "enabled" | "everyTurns" | "budget">;
}

/** Finds what is worth keeping, by a model or by rules. */
export interface Extractor {
  /** If so, no budget applies. */
  isFree: boolean;
  /** In its place while its budget is used up and the user asked for something in so many words; the cursor stays. */
  asked?: Extractor;
  /** Each proposal is handed to `keep` as it is found, so that a model can fix what is refused. */
  extract(turns: Turns, keep: Keep): Promise<Extracted>;
}

/** `base` is the text that an update was made from. Throws if the memory has changed since, and on disk errors. */
export type Keep = (proposal: Proposal, base?: string | null) => Promise<Applied>;

/** The input of an extraction. */
export interface Turns extends LearnRequest {
  /** Those since the cursor. */
  fresh: readonly HeardMessage[];
  /** Once true, nothing more is saved. */
  isStopped: () => boolean;
}

export interface Extracted extends ReturnType<typeof nothing> {
  /** Why there was nothing to read. */
  skipped?: string;
  /** The last message that was read. */
  last: HeardMessage | null;
  /** Null if no model was asked. */
  spent: { model: string; usage: Usage; turns: number; calls: number } | null;
}

export interface Kept {
  file: string;
  action: string;
  proposal: Proposal;
}

export interface LearnRequest {
  session: string;
  /** All of the session, oldest first; the cursor says what is new. */
  messages: readonly HeardMessage[];
  /** The running conversation that holds these messages: it is forked, and the provider's cache shared. Else they are shown as text. */
  conversation?: Conversation;
  memoryWrittenInTurn?: boolean;
  explicit?: boolean;
  /** What the user asked to remember just now, in their own words. */
  asked?: readonly Prompt[];
  /** It waited for another run, so the throttle no longer applies. */
  trailing?: boolean;
  /** Called after every run with how many messages are done, of how many. */
  onProgress?: (done: number, total: number) => void;
  /** Checked again before anything is written; false once the user has turned memory off. */
  isWanted?: () => boolean;
  signal?: AbortSignal;
}

/** What a person typed, with its id and time. */
export interface Prompt {
  id: string;
  text: string;
  /** ISO time: "next Friday" is counted from here. */
  at: string;
}

const nothing = () => ({
  saved: [] as Kept[],
  /** What was not saved, with the reason. */
  refused: [] as string[],
  /** Why it failed: the cursor stays, and the next run reads the same messages. */
  failed: null as string | null,
  /** Messages that did not fit and are left for the next run. */
  left: 0,
});

export type LearnResult = ReturnType<typeof idle>;

/** `skipped`: why nothing was extracted. `calls`: of tools. */
const idle = () => ({ ...nothing(), skipped: null as string | null, turns: 0, usage: NO_USAGE, calls: 0 });

/** To begin with, for an extractor. */
export const foundNothing = (): Extracted => ({ ...nothing(), last: null, spent: null });

/** Reads all that is new, in as many runs as it takes. Must not throw: it works in the background. */
export async function learn(learning: Learning, given: Extractor, request: LearnRequest): Promise<LearnResult> {
  const result = idle();
  const { directory, ledger } = learning;
  let extractor = given;
  try {
    if (given.asked && request.asked?.length && !learning.gates(request.session).budget.ok) extractor = given.asked;
    const run: Run = { learning, extractor, request, result };
    if (!passes(run, findFresh(run))) {
      clearExtractionLock(directory, request.session);
      return result;
    }
    const release = takeExtractionLock(directory, request.session);
    const locked = "another process is extracting from this session";
    if (!release) return { ...result, skipped: recordSkip(learning, request.session, locked) };
    try {
      await extractAll(run);
    } finally {
      release();
    }
  } catch (error) {
    result.failed = redactSecrets(messageOf(error));
  }
  if (result.failed !== null) {
    directory.log(`extraction failed and will be retried: ${result.failed}`);
    // A run that costs nothing has no other entry.
    if (extractor.isFree) ledger.skip("extraction", request.session, result.failed);
  }
  return result;
}

/** An entry in the ledger, too: nothing runs without a trace. */
export function recordSkip({ directory, ledger }: Learning, session: string, why: string): string {
  directory.log(`extraction skipped: ${why}`);
  ledger.skip("extraction", session, why);
  return why;
}

interface Run {
  learning: Learning;
  extractor: Extractor;
  request: LearnRequest;
  result: LearnResult;
}

type Fresh = ReturnType<typeof findFresh>;

function findFresh({ learning, request }: Run) {
  const from = readCursor(learning.directory.path, request.session);
  return { from, fresh: sinceCursor(request.messages, from) };
}

function passes({ learning, extractor, request, result }: Run, { from, fresh }: Fresh): boolean {
  const { session, conversation, trailing, isWanted, memoryWrittenInTurn = false, explicit = false } = request;
  const prompts = countPrompts(fresh);
  const answer = checkGates({
    mode: learning.mode,
    ...learning.gates(session),
    ...(extractor.isFree && { budget: { ok: true } }),
    isWanted: isWanted?.() ?? true,
    isSubAgent: false,
    newMessages: fresh.length,
    // Counted in the conversation, so that it works across processes that each see only one turn.
    turnsSince: trailing ? Number.POSITIVE_INFINITY : prompts,
    memoryWrittenInTurn,
    explicit,
  });
  if (answer.go) return true;
  result.skipped = recordSkip(learning, session, answer.reason);
  // Earlier turns of our own conversation that a throttle or a failure skipped have not been handled.
  const isLeft = conversation !== undefined && prompts > 1;
  if (answer.advance && !isLeft) advance(learning, request, from, fresh.at(-1) ?? null);
  return false;
}

/** Until nothing is left. The throttle is for the first run: the rest of a long turn has no prompt of its own. */
async function extractAll(run: Run): Promise<void> {
  const { request, result } = run;
  let total: number | undefined;
  // Without progress the next run would ask the same.
  for (let left = Number.POSITIVE_INFINITY; left > 0; left = result.left < left ? result.left : 0) {
    // Read again: the previous holder of the lock may have moved the cursor.
    const fresh = findFresh(run);
    total ??= fresh.fresh.length;
    if (!passes(run, fresh)) return;
    await extract(run, fresh);
    if (result.skipped !== null || result.failed !== null) return;
    request.onProgress?.(total - result.left, total);
    run.request = { ...request, trailing: true };
  }
}

function countPrompts(messages: readonly HeardMessage[]): number {
  const isSaid = (block: { type: string; attachment?: string }) =>
    block.type === "text" && block.attachment === undefined;
  return messages.filter(({ message: { role, content } }) => role === "user" && content.some(isSaid)).length;
}

function advance({ directory }: Learning, request: LearnRequest, from: Cursor | null, last: HeardMessage | null): void {
  if (!last) return;
  const to = { message: last.id, at: directory.now().toISOString() };
  try {
    moveCursor(directory.path, request.session, { from, to, ids: request.messages.map(({ id }) => id) });
  } catch (error) {
    const why = "the cursor could not be moved, so the next run reads the same messages";
    directory.log(`extraction: ${why}: ${messageOf(error)}`);
  }
}

/** Fills in the result. */
async function extract({ learning, extractor, request, result }: Run, { from, fresh }: Fresh): Promise<void> {
  const { directory, ledger } = learning;
  const { session, isWanted = () => true, signal } = request;
  const isStopped = () => signal?.aborted === true || !isWanted();
  const extracted = await extractor.extract({ ...request, fresh, isStopped }, openKeep(learning));
  const { spent, last, left, skipped } = extracted;
  if (skipped !== undefined) {
    result.skipped = recordSkip(learning, session, skipped);
    return advance(learning, request, from, last);
  }
  const failed = isWanted() ? extracted.failed : SWITCHED_OFF;
  const refused = extracted.refused.map((why) => redactSecrets(why));
  Object.assign(result, { failed: failed && redactSecrets(failed), left });
  result.saved.push(...extracted.saved);
  result.refused.push(...refused);
  if (spent && spent.turns > 0) {
    const { model, usage, turns, calls } = spent;
    Object.assign(result, { turns: result.turns + turns, calls: result.calls + calls });
    result.usage = addUsage(result.usage, usage);
    const produced = describeOutcome(extracted.saved, result.failed);
    ledger.spend({ kind: "extraction", session, model, usage, produced });
    for (const reason of refused) directory.log(`extraction: not saved: ${reason}`);
  }
  if (result.failed === null) advance(learning, request, from, last);
}

/** A new version of a proposal replaces the one in the inbox. */
function openKeep(learning: Learning): Keep {
  const waiting = new Map<string, string>();
  return async (proposal, base) => {
    const applied = await applyProposal(learning, proposal, base);
    const earlier = waiting.get(proposal.id);
    if (applied.isAdded && applied.id) waiting.set(proposal.id, applied.id);
    // A person may have decided in the meantime.
    if (applied.isAdded && earlier) await learning.inbox.accept(earlier).catch(() => {});
    return applied;
  };
}

/** For the ledger. */
function describeOutcome(saved: readonly Kept[], failed: string | null): string {
  const written = saved.filter(({ action }) => action !== "inbox");
  const count = (action: Proposal["action"]) => written.filter(({ proposal }) => proposal.action === action).length;
  const inInbox = saved.length - written.length;
  const parts = [`${count("save")} saved`, `${count("update")} updated`, `${inInbox} in the inbox`];
  const produced = parts.filter((part) => !part.startsWith("0 ")).join(", ") || "nothing";
  return failed === null ? produced : `${produced} (${failed})`;
}

export { NOTHING_NEW };

/** What has not been learnt from yet. */
export function findNew(dir: string, session: HeardSession): readonly HeardMessage[] {
  return sinceCursor(hearSession(session), readCursor(dir, session.id));
}

/** Of a session on disk. The user asked for it, so the throttle and the switch for automatic runs do not apply. Must not throw. */
export async function learnSession(
  learning: Learning,
  extractor: Extractor,
  session: HeardSession,
  options: Pick<LearnRequest, "signal" | "onProgress"> = {},
): Promise<LearnResult> {
  const { mode } = learning;
  // Not even the ledger is written to.
  if (mode === "off" || mode === "read-only") return { ...idle(), skipped: `learning is ${mode} here (learn.mode)` };
  const asked: Learning = { ...learning, gates: (id) => ({ ...learning.gates(id), enabled: true }) };
  return learn(asked, extractor, { session: session.id, messages: hearSession(session), trailing: true, ...options });
}
