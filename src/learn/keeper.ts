/** Keeps what an extracting model wrote: each draft is checked, handed on as a proposal, and its outcome recorded. */

import type { World } from "../world.ts";
import { isFinal } from "./apply.ts";
import { checkDraft, type Draft, type Sources } from "./draft.ts";
import { type Keep, type Kept, reasonOf } from "./learn.ts";
import type { Proposal } from "./proposal.ts";

export type Keeper = ReturnType<typeof openKeeper>;

/** What became of a file that the model wrote. */
interface Outcome {
  id: string;
  /** The sources that it named. */
  labels?: string[];
  kept?: Kept;
  /** Includes what an earlier run saved, such as one that was killed before its cursor moved. */
  isThere?: boolean;
  refused?: string | undefined;
  problem?: string | undefined;
}

/** Checks each draft, passes it on as a proposal, and records the outcome. */
export function openKeeper(
  world: Pick<World, "now" | "newId">,
  sources: Sources,
  keep: Keep,
  isStopped: () => boolean,
) {
  const pending = new Set<Promise<unknown>>();
  const outcomes = new Map<string, Outcome>();
  const all = () => [...outcomes.values()];

  const outcomeOf = (file: string): Outcome => {
    const outcome = outcomes.get(file) ?? { id: world.newId() };
    outcomes.set(file, outcome);
    return outcome;
  };
  const refuse = (outcome: Outcome, file: string, reason: string): never => {
    outcome.refused = `${file}: ${reason}`;
    throw new Error(`${file} was not written: ${reason}`);
  };

  const keepDraft = async (draft: Draft): Promise<{ notices: string[] }> => {
    const { file } = draft;
    const outcome = outcomeOf(file);
    const checked = await checkDraft(draft, sources, world.now(), outcome.labels);
    // Checking takes a while; nothing is started if the run was stopped in the meantime.
    if (isStopped()) throw new Error("stopped; nothing was written");
    if (!checked.ok) return refuse(outcome, file, checked.reason);
    const proposal: Proposal = { id: outcome.id, ...checked.proposal };
    const {
      done,
      reason,
      file: written,
    } = await keep(proposal, draft.base).catch((error) => {
      if (isFinal(error)) return refuse(outcome, file, reasonOf(error));
      outcome.problem = `${file} could not be saved: ${reasonOf(error)}`;
      throw error;
    });
    if (done === "refused") return refuse(outcome, file, reason ?? "it is not wanted");
    const keptAs = written ?? file;
    const { kept } = outcome;
    // A memory that was made and fixed in one run was made.
    if (kept) kept.proposal = { ...proposal, action: kept.proposal.action, file: kept.proposal.file };
    else if (done !== "unchanged") outcome.kept = { file: keptAs, action: done, proposal };
    Object.assign(outcome, { labels: checked.labels, isThere: true, refused: undefined, problem: undefined });
    const elsewhere = keptAs === file ? [] : [`it is saved as ${keptAs}`];
    return { notices: [...elsewhere, ...(reason === undefined ? [] : [reason]), ...checked.notices] };
  };

  return {
    /** Throws with a reason for the model. */
    keep(draft: Draft): Promise<{ notices: string[] }> {
      const keeping = keepDraft(draft);
      const done: Promise<unknown> = keeping.catch(() => {}).finally(() => pending.delete(done));
      pending.add(done);
      return keeping;
    },
    /** Throws, too. */
    refuse: (file: string, reason: string) => refuse(outcomeOf(file), file, reason),
    /** Resolves when no save is running any more. */
    settle: () => Promise.all(pending),
    saved: () => all().flatMap(({ kept }) => kept ?? []),
    isAnyThere: () => all().some(({ isThere }) => isThere),
    /** What our own rules refused and the model did not fix: the same would be refused again. */
    refused: () => all().flatMap(({ refused }) => refused ?? []),
    /** Why something that should have been saved was not, but may be the next time. */
    problem: () => all().find(({ problem }) => problem !== undefined)?.problem ?? null,
  };
}
