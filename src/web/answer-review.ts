/** Review: everything that waits for a person as one queue, each item in detail, and what is done with it. */

import { MemdirError } from "../errors.ts";
import { flag, group, number, text } from "../input.ts";
import { previewProposal } from "../learn/apply.ts";
import { applySeenPlan } from "../learn/dream.ts";
import { lastDream } from "../learn/dream-gates.ts";
import { namedFiles } from "../learn/dream-plan.ts";
import type { Proposal } from "../learn/proposal.ts";
import { addCues } from "../memory/cues.ts";
import { findByRef } from "../memory/find.ts";
import { memoriesFor, openLearning } from "../open-learn.ts";
import { parseMemory, type Store, signEntry } from "../store/store.ts";
import { editFields } from "../text/frontmatter.ts";
import { localDay } from "../text/local-day.ts";
import { amend } from "../truth/amendment.ts";
import { isShown } from "../truth/claim.ts";
import { readVerdicts } from "../truth/verdicts.ts";
import { accept, reject } from "../verbs/inbox.ts";
import { capitalise, get, mainOf, NAME, type Page, post, REF, WRITTEN } from "./answer.ts";
import { readSide } from "./answer-change.ts";
import { examine } from "./answer-memory.ts";
import type { ChangedAnswer, ReviewAnswer, ReviewDetail } from "./api.ts";
import { baseOf, detail } from "./review-detail.ts";
import { changeSkipped, findWaiting, placeOf, readQueue } from "./review-queue.ts";

export const REVIEW_ROUTES = [
  get("/api/review", {}, async (page): Promise<ReviewAnswer> => {
    const { waiting, counts, isComplete } = await readQueue(page);
    const dreamt = lastDream(openLearning(page.memdir).directory);
    return {
      items: waiting.map(({ item }) => item),
      ...{ counts, isComplete },
      checked: lastCheck(page),
      dreamt: dreamt > 0 ? new Date(dreamt).toISOString() : null,
    };
  }),
  get("/api/review/item", { id: NAME }, async (page, { id }): Promise<ReviewDetail> => {
    return detail(page, await findWaiting(page, id));
  }),
  /** A proposal, with the person's own words where they changed some, or a step of a dream. `base` is that of the detail they saw. */
  post("/api/review/accept", { id: NAME, amended: group(WRITTEN), base: text() }, async (page, { id, ...seen }) => {
    const { item, proposal, step } = await findWaiting(page, id);
    if (proposal) return acceptProposal(page, proposal, seen);
    if (!step) throw new MemdirError("usage", `${item.title} has nothing to accept; choose another verb`);
    // Its own memories only: an earlier step has changed others.
    const named = new Set(namedFiles(step.op));
    const base = Object.fromEntries(Object.entries(step.base).filter(([file]) => named.has(file)));
    const entry = await applySeenPlan(mainOf(page.memdir), { ops: [step.op], base }, process.pid);
    return { message: item.says, entry, ref: null } satisfies ChangedAnswer;
  }),
  /** For good, or until the memory that it is about changes. */
  post("/api/review/skip", { id: NAME }, async (page, { id }): Promise<ChangedAnswer> => {
    const { item, proposal } = await findWaiting(page, id);
    if (proposal) {
      keepDecided(page, proposal);
      await reject(page.memdir, proposal);
    } else await changeSkipped(page, (ids) => [...ids, id]);
    return { message: `Skipped ${item.title}`, entry: null, ref: item.memory };
  }),
  /** Puts it back into the queue; a memory whose change was undone is checked again. */
  post("/api/review/restore", { id: NAME, file: text(), directory: number() }, async (page, { id, ...place }) => {
    const proposal = page.kept.decided?.get(id);
    if (proposal) await openLearning(page.memdir).inbox.restore(proposal);
    else await changeSkipped(page, (ids) => ids.filter((each) => each !== id));
    const { directory = 0, file } = place;
    if (file) await page.memdir.verify({ directory, file });
    return { message: "", entry: null, ref: null } satisfies ChangedAnswer;
  }),
  post(
    "/api/mark",
    { ...REF, pinned: flag(), cue: text(), isTrue: flag() },
    async (page, { directory: at, file, pinned, cue, isTrue }): Promise<ChangedAnswer> => {
      const { directory } = findByRef(page.memdir.directories, { directory: at, file });
      const base = readSide(page.memdir, { directory: at, file });
      const { name, metadata } = parseMemory(file, base);
      const done = (message: string, undo: string | null) => ({
        message: `${message} ${name}`,
        entry: undo && signEntry(page.memdir.directories, directory, undo),
        ref: { directory: at, file },
      });
      if (cue) {
        const { undo, refused } = await addCues(directory, [{ file, base, cues: cue.split("\n") }]);
        if (refused[0]) throw new MemdirError("usage", refused[0].reason);
        return done(undo === null ? "Nothing new for" : "Added a cue to", undo);
      }
      if (Object.keys(metadata).length === 0)
        throw new MemdirError("broken", `${file} has no frontmatter to write this into; add one first`);
      const write = async (reason: string, text: string) => {
        const { undo } = await amend(directory, reason, [{ file, base, text }]);
        if (undo !== null || text === base) return undo;
        throw new MemdirError("conflict", `${file} was changed in the meantime: look at it again`);
      };
      if (pinned !== undefined) {
        const marked = editFields(base, { pinned: pinned ? true : null });
        const undo = await write(pinned ? "pinned" : "no longer pinned", marked);
        if (undo === null) return done(pinned ? "Already pinned:" : "Not pinned:", null);
        return done(pinned ? "Pinned" : "Unpinned", undo);
      }
      if (!isTrue) throw new MemdirError("usage", "say what to mark: pinned, a cue, or that it is still true");
      const confirmed = await confirm(page, directory, { file, base });
      const undo = await write("a person says it is still true", confirmed);
      await page.memdir.verify({ directory: at, file });
      return done("Confirmed", undo);
    },
  ),
];

function lastCheck({ memdir }: Page): string | null {
  const times = memdir.directories.flatMap(({ path }) => [...readVerdicts(path).values()].map(({ at }) => at));
  return times.reduce<string | null>((last, at) => (last === null || at > last ? at : last), null);
}

type Amended = { cues?: string[] | undefined } & Record<string, unknown>;

async function acceptProposal(
  page: Page,
  waiting: Proposal,
  { amended, base }: { amended?: Amended | undefined; base?: string | undefined },
): Promise<ChangedAnswer> {
  const { memdir } = page;
  const seen = base === undefined ? null : await previewProposal(memoriesFor(memdir, waiting), waiting);
  if (seen && baseOf(seen) !== base)
    throw new MemdirError("conflict", `${waiting.name} was changed since you saw it: look at it again`);
  const { cues: when, ...words } = amended ?? {};
  const { inbox } = openLearning(memdir);
  const proposal = amended ? await inbox.amend(waiting.id, { ...words, ...(when && { when }) }) : waiting;
  const { done, file, undo, name } = await accept(memdir, proposal, seen && (seen.before ?? ""));
  keepDecided(page, proposal);
  const directory = placeOf(page, proposal);
  const ref = file === null || done === "forgotten" || directory < 0 ? null : { directory, file };
  return {
    message: done === "unchanged" ? `${name}: a memory already says this` : `${capitalise(done)} ${name}`,
    entry: undo,
    ref,
  };
}

/** Within reach of an undo; a page is not open for longer than its toasts and a person's patience. */
const MAX_DECIDED = 500;

function keepDecided({ kept }: Page, proposal: Proposal): void {
  kept.decided ??= new Map();
  kept.decided.set(proposal.id, proposal);
  const [oldest] = kept.decided.keys();
  if (kept.decided.size > MAX_DECIDED && oldest !== undefined) kept.decided.delete(oldest);
}

/** Marks what was found as checked by a person, and the memory as confirmed today. */
async function confirm(page: Page, directory: Store, { file, base }: { file: string; base: string }): Promise<string> {
  const found = await examine(page, { directory: page.memdir.directories.indexOf(directory), file });
  const today = localDay(page.now());
  const claims = (found?.findings ?? []).filter(isShown).map(({ claim }) => `${claim.text}: still true, ${today}`);
  const known = (found?.silenced ?? []).map((each) => `${each.text}: ${each.reason}`);
  const unchecked = [...new Set([...known, ...claims])];
  const verified = page.now().toISOString();
  return editFields(base, { verified, ...(claims.length > 0 && { unchecked }) });
}
