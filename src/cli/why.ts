/** `memdir why NAME`: when a memory was surfaced, by which door, and for which reasons. */

import { basename } from "node:path";
import { MemdirError } from "../errors.ts";
import type { Memdir } from "../memdir.ts";
import { type Door, findShown, readSurfaceLog } from "../recall/surface-log.ts";
import { ageInDays, ageInWords } from "../store/store.ts";
import { findMemory } from "../verbs/find.ts";
import type { Run } from "./command.ts";
import { sanitiseLine } from "./console/sanitise.ts";

const DOORS: Record<Door, string> = {
  agent: "the agent",
  hook: "a host's hook",
  mcp: "the MCP server",
  cli: "the command line",
};
/** One screen; `--json` has all. */
const MAX_SHOWN = 10;

export const run: Run = async (call) => {
  const memdir = await call.open();
  const { file, scope } = await find(memdir, call.args[0] as string);
  const log = readSurfaceLog(memdir.directories[0]?.path ?? "");
  const shown = findShown(log, file, scope).reverse();
  const since = log[0]?.at ?? null;
  if (call.json) {
    call.terminal.json({ file, scope, since, count: shown.length, surfaced: shown });
    return 0;
  }
  const { bold, dim } = call.terminal.color;
  const say = (text: string) => call.terminal.print(text);
  const nowMs = memdir.directories[0]?.now().getTime() ?? 0;
  if (shown.length === 0) {
    const known = since === null ? "nothing has been surfaced here yet" : `not once since ${since.slice(0, 10)}`;
    say(`${sanitiseLine(file)}: ${known}`);
    say(dim(`memdir recall "…" shows what would come up for a prompt, and why`));
    return 0;
  }
  const sessions = new Set(shown.flatMap(({ session }) => session ?? [])).size;
  const times = shown.length === 1 ? "once" : `${shown.length} times`;
  const where = sessions === 0 ? "" : sessions === 1 ? ", in one session" : `, in ${sessions} sessions`;
  say(`${bold(sanitiseLine(file))} was surfaced ${times} since ${(since ?? "").slice(0, 10)}${where}`);
  for (const { at, session, door, why } of shown.slice(0, MAX_SHOWN)) {
    const age = ageInWords(ageInDays(Date.parse(at), nowMs));
    const whose = session === null ? "" : ` in session ${sanitiseLine(session)}`;
    say(`  ${at.slice(0, 16).replace("T", " ")} (${age}) by ${DOORS[door]}${whose}`);
    for (const reason of why) say(dim(`    ${sanitiseLine(reason)}`));
  }
  if (shown.length > MAX_SHOWN) say(dim(`  and ${shown.length - MAX_SHOWN} times before; --json has all`));
  return 0;
};

/** A memory that is gone is still known to the log, by its file's name. */
async function find(memdir: Memdir, name: string): Promise<{ file: string; scope: string }> {
  try {
    const { directory, file } = await findMemory(memdir.directories, name);
    return { file, scope: directory.scope };
  } catch (error) {
    if (!(error instanceof MemdirError) || error.code !== "not-found") throw error;
    const log = readSurfaceLog(memdir.directories[0]?.path ?? "");
    const stem = (file: string) => basename(file).replace(/\.md$/, "");
    const found = log
      .flatMap(({ memories }) => memories)
      .findLast(({ file }) => file === name || stem(file) === stem(name));
    if (!found) throw error;
    return { file: found.file, scope: found.scope };
  }
}
