/** What waits for review: proposals in the inbox and the plan of a dream, and applying them. */

import { MemdirError } from "../errors.ts";
import { group } from "../input.ts";
import { previewProposal } from "../learn/apply.ts";
import { applySeenPlan } from "../learn/dream.ts";
import { lastDream } from "../learn/dream-gates.ts";
import { changesOf, countOps, describeOp, type Op } from "../learn/dream-plan.ts";
import type { Proposal } from "../learn/proposal.ts";
import type { Memdir } from "../memdir.ts";
import { openLearning } from "../open-learn.ts";
import { findText, type Store } from "../store/store.ts";
import { accept, reject } from "../verbs/inbox.ts";
import { diffTexts, get, mainOf, NAME, post, WRITTEN } from "./answer.ts";
import type { ChangedAnswer, DiffLine, DreamAnswer, InboxAnswer, ProposalRow } from "./api.ts";

export const REVIEW_ROUTES = [
  get("/api/inbox", {}, async ({ memdir }): Promise<InboxAnswer> => {
    const rows = openLearning(memdir)
      .inbox.list()
      .map(async (proposal): Promise<ProposalRow> => {
        const { id, action, from, at, name, type, description, body, when: cues, reason: why } = proposal;
        const diff = await diffProposal(memdir, proposal);
        return { id, action, from, at, name, type, description, body, cues, why, diff };
      });
    return { proposals: await Promise.all(rows) };
  }),
  /** With the person's own words where they changed some; checked for secrets like every save. */
  post("/api/inbox/accept", { id: NAME, amended: group(WRITTEN) }, async ({ memdir }, { id, amended }) => {
    const waiting = findWaiting(memdir, id);
    const { cues: when, ...words } = amended ?? {};
    const { inbox } = openLearning(memdir);
    const proposal = amended ? await inbox.amend(id, { ...words, ...(when && { when }) }) : waiting;
    const { done, file, undo, name } = await accept(memdir, proposal);
    const message = done === "unchanged" ? `${file ?? name} already says this` : `${done} ${file ?? name}`;
    const ref = file === null || done === "forgotten" ? null : { directory: 0, file };
    return { message, entry: undo, ref } satisfies ChangedAnswer;
  }),
  post("/api/inbox/reject", { id: NAME }, async ({ memdir }, { id }): Promise<ChangedAnswer> => {
    const { name } = await reject(memdir, findWaiting(memdir, id));
    return { message: `rejected ${name}: it will not be proposed again`, entry: null, ref: null };
  }),
  get("/api/dream", {}, async ({ memdir, kept: { plan: waiting } }): Promise<DreamAnswer> => {
    const { directory } = openLearning(memdir);
    const last = lastDream(directory);
    return {
      plan: waiting && {
        id: waiting.id,
        made: waiting.made,
        summary: countOps(waiting.plan),
        ops: waiting.plan.ops.map((op) => ({ says: describeOp(op), diff: diffOp(directory, op) })),
      },
      last: last > 0 ? new Date(last).toISOString() : null,
    };
  }),
  /** Exactly what was shown: another plan, or memories that changed since, are a conflict. */
  post("/api/dream/apply", { plan: NAME }, async ({ memdir, kept }, { plan }): Promise<ChangedAnswer> => {
    const waiting = kept.plan;
    if (waiting?.id !== plan) {
      throw new MemdirError(
        "conflict",
        "this plan has been replaced or applied; review the current one, or make a new plan",
      );
    }
    const entry = await applySeenPlan(openLearning(memdir).directory, waiting.plan, process.pid);
    kept.plan = null;
    return { message: entry === null ? "there was nothing to do" : countOps(waiting.plan), entry, ref: null };
  }),
];

/** By the whole id, so that a button is never ambiguous. */
function findWaiting(memdir: Memdir, id: string): Proposal {
  const found = openLearning(memdir)
    .inbox.list()
    .find((proposal) => proposal.id === id);
  if (found) return found;
  throw new MemdirError("not-found", `the proposal ${JSON.stringify(id.slice(0, 40))} is no longer in the inbox`);
}

/** A memory that cannot be read has no diff; accepting reports what is wrong with it. */
async function diffProposal(memdir: Memdir, proposal: Proposal): Promise<DiffLine[]> {
  try {
    const { before, after } = await previewProposal(memdir, proposal);
    return diffTexts(before ?? "", after);
  } catch (error) {
    mainOf(memdir).log((error as Error).message);
    return [];
  }
}

/** Several files one after the other, each under its name. */
function diffOp(directory: Store, op: Op): DiffLine[] {
  if (op.kind === "reindex") return op.dead.map((file) => ({ kind: "removed", text: `the line of ${file}` }));
  const changes = [...changesOf(op)];
  return changes.flatMap(([file, text]): DiffLine[] => {
    const name: DiffLine[] = changes.length === 1 ? [] : [{ kind: "file", text: file }];
    return [...name, ...diffTexts(findText(directory, file) ?? "", text ?? "")];
  });
}
