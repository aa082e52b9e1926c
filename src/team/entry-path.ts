/** Which paths a shared memory may have: ones that every file system can hold, and that lead nowhere else. */

import { findNameProblem } from "../disk/fence.ts";
import { isMemoryFile } from "../store/store.ts";

/** Windows refuses longer paths below an ordinary home. */
const MAX_BYTES = 180;
const MAX_DEPTH = 4;
const WINDOWS_NAMES = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const WINDOWS_SIGNS = /[<>:"|?*\x00-\x1f\x7f]/;

/** Why `path` cannot be shared, or null. Client and server both ask. */
export function findEntryProblem(path: string): string | null {
  const problem = findNameProblem(path);
  if (problem) return problem;
  if (Buffer.byteLength(path) > MAX_BYTES) return `it is longer than ${MAX_BYTES} bytes`;
  if (!path.isWellFormed() || path !== path.normalize("NFC")) return "it is not well-formed NFC text";
  const parts = path.split("/");
  if (parts.length > MAX_DEPTH) return `it lies deeper than ${MAX_DEPTH} folders`;
  if (parts.some((part) => part.startsWith("."))) return "a part of it begins with a dot";
  if (parts.some((part) => WINDOWS_NAMES.test(part) || WINDOWS_SIGNS.test(part) || /[. ]$/.test(part)))
    return "Windows has no such file names";
  if (!isMemoryFile(path)) return "it is no memory: those are .md files that are neither an index nor a daily log";
  return null;
}
