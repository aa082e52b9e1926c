/** `memdir/agent`: the agent and its parts, for people who build their own. Every name is listed by hand and a promise. */

export type { Agent, Preview, RewindWhat, Rewound } from "./agent/agent.ts";
export type { CompactResult } from "./agent/compaction.ts";
export type { AgentEvent, AgentModel } from "./agent/state.ts";
export type { TurnOptions, TurnResult } from "./agent/turn.ts";
export type { WindowView } from "./context/window.ts";
export {
  type Conversation,
  type ForkOptions,
  fork,
  type LoopOptions,
  type LoopResult,
  runAgentLoop,
} from "./model/agent-loop.ts";
export type { Ask, AskAnswer, AskError, AskRequest, Message, Usage } from "./model/ask.ts";
export { chooseModel, type ModelChoice, withRetries } from "./model/choose.ts";
export { approximateTokens } from "./model/cost.ts";
export type { Tool } from "./model/tool.ts";
export { type AgentOptions, openAgent, openModel } from "./open-agent.ts";
export {
  type FileHistory,
  openFileHistory,
  planRewind,
  type RewindReport,
  rewindFiles,
} from "./session/file-history.ts";
export { type FileState, openFileState } from "./session/file-state.ts";
export { type ResumedSession, readSession } from "./session/session-reader.ts";
export {
  listSessions,
  type SessionHit,
  type SessionPlaces,
  type SessionRow,
  searchSessions,
} from "./session/sessions.ts";
export { openTranscript, type Transcript } from "./session/transcript.ts";
export { openPermissions, type PermissionRequest, type Permit } from "./tools/permission.ts";
export { openTools } from "./tools/tools.ts";
export type { Workbench } from "./tools/workbench.ts";
