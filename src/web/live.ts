/** Server-sent events for the page: changes in the watched directories and the progress of jobs. */

import { type FSWatcher, watch as watchFolder } from "node:fs";
import { lstat, readdir, stat as statPath } from "node:fs/promises";
import { join, sep } from "node:path";
import type { Store } from "../store/store.ts";
import type { World } from "../world.ts";
import type { Job, LiveEvent } from "./api.ts";

interface LiveOptions extends Pick<World, "log"> {
  /** Called before a change is sent. */
  onChange?: () => void;
  /** For the greeting. */
  jobs: () => Job[];
  heartbeatMs?: number;
  watching?: Watching | undefined;
}

export type Watching = Pick<WatchOptions, "seesTree" | "watch" | "settleMs" | "pollMs">;

export interface Live {
  /** A stream for one tab, which cancels it to leave; null if there are too many. */
  join(session: string): ReadableStream<Uint8Array> | null;
  tell(event: LiveEvent): void;
  close(): void;
}

interface Client {
  session: string;
  stream: ReadableStreamDefaultController<Uint8Array>;
}

/** A browser opens six connections to one host; two fewer streams always leave one for requests. */
const MAX_OF_SESSION = 4;
const MAX_CLIENTS = 32;
/** A tab that has not read this many messages is asleep or closed; it reconnects when it wakes. */
const MAX_WAITING = 256;
/** Soon enough to notice a closed tab. */
const HEARTBEAT_MS = 15_000;
/** How long a browser waits before it reconnects. */
const RETRY_MS = 1000;

export function openLive(
  directories: readonly Pick<Store, "path" | "recursive">[],
  { onChange, jobs, log, heartbeatMs = HEARTBEAT_MS, watching = {} }: LiveOptions,
): Live {
  const clients = new Set<Client>();
  const encoder = new TextEncoder();
  const leave = (client: Client) => {
    if (!clients.delete(client)) return;
    try {
      client.stream.close();
    } catch {
      // The other side cancelled it.
    }
  };
  const send = (client: Client, text: string) => {
    if ((client.stream.desiredSize ?? 0) <= 0) leave(client);
    else client.stream.enqueue(encoder.encode(text));
  };
  const tell = (event: LiveEvent) => {
    for (const client of [...clients]) send(client, format(event));
  };
  const note = (directory: number) => {
    onChange?.();
    tell({ kind: "changed", directory });
  };
  const watched = directories.map(({ path, recursive }, directory) =>
    watchDirectory({ ...watching, path, recursive, log, onChange: () => note(directory) }),
  );
  const beat = setInterval(() => {
    for (const client of [...clients]) send(client, ":\n\n");
  }, heartbeatMs).unref();
  let isClosed = false;

  return {
    join(session) {
      const own = [...clients].filter((client) => client.session === session).length;
      if (isClosed || own >= MAX_OF_SESSION || clients.size >= MAX_CLIENTS) return null;
      let client: Client | null = null;
      return new ReadableStream<Uint8Array>(
        {
          start(stream) {
            client = { session, stream };
            clients.add(client);
            send(client, `retry: ${RETRY_MS}\n\n${format({ kind: "hello", jobs: jobs() })}`);
          },
          cancel() {
            if (client) leave(client);
          },
        },
        new CountQueuingStrategy({ highWaterMark: MAX_WAITING }),
      );
    },
    tell,
    close() {
      isClosed = true;
      clearInterval(beat);
      for (const each of watched) each.close();
      for (const client of [...clients]) leave(client);
    },
  };
}

/** JSON has no line breaks, so one line is enough. */
function format(event: LiveEvent): string {
  return `data: ${JSON.stringify(event)}\n\n`;
}

interface WatchOptions {
  path: string;
  /** Subfolders can contain memories too. */
  recursive: boolean;
  /** Called at most once in a while, however much changes. */
  onChange: () => void;
  log: World["log"];
  /** Whether one watcher sees a whole tree. Linux has one for each folder. */
  seesTree?: boolean;
  /** Null: only compare. */
  watch?: typeof watchFolder | null;
  settleMs?: number;
  pollMs?: number;
}

/** One change of ours is several files, renamed one after the other within milliseconds. */
const SETTLE_MS = 150;
/** If the system reports no events, a save in an editor shows up after a moment. */
const LOOK_MS = 2000;
/** Memories are in one or a few folders; more are something else, and watchers are scarce. */
const MAX_FOLDERS = 256;
const STATE_FOLDER = ".memdir";
/** The parts of our own state that the page shows: changes, proposals and verdicts. The rest are caches and locks. */
const SHOWN_STATE = /^(?:journal\.jsonl|verdicts\.json|inbox(?:[./\\].*)?)$/;

/** Never throws. The directory need not exist yet. */
export function watchDirectory(options: WatchOptions): { close(): void } {
  const { path, recursive, onChange, log, settleMs = SETTLE_MS, pollMs = LOOK_MS } = options;
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
      log(`the page: ${folder} cannot be watched (${code}); it is checked every ${pollMs} ms instead`);
      isBlind = true;
      drop();
    }
  };
  /** Updates the watchers; if nothing can be watched, compares the files with their earlier state. */
  const lookNow = async () => {
    // The directory itself may be a link, if the user wants it so.
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
    // A folder that was moved away and created again has another inode, and its watcher no longer sees anything.
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
  /** One at a time, and at most one more waiting. */
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
  const timer = setInterval(look, pollMs).unref();
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
  // An event of the folder itself means nothing.
  return first === STATE_FOLDER ? SHOWN_STATE.test(rest.join("/")) : true;
}

function relativeTo(root: string, file: string): string {
  return file.slice(root.length + 1).replaceAll(sep, "/");
}

/** The directory, its folders, and the parts of our state that are shown. Links are not followed. */
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
