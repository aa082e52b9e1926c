/** Proposals before a person, one by one: each is shown as a diff and kept, edited, rejected or put off. */

import { MemdirError } from "../errors.ts";
import type { Proposal } from "../learn/proposal.ts";
import type { Memdir } from "../memdir.ts";
import { openLearning } from "../open-learn.ts";
import type { Choice, Context, Reader } from "../verb.ts";
import { accept, type Decided, preview, reject, sayDecided, sayProposal } from "./inbox.ts";

/** A choice, and what it does; `all` accepts this one and the rest. */
export type Step = Choice & { does: "accept" | "all" | "edit" | "reject" | "later" | "stop" };

export interface Reviewing extends Pick<Context, "show"> {
  choose: NonNullable<Context["choose"]>;
  steps: readonly Step[];
  /** Opens it in the person's editor; null where there is none. */
  edit: ((proposal: Proposal) => Promise<unknown>) | null;
  call: Reader["call"];
}

/** What was decided, in order; what is put off still waits. */
export async function review(memdir: Memdir, reviewing: Reviewing): Promise<Decided[]> {
  const { inbox } = openLearning(memdir);
  const ids = inbox.list().map(({ id }) => id);
  const decided: Decided[] = [];
  let all = false;
  for (const [at, id] of ids.entries()) {
    const question = `Keep this? (${at + 1} of ${ids.length})`;
    const done = await decide(memdir, id, question, reviewing, all);
    if (done === "stop") break;
    all = done.all;
    if (done.decided) decided.push(done.decided);
  }
  return decided;
}

type Done = "stop" | { decided: Decided | null; all: boolean };

/** Until it is decided or put off. */
async function decide(memdir: Memdir, id: string, question: string, reviewing: Reviewing, all: boolean): Promise<Done> {
  const { show, choose, edit, call, steps } = reviewing;
  const { inbox } = openLearning(memdir);
  let isForced = all;
  for (;;) {
    const proposal = inbox.list().find((one) => one.id === id);
    // It was decided elsewhere meanwhile.
    if (!proposal) return { decided: null, all };
    if (!isForced) show(sayProposal(await preview(memdir, proposal)));
    const offered = steps.filter(({ does }) => does !== "edit" || (edit !== null && proposal.action !== "forget"));
    const key = isForced ? null : await choose(question, offered);
    const does = isForced ? "all" : steps.find((step) => step.key === key)?.does;
    if (does === undefined || does === "stop") return "stop";
    if (does === "later") return { decided: null, all };
    try {
      if (does === "edit") await edit?.(proposal);
      else {
        const decided = await (does === "reject" ? reject : accept)(memdir, proposal);
        show(sayDecided(decided, call));
        return { decided, all: does === "all" };
      }
    } catch (error) {
      // It still waits: another answer may do.
      if (!(error instanceof MemdirError)) throw error;
      show([{ warning: error.message }]);
      isForced = false;
    }
  }
}
