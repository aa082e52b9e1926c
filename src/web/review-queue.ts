/** The queue of Review: proposals, steps of a dream, conflicts, duplicates, findings and memories without cues, each as an item with its verbs. */

import { MemdirError } from "../errors.ts";
import { lastPlan } from "../learn/dream.ts";
import { changesOf, hashOf, namedFiles, type Op } from "../learn/dream-plan.ts";
import { choosePoor } from "../learn/enrich.ts";
import type { Proposal } from "../learn/proposal.ts";
import { openLearning } from "../open-learn.ts";
import type { Row } from "../store/store.ts";
import { sha256 } from "../text/hash.ts";
import { findVerdict, formatVerdict, readVerdicts } from "../truth/verdicts.ts";
import { type Duplicate, type KnownRow, mainOf, type Page, titleOf } from "./answer.ts";
import { answerMemories, findTitles } from "./answer-memories.ts";
import { findConflicts } from "./answer-team.ts";
import { type MemoryTitle, REVIEW_KINDS, type ReviewCounts, type ReviewItem, type ReviewVerb } from "./api.ts";
import { readHealth } from "./health.ts";

/** Asked after every change: no memory is read for it. */
export async function countReview(page: Page): Promise<ReviewCounts> {
  return countKinds((await readQueue(page)).waiting);
}

export interface Waiting {
  item: ReviewItem;
  proposal?: Proposal;
  step?: { op: Op; base: Record<string, string> };
}

/** In the order in which a person should decide: what blocks others first, what only helps last. */
export async function readQueue(page: Page): Promise<{ waiting: Waiting[]; isComplete: boolean }> {
  const skipped = new Set(skippedIn(page).read() ?? []);
  const { pairs, isComplete } = await readDuplicates(page);
  const dreamt = await steps(page);
  // What a step merges already is not proposed twice.
  const merged = dreamt.flatMap(({ step }) => (step?.op.kind === "merge" ? [new Set(step.op.files)] : []));
  const left = pairs.filter(({ directory, file, other }) => {
    return directory > 0 || !merged.some((files) => files.has(file) && files.has(other));
  });
  const found = [
    ...(await conflicts(page)),
    ...(await proposals(page)),
    ...dreamt,
    ...(await findings(page)),
    ...(await duplicates(page, left)),
    ...(await withoutCues(page)),
  ];
  return { waiting: found.filter(({ item }) => !skipped.has(item.id)), isComplete };
}

export async function findWaiting(page: Page, id: string): Promise<Waiting> {
  const found = (await readQueue(page)).waiting.find(({ item }) => item.id === id);
  if (found) return found;
  throw new MemdirError("not-found", "this no longer waits: it was decided, or its memory has changed");
}

export function countKinds(waiting: readonly Waiting[]): ReviewCounts {
  const count = (kind: string) => waiting.filter(({ item }) => item.kind === kind).length;
  return Object.fromEntries(REVIEW_KINDS.map((kind) => [kind, count(kind)])) as ReviewCounts;
}

/** Verbs only where something can be changed. */
function itemOf(page: Page, item: Omit<ReviewItem, "other"> & { other?: MemoryTitle | null }): Waiting {
  const directory = page.memdir.directories[item.memory?.directory ?? 0];
  const isReadOnly = page.readOnly || directory?.readOnly === true;
  const open: ReviewVerb[] = item.memory ? ["open"] : [];
  return { item: { other: null, ...item, verbs: isReadOnly ? open : [...item.verbs, ...open] } };
}

function idOf(...of: unknown[]): string {
  return sha256(JSON.stringify(of)).slice(0, 16);
}

function stampOf({ bytes, mtimeMs }: KnownRow): unknown {
  return [bytes, Math.round(mtimeMs)];
}

/** The rows of every directory, with the directory's number. */
async function eachRow(page: Page): Promise<{ row: KnownRow; at: number }[]> {
  return (await answerMemories(page)).rows.map((row) => ({ row, at: row.directory }));
}

async function rowsOf(page: Page, directory: number): Promise<KnownRow[]> {
  return (await answerMemories(page)).rows.filter((row) => row.directory === directory);
}

async function conflicts(page: Page): Promise<Waiting[]> {
  const lists = page.memdir.directories.map(async (directory, at) =>
    findConflicts(directory, at, await rowsOf(page, at)).map(({ ours, copy, type }) =>
      itemOf(page, {
        ...{
          id: idOf("conflict", copy),
          kind: "conflict",
          title: ours.name,
          type,
          at: null,
          memory: ours,
          other: copy,
        },
        says: "Two people changed it: yours and the other version differ",
        verbs: ["merge", "skip"],
      }),
    ),
  );
  return (await Promise.all(lists)).flat();
}

const ACTIONS: Record<Proposal["action"], string> = { save: "New", update: "Change", forget: "Forget" };

async function proposals(page: Page): Promise<Waiting[]> {
  const find = await findTitles(page);
  return openLearning(page.memdir)
    .inbox.list()
    .map((proposal) => {
      const { id, action, name, description, type, at, file } = proposal;
      const verbs: ReviewVerb[] = action === "forget" ? ["accept", "skip"] : ["accept", "edit", "skip"];
      const what = proposal.scope ? `${ACTIONS[action]} in the ${proposal.scope}'s memories` : ACTIONS[action];
      const says = [what, description].filter((part) => part !== "").join(": ");
      const place = placeOf(page, proposal);
      const memory = file === null || place < 0 ? null : find(place, file);
      return { ...itemOf(page, { id, kind: "proposal", title: name, says, type, at, memory, verbs }), proposal };
    });
}

/** The number of the directory that a proposal is for; -1 where it is not open yet. */
export function placeOf({ memdir }: Page, { scope }: Proposal): number {
  return scope === undefined ? 0 : memdir.directories.findIndex((each) => each.scope === scope);
}

/** Steps that still fit: one whose memories have changed since would be refused. */
async function steps(page: Page): Promise<Waiting[]> {
  const { directory } = openLearning(page.memdir);
  const plan = lastPlan(directory).read();
  if (!plan) return [];
  const find = await findTitles(page);
  const types = new Map((await rowsOf(page, 0)).map(({ file, type }) => [file, type]));
  return plan.ops.flatMap((op) => {
    const files = op.kind === "create" ? [] : namedFiles(op);
    if (namedFiles(op).some((file) => hashOf(directory, file) !== (plan.base[file] ?? null))) return [];
    const [first] = [...changesOf(op).keys()];
    const memory = files[0] === undefined ? null : find(0, files[0]);
    const verbs: ReviewVerb[] = memory ? ["accept", "skip", "pin", "edit"] : ["accept", "skip"];
    const title = first === undefined ? "The index" : find(0, first).name;
    const type = types.get(files[0] ?? "") ?? null;
    const says = describe(op, (file) => find(0, file).name);
    const item = itemOf(page, { id: idOf("dream", op), kind: "dream", title, says, type, at: null, memory, verbs });
    return [{ ...item, step: { op, base: plan.base } }];
  });
}

function describe(op: Op, nameOf: (file: string) => string): string {
  if (op.kind === "merge") {
    const others = op.files.filter((file) => file !== op.into).map(nameOf);
    return `Merge ${others.join(", ")} into ${nameOf(op.into)}`;
  }
  if (op.kind === "create") return `Write ${nameOf(op.file)}`;
  if (op.kind === "rewrite") return `Rewrite: ${op.reason}`;
  if (op.kind === "reindex") return `Tidy the index: ${op.reason}`;
  return op.successor ? `Forget: ${nameOf(op.successor)} replaces it` : `Forget: ${op.reason}`;
}

async function findings(page: Page): Promise<Waiting[]> {
  const verdicts = page.memdir.directories.map(({ path }) => readVerdicts(path));
  const hasTeam = page.memdir.directories.some(({ scope }) => scope === "team");
  return (await eachRow(page)).flatMap(({ row, at }) => {
    const kept = findVerdict(verdicts[at] ?? new Map(), row.file, row);
    if (kept?.verdict !== "doubtful") return [];
    const says = formatVerdict({ ...kept, says: capitalise(kept.says) }).replace(/ \(checked [^)]*\)$/, "");
    const isMoved = /, moved to /.test(kept.says);
    const more: ReviewVerb[] = [
      row.pinned ? "unpin" : "pin",
      ...(mayShare(row, hasTeam) ? (["promote"] as const) : []),
    ];
    return itemOf(page, {
      ...{ id: idOf("finding", at, row.file, stampOf(row)), kind: "finding", title: row.name, says, type: row.type },
      ...{ at: row.modified, memory: titleOf({ ...row, directory: at }) },
      verbs: [...(isMoved ? (["fix"] as const) : []), "true", "edit", "forget", "skip", ...more],
    });
  });
}

/** What is about a person is not shared. */
function mayShare({ scope, type }: Row, hasTeam: boolean): boolean {
  return hasTeam && scope !== "team" && type !== "user";
}

export function capitalise(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

async function duplicates(page: Page, pairs: readonly Duplicate[]): Promise<Waiting[]> {
  const rows = new Map((await eachRow(page)).map(({ row, at }) => [`${at}/${row.file}`, row]));
  return pairs.flatMap(({ directory, file, other, isExact }) => {
    const [one, two] = [rows.get(`${directory}/${file}`), rows.get(`${directory}/${other}`)];
    if (!one || !two) return [];
    return itemOf(page, {
      ...{ id: idOf("duplicate", file, other, stampOf(one), stampOf(two)), kind: "duplicate", title: one.name },
      says: `Says ${isExact ? "" : "nearly "}the same as ${two.name}`,
      ...{ type: one.type, at: one.modified },
      ...{ memory: titleOf({ ...one, directory }), other: titleOf({ ...two, directory }) },
      verbs: ["merge", "skip"],
    });
  });
}

async function withoutCues(page: Page): Promise<Waiting[]> {
  const log = mainOf(page.memdir).path;
  const hasTeam = page.memdir.directories.some(({ scope }) => scope === "team");
  const lists = page.memdir.directories.map(async (directory, at) =>
    (directory.readOnly ? [] : choosePoor(await rowsOf(page, at), log)).map((row) =>
      itemOf(page, {
        ...{ id: idOf("cues", at, row.file), kind: "cues", title: row.name, type: row.type, at: row.modified },
        ...{ says: row.description || "It has no cues", memory: titleOf({ ...row, directory: at }) },
        verbs: [
          ...(["cue", "edit", "forget", "skip"] as const),
          ...[row.pinned ? ("unpin" as const) : ("pin" as const)],
          ...(mayShare(row, hasTeam) ? (["promote"] as const) : []),
        ],
      }),
    ),
  );
  return (await Promise.all(lists)).flat();
}

/** As the health finds them: it reads every memory, so they come from its last measurement. */
async function readDuplicates(page: Page): Promise<{ pairs: Duplicate[]; isComplete: boolean }> {
  const { last, isComplete } = await readHealth(page);
  const pairs = (last?.findings ?? []).flatMap(({ kind, directory, file: other, others }) => {
    if (kind !== "duplicate" && kind !== "near-duplicate") return [];
    return others.map((file) => ({ directory, file, other, isExact: kind === "duplicate" }));
  });
  return { pairs, isComplete };
}

/** More than are ever skipped; the oldest may come up again. */
const MAX_SKIPPED = 5_000;

function skippedIn({ memdir }: Page) {
  const parse = (value: unknown) =>
    Array.isArray(value) ? value.filter((id): id is string => typeof id === "string") : null;
  return mainOf(memdir).state().record<string[]>("review-skipped", parse);
}

export async function changeSkipped(page: Page, edit: (ids: string[]) => string[]): Promise<void> {
  await mainOf(page.memdir).change(() => {
    const record = skippedIn(page);
    record.write(edit(record.read() ?? []).slice(-MAX_SKIPPED));
  });
}
