/** A working agent: give it a prompt, and it answers with the memory, instructions and tools of a project. */

import { join } from "node:path";
import { openAttachments } from "../context/attachments.ts";
import { openSystemPrompt } from "../context/system-prompt.ts";
import { measureWindow, partsOf, type WindowView } from "../context/window.ts";
import { MemdirError } from "../errors.ts";
import type { InstructionFile } from "../instructions/file.ts";
import { quietly } from "../model/agent-loop.ts";
import { type Message, NO_USAGE } from "../model/ask.ts";
import { shareSignal, unlessAborted } from "../model/tool.ts";
import { sessionsFolder } from "../project/scopes.ts";
import { openRecallSession } from "../recall/injection.ts";
import type { Recalled } from "../recall/recall.ts";
import { type Checkpoint, openFileHistory } from "../session/file-history.ts";
import { openFileState } from "../session/file-state.ts";
import { type RewindReport, rewindFiles } from "../session/rewind.ts";
import { type ResumedSession, SHOWN_LINE } from "../session/session-reader.ts";
import type { Transcript } from "../session/transcript.ts";
import { openTools } from "../tools/tools.ts";
import { type CompactOptions, type CompactResult, compact } from "./compaction.ts";
import type { SessionLearner } from "./learner.ts";
import { openWorkbench, takeNotesNow } from "./memory.ts";
import type { NotesResult } from "./notes.ts";
import { buildOpening, dropOpening, openAgentPrompt, putOpening } from "./opening.ts";
import {
  type AgentModel,
  type AgentSetup,
  type AgentState,
  NOTHING_SHOWN,
  type Prompt,
  restoreShown,
  type SessionUsage,
  type Shown,
  startTranscript,
  type Tell,
} from "./state.ts";
import { openTaskTool } from "./sub-agent.ts";
import { type TurnOptions, type TurnResult, takeTurn } from "./turn.ts";

/** What a model would be shown with a prompt. */
export interface Preview {
  /** The memories that would be recalled. */
  memories: Recalled[];
  /** Names of memories that did not fit. */
  leftOut: string[];
  /** The instruction files that would be loaded. */
  instructions: InstructionFile[];
}

/** One thing at a time: a second call waits for the first. */
export interface Agent {
  /** The id of the current session; another one after `clear` and `resume`. */
  readonly sessionId: string;
  /** Absolute path of the current session's transcript. */
  readonly transcriptPath: string;
  /** Never throws because of the model or its tools: `ended` and `error` describe the outcome. */
  say(words: string, options?: TurnOptions): Promise<TurnResult>;
  /** What a model would be shown for this prompt in a new session. */
  preview(words: string): Promise<Preview>;
  /** Replaces the conversation with a summary, now; never throws. */
  compact(options?: Partial<CompactOptions> & { onEvent?: Tell }): Promise<CompactResult>;
  /** A new session; the old one stays on disk. */
  clear(): Promise<void>;
  /** Continues another session. */
  resume(from: ResumedSession): Promise<void>;
  /** What fills the window. */
  window(): Promise<WindowView>;
  /** What the user said in the current conversation, oldest first. */
  prompts(): readonly Prompt[];
  /** The moments to which files can be rewound, oldest first. */
  checkpoints(): Checkpoint[];
  /** Returns files, conversation or both to what they were before a prompt, by its id or that of a checkpoint. */
  rewind(id: string, what: RewindWhat): Promise<Rewound>;
  /** Tokens and requests spent since the agent was opened, over all its sessions. */
  usage(): SessionUsage;
  /** The current model; replaced from now on if one is given. */
  model(model?: AgentModel): AgentModel;
  /** Whether memories are shown and kept in this session. */
  memory(on?: boolean): boolean;
  /** Writes notes of the session so far to the file that compaction reads. */
  takeNotes(signal?: AbortSignal): Promise<NotesResult | { problem: string }>;
  /** Whether memdir is still learning from earlier turns. */
  isLearning(): boolean;
  /** Waits until that is done, the time is up or the signal aborts; unfinished work is then stopped and picked up another time. */
  drain(options?: { ms?: number; signal?: AbortSignal }): Promise<void>;
  /** Writes what is left of the transcript; call it last. */
  close(): void;
}

/** An extraction takes some seconds. Someone who quits waits half a minute at most, and can quit at once. */
const DRAIN_MS = 30_000;

export async function makeAgent(setup: AgentSetup, from: ResumedSession | null = null): Promise<Agent> {
  let state = await openState(setup, from);
  let last: Promise<unknown> = Promise.resolve();
  /** Transcripts of sessions that were left while the disk refused writes. */
  const unwritten = new Set<Transcript>();
  /** Learners of sessions that were left while they were busy. */
  const learning = new Set<SessionLearner>();
  const learners = () => [...learning, ...(state.learner ? [state.learner] : [])];
  const writeLeft = () => {
    for (const transcript of unwritten) {
      transcript.close();
      if (transcript.problem() === null) unwritten.delete(transcript);
    }
  };
  const inTurn = <T>(work: () => Promise<T> | T): Promise<T> => {
    const turn = last.then(work);
    last = turn.then(writeLeft, writeLeft);
    return turn;
  };
  const replace = async (next: ResumedSession | null) => {
    state.transcript.close();
    if (state.transcript.problem() !== null) unwritten.add(state.transcript);
    if (state.learner?.isBusy()) learning.add(state.learner);
    for (const learner of learning) if (!learner.isBusy()) learning.delete(learner);
    const { usage, memoryOn } = state;
    state = Object.assign(await openState(setup, next), { usage, memoryOn });
  };
  return {
    get sessionId() {
      return state.transcript.id;
    },
    get transcriptPath() {
      return state.transcript.path;
    },
    say: (words, options) => inTurn(() => takeTurn(state, words, options)),
    preview: (words) => inTurn(() => previewPrompt(state, words)),
    compact: ({ onEvent, ...options } = {}) =>
      inTurn(() => {
        // The listener of the last turn did not ask for this.
        state.tell = quietly(onEvent);
        return compact(state, { trigger: "manual", ...options });
      }),
    clear: () => inTurn(() => replace(null)),
    resume: (session) => inTurn(() => replace(session)),
    window: () => inTurn(() => viewWindow(state)),
    prompts: () => state.prompts,
    checkpoints: () => state.history.checkpoints(),
    rewind: (id, what) => inTurn(() => rewind(state, id, what)),
    usage: () => state.usage,
    model: (model) => {
      if (model) {
        setup.model = model;
        state.contextTokens = 0;
      }
      return setup.model;
    },
    memory: (on) => {
      if (on !== undefined && on !== state.memoryOn) {
        state.memoryOn = on;
        state.system.clear();
      }
      return state.memoryOn;
    },
    takeNotes: (signal) => inTurn(() => takeNotesNow(state, signal)),
    isLearning: () => learners().some((learner) => learner.isBusy()),
    drain: ({ ms = DRAIN_MS, signal } = {}) => drainAll(learners(), ms, shareSignal(signal)),
    close: () => {
      state.transcript.close();
      writeLeft();
    },
  };
}

async function drainAll(learners: readonly SessionLearner[], ms: number, signal: AbortSignal): Promise<void> {
  const drain = (atMost: number) => Promise.all(learners.map((learner) => learner.drain(atMost)));
  if (!signal.aborted) await unlessAborted(drain(ms), signal, null);
  if (signal.aborted) await drain(0);
}

async function previewPrompt(state: AgentState, words: string): Promise<Preview> {
  const { memdir } = state.setup;
  const instructions = memdir.config.claudeMdsDisabled ? [] : await state.instructions.load();
  if (!state.memoryOn) return { memories: [], leftOut: [], instructions };
  const { memories, leftOut } = await memdir.recall(words, { model: false });
  return { memories, leftOut, instructions };
}

async function viewWindow(state: AgentState): Promise<WindowView> {
  const { tools, contextTokens, setup } = state;
  const opening = state.sent === 0 ? await buildOpening(state) : null;
  const said: readonly Message[] = state.messages.length > 0 ? state.messages : [{ role: "user", content: [] }];
  const messages = opening ? putOpening(opening, said) : said;
  const shown = { system: await state.system.blocks(), tools, messages };
  const parts = partsOf(shown, { sections: state.system.parts(), reserved: setup.model.maxTokens });
  return measureWindow(parts, setup.model.windowTokens, { tokens: contextTokens });
}

async function openState(setup: AgentSetup, from: ResumedSession | null = null): Promise<AgentState> {
  const { memdir } = setup;
  const sessionsDir = sessionsFolder(memdir.config, memdir.location.project);
  const transcript = startTranscript(setup, sessionsDir, () => state.branch, from ?? undefined);
  const state: AgentState = {
    setup,
    transcript,
    history: openFileHistory(
      {
        dir: join(memdir.config.claudeDir, "file-history", transcript.id),
        cwd: memdir.location.project.cwd,
        note: (line) => transcript.note(line),
      },
      setup,
      from?.notes ?? [],
    ),
    files: openFileState(),
    instructions: await memdir.instructions({ addDirs: [...setup.addedDirs] }),
    touching: Promise.resolve(),
    attachments: openAttachments(),
    recalled: openRecallSession(),
    system: openSystemPrompt([]),
    tools: [],
    messages: dropOpening(from?.messages ?? []),
    sent: 0,
    prompts: [],
    usage: { ...NO_USAGE, requests: 0 },
    contextTokens: 0,
    failures: 0,
    memoryOn: memdir.config.disabled === null,
    learner: null,
    memoryWritten: false,
    branch: null,
    tell: () => {},
  };
  const shown = readShown(from?.notes ?? []);
  state.prompts = (from?.prompts ?? []).map(({ uuid, ...prompt }, i, all) => {
    return { ...prompt, id: uuid, before: shown.get(all[i - 1]?.uuid ?? "") ?? NOTHING_SHOWN };
  });
  restoreShown(state, shown.get(state.prompts.at(-1)?.id ?? "") ?? NOTHING_SHOWN);
  state.learner =
    setup.openLearner?.({
      session: transcript.id,
      sessionsDir,
      model: () => setup.model,
      tell: (learnt) => state.tell({ type: "learnt", ...learnt }),
    }) ?? null;
  state.system = openAgentPrompt(state);
  state.tools = [...openTools(openWorkbench(state, state.files)), openTaskTool(state)];
  return state;
}

/**
 * What had been shown when each prompt's turn ended. The file may come from anywhere, so entries of another shape are
 * skipped.
 */
function readShown(notes: readonly Readonly<Record<string, unknown>>[]): Map<string, Shown> {
  const shown = new Map<string, Shown>();
  for (const { type, prompt, shown: value } of notes) {
    if (type !== SHOWN_LINE || typeof prompt !== "string" || typeof value !== "object" || value === null) continue;
    const { sent, recalled, bytes } = value as Partial<Shown>;
    if (!Array.isArray(sent) || !Array.isArray(recalled) || typeof bytes !== "number") continue;
    shown.set(prompt, { sent, recalled: recalled.filter((path) => typeof path === "string"), bytes });
  }
  return shown;
}

/** What a rewind changes: the files, what was said, or both. */
export type RewindWhat = "code" | "conversation" | "both";

/** What a rewind did. */
export interface Rewound {
  /** Null when only the conversation was rewound. */
  files: RewindReport | null;
  /** The prompt, ready to be sent again; null when the conversation was kept. */
  prompt: string | null;
}

function rewind(state: AgentState, id: string, what: RewindWhat): Rewound {
  const prompt = state.prompts.find((one) => one.id === id) ?? null;
  if (what !== "code" && !prompt) {
    const message =
      "the conversation cannot be rewound to that prompt: it is before a compaction or in another session; rewind only the code";
    throw new MemdirError("not-found", message);
  }
  const files = what === "conversation" ? null : rewindFiles(state.history, id);
  if (what === "code" || !prompt) return { files, prompt: null };
  state.messages = state.messages.slice(0, prompt.index);
  state.prompts = state.prompts.slice(0, state.prompts.indexOf(prompt));
  state.sent = Math.min(state.sent, state.messages.length);
  state.contextTokens = 0;
  restoreShown(state, prompt.before);
  // This conversation has not seen what was read in the removed part.
  state.files.clear();
  state.instructions.clear();
  state.transcript.rewindTo(prompt.parent);
  return { files, prompt: prompt.text };
}
