/** Carrying out a plan: first what comes here, then what goes there, then what is gone from both. */

import { attempt, MemdirError } from "../errors.ts";
import { findBytes, findObjections, type Staged, type Store, walk } from "../store/store.ts";
import { sha256 } from "../text/hash.ts";
import { type ConflictCopy, makeConflictCopy, mergeMemory } from "./merge.ts";
import { findTextProblem, LIMITS, type RemoteEntry } from "./protocol.ts";
import type { RemoteChange, RemoteOutcome } from "./remote.ts";
import {
  type Agreed,
  findIntended,
  findWritten,
  type LocalTexts,
  noteAgreed,
  placeOf,
  wasAgreed,
} from "./sync-local.ts";
import type { Pass } from "./sync-pass.ts";
import type { Plan, Step } from "./sync-plan.ts";
import { describeSecrets } from "./travel.ts";

type StepOf<K extends Step["kind"]> = Extract<Step, { kind: K }>;
type Texts = ReadonlyMap<string, string>;
type Listed = ReadonlyMap<string, RemoteEntry>;

export async function takeSteps(pass: Pass, { steps }: Plan, local: LocalTexts, listed: Listed): Promise<void> {
  const stepsOf = <K extends Step["kind"]>(kind: K) => steps.filter((step): step is StepOf<K> => step.kind === kind);
  const textOf = (path: string) => local.files.get(path)?.text ?? "";
  for (const { path, hash, revision } of stepsOf("agree")) agree(pass, path, textOf(path), { hash, revision });
  for (const { path } of stepsOf("forget")) pass.state.agreed.delete(path);
  await pull(pass, stepsOf("pull"));
  await removeHere(pass, stepsOf("remove-here"));
  const meetings = await mergeAll(pass, stepsOf("merge"), textOf);
  await keepBoth(pass, meetings, local, listed);
  pass.save();
  await push(pass, stepsOf("push"), textOf);
  await pushMerged(pass, meetings);
  await removeThere(pass, stepsOf("remove-there"));
}

/** What has arrived is written aside while the rest is on its way: then the lock is held only to move it into place. */
async function pull(pass: Pass, steps: readonly StepOf<"pull">[]): Promise<void> {
  const { directory, dryRun } = pass.options;
  const staged = new Map<string, string>();
  let staging: Promise<void> = Promise.resolve();
  const stage = async (page: Texts) => {
    const contents = new Map([...page].map(([path, text]) => [path, Buffer.from(text)]));
    for (const [path, name] of await directory.stage(contents)) staged.set(path, name);
  };
  try {
    const texts = await fetchTexts(pass, steps, async (page) => {
      // One page at a time is flushed while the next one is fetched.
      await staging;
      if (dryRun || page.size === 0) return;
      staging = stage(page);
      // Thrown by whoever waits for it next.
      staging.catch(() => {});
    });
    const groups = steps.flatMap(({ path, entry, why, local }): Group[] => {
      const text = texts.get(path);
      if (text === undefined) return [];
      const done = () => {
        agree(pass, path, text, agreedBy(entry));
        pass.result.pulled.push(path);
        if (why === "returned")
          pass.notice(`${path} was removed here and changed by ${authorOf(pass, entry)}: it is back`);
        if (why === "emptied") pass.notice(`${path} was fetched again: this directory had lost all its memories`);
      };
      return [{ writes: [{ path, expected: local, text }], done }];
    });
    await staging;
    await writeHere(pass, groups, staged);
  } finally {
    await staging.catch(() => {});
    if (staged.size > 0) await directory.unstage(staged).catch(() => {});
  }
}

async function removeHere(pass: Pass, steps: readonly StepOf<"remove-here">[]): Promise<void> {
  const groups = steps.map(({ path, local }) => ({
    writes: [{ path, expected: local, text: null }],
    done() {
      pass.state.agreed.delete(path);
      pass.result.removed.here.push(path);
    },
  }));
  await writeHere(pass, groups);
}

type Meeting = Awaited<ReturnType<typeof mergeAll>>[number];

/** `merged` is null where both cannot hold. */
async function mergeAll(pass: Pass, steps: readonly StepOf<"merge">[], textOf: (path: string) => string) {
  const meetings = [];
  const texts = await fetchTexts(pass, steps);
  const written = findWritten(pass.options.directory, new Set(steps.map(({ path }) => path)));
  for (const step of steps) {
    const theirs = texts.get(step.path);
    if (theirs === undefined) continue;
    const ours = textOf(step.path);
    const base = await findBase(pass, step, written.get(step.path));
    meetings.push({ step, ours, theirs, merged: base === null ? null : mergeMemory(base, ours, theirs) });
  }
  return meetings;
}

/**
 * What both come of: the text that was agreed on. Where a killed pass wrote a later one here and could not note it, that one; where
 * nothing is agreed on, or the remote has lost it, the newest one of its history that was ever here.
 */
async function findBase(pass: Pass, step: StepOf<"merge">, written: string | undefined): Promise<string | null> {
  const { path, local, base } = step;
  const { state, options, texts } = pass;
  const unnoted = written !== undefined && !wasAgreed(state, path, written) ? written : null;
  const kept = base === null || unnoted !== null ? null : texts.find(base);
  if (kept !== null) return kept;
  const findLast = async (isBase: (hash: string) => boolean, wanted?: string) =>
    (await options.remote.versions(path, options.signal, wanted)).findLast(
      ({ text }) => text !== null && isBase(sha256(text)),
    )?.text ?? null;
  // By its text where that is known: the history may be long.
  const find = async (wanted: string | null) => (wanted === null ? null : findLast((hash) => hash === wanted, wanted));
  if (base === null) return findLast((hash) => hash === local || hash === unnoted || wasAgreed(state, path, hash));
  return (await find(unnoted)) ?? texts.find(base) ?? find(base);
}

/** The remote's text at the path, ours beside it, in one change. The copy travels in the next round, as any new memory. */
async function keepBoth(pass: Pass, meetings: readonly Meeting[], { files, held }: LocalTexts, listed: Listed) {
  const isTaken = ({ path, text }: ConflictCopy) => {
    const there = listed.get(path);
    const others = [files.get(path), there?.deleted ? undefined : there];
    return held.has(path) || others.some((other) => other !== undefined && other.hash !== sha256(text));
  };
  const groups = meetings.flatMap(({ step: { path, entry, local }, ours, theirs, merged }): Group[] => {
    if (merged !== null) return [];
    const copy = makeConflictCopy(path, ours, isTaken);
    const writes: LocalWrite[] = [{ path, expected: local, text: theirs }];
    if (!files.has(copy.path)) writes.push({ path: copy.path, expected: null, text: copy.text });
    const done = () => {
      agree(pass, path, theirs, agreedBy(entry));
      pass.result.conflicts.push({ path, copy: copy.path });
      if (pass.options.dryRun) pass.result.pushed.push(copy.path);
      const who = authorOf(pass, entry);
      pass.notice(`${path} was changed here and by ${who}: theirs is kept there, yours is in ${copy.path}`);
      pass.again = true;
    };
    return [{ writes, done }];
  });
  await writeHere(pass, groups);
}

async function push(pass: Pass, steps: readonly StepOf<"push">[], textOf: (path: string) => string): Promise<void> {
  if (steps.length === 0) return;
  // Not for merged texts: what is here does not come from those before they are written.
  for (const { path, local } of steps) {
    pass.texts.keep(local, textOf(path));
    pass.state.sent.set(path, local);
  }
  pass.save();
  const sendings = steps.flatMap((step) => {
    const { path, local, why } = step;
    const text = textOf(path);
    const done = (revision: string) => {
      agree(pass, path, text, { hash: local, revision });
      pass.result.pushed.push(path);
      if (why === "kept")
        pass.notice(`${path} was removed by others and changed here: your change is kept, and shared again`);
      if (why === "lost")
        pass.notice(`${path} was missing on the remote without having been removed: it was sent again`);
    };
    return offer(pass, step, text, done);
  });
  await send(pass, "push", sendings);
  // Of the others it is known that the remote has not taken them.
  for (const { path } of steps) pass.state.sent.delete(path);
  pass.save();
}

/** First there, then here: a merge that the remote did not take is made again from what is there by then. */
async function pushMerged(pass: Pass, meetings: readonly Meeting[]): Promise<void> {
  const groups: Group[] = [];
  const isMerged = meetings.some(({ merged }) => merged !== null);
  const sendings = meetings.flatMap(({ step: { path, local, entry }, merged: text }) => {
    if (text === null) return [];
    const hash = sha256(text);
    const keep = (revision: string) => {
      agree(pass, path, text, { hash, revision });
      pass.result.merged.push(path);
    };
    const writes = hash === local ? [] : [{ path, expected: local, text }];
    const done = (revision: string) => groups.push({ writes, done: () => keep(revision) });
    return offer(pass, { path, expected: entry.revision, local }, text, done);
  });
  await send(pass, "push", sendings);
  await writeHere(pass, groups);
  if (isMerged) pass.save();
}

/** Tombstones for files that are still missing right now. */
async function removeThere(pass: Pass, steps: readonly StepOf<"remove-there">[]): Promise<void> {
  const { directory, dryRun } = pass.options;
  const intended = findIntended(directory, new Set(steps.map(({ path }) => path)));
  const isStillMissing = (path: string) =>
    dryRun || (placeOf(directory, path) === "free" && (intended.has(path) || isInhabited(directory)));
  const sendings = steps.map(
    ({ path, expected }): Sending => ({
      change() {
        if (isStillMissing(path)) return { kind: "remove", path, expected };
        pass.again = true;
        return null;
      },
      done() {
        pass.state.agreed.delete(path);
        pass.state.absent.delete(path);
        pass.result.removed.there.push(path);
      },
      refused: ({ reason }) => pass.notice(`${path} stays on the remote: ${reason}`),
    }),
  );
  await send(pass, "remove", sendings);
}

/** It may have been emptied or unmounted since it was read. */
function isInhabited(directory: Store): boolean {
  return (
    walk(directory.path, directory.recursive).files.length > 0 && placeOf(directory, ".memdir/sync.lock") === "file"
  );
}

function agree({ texts, state }: Pass, path: string, text: string, agreed: Agreed): void {
  texts.keep(agreed.hash, text);
  noteAgreed(state, path, agreed);
}

/** What we sent is ours and needs no author; of what came from there it is noted. */
function agreedBy({ hash, revision, author, at }: RemoteEntry): Agreed {
  return { hash, revision, author, at };
}

function authorOf({ options }: Pass, { author }: RemoteEntry): string {
  if (author === "") return "another person";
  return author === options.who ? "you on another machine" : author;
}

/** Texts of these entries that may be written here; `take` gets them page by page. What changed meanwhile is for the next round. */
async function fetchTexts(
  pass: Pass,
  steps: readonly { entry: RemoteEntry }[],
  take: (page: Texts) => Promise<void> = async () => {},
): Promise<Texts> {
  const { remote, signal, findSecrets } = pass.options;
  const entries = steps.map(({ entry }) => entry);
  const texts = new Map<string, string>();
  let bytes = 0;
  for (let from = 0; from < entries.length; from += LIMITS.fetchPaths) {
    // The rest is for the next round, so that a remote without limits does not fill the memory here.
    if (bytes > MAX_ROUND_BYTES) {
      pass.again = true;
      break;
    }
    pass.progress("fetch", from, entries.length);
    const some = entries.slice(from, from + LIMITS.fetchPaths);
    const fetched = await remote.fetch(some, signal);
    const page = new Map<string, string>();
    for (const { path, hash } of some) {
      const text = fetched.get(path);
      if (text === undefined) {
        pass.again = true;
        continue;
      }
      bytes += text.length;
      const isOther = sha256(text) !== hash ? "it is not the one that the remote lists" : null;
      const problem =
        isOther ?? findTextProblem(text) ?? describeSecrets(findSecrets(text)) ?? findFormProblem(path, text);
      if (problem === null) page.set(path, text);
      else pass.refuse(path, "there", hash, `the remote's text is not written here: ${problem}`);
    }
    for (const [path, text] of page) texts.set(path, text);
    await take(page);
  }
  return texts;
}

/** Twice as much as a repository may hold. */
const MAX_ROUND_BYTES = 2 * LIMITS.repositoryBytes;

/** What the store's gate has against it, one text at a time: a bad one must not keep the others away. Secrets are looked for once. */
function findFormProblem(file: string, text: string): string | null {
  const [objection] = findObjections({ file, text, before: null }, { trust: "user", redact: true });
  return objection?.message ?? null;
}

interface LocalWrite {
  path: string;
  /** The hash of what must still be there; null for nothing. */
  expected: string | null;
  /** Null removes it. */
  text: string | null;
}

/** Files that are written together or not at all. */
interface Group {
  writes: readonly LocalWrite[];
  done(): void;
}

/**
 * One journal entry for so many files: as many as a repository may have, since each costs a look at the whole index and a copy of
 * it. Others wait for the lock meanwhile, for seconds and once.
 */
const WRITE_BATCH = LIMITS.repositoryMemories;

/** Groups whose files changed since they were read are left for the next round. */
async function writeHere(pass: Pass, groups: readonly Group[], staged?: Staged): Promise<void> {
  const { dryRun, signal } = pass.options;
  const written: Group[] = dryRun ? [...groups] : [];
  for (let from = 0; from < groups.length && !dryRun; from += WRITE_BATCH) {
    pass.progress("write", from, groups.length);
    if (signal?.aborted)
      throw new MemdirError(
        "network",
        "stopped before everything was written; the next `memdir sync` continues from here",
      );
    written.push(...(await writeBatch(pass, groups.slice(from, from + WRITE_BATCH), staged)));
  }
  for (const { done } of written) done();
}

async function writeBatch(pass: Pass, groups: readonly Group[], staged?: Staged): Promise<readonly Group[]> {
  try {
    return await pass.options.directory.change(async (pinned) => {
      const befores = new Map<string, Buffer | null>();
      const fit = groups.filter(({ writes }) => writes.every((write) => isAsPlanned(pinned, write, befores)));
      if (fit.length < groups.length) pass.again = true;
      const writes = fit.flatMap((group) => group.writes);
      if (writes.length === 0) return fit;
      const contents = new Map(writes.map(({ path, text }) => [path, text === null ? null : Buffer.from(text)]));
      const applied = await pinned.apply({
        action: "sync",
        reason: `from ${pass.options.remote.name}`,
        writes: contents,
        staged: staged ?? (await pinned.stage(contents)),
        befores,
        // What came from the remote has passed the gate when it was fetched, and everything else was here before.
        trust: null,
      });
      for (const notice of applied.notices) pass.notice(notice);
      return fit;
    });
  } catch (error) {
    // Another program wrote between the check and the move: nothing of this batch has happened.
    if (!(error instanceof MemdirError) || error.code !== "conflict") throw error;
    pass.again = true;
    return [];
  }
}

/** What is there goes into `befores`. */
function isAsPlanned(directory: Store, { path, expected }: LocalWrite, befores: Map<string, Buffer | null>): boolean {
  const place = placeOf(directory, path);
  const bytes = place === "file" ? attempt(() => findBytes(directory, path), undefined) : null;
  if (place === "odd" || bytes === undefined) return false;
  befores.set(path, bytes);
  return (bytes && sha256(bytes)) === expected;
}

/** Nothing for a text that may not travel. `local` is the hash of the file here that it comes of: it is not tried again while that stays. */
function offer(
  pass: Pass,
  { path, expected, local }: Pick<StepOf<"push">, "path" | "expected" | "local">,
  text: string,
  done: Sending["done"],
): Sending[] {
  const { mayTravel, findSecrets } = pass.options;
  const problem = findTextProblem(text) ?? mayTravel(path, text) ?? describeSecrets(findSecrets(text));
  const hold = (reason: string) => pass.refuse(path, "here", local, reason);
  if (problem !== null) hold(problem);
  // What may be accepted the next time is only reported: a right that was given should take effect at once.
  const refused: Sending["refused"] = ({ reason, isPassing }) =>
    isPassing ? pass.result.refused.push({ path, reason }) : hold(reason);
  return problem === null ? [{ change: () => ({ kind: "put", path, text, expected }), done, refused }] : [];
}

interface Sending {
  /** Asked for at the last moment; null for nothing to send any more. */
  change(): RemoteChange | null;
  done(revision: string): void;
  refused(outcome: Extract<RemoteOutcome, { kind: "refused" }>): void;
}

/** Small enough for a request, large enough that a first sync is not a thousand of them. */
const PUSH_BATCH = 20;

/** Stale ones are for the next round. */
async function send(pass: Pass, phase: "push" | "remove", all: readonly Sending[]): Promise<void> {
  const { remote, signal } = pass.options;
  for (let from = 0; from < all.length; from += PUSH_BATCH) {
    pass.progress(phase, from, all.length);
    const some = all.slice(from, from + PUSH_BATCH).flatMap((sending) => {
      const change = sending.change();
      return change ? [{ ...sending, change }] : [];
    });
    const changes = some.map(({ change }) => change);
    const outcomes = changes.length === 0 ? [] : await remote.apply(changes, signal);
    for (const [i, { done, refused }] of some.entries()) {
      const outcome = outcomes[i];
      if (outcome?.kind === "done") done(outcome.revision);
      else if (outcome?.kind === "refused") refused(outcome);
      else pass.again = true;
    }
  }
}
