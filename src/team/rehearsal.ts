/** A sync that changes nothing: the real one, on a copy of the directory and a remote that only pretends to write. */

import { cpSync, lstatSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { diskError } from "../errors.ts";
import type { Directory } from "../store/store.ts";
import { sha256 } from "../text/hash.ts";
import type { Remote, RemoteChange, RemoteEntry, RemoteOutcome } from "./remote.ts";
import { type SyncOptions, type SyncResult, syncDirectory } from "./sync.ts";

/** What the remote itself would refuse is not known before it is asked. */
export async function rehearseSync(options: SyncOptions): Promise<SyncResult> {
  const folder = mkdtempSync(join(tmpdir(), "memdir-rehearsal-"));
  try {
    copy(options.directory, folder);
    const directory = { ...options.directory, path: folder };
    return await syncDirectory({ ...options, directory, remote: pretend(options.remote) });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Pipes and sockets cannot be copied, and links are kept as links: sync follows none. */
function copy({ path }: Directory, folder: string): void {
  if (!lstatSync(path, { throwIfNoEntry: false })) return;
  const isOrdinary = (file: string) => {
    const stat = lstatSync(file, { throwIfNoEntry: false });
    return stat !== undefined && (stat.isFile() || stat.isDirectory() || stat.isSymbolicLink());
  };
  try {
    cpSync(path, folder, { recursive: true, verbatimSymlinks: true, filter: isOrdinary });
  } catch (error) {
    throw diskError(error, "copy", path);
  }
}

function pretend(remote: Remote): Remote {
  const changed = new Map<string, { entry: RemoteEntry; text: string }>();
  const applyOne = (change: RemoteChange): RemoteOutcome => {
    const { path } = change;
    const text = change.kind === "put" ? change.text : "";
    const revision = `rehearsed-${changed.size + 1}`;
    const deleted = change.kind === "remove";
    const entry = { path, hash: deleted ? "" : sha256(text), revision, deleted, author: "", at: "" };
    changed.set(path, { entry, text });
    return { kind: "done", path, revision };
  };
  return {
    ...remote,
    async list(signal) {
      const { id, entries } = await remote.list(signal);
      const kept = entries.filter(({ path }) => !changed.has(path));
      return { id, entries: [...kept, ...[...changed.values()].map(({ entry }) => entry)] };
    },
    async fetch(entries, signal) {
      const texts = await remote.fetch(
        entries.filter(({ path }) => !changed.has(path)),
        signal,
      );
      for (const { path, revision } of entries) {
        const known = changed.get(path);
        if (known && !known.entry.deleted && known.entry.revision === revision) texts.set(path, known.text);
      }
      return texts;
    },
    apply: async (changes) => changes.map(applyOne),
  };
}
