/** `memdir inbox`: proposals that wait for a person, each as a diff against the memory that it changes. */

import { MemdirError } from "../errors.ts";
import { acceptProposal } from "../learn/apply.ts";
import type { Inbox } from "../learn/inbox.ts";
import type { Proposal } from "../learn/proposal.ts";
import type { Memdir } from "../memdir.ts";
import { openLearning } from "../open-learn.ts";
import type { Call, Run } from "./command.ts";
import { openPaint } from "./console/paint.ts";
import { describeAccepted, describeRejected, editProposal, findWaiting, viewProposal } from "./proposal-view.ts";

export const run: Run = async (call) => {
  const [verb, id] = call.args;
  const act = verb === undefined ? null : VERBS.get(verb);
  if (act === undefined || (act !== null && id === undefined))
    throw new MemdirError(
      "usage",
      "the call is `memdir inbox [accept ID | reject ID | edit ID]`; without more it lists",
    );
  const memdir = await call.open();
  const { inbox } = openLearning(memdir);
  if (act === null) await list(call, memdir, inbox.list());
  else await act(call, memdir, inbox, findWaiting(inbox, id as string, "memdir inbox"));
  return 0;
};

type Act = (call: Call, memdir: Memdir, inbox: Inbox, proposal: Proposal) => Promise<void>;

const accept: Act = async ({ json, terminal }, memdir, inbox, proposal) => {
  const applied = await acceptProposal(memdir, inbox, proposal);
  if (json) terminal.json({ id: proposal.id, ...applied });
  else terminal.print(describeAccepted(applied, "memdir undo"));
};

const reject: Act = async ({ json, terminal }, _memdir, inbox, proposal) => {
  const { id } = await inbox.reject(proposal.id);
  if (json) terminal.json({ id, done: "rejected", file: null, undo: null });
  else terminal.print(describeRejected(proposal, "memdir save"));
};

const edit: Act = async (call, memdir, inbox, proposal) => {
  const amended = await editProposal(memdir, inbox, proposal);
  if (call.json) call.terminal.json(toJson(amended));
  else {
    await print(call, memdir, amended);
    call.terminal.print(`memdir inbox accept ${amended.id} keeps it like this`);
  }
};

const VERBS: ReadonlyMap<string, Act> = new Map([
  ["accept", accept],
  ["reject", reject],
  ["edit", edit],
]);

async function list(call: Call, memdir: Memdir, proposals: readonly Proposal[]): Promise<void> {
  const { json, terminal } = call;
  if (json) {
    terminal.json(proposals.map(toJson));
    return;
  }
  for (const proposal of proposals) await print(call, memdir, proposal);
  terminal.print(
    proposals.length === 0
      ? "the inbox is empty"
      : terminal.color.dim(`${proposals.length} waiting: memdir inbox accept ID, edit ID or reject ID`),
  );
}

function toJson(proposal: Proposal) {
  const { id, action, file, type, name, description, body, when, from, reason, trust, at, session, message } = proposal;
  const memory = { action, file, type, name, description, body, when };
  return { id, memory, from, reason, trust, at, session, message };
}

async function print({ terminal }: Call, memdir: Memdir, proposal: Proposal): Promise<void> {
  const look = { paint: openPaint(terminal.colored), columns: Number.POSITIVE_INFINITY };
  terminal.print(`${await viewProposal(memdir, proposal, look)}\n`);
}
