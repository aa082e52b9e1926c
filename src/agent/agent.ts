/** A working agent: give it a prompt, and it answers with the memory, instructions and tools of a project. */

import { join } from "node:path";
import { openAttachments } from "../context/attachments.ts";
import { openSystemPrompt } from "../context/system-prompt.ts";
import { measureWindow, partsOf, type WindowView } from "../context/window.ts";
import { isObject, MemdirError } from "../errors.ts";
import { quietly } from "../model/agent-loop.ts";
import { type Message, NO_USAGE } from "../model/ask.ts";
import { openTurns, shareSignal, unlessAborted } from "../model/tool.ts";
import { sessionsFolder } from "../project/scopes.ts";
import { openRecallSession } from "../recall/injection.ts";
import type { Recalled } from "../recall/recall.ts";
import { openFileHistory, rewindFiles } from "../session/file-history.ts";
import { openFileState } from "../session/file-state.ts";
import { type ResumedSession, SHOWN_LINE } from "../session/session-reader.ts";
import type { Transcript } from "../session/transcript.ts";
import { openTools } from "../tools/tools.ts";
import { type CompactOptions, type CompactResult, compact } from "./compaction.ts";
import type { SessionLearner } from "./learner.ts";
import { openWorkbench, takeNotesNow } from "./memory.ts";
import { buildOpening, dropOpening, openAgentPrompt, putOpening } from "./opening.ts";
import {
  type AgentModel,
  type AgentSetup,
  type AgentState,
  NOTHING_SHOWN,
  type Prompt,
  restoreShown,
  type Shown,
  startTranscript,
  type Tell,
} from "./state.ts";
import { openTaskTool } from "./sub-agent.ts";
import { type TurnOptions, type TurnResult, takeTurn } from "./turn.ts";

/** What a model would be shown with a prompt. */
export type Preview = Awaited<ReturnType<typeof previewPrompt>>;

/** One thing at a time: a second call waits for the first. */
export type Agent = Awaited<ReturnType<typeof makeAgent>>;

/** An extraction takes some seconds. Someone who quits waits half a minute at most, and can quit at once. */
const DRAIN_MS = 30_000;

export async function makeAgent(setup: AgentSetup, from: ResumedSession | null = null) {
  let state = await openState(setup, from);
  const turns = openTurns();
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
  const inTurn = <T>(work: () => Promise<T> | T): Promise<T> =>
    turns(async () => {
      try {
        return await work();
      } finally {
        writeLeft();
      }
    });
  const replace = async (next: ResumedSession | null) => {
    state.transcript.close();
    if (state.transcript.problem() !== null) unwritten.add(state.transcript);
    if (state.learner?.isBusy()) learning.add(state.learner);
    for (const learner of learning) if (!learner.isBusy()) learning.delete(learner);
    const { usage, memoryOn } = state;
    state = Object.assign(await openState(setup, next), { usage, memoryOn });
  };
  return {
    /** The id of the current session; another one after `clear` and `resume`. */
    get sessionId(): string {
      return state.transcript.id;
    },
    /** Absolute path of the current session's transcript. */
    get transcriptPath(): string {
      return state.transcript.path;
    },
    /** Never throws because of the model or its tools: `ended` and `error` describe the outcome. */
    say: (words: string, options?: TurnOptions): Promise<TurnResult> => inTurn(() => takeTurn(state, words, options)),
    /** What a model would be shown for this prompt in a new session. */
    preview: (words: string) => inTurn(() => previewPrompt(state, words)),
    /** Replaces the conversation with a summary, now; never throws. */
    compact: ({ onEvent, ...options }: Partial<CompactOptions> & { onEvent?: Tell } = {}): Promise<CompactResult> =>
      inTurn(() => {
        // The listener of the last turn did not ask for this.
        state.tell = quietly(onEvent);
        return compact(state, { trigger: "manual", ...options });
      }),
    /** A new session; the old one stays on disk. */
    clear: (): Promise<void> => inTurn(() => replace(null)),
    /** Continues another session. */
    resume: (session: ResumedSession): Promise<void> => inTurn(() => replace(session)),
    /** What fills the window. */
    window: (): Promise<WindowView> => inTurn(() => viewWindow(state)),
    /** What the user said in the current conversation, oldest first. */
    prompts: (): readonly Prompt[] => state.prompts,
    /** The moments to which files can be rewound, oldest first. */
    checkpoints: () => state.history.checkpoints(),
    /** Returns files, conversation or both to what they were before a prompt, by its id or that of a checkpoint. */
    rewind: (id: string, what: RewindWhat): Promise<Rewound> => inTurn(() => rewind(state, id, what)),
    /** Tokens and requests spent since the agent was opened, over all its sessions. */
    usage: () => state.usage,
    /** The current model; replaced from now on if one is given. */
    model: (model?: AgentModel): AgentModel => {
      if (model) {
        setup.model = model;
        state.contextTokens = 0;
      }
      return setup.model;
    },
    /** Whether memories are shown and kept in this session. */
    memory: (on?: boolean): boolean => {
      if (on !== undefined && on !== state.memoryOn) {
        state.memoryOn = on;
        state.system.clear();
      }
      return state.memoryOn;
    },
    /** Writes notes of the session so far to the file that compaction reads. */
    takeNotes: (signal?: AbortSignal) => inTurn(() => takeNotesNow(state, signal)),
    /** Whether memdir is still learning from earlier turns. */
    isLearning: (): boolean => learners().some((learner) => learner.isBusy()),
    /** Waits until that is done, the time is up or the signal aborts; unfinished work is then stopped and picked up another time. */
    drain: ({ ms = DRAIN_MS, signal }: { ms?: number; signal?: AbortSignal } = {}): Promise<void> =>
      drainAll(learners(), ms, shareSignal(signal)),
    /** Writes what is left of the transcript; call it last. */
    close(): void {
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

async function previewPrompt({ setup: { memdir }, instructions, memoryOn }: AgentState, words: string) {
  const recalled = memoryOn ? await memdir.recall(words, { model: false }) : { memories: [], leftOut: [] };
  return {
    /** The memories that would be recalled. */
    memories: recalled.memories as Recalled[],
    /** Names of memories that did not fit. */
    leftOut: recalled.leftOut as string[],
    /** The instruction files that would be loaded. */
    instructions: memdir.config.claudeMdsDisabled ? [] : await instructions.load(),
  };
}

async function viewWindow(state: AgentState): Promise<WindowView> {
  const { tools, contextTokens, setup } = state;
  const opening = state.sent === 0 ? await buildOpening(state) : null;
  const said: readonly Message[] = state.messages.length > 0 ? state.messages : [{ role: "user", content: [] }];
  const messages = opening ? putOpening(opening, said) : said;
  const parts = partsOf({ sections: await state.system.parts(), tools, messages }, setup.model.maxTokens);
  return measureWindow(parts, setup.model.windowTokens, contextTokens);
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
    if (type !== SHOWN_LINE || typeof prompt !== "string" || !isObject(value)) continue;
    const { sent, recalled, bytes } = value as Partial<Shown>;
    if (!Array.isArray(sent) || !Array.isArray(recalled) || typeof bytes !== "number") continue;
    shown.set(prompt, { sent, recalled: recalled.filter((path) => typeof path === "string"), bytes });
  }
  return shown;
}

/** What a rewind changes: the files, what was said, or both. */
export type RewindWhat = "code" | "conversation" | "both";

/** What a rewind did. */
export type Rewound = ReturnType<typeof rewind>;

function rewind(state: AgentState, id: string, what: RewindWhat) {
  const prompt = state.prompts.find((one) => one.id === id) ?? null;
  if (what !== "code" && !prompt) {
    const message =
      "the conversation cannot be rewound to that prompt: it is before a compaction or in another session; rewind only the code";
    throw new MemdirError("not-found", message);
  }
  const files = what === "conversation" ? null : rewindFiles(state.history, id);
  const dropped = what === "code" ? null : prompt;
  if (dropped) {
    state.messages = state.messages.slice(0, dropped.index);
    state.prompts = state.prompts.slice(0, state.prompts.indexOf(dropped));
    state.sent = Math.min(state.sent, state.messages.length);
    state.contextTokens = 0;
    restoreShown(state, dropped.before);
    // This conversation has not seen what was read in the removed part.
    state.files.clear();
    state.instructions.clear();
    state.transcript.rewindTo(dropped.parent);
  }
  return {
    /** Null when only the conversation was rewound. */
    files,
    /** The prompt, ready to be sent again; null when the conversation was kept. */
    prompt: dropped?.text ?? null,
  };
}
