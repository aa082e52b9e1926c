/** `memdir demote`: takes a memory out of the team's and keeps it as a private one. */

import { MemdirError } from "../errors.ts";
import { planDemotion } from "../team/promote.ts";
import { askPerson } from "./ask.ts";
import type { Call, Run } from "./command.ts";
import { type AskYes, findTeam, isMirror, moveMemory } from "./promote.ts";

export const run: Run = (call) => demoteMemory(call, askPerson);

export async function demoteMemory(call: Call, ask: AskYes): Promise<number> {
  const memdir = await call.open();
  const found = memdir.directories.filter(({ scope }) => scope === "team");
  const teams = found.length > 0 ? found : [findTeam(memdir, call.cwd)];
  const [main] = memdir.directories;
  if (!main || main.scope === "team" || teams.some(({ path }) => path === main.path))
    throw new MemdirError("usage", "say where it shall go with --scope project or --scope user; team is where it is");
  const move = await planDemotion(teams, main, call.args[0] as string);
  const who = move.from.inRepository
    ? "It is yours alone then; everybody else loses it with your next commit, and finds it in the repository's history."
    : isMirror(memdir, move.from)
      ? "It is yours alone then; everybody else loses it once you have run `memdir sync`, and the server keeps its versions."
      : "It is yours alone then; everybody else loses it.";
  return moveMemory(call, memdir, move, { ask, who, question: "Take it back?" });
}
