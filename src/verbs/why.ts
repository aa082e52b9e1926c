/** `why`: when a memory was shown to a model, through which adapter, and why. */

import { MemdirError } from "../errors.ts";
import type { Memdir } from "../memdir.ts";
import { findNamed, type Named } from "../memory/memories.ts";
import { type Door, findShown, readSurfaceLog } from "../recall/surface-log.ts";
import { ageInDays, ageInWords, stemOf } from "../store/store.ts";
import { bold, dim, type Line, verb } from "../verb.ts";
import { NAME } from "./common.ts";

const BY: Record<Door, string> = {
  agent: "the agent",
  hook: "a host's hook",
  mcp: "the MCP server",
  cli: "the command line",
};
/** One screen; `--json` has all. */
const MAX_SHOWN = 10;

export const why = verb({
  args: ["name"],
  input: { name: NAME },
  examples: ['why "package manager is pnpm"'],
  async run(memdir, { name = "" }) {
    const log = readSurfaceLog(memdir.directories[0]?.path ?? "");
    const { file, scope } = await find(memdir, name, log);
    const surfaced = findShown(log, file, scope).reverse();
    return { file, scope, since: log[0]?.at ?? null, count: surfaced.length, surfaced };
  },
  say({ file, since, surfaced }, { call, now }) {
    if (surfaced.length === 0) {
      const known =
        since === null ? "nothing has been shown to a model here yet" : `not shown since ${since.slice(0, 10)}`;
      return [`${file}: ${known}`, dim(`${call('recall "…"')} shows what would be recalled for a prompt, and why`)];
    }
    const sessions = new Set(surfaced.flatMap(({ session }) => session ?? [])).size;
    const times = surfaced.length === 1 ? "once" : `${surfaced.length} times`;
    const where = sessions === 0 ? "" : sessions === 1 ? ", in one session" : `, in ${sessions} sessions`;
    const more = surfaced.length - MAX_SHOWN;
    return [
      [bold(file), ` was shown ${times} since ${(since ?? "").slice(0, 10)}${where}`],
      ...surfaced.slice(0, MAX_SHOWN).flatMap(({ at, session, door, why: reasons }): Line[] => {
        const whose = session === null ? "" : ` in session ${session}`;
        const line = `  ${at.slice(0, 16).replace("T", " ")} (${ageInWords(ageInDays(Date.parse(at), now.getTime()))}) by ${BY[door]}${whose}`;
        return [line, ...reasons.map((reason) => dim(`    ${reason}`))];
      }),
      ...(more > 0 ? [dim(`  and ${more} times before; --json has all`)] : []),
    ];
  },
});

/** A memory that is gone is still known to the log, by its file's name. */
async function find(memdir: Memdir, named: Named, log: ReturnType<typeof readSurfaceLog>) {
  try {
    const { directory, file } = await findNamed(memdir.directories, named);
    return { file, scope: directory.scope };
  } catch (error) {
    const name = typeof named === "string" ? named : named.file;
    const shown = log.flatMap(({ memories }) => memories);
    const found = shown.findLast(({ file }) => file === name || stemOf(file) === stemOf(name));
    if (!found || !(error instanceof MemdirError) || error.code !== "not-found") throw error;
    return found;
  }
}
