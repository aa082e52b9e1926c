/** Extraction: after a turn, a model looks at what was said since the last time and keeps what will matter later. */

import { type Conversation, fork, type LoopEvent, type LoopResult, runAgentLoop } from "../model/agent-loop.ts";
import { type Ask, NO_USAGE, type Usage } from "../model/ask.ts";
import { buildExtractionPrompt, buildExtractionRules, saysNothingToKeep } from "../prompts/extraction.ts";
import { type Cursor, moveCursor, readCursor, sinceCursor } from "./cursor.ts";
import { checkGates, type GateState } from "./extraction-gates.ts";
import { type Keep, type Kept, openKeeper } from "./extraction-keeper.ts";
import { openExtractionTools } from "./extraction-tools.ts";
import { buildWindow, dayOf, type HeardMessage, listPieces, type Window } from "./extraction-window.ts";
import type { Ledger } from "./ledger.ts";
import type { Proposal } from "./proposal.ts";

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
    result.failed = reasonOf(error);
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

function passes(world: ExtractionWorld, request: ExtractionRequest, view: View, result: ExtractionResult): boolean {
  const answer = checkGates({ ...world.gates(), ...stateOf(request, view.fresh) });
  if (answer.go) return true;
  skip(world, request, result, answer.reason);
  if (answer.advance) advance(world, request, view.from, view.fresh.at(-1));
  return false;
}

async function runOn(world: ExtractionWorld, request: ExtractionRequest, view: View, result: ExtractionResult) {
  const window = await buildWindow(view.fresh, { list: request.conversation !== undefined });
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
  const isPrompt = ({ message: { role, content } }: HeardMessage) =>
    role === "user" && content.some((block) => block.type === "text" && block.attachment === undefined);
  return {
    isSubAgent: request.isSubAgent === true,
    newMessages: fresh.length,
    // Counted in the conversation, so that it holds across processes, each of which may see one turn only.
    turnsSince: request.trailing ? Number.POSITIVE_INFINITY : fresh.filter(isPrompt).length,
    memoryWrittenInTurn: request.memoryWrittenInTurn === true,
    explicit: request.explicit === true,
  };
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
    isStopped: () => signal?.aborted === true,
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
    ? await fork(world.ask, conversation, { ...options, prompt })
    : await runAgentLoop(world.ask, {
        ...options,
        system: [{ text: buildExtractionRules(), cache: true }],
        messages: [{ role: "user", content: [{ type: "text", text: prompt }] }],
      });
  // A stopped loop does not wait for its tools, and what is being kept will be kept.
  await keeper.settle();
  result.turns = loop.turns;
  result.usage = loop.usage;
  result.saved = keeper.saved();
  result.refused = keeper.refused();
  result.failed = findFailure(loop, result, keeper.fault(), same);
  if (loop.turns === 0) return;
  world.ledger.spend({
    at: world.now().toISOString(),
    kind: "extraction",
    session,
    model: world.model,
    usage: loop.usage,
    produced: describe(result),
    skipped: null,
  });
  for (const reason of result.refused) world.log(`extraction: not kept: ${reason}`);
}

/** A run that did nothing must have said so in the words that it was told; any other words are a claim. */
function findFailure(loop: LoopResult, result: ExtractionResult, fault: string | null, same: number): string | null {
  const { ended, error, text } = loop;
  const { saved, refused, calls } = result;
  if (ended === "aborted") return "it was stopped";
  if (ended === "error") return error?.message ?? "the model did not answer";
  if (fault !== null) return fault;
  // What is there already was kept by an earlier run, such as one that was killed before its cursor moved.
  const kept = saved.length + same;
  if (ended === "turns") return kept > 0 ? null : `it kept nothing in ${MAX_TURNS} turns`;
  if (ended !== "done") return `the model's answer was ${ended === "length" ? "cut off" : ended}`;
  // What our own checks refuse, they would refuse again.
  if (kept > 0 || refused.length > 0 || saysNothingToKeep(text)) return null;
  return calls === 0 ? "it called no tool and did not say that there is nothing to keep" : "it wrote nothing";
}

function describe({ saved, failed }: ExtractionResult): string {
  const count = (action: Proposal["action"]) => saved.filter(({ proposal }) => proposal.action === action).length;
  const parts = [`${count("save")} saved`, `${count("update")} updated`].filter((part) => !part.startsWith("0 "));
  const produced = parts.join(", ") || "nothing";
  return failed === null ? produced : `${produced} (${failed})`;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
