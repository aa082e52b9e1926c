/** From the directory to the remote: each text looked through for secrets first, each change with its precondition. */

import { LIMITS } from "./protocol.ts";
import type { RemoteChange, RemoteOutcome } from "./remote.ts";
import type { Pass } from "./sync-pass.ts";
import { describeSecrets } from "./sync-pull.ts";

export interface Outgoing {
  path: string;
  text: string;
  hash: string;
  expected: string | null;
  /** The hash of the file here that this comes of: what is not tried again while it stays. */
  local: string;
}

/** Small enough for a request, large enough that a first sync is not a thousand of them. */
const BATCH = 20;

/** Those that the remote has taken, with their new revisions. Stale ones are for the next round. */
export async function pushTexts<T extends Outgoing>(
  pass: Pass,
  outgoing: readonly T[],
): Promise<{ sent: T; revision: string }[]> {
  const fit: T[] = [];
  for (const each of outgoing) {
    const problem = findProblem(pass, each);
    if (problem === null) fit.push(each);
    else pass.refuse(each.path, "here", each.local, problem);
  }
  const done: { sent: T; revision: string }[] = [];
  for (let from = 0; from < fit.length; from += BATCH) {
    pass.progress("push", from, fit.length);
    const some = fit.slice(from, from + BATCH);
    const outcomes = await applyChanges(
      pass,
      some.map(({ path, text, expected }) => ({ kind: "put", path, text, expected })),
    );
    for (const [i, sent] of some.entries()) {
      const outcome = outcomes[i];
      if (outcome?.kind === "done") done.push({ sent, revision: outcome.revision });
      else if (outcome?.kind === "refused") refuse(pass, sent, outcome);
      else pass.again = true;
    }
  }
  return done;
}

/** What may be taken the next time is only told: whoever was given a right should not have to wait for it. */
function refuse(pass: Pass, { path, local }: Outgoing, outcome: Extract<RemoteOutcome, { kind: "refused" }>): void {
  const { reason, isPassing = false } = outcome;
  if (isPassing) pass.result.refused.push({ path, reason });
  else pass.refuse(path, "here", local, reason);
}

/** Tombstones for files that are still missing right now. */
export async function removeThere(
  pass: Pass,
  removals: readonly { path: string; expected: string }[],
  isStillMissing: (path: string) => boolean,
): Promise<string[]> {
  const gone: string[] = [];
  for (let from = 0; from < removals.length; from += BATCH) {
    pass.progress("remove", from, removals.length);
    const some = removals.slice(from, from + BATCH).filter(({ path }) => isStillMissing(path));
    const outcomes = await applyChanges(
      pass,
      some.map(({ path, expected }) => ({ kind: "remove", path, expected })),
    );
    for (const [i, { path }] of some.entries()) {
      const outcome = outcomes[i];
      if (outcome?.kind === "done") gone.push(path);
      else if (outcome?.kind === "refused") pass.notice(`${path} stays in the remote: ${outcome.reason}`);
      else pass.again = true;
    }
  }
  return gone;
}

function findProblem(pass: Pass, { path, text }: Outgoing): string | null {
  if (Buffer.byteLength(text) > LIMITS.memoryBytes) return `it is larger than ${LIMITS.memoryBytes} bytes`;
  const { mayTravel, findSecrets } = pass.options;
  return mayTravel?.(path, text) ?? describeSecrets(findSecrets(text));
}

async function applyChanges(pass: Pass, changes: readonly RemoteChange[]): Promise<RemoteOutcome[]> {
  return changes.length === 0 ? [] : pass.options.remote.apply(changes, pass.options.signal);
}
