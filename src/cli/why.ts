/** `memdir why NAME`: when a memory was surfaced, by which interface, and for which reasons. */

import { basename } from "node:path";
import { MemdirError } from "../errors.ts";
import type { Memdir } from "../memdir.ts";
import { type Door, findShown, readSurfaceLog } from "../recall/surface-log.ts";
import { ageInDays, ageInWords } from "../store/store.ts";
import { sanitiseLine } from "../text/sanitise.ts";
import { findMemory } from "../verbs/find.ts";
import { answer, type Run } from "./command.ts";

const DOORS: Record<Door, string> = {
  agent: "the agent",
  hook: "a host's hook",
  mcp: "the MCP server",
  cli: "the command line",
};
/** One screen; `--json` has all. */
const MAX_SHOWN = 10;

export const why: Run = async (call) => {
  const memdir = await call.open();
  const { file, scope } = await find(memdir, call.args[0] as string);
  const log = readSurfaceLog(memdir.directories[0]?.path ?? "");
  const shown = findShown(log, file, scope).reverse();
  const since = log[0]?.at ?? null;
  const { bold, dim } = call.terminal.color;
  return answer(call, { file, scope, since, count: shown.length, surfaced: shown }, () => {
    if (shown.length === 0) {
      const known = since === null ? "nothing has been surfaced here yet" : `not once since ${since.slice(0, 10)}`;
      const hint = dim(`memdir recall "…" shows what would come up for a prompt, and why`);
      return [`${sanitiseLine(file)}: ${known}`, hint];
    }
    const nowMs = memdir.directories[0]?.now().getTime() ?? 0;
    const sessions = new Set(shown.flatMap(({ session }) => session ?? [])).size;
    const times = shown.length === 1 ? "once" : `${shown.length} times`;
    const where = sessions === 0 ? "" : sessions === 1 ? ", in one session" : `, in ${sessions} sessions`;
    const more = shown.length - MAX_SHOWN;
    return [
      `${bold(sanitiseLine(file))} was surfaced ${times} since ${(since ?? "").slice(0, 10)}${where}`,
      ...shown.slice(0, MAX_SHOWN).flatMap(({ at, session, door, why: reasons }) => {
        const age = ageInWords(ageInDays(Date.parse(at), nowMs));
        const whose = session === null ? "" : ` in session ${sanitiseLine(session)}`;
        const line = `  ${at.slice(0, 16).replace("T", " ")} (${age}) by ${DOORS[door]}${whose}`;
        return [line, ...reasons.map((reason) => dim(`    ${sanitiseLine(reason)}`))];
      }),
      ...(more > 0 ? [dim(`  and ${more} times before; --json has all`)] : []),
    ];
  });
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
