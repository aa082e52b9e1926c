/** A change asked of the server: what it answers is said at the edge, with undo. */
import type { ChangedAnswer } from "../../api.ts";
import { send } from "../remote.ts";
import { tellFailure } from "./notice.tsx";
import { tellChanged } from "./undo.ts";

/** Must not throw; returns whether it was done. */
export async function change(path: string, body: unknown): Promise<boolean> {
  const { value, failure } = await send<ChangedAnswer>("POST", path, body);
  if (failure !== null) {
    tellFailure(failure);
    return false;
  }
  tellChanged(value.message, value.entry);
  return true;
}
