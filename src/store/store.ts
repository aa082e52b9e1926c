/** The waist: memories on disk. Everything outside of this folder reads and writes them through here. */

export {
  type Admitted,
  admit,
  findNamesake,
  findNewDates,
  findObjections,
  type Gate,
  MAX_MEMORY_BYTES,
  type Objection,
  readGiven,
  secretError,
} from "./admit.ts";
export { type Age, ageInDays, ageInWords, ageName, type Bulk, countsFrom, findBulksIn, isBulkTime } from "./age.ts";
export {
  type Authors,
  type Authorship,
  cleanAuthor,
  findAuthor,
  formatAuthorship,
  readCache,
  readSynced,
  writeCache,
} from "./authorship.ts";
export { applyChange, type Change, type Changed, withDirectory } from "./change.ts";
export { CONFLICT_FIELD, isConflictCopy } from "./conflict.ts";
export { digestFile, digestMemory, type Embed, embedTexts, textsWithoutVector } from "./digest.ts";
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
export { addLine, keepEntries, linkedFiles, openListing, type Pages, type Plan } from "./index.ts";
export {
  findName,
  indexPath,
  keepRecord,
  type PageRequest,
  peekIndex,
  previewPages,
  readOverflow,
  readRecord,
} from "./index-file.ts";
export { CLIENT_LIMITS } from "./index-limits.ts";
export { fileKey, formatIndexLine, keysOf, names, parseIndexLine, readReferences } from "./index-line.ts";
export { type IndexView, type IndexWarning, loadIndex } from "./index-load.ts";
export {
  type Action,
  type Entry,
  type FileChange,
  imagePath,
  readImage,
  readJournal,
} from "./journal.ts";
export { findJournal, journalName, readJournals, signEntry } from "./journals.ts";
export {
  formatSource,
  type Header,
  hasFrontmatter,
  isMemoryType,
  MEMORY_TYPES,
  type Memory,
  type MemoryType,
  parseHeader,
  parseMemory,
  type Source,
  stemOf,
} from "./memory.ts";
export { cleanName, fileNameFor, oneLine, otherFileNames, sameName } from "./name.ts";
export { findBytes, findText, readBytes, readHeader, readMemory, readStart, refuseBroken, unreadable } from "./read.ts";
export { needsRecovery, restoreIndex } from "./recover.ts";
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
  scanInPieces,
  showMemory,
} from "./rows.ts";
export {
  type Kept,
  openState,
  openStateIn,
  quietly,
  type State,
  type StateRecord,
  type StateText,
  sessionKey,
} from "./state.ts";
export type { StateLog } from "./state-log.ts";
export { isTakenOver } from "./taken-over.ts";
export { leastTrust, mayBecome, mayReplace, TRUSTS, type Trust, trustOf } from "./trust.ts";
export { type UndoResult, undoEntry } from "./undo.ts";
export { isDailyLog, isMemoryFile, walk } from "./walk.ts";
