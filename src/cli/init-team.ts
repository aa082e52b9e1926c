/** `memdir init --team`: prepares this checkout for a team's memory, and takes that back with `memdir uninstall --team`. */

import { join } from "node:path";
import { processEnv } from "../config.ts";
import { MemdirError } from "../errors.ts";
import type { Memdir } from "../memdir.ts";
import { getTeamMemDir, repositoryOf } from "../project/scopes.ts";
import type { Directory } from "../store/store.ts";
import { prepareTeam, removeTeam, type TeamChange, type TeamCheckout, type TeamSetup } from "../team/repository.ts";
import type { Call } from "./command.ts";
import { sanitiseLine } from "./console/sanitise.ts";

export interface TeamDesk {
  world: TeamCheckout;
  /** True for yes. Only asked on a terminal. */
  ask(question: string): Promise<boolean>;
}

/** `node` and `dist` as the wiring knows them: absolute, as git may be started by a program with another PATH. */
export function openTeamCheckout(memdir: Memdir, place: { node: string; dist: string }): TeamCheckout {
  const root = repositoryOf(memdir.location.project);
  // The scope `team` may mean a server's mirror: here it is always the repository.
  const own = { path: getTeamMemDir(root), scope: "team", inRepository: true, readOnly: false, recursive: true };
  const team = { ...(memdir.directories[0] as Directory), ...own };
  return { team, root, env: processEnv(), command: [place.node, join(place.dist, "cli.js")] };
}

export async function initTeam(call: Call, { world, ask }: TeamDesk): Promise<number> {
  const { json, terminal } = call;
  const plan = await prepareTeam(world, { dryRun: true });
  const isAsking = !call.flag("yes") && !call.flag("dry-run") && terminal.interactive && !json;
  if (!json) showPlan(call, plan);
  const isDone = plan.changes.length === 0 || call.flag("dry-run");
  if (!isDone && !isAsking && !call.flag("yes"))
    throw new MemdirError("usage", "nothing was changed, as nobody can be asked here; give --yes to do it");
  const isAgreed = !isDone && (!isAsking || (await ask("Prepare this repository?")));
  const setup = isAgreed ? await prepareTeam(world) : plan;
  if (json) terminal.json({ ...setup, applied: isAgreed });
  else {
    for (const warning of setup.warnings) terminal.warn(`memdir: warning: ${sanitiseLine(warning)}`);
    if (isAgreed) {
      // Whoever comes second has nothing to commit.
      const isForAll = setup.changes.some(({ kind }) => kind !== "driver");
      terminal.print(
        `Team memory is ready${isForAll ? "; commit .gitattributes and .claude/memory" : " in this clone"}`,
      );
      if (isForAll) terminal.print(terminal.color.dim("Each colleague runs memdir init --team once in their clone"));
    }
  }
  return 0;
}

/** For `memdir uninstall`, which shows what it returns. Only with --team is the file touched that colleagues share. */
export async function uninstallTeam(call: Call, world: TeamCheckout): Promise<TeamChange[]> {
  const options = { dryRun: call.flag("dry-run"), onlyClone: !call.flag("team") };
  return (await removeTeam(world, options)).changes;
}

function showPlan({ terminal }: Call, { dir, changes }: TeamSetup): void {
  const { bold } = terminal.color;
  terminal.print(`${bold("Team memory")} ${sanitiseLine(dir)}${changes.length === 0 ? ": prepared already" : ""}`);
  for (const { what, why } of changes) terminal.print(`  ${sanitiseLine(what)}: ${sanitiseLine(why)}`);
}
