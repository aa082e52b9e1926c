/** What the verbs of Review send to the server, and how each is undone. */
import type { ChangedAnswer, ReviewItem, ReviewVerb, VerbAnswer } from "../../api.ts";
import { changes } from "../live.ts";
import { tellFailure } from "../parts/notice.tsx";
import { type Answer, send } from "../remote.ts";

export interface Done {
  undo: () => Promise<void>;
}

/** Must not throw. `more` is what the person wrote or picked. */
export async function perform(item: ReviewItem, verb: ReviewVerb, more: object = {}): Promise<Answer<Done>> {
  const { value, failure } = await call(item, verb, more);
  if (failure !== null) return { value: null, failure };
  const undo = async () => {
    for (const id of value) await expect(send("POST", "/api/undo", { id }));
    await expect(
      send("POST", "/api/review/restore", { id: item.id, ...(item.kind === "finding" ? placeOf(item) : {}) }),
    );
    changes.set(changes.get() + 1);
  };
  return { value: { undo }, failure: null };
}

async function expect(answer: Promise<Answer<unknown>>): Promise<void> {
  const { failure } = await answer;
  if (failure !== null) tellFailure(failure);
}

/** The entries of the journal, in the order in which they are undone. */
async function call(item: ReviewItem, verb: ReviewVerb, more: object): Promise<Answer<string[]>> {
  const { id } = item;
  const place = placeOf(item);
  const changed = async (path: string, body: object) =>
    read(await send<ChangedAnswer>("POST", path, body), ({ entry }) => listed(entry));
  if (verb === "accept" || verb === "skip") return changed(`/api/review/${verb}`, { id, ...more });
  if (verb === "true") return changed("/api/mark", { ...place, isTrue: true });
  if (verb === "pin" || verb === "unpin") return changed("/api/mark", { ...place, pinned: verb === "pin" });
  if (verb === "cue") return changed("/api/mark", { ...place, ...more });
  if (verb === "merge") {
    const { directory = 0, file = "" } = item.other ?? {};
    return changed("/api/merge", { keep: place, other: { directory, file }, ...more });
  }
  if (verb === "fix")
    return read(await send<{ undo: string[] }>("POST", "/api/verify", { ...place, fix: true }), ({ undo }) =>
      undo.toReversed(),
    );
  if (verb === "promote") {
    const sent = await send<{ undo: { written: string | null; removed: string } }>("POST", "/api/promote", {
      ...{ name: place.file, yes: true },
    });
    return read(sent, ({ undo }) => [undo.removed, ...listed(undo.written)]);
  }
  return read(await send<VerbAnswer>("POST", "/api/forget", place), ({ undo }) => listed(undo));
}

function read<T>({ value, failure }: Answer<T>, say: (value: T) => string[]): Answer<string[]> {
  return failure === null ? { value: say(value), failure } : { value: null, failure };
}

function placeOf({ memory }: ReviewItem): { directory: number; file: string } {
  return { directory: memory?.directory ?? 0, file: memory?.file ?? "" };
}

function listed(entry: string | null): string[] {
  return entry === null ? [] : [entry];
}

const DONE: Record<ReviewVerb, string> = {
  accept: "Accepted",
  merge: "Merged",
  fix: "Fixed",
  true: "Confirmed",
  cue: "Added a cue to",
  edit: "Edited",
  skip: "Skipped",
  pin: "Pinned",
  unpin: "Unpinned",
  promote: "Shared",
  forget: "Forgot",
  open: "Opened",
};

/** One is named; several are counted. */
export function sumUp(verb: ReviewVerb, items: readonly ReviewItem[]): string {
  return `${DONE[verb]} ${items.length === 1 ? items[0]?.title : `${items.length} items`}`;
}
