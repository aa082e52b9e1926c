/** A memory's file outside the page: in the user's editor, or its path on the clipboard. */
import type { Ref } from "../../api.ts";
import { send } from "../remote.ts";
import { tell, told } from "./notice.tsx";

export async function openInEditor({ directory, file }: Ref): Promise<void> {
  const opened = await told(send<{ program: string | null; path: string }>("POST", "/api/open", { directory, file }));
  if (opened === null) return;
  if (opened.program !== null) return tell(`Opened with ${opened.program}.`, "good");
  await copy(opened.path, "No editor with a window is set (VISUAL); the path was copied.");
}

export function copyPath(path: string): Promise<void> {
  return copy(path, "The path was copied.");
}

async function copy(path: string, says: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(path);
    tell(says, "good");
  } catch {
    tell(path);
  }
}
