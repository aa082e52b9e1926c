/** The verbs of Review and of a memory: their keys and words, what they send to the server, and how each is undone. */
import type { ChangedAnswer, ReviewItem, ReviewVerb, VerbAnswer } from "../../api.ts";
import { changes } from "../live.ts";
import { told } from "../parts/notice.tsx";
import { type Answer, send } from "../remote.ts";

/** What a verb needs to know of an item. */
type Decided = Pick<ReviewItem, "id" | "kind" | "title" | "memory" | "other">;

export interface Done {
  undo: () => Promise<void>;
}

/** Must not throw. `more` is what the person wrote or picked. */
export async function perform(item: Decided, verb: ReviewVerb, more: object = {}): Promise<Answer<Done>> {
  const { value, failure } = await call(item, verb, more);
  if (failure !== null) return { value: null, failure };
  const undo = async () => {
    for (const id of value) await told(send("POST", "/api/undo", { id }));
    const place = item.kind === "finding" ? placeOf(item) : {};
    await told(send("POST", "/api/review/restore", { id: item.id, ...place }));
    changes.set(changes.get() + 1);
  };
  return { value: { undo }, failure: null };
}

/** The entries of the journal, in the order in which they are undone. */
async function call(item: Decided, verb: ReviewVerb, more: object): Promise<Answer<string[]>> {
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

function placeOf({ memory }: Decided): { directory: number; file: string } {
  return { directory: memory?.directory ?? 0, file: memory?.file ?? "" };
}

function listed(entry: string | null): string[] {
  return entry === null ? [] : [entry];
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
