/** The queue of Review: proposals, steps of a dream, conflicts, duplicates, findings and memories without cues, each as an item with its verbs. */

import { MemdirError } from "../errors.ts";
import { lastPlan } from "../learn/dream.ts";
import { changesOf, describeOp, hashOf, namedFiles, type Op } from "../learn/dream-plan.ts";
import { choosePoor } from "../learn/enrich.ts";
import type { Proposal } from "../learn/proposal.ts";
import { openLearning } from "../open-learn.ts";
import { findText, oneLine, stemOf } from "../store/store.ts";
import { findCompeting, isConflictPath } from "../team/merge.ts";
import { sha256 } from "../text/hash.ts";
import { findVerdict, formatVerdict, readVerdicts } from "../truth/verdicts.ts";
import { capitalise, type Known, type KnownRow, type Measurement, mainOf, type Page, titleOf } from "./answer.ts";
import { answerMemories, type FindTitle, findTitles } from "./answer-memories.ts";
import { readHealth } from "./health.ts";
import { keyOf, REVIEW_KINDS, type ReviewCounts, type ReviewItem, type ReviewVerb } from "./shapes.ts";

export interface Waiting {
  item: ReviewItem;
  proposal?: Proposal;
  step?: { op: Op; base: Record<string, string> };
}

/** In the order in which a person should decide: what blocks others first, what only helps last. No memory is read for it. */
export async function readQueue(page: Page) {
  const { rows, byKey } = await answerMemories(page);
  const find = await findTitles(page);
  const { last } = await readHealth(page);
  const dreamt = steps(page, rows, find);
  const skipped = new Set(skippedIn(page).read() ?? []);
  const found = [
    ...conflicts(page, rows),
    ...proposals(page, find),
    ...dreamt,
    ...findings(page, rows),
    ...duplicates(page, byKey, last?.findings ?? [], dreamt),
    ...withoutCues(page, rows),
  ];
  const waiting = found.filter(({ item }) => !skipped.has(item.id));
  const count = (kind: string) => waiting.filter(({ item }) => item.kind === kind).length;
  const counts = Object.fromEntries(REVIEW_KINDS.map((kind) => [kind, count(kind)])) as ReviewCounts;
  return { waiting, counts };
}

export async function findWaiting(page: Page, id: string): Promise<Waiting> {
  const found = (await readQueue(page)).waiting.find(({ item }) => item.id === id);
  if (found) return found;
  throw new MemdirError("not-found", "this no longer waits: it was decided, or its memory has changed");
}

/** Verbs only where something can be changed. */
function itemOf(page: Page, item: Omit<ReviewItem, "other" | "at"> & Partial<ReviewItem>): Waiting {
  const directory = page.memdir.directories[item.memory?.directory ?? 0];
  const isReadOnly = page.readOnly || directory?.readOnly === true;
  const open: ReviewVerb[] = item.memory ? ["open"] : [];
  return { item: { other: null, at: null, ...item, verbs: isReadOnly ? open : [...item.verbs, ...open] } };
}

/** About a memory that exists. */
function aboutMemory(
  page: Page,
  row: KnownRow,
  item: Pick<ReviewItem, "id" | "kind" | "says" | "verbs"> & Partial<ReviewItem>,
): Waiting {
  return itemOf(page, { title: row.name, type: row.type, at: row.modified, memory: titleOf(row), ...item });
}

function idOf(...of: unknown[]): string {
  return sha256(JSON.stringify(of)).slice(0, 16);
}

function stampOf({ bytes, mtimeMs }: KnownRow): unknown {
  return [bytes, Math.round(mtimeMs)];
}

/** Only a copy that names the memory it conflicts with, as long as that memory exists. */
function conflicts(page: Page, rows: readonly KnownRow[]): Waiting[] {
  return rows.flatMap((copy) => {
    const directory = page.memdir.directories[copy.directory];
    if (!directory || !isConflictPath(copy.file) || copy.unreadable) return [];
    const text = findText(directory, copy.file);
    const named = text === null ? null : findCompeting(text);
    const ours = named === null ? undefined : rows.find((row) => isMeant(row, copy, named));
    if (!ours) return [];
    const other = titleOf(copy);
    const says = "Two people changed it: yours and the other version differ";
    return aboutMemory(page, ours, {
      ...{ id: idOf("conflict", other), kind: "conflict", at: null, other, says, verbs: ["merge", "skip"] },
    });
  });
}

function isMeant(row: KnownRow, copy: KnownRow, named: string): boolean {
  if (row.directory !== copy.directory || row.file === copy.file || isConflictPath(row.file)) return false;
  return oneLine(row.name) === oneLine(named) || stemOf(row.file) === named || row.file === named;
}

const ACTIONS: Record<Proposal["action"], string> = { save: "New", update: "Change", forget: "Forget" };

function proposals(page: Page, find: FindTitle): Waiting[] {
  const { inbox } = openLearning(page.memdir);
  return inbox.list().map((proposal) => {
    const { id, action, name: title, description, type, at, file } = proposal;
    const verbs: ReviewVerb[] = action === "forget" ? ["accept", "skip"] : ["accept", "edit", "skip"];
    const what = proposal.scope ? `${ACTIONS[action]} in the ${proposal.scope}'s memories` : ACTIONS[action];
    const says = [what, description].filter((part) => part !== "").join(": ");
    const place = placeOf(page, proposal);
    const memory = file === null || place < 0 ? null : find(place, file);
    return { ...itemOf(page, { id, kind: "proposal", title, says, type, at, memory, verbs }), proposal };
  });
}

/** The number of the directory that a proposal is for; -1 where it is not open yet. */
export function placeOf({ memdir }: Page, { scope }: Proposal): number {
  return scope === undefined ? 0 : memdir.directories.findIndex((each) => each.scope === scope);
}

/** Steps that still fit: one whose memories have changed since would be refused. */
function steps(page: Page, rows: readonly KnownRow[], find: FindTitle): Waiting[] {
  const { directory } = openLearning(page.memdir);
  const plan = lastPlan(directory).read();
  if (!plan) return [];
  return plan.ops.flatMap((op) => {
    if (namedFiles(op).some((file) => hashOf(directory, file) !== (plan.base[file] ?? null))) return [];
    const [about] = op.kind === "create" ? [] : namedFiles(op);
    const [changed] = changesOf(op).keys();
    const memory = about === undefined ? null : find(0, about);
    const type = rows.find((row) => row.directory === 0 && row.file === about)?.type ?? null;
    const item = itemOf(page, {
      ...{ id: idOf("dream", op), kind: "dream", type, memory },
      title: changed === undefined ? "The index" : find(0, changed).name,
      says: capitalise(withNames(describeOp(op), find)),
      verbs: memory ? ["accept", "skip", "pin", "edit"] : ["accept", "skip"],
    });
    return [{ ...item, step: { op, base: plan.base } }];
  });
}

/** Steps of a dream name files; a person knows memories by their names. */
export function withNames(text: string, find: FindTitle): string {
  return text.replace(/(?!MEMORY\.)[^\s,;:()"'`]+\.md\b/g, (file) => find(0, file).name);
}

function findings(page: Page, rows: readonly KnownRow[]): Waiting[] {
  const verdicts = page.memdir.directories.map(({ path }) => readVerdicts(path));
  return rows.flatMap((row) => {
    const kept = findVerdict(verdicts[row.directory] ?? new Map(), row.file, row);
    if (kept?.verdict !== "doubtful") return [];
    const fix: ReviewVerb[] = /, moved to /.test(kept.says) ? ["fix"] : [];
    return aboutMemory(page, row, {
      id: idOf("finding", row.directory, row.file, stampOf(row)),
      kind: "finding",
      says: formatVerdict({ ...kept, says: capitalise(kept.says) }).replace(/ \(checked [^)]*\)$/, ""),
      verbs: [...fix, "true", "edit", "forget", "skip", ...markVerbs(page, row)],
    });
  });
}

/** What is about a person is not shared. */
function markVerbs({ memdir }: Page, { pinned, scope, type }: KnownRow): ReviewVerb[] {
  const hasTeam = memdir.directories.some((directory) => directory.scope === "team");
  const mayShare = hasTeam && scope !== "team" && type !== "user";
  return [pinned ? "unpin" : "pin", ...(mayShare ? (["promote"] as const) : [])];
}

/** As the health finds them: it reads every memory, so they come from its last measurement. What a step merges already is not proposed twice. */
function duplicates(
  page: Page,
  byKey: Known["byKey"],
  found: Measurement["findings"],
  dreamt: readonly Waiting[],
): Waiting[] {
  const merged = dreamt.flatMap(({ step }) => (step?.op.kind === "merge" ? [new Set(step.op.files)] : []));
  return found.flatMap(({ kind, directory, file: second, others }) => {
    if (kind !== "duplicate" && kind !== "near-duplicate") return [];
    return others.flatMap((first) => {
      const [one, two] = [first, second].map((file) => byKey.get(keyOf({ directory, file })));
      if (!one || !two) return [];
      if (directory === 0 && merged.some((files) => files.has(first) && files.has(second))) return [];
      return aboutMemory(page, one, {
        ...{ id: idOf("duplicate", first, second, stampOf(one), stampOf(two)), kind: "duplicate", other: titleOf(two) },
        says: `Says ${kind === "duplicate" ? "" : "nearly "}the same as ${two.name}`,
        verbs: ["merge", "skip"],
      });
    });
  });
}

/** Directory by directory: those of the project come first. */
function withoutCues(page: Page, rows: readonly KnownRow[]): Waiting[] {
  const { directories } = page.memdir;
  const mine = directories.map(({ readOnly }, at) => (readOnly ? [] : rows.filter((row) => row.directory === at)));
  const poor = mine.flatMap((own) => choosePoor(own, mainOf(page.memdir).path));
  return poor.map((row) =>
    aboutMemory(page, row, {
      ...{ id: idOf("cues", row.directory, row.file), kind: "cues", says: row.description || "It has no cues" },
      verbs: ["cue", "edit", "forget", "skip", ...markVerbs(page, row)],
    }),
  );
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
