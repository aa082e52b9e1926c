/** What a model would write to or delete from the team's memories: it waits in the user's own inbox, and a person decides. */

import { MemdirError } from "../errors.ts";
import { openMemories } from "../memory/memories.ts";
import type { Store } from "../store/store.ts";
import { type Applied, applyProposal } from "./apply.ts";
import { type Inbox, openInbox } from "./inbox.ts";
import type { Proposal, Wish } from "./proposal.ts";

/** The inbox of a project as far as it is about the team: never in the team's own directory, where others could put proposals. */
export function openTeamInbox(own: Store): Inbox {
  const inbox = openInbox(own, own);
  const forTeam = (proposal: Proposal): Proposal => ({ ...proposal, scope: "team" });
  return {
    ...inbox,
    add: (proposal) => inbox.add(forTeam(proposal)),
    wasRejected: (proposal) => inbox.wasRejected(forTeam(proposal)),
    list: () => inbox.list().filter(({ scope }) => scope === "team"),
  };
}

export type Proposed = Applied & { says: string };

/** Nothing of the team's is changed. Throws where it cannot even be proposed. */
export async function proposeToTeam(own: Store, team: Store, { by, reason, ...wish }: Wish): Promise<Proposed> {
  const at = team.now().toISOString();
  const origin = { trust: "inferred", session: null, message: null, from: "agent" } as const;
  const proposal = { id: "", at, ...wish, ...origin, reason: reason || `asked for by ${by}` };
  const store = { ...openMemories([team], async () => {}), directories: [team] };
  const applied = await applyProposal({ store, inbox: openTeamInbox(own), mode: "inbox" }, proposal);
  if (applied.done === "refused") throw new MemdirError("conflict", `nothing was changed: ${applied.reason}`);
  const waits = `others read the team's memories, so this waits for a person's decision: \`memdir inbox\` shows it as ${applied.id}`;
  return { ...applied, says: applied.done === "inbox" ? waits : "a memory of the team says this already" };
}
