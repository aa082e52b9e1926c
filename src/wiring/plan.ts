/** What wiring a client would change, as whole texts to be looked at: nothing is written here. */

import { diskError, type MemdirError } from "../errors.ts";
import type { Client } from "./client.ts";
import { addPart, commandsOf, type Part, removePart } from "./part.ts";
import { type Entry, type Receipt, readBackup, readReceipt } from "./receipt.ts";
import { hashText, readUserFile, type UserFile } from "./user-file.ts";
import type { WiringWorld } from "./world.ts";

export interface Change extends UserFile {
  client: string;
  kind: "create" | "edit";
  /** As it was read; null when there is no file. */
  before: string | null;
  after: string;
  why: string;
  /** What the receipt will say of it. */
  entry: Omit<Entry, "at" | "backup" | "folders">;
  /** The text without anything of ours: what is backed up. Null when there is no file without us. */
  original: string | null;
}

export interface Plan {
  client: Client;
  changes: Change[];
  /** What is wired in another way already, in words. */
  other: string | null;
  /** Why nothing of this client is changed. */
  problem: MemdirError | null;
}

/** A client whose files cannot all be changed is left alone as a whole. */
export function planWiring(world: WiringWorld, clients: readonly Client[]): Plan[] {
  const receipt = readReceipt(world);
  return clients.map((client) => {
    try {
      const other = client.findOther?.(world) ?? null;
      const parts = other === null ? client.parts(world) : [];
      const files = [...new Set(parts.map(({ file }) => file))];
      const changes = files
        .map((file) =>
          planFile(
            world,
            client,
            file,
            parts.filter((part) => part.file === file),
            receipt,
          ),
        )
        .filter((change) => change.after !== change.before);
      return { client, changes, other, problem: null };
    } catch (error) {
      return { client, changes: [], other: null, problem: diskError(error, "wire", client.title) };
    }
  });
}

function planFile(world: WiringWorld, client: Client, file: string, parts: Part[], receipt: Receipt): Change {
  const read = readUserFile(file);
  const earlier = receipt.entries.find((entry) => entry.file === file);
  const allParts = mergeParts(parts, earlier?.parts ?? []);
  const known = commandsOf(allParts);
  const original = findOriginal(world, read.text, allParts, earlier);
  // What is there already was made by an earlier run.
  const made = new Set<string>(read.text === null ? [] : earlier?.made);
  const { mark, body } = splitMark(read.text);
  const after = mark + parts.reduce<string | null>((text, part) => addPart(text, part, { known, made }), body);
  const isKnown = read.text !== null && earlier?.states.includes(hashText(read.text)) === true;
  return {
    ...read,
    client: client.name,
    kind: read.text === null ? "create" : "edit",
    before: read.text,
    after,
    why: parts.map(({ why }) => why).join("; "),
    original,
    entry: {
      client: client.name,
      file,
      before: original === null ? null : hashText(original),
      states: [...(isKnown ? (earlier?.states ?? []) : []), hashText(after)],
      parts: allParts,
      made: [...made],
    },
  };
}

/** The text as it would be without us: the backup when nothing else changed since, else the text with our parts taken out. */
function findOriginal(world: WiringWorld, text: string | null, parts: readonly Part[], earlier: Entry | undefined) {
  if (text === null) return null;
  if (earlier?.states.includes(hashText(text))) {
    if (earlier.backup === null) return null;
    const backup = readBackup(world, earlier.backup);
    if (backup !== null && hashText(backup) === earlier.before) return backup;
  }
  const isOwn = earlier?.before === null;
  const left = takeOut(text, parts, earlier ? new Set(earlier.made) : null);
  return isOwn && left !== null && isEmpty(left, parts) ? null : left;
}

/** Null when nothing but ours was in it. Throws `broken`. */
export function takeOut(text: string, parts: readonly Part[], made: ReadonlySet<string> | null): string | null {
  const known = commandsOf(parts);
  const { mark, body } = splitMark(text);
  // One version of a file that is ours as a whole is enough.
  if (parts.some((part) => part.kind === "file" && part.text === body)) return null;
  const left = parts.reduce<string | null>(
    (now, part) => (now === null ? null : removePart(now, part, { known, made })),
    body,
  );
  return left === null ? null : mark + left;
}

/** Whether a file that we made holds nothing that anybody put there. */
export function isEmpty(text: string, parts: readonly Part[]): boolean {
  const starts = parts.flatMap((part) => (part.kind === "value" && part.start ? [part.start] : []));
  const bare = text.replace(/\s/g, "");
  return bare === "" || bare === "{}" || starts.some((start) => bare === JSON.stringify(start));
}

/** Newer ones first; an earlier version's stay known, so that they can be taken out. */
function mergeParts(parts: readonly Part[], earlier: readonly Part[]): Part[] {
  const seen = new Set<string>();
  return [...parts, ...earlier].filter((part) => {
    const id = JSON.stringify(part);
    return seen.has(id) ? false : seen.add(id);
  });
}

function splitMark(text: string | null): { mark: string; body: string | null } {
  return text?.startsWith("\ufeff") ? { mark: "\ufeff", body: text.slice(1) } : { mark: "", body: text };
}
