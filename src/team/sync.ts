/**
 * Sync of a directory with a remote: three-way per file, by what both sides last agreed on. A pass that is killed only has to run
 * again: whatever it did is recognised by its hash.
 */

import { MemdirError } from "../errors.ts";
import { prepareDirectory } from "../store/store.ts";
import { findEntryProblem, type RemoteEntry } from "./protocol.ts";
import type { RemoteListing } from "./remote.ts";
import {
  emptyState,
  findIntended,
  formatState,
  type LocalTexts,
  openBaseTexts,
  readLocal,
  readState,
  syncFile,
} from "./sync-local.ts";
import { emptyResult, type Pass, type SyncOptions, type SyncResult } from "./sync-pass.ts";
import { type Plan, planSync } from "./sync-plan.ts";
import { takeSteps } from "./sync-steps.ts";

/** A conflict copy needs a second round to travel, a remote with other writers may need one more; then the next pass goes on. */
const MAX_ROUNDS = 4;

/** A right that was missing may have been given meanwhile. */
const REFUSAL_MS = 24 * 3_600_000;

/** Throws what the remote throws; what was done until then is kept, and the next pass goes on from there. */
export async function syncDirectory(options: SyncOptions): Promise<SyncResult> {
  const { directory, dryRun = false } = options;
  if (!dryRun) prepareDirectory(directory);
  const release = dryRun ? () => {} : directory.state().lock("sync.lock").try();
  if (!release)
    throw new MemdirError("lock", `another sync of ${directory.path} is under way: wait for it, then run this again`);
  try {
    const pass = openPass(options);
    for (let round = 0; round < (dryRun ? 1 : MAX_ROUNDS) && (round === 0 || pass.again); round++) await runRound(pass);
    if (pass.again && !dryRun)
      pass.notice("some memories changed during the sync and are not settled yet: run `memdir sync` again");
    return { ...pass.result, notices: [...new Set(pass.result.notices)] };
  } finally {
    release();
  }
}

function openPass(options: SyncOptions): Pass {
  const { directory, dryRun } = options;
  const result = emptyResult();
  const state = readState(directory);
  const texts = openBaseTexts(directory);
  let saved = formatState(state);
  const pass: Pass = {
    options,
    state,
    texts: dryRun ? { ...texts, keep: () => {} } : texts,
    result,
    again: false,
    progress: (phase, done, total) => options.onProgress?.(done, total, phase),
    notice: (text) => result.notices.push(text),
    save: () => {
      pass.progress("save", 0, 1);
      const text = formatState(pass.state);
      // A pass without changes costs no flush.
      if (text === saved || dryRun) return;
      syncFile(directory).write(text);
      saved = text;
    },
    refuse: (path, side, hash, reason) => {
      pass.state.refused.set(path, { side, hash, reason, at: directory.now().toISOString() });
      result.refused.push({ path, reason });
    },
  };
  return pass;
}

async function runRound(pass: Pass): Promise<void> {
  const { options, result } = pass;
  pass.again = false;
  result.refused = [];
  pass.progress("list", 0, 1);
  const listing = await options.remote.list(options.signal);
  if (pass.state.store !== listing.id) pass.state = changeRemote(pass, listing.id);
  const listed = readListed(pass, listing);
  const local = readLocal(
    options.directory,
    new Set([...listed.keys(), ...pass.state.agreed.keys()]),
    options.mayTravel,
  );
  findArrived(pass, listed);
  holdRefused(pass, local, listed);
  const plan = makePlan(pass, local, listed);
  result.waiting = plan.waiting;
  pass.state.absent = plan.absent;
  try {
    await takeSteps(pass, plan, local, listed);
  } catch (error) {
    // Harmless if it is not: equal texts agree again without a write.
    if (error instanceof MemdirError) pass.save();
    throw error;
  }
  pass.save();
  if (options.dryRun) return;
  syncFile(options.directory).touch(options.directory.now());
  pass.texts.sweep(pass.state);
}

/** What was noted about another remote never counts here: nothing is deleted on either side. */
function changeRemote(pass: Pass, id: string) {
  if (pass.state.store !== null)
    pass.notice(
      `${pass.options.remote.name} is not the remote of the last sync: nothing is treated as deleted, here or there`,
    );
  return emptyState(id);
}

function readListed(pass: Pass, { entries }: RemoteListing): Map<string, RemoteEntry> {
  const live = new Set(entries.flatMap(({ path, deleted }) => (deleted ? [] : [path])));
  const isBelowFile = (path: string) =>
    path.split("/").some((_, i, parts) => i > 0 && live.has(parts.slice(0, i).join("/")));
  const listed = new Map<string, RemoteEntry>();
  for (const entry of entries) {
    const problem =
      findEntryProblem(entry.path) ?? (isBelowFile(entry.path) ? "a memory is in the place of its folder" : null);
    if (problem === null) listed.set(entry.path, entry);
    else if (!entry.deleted)
      pass.result.refused.push({ path: entry.path, reason: `not taken from the remote: ${problem}` });
  }
  return listed;
}

/** What arrived without an acknowledgement counts as agreed: it must not be treated as another person's text. */
function findArrived({ state }: Pass, listed: ReadonlyMap<string, RemoteEntry>): void {
  for (const [path, hash] of state.sent) {
    const entry = listed.get(path);
    if (!entry || entry.deleted || entry.hash !== hash) continue;
    state.agreed.set(path, { hash, revision: entry.revision });
    state.sent.delete(path);
  }
}

/** Texts that were refused before are not tried again while they are the same. */
function holdRefused(pass: Pass, local: LocalTexts, listed: ReadonlyMap<string, RemoteEntry>): void {
  const now = pass.options.directory.now().getTime();
  for (const [path, { side, hash, reason, at }] of pass.state.refused) {
    const here = local.files.get(path)?.hash;
    const there = listed.get(path)?.hash;
    const same = hash === (side === "here" ? here : there) && here !== there;
    if (same && Math.abs(now - Date.parse(at)) < REFUSAL_MS) {
      local.held.set(path, reason);
    } else pass.state.refused.delete(path);
  }
  for (const [path, reason] of local.held) if (reason !== "") pass.result.refused.push({ path, reason });
}

function makePlan(pass: Pass, local: LocalTexts, listed: ReadonlyMap<string, RemoteEntry>): Plan {
  const { state, options } = pass;
  const missing = new Set([...state.agreed.keys()].filter((path) => !local.files.has(path) && !local.held.has(path)));
  return planSync({
    local: new Map([...local.files].map(([path, { hash }]) => [path, hash])),
    held: new Set(local.held.keys()),
    remote: listed,
    agreed: state.agreed,
    absent: state.absent,
    intended: findIntended(options.directory, missing),
    now: options.directory.now(),
  });
}
