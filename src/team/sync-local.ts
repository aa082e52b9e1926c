/** A directory as sync sees it: the texts that may travel, and what it remembers of the last sync. */

import { isUtf8 } from "node:buffer";
import { join } from "node:path";
import * as v from "valibot";
import { findInside, lstatOrNull, readRegular } from "../disk/fence.ts";
import { attempt } from "../errors.ts";
import { isMemoryFile, openState, quietly, type StateText, type Store, walk } from "../store/store.ts";
import { sha256 } from "../text/hash.ts";
import { findEntryProblem, foldPath, LIMITS } from "./protocol.ts";

export interface LocalTexts {
  files: Map<string, { hash: string; text: string }>;
  /** Why a path is left alone; "" where it is not worth reporting. */
  held: Map<string, string>;
}

/** `asked`: paths that the remote or the last agreement know, which must not be taken for missing when they are merely odd. */
export function readLocal(
  directory: Store,
  asked: Iterable<string>,
  mayTravel: (path: string, text: string) => string | null = () => null,
): LocalTexts {
  const local: LocalTexts = { files: new Map(), held: new Map() };
  for (const path of walk(directory.path, directory.recursive).files.filter(isMemoryFile)) {
    const read = readText(directory, path);
    if (read === null) continue;
    const problem = "problem" in read ? read.problem : mayTravel(path, read.text);
    if (problem !== null) local.held.set(path, problem);
    else if ("text" in read) local.files.set(path, { hash: sha256(read.text), text: read.text });
  }
  const known = new Set(asked);
  const others = new Map([...local.files.keys()].flatMap((path) => (known.has(path) ? [] : [[foldPath(path), path]])));
  for (const path of known) {
    if (local.files.has(path) || local.held.has(path)) continue;
    const place = isForeign(directory, path) ? null : placeOf(directory, path);
    const spelling = others.get(foldPath(path)) ?? "";
    const respelled = place === "file" ? local.files.get(spelling) : undefined;
    if (respelled) {
      // On a disk that ignores case, a file that was only spelled anew is still the one that the others know.
      local.files.delete(spelling);
      local.files.set(path, respelled);
    }
    // Another directory's, or another memory's that this disk cannot distinguish from it.
    else if (place === null || place === "file") local.held.set(path, "");
    else if (place === "odd") local.held.set(path, "something that is not a regular file is in its place");
  }
  return local;
}

type Read = { text: string } | { problem: string };

/** Null when it is gone by now. */
function readText(directory: Store, path: string): Read | null {
  const problem = findEntryProblem(path);
  if (problem) return { problem };
  let bytes: Buffer | null;
  try {
    const { path: file, stat } = findInside(directory.path, path);
    if (!stat) return null;
    if (stat.size > LIMITS.memoryBytes) return { problem: `it is larger than ${LIMITS.memoryBytes} bytes` };
    bytes = readRegular(file, { maxBytes: LIMITS.memoryBytes });
  } catch {
    return { problem: "it cannot be read" };
  }
  if (!bytes) return null;
  return isUtf8(bytes) && !bytes.includes(0)
    ? { text: bytes.toString("utf8") }
    : { problem: "it is not valid UTF-8 text" };
}

type Place = "free" | "file" | "odd";

/** "free" also when its folder is missing; "odd" for whatever cannot be read or followed. */
export function placeOf(directory: Store, path: string): Place {
  const stat = attempt(() => findInside(directory.path, path).stat, "odd");
  if (stat === undefined) return "free";
  return stat !== "odd" && stat.isFile() ? "file" : "odd";
}

/** A folder with a state folder of its own is another directory. */
function isForeign({ path: root, recursive }: Store, path: string): boolean {
  const folders = path.split("/").slice(0, -1);
  return folders.some(
    (_, at) => !recursive || lstatOrNull(join(root, ...folders.slice(0, at + 1), ".memdir")) !== null,
  );
}

const ON_PURPOSE: ReadonlySet<string> = new Set(["forget", "rename", "prune", "dream", "undo"]);

/** Which of these files the journal says were removed on purpose, with nothing later that brought them back. */
export function findIntended(directory: Store, missing: ReadonlySet<string>): Set<string> {
  const intended = new Set<string>();
  if (missing.size === 0) return intended;
  for (const { action, files } of directory.history()) {
    for (const { file, after } of files) {
      if (!missing.has(file)) continue;
      if (after === null && ON_PURPOSE.has(action)) intended.add(file);
      else intended.delete(file);
    }
  }
  return intended;
}

/** What sync itself last wrote to these files, by hash, as the journal says. */
export function findWritten(directory: Store, paths: ReadonlySet<string>): Map<string, string> {
  const written = new Map<string, string>();
  if (paths.size === 0) return written;
  const files = directory.history().flatMap(({ action, files }) => (action === "sync" ? files : []));
  for (const { file, after } of files) if (after !== null && paths.has(file)) written.set(file, after);
  return written;
}

/** What both sides had when they last agreed; who wrote it last and when is for listings (`store/authorship.ts`). */
const Agreed = v.object({
  hash: v.string(),
  revision: v.string(),
  author: v.optional(v.string()),
  at: v.optional(v.string()),
  /** The beginnings of the hashes that were agreed on before, newest first: a remote that goes back is at one of those. */
  past: v.optional(v.array(v.string())),
});
export type Agreed = v.InferOutput<typeof Agreed>;

/** Backups are a day or a week old; with more versions in between, both texts are kept instead of one being sent again. */
const MAX_PAST = 8;
const PAST_DIGITS = 16;

/** What is agreed on from here on; what was, is remembered. */
export function noteAgreed({ agreed, sent }: SyncState, path: string, now: Agreed): void {
  const before = agreed.get(path);
  const hashes = before === undefined || before.hash === now.hash ? [] : [before.hash.slice(0, PAST_DIGITS)];
  const past = [...hashes, ...(before?.past ?? [])].slice(0, MAX_PAST);
  sent.delete(path);
  agreed.set(path, past.length > 0 ? { ...now, past } : now);
}

/** Whether this directory once had the text of that hash from the remote, or the remote from here. */
export function wasAgreed({ agreed }: SyncState, path: string, hash: string): boolean {
  const { hash: last, past = [] } = agreed.get(path) ?? {};
  return hash === last || past.includes(hash.slice(0, PAST_DIGITS));
}

/** A text that does not travel, and which side's it is; by its hash it is not tried again before it is another one. */
const Refused = v.object({
  side: v.picklist(["here", "there"]),
  hash: v.string(),
  reason: v.string(),
  at: v.string(),
});

const mapOf = <T>(item: v.GenericSchema<T>) =>
  v.optional(
    v.pipe(
      v.record(v.string(), item),
      v.transform((rows) => new Map(Object.entries(rows))),
    ),
    {},
  );

const Kept = v.object({
  /** The remote that all of it is about; null before the first sync. */
  store: v.nullable(v.string()),
  agreed: mapOf(Agreed),
  /** Since when a file has been missing here, ISO. */
  absent: mapOf(v.string()),
  refused: mapOf(Refused),
  /**
   * Hashes of texts that were on their way when a pass was killed or cut off. Where the remote has such a text, it came from here,
   * and what is here now comes of it.
   */
  sent: mapOf(v.string()),
});
export type SyncState = v.InferOutput<typeof Kept>;

export function emptyState(remote: string | null = null): SyncState {
  return v.parse(Kept, { store: remote });
}

/** Empty when there is none or it cannot be read: then nothing is agreed on, and nothing can be taken for a deletion. */
export function readState({ path }: Store): SyncState {
  return readKept(path, "sync") ?? emptyState();
}

function readKept(path: string, key: string): SyncState | null {
  return openState(path)
    .record(key, (value) => v.parse(Kept, value))
    .read();
}

/** The state as it is written; an equal text need not be written again. */
export function formatState({ store, agreed, absent, refused, sent }: SyncState): string {
  const maps = { agreed, absent, refused, ...(sent.size > 0 ? { sent } : {}) };
  const byPath = ([a]: [string, unknown], [b]: [string, unknown]) => (a < b ? -1 : 1);
  const sorted = Object.entries(maps).map(([key, map]) => [key, Object.fromEntries([...map].sort(byPath))]);
  return `${JSON.stringify({ store, ...Object.fromEntries(sorted) })}\n`;
}

/** Being behind what has happened is harmless. Its time is that of the last pass, also of one that changed nothing: people are shown it. */
export function syncFile({ path }: Store): StateText {
  return openState(path).text("sync.json", { flush: true });
}

/** What was noted about a remote that is not the one of the last sync: it counts again when that one comes back. */
export function otherState({ path }: Store, id: string) {
  const key = `${OTHERS_FOLDER}/${sha256(id).slice(0, 16)}`;
  const { write } = openState(path).text(`${key}.json`, { flush: true });
  return { read: () => readKept(path, key), write: (state: SyncState) => write(formatState(state)) };
}

const OTHERS_FOLDER = "sync-stores";

/** The texts that were agreed on, for merging: some of each in one file, so that thousands of them are not thousands of files. */
export function openBaseTexts({ path }: Store) {
  const state = openState(path);
  const shards = new Map<string, Map<string, string>>();
  const changed = new Set<string>();
  const recordOf = (key: string) => state.record(`${BASE_FOLDER}/${key}`, (value) => v.parse(Texts, value));
  const shardOf = (hash: string): Map<string, string> => {
    const key = /^[0-9a-f]{64}$/.test(hash) ? hash.slice(0, 2) : "other";
    const shard = shards.get(key) ?? new Map(Object.entries(recordOf(key).read() ?? {}));
    shards.set(key, shard);
    return shard;
  };
  return {
    /** Null when it was lost: then there is nothing to merge with. */
    find(hash: string): string | null {
      const text = shardOf(hash).get(hash);
      return text !== undefined && sha256(text) === hash ? text : null;
    },
    /** The text must be that of the hash: whoever has both has made sure of it, and `find` looks again. */
    keep(hash: string, text: string): void {
      const shard = shardOf(hash);
      if (shard.has(hash)) return;
      shard.set(hash, text);
      changed.add(hash.slice(0, 2));
    },
    /** Before the state that names them is saved. */
    save(): void {
      for (const key of changed) recordOf(key).write(Object.fromEntries(shards.get(key) ?? []));
      changed.clear();
    },
    /** Removes those that neither an agreement nor anything on its way names; `before` are those that were named at the start. */
    sweep(before: ReadonlySet<string>, needed: ReadonlySet<string>): void {
      for (const hash of before) if (!needed.has(hash)) shardOf(hash);
      for (const [key, shard] of shards)
        for (const hash of shard.keys()) if (!needed.has(hash) && shard.delete(hash)) changed.add(key);
      quietly(this.save);
      // Earlier versions had a file for each text.
      for (const key of state.keys(BASE_FOLDER, "")) if (!key.endsWith(".json")) quietly(state.text(key).remove);
    },
  };
}

const BASE_FOLDER = "sync-base";
const Texts = v.record(v.string(), v.string());

/** The hashes of the texts that a later merge may need, with this remote or with another one. */
export function neededTexts({ path }: Store, current: SyncState): Set<string> {
  const others = openState(path)
    .keys(OTHERS_FOLDER)
    .flatMap((key) => readKept(path, key) ?? []);
  return new Set(
    [current, ...others].flatMap(({ agreed, sent }) => [
      ...[...agreed.values()].map(({ hash }) => hash),
      ...sent.values(),
    ]),
  );
}
