/** `memdir uninstall`: takes the wiring back, and leaves every memory where it is. */

import { join } from "node:path";
import { exitCodeOf } from "../errors.ts";
import type { TeamCheckout } from "../team/repository.ts";
import { chooseClients, claudeFolder } from "../wiring/clients.ts";
import type { Machine } from "../wiring/machine.ts";
import { type Removal, unwire } from "../wiring/wiring.ts";
import type { Call, Run } from "./command.ts";
import { sanitiseLine } from "./console/sanitise.ts";
import { openWorld, shorten } from "./init.ts";
import { openTeamCheckout, uninstallTeam } from "./init-team.ts";

export const run: Run = async (call) => {
  const world = openWorld(call);
  return call.flag("team") ? leaveRepository(call, openTeamCheckout(await call.open(), world)) : uninstall(call, world);
};

export async function uninstall(call: Call, world: Machine): Promise<number> {
  const { json, terminal } = call;
  const names = call.values("agent");
  const clients = names.length === 0 ? null : chooseClients(world, names).map(({ name }) => name);
  const removals = await unwire(world, { clients, dryRun: call.flag("dry-run") });
  const changes = removals.filter(({ kind }) => kind !== "unchanged");
  const problems = removals.flatMap(({ client, problem }) => (problem ? [{ client, problem }] : []));
  if (json) {
    terminal.json({
      changes: changes.map(({ client, file, kind }) => ({ client, file, kind })),
      problems: problems.map(({ client, problem: { code, message } }) => ({ client, code, message })),
    });
  } else {
    for (const removal of changes) terminal.print(describe(world, removal));
    for (const { problem } of problems) terminal.warn(`memdir: ${sanitiseLine(problem.message)}`);
    if (changes.length === 0 && problems.length === 0)
      terminal.print("No agent is wired: there is nothing to take back");
    const place = shorten(world, join(claudeFolder(world), "projects"));
    terminal.print(`Your memories stay where they are: ${place}/*/memory and where your settings say`);
  }
  const [first] = problems;
  return first ? exitCodeOf(first.problem) : 0;
}

/** What `memdir init --team` did to this checkout; memories stay. */
async function leaveRepository(call: Call, world: TeamCheckout): Promise<number> {
  const changes = await uninstallTeam(call, world);
  if (call.json) call.terminal.json({ changes });
  for (const { what, why } of call.json ? [] : changes) call.terminal.print(sanitiseLine(`${what}: ${why}`));
  if (!call.json && changes.length === 0)
    call.terminal.print("There is nothing of memdir's to take out of this repository");
  return 0;
}

function describe(world: Machine, { file, kind }: Removal): string {
  const words = {
    restored: "is as it was before",
    removed: "is removed: it was memdir's",
    edited: "changed since: only memdir's part was taken out",
    unchanged: "",
  };
  return `${shorten(world, file)} ${words[kind]}`;
}
