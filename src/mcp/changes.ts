/** Changes of the memories on disk, whoever makes them, for the clients that listen. */

import type { Memdir } from "../memdir.ts";
import { watchDirectory } from "../memory/watch.ts";
import { readRows } from "../store/store.ts";
import type { World } from "../world.ts";
import type { Params } from "./protocol.ts";
import { INDEX_URI, uriOf } from "./resources.ts";

/** What a client wants to hear of. */
export interface Listener {
  /** Resources that come, go, or are described in other words. */
  list: boolean;
  /** Those whose text is watched. */
  uris: Set<string>;
  notify(method: string, params?: Params): void;
}

export type Changes = ReturnType<typeof openChanges>;

/** Watches while somebody listens. `open` gives the memories as they are now. */
export function openChanges(open: () => Promise<Memdir>, log: World["log"]) {
  const listeners = new Set<Listener>();
  let known = new Map<string, Known>();
  let watched: { close(): void }[] = [];

  let looking: Promise<void> = Promise.resolve();
  const look = (): Promise<void> => {
    looking = looking
      .then(async () => {
        const now = await survey(await open());
        const changed = [...new Set([...known.keys(), ...now.keys()])].filter(
          (uri) => known.get(uri)?.text !== now.get(uri)?.text,
        );
        const isOther = known.size !== now.size || [...now].some(([uri, { shown }]) => known.get(uri)?.shown !== shown);
        known = now;
        if (changed.length > 0) for (const listener of listeners) tell(listener, changed, isOther);
      })
      .catch((error: Error) => log(`mcp: could not read what changed: ${error.message}`));
    return looking;
  };

  return {
    /** Until the returned function is called. */
    async listen(listener: Listener): Promise<() => void> {
      if (listeners.size === 0) {
        const memdir = await open();
        known = await survey(memdir);
        const start = ({ path, recursive }: Memdir["directories"][0]) =>
          watchDirectory({ path, recursive, log, onChange: () => void look() });
        if (watched.length === 0) watched = memdir.directories.map(start);
      }
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        for (const { close } of watched) close();
        watched = [];
      };
    },
  };
}

function tell({ list, uris, notify }: Listener, changed: readonly string[], isOther: boolean): void {
  if (list && isOther) notify("notifications/resources/list_changed");
  // Every change of a memory may change its line in the index.
  for (const uri of [INDEX_URI, ...changed]) if (uris.has(uri)) notify("notifications/resources/updated", { uri });
}

interface Known {
  text: string;
  shown: string;
}

async function survey(memdir: Memdir): Promise<Map<string, Known>> {
  const listings = await Promise.all(memdir.directories.map(readRows));
  const rows = listings.flatMap((listing) => listing.rows).filter(({ unreadable }) => !unreadable);
  return new Map(
    rows.map((row) => {
      const shown = `${row.name}\n${row.description}`;
      return [uriOf(row), { text: `${row.modified} ${row.mtimeMs} ${row.bytes}\n${shown}`, shown }];
    }),
  );
}
