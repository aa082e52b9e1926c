/** Takes one prompt through the model and its tools to an answer. */

import { messageOf } from "../errors.ts";
import { type LoopEvent, type LoopResult, quietly, runAgentLoop } from "../model/agent-loop.ts";
import { type AskError, type Message, makeUsage, NO_USAGE, type TextBlock, type Usage } from "../model/ask.ts";
import { approximateTokens } from "../model/cost.ts";
import { shareSignal } from "../model/tool.ts";
import type { Recalled } from "../recall/recall.ts";
import { SHOWN_LINE } from "../session/session-reader.ts";
import { autoLimit, compact, MAX_FAILURES } from "./compaction.ts";
import { keepResult, learnFromTurn, noteAnswer, type Recall, startRecall, surface, waitForFast } from "./memory.ts";
import { buildOpening, putOpening } from "./opening.ts";
import { type AgentState, recordEvent, type Shown, shownSoFar, type Tell } from "./state.ts";
import { announce } from "./sub-agent.ts";

/** How one turn can be stopped and watched. */
export interface TurnOptions {
  /** Stops the turn, which then ends with "aborted". */
  signal?: AbortSignal;
  /** Called for everything that happens in the turn. */
  onEvent?: Tell;
}

/** What became of one turn. */
export interface TurnResult {
  /** The model's last text; after a failure, as much of it as had arrived. */
  text: string;
  /** Why it ended; `done` when the model finished its answer. */
  ended: LoopResult["ended"];
  /** What went wrong, where a request to the model failed. */
  error?: AskError;
  /** Tokens spent in this turn. */
  usage: Usage;
  /** The memories the model was shown. */
  memories: Recalled[];
  /** How many answers the model gave. */
  steps: number;
}

/** Must not throw because of the model, its tools or the disk. */
export async function takeTurn(state: AgentState, words: string, options: TurnOptions = {}): Promise<TurnResult> {
  const { setup } = state;
  const signal = shareSignal(options.signal);
  const memories: Recalled[] = [];
  // The API refuses an empty message, and would keep refusing if it stayed in the conversation.
  if (words.trim() === "") return { text: "", ended: "done", usage: NO_USAGE, memories, steps: 0 };
  const listen = quietly(options.onEvent);
  state.tell = (event) => {
    if (event.type === "recalled") memories.push(...event.memories);
    if (event.type === "saved") state.memoryWritten = true;
    listen(event);
  };
  const before = state.usage;
  state.memoryWritten = false;
  setup.permissions.newPrompt();
  // Compacted first: what it drops may be recalled again for this prompt.
  if (isNearlyFull(state, approximateTokens(words))) await compact(state, { trigger: "auto", signal });
  const recall = await startRecall(state, words, signal);
  const result = await runWhole(state, words, recall, signal);
  recall?.abort();
  finish(state, result);
  const problem = state.transcript.problem();
  if (problem !== null) state.tell({ type: "problem", message: problem });
  if (result.ended === "done") await learnFromTurn(state, words);
  const { text, ended, error, turns } = result;
  // Includes failed attempts, compactions and sub-agents.
  const usage = makeUsage((kind) => state.usage[kind] - before[kind]);
  return { text, ended, ...(error && { error }), usage, memories, steps: turns };
}

type Outcome = Pick<LoopResult, "text" | "ended" | "error" | "turns">;

/** An error here comes from neither the model nor a tool: instructions or memory could not be read. Nothing is sent without them, and the prompt is kept. */
async function runWhole(state: AgentState, words: string, recall: Recall, signal: AbortSignal): Promise<Outcome> {
  const before = shownSoFar(state);
  let content: TextBlock[] | null = null;
  try {
    content = await prepare(state, words, recall);
    begin(state, words, content, before);
    return await runToEnd(state, recall, signal);
  } catch (thrown) {
    if (!content) begin(state, words, [{ type: "text", text: words }], before);
    const message = `the prompt could not be sent: ${messageOf(thrown)}`;
    const error: AskError = { kind: "bad-request", message, retriable: false };
    return { text: "", ended: "error", error, turns: 0 };
  }
}

/** The prompt with everything that belongs before and after it. */
async function prepare(state: AgentState, words: string, recall: Recall): Promise<TextBlock[]> {
  const { setup } = state;
  // Also for a resumed session: what is on disk now, and the same bytes if nothing changed.
  const opening = state.sent === 0 ? await buildOpening(state) : [];
  announce(state, words);
  await waitForFast(recall, setup.sleep);
  surface(state, recall?.takeFast() ?? null, words);
  const said: TextBlock = { type: "text", text: words };
  const fresh = state.messages.length === 0;
  const content = [...(fresh ? opening : []), said, ...state.attachments.take()];
  if (!fresh && opening.length > 0) state.messages = putOpening(opening, state.messages);
  return content;
}

/** Adds the prompt to conversation, transcript and history. Must not throw. */
function begin(state: AgentState, words: string, content: readonly TextBlock[], before: Shown): void {
  const { setup, transcript } = state;
  const parent = transcript.leaf;
  const message: Message = { role: "user", content };
  const id = transcript.append(message);
  state.history.checkpoint(id, words);
  const at = setup.now().toISOString();
  state.prompts.push({ id, at, text: words, index: state.messages.length, parent, before });
  state.messages = [...state.messages, message];
  noteShown(state);
}

async function runToEnd(state: AgentState, recall: Recall, signal: AbortSignal): Promise<LoopResult> {
  let shortened = false;
  for (let steps = 0; ; ) {
    const result = await runAgentLoop(state.setup.model.ask, {
      system: await state.system.blocks(),
      messages: state.messages,
      tools: state.tools,
      maxTurns: state.setup.maxSteps - steps,
      maxTokens: state.setup.model.maxTokens,
      signal,
      onEvent: (event) => note(state, event),
      results: { write: (call, content) => keepResult(state, call, content) },
      attach: async () => {
        await state.touching;
        surface(state, recall?.take() ?? null);
        const blocks = state.attachments.take();
        if (blocks.length > 0) noteShown(state);
        return blocks;
      },
      pause: () => {
        noteAnswer(state);
        // And what the last request did not hold yet.
        return isNearlyFull(state, approximateTokens(JSON.stringify(state.messages.slice(state.sent + 1))));
      },
    });
    steps += result.turns;
    // The provider counts more tokens than we do, or has a smaller window than we were told: compacting helps once.
    const isTooLong: boolean = !shortened && result.error?.isTooLong === true;
    if (result.ended !== "paused" && !isTooLong) return { ...result, turns: steps };
    const compacted = await compact(state, { trigger: "auto", signal });
    if (isTooLong && !compacted.ok) return { ...result, turns: steps };
    shortened ||= isTooLong;
  }
}

function note(state: AgentState, event: LoopEvent): void {
  recordEvent(state, state.transcript, event);
  if (event.type === "message") state.messages = [...state.messages, event.message];
  if (event.type === "usage") {
    const { input, output, cacheRead, cacheWrite } = event.usage;
    state.contextTokens = input + output + cacheRead + cacheWrite || state.contextTokens;
    state.sent = state.messages.length;
  }
  state.tell(event);
}

function isNearlyFull(state: AgentState, more: number): boolean {
  if (state.failures >= MAX_FAILURES || state.messages.length < 2) return false;
  const known = state.contextTokens || approximateTokens(JSON.stringify(state.messages));
  return known + more > autoLimit(state.setup.model);
}

/** A turn that ended without an answer says so in the conversation, so that roles alternate and the model knows. */
function finish(state: AgentState, { ended, text, error }: Outcome): void {
  if (state.messages.at(-1)?.role === "assistant") return;
  const stopped = { aborted: "stopped by the user", turns: "stopped after too many steps" };
  const why = ended === "aborted" || ended === "turns" ? stopped[ended] : (error?.kind ?? ended);
  const rest = `[no answer: ${why}]`;
  const message: Message = {
    role: "assistant",
    // Without an error the text is already next to the last calls.
    content: [{ type: "text", text: error && text !== "" ? `${text}\n\n${rest}` : rest }],
  };
  state.transcript.append(message);
  state.messages = [...state.messages, message];
}

/** So that a resumed session shows nothing twice. */
function noteShown(state: AgentState): void {
  state.transcript.note({ type: SHOWN_LINE, prompt: state.prompts.at(-1)?.id ?? null, shown: shownSoFar(state) });
}
