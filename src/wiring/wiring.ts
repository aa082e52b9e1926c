/**
 * Wiring clients and undoing it. A plan holds whole texts that can be looked at; applying it writes backups first, then the
 * receipt, then the files, each of them whole or not at all. Unwiring restores every byte where nothing else changed since, and
 * otherwise removes exactly memdir's parts. What the user had in the place of one comes back.
 */

import { dirname } from "node:path";
import { makeFolders } from "../disk/fence.ts";
import { diskError, type MemdirError } from "../errors.ts";
import { sha256 } from "../text/hash.ts";
import { CLIENTS, type Client } from "./clients.ts";
import { formFor, type HookChoice, type HookWish } from "./hook-form.ts";
import type { Machine } from "./machine.ts";
import { commandsOf, kindOf, type Part } from "./parts.ts";
import {
  type Entry,
  noteEntry,
  type Receipt,
  readBackup,
  readReceipt,
  refuseNewer,
  withLock,
  writeBackup,
  writeReceipt,
} from "./receipt.ts";
import { conflict, readUserFile, removeFolders, removeUserFile, replaceUserFile } from "./user-file.ts";

export type Change = ReturnType<typeof planFile>;

export interface Plan {
  client: Client;
  changes: Change[];
  /** What is wired in another way already, in words. */
  other: string | null;
  /** Why nothing of this client is changed. */
  problem: MemdirError | null;
}

export interface Removal {
  client: string;
  file: string;
  /** `restored`: every byte as before; `removed`: a file of memdir's; `edited`: only memdir's parts were removed. */
  kind: "restored" | "removed" | "edited" | "unchanged";
  /** Why it was left alone. */
  problem: MemdirError | null;
}

/** What wiring would change; nothing is written. A client whose files cannot all be changed is left alone as a whole. */
export function planWiring(machine: Machine, clients: readonly Client[], wish: HookWish): Plan[] {
  const receipt = readReceipt(machine);
  return clients.map((client) => {
    try {
      const other = client.findOther?.(machine) ?? null;
      const files = other === null ? partsByFile(client.parts(machine, formFor(machine, client, wish))) : [];
      const changes = files.map(([file, parts]) => planFile(machine, client.name, file, parts, receipt));
      return { client, changes: changes.filter(({ before, after }) => after !== before), other, problem: null };
    } catch (error) {
      return { client, changes: [], other: null, problem: diskError(error, "wire", client.title) };
    }
  });
}

/**
 * Throws `conflict` when a file is no longer what the plan was made for, before anything is changed if it can be seen then. A run
 * that is stopped at any point can be run again, or undone. What the user chose for hooks is kept with it.
 */
export async function applyChanges(machine: Machine, changes: readonly Change[], choice?: HookChoice): Promise<void> {
  const isChosen = choice !== undefined && choice !== readReceipt(machine).hooks;
  if (changes.length === 0 && !isChosen) return;
  await withLock(machine, (before) => {
    for (const change of changes) if (readUserFile(change.file).text !== change.before) throw conflict(change.file);
    const chosen = { ...before, ...(choice === undefined ? {} : { hooks: choice }) };
    const receipt = changes.reduce((now, change) => noteEntry(now, buildEntry(machine, change, now)), chosen);
    writeReceipt(machine, receipt);
    machine.log(`receipt written for ${changes.length} files`);
    for (const change of changes) {
      replaceUserFile(change, change.after);
      machine.log(`wrote ${change.file}`);
    }
  });
}

/** Of these clients; null for all. With `dryRun` it only says what it would do. */
export async function unwire(
  machine: Machine,
  { clients, dryRun = false }: { clients: readonly string[] | null; dryRun?: boolean },
): Promise<Removal[]> {
  refuseNewer(machine);
  const find = (receipt: Receipt) =>
    findEntries(machine, receipt).filter(({ client }) => clients === null || clients.includes(client));
  if (dryRun) return find(readReceipt(machine)).map((entry) => undoFile(machine, entry, true));
  return withLock(machine, (before) => {
    let receipt = before;
    const entries = find(receipt);
    const removals = entries.map((entry) => {
      const removal = undoFile(machine, entry, false);
      if (removal.problem === null && receipt.entries.some(({ file }) => file === entry.file)) {
        receipt = { ...receipt, entries: receipt.entries.filter(({ file }) => file !== entry.file) };
        writeReceipt(machine, receipt);
      }
      machine.log(`undid ${entry.file}`);
      return removal;
    });
    // Several files may share a folder: only now all of them are gone. An empty one would look like the agent's own.
    removeFolders([...new Set(entries.flatMap(({ folders }) => folders))].sort((a, b) => a.length - b.length));
    return removals;
  });
}

function partsByFile(parts: readonly Part[]): [file: string, parts: Part[]][] {
  const files = new Set(parts.map(({ file }) => file));
  return [...files].map((file) => [file, parts.filter((part) => part.file === file)]);
}

/** `text` and `before` are the file as it was read, null when there is none. */
function planFile(machine: Machine, client: string, file: string, parts: readonly Part[], receipt: Receipt) {
  const read = readUserFile(file);
  const earlier = receipt.entries.find((entry) => entry.file === file);
  const allParts = mergeParts(parts, earlier?.parts ?? []);
  const original = findOriginal(machine, read.text, { ...(earlier ?? UNKNOWN), parts: allParts });
  // What is there already was made by an earlier run.
  const made = new Set<string>(read.text === null ? [] : earlier?.made);
  const known = commandsOf(allParts);
  const { mark, body } = splitMark(read.text);
  const add = (text: string | null, part: Part) => kindOf(part).add(text, part, known, made);
  const after = mark + parts.reduce(add, body);
  const isKnown = read.text !== null && earlier?.states.includes(sha256(read.text)) === true;
  return {
    ...read,
    client,
    kind: read.text === null ? ("create" as const) : ("edit" as const),
    before: read.text,
    after,
    why: parts.map(({ why }) => why).join("; "),
    /** The text without memdir's parts: what is backed up. Null when there would be no file without them. */
    original,
    /** What the receipt will say about it. */
    entry: {
      client,
      file,
      before: original === null ? null : sha256(original),
      states: [...(isKnown ? (earlier?.states ?? []) : []), sha256(after)],
      parts: allParts,
      made: [...made],
    },
  };
}

/** Newer ones first; an earlier version's stay known, so that they can be removed. */
function mergeParts(parts: readonly Part[], earlier: readonly Part[]): Part[] {
  return [...new Map([...parts, ...earlier].map((part) => [JSON.stringify(part), part])).values()];
}

/** Folders are made here, so that they are in the receipt before anything is in them. */
function buildEntry(machine: Machine, { entry, file, target, original }: Change, receipt: Receipt): Entry {
  const earlier = receipt.entries.find((each) => each.file === file);
  const backup = original === null ? null : writeBackup(machine, file, original);
  const folders = [...(earlier?.folders ?? []), ...makeFolders(dirname(target), 0o700)];
  return { ...entry, at: machine.now().toISOString(), backup, folders: [...new Set(folders)] };
}

/** What is known of a file that the receipt does not name. */
const UNKNOWN = { at: "", before: "", states: [], backup: null, folders: [], made: null };

/** As much of an entry as it takes to undo it; `made` is null where any container may have been made for it. */
type Undoable = Omit<Entry, "made"> & { made: Entry["made"] | null };

/** The receipt's, and for files that it does not name what would be memdir's in them. */
function findEntries(machine: Machine, receipt: Receipt): Undoable[] {
  const named = new Set(receipt.entries.map(({ file }) => file));
  const unnamed = CLIENTS.flatMap((client) =>
    partsByFile(client.parts(machine)).flatMap(([file, parts]) =>
      named.has(file) ? [] : [{ ...UNKNOWN, client: client.name, file, parts }],
    ),
  );
  return [...receipt.entries, ...unnamed];
}

function undoFile(machine: Machine, entry: Undoable, dryRun: boolean): Removal {
  const { client, file } = entry;
  try {
    const read = readUserFile(file);
    const after = findOriginal(machine, read.text, entry);
    if (after === read.text) {
      // Also when a run was stopped between making folders and writing into them.
      if (!dryRun && read.text === null) removeFolders(entry.folders);
      return { client, file, kind: "unchanged", problem: null };
    }
    if (!dryRun && after === null) removeUserFile(read, entry.folders);
    if (!dryRun && after !== null) replaceUserFile(read, after);
    const isExact = after !== null && sha256(after) === entry.before;
    return { client, file, kind: after === null ? "removed" : isExact ? "restored" : "edited", problem: null };
  } catch (error) {
    // Nothing says that a file which the receipt does not name has anything of memdir's in it.
    const problem = entry.at === "" ? null : diskError(error, "remove memdir from", file);
    return { client, file, kind: "unchanged", problem };
  }
}

/** The text as it would be without memdir: the backup when nothing else changed since, else the text without memdir's parts. Null for no file. */
function findOriginal(machine: Machine, text: string | null, entry: Omit<Undoable, "client" | "file">): string | null {
  if (text === null) return null;
  const hash = sha256(text);
  if (hash === entry.before) return text;
  const kept = entry.backup === null ? null : readBackup(machine, entry.backup);
  const backup = kept !== null && sha256(kept) === entry.before ? kept : null;
  if (entry.states.includes(hash)) {
    if (entry.before === null) return null;
    if (backup !== null) return backup;
  }
  const left = removeParts(text, entry.parts, entry.made && new Set(entry.made), backup);
  return left !== null && entry.before === null && isEmpty(left, entry.parts) ? null : left;
}

/** Null when nothing else was in it. Throws `broken`. */
function removeParts(
  text: string,
  parts: readonly Part[],
  made: ReadonlySet<string> | null,
  original: string | null,
): string | null {
  const known = commandsOf(parts);
  const { mark, body } = splitMark(text);
  // One version of a file that is memdir's as a whole is enough.
  if (parts.some((part) => part.kind === "file" && part.text === body)) return null;
  const before = splitMark(original).body;
  const remove = (now: string | null, part: Part) => now && kindOf(part).remove(now, part, known, made, before);
  const left = parts.reduce(remove, body);
  return left === null ? null : mark + left;
}

/** Whether a file that memdir made holds nothing that others put there. */
function isEmpty(text: string, parts: readonly Part[]): boolean {
  const starts = parts.flatMap((part) => (part.kind === "value" && part.start ? [part.start] : []));
  const bare = text.replace(/\s/g, "");
  return bare === "" || bare === "{}" || starts.some((start) => bare === JSON.stringify(start));
}

function splitMark(text: string | null): { mark: string; body: string | null } {
  return text?.startsWith("\ufeff") ? { mark: "\ufeff", body: text.slice(1) } : { mark: "", body: text };
}
