/** Cues added to memories that otherwise stay as they are, to the byte: they say the same, and do not become younger. */

import type { MemdirError } from "../errors.ts";
import { admit, findBytes, oneLine, parseMemory, type Store, secretError } from "../store/store.ts";
import { editFields } from "../text/frontmatter.ts";
import { findSecrets } from "../text/secrets.ts";

/** `base` is the text that the cues were made for: if the file says something else now, it gets none. */
export interface Cued {
  file: string;
  base: string;
  cues: readonly string[];
}

export interface AddedCues {
  files: string[];
  /** Those that were left alone, each with the reason. */
  refused: { file: string; reason: string }[];
  /** The journal entry, for undo; null if nothing was written. */
  undo: string | null;
}

/** More would cost room in every recall and say the same again. */
const MAX_CUES = 8;
const MAX_CUE_CHARS = 120;

/** All of them as one change. */
export async function addCues(directory: Store, cued: readonly Cued[]): Promise<AddedCues> {
  return directory.change(async (directory) => {
    const writes = new Map<string, Buffer>();
    const refused: AddedCues["refused"] = [];
    for (const { file, base, cues } of cued) {
      const isSame = findBytes(directory, file)?.equals(Buffer.from(base)) === true;
      const added = isSame ? withCues(file, base, cues) : { problem: "it changed meanwhile; run it again" };
      if ("problem" in added) refused.push({ file, reason: added.problem });
      else if (added.text !== base) writes.set(file, Buffer.from(added.text));
    }
    if (writes.size === 0) return { files: [], refused, undo: null };
    const files = [...writes.keys()];
    const reason = files.length === 1 ? "cues" : `cues for ${files.length} memories`;
    const { entry } = await directory.apply({ action: "edit", reason, writes, isPlaced: true, keepsTimes: true });
    return { files, refused, undo: entry.id };
  });
}

/** Behind those that it has. A text that would change in any other way is left alone. */
export function withCues(file: string, base: string, cues: readonly string[]): { text: string } | { problem: string } {
  const memory = parseMemory(file, base);
  if (memory.broken || Object.keys(memory.metadata).length === 0)
    return { problem: memory.problems[0] ?? "it has no frontmatter" };
  const when = mergeCues(memory.when, cues);
  const text = editFields(base, { when });
  const after = parseMemory(file, text);
  const isWhole = after.body === memory.body && after.problems.join() === memory.problems.join();
  if (!isWhole || after.when.join("\n") !== when.join("\n") || (memory.when.length === 0 && !isInserted(base, text)))
    return { problem: "its frontmatter cannot be extended safely" };
  const [secret] = findSecrets(when.join("\n"));
  if (secret) return { problem: secretError([`${secret.rule} in a cue`]).message };
  try {
    admit({ file, text, before: base }, { trust: "user" });
  } catch (error) {
    return { problem: (error as MemdirError).message };
  }
  return { text };
}

/** Whether it is the old text with something put in at one place. */
function isInserted(before: string, after: string): boolean {
  let at = 0;
  while (at < before.length && before[at] === after[at]) at++;
  return after.endsWith(before.slice(at));
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
