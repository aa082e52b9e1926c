/** The waist: memories on disk. Everything outside of this folder reads and writes them through here. */

export { type Age, ageInDays, ageInWords, ageName } from "./age.ts";
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
export { type Bulk, findBulks } from "./bulk.ts";
export { applyChange, type Change, type Changed, withDirectory } from "./change.ts";
export { CONFLICT_FIELD, isConflictCopy } from "./conflict.ts";
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
export { type Listing, listMemories, type Row, rowOf, type ShownMemory, showMemory } from "./list.ts";
export {
  formatSource,
  type Header,
  hasFrontmatter,
  type Memory,
  parseHeader,
  parseMemory,
  type Source,
  stemOf,
} from "./memory.ts";
export { cleanName, fileNameFor, oneLine, otherFileNames, sameName } from "./name.ts";
export { findBytes, findText, readBytes, readHeader, readMemory, refuseBroken, unreadable } from "./read.ts";
export { readStart } from "./read-start.ts";
export { needsRecovery, restoreIndex } from "./recover.ts";
export { repairDirectory } from "./repair.ts";
export { scan } from "./scan.ts";
export { isTakenOver } from "./taken-over.ts";
export { isMemoryType, MEMORY_TYPES, type MemoryType } from "./type.ts";
export { type UndoResult, undoEntry } from "./undo.ts";
export { isDailyLog, isMemoryFile, walk } from "./walk.ts";
