/** The verbs of Review and of a memory: their keys and words, what they send to the server, and how each is undone. */
import type { ChangedAnswer, ReviewItem, ReviewVerb, VerbAnswer } from "../../api.ts";
import { changes } from "../live.ts";
import { ask } from "../parts/dialog.tsx";
import { told } from "../parts/notice.tsx";
import { send } from "../remote.ts";

/** What a verb needs to know of an item. */
type Decided = Pick<ReviewItem, "id" | "kind" | "title" | "memory" | "other">;

/** What undoes it. Must not throw. `more` is what the person wrote or picked. */
export async function perform(item: Decided, verb: ReviewVerb, more: object = {}) {
  const { value, failure } = await send<Undoable>("POST", ...requestOf(item, verb, more));
  if (failure !== null) return { value: null, failure };
  const undo = async () => {
    for (const id of entriesOf(value)) await told(send("POST", "/api/undo", { id }));
    const place = item.kind === "finding" ? placeOf(item) : {};
    await told(send("POST", "/api/review/restore", { id: item.id, ...place }));
    changes.set(changes.get() + 1);
  };
  return { value: undo, failure: null };
}

export async function askCue(onAdd: (cue: string) => void): Promise<void> {
  const field = { label: "What would you say when this memory helps?", placeholder: "the deploy to staging fails" };
  const cue = await ask({ title: "Add a cue", yes: "Add", field });
  if (cue !== null) onAdd(cue);
}

/** Where a verb is sent, and with what. */
function requestOf(item: Decided, verb: ReviewVerb, more: object): [path: string, body: object] {
  const { id, other } = item;
  const place = placeOf(item);
  if (verb === "accept" || verb === "skip") return [`/api/review/${verb}`, { id, ...more }];
  if (verb === "true") return ["/api/mark", { ...place, isTrue: true }];
  if (verb === "pin" || verb === "unpin") return ["/api/mark", { ...place, pinned: verb === "pin" }];
  if (verb === "cue") return ["/api/mark", { ...place, ...more }];
  if (verb === "merge") return ["/api/merge", { keep: place, other: placeOf({ memory: other }), ...more }];
  if (verb === "fix") return ["/api/verify", { ...place, fix: true }];
  if (verb === "promote") return ["/api/promote", { name: place.file, yes: true }];
  return ["/api/forget", place];
}

/** What the verbs answer of how they are undone. */
type Undoable =
  | Pick<ChangedAnswer, "entry">
  | Pick<VerbAnswer, "undo">
  | { undo: string[] | { written: string | null; removed: string } };

/** The entries of the journal, in the order in which they are undone. */
function entriesOf(answer: Undoable): string[] {
  const how = "entry" in answer ? answer.entry : answer.undo;
  if (how === null) return [];
  if (typeof how === "string") return [how];
  if (Array.isArray(how)) return how.toReversed();
  return how.written === null ? [how.removed] : [how.removed, how.written];
}

function placeOf({ memory }: Pick<Decided, "memory">): { directory: number; file: string } {
  return { directory: memory?.directory ?? 0, file: memory?.file ?? "" };
}

/** The key, what the button says, what was done with it, and whether the item leaves the queue. */
export const VERBS: Record<ReviewVerb, { key: string; title: string; done: string; decides?: true }> = {
  accept: { key: "a", title: "Accept", done: "Accepted", decides: true },
  merge: { key: "m", title: "Merge", done: "Merged", decides: true },
  fix: { key: "f", title: "Fix the path", done: "Fixed", decides: true },
  true: { key: "t", title: "Still true", done: "Confirmed", decides: true },
  cue: { key: "c", title: "Add a cue", done: "Added a cue to", decides: true },
  edit: { key: "e", title: "Edit", done: "Edited" },
  skip: { key: "s", title: "Skip", done: "Skipped", decides: true },
  pin: { key: "p", title: "Pin", done: "Pinned" },
  unpin: { key: "p", title: "Unpin", done: "Unpinned" },
  promote: { key: "h", title: "Share with the team", done: "Shared", decides: true },
  forget: { key: "d", title: "Forget", done: "Forgot", decides: true },
  open: { key: "Enter", title: "Open", done: "Opened" },
};

/** One is named; several are counted. */
export function sumUp(verb: ReviewVerb, items: readonly Decided[]): string {
  return `${VERBS[verb].done} ${items.length === 1 ? items[0]?.title : `${items.length} items`}`;
}
