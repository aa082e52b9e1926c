/** The public API, every name listed by hand: any new export here is a promise. The agent's parts are in `agent-kit.ts`. */

export type { Config, Env } from "./config.ts";
export type { MemoryPromptOptions, StartContext } from "./context/start.ts";
export { type ErrorCode, MemdirError } from "./errors.ts";
export type { InstructionFile, InstructionSource, SkippedFile } from "./instructions/file.ts";
export { type RenderedInstructions, renderInstructions } from "./instructions/file.ts";
export type { Instructions } from "./instructions/instructions.ts";
export type { OpenOptions } from "./library/arguments.ts";
export type { MemoryTool, MemoryToolName, ToolsOptions } from "./library/library.ts";
export { type Library, openMemdir, type Verbs } from "./library/library.ts";
export type { InstructionOptions, Memdir, Named, VerifyOptions } from "./memdir.ts";
export type { AdoptResult } from "./memory/adopt.ts";
export type { Check } from "./memory/doctor.ts";
export type { MergeRequest, RebuiltIndex } from "./memory/edit.ts";
export type { ForgetOptions, ForgetResult, PruneRequest, PruneResult } from "./memory/forget.ts";
export type { LintProblem } from "./memory/lint.ts";
export type { ListFilter, Memories, MemoryRef } from "./memory/memories.ts";
export type { SaveRequest, SaveResult } from "./memory/save.ts";
export type { Location } from "./project/locate.ts";
export type { PlaceOptions } from "./project/scopes.ts";
export {
  formatInjection,
  MAX_SESSION_MEMORY_BYTES,
  openRecallSession,
  type RecallSession,
} from "./recall/injection.ts";
export type { Prefetch } from "./recall/prefetch.ts";
export type { RecallOptions } from "./recall/rank.ts";
export type { AnyEmbed, Recalled, RecallResult } from "./recall/recall.ts";
export type { PrefetchOptions, WarmOptions } from "./recall/recaller.ts";
export type { Method, Signals } from "./recall/score.ts";
export type { SearchHit } from "./recall/search.ts";
export type { SideQuery } from "./recall/select.ts";
export type {
  Directory,
  Entry as JournalEntry,
  IndexView,
  IndexWarning,
  Listing,
  Row,
  ShownMemory,
  Store,
  Trust,
  UndoResult,
} from "./store/store.ts";
export {
  type Age,
  ageInDays,
  ageInWords,
  ageName,
  type Header,
  isMemoryType,
  MEMORY_TYPES,
  type Memory,
  type MemoryType,
  parseMemory,
  type Source,
} from "./store/store.ts";
export { editFields, formatDocument, parseDocument } from "./text/frontmatter.ts";
export { findSecrets, redactSecrets, type SecretFinding } from "./text/secrets.ts";
export type { Problem as VerifyProblem } from "./truth/problems.ts";
export type { Verification } from "./truth/verify.ts";
export type { CallOptions } from "./verbs/rows.ts";
