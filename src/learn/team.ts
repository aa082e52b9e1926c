/** What a model would write to or delete from the team's memories: it waits in the user's own inbox, and a person decides. */

import { basename } from "node:path";
import { MemdirError } from "../errors.ts";
import { openMemories } from "../memory/memories.ts";
import { parseMemory, readBytes, type Store } from "../store/store.ts";
import { type Applied, applyProposal } from "./apply.ts";
import { type Inbox, openInbox } from "./inbox.ts";
import type { Proposal } from "./proposal.ts";

/** What of a proposal a model says; `by` is what it calls itself. */
export type Wish = Pick<Proposal, "action" | "file" | "type" | "name" | "description" | "body" | "when"> & {
  reason?: string | undefined;
  by: string;
};

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

/** Nothing of the team's is changed. Throws where it cannot even be proposed. */
export async function proposeToTeam(
  own: Store,
  team: Store,
  { by, reason, ...wish }: Wish,
): Promise<Applied & { says: string }> {
  const at = team.now().toISOString();
  const origin = { trust: "inferred", session: null, message: null, from: "agent" } as const;
  const proposal = { id: "", at, ...wish, ...origin, reason: reason || `asked for by ${by}` };
  const memories = { ...openMemories([team], async () => {}), directories: [team] };
  const applied = await applyProposal(memories, openTeamInbox(own), proposal, "inbox");
  if (applied.done === "refused") throw new MemdirError("conflict", `nothing was changed: ${applied.reason}`);
  const waits = `others read the team's memories, so this waits for a person's decision: \`memdir inbox\` shows it as ${applied.id}`;
  return { ...applied, says: applied.done === "inbox" ? waits : "a memory of the team says this already" };
}

/** A memory's file as a model wrote it whole. Only what it says is proposed: no rule, no mark that only people set. */
export function wishOfText(file: string, text: string, isNew: boolean, by: string): Wish {
  const { type, name, description, body, when, problems, broken } = parseMemory(file, text);
  if (broken) throw new MemdirError("broken", `${basename(file)} was not proposed: ${problems[0]}`);
  const words = { type, name, description, body: body.trim(), when };
  return { action: isNew ? "save" : "update", file: isNew ? null : file, ...words, by };
}

export function wishToForget(team: Store, file: string, by: string): Wish {
  const { type, name } = parseMemory(file, readBytes(team, file));
  return { action: "forget", file, type, name, description: "", body: "", when: [], by };
}
