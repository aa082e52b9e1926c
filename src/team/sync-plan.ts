/** What has to happen so that directory and remote agree: decided path by path from hashes alone. Pure. */

import type { RemoteEntry } from "./protocol.ts";
import type { Agreed } from "./sync-local.ts";

export interface PlanInput {
  /** The hash of every memory here. */
  local: ReadonlyMap<string, string>;
  /** Paths that are left alone: something there does not travel. */
  held: Pick<ReadonlySet<string>, "has">;
  /** As the remote lists it, tombstones included. */
  remote: ReadonlyMap<string, RemoteEntry>;
  agreed: ReadonlyMap<string, Agreed>;
  /** Since when earlier passes have seen a file missing, ISO. */
  absent: ReadonlyMap<string, string>;
  /** Paths whose agreed version the remote has lost: what it lists is not newer than what is here. */
  lost?: ReadonlySet<string>;
  /** Paths that a person or a tool removed on purpose, as the journal says. */
  intended: ReadonlySet<string>;
  now: Date;
}

/** `local` is the hash that must still be here when the step is taken; null for nothing. */
export type Step =
  | { kind: "agree"; path: string; hash: string; revision: string }
  | { kind: "forget"; path: string }
  | { kind: "pull"; path: string; entry: RemoteEntry; local: string | null; why: "changed" | "returned" | "emptied" }
  | { kind: "push"; path: string; local: string; expected: string | null; why: "changed" | "kept" | "lost" }
  /** `base` null: the newest version in the remote's history that this directory has had. */
  | { kind: "merge"; path: string; entry: RemoteEntry; local: string; base: string | null }
  | { kind: "remove-here"; path: string; entry: RemoteEntry; local: string }
  | { kind: "remove-there"; path: string; expected: string };

export type Plan = ReturnType<typeof planSync>;

/** An editor that saves by removing and writing, or a checkout, is done long before. */
const DELETE_DELAY_MS = 30_000;

/** A slip of the hand that removes much is noticed while most of it is still everywhere else. */
const MIN_DELETES = 8;
const MAX_DELETES = 50;
const DELETE_SHARE = 0.1;

/** `absent`: since when each file that is missing has been, for the next pass. */
export function planSync(input: PlanInput) {
  const { local, remote, agreed, held } = input;
  const plan = {
    steps: [] as Step[],
    absent: new Map<string, string>(),
    waiting: [] as { path: string; until: string }[],
  };
  let deletes = Math.min(MAX_DELETES, Math.max(MIN_DELETES, Math.floor(agreed.size * DELETE_SHARE)));
  const paths = [...new Set([...local.keys(), ...remote.keys(), ...agreed.keys()])].sort();
  for (const path of paths) {
    if (held.has(path)) continue;
    const step = decide(input, path);
    if (step?.kind !== "remove-there") {
      if (step) plan.steps.push(step);
      continue;
    }
    const now = input.now.toISOString();
    const seen = input.absent.get(path);
    // A clock that was set back must not make it older than it is.
    const since = seen !== undefined && seen <= now ? seen : now;
    const until = input.intended.has(path) ? now : new Date(Date.parse(since) + DELETE_DELAY_MS).toISOString();
    plan.absent.set(path, since);
    if (until <= now && deletes-- > 0) plan.steps.push(step);
    else plan.waiting.push({ path, until });
  }
  return plan;
}

/** Where something here would give way to what the remote lists: right only while the remote still has what was agreed on. */
export function findDoubtful({ steps }: Plan): string[] {
  return steps.flatMap((step) => {
    const isDoubtful = step.kind === "pull" || step.kind === "merge" || step.kind === "remove-here";
    return isDoubtful && step.local !== null ? [step.path] : [];
  });
}

/** Null when there is nothing to do. */
function decide(input: PlanInput, path: string): Step | null {
  const local = input.local.get(path) ?? null;
  const entry = input.remote.get(path) ?? null;
  const base = input.agreed.get(path) ?? null;
  const isLost = input.lost?.has(path) === true;
  if (local === null) return decideMissing(input, path, entry, base);
  if (entry === null) return { kind: "push", path, local, expected: null, why: base ? "lost" : "changed" };
  if (entry.deleted) {
    if (base?.hash === local && !isLost) return { kind: "remove-here", path, entry, local };
    return { kind: "push", path, local, expected: null, why: isLost ? "lost" : base ? "kept" : "changed" };
  }
  if (entry.hash === local) {
    const same = base?.hash === local && base.revision === entry.revision;
    return same ? null : { kind: "agree", path, hash: local, revision: entry.revision };
  }
  if (isLost) return { kind: "merge", path, entry, local, base: null };
  if (base?.hash === local) return { kind: "pull", path, entry, local, why: "changed" };
  if (base?.hash === entry.hash) return { kind: "push", path, local, expected: entry.revision, why: "changed" };
  return { kind: "merge", path, entry, local, base: base?.hash ?? null };
}

function decideMissing(input: PlanInput, path: string, entry: RemoteEntry | null, base: Agreed | null): Step | null {
  if (entry === null || entry.deleted) return base ? { kind: "forget", path } : null;
  if (!base) return { kind: "pull", path, entry, local: null, why: "changed" };
  // Changed there since: an edit outweighs a deletion.
  if (base.hash !== entry.hash || base.revision !== entry.revision)
    return { kind: "pull", path, entry, local: null, why: "returned" };
  // A directory that lost everything at once was moved, emptied or not mounted.
  if (input.local.size === 0 && !input.intended.has(path))
    return { kind: "pull", path, entry, local: null, why: "emptied" };
  return { kind: "remove-there", path, expected: entry.revision };
}
