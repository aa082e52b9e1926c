/** Taking changes back: the last one or a named one, always after a question. */
import type { ChangedAnswer } from "../../api.ts";
import { changes } from "../live.ts";
import { send } from "../remote.ts";
import { ask } from "./dialog.tsx";
import { tell, tellFailure } from "./notice.tsx";
import { start } from "./start.ts";

/** Asks first; true where something was taken back. */
export async function undoLast(): Promise<boolean> {
  if (start.get().readOnly) return false;
  const given = await ask({
    title: "Undo the last change?",
    text: "What memdir changed last, here or anywhere else, is put back as it was.",
    yes: "Undo",
  });
  return given === null ? false : undo(null);
}

/** Asks nobody: for buttons that say what they take back. `entry` null is the last change. */
export async function undo(entry: string | null): Promise<boolean> {
  const { value, failure } = await send<ChangedAnswer>("POST", "/api/undo", entry === null ? {} : { entry });
  if (failure !== null) {
    tellFailure(failure);
    return false;
  }
  tell(value.message, "good");
  // Not every file system tells of changes, and the person looks at the result.
  changes.set(changes.get() + 1);
  return true;
}

/** Says what was done, with a way to take it back. */
export function tellChanged(message: string, entry: string | null): void {
  tell(message, "good", entry === null ? null : { title: "Undo", run: () => void undo(entry) });
  changes.set(changes.get() + 1);
}
