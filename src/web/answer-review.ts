/** Review: everything that waits for a person as one queue, each item in detail, and what is done with it. */

import { MemdirError } from "../errors.ts";
import { flag, group, type Input, number, text } from "../input.ts";
import { previewProposal } from "../learn/apply.ts";
import { applySeenPlan } from "../learn/dream.ts";
import { lastDream } from "../learn/dream-gates.ts";
import { changesOf, namedFiles } from "../learn/dream-plan.ts";
import type { Proposal } from "../learn/proposal.ts";
import { addCues } from "../memory/edit.ts";
import { findByRef } from "../memory/memories.ts";
import { memoriesFor, openLearning } from "../open-learn.ts";
import { findText, parseMemory, type Store, signEntry, stemOf } from "../store/store.ts";
import { settleText } from "../team/merge.ts";
import { editFields } from "../text/frontmatter.ts";
import { sha256 } from "../text/hash.ts";
import { localDay } from "../text/local-day.ts";
import { amend, fixText } from "../truth/amendment.ts";
import { isShown } from "../truth/claim.ts";
import { readVerdicts } from "../truth/verdicts.ts";
import { accept, reject } from "../verbs/inbox.ts";
import { capitalise, get, mainOf, NAME, type Page, post, REF, WRITTEN } from "./answer.ts";
import { readSide } from "./answer-change.ts";
import { openLinkage } from "./answer-map.ts";
import { findTitles } from "./answer-memories.ts";
import { claimRows, examine } from "./answer-memory.ts";
import type { FindLinked } from "./markdown-tree.ts";
import { changeSkipped, findWaiting, placeOf, readQueue, type Waiting, withNames } from "./review-queue.ts";
import type { ChangedAnswer, MemoryTitle, Ref, ReviewDetail, ReviewItem } from "./shapes.ts";
import { compareTexts } from "./text-parts.ts";

/** `base` is that of the detail that the person saw, `amended` what they wrote instead. */
const SEEN = { amended: group(WRITTEN), base: text() };

type Seen = Input<typeof SEEN>;

export const REVIEW_ROUTES = [
  get("/api/review", {}, viewQueue),
  get("/api/review/item", { id: NAME }, async (page, { id }) => detail(page, await findWaiting(page, id))),
  /** A proposal, with the person's own words where they changed some, or a step of a dream. */
  post("/api/review/accept", { id: NAME, ...SEEN }, async (page, { id, ...seen }) => {
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

export async function viewQueue(page: Page) {
  const { waiting, counts } = await readQueue(page);
  const dreamt = lastDream(openLearning(page.memdir).directory);
  return {
    items: waiting.map(({ item }) => item),
    counts,
    /** When memories were last checked, and the last dream was. */
    checked: lastCheck(page),
    dreamt: dreamt > 0 ? new Date(dreamt).toISOString() : null,
  };
}

function lastCheck({ memdir }: Page): string | null {
  const times = memdir.directories.flatMap(({ path }) => [...readVerdicts(path).values()].map(({ at }) => at));
  return times.reduce<string | null>((last, at) => (last === null || at > last ? at : last), null);
}

async function acceptProposal(page: Page, waiting: Proposal, { amended, base }: Seen): Promise<ChangedAnswer> {
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

// --- What the right side shows of one item: the memory before and after, its reason, where it comes from, and the verbs that fit.

async function detail(page: Page, waiting: Waiting): Promise<ReviewDetail> {
  const { item, proposal, step } = waiting;
  const { find } = openLinkage(page.memdir);
  const none: ReviewDetail = { reason: "", origin: [], changes: [], claims: [], texts: null, base: null, words: null };
  if (proposal) return { ...none, ...(await detailProposal(page, proposal, item, find)) };
  if (step) {
    const { directory } = openLearning(page.memdir);
    const changes = [...changesOf(step.op)].map(async ([file, after]) => {
      const before = findText(directory, file);
      return changeOf({ title: nameIn(file, after ?? before), ref: { directory: 0, file } }, before, after, find);
    });
    return {
      ...none,
      reason: step.op.kind === "reindex" ? sayIndex(step.op.dead) : withNames(step.op.reason, await findTitles(page)),
      origin: originOf(page, item.memory),
      changes: await Promise.all(changes),
    };
  }
  const [left, right] = [item.memory, item.other].map((title) => title && readWhole(page, title));
  const reason = item.kind === "cues" ? NO_CUES : "";
  const memory = item.memory && { title: item.title, ref: item.memory };
  if (!memory || left === null || left === undefined) return { ...none, reason };
  const known = { ...none, reason, origin: originOf(page, item.memory) };
  if (right) {
    const change = await changeOf(memory, left, settleText(right), find);
    return { ...known, texts: { left, right }, changes: [change] };
  }
  if (item.kind !== "finding") return { ...known, changes: [await changeOf(memory, left, left, find)] };
  const found = await examine(page, memory.ref);
  const { text: fixed } = fixText(memory.ref.file, left, (found?.findings ?? []).filter(isShown));
  return { ...known, claims: claimRows(found), changes: [await changeOf(memory, left, fixed, find)] };
}

function sayIndex(dead: readonly string[]): string {
  if (dead.length === 0) return "The lines of the index are put in order; no memory changes.";
  return `Lines of files that are gone leave the index: ${dead.join(", ")}.`;
}

const NO_CUES =
  "A cue is what a person would say when this memory helps. Without one it is found by its own words alone.";

type Change = ReviewDetail["changes"][0];

async function changeOf(
  { title, ref }: Pick<Change, "title" | "ref">,
  before: string | null,
  after: string | null,
  find: FindLinked,
): Promise<Change> {
  const parts = await compareTexts(before, after, find);
  const isChanged = parts.some((part) => part.before !== part.after && !part.isQuiet);
  const effect = before === null ? "new" : after === null ? "removed" : isChanged ? "changed" : "same";
  return { effect, title, ref: ref && { directory: ref.directory, file: ref.file }, parts };
}

function nameIn(file: string, text: string | null): string {
  return (text === null ? "" : parseMemory(file, text).name) || stemOf(file);
}

function readWhole({ memdir }: Page, { directory, file }: Ref): string | null {
  const store = memdir.directories[directory];
  return store ? findText(store, file) : null;
}

const FROM: Record<Proposal["from"], string> = {
  extraction: "a model that read the conversation",
  rules: "memdir, offline, from the conversation",
  dream: "a dream",
  agent: "an agent",
  enrich: "a model that writes cues",
};

const SAID: Record<string, string> = {
  user: "you",
  inferred: "an agent’s conclusion",
  tool: "a tool’s output",
  document: "a document",
};

/** Another one as soon as the memory or what is proposed for it changes. */
function baseOf({ before, after }: { before: string | null; after: string }): string {
  return sha256(JSON.stringify([before, after]));
}

/** A memory that cannot be read has no diff; accepting reports what is wrong with it. */
async function detailProposal(
  { memdir }: Page,
  proposal: Proposal,
  item: ReviewItem,
  find: FindLinked,
): Promise<Partial<ReviewDetail>> {
  const { reason, from, trust, session, name, type, description, body, when: cues } = proposal;
  const origin = [
    { label: "Proposed by", value: FROM[from] },
    { label: "Said by", value: SAID[trust] ?? trust, ...(session !== null && { session }) },
  ];
  const words = proposal.action === "forget" ? null : { name, type, description, body, cues };
  try {
    const { before, after } = await previewProposal(memoriesFor(memdir, proposal), proposal);
    const ref = before === null ? null : item.memory;
    const change = await changeOf({ title: name, ref }, before, after === "" ? null : after, find);
    return { reason, origin, words, base: baseOf({ before, after }), changes: [change] };
  } catch (error) {
    mainOf(memdir).log((error as Error).message);
    return { reason, origin, words };
  }
}

function originOf(page: Page, title: MemoryTitle | null): ReviewDetail["origin"] {
  const text = title && readWhole(page, title);
  if (!title || !text) return [];
  const { source, created, modified } = parseMemory(title.file, text);
  const written = created ?? modified;
  return [
    { label: "Scope", value: page.memdir.directories[title.directory]?.scope ?? "" },
    ...(source
      ? [{ label: "Said by", value: SAID[source.by] ?? source.by, ...(source.session && { session: source.session }) }]
      : []),
    ...(written ? [{ label: "Written", value: written }] : []),
  ];
}
