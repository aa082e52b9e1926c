/**
 * Sync of a directory with a remote: three-way per file, by what both sides last agreed on. A pass that is killed only has to run
 * again: whatever it did is recognised by its hash.
 */

import { MemdirError } from "../errors.ts";
import { prepareDirectory } from "../store/store.ts";
import { describeClash, findEntryProblem, foldPath, openNames, type RemoteEntry } from "./protocol.ts";
import type { RemoteListing } from "./remote.ts";
import * as local from "./sync-local.ts";
import { openPass, type Pass, type SyncOptions, type SyncResult } from "./sync-pass.ts";
import { findDoubtful, planSync } from "./sync-plan.ts";
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
    // Taking the lock settles what a killed writer left half done. Agreeing on a half that is moved back later would make the old
    // text pass for a newer one, and overwrite the others'.
    if (!dryRun) await directory.change(() => {});
    const pass = openPass(options);
    for (let round = 0; round < (dryRun ? 1 : MAX_ROUNDS) && (round === 0 || pass.again); round++) await runRound(pass);
    if (pass.again && !dryRun)
      pass.notice("some memories changed during the sync and are not settled yet: run `memdir sync` again");
    return { ...pass.result, notices: [...new Set(pass.result.notices)] };
  } finally {
    release();
  }
}

async function runRound(pass: Pass): Promise<void> {
  const { result, options } = pass;
  const { directory, remote, signal, mayTravel, dryRun } = options;
  pass.again = false;
  result.refused = [];
  pass.progress("list", 0, 1);
  const listing = await remote.list(signal);
  if (pass.state.store !== listing.id) pass.state = changeRemote(pass, listing.id);
  const { state } = pass;
  const listed = readListed(pass, listing);
  const here = local.readLocal(directory, new Set([...listed.keys(), ...state.agreed.keys()]), mayTravel);
  const { files, held } = here;
  findArrived(pass, listed);
  holdClashes(pass, here, listed);
  holdRefused(pass, here, listed);
  const missing = new Set([...state.agreed.keys()].filter((path) => !files.has(path) && !held.has(path)));
  const input = {
    local: new Map([...files].map(([path, { hash }]) => [path, hash])),
    held,
    remote: listed,
    agreed: state.agreed,
    absent: state.absent,
    intended: local.findIntended(directory, missing),
    now: directory.now(),
  };
  let plan = planSync(input);
  const lost = await findLost(pass, findDoubtful(plan));
  if (lost.size > 0) plan = planSync({ ...input, lost });
  result.waiting = plan.waiting;
  state.absent = plan.absent;
  try {
    await takeSteps(pass, plan, here, listed);
  } catch (error) {
    // Harmless if it is not: equal texts agree again without a write.
    if (error instanceof MemdirError) pass.save();
    throw error;
  }
  pass.save();
  if (hasFreed(pass, here)) pass.again = true;
  if (dryRun) return;
  local.syncFile(directory).touch(directory.now());
  pass.sweep();
}

/** Which of these paths the remote has gone back on: what it once acknowledged is not in its history any more. */
async function findLost({ options, state, notice }: Pass, paths: readonly string[]): Promise<ReadonlySet<string>> {
  const had = paths.flatMap((path) => {
    const agreed = state.agreed.get(path);
    return agreed ? [{ path, revision: agreed.revision, hash: agreed.hash }] : [];
  });
  if (had.length === 0) return new Set();
  const { remote, signal } = options;
  const lost = await remote.findLost(had, signal);
  if (lost.size > 0) {
    const [first] = lost;
    const which = lost.size === 1 ? `the text of ${first}` : `the texts of ${lost.size} memories, ${first} among them,`;
    notice(
      `${remote.name} has lost ${which} that it had accepted (a restored backup, a rewound branch, or a failover): what is here is kept and sent again`,
    );
  }
  return lost;
}

/** What was noted about another remote never counts here. About one that is not known, nothing does: then nothing is deleted on either side. */
function changeRemote({ state, notice, options }: Pass, id: string) {
  const { directory, remote, dryRun } = options;
  const known = local.otherState(directory, id);
  const found = known.read();
  if (state.store !== null && !dryRun) local.otherState(directory, state.store).write(state);
  if (found?.store === id) return found;
  if (state.store !== null)
    notice(`${remote.name} is not the remote of the last sync: nothing is treated as deleted, here or there`);
  return local.emptyState(id);
}

type Listed = ReadonlyMap<string, RemoteEntry>;

function readListed({ result }: Pass, { entries }: RemoteListing): Listed {
  const listed = new Map<string, RemoteEntry>();
  for (const entry of entries) {
    const problem = findEntryProblem(entry.path);
    if (problem === null) listed.set(entry.path, entry);
    else if (!entry.deleted) result.refused.push({ path: entry.path, reason: `not taken from the remote: ${problem}` });
  }
  return listed;
}

/**
 * Leaves alone what cannot be on every disk beside the others; it may still be removed. Of two that some disk cannot distinguish, the
 * one that is here already has the name.
 */
function holdClashes({ state }: Pass, { files, held }: local.LocalTexts, listed: Listed): void {
  const isKnown = (path: string) => state.agreed.has(path);
  const isGoing = (path: string) =>
    listed.get(path)?.deleted === true && state.agreed.get(path)?.hash === files.get(path)?.hash;
  const there = [...listed.values()].flatMap(({ path, deleted }) => (deleted ? [] : [path])).sort();
  const here = [...files.keys()].filter((path) => !isGoing(path)).sort();
  const names = openNames();
  for (const path of [...there.filter(isKnown), ...there.filter((path) => !isKnown(path)), ...here]) {
    const other = names.claim(path);
    if (other !== null && (files.has(path) || !isKnown(path))) held.set(path, describeClash(other));
  }
}

/** A name that has become free in this round may be taken in the next. */
function hasFreed({ result }: Pass, { held }: local.LocalTexts): boolean {
  const freed = new Set([...result.removed.here, ...result.removed.there].map(foldPath));
  return [...held.keys()].some((path) => freed.has(foldPath(path)));
}

/** What arrived without an acknowledgement counts as agreed: it must not be treated as another person's text. */
function findArrived({ state }: Pass, listed: Listed): void {
  for (const [path, hash] of state.sent) {
    const entry = listed.get(path);
    if (!entry || entry.deleted || entry.hash !== hash) continue;
    local.noteAgreed(state, path, { hash, revision: entry.revision });
  }
}

/** Texts that were refused before are not tried again while they are the same. */
function holdRefused({ state, result, options }: Pass, { files, held }: local.LocalTexts, listed: Listed): void {
  const now = options.directory.now().getTime();
  for (const [path, { side, hash, reason, at }] of state.refused) {
    const here = files.get(path)?.hash;
    const there = listed.get(path)?.hash;
    const same = hash === (side === "here" ? here : there) && here !== there;
    if (same && Math.abs(now - Date.parse(at)) < REFUSAL_MS) held.set(path, reason);
    else state.refused.delete(path);
  }
  for (const [path, reason] of held) if (reason !== "") result.refused.push({ path, reason });
}
