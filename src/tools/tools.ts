/** The agent's tools, made from a workbench. */

import { realPath } from "../disk/fence.ts";
import { openTurns, type Tool } from "../model/tool.ts";
import { openFileState } from "../session/file-state.ts";
import { openBash } from "./bash.ts";
import { openEdit } from "./edit.ts";
import { openGlob } from "./glob.ts";
import { openGrep } from "./grep.ts";
import { openRead } from "./read.ts";
import type { ToolName, Workbench } from "./workbench.ts";
import { openWrite } from "./write.ts";

/** Always in the same order, whatever `only` says, so that what a model is shown stays the same. Within a fence there is no Bash. */
export function openTools(bench: Workbench, only?: readonly ToolName[]): Tool[] {
  const inTurn = openTurns();
  const tools = [
    openRead(bench),
    openWrite(bench, inTurn),
    openEdit(bench, inTurn),
    openGlob(bench),
    openGrep(bench),
    ...(bench.fence === null ? [openBash(bench)] : []),
  ];
  return only ? tools.filter(({ name }) => only.some((each) => each === name)) : tools;
}

/** Tools for a side task, which reach only one directory. `store` gets what is written; null where nothing may be. */
export function openFencedTools(dir: string, store: Workbench["store"], only: readonly ToolName[]): Tool[] {
  return openTools(
    {
      cwd: realPath(dir),
      fence: dir,
      readable: [],
      files: openFileState(),
      history: null,
      // There is no user to ask.
      permit: async () => ({
        allowed: false,
        reason: "only the memory directory can be read, and nothing else changed",
      }),
      env: {},
      onTouch: () => {},
      store,
    },
    only,
  );
}
