/** Whether something changes in a directory of memories: told by the system where it can, looked for every other second where not. */

import { type FSWatcher, watch as watchFolder } from "node:fs";
import { lstat, readdir, stat as statPath } from "node:fs/promises";
import { join, sep } from "node:path";

export interface WatchOptions {
  path: string;
  /** Sub-folders hold memories too. */
  recursive: boolean;
  /** Told at most once in a while, however much changes. */
  onChange: () => void;
  log: (message: string) => void;
  /** Whether one watcher sees a whole tree. Linux has one for each folder. */
  seesTree?: boolean;
  /** Null: only look. */
  watch?: typeof watchFolder | null;
  settleMs?: number;
  lookMs?: number;
}

/** A change of ours is several files, renamed one after the other within a few milliseconds. */
const SETTLE_MS = 150;
/** Where the system tells nothing, a person who saves in an editor sees it after a breath. */
const LOOK_MS = 2000;
/** Memories lie flat or in a few folders; more is something else, and watchers are scarce. */
const MAX_FOLDERS = 256;
const STATE_FOLDER = ".memdir";
/** What of our own state the page shows: changes, proposals that wait, verdicts. All else there is caches and locks. */
const SHOWN_STATE = /^(?:journal\.jsonl|verdicts\.json|inbox(?:[./\\].*)?)$/;

/** Ends with `close`; never throws. The directory need not exist yet. */
export function watchDirectory(options: WatchOptions): { close(): void } {
  const { path, recursive, onChange, log, settleMs = SETTLE_MS, lookMs = LOOK_MS } = options;
  const { seesTree = process.platform === "darwin" || process.platform === "win32", watch = watchFolder } = options;
  const watchers = new Map<string, FSWatcher>();
  let isClosed = false;
  let isBlind = watch === null;
  let settling: NodeJS.Timeout | null = null;
  let looking: Promise<void> = Promise.resolve();
  let isWaiting = false;
  let print = "";

  const note = () => {
    settling ??= setTimeout(() => {
      settling = null;
      onChange();
    }, settleMs).unref();
  };
  const drop = () => {
    for (const watcher of watchers.values()) watcher.close();
    watchers.clear();
  };
  const add = (folder: string, deep: boolean) => {
    if (watchers.has(folder) || isBlind || isClosed || watch === null) return;
    try {
      const watcher = watch(folder, { recursive: deep, persistent: false }, (kind, name) => {
        const file = name === null ? null : relativeTo(path, join(folder, String(name)));
        if (file !== null && !isShown(file)) return;
        note();
        if (kind === "rename" && !deep) look();
      });
      watcher.on("error", () => {
        watcher.close();
        watchers.delete(folder);
      });
      watchers.set(folder, watcher);
    } catch (error) {
      const { code = "" } = error as NodeJS.ErrnoException;
      if (code === "ENOENT" || code === "ENOTDIR") return;
      log(`the page: ${folder} cannot be watched (${code}), so it is looked at every ${lookMs} ms`);
      isBlind = true;
      drop();
    }
  };
  /** Brings the watchers up to what is there; where nothing can be watched, compares what is there with what was. */
  const lookNow = async () => {
    // The directory itself may be a link, by the user's choice.
    const root = await statPath(path).catch(() => null);
    const folders = root ? await listFolders(path, recursive) : [];
    if (isClosed) return;
    if (seesTree && !isBlind && root) add(path, recursive);
    if (seesTree && !isBlind && root && !recursive) add(join(path, STATE_FOLDER), true);
    if (!seesTree && !isBlind) for (const folder of folders) add(folder, false);
    for (const [folder, watcher] of watchers) {
      if (folders.includes(folder)) continue;
      watcher.close();
      watchers.delete(folder);
    }
    // A folder that was moved away and made anew has another number, and its watcher hears nothing more.
    const next = isBlind ? await fingerprint(path, folders) : `${root?.ino ?? 0} ${folders.length}`;
    if (isClosed || next === print) return;
    const isFirst = print === "";
    if (!isBlind && !isFirst && next.split(" ")[0] !== print.split(" ")[0]) {
      drop();
      look();
    }
    print = next;
    if (!isFirst) note();
  };
  /** One at a time, and one more behind it, however many ask. */
  const look = () => {
    if (isWaiting || isClosed) return;
    isWaiting = true;
    looking = looking
      .then(() => {
        isWaiting = false;
        return isClosed ? undefined : lookNow();
      })
      .catch((error: Error) => log(`the page: ${error.message}`));
  };

  look();
  const timer = setInterval(look, lookMs).unref();
  return {
    close() {
      isClosed = true;
      clearInterval(timer);
      if (settling) clearTimeout(settling);
      drop();
    },
  };
}

function isShown(file: string): boolean {
  const [first = "", ...rest] = file.split("/");
  // The folder itself, when something in it comes or goes, says nothing.
  return first === STATE_FOLDER ? SHOWN_STATE.test(rest.join("/")) : true;
}

function relativeTo(root: string, file: string): string {
  return file.slice(root.length + 1).replaceAll(sep, "/");
}

/** The directory, its folders, and of our state those that are shown. Links are not followed. */
async function listFolders(root: string, recursive: boolean): Promise<string[]> {
  const found = [root];
  for (let at = 0; at < found.length && found.length < MAX_FOLDERS; at++) {
    const folder = found[at] as string;
    const isState = folder.startsWith(join(root, STATE_FOLDER));
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      if (!entry.isDirectory()) continue;
      const isOwn = folder === root && entry.name === STATE_FOLDER;
      const isHidden = entry.name.startsWith(".");
      if (isOwn || (isState ? entry.name === "inbox" : recursive && !isHidden)) found.push(join(folder, entry.name));
    }
  }
  return found.slice(0, MAX_FOLDERS);
}

/** Names, sizes and times of everything that is shown. */
async function fingerprint(root: string, folders: readonly string[]): Promise<string> {
  const lines = await Promise.all(
    folders.map(async (folder) => {
      const names = await readdir(folder).catch(() => []);
      const shown = names.filter((name) => isShown(relativeTo(root, join(folder, name))));
      const stats = await Promise.all(shown.map((name) => lstat(join(folder, name)).catch(() => null)));
      return stats.map((stat, i) => `${shown[i]} ${stat?.isDirectory() ? "" : `${stat?.size} ${stat?.mtimeMs}`}`);
    }),
  );
  return `0 ${lines.flat().join("\n")}`;
}
