/** Sends changes to the server and undoes them: the answer is shown in the corner, with a button to undo it. */
import type { ChangedAnswer, Ref, UndoAnswer, VerbAnswer } from "../../api.ts";
import { changes, start } from "../live.ts";
import { type Answer, send } from "../remote.ts";
import { ask } from "./dialog.tsx";
import { tell, tellFailure } from "./notice.tsx";

/** Must not throw; null if it failed, which the person has been told. */
export async function change(path: string, body: unknown): Promise<ChangedAnswer | null> {
  return told(await send<ChangedAnswer>("POST", path, body), tellDone);
}

/** A verb on one memory; `says` begins the sentence that its file ends. */
export async function changeMemory(
  verb: "forget" | "rename",
  says: string,
  body: Ref & Record<string, unknown>,
): Promise<VerbAnswer | null> {
  return told(await send<VerbAnswer>("POST", `/api/${verb}`, body), ({ file, notices = [], undo: entry }) =>
    tellChanged([`${says} ${file}`, ...notices].join("; "), entry),
  );
}

export function tellDone({ message, entry }: ChangedAnswer): void {
  tellChanged(message, entry);
}

export function tellChanged(message: string, entry: string | null): void {
  tell(message, "good", entry === null ? null : { title: "Undo", run: () => void undo(entry) });
  // Not every file system reports changes, and the person is looking at the result.
  changes.set(changes.get() + 1);
}

/** Does not ask first: for buttons that say what they undo. `entry` null is the last change. */
export async function undo(entry: string | null): Promise<void> {
  told(await send<UndoAnswer>("POST", "/api/undo", entry === null ? {} : { id: entry }), (done) =>
    tellChanged([`undid ${done.action} ${done.undone}: ${done.files.join(", ")}`, ...done.notices].join("; "), null),
  );
}

export async function undoLast(): Promise<void> {
  if (start.get().readOnly) return;
  const given = await ask({
    title: "Undo the last change?",
    text: "This reverts the last change that memdir made, here or anywhere else.",
    yes: "Undo",
  });
  if (given !== null) await undo(null);
}

function told<T>({ value, failure }: Answer<T>, say: (value: T) => void): T | null {
  if (failure !== null) tellFailure(failure);
  else say(value);
  return value;
}
