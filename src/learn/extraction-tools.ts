/** The tools of an extraction: they see the memory directory and nothing else, and what they write is handed over, not written. */

import { relative, sep } from "node:path";
import { isWithin, realPath } from "../disk/fence.ts";
import type { Tool } from "../model/tool.ts";
import { openFileState } from "../session/file-state.ts";
import { INDEX_FILE, OVERFLOW_FILE } from "../store/store.ts";
import { openTools } from "../tools/tools.ts";
import type { Draft } from "./extraction-draft.ts";

export interface ExtractionToolsWorld {
  /** The memory directory; it need not exist. */
  dir: string;
  /** Throws to refuse, with a reason for the model. */
  keep(draft: Draft): Promise<{ notices: string[] }>;
}

export function openExtractionTools({ dir, keep }: ExtractionToolsWorld): Tool[] {
  const root = realPath(dir);
  return openTools(
    {
      cwd: root,
      fence: dir,
      readable: [],
      files: openFileState(),
      history: null,
      // Never asked behind a fence; if it were, nobody is there to answer.
      permit: async () => ({ allowed: false, reason: "nobody can be asked" }),
      env: {},
      onTouch: () => {},
      store: {
        // Everything: what is no memory must not be written past the store.
        owns: () => true,
        write: async (path, text, base) => {
          const file = relative(root, path).split(sep).join("/");
          const problem = isWithin(root, path) ? findFileProblem(file) : "it lies outside of the memory directory";
          if (problem) throw new Error(`${file} was not written: ${problem}`);
          return keep({ file, text, base });
        },
        remark: () => null,
      },
    },
    ["Read", "Glob", "Grep", "Write", "Edit"],
  );
}

/** Folders beside the memories that have owners of their own. */
const OTHERS: ReadonlySet<string> = new Set(["logs", "agents"]);

/** Names are compared in small letters: on many disks `memory.md` is the index. */
function findFileProblem(file: string): string | null {
  const parts = file.toLowerCase().split("/");
  if (parts.some((part) => part.startsWith("."))) return "hidden files and folders are not memories";
  if (!file.endsWith(".md")) return "a memory is a file with the ending .md";
  const name = parts.at(-1);
  if (name === INDEX_FILE.toLowerCase() || name === OVERFLOW_FILE.toLowerCase()) {
    return "the index is kept by itself; write only the memory's own file";
  }
  if (parts.length > 1 && OTHERS.has(parts[0]!)) return `${parts[0]}/ is not for memories; put it beside the others`;
  return null;
}
