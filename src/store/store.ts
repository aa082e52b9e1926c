/** The waist: memories on disk. Everything outside of this folder reads and writes them through here. */

export { type Age, ageInDays, ageInWords, ageName, type Bulk, countsFrom, findBulksIn, isBulkTime } from "./age.ts";
export {
  AUTHORS_VERSION,
  type Authors,
  type Authorship,
  cleanAuthor,
  findAuthor,
  formatAuthorship,
  readCache,
  readSynced,
} from "./authorship.ts";
export { applyChange, type Change, withDirectory } from "./change.ts";
export { CONFLICT_FIELD, isConflictCopy } from "./conflict.ts";
export { digestFile, digestMemory, type Embed, embedTexts } from "./digest.ts";
export {
  checkState,
  type Directory,
  fileMode,
  INDEX_FILE,
  modeFor,
  OVERFLOW_FILE,
  openPins,
  prepareDirectory,
  statePath,
  withPins,
} from "./directory.ts";
export { compilePattern, type Enforced, findEnforced, lintEnforce } from "./enforce.ts";
export { daysOverdue, findDay } from "./expiry.ts";
export { indexPath, readBase, writeBase } from "./index-base.ts";
export { peekIndex } from "./index-file.ts";
export { CLIENT_LIMITS } from "./index-limits.ts";
export { formatIndexLine, parseIndexLine } from "./index-line.ts";
export { type IndexView, type IndexWarning, loadIndex } from "./index-load.ts";
export type { LineEdit } from "./index-pages.ts";
export { findLines, findName, type IndexSync, openLines, readOverflow, syncIndex } from "./index-sync.ts";
export { linkedFiles, type RemovedLine, restoreRemoved, splitLines } from "./index-text.ts";
export { type Action, type Entry, type FileChange, imagePath, readImage, readJournal } from "./journal.ts";
export { findJournal, journalName, readJournals, signEntry } from "./journals.ts";
export { formatSource, type Header, type Memory, parseHeader, parseMemory, type Source, stemOf } from "./memory.ts";
export { cleanName, fileNameFor, oneLine, otherFileNames, sameName } from "./name.ts";
export { findBytes, findText, readBytes, readHeader, readMemory, readStart, refuseBroken, unreadable } from "./read.ts";

export { mendIndex, needsRecovery } from "./recover.ts";
export { repairDirectory } from "./repair.ts";
export {
  appendEntries,
  type CacheHead,
  FEW_FILES,
  FILE_HEAD_BYTES,
  LIKELY_FILES,
  noteInHead,
  type OpenCache,
  openCache,
  ROWS_FILE,
  readRowCache,
  writeEntries,
} from "./row-cache.ts";
export {
  AT,
  agrees,
  align,
  DIMENSIONS,
  type Encoded,
  encodeEntry,
  FLAG,
  HEAD_BYTES,
  isSoundRow,
  type RowEntry,
  type Stamp,
  TYPES,
  type Vector,
  viewEntry,
  WEIGHT_UNIT,
} from "./row-entry.ts";
export {
  type FullRow,
  isCovering,
  isLoose,
  isUnchanged,
  type Listing,
  listEntries,
  listMemories,
  openIndexNames,
  peekForHooks,
  quietFolders,
  type Row,
  readEntry,
  readRows,
  rewriteCache,
  rowAt,
  type ShownMemory,
  scan,
  scanForHooks,
  showMemory,
} from "./rows.ts";
export { isTakenOver } from "./taken-over.ts";
export { isMemoryType, MEMORY_TYPES, type MemoryType } from "./type.ts";
export { type UndoResult, undoEntry } from "./undo.ts";
export { isDailyLog, isMemoryFile, walk } from "./walk.ts";
