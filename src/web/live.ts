/** Server-sent events for the page: changes in the watched directories and the progress of jobs. */

import { type Watching, watchDirectory } from "../memory/watch.ts";
import type { Store } from "../store/store.ts";
import type { World } from "../world.ts";
import type { Job, LiveEvent } from "./shapes.ts";

interface LiveOptions extends Pick<World, "log"> {
  /** Called before a change is sent. */
  onChange?: () => void;
  /** For the greeting. */
  jobs: () => Job[];
  generation: () => number;
  heartbeatMs?: number;
  watching?: Watching | undefined;
}

export type Live = ReturnType<typeof openLive>;

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
) {
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
    /** A stream for one tab, which cancels it to leave; null if there are too many. */
    join(session: string): ReadableStream<Uint8Array> | null {
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
    /** These directories instead of those before. */
    watch(those: typeof directories): void {
      for (const each of watched) each.close();
      watched = watchAll(those);
      tell(greeting());
      note(0);
    },
    close(): void {
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
