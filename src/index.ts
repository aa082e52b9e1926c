/** The public API, every name listed by hand: any new export here is a promise. */

export type { StartContext } from "./context/start.ts";
export { type ErrorCode, MemdirError } from "./errors.ts";
export type { InstructionFile, InstructionSource, SkippedFile } from "./instructions/file.ts";
export type { Instructions } from "./instructions/instructions.ts";
export { type RenderedInstructions, renderInstructions } from "./instructions/render.ts";
export type { InstructionOptions, Memdir, SearchHit } from "./memdir.ts";
export type { AdoptResult } from "./memory/adopt.ts";
export { type Age, ageInDays, ageInWords, ageName } from "./memory/age.ts";
export type { ForgetResult } from "./memory/forget.ts";
export type { IndexView, IndexWarning } from "./memory/index-load.ts";
export type { Entry as JournalEntry } from "./memory/journal.ts";
export type { LintProblem } from "./memory/lint.ts";
export type { Row, ShownMemory } from "./memory/list.ts";
export { type Header, type Memory, parseMemory, type Source } from "./memory/memory.ts";
export type { SaveRequest, SaveResult } from "./memory/save.ts";
export { isMemoryType, MEMORY_TYPES, type MemoryType } from "./memory/type.ts";
export type { UndoResult } from "./memory/undo.ts";
export { type OpenOptions, openMemdir } from "./open.ts";
export { parseDocument } from "./text/frontmatter.ts";
export { editFields, formatDocument } from "./text/frontmatter-edit.ts";
export { findSecrets, redactSecrets, type SecretFinding } from "./text/secrets.ts";
