/** Carrying out a plan: first what comes here, then what goes there, then what is gone from both. */

import { type Store, walk } from "../store/store.ts";
import { sha256 } from "../text/hash.ts";
import { type ConflictCopy, makeConflictCopy } from "./conflict-copy.ts";
import { mergeMemory } from "./merge.ts";
import type { RemoteEntry } from "./protocol.ts";
import { findIntended, type LocalTexts, placeOf } from "./sync-local.ts";
import {
  fetchTexts,
  type LocalWrite,
  type Outgoing,
  type Pass,
  pushTexts,
  removeThere,
  writeHere,
} from "./sync-pass.ts";
import type { Plan, Step } from "./sync-plan.ts";

type StepOf<K extends Step["kind"]> = Extract<Step, { kind: K }>;

function stepsOf<K extends Step["kind"]>(plan: Plan, kind: K): StepOf<K>[] {
  return plan.steps.filter((step): step is StepOf<K> => step.kind === kind);
}

export async function takeSteps(
  pass: Pass,
  plan: Plan,
  local: LocalTexts,
  listed: ReadonlyMap<string, RemoteEntry>,
): Promise<void> {
  const textOf = (path: string) => local.files.get(path)?.text ?? "";
  for (const { path, hash, revision } of stepsOf(plan, "agree")) agree(pass, path, hash, revision, textOf(path));
  for (const { path } of stepsOf(plan, "forget")) pass.state.agreed.delete(path);
  const incoming = [...stepsOf(plan, "pull"), ...stepsOf(plan, "merge")].map(({ entry }) => entry);
  const texts = await fetchTexts(pass, incoming);
  await pull(pass, stepsOf(plan, "pull"), texts);
  await removeHere(pass, stepsOf(plan, "remove-here"));
  const merges = await mergeAll(pass, stepsOf(plan, "merge"), texts, textOf);
  await keepBoth(pass, merges.conflicts, local, listed);
  pass.save();
  await push(pass, stepsOf(plan, "push"), textOf);
  pass.save();
  await pushMerged(pass, merges.clean);
  pass.save();
  await removeAll(pass, stepsOf(plan, "remove-there"));
}

async function pull(pass: Pass, steps: readonly StepOf<"pull">[], texts: ReadonlyMap<string, string>): Promise<void> {
  const groups = steps.flatMap((step) => {
    const text = texts.get(step.path);
    return text === undefined ? [] : [{ step, text, writes: [{ path: step.path, expected: step.local, text }] }];
  });
  for (const { step, text } of await writeHere(pass, groups)) {
    const { path, entry, why } = step;
    agree(pass, path, entry.hash, entry.revision, text, entry);
    pass.result.pulled.push(path);
    if (why === "returned") pass.notice(`${path} was removed here and changed by ${authorOf(pass, entry)}: it is back`);
    if (why === "emptied") pass.notice(`${path} was fetched again: this directory had lost all its memories`);
  }
}

async function removeHere(pass: Pass, steps: readonly StepOf<"remove-here">[]): Promise<void> {
  const groups = steps.map((step) => ({ step, writes: [{ path: step.path, expected: step.local, text: null }] }));
  for (const { step } of await writeHere(pass, groups)) {
    pass.state.agreed.delete(step.path);
    pass.result.removed.here.push(step.path);
  }
}

interface Meeting {
  step: StepOf<"merge">;
  ours: string;
  theirs: string;
}

async function mergeAll(
  pass: Pass,
  steps: readonly StepOf<"merge">[],
  texts: ReadonlyMap<string, string>,
  textOf: (path: string) => string,
): Promise<{ clean: (Meeting & { text: string })[]; conflicts: Meeting[] }> {
  const clean: (Meeting & { text: string })[] = [];
  const conflicts: Meeting[] = [];
  for (const step of steps) {
    const theirs = texts.get(step.path);
    if (theirs === undefined) continue;
    const meeting = { step, ours: textOf(step.path), theirs };
    const base = await findBase(pass, step);
    const merged = base === null ? null : mergeMemory(base, meeting.ours, theirs);
    if (merged?.clean) clean.push({ ...meeting, text: merged.text });
    else conflicts.push(meeting);
  }
  return { clean, conflicts };
}

/** What both come of: the text that was agreed on, or ours itself where the remote had it once, so that it is only behind. */
async function findBase(pass: Pass, { path, base, local }: StepOf<"merge">): Promise<string | null> {
  const kept = base === null ? null : pass.texts.find(base);
  if (kept !== null) return kept;
  const versions = await pass.options.remote.versions(path, pass.options.signal);
  return versions.findLast(({ text }) => text !== null && sha256(text) === (base ?? local))?.text ?? null;
}

/** The remote's text at the path, ours beside it, in one change. The copy travels in the next round, as any new memory. */
async function keepBoth(
  pass: Pass,
  meetings: readonly Meeting[],
  local: LocalTexts,
  listed: ReadonlyMap<string, RemoteEntry>,
): Promise<void> {
  const isTaken = (copy: ConflictCopy) => {
    const hash = sha256(copy.text);
    const entry = listed.get(copy.path);
    const here = local.files.get(copy.path);
    if (local.held.has(copy.path)) return true;
    return (here !== undefined && here.hash !== hash) || (entry !== undefined && !entry.deleted && entry.hash !== hash);
  };
  const groups = meetings.map(({ step, ours, theirs }) => {
    const copy = makeConflictCopy(step.path, ours, isTaken);
    const writes: LocalWrite[] = [{ path: step.path, expected: step.local, text: theirs }];
    if (!local.files.has(copy.path)) writes.push({ path: copy.path, expected: null, text: copy.text });
    return { step, theirs, copy, writes };
  });
  for (const { step, theirs, copy } of await writeHere(pass, groups)) {
    const { path, entry } = step;
    agree(pass, path, entry.hash, entry.revision, theirs, entry);
    pass.result.conflicts.push({ path, copy: copy.path });
    if (pass.options.dryRun) pass.result.pushed.push(copy.path);
    pass.notice(
      `${path} was changed here and by ${authorOf(pass, entry)}: theirs is kept there, yours is in ${copy.path}`,
    );
    pass.again = true;
  }
}

async function push(pass: Pass, steps: readonly StepOf<"push">[], textOf: (path: string) => string): Promise<void> {
  const outgoing = steps.map((step) => ({ ...step, text: textOf(step.path), hash: step.local }));
  noteSent(pass, outgoing);
  for (const { sent, revision } of await pushTexts(pass, outgoing)) {
    agree(pass, sent.path, sent.hash, revision, sent.text);
    pass.result.pushed.push(sent.path);
    if (sent.why === "kept")
      pass.notice(`${sent.path} was removed by others and changed here: your change is kept, and shared again`);
    if (sent.why === "lost")
      pass.notice(`${sent.path} was missing on the remote without having been removed: it was sent again`);
  }
  // Of the others it is known that the remote has not taken them.
  for (const { path } of outgoing) pass.state.sent.delete(path);
}

/** Not for merged texts: what is here does not come from those before they are written. */
function noteSent(pass: Pass, outgoing: readonly Outgoing[]): void {
  if (outgoing.length === 0) return;
  for (const { path, hash, text } of outgoing) {
    pass.texts.keep(hash, text);
    pass.state.sent.set(path, hash);
  }
  pass.save();
}

/** First there, then here: a merge that the remote did not take is made again from what is there by then. */
async function pushMerged(pass: Pass, merges: readonly (Meeting & { text: string })[]): Promise<void> {
  const outgoing = merges.map(({ step, text }) => ({
    path: step.path,
    text,
    hash: sha256(text),
    expected: step.entry.revision,
    local: step.local,
  }));
  const sent = await pushTexts<Outgoing>(pass, outgoing);
  const groups = sent.map(({ sent: { path, text, hash, local }, revision }) => {
    return { path, text, hash, revision, writes: hash === local ? [] : [{ path, expected: local, text }] };
  });
  for (const { path, hash, revision, text } of await writeHere(pass, groups)) {
    agree(pass, path, hash, revision, text);
    pass.result.merged.push(path);
  }
}

async function removeAll(pass: Pass, steps: readonly StepOf<"remove-there">[]): Promise<void> {
  const { directory, dryRun } = pass.options;
  const intended = findIntended(directory, new Set(steps.map(({ path }) => path)));
  const isStillMissing = (path: string) => {
    if (dryRun || (placeOf(directory, path) === "free" && (intended.has(path) || isInhabited(directory)))) return true;
    pass.again = true;
    return false;
  };
  for (const path of await removeThere(pass, steps, isStillMissing)) {
    pass.state.agreed.delete(path);
    pass.state.absent.delete(path);
    pass.result.removed.there.push(path);
  }
}

/** It may have been emptied or unmounted since it was read. */
function isInhabited(directory: Store): boolean {
  return (
    walk(directory.path, directory.recursive).files.length > 0 && placeOf(directory, ".memdir/sync.lock") === "file"
  );
}

/** What we sent is ours and needs no author; `entry` names the author of what came from there. */
function agree(pass: Pass, path: string, hash: string, revision: string, text: string, entry?: RemoteEntry): void {
  pass.texts.keep(hash, text);
  pass.state.sent.delete(path);
  pass.state.agreed.set(path, { hash, revision, ...(entry ? { author: entry.author, at: entry.at } : {}) });
}

function authorOf({ options }: Pass, { author }: RemoteEntry): string {
  if (author === "") return "another person";
  return author === options.who ? "you on another machine" : author;
}
