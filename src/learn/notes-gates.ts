/** When notes of a running session are worth a call of the model: pure, asked after every turn. */

export interface NotesState {
  /** What the model's window holds now; 0 while nobody has counted. */
  contextTokens: number;
  /** What it held when notes were last taken or tried; null before the first time. */
  notedTokens: number | null;
  /** Since then. */
  toolCalls: number;
  /** Whether the last answer of the model asked for a tool: then the work is in the middle of something. */
  calledInLastTurn: boolean;
  running: boolean;
  /** In a row. */
  failures: number;
}

export interface NotesLimits {
  firstTokens: number;
  moreTokens: number;
  toolCalls: number;
  maxFailures: number;
}

/** The first three are those of the client we share the file with. What failed three times will fail again, and costs. */
export const NOTES_LIMITS: NotesLimits = { firstTokens: 10_000, moreTokens: 5_000, toolCalls: 3, maxFailures: 3 };

export const NO_NOTES: NotesState = {
  contextTokens: 0,
  notedTokens: null,
  toolCalls: 0,
  calledInLastTurn: false,
  running: false,
  failures: 0,
};

export type NotesDecision = { go: true } | { go: false; reason: string };

export function shouldTakeNotes(state: NotesState, limits: NotesLimits = NOTES_LIMITS): NotesDecision {
  const { contextTokens, notedTokens, toolCalls, calledInLastTurn, running, failures } = state;
  if (running) return wait("notes are being taken already");
  if (failures >= limits.maxFailures) return wait(`taking notes failed ${failures} times in a row`);
  if (notedTokens === null) {
    if (contextTokens < limits.firstTokens) {
      return wait(`the conversation holds ${contextTokens} tokens, the first notes are taken at ${limits.firstTokens}`);
    }
  } else if (contextTokens - notedTokens < limits.moreTokens) {
    const grown = contextTokens - notedTokens;
    return wait(`${grown} tokens since the last notes, the next are taken after ${limits.moreTokens}`);
  }
  // A pause in the work is a good moment; while it goes on, enough must have been done.
  if (calledInLastTurn && toolCalls < limits.toolCalls) {
    return wait(`in the middle of a step, with ${toolCalls} of ${limits.toolCalls} tool calls`);
  }
  return { go: true };
}

/** One answer of the model. `contextTokens` is 0 when the provider does not count, and the last known number stays. */
export function countAnswer(state: NotesState, answer: { contextTokens: number; toolCalls: number }): NotesState {
  const contextTokens = answer.contextTokens > 0 ? answer.contextTokens : state.contextTokens;
  return {
    ...state,
    contextTokens,
    // After a compaction the window holds less than when notes were taken: growth is counted from there.
    notedTokens: state.notedTokens === null ? null : Math.min(state.notedTokens, contextTokens),
    toolCalls: state.toolCalls + answer.toolCalls,
    calledInLastTurn: answer.toolCalls > 0,
  };
}

export function beginNotes(state: NotesState): NotesState {
  return { ...state, running: true, notedTokens: state.contextTokens, toolCalls: 0 };
}

/** A run that failed is not tried again before the conversation has grown: it has cost as much as one that succeeded. */
export function endNotes(state: NotesState, ok: boolean): NotesState {
  return { ...state, running: false, failures: ok ? 0 : state.failures + 1 };
}

function wait(reason: string): NotesDecision {
  return { go: false, reason };
}
