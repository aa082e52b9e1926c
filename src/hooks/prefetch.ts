/** Starts the search for memories by a model beside a turn that has begun (`dist/hook-prefetch.cjs`): few users want it. */

import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { PRIVATE_MODE, removeQuietly, writeTemporary } from "../disk/atomic.ts";
import { awaitPrefetch, prefetchFolder } from "./prefetch-file.ts";

export interface PrefetchStart {
  /** The memory directory that keeps the session's state. */
  directory: string;
  cwd: string;
  session: string;
  prompt: string;
  nowMs: number;
}

/** In a session of its own: it outlives us. One at a time for each session. */
export function startPrefetch({ directory, cwd, session, prompt, nowMs }: PrefetchStart): void {
  const id = `${process.pid}-${process.hrtime.bigint().toString(36)}`;
  if (!awaitPrefetch(directory, session, { id, nowMs })) return;
  const input = openInput(directory, JSON.stringify({ session, id, prompt }));
  const { spawn } = process.getBuiltinModule("node:child_process");
  const child = spawn(process.execPath, [join(__dirname, "cli.js"), "recall", "--prefetch", "-"], {
    cwd,
    detached: true,
    stdio: [input, "ignore", "ignore"],
    windowsHide: true,
  });
  child.on("error", () => {});
  child.unref();
  closeSync(input);
}

/** A prompt neither fits into arguments nor belongs where everybody sees them; a pipe would be gone with us before it is read. */
function openInput(directory: string, text: string): number {
  const file = writeTemporary(prefetchFolder(directory), text, PRIVATE_MODE, "prompt", false);
  try {
    return openSync(file, "r");
  } finally {
    removeQuietly(file);
  }
}
