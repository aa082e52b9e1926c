/** What memdir remembers beside the memories, under `.memdir/` or in a folder like it: small records, logs and locks. */

import {
  accessSync,
  closeSync,
  constants,
  fstatSync,
  readdirSync,
  renameSync,
  rmSync,
  type Stats,
  utimesSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import {
  appendLines,
  findAtEnd,
  loadNative,
  moveInto,
  type Native,
  openRegular,
  PRIVATE_MODE,
  readRegularText,
  removeQuietly,
  writeTemporary,
} from "../disk/fence.ts";
import { acquireLock, tryLock } from "../disk/turns.ts";
import { attempt, diskError, onDisk } from "../errors.ts";
import { hashOf } from "../text/hash.ts";
import { type Base, findFolder, inFolder, look, notOurs, openFolder } from "./directory.ts";
import { FILE_HEAD_BYTES } from "./row-cache.ts";

/**
 * Files are the user's alone, hidden from git and whole for every reader. Symbolic links are refused wherever they are. Reading
 * never throws. Writing throws a MemdirError that names the file and what to do; `quietly` is for hooks, which must not fail.
 */
export interface State {
  /** `<key>.json`; `key` may name a folder, `inbox/0123abcd`. `parse` gives null for what is not such a value. */
  record<T>(key: string, parse: (value: unknown) => T | null, options?: RecordOptions): StateRecord<T>;
  /** The records in a folder; with another ending, or none, its other files. */
  keys(folder: string, ending?: string): string[];
  /** A file that is not JSON. */
  text(name: string, options?: RecordOptions): StateText;
  log<T>(name: LogName, parse: (value: unknown) => T | null): StateLog<T>;
  lock(name: string, native?: Native | null): StateLock;
  /** Everything at the top of the folder and what killed writers left behind, for `doctor`; throws when the folder is a link. */
  list(): Kept[];
}

export interface RecordOptions {
  /** What is larger was not written by us, and is not read. */
  maxBytes?: number;
  /** On the disk when `write` returns: for what cannot be made again. */
  flush?: boolean;
}

export interface StateRecord<T> {
  /** Null when there is none, or none that can be read; then `broken` is called with the reason. */
  read(broken?: (why: string) => void): T | null;
  /** Replaces it in one step. Of a folder with a cap, the oldest records beyond it are removed. */
  write(value: T): void;
  remove(): void;
}

export interface StateText {
  read(broken?: (why: string) => void): string | null;
  write(text: string): void;
  remove(): void;
  /** When it was last written or touched; null when it is not there. */
  time(): Date | null;
  touch(at: Date): void;
}

/** One holder at a time on this machine. It ends with the process that holds it, and leaves no file behind. */
export interface StateLock {
  /** Gives the function that releases it, or null while it is held. */
  try(): (() => void) | null;
  /** Removes what a killed holder left behind; one that lives keeps it. */
  clear(): void;
  wait(options?: { timeoutMs?: number; signal?: AbortSignal }): Promise<() => void>;
}

export interface Kept {
  name: string;
  kind: ReturnType<typeof kindOf>;
  stat: Stats;
  /** Of a cache: what is shorter cannot be read; null when it is JSON. */
  minBytes: number | null;
}

/** More than any record has. */
const MAX_BYTES = 16 << 20;
/** A holder that releases it just now removes its file under us: then it is free, and worth another attempt. */
const LOCK_ATTEMPTS = 3;

/** The state of a memory directory. With `parents` the directory itself is made when something is written. */
export function openState(directory: string, { parents = false } = {}): State {
  return openStateIn(join(directory, ".memdir"), parents);
}

/** State in any folder of memdir's own. */
export function openStateIn(path: string, parents = false): State {
  const base = { path, parents };
  const text: State["text"] = (name, options) => openText(base, name, options);
  const lock: State["lock"] = (name, native) => openLock(base, name, native);
  return {
    text,
    lock,
    record: (key, parse, options) => openRecord(text(`${key}.json`, options), parse),
    keys: (folder, ending = ".json") =>
      namesIn(base, partsOf(folder)).flatMap((name) =>
        name.endsWith(ending) && kindOf(name) !== "temporary" ? [`${folder}/${basename(name, ending)}`] : [],
      ),
    log: (name, parse) => openLog(base, name, KEPT[name].cap, parse, () => lock(`${name}.lock`).try()),
    list() {
      findFolder(base, []);
      return namesIn(base, []).flatMap((name) => {
        const kept = keptAs(base, name);
        // What killed writers left in the folders of records.
        const inside = kept[0]?.kind === "records" ? namesIn(base, [name]).map((each) => `${name}/${each}`) : [];
        return [...kept, ...inside.flatMap((each) => keptAs(base, each).filter(({ kind }) => kind === "temporary"))];
      });
    },
  };
}

function keptAs(base: Base, name: string): Kept[] {
  const stat = look(join(base.path, name));
  const known: KeptFile | undefined = KEPT[name as keyof typeof KEPT];
  return stat ? [{ name, kind: kindOf(name), stat, minBytes: known?.minBytes ?? null }] : [];
}

function namesIn(base: Base, folders: string[]): string[] {
  return attempt(() => {
    const folder = findFolder(base, folders);
    return folder === null ? [] : readdirSync(folder);
  }, []);
}

/** Whether it was done: for what is only a convenience, in hooks that must not fail. */
export function quietly(work: () => void): boolean {
  return attempt(() => {
    work();
    return true;
  }, false);
}

/** A session is called what its host likes: only a hash of it becomes a file name, a cheap one as hooks have little time. */
export function sessionKey(session: string): string {
  return `${hashOf(session).toString(36)}-${session.length}`;
}

function openRecord<T>(file: StateText, parse: (value: unknown) => T | null): StateRecord<T> {
  return {
    read(broken) {
      const text = file.read(broken);
      if (text === null) return null;
      const value = attempt(() => parse(JSON.parse(text)), null);
      if (value === null) broken?.("it is not what is kept there");
      return value;
    },
    write: (value) => file.write(`${JSON.stringify(value)}\n`),
    remove: file.remove,
  };
}

function openText(base: Base, path: string, { maxBytes = MAX_BYTES, flush = false }: RecordOptions = {}): StateText {
  const folders = partsOf(path);
  const name = folders.pop() as string;
  const cap = capOf(folders[0]);
  const shown = join(base.path, path);
  const find = () => {
    const folder = findFolder(base, folders);
    return folder === null ? null : join(folder, name);
  };
  return {
    read(broken) {
      try {
        const file = find();
        // Looked for first: an error takes far longer to make than an answer.
        if (file === null || !look(file)) return null;
        const text = readRegularText(file, maxBytes);
        if (text === null) broken?.("it is not a regular file, or too large");
        return text;
      } catch (error) {
        broken?.(diskError(error, "read", shown).message);
        return null;
      }
    },
    write(text) {
      onDisk("write", shown, () => {
        inFolder(base, folders, (folder) => {
          const file = join(folder, name);
          const isNew = cap !== undefined && !look(file);
          const temporary = writeTemporary(folder, text, PRIVATE_MODE, TEMPORARY_KIND, flush);
          moveInto(temporary, file, flush);
          if (isNew) sweep(folder, cap, name);
        });
      });
    },
    remove() {
      onDisk("remove", shown, () => {
        if (look(find() ?? "")) inFolder(base, folders, (folder) => rmSync(join(folder, name), { force: true }));
      });
    },
    time: () => attempt(() => look(find() ?? "")?.mtime ?? null, null),
    touch: (at) =>
      void quietly(() => {
        if (look(find() ?? "")?.isFile()) inFolder(base, folders, (folder) => utimesSync(join(folder, name), at, at));
      }),
  };
}

function capOf(folder: string | undefined): number | undefined {
  const kept: KeptFile | undefined = folder === undefined ? undefined : KEPT[folder as keyof typeof KEPT];
  return kept?.kind === "records" ? kept.cap : undefined;
}

/** The older half goes, so that this is not done for every new record. What a killed writer left behind is among the oldest. */
function sweep(folder: string, cap: number, fresh: string): void {
  const names = readdirSync(folder);
  if (names.length <= cap) return;
  const byAge = names
    .flatMap((name) => (name === fresh ? [] : [{ name, ms: look(join(folder, name))?.mtimeMs ?? 0 }]))
    .sort((a, b) => a.ms - b.ms);
  for (const { name } of byAge.slice(0, names.length - cap / 2)) removeQuietly(join(folder, name));
}

function openLock(base: Base, name: string, native?: Native | null): StateLock {
  const held = (path: string, release: () => void, close: () => void) => {
    let done = false;
    return () => {
      if (done) return;
      done = true;
      // While it is still held: whoever has it open already sees that it is gone, and locks nothing with it.
      removeQuietly(path);
      release();
      close();
    };
  };
  const open = () => {
    const folder = openFolder(base, partsOf(name).slice(0, -1));
    return { ...folder, file: join(folder.path, basename(name)) };
  };
  const failed = (error: unknown) => diskError(error, "lock", join(base.path, name));
  return {
    try() {
      try {
        const { file, close } = open();
        let lock: ReturnType<typeof tryLock> = null;
        try {
          for (let i = 0; i < LOCK_ATTEMPTS && !lock; i++)
            lock = tryLock(file, native === undefined ? loadNative() : native);
        } finally {
          if (!lock) close();
        }
        return lock && held(file, lock.release, close);
      } catch (error) {
        throw failed(error);
      }
    },
    clear() {
      const file = join(base.path, name);
      quietly(() => {
        if (look(file) || look(`${file}.pid`)) this.try()?.();
      });
    },
    async wait(options = {}) {
      let close = () => {};
      try {
        const folder = open();
        close = folder.close;
        const named = { name: join(base.path, dirname(name)), file: basename(name) };
        const lock = await acquireLock(folder.path, {
          ...options,
          ...named,
          ...(native === undefined ? {} : { native }),
        });
        return held(folder.file, lock.release, close);
      } catch (error) {
        close();
        throw failed(error);
      }
    },
  };
}

/** Names are memdir's own, or made from hashes: anything else is a mistake in the program. */
function partsOf(path: string): string[] {
  const parts = path.split("/");
  if (parts.some((part) => !/^(?:\w|\.new-)[\w.-]*$/.test(part)))
    throw new Error(`${JSON.stringify(path)} is not a name for state`);
  return parts;
}

// --- What is kept in a state folder, by name, and how much of it: `docs/format.md` shows the same table.

export interface KeptFile {
  kind: "record" | "records" | "log" | "cache" | "lock" | "store";
  /** Logs: the older half goes beyond as many bytes. Records of a folder: the older half goes beyond as many files. */
  cap?: number;
  /** Of a cache that is not JSON: what is shorter cannot be read. */
  minBytes?: number;
}

/**
 * The journal, its images and the index's base belong to the store itself, which caps and repairs them; everything else goes
 * through `state.ts`. A session ends without telling anybody, so what is kept for each needs a cap.
 */
export const KEPT = {
  "journal.jsonl": { kind: "store" },
  images: { kind: "store" },
  "index.base": { kind: "store" },
  tmp: { kind: "store" },
  ".gitignore": { kind: "store" },
  lock: { kind: "lock" },
  "sync.lock": { kind: "lock" },
  // Thousands of memories; read by recall, which has no time to check the code.
  "verdicts.json": { kind: "cache" },
  "authors.json": { kind: "cache" },
  // At least its head.
  "rows.bin": { kind: "cache", minBytes: FILE_HEAD_BYTES },
  "project.json": { kind: "record" },
  "mirror.json": { kind: "record" },
  "attributes.json": { kind: "record" },
  "sync.json": { kind: "record" },
  "dream-scan": { kind: "record" },
  "dream-plan.json": { kind: "record" },
  "review-skipped.json": { kind: "record" },
  "cues.json": { kind: "record" },
  "consolidate-lock": { kind: "record" },
  "sync-base": { kind: "records" },
  // A directory has one remote, or two that it is synced with in turn.
  "sync-stores": { kind: "records", cap: 4 },
  // As many as a person looks through; the inbox itself drops the least trusted first.
  inbox: { kind: "records" },
  surfaced: { kind: "records", cap: 64 },
  prefetch: { kind: "records", cap: 64 },
  // A session whose cursor is gone is looked through again from its beginning: only for sessions of long ago.
  cursors: { kind: "records", cap: 2000 },
  // Some hundred thousand background calls: years of use, read in a fraction of a second.
  "ledger.jsonl": { kind: "log", cap: 32 << 20 },
  // Some five thousand recalls: months of work.
  "surfaced.jsonl": { kind: "log", cap: 1 << 20 },
  // Some twenty thousand rejections; older ones may be proposed again.
  "inbox/rejected.jsonl": { kind: "log", cap: 2 << 20 },
  // In the user's cache folder: what matters is that there are any, and the last ones.
  "faults.jsonl": { kind: "log", cap: 64 * 1024 },
} as const satisfies Record<string, KeptFile>;

export type LogName = {
  [Name in keyof typeof KEPT]: (typeof KEPT)[Name]["kind"] extends "log" ? Name : never;
}[keyof typeof KEPT];

/** Null for what is not known. Locks have a file beside them with the holder's number; one of an extraction bears a hash. */
export function kindOf(name: string): KeptFile["kind"] | "temporary" | null {
  if (Object.hasOwn(KEPT, name)) return KEPT[name as keyof typeof KEPT].kind;
  if (TEMPORARY.test(name)) return "temporary";
  if (/^extract-[0-9a-f]{16}$|\.pid$|\.lock$/.test(name)) return "lock";
  return name.endsWith(".jsonl.1") ? "log" : null;
}

/** How files are called that are on their way into place. */
const TEMPORARY_KIND = ".new";
/** The last two are names that earlier versions used. */
const TEMPORARY = /(?:^|\/)\.new-\d+-|\.pid\.clear$|^surfaced\.jsonl\.new$|\.json\.\d+$/;

// --- A log of JSON lines that several processes append to. When it has half its cap, it becomes `<name>.1` in place of the
// one before: a rename, so that a line which another process is just appending is not lost.

export interface StateLog<T> {
  /** One write for all of them. With `flush` they are on the disk when this returns. Throws when they are not written. */
  append(values: readonly unknown[], options?: { flush?: boolean }): void;
  /** Oldest first; what is not a whole line with such a value is passed over. */
  read(broken?: (why: string) => void): T[];
  /**
   * Like `read`, of more and more of the end until `isEnough` says so of it: lines of several processes are not quite in order.
   * Lines that do not contain `mark` are not parsed.
   */
  tail(options: TailOptions<T>): T[];
  /** Throws when nothing could be appended. Makes nothing. */
  check(): void;
}

interface TailOptions<T> {
  isEnough?: (values: readonly T[]) => boolean;
  mark?: string;
  broken?: (why: string) => void;
}

/** A thousand lines or so: a day is nearly always in one read. */
const CHUNK_BYTES = 256 * 1024;

/** `lock` is asked for when the log is renamed: two processes that do so at once would lose half of it. */
function openLog<T>(
  base: Base,
  path: string,
  cap: number,
  parse: (value: unknown) => T | null,
  lock: () => (() => void) | null,
): StateLog<T> {
  const folders = dirname(path) === "." ? [] : [dirname(path)];
  const name = basename(path);
  const shown = join(base.path, path);

  const rotate = () => {
    const release = lock();
    if (!release) return;
    try {
      inFolder(base, folders, (folder) => {
        const file = join(folder, name);
        if ((look(file)?.size ?? 0) > cap / 2) renameSync(file, `${file}.1`);
      });
    } finally {
      release();
    }
  };
  const tail: StateLog<T>["tail"] = ({ isEnough, mark = "", broken }) => {
    const isDone = (values: readonly T[]) => values.length > 0 && isEnough?.(values) === true;
    const find = (text: string, isAll: boolean) => {
      const values = text.split("\n").flatMap((line) => (line.includes(mark) ? parseLine(line, parse) : []));
      return isAll || isDone(values) ? values : null;
    };
    let found: T[] = [];
    try {
      const folder = findFolder(base, folders);
      const opened = folder === null ? [] : openBoth(join(folder, name));
      const sizes = { bytes: isEnough ? CHUNK_BYTES : cap, maxBytes: cap };
      try {
        for (const file of opened) if (!isDone(found)) found = [...(findAtEnd(file, sizes, find) ?? []), ...found];
      } finally {
        for (const { fd } of opened) closeSync(fd);
      }
    } catch (error) {
      broken?.(diskError(error, "read", shown).message);
    }
    return found;
  };

  return {
    append(values, { flush = false } = {}) {
      const lines = values.map((value) => `${JSON.stringify(value)}\n`).join("");
      const add = (folder: string) => {
        refuseOthers(join(folder, name), shown);
        return appendLines(join(folder, name), lines, { flush });
      };
      const size = onDisk("write", shown, () => inFolder(base, folders, add));
      // Should it fail, the lines are written all the same, and the next one tries again.
      if (size > cap / 2) attempt(rotate, undefined);
    },
    read: (broken) => tail(broken ? { broken } : {}),
    tail,
    check() {
      return onDisk("write", shown, () => {
        const folder = findFolder(base, folders);
        if (folder === null) return;
        accessSync(folder, constants.W_OK);
        refuseOthers(join(folder, name), shown);
        if (look(join(folder, name))) accessSync(join(folder, name), constants.W_OK);
      });
    },
  };
}

/** Also where the system cannot be asked to open no links. */
function refuseOthers(file: string, shown: string): void {
  if (look(file)?.isFile() === false) throw notOurs(shown);
}

/** The log and the one before it. If it was renamed between the two calls, both are the same file: then once more. */
function openBoth(file: string, attempts = 3): { fd: number; size: number }[] {
  const opened = [file, `${file}.1`].flatMap((each) => openRegular(each) ?? []);
  const [now, before] = opened.map(({ fd }) => fstatSync(fd));
  if (attempts === 0 || !now || !before || now.ino !== before.ino || now.dev !== before.dev) return opened;
  for (const { fd } of opened) closeSync(fd);
  return openBoth(file, attempts - 1);
}

/** Nothing for what is no value: torn by a power cut, of a later version, or edited by hand. */
function parseLine<T>(line: string, parse: (value: unknown) => T | null): T[] {
  if (!line.includes("{")) return [];
  const value = attempt(() => parse(JSON.parse(line.replace(/^\uFEFF/, ""))), null);
  return value === null ? [] : [value];
}
