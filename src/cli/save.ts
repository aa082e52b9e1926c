/** `memdir save`. */

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { diskError, MemdirError } from "../errors.ts";
import { type MemoryType, readGiven } from "../store/store.ts";
import type { SaveResult } from "../verbs/save.ts";
import type { Call, Run } from "./command.ts";

export const run: Run = async (call) => {
  const type = call.value("type");
  const name = call.value("name");
  if (type === undefined || name === undefined) {
    throw new MemdirError("usage", `--${type === undefined ? "type" : "name"} is missing; see memdir save --help`);
  }
  if (call.args[0] !== undefined && call.args[0] !== "-") {
    throw new MemdirError(
      "usage",
      `"${call.args[0]}" is not understood: the body comes from standard input or with --file`,
    );
  }
  const memdir = await call.open();
  const result = await memdir.save({
    type: type as MemoryType,
    name,
    body: await readBody(call),
    when: call.values("when"),
    links: call.values("link"),
    supersedes: call.values("supersedes"),
    redact: call.flag("redact"),
    ...(call.value("description") === undefined ? {} : { description: call.value("description") as string }),
    ...(call.flag("pin") ? { pinned: true } : {}),
    ...(call.value("source") === undefined
      ? {}
      : { source: { by: call.value("source") as string, session: null, message: null } }),
    ...(call.value("reason") === undefined ? {} : { reason: call.value("reason") as string }),
  });
  printSaved(call, result);
  return 0;
};

async function readBody(call: Call): Promise<string> {
  const file = call.value("file");
  if (file !== undefined && file !== "-") {
    const path = resolve(call.cwd, file);
    try {
      return readGiven(readFileSync(path), file);
    } catch (error) {
      if (error instanceof MemdirError) throw error;
      throw new MemdirError("usage", `--file: ${diskError(error, "read", path).message}`, { cause: error });
    }
  }
  const asked = file === "-" || call.args[0] === "-";
  // On a terminal nobody is typing unless they said so; a description alone is a memory too.
  return asked || !process.stdin.isTTY ? call.terminal.readInput() : "";
}

export function printSaved(call: Pick<Call, "json" | "terminal">, result: SaveResult): void {
  if (call.json) {
    call.terminal.json(result);
    return;
  }
  const undo = result.undo === null ? "" : call.terminal.color.dim(`   (memdir undo ${result.undo})`);
  call.terminal.print(`${result.action} ${result.file}${undo}`);
  for (const notice of result.notices) call.terminal.warn(`memdir: note: ${notice}`);
}
