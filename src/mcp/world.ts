/** What the MCP server may touch outside its arguments, and the memories that it has open. */

import { MemdirError } from "../errors.ts";
import type { Memdir } from "../memdir.ts";
import type { Verify } from "./verify.ts";

export interface McpWorld {
  /** Opens a project's memory. Called again from time to time, so that settings which changed count. */
  open: (asked: Asked) => Promise<Memdir>;
  /** The project, unless a client names another. */
  cwd: string;
  /** Whether a client's first root is the project: not when the user named one. */
  followRoots: boolean;
  version: string;
  now: () => Date;
  log: (message: string) => void;
  /** Compares memories with the code. Default: what can be seen without understanding them. */
  verify?: Verify;
}

interface Asked {
  cwd: string;
  /** For the journal and the memory's source. */
  by: string;
  scope?: string | undefined;
}

export interface Memories {
  /** Throws when memory is switched off for the project. */
  open(asked: Asked): Promise<Memdir>;
  /** The first memory of a scope makes its directory, which a Memdir that is open does not know of. */
  renew(): void;
}

/** A process lives as long as its host, often for days: a Memdir older than this is opened anew. */
const KEEP_MS = 60_000;
/** Projects, clients and scopes together; who comes later pays for opening. */
const MAX_OPEN = 32;

export function openMemories(world: Pick<McpWorld, "open" | "now">): Memories {
  const kept = new Map<string, { memdir: Promise<Memdir>; sinceMs: number }>();
  return {
    async open(asked) {
      const key = JSON.stringify([asked.cwd, asked.by, asked.scope ?? null]);
      const nowMs = world.now().getTime();
      let held = kept.get(key);
      if (!held || Math.abs(nowMs - held.sinceMs) >= KEEP_MS) {
        held = { memdir: world.open(asked), sinceMs: nowMs };
        kept.delete(key);
        kept.set(key, held);
        for (const oldest of kept.keys()) if (kept.size > MAX_OPEN) kept.delete(oldest);
        held.memdir.catch(() => kept.delete(key));
      }
      const memdir = await held.memdir;
      const off = memdir.config.disabled;
      if (off !== null) throw new MemdirError("usage", `memory is switched off for this project: ${off}`);
      return memdir;
    },
    renew: () => kept.clear(),
  };
}
