/** Cues added to a memory that says the same as before: it does not become younger by them. */

import { statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { MemdirError } from "../errors.ts";
import {
  type Directory,
  oneLine,
  parseMemory,
  readBytes,
  refuseBroken,
  secretError,
  withDirectory,
} from "../store/store.ts";
import { editFields } from "../text/frontmatter-edit.ts";
import { sha256 } from "../text/hash.ts";
import { findSecrets } from "../text/secrets.ts";
import { type SaveResult, writeMemory } from "./save.ts";

/** More would cost room in every recall and say the same again. */
const MAX_CUES = 8;
const MAX_CUE_CHARS = 120;

/** Behind those that it has. `base` is the text that they were made for: if the file says something else now, nothing is written. */
export async function addCues(
  directory: Directory,
  file: string,
  base: string,
  cues: readonly string[],
): Promise<SaveResult> {
  const memory = parseMemory(file, base);
  const when = mergeCues(memory.when, cues);
  const findings = findSecrets(when.join("\n"));
  if (findings.length > 0) throw secretError(findings.map(({ rule }) => `${rule} in a cue`));
  return withDirectory(directory, (directory) => {
    const current = readBytes(directory, file);
    if (sha256(current) !== sha256(base)) {
      throw new MemdirError("conflict", `${file} changed meanwhile: no cues were added; run it again`);
    }
    refuseBroken(memory);
    const path = join(directory.path, file);
    const { atime, mtime } = statSync(path);
    const text = editFields(base, { when });
    const result = writeMemory(directory, file, text, { action: "edit", reason: "cues" });
    if (result.action !== "unchanged") utimesSync(path, atime, mtime);
    return result;
  });
}

/** One line each, none twice. */
function mergeCues(old: readonly string[], more: readonly string[]): string[] {
  const clean = more
    .map((cue) => oneLine(cue).slice(0, MAX_CUE_CHARS).toWellFormed().trim())
    .filter((cue) => cue !== "");
  const known = new Set(old.map((cue) => cue.toLowerCase()));
  const fresh = clean.filter((cue) => !known.has(cue.toLowerCase()) && known.add(cue.toLowerCase()));
  return [...old, ...fresh].slice(0, Math.max(old.length, MAX_CUES));
}
