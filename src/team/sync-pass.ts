/** One pass of sync: what it is about, what it carries along, and what came of it. */

import type { Store } from "../store/store.ts";
import { findSecrets } from "../text/secrets.ts";
import type { Remote } from "./remote.ts";
import * as local from "./sync-local.ts";

export interface SyncOptions {
  directory: Store;
  remote: Remote;
  /** The name under which this machine's user writes to the remote. */
  who: string;
  signal?: AbortSignal | undefined;
  onProgress?: ((done: number, total: number, phase: SyncPhase) => void) | undefined;
  /** Why a memory of this directory may not be shared, or null. */
  mayTravel?: (path: string, text: string) => string | null;
  /** Only says what would happen. What the remote itself would refuse is not known before it is asked. */
  dryRun?: boolean | undefined;
  findSecrets?: (text: string) => readonly { rule: string; line: number }[];
}

type SyncPhase = "list" | "fetch" | "write" | "push" | "save";

export type SyncResult = ReturnType<typeof emptyResult>;

export function emptyResult() {
  return {
    pulled: [] as string[],
    pushed: [] as string[],
    removed: { here: [] as string[], there: [] as string[] },
    merged: [] as string[],
    conflicts: [] as { path: string; copy: string }[],
    refused: [] as { path: string; reason: string }[],
    waiting: [] as { path: string; until: string }[],
    notices: [] as string[],
  };
}

/** What a pass carries along. */
export type Pass = ReturnType<typeof openPass>;

export function openPass(given: SyncOptions) {
  const { directory, dryRun } = given;
  const state = local.readState(directory);
  const texts = local.openBaseTexts(directory);
  let saved = local.formatState(state);
  let named = local.neededTexts(directory, state);
  const pass = {
    options: { findSecrets, mayTravel: () => null, ...given, remote: dryRun ? pretend(given.remote) : given.remote },
    state,
    texts: dryRun ? { ...texts, keep: () => {} } : texts,
    result: emptyResult(),
    /** Something was overtaken: another round may settle it. */
    again: false,
    progress: (phase: SyncPhase, done: number, total: number) => given.onProgress?.(done, total, phase),
    notice: (text: string): void => void pass.result.notices.push(text),
    /** Writes the state down, if it is another one: a pass without changes costs no flush. */
    save(): void {
      pass.progress("save", 0, 1);
      const text = local.formatState(pass.state);
      if (text === saved || dryRun) return;
      texts.save();
      local.syncFile(directory).write(text);
      saved = text;
    },
    /** Removes the base texts that are not needed any more; after the state is saved. */
    sweep(): void {
      const needed = local.neededTexts(directory, pass.state);
      texts.sweep(named, needed);
      named = needed;
    },
    /** Holds a text back until it is another one. */
    refuse(path: string, side: "here" | "there", hash: string, reason: string): void {
      pass.state.refused.set(path, { side, hash, reason, at: directory.now().toISOString() });
      pass.result.refused.push({ path, reason });
    },
  };
  return pass;
}

/** Takes every change, and none of them happens. */
function pretend(remote: Remote): Remote {
  return { ...remote, apply: async (changes) => changes.map(({ path }) => ({ kind: "done", path, revision: "" })) };
}
