/** `promote` and `demote`: a memory is shown with who will see it, asked about, and moved to the team's or back. */

import { MemdirError } from "../errors.ts";
import type { Memdir } from "../memdir.ts";
import { type Found, findByRef, findMemory, type Named } from "../memory/memories.ts";
import { findTeam, isMirror } from "../open.ts";
import { repositoryOf } from "../project/scopes.ts";
import { findEnforced, type Store, signEntry } from "../store/store.ts";
import { carryOut, type Move, type MoveResult, planDemotion, planPromotion } from "../team/promote.ts";
import { findIgnoreWarning } from "../team/repository.ts";
import { bold, type Context, dim, flag, type Input, notes, type Reader, type Said, verb, warn } from "../verb.ts";
import { isAgreed, NAME, YES } from "./common.ts";
import { acceptOwn } from "./trust.ts";

const INPUT = { name: NAME, "dry-run": flag("only show what would move"), yes: YES };

const MOVE = {
  args: ["name"],
  input: INPUT,
  writes: (input: Input<typeof INPUT>) => input["dry-run"] !== true,
  say: sayMoved,
};

export const promote = verb({
  ...MOVE,
  about: "Shows the memory and where it will go, and asks first.",
  examples: ['promote "release day"'],
  async run(memdir, input, context) {
    const team = findTeam(memdir);
    const isPrivate = ({ scope, path }: Store) => scope !== "team" && path !== team.path;
    const move = await planPromotion(await find(memdir, isPrivate, input), team);
    const ignored = team.inRepository
      ? await findIgnoreWarning({ root: repositoryOf(memdir.location.project), env: context.env })
      : null;
    if (ignored) move.notices.unshift(ignored.message);
    const asked = { who: READERS[kindOf(memdir, team)], question: "Share it?" };
    const moved = await moveMemory(memdir, move, input, context, asked);
    if (moved && "undo" in moved) acceptOwn(memdir, findEnforced(move.to.file, move.text));
    return moved;
  },
});

export const demote = verb({
  ...MOVE,
  examples: ['demote "release day"'],
  async run(memdir, input, context) {
    const shared = memdir.directories.filter(({ scope }) => scope === "team");
    const teams = shared.length > 0 ? shared : [findTeam(memdir)];
    const [main] = memdir.directories;
    const already = "it is the team's already: say where it goes with --scope project or --scope user";
    if (!main || main.scope === "team" || teams.some(({ path }) => path === main.path))
      throw new MemdirError("usage", already);
    const move = await planDemotion(await findMemory(teams, input.name ?? ""), main);
    const when = {
      repository: " with your next commit, though it stays in the repository's history",
      mirror: " once you have run `memdir sync`, though the server keeps its versions",
      folder: "",
    };
    const who = `It will be yours alone; everyone else loses it${when[kindOf(memdir, move.stores.from)]}.`;
    return moveMemory(memdir, move, input, context, { who, question: "Make it private?" });
  },
});

const READERS = {
  repository: "Everyone with this repository will see it once it is committed.",
  mirror: "Everyone in the team will see it once you have run `memdir sync`.",
  folder: "Everyone who shares this directory will see it.",
};

function kindOf(memdir: Memdir, team: Store): keyof typeof READERS {
  if (team.inRepository) return "repository";
  return isMirror(memdir, team) ? "mirror" : "folder";
}

/** Null when the answer was no. */
async function moveMemory(
  memdir: Memdir,
  move: Move,
  input: Input<typeof INPUT>,
  context: Context,
  { who, question }: { who: string; question: string },
) {
  const { stores: _, ...shown } = move;
  const planned = { ...shown, who };
  if (input["dry-run"]) return planned;
  context.show(sayPlanned(planned));
  return (await isAgreed(context, input, question)) ? sign(memdir, move, await carryOut(move)) : null;
}

function sayPlanned({ from, to, isThere, text, who, notices }: Omit<Move, "stores"> & { who: string }): Said {
  return [
    [bold(from.file), " ", dim(`(${from.scope})`), ` -> ${to.path}`],
    ...text
      .trimEnd()
      .split("\n")
      .map((line) => `  ${line}`),
    ...(isThere ? [dim("The same text already exists there: it is only removed here.")] : []),
    who,
    ...notices.map((notice) => warn(`note: ${notice}`)),
  ];
}

/** The page knows a memory by its place among all directories; a name is looked for where the memory may come from. */
async function find(memdir: Memdir, may: (store: Store) => boolean, input: { name?: Named }): Promise<Found> {
  const { name = "" } = input;
  return typeof name === "string"
    ? findMemory(memdir.directories.filter(may), name)
    : findByRef(memdir.directories, name);
}

/** Ids as `memdir undo` takes them. */
function sign(memdir: Memdir, { stores: { from, to } }: Move, result: MoveResult): MoveResult {
  const { written, removed } = result.undo;
  // The first memory that is shared makes the team's directory, which was not there when the others were opened.
  const isNew = memdir.directories.every(({ path }) => path !== to.path);
  const directories = isNew ? [...memdir.directories, to] : memdir.directories;
  return {
    ...result,
    undo: { written: written && signEntry(directories, to, written), removed: signEntry(directories, from, removed) },
  };
}

function sayMoved(result: Awaited<ReturnType<typeof moveMemory>>, { call }: Pick<Reader, "call">): Said {
  if (result === null) return ["nothing was changed"];
  if (!("undo" in result)) return sayPlanned(result);
  const { kind, from, to, notices, undo } = result;
  const ids = [undo.removed, undo.written].filter((id) => id !== null);
  const back = kind === "promote" ? `${call("demote")} makes it private again` : `${call("promote")} shares it again`;
  return [
    `${kind}d ${from.file} to ${to.scope}: ${to.path}`,
    ...notes(notices),
    dim(`${back}; or ${ids.map((id) => call(`undo ${id}`)).join(", then ")}`),
  ];
}
