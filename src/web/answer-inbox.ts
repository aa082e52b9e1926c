/** Proposals that wait for a person, and what the person decides. */

import { MemdirError } from "../errors.ts";
import { acceptProposal, previewProposal } from "../learn/apply.ts";
import type { Amendment } from "../learn/inbox.ts";
import type { Proposal } from "../learn/proposal.ts";
import { openLearning } from "../open-learn.ts";
import type { ChangedAnswer, InboxAnswer, ProposalRow } from "./api.ts";
import { type Desk, refuseReadOnly } from "./desk.ts";
import { diffTexts } from "./diff.ts";

export async function answerInbox(desk: Desk): Promise<InboxAnswer> {
  const { inbox } = openLearning(desk.memdir);
  const proposals: ProposalRow[] = [];
  for (const proposal of inbox.list()) proposals.push(await rowOf(desk, proposal));
  return { proposals };
}

/** With the person's own words where they changed some; checked for secrets like every save. */
export async function answerAccept(desk: Desk, id: string, amended: Amendment | null): Promise<ChangedAnswer> {
  refuseReadOnly(desk, { directory: 0 });
  const { inbox } = openLearning(desk.memdir);
  const waiting = findWaiting(desk, id);
  const proposal = amended === null ? waiting : await inbox.amend(id, amended);
  const { done, file, undo } = await acceptProposal(desk.memdir, inbox, proposal);
  const message =
    done === "unchanged" ? `${file ?? proposal.name} says it already` : `${done} ${file ?? proposal.name}`;
  const ref = file === null || done === "forgotten" ? null : { directory: 0, file };
  return { message, entry: undo, ref };
}

export async function answerReject(desk: Desk, id: string): Promise<ChangedAnswer> {
  refuseReadOnly(desk, { directory: 0 });
  const { inbox } = openLearning(desk.memdir);
  const { name } = await inbox.reject(findWaiting(desk, id).id);
  return { message: `rejected ${name}: it will not be proposed again`, entry: null, ref: null };
}

/** The whole id: what a button stands for is never ambiguous. */
function findWaiting({ memdir }: Desk, id: string): Proposal {
  const found = openLearning(memdir)
    .inbox.list()
    .find((proposal) => proposal.id === id);
  if (found) return found;
  throw new MemdirError("not-found", `no proposal ${JSON.stringify(id.slice(0, 40))} waits any more`);
}

async function rowOf(desk: Desk, proposal: Proposal): Promise<ProposalRow> {
  const { id, action, from, at, name, type, description, body, when, reason } = proposal;
  return {
    id,
    action,
    from,
    at,
    name,
    type,
    description,
    body,
    cues: when,
    why: reason,
    diff: await diffOf(desk, proposal),
  };
}

/** A memory that cannot be read has no difference; accepting says what is wrong with it. */
async function diffOf(desk: Desk, proposal: Proposal): Promise<ProposalRow["diff"]> {
  try {
    const { before, after } = await previewProposal(desk.memdir, proposal);
    return diffTexts(before ?? "", after);
  } catch (error) {
    desk.log((error as Error).message);
    return [];
  }
}
