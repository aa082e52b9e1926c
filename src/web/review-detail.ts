/** What the right side of Review shows of one item: the memory before and after, its reason, where it comes from, and the verbs that fit. */

import { previewProposal } from "../learn/apply.ts";
import { changesOf } from "../learn/dream-plan.ts";
import type { Proposal } from "../learn/proposal.ts";
import { memoriesFor, openLearning } from "../open-learn.ts";
import { findText, parseMemory, stemOf } from "../store/store.ts";
import { settleText } from "../team/conflict-copy.ts";
import { sha256 } from "../text/hash.ts";
import { fixText } from "../truth/amendment.ts";
import { isShown } from "../truth/claim.ts";
import { mainOf, type Page } from "./answer.ts";
import { openLinkage } from "./answer-map.ts";
import { findTitles } from "./answer-memories.ts";
import { claimRows, examine } from "./answer-memory.ts";
import type { MemoryTitle, Ref, ReviewDetail, ReviewItem } from "./api.ts";
import type { Waiting } from "./review-queue.ts";
import { compareTexts } from "./text-parts.ts";

export async function detail(page: Page, waiting: Waiting): Promise<ReviewDetail> {
  const { item, proposal, step } = waiting;
  const linkage = openLinkage(page.memdir);
  const compare = (before: string | null, after: string | null) =>
    compareTexts(before, after, (name) => linkage.find(name));
  const none: ReviewDetail = { reason: "", origin: [], changes: [], claims: [], texts: null, base: null, words: null };
  if (proposal) return { ...none, ...(await detailProposal(page, proposal, item, compare)) };
  if (step) {
    const { directory } = openLearning(page.memdir);
    const changes = [...changesOf(step.op)].map(async ([file, after]) => {
      const before = findText(directory, file);
      return changeOf({ title: nameIn(file, after ?? before), ref: { directory: 0, file } }, before, after, compare);
    });
    return {
      ...none,
      reason: step.op.kind === "reindex" ? sayIndex(step.op.dead) : await withNames(page, step.op.reason),
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
    const change = await changeOf(memory, left, settleText(right), compare);
    return { ...known, texts: { left, right }, changes: [change] };
  }
  if (item.kind !== "finding") return { ...known, changes: [await changeOf(memory, left, left, compare)] };
  const found = await examine(page, memory.ref);
  const { text: fixed } = fixText(memory.ref.file, left, (found?.findings ?? []).filter(isShown));
  return { ...known, claims: claimRows(found), changes: [await changeOf(memory, left, fixed, compare)] };
}

function sayIndex(dead: readonly string[]): string {
  if (dead.length === 0) return "The lines of the index are put in order; no memory changes.";
  return `Lines of files that are gone leave the index: ${dead.join(", ")}.`;
}

/** Steps of a dream name files; a person knows memories by their names. */
async function withNames(page: Page, reason: string): Promise<string> {
  const find = await findTitles(page);
  return reason.replace(/[\w.-]+\.md\b/g, (file) => find(0, file).name);
}

const NO_CUES =
  "A cue is what a person would say when this memory helps. Without one it is found by its own words alone.";

type Compare = (before: string | null, after: string | null) => ReturnType<typeof compareTexts>;
type Change = ReviewDetail["changes"][0];

async function changeOf(
  { title, ref }: Pick<Change, "title" | "ref">,
  before: string | null,
  after: string | null,
  compare: Compare,
): Promise<Change> {
  const parts = await compare(before, after);
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
export function baseOf({ before, after }: { before: string | null; after: string }): string {
  return sha256(JSON.stringify([before, after]));
}

/** A memory that cannot be read has no diff; accepting reports what is wrong with it. */
async function detailProposal(
  { memdir }: Page,
  proposal: Proposal,
  item: ReviewItem,
  compare: Compare,
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
    const change = await changeOf({ title: name, ref }, before, after === "" ? null : after, compare);
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
