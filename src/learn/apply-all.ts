/** Proposals of one conversation, one after the other: a later one may change what an earlier one wrote. */

import { applyProposal, isFinal, type Store } from "./apply.ts";
import type { Inbox } from "./inbox.ts";
import type { LearnMode, Proposal } from "./proposal.ts";

interface AppliedAll {
  saved: { file: string; action: string }[];
  /** What our own rules forbid: the same again would be refused again. */
  refused: string[];
  /** Why something could not be kept that may be the next time. */
  failed: string | null;
}

/** Must not throw. */
export async function applyAll(
  store: Store,
  inbox: Pick<Inbox, "add" | "wasRejected">,
  proposals: readonly Proposal[],
  mode: LearnMode,
): Promise<AppliedAll> {
  const all: AppliedAll = { saved: [], refused: [], failed: null };
  for (const proposal of proposals) {
    try {
      const { done, file, reason } = await applyProposal(store, inbox, proposal, mode);
      if (done === "refused") all.refused.push(`${proposal.name}: ${reason ?? ""}`);
      else all.saved.push({ file: file ?? proposal.name, action: done });
    } catch (error) {
      const reason = `${proposal.name}: ${error instanceof Error ? error.message : String(error)}`;
      if (isFinal(error)) all.refused.push(reason);
      else all.failed ??= reason;
    }
  }
  return all;
}
