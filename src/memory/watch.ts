/** A directory of memories, watched: what changes on disk is noticed, whoever changes it. */

import { type FSWatcher, readdirSync, type Stats, watch as watchFolder } from "node:fs";
import { join, sep } from "node:path";
import { lstatOrNull, statOrNull } from "../disk/fence.ts";
import { attempt } from "../errors.ts";

interface WatchOptions {
  path: string;
  /** Subfolders can contain memories too. */
  recursive: boolean;
  /** Called at most once in a while, however much changes. */
  onChange: () => void;
  /** The same where only the log of recalls grew: nothing else has changed. */
  onRecall?: () => void;
  /** Which files count, by their paths below the directory. Default: memories, the index, and the parts of our own state that are shown. */
  isWanted?: (file: string) => boolean;
  log: (message: string) => void;
  /** Null: only compare. */
  watch?: typeof watchFolder | null;
  settleMs?: number;
  pollMs?: number;
}

/** How it is watched, for tests and for systems that report no events. */
export type Watching = Pick<WatchOptions, "watch" | "settleMs" | "pollMs">;

/** One change of ours is several files, renamed one after the other within milliseconds. */
const SETTLE_MS = 150;
/** If the system reports no events, a save in an editor shows up after a moment. */
const LOOK_MS = 2000;
/** Memories are in one or a few folders; more are something else, and watchers are scarce. */
const MAX_FOLDERS = 256;
const STATE_FOLDER = ".memdir";
/** The parts of our own state that are shown: changes, proposals and verdicts. The rest are caches and locks. */
const RECALLS = `${STATE_FOLDER}/surfaced.jsonl`;
const SHOWN_STATE = /^(?:journal\.jsonl|verdicts\.json|inbox(?:[./\\].*)?)$/;

/** Never throws. The directory need not exist yet. */
export function watchDirectory(options: WatchOptions): { close(): void } {
  const {
    path,
    recursive,
    onChange,
    onRecall,
    isWanted = isShown,
    log,
    watch = watchFolder,
    settleMs = SETTLE_MS,
    pollMs = LOOK_MS,
  } = options;
  const watchers = new Map<string, FSWatcher>();
  let isBlind = watch === null;
  let settling: NodeJS.Timeout | null = null;
  let recalling: NodeJS.Timeout | null = null;
  let root: Stats | null = null;
  let print: string | null = null;

  const noteRecall = () => {
    recalling ??= setTimeout(() => {
      recalling = null;
      onRecall?.();
    }, settleMs).unref();
  };
  const note = () => {
    settling ??= setTimeout(() => {
      look();
      settling = null;
      onChange();
    }, settleMs).unref();
  };
  const drop = (isDropped: (folder: string) => boolean) => {
    for (const [folder, watcher] of watchers) {
      if (!isDropped(folder)) continue;
      watcher.close();
      watchers.delete(folder);
    }
  };
  const add = (folder: string) => {
    if (watchers.has(folder) || isBlind || watch === null) return;
    try {
      const watcher = watch(folder, { persistent: false }, (_, name) => {
        const file = name === null ? null : relativeTo(path, join(folder, String(name)));
        if (file === RECALLS) noteRecall();
        else if (file === null || isWanted(file)) note();
      });
      watcher.on("error", () => drop((each) => each === folder));
      watchers.set(folder, watcher);
    } catch (error) {
      const { code = "" } = error as NodeJS.ErrnoException;
      if (code === "ENOENT" || code === "ENOTDIR") return;
      log(`${folder} cannot be watched (${code}); it is checked every ${pollMs} ms instead`);
      isBlind = true;
      drop(() => true);
    }
  };
  /** Updates the watchers; if nothing can be watched, compares the files with their earlier state. */
  const look = () => {
    const before = root?.ino;
    // The directory itself may be a link, if the user wants it so.
    root = statOrNull(path);
    const folders = root ? listFolders(path, recursive) : [];
    // A folder that was moved away and created again has another inode, and its watcher no longer sees anything.
    drop((folder) => root?.ino !== before || !folders.includes(folder));
    for (const folder of folders) add(folder);
    const next = isBlind ? fingerprint(path, folders, isWanted) : `${root?.ino} ${folders.length}`;
    if (print !== null && next !== print) note();
    print = next;
  };

  look();
  const timer = setInterval(look, pollMs).unref();
  return {
    close() {
      clearInterval(timer);
      clearTimeout(settling ?? undefined);
      clearTimeout(recalling ?? undefined);
      drop(() => true);
    },
  };
}

function isShown(file: string): boolean {
  const [first = "", ...rest] = file.split("/");
  // An event of the folder itself means nothing.
  return first === STATE_FOLDER ? SHOWN_STATE.test(rest.join("/")) : true;
}

function relativeTo(root: string, file: string): string {
  return file.slice(root.length + 1).replaceAll(sep, "/");
}

/** The directory, its folders, and the parts of our state that are shown. Links are not followed. */
function listFolders(root: string, recursive: boolean): string[] {
  const found = [root];
  for (let at = 0; at < found.length && found.length < MAX_FOLDERS; at++) {
    const folder = found[at] as string;
    const isState = folder.startsWith(join(root, STATE_FOLDER));
    for (const entry of attempt(() => readdirSync(folder, { withFileTypes: true }), [])) {
      if (!entry.isDirectory()) continue;
      const isOwn = folder === root && entry.name === STATE_FOLDER;
      const isHidden = entry.name.startsWith(".");
      if (isOwn || (isState ? entry.name === "inbox" : recursive && !isHidden)) found.push(join(folder, entry.name));
    }
  }
  return found.slice(0, MAX_FOLDERS);
}

/** Names, sizes and times of everything that is shown. */
function fingerprint(root: string, folders: readonly string[], isWanted: (file: string) => boolean): string {
  const files = folders.flatMap((folder) => attempt(() => readdirSync(folder), []).map((name) => join(folder, name)));
  const shown = files.filter((file) => isWanted(relativeTo(root, file)));
  return shown
    .map((file) => {
      const stat = lstatOrNull(file);
      return `${file} ${stat?.isDirectory() ? "" : `${stat?.size} ${stat?.mtimeMs}`}`;
    })
    .join("\n");
}
