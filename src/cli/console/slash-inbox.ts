/** `/inbox`: what was learnt and waits, decided one by one, each as a diff. */

import { MemdirError } from "../../errors.ts";
import { acceptProposal } from "../../learn/apply.ts";
import type { Inbox } from "../../learn/inbox.ts";
import type { Proposal } from "../../learn/proposal.ts";
import { openLearning } from "../../open-learn.ts";
import { describeAccepted, describeRejected, editProposal, findWaiting, viewProposal } from "../proposal-view.ts";
import { openPaint } from "./paint.ts";
import { sanitiseLine } from "./sanitise.ts";
import { type Choice, type Desk, printFolded } from "./slash-desk.ts";

export async function answerInbox(rest: string, desk: Desk): Promise<void> {
  const { inbox } = openLearning(desk.memdir);
  const [verb = "", id, ...more] = rest.split(/\s+/);
  if (verb === "" && desk.choose) return walk(desk, inbox, desk.choose);
  if (verb === "" || (verb === "all" && id === undefined)) return listAll(desk, inbox);
  const act = ACTS.get(verb);
  if (!act || id === undefined || more.length > 0) {
    const calls = "/inbox accept ID, /inbox reject ID, /inbox edit ID or /inbox all";
    throw new MemdirError("usage", `the call is /inbox, which shows one after the other, ${calls}`);
  }
  await act(desk, inbox, findWaiting(inbox, id, "/inbox"));
}

type Act = (desk: Desk, inbox: Inbox, proposal: Proposal) => Promise<void>;

const accept: Act = async (desk, inbox, proposal) =>
  printFolded(desk, describeAccepted(await acceptProposal(desk.memdir, inbox, proposal), "/undo"));

const reject: Act = async (desk, inbox, proposal) => {
  await inbox.reject(proposal.id);
  printFolded(desk, describeRejected(proposal, "/memory save"));
};

const edit: Act = async (desk, inbox, proposal) => {
  await show(desk, await amend(desk, inbox, proposal));
  printFolded(desk, desk.terminal.color.dim(`/inbox accept ${proposal.id} keeps it like this`));
};

const ACTS: ReadonlyMap<string, Act> = new Map([
  ["accept", accept],
  ["reject", reject],
  ["edit", edit],
]);

async function walk(desk: Desk, inbox: Inbox, choose: NonNullable<Desk["choose"]>): Promise<void> {
  const ids = inbox.list().map(({ id }) => id);
  for (const [at, id] of ids.entries()) {
    const question = `Keep this? (${at + 1} of ${ids.length})`;
    if ((await decide(desk, inbox, id, (choices) => choose(question, choices))) === "stop") break;
  }
  tellWaiting(desk, inbox.list().length);
}

/** Until it is decided or put off. What was seen is what is accepted, whoever changes the proposal meanwhile. */
async function decide(
  desk: Desk,
  inbox: Inbox,
  id: string,
  choose: (choices: readonly Choice[]) => Promise<string | null>,
): Promise<"next" | "stop"> {
  for (;;) {
    const proposal = inbox.list().find((one) => one.id === id);
    // Somebody else was faster.
    if (!proposal) return "next";
    await show(desk, proposal);
    const key = await choose(choicesFor(desk, proposal));
    if (key === null || key === "s") return "stop";
    if (key === "l") return "next";
    try {
      if (key === "e") await amend(desk, inbox, proposal);
      else {
        await (key === "a" ? accept : reject)(desk, inbox, proposal);
        return "next";
      }
    } catch (error) {
      // It still waits: another answer may do.
      if (!(error instanceof MemdirError)) throw error;
      desk.terminal.warn(`memdir: ${sanitiseLine(error.message)}`);
    }
  }
}

function choicesFor({ release }: Desk, { action }: Proposal): Choice[] {
  return [
    { key: "a", label: action === "forget" ? "accept: the memory goes" : "accept: it is remembered" },
    ...(release && action !== "forget" ? [{ key: "e", label: "edit it first" }] : []),
    { key: "r", label: "reject: it does not come back" },
    { key: "l", label: "later" },
    { key: "s", label: "stop here" },
  ];
}

async function amend({ release, memdir }: Desk, inbox: Inbox, proposal: Proposal): Promise<Proposal> {
  if (!release) throw new MemdirError("usage", `an editor needs a terminal: memdir inbox edit ${proposal.id}`);
  return release(() => editProposal(memdir, inbox, proposal));
}

async function listAll(desk: Desk, inbox: Inbox): Promise<void> {
  const proposals = inbox.list();
  for (const proposal of proposals) await show(desk, proposal);
  tellWaiting(desk, proposals.length);
}

function tellWaiting(desk: Desk, count: number): void {
  if (count === 0) desk.terminal.print("the inbox is empty");
  else printFolded(desk, desk.terminal.color.dim(`${count} waiting: /inbox accept ID, edit ID or reject ID`));
}

async function show({ memdir, terminal, columns }: Desk, proposal: Proposal): Promise<void> {
  const look = { paint: openPaint(terminal.colored), columns: columns() };
  terminal.print(await viewProposal(memdir, proposal, look));
  terminal.print("");
}
