/**
 * What verifying writes into memories: a stamp if they hold, and new paths for moved files. Journalled, and without
 * changing their age.
 */

import { findBytes, parseMemory, type Store } from "../store/store.ts";
import { editFields } from "../text/frontmatter.ts";
import type { Finding } from "./claim.ts";

export interface Amendment {
  file: string;
  /** The text that was checked: if the file has changed since, it is left alone. */
  base: string;
  text: string;
}

/** All of them in one entry, whose id is null if nothing was written. A file keeps its times, because its meaning has not changed. */
export async function amend(directory: Store, reason: string, amendments: readonly Amendment[]) {
  const none = { files: [] as string[], undo: null };
  const wanted = amendments.filter(({ base, text }) => base !== text);
  if (wanted.length === 0) return none;
  return directory.change(async (directory) => {
    const due = wanted.filter(({ file, base }) => findBytes(directory, file)?.equals(Buffer.from(base)));
    if (due.length === 0) return none;
    const writes = new Map(due.map(({ file, text }) => [file, Buffer.from(text)]));
    const { entry } = await directory.apply({ action: "edit", reason, writes, keepsTimes: true });
    return { files: due.map(({ file }) => file), undo: entry.id };
  });
}

/** Null if it already has today's stamp, or cannot be stamped. */
export function stampText(file: string, text: string, now: Date): string | null {
  const memory = parseMemory(file, text);
  if (memory.broken) return null;
  const today = now.toISOString();
  if (memory.verified?.slice(0, 10) === today.slice(0, 10)) return null;
  const stamped = editFields(text, { verified: today });
  return stamped === text ? null : stamped;
}

/** Every place of a claim whose new text is certain. */
export function fixText(file: string, text: string, findings: readonly Finding[]): { text: string; fixed: Finding[] } {
  if (parseMemory(file, text).broken) return { text, fixed: [] };
  const edits = findings.flatMap((finding) => {
    const { claim, fix } = finding;
    if (fix === undefined || claim.declared) return [];
    return [claim.at, ...(claim.more ?? [])]
      .filter((at) => text.startsWith(claim.text, at))
      .map((at) => ({ at, finding, fix }));
  });
  let out = text;
  // From the end, so that earlier offsets stay valid.
  for (const { at, finding, fix } of edits.sort((a, b) => b.at - a.at)) {
    out = out.slice(0, at) + fix + out.slice(at + finding.claim.text.length);
  }
  return { text: out, fixed: [...new Set(edits.map(({ finding }) => finding))] };
}
