/** Carrying out a plan: first what comes here, then what goes there, then what is gone from both. */

import { attempt, MemdirError } from "../errors.ts";
import { findBytes, findObjections, type Staged, type Store, type Writer, walk } from "../store/store.ts";
import { sha256 } from "../text/hash.ts";
import { makeConflictCopy, mergeMemory } from "./merge.ts";
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
  const { state } = pass;
  const textOf = (path: string) => local.files.get(path)?.text ?? "";
  for (const { path, hash, revision } of stepsOf("agree")) agree(pass, path, textOf(path), { hash, revision });
  for (const { path } of stepsOf("forget")) state.agreed.delete(path);
  const pulls = stepsOf("pull");
  const staging = openStaging(pass, new Set(pulls.map(({ path }) => path)));
  let meetings: Meeting[] = [];
  const failures: unknown[] = [];
  try {
    const texts = await fetchTexts(pass, [...pulls, ...stepsOf("merge")], staging.add);
    meetings = await mergeAll(pass, stepsOf("merge"), local, texts, (error) => failures.push(error));
    const both = meetings.filter(({ merged }) => merged === null);
    const groups = [
      ...pulls.flatMap((step) => pull(pass, step, texts.get(step.path))),
      ...stepsOf("remove-here").map((step) => removeHere(pass, step)),
      ...both.map((meeting) => keepBoth(pass, meeting, local, listed)),
    ];
    await writeHere(pass, groups, await staging.end());
  } finally {
    await staging.clear();
  }
  const pushes = stepsOf("push");
  // Not for merged texts: what is here does not come from those before they are written.
  for (const { path, local } of pushes) {
    pass.texts.keep(local, textOf(path));
    state.sent.set(path, local);
  }
  pass.save();
  await send(pass, [
    ...pushes.flatMap((step) => push(pass, step, local)),
    ...meetings.flatMap((meeting) => pushMerged(pass, meeting)),
    ...removeThere(pass, stepsOf("remove-there")),
  ]);
  // Of the others it is known that the remote has not taken them.
  for (const { path } of pushes) state.sent.delete(path);
  if (failures.length > 0) {
    pass.save();
    throw failures[0];
  }
}

/**
 * What has arrived is written aside while the rest is on its way: then the lock is held only to move it into place. One page at a
 * time is flushed while the next one is fetched.
 */
function openStaging({ options: { directory, dryRun } }: Pass, wanted: ReadonlySet<string>) {
  const staged = new Map<string, string>();
  let writing: Promise<void> = Promise.resolve();
  const write = async (page: Texts) => {
    const some = [...page].filter(([path]) => wanted.has(path));
    const contents = new Map(some.map(([path, text]) => [path, Buffer.from(text)]));
    if (contents.size === 0 || dryRun) return;
    for (const [path, name] of await directory.stage(contents)) staged.set(path, name);
  };
  return {
    async add(page: Texts) {
      await writing;
      writing = write(page);
      // Thrown by whoever waits for it next.
      writing.catch(() => {});
    },
    end: () => writing.then(() => staged),
    async clear() {
      await writing.catch(() => {});
      if (staged.size > 0) await directory.unstage(staged).catch(() => {});
    },
  };
}

function pull(pass: Pass, { path, entry, why, local }: StepOf<"pull">, text: string | undefined): Group[] {
  if (text === undefined) return [];
  const done = () => {
    agree(pass, path, text, agreedBy(entry));
    pass.result.pulled.push(path);
    if (why === "returned") pass.notice(`${path} was removed here and changed by ${authorOf(pass, entry)}: it is back`);
    if (why === "emptied") pass.notice(`${path} was fetched again: this directory had lost all its memories`);
  };
  return [{ writes: [{ path, expected: local, text }], done }];
}

function removeHere({ state, result }: Pass, { path, local }: StepOf<"remove-here">): Group {
  const done = () => {
    state.agreed.delete(path);
    result.removed.here.push(path);
  };
  return { writes: [{ path, expected: local, text: null }], done };
}

type Meeting = Awaited<ReturnType<typeof mergeAll>>[number];

/** `merged` is null where both cannot hold. A history that cannot be read holds up its own memory alone; it fails the pass at its end. */
async function mergeAll(
  pass: Pass,
  steps: readonly StepOf<"merge">[],
  { files }: LocalTexts,
  texts: Texts,
  fail: (error: unknown) => void,
) {
  const meetings = [];
  const written = findWritten(pass.options.directory, new Set(steps.map(({ path }) => path)));
  for (const step of steps) {
    const ours = files.get(step.path)?.text;
    const theirs = texts.get(step.path);
    if (ours === undefined || theirs === undefined) continue;
    const base = await findBase(pass, step, written.get(step.path)).catch((error: unknown) => {
      if (pass.options.signal?.aborted) throw error;
      fail(error);
      return undefined;
    });
    if (base === undefined) continue;
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
function keepBoth(pass: Pass, { step, ours, theirs }: Meeting, { files, held }: LocalTexts, listed: Listed): Group {
  const { path, entry, local } = step;
  const copy = makeConflictCopy(path, ours, ({ path, text }) => {
    const there = listed.get(path);
    const others = [files.get(path), there?.deleted ? undefined : there];
    return held.has(path) || others.some((other) => other !== undefined && other.hash !== sha256(text));
  });
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
  return { writes, done };
}

function push(pass: Pass, step: StepOf<"push">, { files }: LocalTexts): Sending[] {
  const { path, local, why } = step;
  const text = files.get(path)?.text ?? "";
  const done = (revision: string) => {
    agree(pass, path, text, { hash: local, revision });
    pass.result.pushed.push(path);
    if (why === "kept")
      pass.notice(`${path} was removed by others and changed here: your change is kept, and shared again`);
    if (why === "lost") pass.notice(`${path} was missing on the remote without having been removed: it was sent again`);
  };
  return offer(pass, step, text, done);
}

/** First there, then here: a merge that the remote did not take is made again from what is there by then. */
function pushMerged(pass: Pass, { step: { path, local, entry }, merged: text }: Meeting): Sending[] {
  if (text === null) return [];
  const hash = sha256(text);
  const done = (revision: string) => {
    agree(pass, path, text, { hash, revision });
    pass.result.merged.push(path);
  };
  const writes = hash === local ? [] : [{ path, expected: local, text }];
  return offer(pass, { path, expected: entry.revision, local }, text, done, writes);
}

/** Tombstones for files that are still missing right now. */
function removeThere(pass: Pass, steps: readonly StepOf<"remove-there">[]): Sending[] {
  const { directory, dryRun } = pass.options;
  const intended = findIntended(directory, new Set(steps.map(({ path }) => path)));
  return steps.flatMap(({ path, expected }): Sending[] => {
    const isMissing = placeOf(directory, path) === "free" && (intended.has(path) || isInhabited(directory));
    if (!isMissing && !dryRun) {
      pass.again = true;
      return [];
    }
    const done = () => {
      pass.state.agreed.delete(path);
      pass.state.absent.delete(path);
      pass.result.removed.there.push(path);
    };
    const refused: Sending["refused"] = ({ reason }) => pass.notice(`${path} stays on the remote: ${reason}`);
    return [{ change: { kind: "remove", path, expected }, writes: [], done, refused }];
  });
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
  take: (page: Texts) => Promise<void>,
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

/** In one journal entry. Groups whose files changed since they were read are left for the next round. */
async function writeHere(pass: Pass, groups: readonly Group[], staged?: Staged): Promise<void> {
  const { directory, remote, dryRun, signal } = pass.options;
  if (groups.length === 0) return;
  pass.progress("write", 0, groups.length);
  const stopped = "stopped before everything was written; the next `memdir sync` continues from here";
  if (signal?.aborted) throw new MemdirError("network", stopped);
  const write = async (pinned: Writer) => {
    const befores = new Map<string, Buffer | null>();
    const fit = groups.filter(({ writes }) => writes.every((write) => isAsPlanned(pinned, write, befores)));
    if (fit.length < groups.length) pass.again = true;
    const writes = fit.flatMap((group) => group.writes);
    if (writes.length === 0) return fit;
    const contents = new Map(writes.map(({ path, text }) => [path, text === null ? null : Buffer.from(text)]));
    const applied = await pinned.apply({
      action: "sync",
      reason: `from ${remote.name}`,
      writes: contents,
      staged: staged ?? (await pinned.stage(contents)),
      befores,
      // What came from the remote has passed the gate when it was fetched, and everything else was here before.
      trust: null,
    });
    for (const notice of applied.notices) pass.notice(notice);
    return fit;
  };
  const overtaken = (error: unknown) => {
    // Another program wrote between the check and the move: nothing of this has happened.
    if (!(error instanceof MemdirError) || error.code !== "conflict") throw error;
    pass.again = true;
    return [];
  };
  const written = dryRun ? groups : await directory.change(write).catch(overtaken);
  for (const { done } of written) done();
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
  writes: readonly LocalWrite[] = [],
): Sending[] {
  const { mayTravel, findSecrets } = pass.options;
  const problem = findTextProblem(text) ?? mayTravel(path, text) ?? describeSecrets(findSecrets(text));
  const hold = (reason: string) => pass.refuse(path, "here", local, reason);
  if (problem !== null) hold(problem);
  // What may be accepted the next time is only reported: a right that was given should take effect at once.
  const refused: Sending["refused"] = ({ reason, isPassing }) =>
    isPassing ? pass.result.refused.push({ path, reason }) : hold(reason);
  return problem === null ? [{ change: { kind: "put", path, text, expected }, writes, done, refused }] : [];
}

interface Sending {
  change: RemoteChange;
  /** What is written here once the remote has taken it. */
  writes: readonly LocalWrite[];
  done(revision: string): void;
  refused(outcome: Extract<RemoteOutcome, { kind: "refused" }>): void;
}

/** Stale ones are for the next round. */
async function send(pass: Pass, all: readonly Sending[]): Promise<void> {
  const { remote, signal } = pass.options;
  if (all.length === 0) return;
  const changes = all.map(({ change }) => change);
  const progress = (done: number) => pass.progress("push", done, changes.length);
  progress(0);
  const outcomes = await remote.apply(changes, signal, progress);
  const groups: Group[] = [];
  for (const [i, { writes, done, refused }] of all.entries()) {
    const outcome = outcomes[i];
    if (outcome?.kind === "refused") refused(outcome);
    else if (outcome?.kind !== "done") pass.again = true;
    else if (writes.length > 0) groups.push({ writes, done: () => done(outcome.revision) });
    else done(outcome.revision);
  }
  await writeHere(pass, groups);
}
