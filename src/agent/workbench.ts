/**
 * The agent's tools, connected to the session's files and history, the memory directories, and what touching a file
 * adds.
 */

import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { moveInto, PRIVATE_MODE, writeTemporary } from "../disk/atomic.ts";
import type { ToolUse } from "../model/ask.ts";
import { buildNestedInstructions } from "../prompts/conversation.ts";
import type { FileState } from "../session/file-state.ts";
import type { Workbench } from "../tools/workbench.ts";
import { openMemoryStore } from "./memory.ts";
import { type AgentState, sessionFolder } from "./state.ts";

/** `files` is the session's own state, or a clone of it for a sub-agent. */
export function openWorkbench(state: AgentState, files: FileState): Workbench {
  const { memdir, permissions, env, addedDirs } = state.setup;
  const { cwd } = memdir.location.project;
  return {
    cwd,
    fence: null,
    readable: [cwd, ...addedDirs, ...memdir.directories.map(({ path }) => path), sessionFolder(state)],
    files,
    // Looked up late: a cleared or rewound session has another history.
    history: { before: (path) => state.history.before(path), after: (path) => state.history.after(path) },
    permit: permissions.permit,
    env,
    onTouch: (touch) => noteTouch(state, touch),
    store: openMemoryStore(memdir, state),
  };
}

/** Instructions of a touched file's folders are attached to the next results. */
export function noteTouch(state: AgentState, touch: { path: string } | { command: string }): void {
  const { instructions, setup } = state;
  if (setup.memdir.config.claudeMdsDisabled) return;
  const looking = "path" in touch ? instructions.touch(touch.path) : instructions.touchCommand(touch.command);
  const noted = looking.then(
    (files) => {
      for (const { path, content } of files) {
        state.attachments.push({
          kind: "nested-instructions",
          key: path,
          text: buildNestedInstructions(path, content),
        });
      }
      if (files.length > 0) state.tell({ type: "instructions", paths: files.map(({ path }) => path) });
    },
    (error: Error) => setup.log(`instructions of touched files: ${error.message}`),
  );
  state.touching = Promise.all([state.touching, noted]);
}

/** Writes a result that is too large to show to a file next to the transcript. */
export async function keepResult(state: AgentState, call: ToolUse, content: string): Promise<string> {
  const folder = sessionFolder(state, "tool-results");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const name = call.id.replace(/[^\w-]/g, "_").slice(0, 100) || "result";
  // Some servers number their calls from 1 in every answer, and the model was told about the earlier file.
  let path = join(folder, `${name}.txt`);
  for (let number = 2; existsSync(path); number++) path = join(folder, `${name}-${number}.txt`);
  moveInto(writeTemporary(folder, content, PRIVATE_MODE, "result", false), path, false);
  return path;
}
