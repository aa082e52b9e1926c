/** Server-sent events for the page: changes in the watched directories and the progress of jobs. */

import { type FSWatcher, readdirSync, type Stats, watch as watchFolder } from "node:fs";
import { join, sep } from "node:path";
import { lstatOrNull, statOrNull } from "../disk/fence.ts";
import { attempt } from "../errors.ts";
import type { Store } from "../store/store.ts";
import type { World } from "../world.ts";
import type { Job, LiveEvent } from "./api.ts";

interface LiveOptions extends Pick<World, "log"> {
  /** Called before a change is sent. */
  onChange?: () => void;
  /** For the greeting. */
  jobs: () => Job[];
  generation: () => number;
  heartbeatMs?: number;
  watching?: Watching | undefined;
}

export type Watching = Pick<WatchOptions, "watch" | "settleMs" | "pollMs">;

export interface Live {
  /** A stream for one tab, which cancels it to leave; null if there are too many. */
  join(session: string): ReadableStream<Uint8Array> | null;
  tell(event: LiveEvent): void;
  /** These directories instead of those before. */
  watch(directories: readonly Pick<Store, "path" | "recursive">[]): void;
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
  { onChange, jobs, generation, log, heartbeatMs = HEARTBEAT_MS, watching = {} }: LiveOptions,
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
  const greeting = (): LiveEvent => ({ kind: "hello", jobs: jobs(), generation: generation() });
  const note = (directory: number) => {
    onChange?.();
    tell({ kind: "changed", directory });
  };
  const onRecall = () => tell({ kind: "recalled" });
  const watchAll = (those: typeof directories) =>
    those.map(({ path, recursive }, directory) =>
      watchDirectory({ ...watching, path, recursive, log, onChange: () => note(directory), onRecall }),
    );
  let watched = watchAll(directories);
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
            send(client, `retry: ${RETRY_MS}\n\n${format(greeting())}`);
          },
          cancel() {
            if (client) leave(client);
          },
        },
        new CountQueuingStrategy({ highWaterMark: MAX_WAITING }),
      );
    },
    tell,
    watch(those) {
      for (const each of watched) each.close();
      watched = watchAll(those);
      tell(greeting());
      note(0);
    },
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
  /** The same where only the log of recalls grew: nothing else has changed. */
  onRecall?: () => void;
  log: World["log"];
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
const RECALLS = `${STATE_FOLDER}/surfaced.jsonl`;
const SHOWN_STATE = /^(?:journal\.jsonl|verdicts\.json|inbox(?:[./\\].*)?)$/;

/** Never throws. The directory need not exist yet. */
export function watchDirectory(options: WatchOptions): { close(): void } {
  const {
    path,
    recursive,
    onChange,
    onRecall,
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
        else if (file === null || isShown(file)) note();
      });
      watcher.on("error", () => drop((each) => each === folder));
      watchers.set(folder, watcher);
    } catch (error) {
      const { code = "" } = error as NodeJS.ErrnoException;
      if (code === "ENOENT" || code === "ENOTDIR") return;
      log(`the page: ${folder} cannot be watched (${code}); it is checked every ${pollMs} ms instead`);
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
    const next = isBlind ? fingerprint(path, folders) : `${root?.ino} ${folders.length}`;
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
function fingerprint(root: string, folders: readonly string[]): string {
  const files = folders.flatMap((folder) => attempt(() => readdirSync(folder), []).map((name) => join(folder, name)));
  const shown = files.filter((file) => isShown(relativeTo(root, file)));
  return shown
    .map((file) => {
      const stat = lstatOrNull(file);
      return `${file} ${stat?.isDirectory() ? "" : `${stat?.size} ${stat?.mtimeMs}`}`;
    })
    .join("\n");
}
