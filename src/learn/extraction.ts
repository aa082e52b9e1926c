/** Extraction: after a turn, a model looks at what was said since the last time and keeps what will matter later. */

import { type Conversation, fork, type LoopEvent, runAgentLoop } from "../model/agent-loop.ts";
import { type Ask, NO_USAGE, type Usage } from "../model/ask.ts";
import { buildExtractionPrompt, buildExtractionRules } from "../prompts/learning.ts";
import { redactSecrets } from "../text/secrets.ts";
import { countAnswers } from "./counted-ask.ts";
import { type Cursor, moveCursor, readCursor, sinceCursor } from "./cursor.ts";
import { checkGates, type GateState } from "./extraction-gates.ts";
import { type Keep, type Kept, openKeeper } from "./extraction-keeper.ts";
import { describeOutcome, findFailure } from "./extraction-outcome.ts";
import { openExtractionTools } from "./extraction-tools.ts";
import { buildWindow, dayOf, type HeardMessage, listPieces, type Window } from "./extraction-window.ts";
import type { Ledger } from "./ledger.ts";

export interface ExtractionWorld {
  ask: Ask;
  /** Its name, for the ledger. */
  model: string;
  now: () => Date;
  newId: () => string;
  log: (message: string) => void;
  memory: {
    dir: string;
    /** A line per memory that exists, made harmless to show. */
    manifest: () => Promise<string>;
  };
  /** Asked anew before every run. */
  gates: () => Pick<GateState, "enabled" | "mode" | "everyTurns" | "budget">;
  keep: Keep;
  ledger: Pick<Ledger, "spend" | "skip">;
  /** A function that ends it, or null while another process extracts from this session. Left out where there can be none. */
  lock?: (session: string) => (() => void) | null;
}

export interface ExtractionRequest {
  session: string;
  /** All of the session, oldest first; the cursor says what is new. */
  messages: readonly HeardMessage[];
  /** The running conversation that holds these messages: it is forked, and the provider's cache shared. Else they are shown as text. */
  conversation?: Conversation;
  isSubAgent?: boolean;
  memoryWrittenInTurn?: boolean;
  explicit?: boolean;
  /** It waited for another run: the throttle has been passed. */
  trailing?: boolean;
  /** Asked again before anything is written; false once the user has switched memory off. */
  isWanted?: () => boolean;
  signal?: AbortSignal;
}

export interface ExtractionResult {
  saved: Kept[];
  /** Why no model was asked. */
  skipped: string | null;
  /** Why it was no success: the cursor stays, and the same is looked at again. */
  failed: string | null;
  /** Drafts that were not kept, with the reason. */
  refused: string[];
  turns: number;
  usage: Usage;
  /** Calls of tools. */
  calls: number;
  /** Messages that had no room and are for the next run. */
  left: number;
}

/** One to read, one to write, and some to mend what was refused. */
const MAX_TURNS = 5;
/** A few memories and a sentence. */
const MAX_TOKENS = 4_000;

/** Must not throw: it runs where nobody waits for it. */
export async function extract(world: ExtractionWorld, request: ExtractionRequest): Promise<ExtractionResult> {
  const result: ExtractionResult = {
    saved: [],
    skipped: null,
    failed: null,
    refused: [],
    turns: 0,
    usage: NO_USAGE,
    calls: 0,
    left: 0,
  };
  let release: (() => void) | null = null;
  try {
    if (!passes(world, request, look(world, request), result)) return result;
    release = world.lock ? world.lock(request.session) : () => {};
    if (!release) {
      skip(world, request, result, "another process is at it");
      return result;
    }
    // Whoever had the lock until now may have moved the cursor.
    const view = look(world, request);
    if (passes(world, request, view, result)) await runOn(world, request, view, result);
  } catch (error) {
    result.failed = redactSecrets(reasonOf(error));
  } finally {
    release?.();
  }
  if (result.failed !== null) world.log(`extraction failed, and will look at the same again: ${result.failed}`);
  return result;
}

/** What there is to look at. */
interface View {
  from: Cursor | null;
  fresh: readonly HeardMessage[];
}

function look(world: ExtractionWorld, request: ExtractionRequest): View {
  const from = readCursor(world.memory.dir, request.session);
  return { from, fresh: sinceCursor(request.messages, from) };
}

const SWITCHED_OFF = "memory was switched off in this session";

function passes(world: ExtractionWorld, request: ExtractionRequest, view: View, result: ExtractionResult): boolean {
  if (request.isWanted?.() === false) {
    skip(world, request, result, SWITCHED_OFF);
    return false;
  }
  const answer = checkGates({ ...world.gates(), ...stateOf(request, view.fresh) });
  if (answer.go) return true;
  skip(world, request, result, answer.reason);
  // Earlier turns of our own conversation, which a throttle or a failure left, were not written about.
  const isLeft = request.conversation !== undefined && countPrompts(view.fresh) > 1;
  if (answer.advance && !isLeft) advance(world, request, view.from, view.fresh.at(-1));
  return false;
}

async function runOn(world: ExtractionWorld, request: ExtractionRequest, view: View, result: ExtractionResult) {
  const window = buildWindow(view.fresh, { list: request.conversation !== undefined });
  if (window.pieces.length === 0) {
    skip(world, request, result, "nobody said anything since the last time");
    advance(world, request, view.from, window.last ?? undefined);
    return;
  }
  result.left = window.left;
  await run(world, request, window, result);
  if (result.failed === null) advance(world, request, view.from, window.last ?? undefined);
}

function stateOf(request: ExtractionRequest, fresh: readonly HeardMessage[]) {
  return {
    isSubAgent: request.isSubAgent === true,
    newMessages: fresh.length,
    // Counted in the conversation, so that it holds across processes, each of which may see one turn only.
    turnsSince: request.trailing ? Number.POSITIVE_INFINITY : countPrompts(fresh),
    memoryWrittenInTurn: request.memoryWrittenInTurn === true,
    explicit: request.explicit === true,
  };
}

function countPrompts(messages: readonly HeardMessage[]): number {
  const isSaid = (block: { type: string; attachment?: string }) =>
    block.type === "text" && block.attachment === undefined;
  return messages.filter(({ message: { role, content } }) => role === "user" && content.some(isSaid)).length;
}

function skip(world: ExtractionWorld, { session }: ExtractionRequest, result: ExtractionResult, reason: string): void {
  result.skipped = reason;
  world.log(`extraction skipped: ${reason}`);
  world.ledger.skip("extraction", session, reason);
}

function advance(world: ExtractionWorld, request: ExtractionRequest, from: Cursor | null, last?: HeardMessage): void {
  if (!last) return;
  const to = { message: last.id, at: world.now().toISOString() };
  try {
    moveCursor(world.memory.dir, request.session, { from, to, ids: request.messages.map(({ id }) => id) });
  } catch (error) {
    world.log(`extraction: the cursor could not be moved, the same is looked at again: ${reasonOf(error)}`);
  }
}

/** Fills in the result. */
async function run(world: ExtractionWorld, request: ExtractionRequest, window: Window, result: ExtractionResult) {
  const { session, conversation, signal } = request;
  const isWanted = () => request.isWanted?.() !== false;
  // The user may change the model meanwhile: who began it ends it, and is paid.
  const { model } = world;
  const ask = countAnswers(world.ask);
  let same = 0;
  const keep: Keep = async (...draft) => {
    const kept = await world.keep(...draft);
    if (kept.action === "unchanged") same++;
    return kept;
  };
  const keeper = openKeeper({
    ...{ now: world.now, newId: world.newId, keep, session },
    pieces: window.pieces,
    said: listPieces(request.messages),
    isStopped: () => signal?.aborted === true || !isWanted(),
  });
  const prompt = buildExtractionPrompt({
    dir: world.memory.dir,
    manifest: await world.memory.manifest(),
    window: window.text,
    isFork: conversation !== undefined,
    today: dayOf(world.now().toISOString()) ?? "",
    explicit: request.explicit === true,
  });
  const options = {
    tools: openExtractionTools({ dir: world.memory.dir, keep: keeper.keep }),
    maxTurns: MAX_TURNS,
    maxTokens: MAX_TOKENS,
    ...(signal && { signal }),
    onEvent: (event: LoopEvent) => {
      if (event.type === "tool-start") result.calls++;
    },
  };
  const loop = conversation
    ? await fork(ask, conversation, { ...options, prompt })
    : await runAgentLoop(ask, {
        ...options,
        system: [{ text: buildExtractionRules(), cache: true }],
        messages: [{ role: "user", content: [{ type: "text", text: prompt }] }],
      });
  // A stopped loop does not wait for its tools, and what is being kept will be kept.
  await keeper.settle();
  result.turns = loop.turns;
  result.usage = loop.usage;
  result.saved = keeper.saved();
  result.refused = keeper.refused().map((why) => redactSecrets(why));
  const failure = isWanted() ? findFailure(loop, result, keeper.fault(), same) : SWITCHED_OFF;
  result.failed = failure && redactSecrets(failure);
  if (loop.turns === 0) return;
  world.ledger.spend({
    at: world.now().toISOString(),
    kind: "extraction",
    session,
    model,
    usage: loop.usage,
    produced: describeOutcome(result),
    skipped: null,
  });
  for (const reason of result.refused) world.log(`extraction: not kept: ${reason}`);
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
