/** `memdir edit`: the file in the user's editor, checked when it closes. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { processEnv } from "../config.ts";
import { MemdirError } from "../errors.ts";
import type { Memdir } from "../memdir.ts";
import type { SaveResult } from "../verbs/save.ts";
import type { Run } from "./command.ts";
import { printSaved } from "./save.ts";

export const run: Run = async (call) => {
  const memdir = await call.open();
  printSaved(call, await editByHand(memdir, call.args[0] as string, { redact: call.flag("redact") }));
  return 0;
};

/** Ends when the editor does. */
export async function editByHand(memdir: Memdir, name: string, options: { redact: boolean }): Promise<SaveResult> {
  const { file, text } = await memdir.text(name);
  // The editor works on a copy: a half-written or refused edit never touches the memory.
  const folder = mkdtempSync(join(tmpdir(), "memdir-edit-"));
  const copy = join(folder, basename(file));
  writeFileSync(copy, text, { mode: 0o600 });
  let edited: string;
  try {
    await runEditor(copy);
    edited = readCopy(copy);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
  try {
    const result = await memdir.edit(file, text, edited, options);
    rmSync(folder, { recursive: true, force: true });
    return result;
  } catch (error) {
    if (error instanceof MemdirError && error.code !== "secret") {
      throw new MemdirError(error.code, `${error.message}; your text is in ${copy}`, { cause: error });
    }
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

function readCopy(copy: string): string {
  try {
    return readFileSync(copy, "utf8");
  } catch (error) {
    throw new MemdirError("usage", "the editor removed its file: nothing was changed", { cause: error });
  }
}

async function runEditor(path: string): Promise<void> {
  const env = processEnv();
  const editor = env.VISUAL || env.EDITOR;
  if (!editor) throw new MemdirError("usage", "no editor is set: run it as EDITOR=nano memdir edit NAME");
  // "code --wait": the words after the first are arguments; no shell is involved.
  const [program = "", ...args] = editor.match(/"[^"]*"|\S+/g)?.map((word) => word.replace(/^"|"$/g, "")) ?? [];
  // Loaded here: it is slow to load, and every command is bundled with this one.
  const { spawnSync } = await import("node:child_process");
  const result = spawnSync(program, [...args, path], { stdio: "inherit" });
  if (result.error)
    throw new MemdirError("usage", `the editor "${editor}" could not be started: set EDITOR to another one`, {
      cause: result.error,
    });
  if (result.status !== 0)
    throw new MemdirError("usage", `the editor ended with code ${result.status}: nothing was changed`);
}
