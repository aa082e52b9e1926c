/** Sends changes to the server and undoes them: the answer is shown in the corner, with a button to undo it. */
import type { LastChange, UndoAnswer } from "../../api.ts";
import { changes } from "../live.ts";
import { get, send, start, waitForAnswer } from "../remote.ts";
import { ask } from "./dialog.tsx";
import { formatAge } from "./format.ts";
import { endOffer, tell, tellFailure, told } from "./notice.tsx";

/** How a change is undone: its entry in the journal, several of them, or work of its own; null if it cannot be. */
export type Undo = string | readonly string[] | null | (() => Promise<unknown>);

/** The last change made from this page, which `u` undoes without asking. */
let own: { offer: string; message: string; how: Exclude<Undo, null> } | null = null;
let nextOffer = 0;

/** Returns what `endOffer` takes, for a change that fails after it was told. */
export function tellChanged(message: string, how: Undo, title = "Undo"): string {
  const offer = typeof how === "string" ? how : `offer ${nextOffer++}`;
  own = how === null ? null : { offer, message, how };
  const run = () => void undo(how ?? [], message, offer);
  tell(message, "good", how === null ? null : { title, entry: offer, run });
  // Not every file system reports changes, and the person is looking at the result.
  changes.set(changes.get() + 1);
  return offer;
}

/** Does not ask first: for buttons that say what they undo. */
export async function undo(how: Exclude<Undo, null>, what = "the change", offer = String(how)): Promise<void> {
  endOffer(offer);
  own = null;
  if (typeof how === "function") {
    await how();
    tellChanged(`Undid: ${what}`, null);
    return;
  }
  const redo: string[] = [];
  const notices: string[] = [];
  // The last of several first: each is undone while nothing came after it.
  for (const id of [how].flat().toReversed()) {
    const done = await told(send<UndoAnswer>("POST", "/api/undo", { id }));
    if (done === null) return;
    redo.push(done.undo);
    notices.push(...done.notices);
  }
  tellChanged([`Undid: ${what}`, ...notices].join("; "), redo, "Redo");
}

/** Asks first where the change was not made on this page a moment ago. */
export async function undoLast(): Promise<void> {
  if (start.get().readOnly) return;
  await waitForAnswer();
  const { value: last, failure } = await get<LastChange | null>("/api/last");
  if (failure !== null) return tellFailure(failure);
  const isOwn = own !== null && (typeof own.how === "function" || [own.how].flat().includes(last?.id ?? ""));
  if (own !== null && isOwn) return undo(own.how, own.message, own.offer);
  if (last === null) return tell("There is nothing to undo.");
  const when = formatAge(Date.now() - Date.parse(last.at));
  const text = `${last.says}, ${when}, by ${last.by}.`;
  if ((await ask({ title: "Undo this change?", text, yes: "Undo" })) !== null) await undo(last.id, last.says);
}
