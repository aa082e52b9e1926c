/** What the page is told without asking: changes on disk and the progress of long work, as server-sent events. */

import type { Directory } from "../store/store.ts";
import type { Job, LiveEvent } from "./api.ts";
import { type WatchOptions, watchDirectory } from "./watch.ts";

export interface LiveWorld {
  directories: readonly Pick<Directory, "path" | "recursive">[];
  /** Before anybody is told of a change. */
  onChange?: () => void;
  /** For the greeting. */
  jobs: () => Job[];
  log: (message: string) => void;
  heartbeatMs?: number;
  watching?: Pick<WatchOptions, "seesTree" | "watch" | "settleMs" | "lookMs">;
}

export interface Live {
  /** A stream for one tab; null when there are enough. It is left by cancelling it. */
  join(session: string): ReadableStream<Uint8Array> | null;
  tell(event: LiveEvent): void;
  close(): void;
}

interface Client {
  session: string;
  stream: ReadableStreamDefaultController<Uint8Array>;
}

/** A browser opens six connections to one place: with two fewer tabs on the stream there is always one left to ask with. */
const MAX_OF_SESSION = 4;
const MAX_CLIENTS = 32;
/** A tab that read none of this many messages is asleep or gone; it starts anew when it wakes. */
const MAX_WAITING = 256;
/** Soon enough to notice a tab that vanished without a word. */
const HEARTBEAT_MS = 15_000;
/** How long a browser waits before it comes again. */
const RETRY_MS = 1000;

export function openLive(world: LiveWorld): Live {
  const { directories, onChange, jobs, log, heartbeatMs = HEARTBEAT_MS, watching = {} } = world;
  const clients = new Set<Client>();
  const encoder = new TextEncoder();
  const leave = (client: Client) => {
    if (!clients.delete(client)) return;
    try {
      client.stream.close();
    } catch {
      // It was cancelled by the other side.
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

/** JSON has no line breaks, so one line holds it. */
function format(event: LiveEvent): string {
  return `data: ${JSON.stringify(event)}\n\n`;
}
