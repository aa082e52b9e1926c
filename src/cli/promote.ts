/** `memdir promote` and `memdir demote`: a memory is shown with who will see it, asked about, and moved to the team or back. */

import { MemdirError } from "../errors.ts";
import type { Memdir } from "../memdir.ts";
import { findStores } from "../open.ts";
import { mirrorOf, repositoryOf } from "../project/scopes.ts";
import { type Store, signEntry } from "../store/store.ts";
import { carryOut, type Move, type MoveResult, planDemotion, planPromotion } from "../team/promote.ts";
import { findIgnoreWarning } from "../team/repository.ts";
import { sanitise, sanitiseLine } from "../text/sanitise.ts";
import { answer, type Call, isAgreed, note, type Run } from "./command.ts";
import { foldLines } from "./console/diff-preview.ts";

export const promote: Run = async (call) => {
  const memdir = await call.open();
  const team = findTeam(memdir, call.cwd);
  const isPrivate = ({ scope, path }: Store) => scope !== "team" && path !== team.path;
  const move = await planPromotion(memdir.directories.filter(isPrivate), team, call.args[0] as string);
  const ignored = team.inRepository
    ? await findIgnoreWarning({ root: repositoryOf(memdir.location.project), env: call.env })
    : null;
  if (ignored) move.notices.unshift(ignored.message);
  return moveMemory(call, memdir, move, { who: describeReaders(memdir, team), question: "Share it?" });
};

export const demote: Run = async (call) => {
  const memdir = await call.open();
  const found = memdir.directories.filter(({ scope }) => scope === "team");
  const teams = found.length > 0 ? found : [findTeam(memdir, call.cwd)];
  const [main] = memdir.directories;
  if (!main || main.scope === "team" || teams.some(({ path }) => path === main.path))
    throw new MemdirError("usage", "say where it shall go with --scope project or --scope user; team is where it is");
  const move = await planDemotion(teams, main, call.args[0] as string);
  const others = move.from.inRepository
    ? " with your next commit, and finds it in the repository's history"
    : isMirror(memdir, move.from)
      ? " once you have run `memdir sync`, and the server keeps its versions"
      : "";
  const who = `It is yours alone then; everybody else loses it${others}.`;
  return moveMemory(call, memdir, move, { who, question: "Take it back?" });
};

function describeReaders(memdir: Memdir, team: Store): string {
  if (team.inRepository) return "Everybody who has this repository sees it, once it is committed.";
  return isMirror(memdir, team)
    ? "Everybody in the team sees it, once you have run `memdir sync`."
    : "Everybody who shares this directory sees it.";
}

/** Whether it is what a team's server has, and not a folder of the project. */
function isMirror({ location }: Memdir, { path }: Store): boolean {
  return path === mirrorOf(location.dir);
}

/**
 * The team's directory, whether it is there already or not. Who has joined a server means its mirror: the repository's folder,
 * which others may see, never takes its place.
 */
function findTeam(memdir: Memdir, cwd: string): Store {
  const { config, location, directories } = memdir;
  const isMember = Object.hasOwn(config.teams, location.project.root);
  const found = directories.find((one) => one.scope === "team" && (!isMember || isMirror(memdir, one)));
  if (found) return found;
  const { now, by, log } = directories[0] as Store;
  return findStores({ cwd, scope: "team", now, by, log, withOlder: false }, config, location).main;
}

/** Shown, asked about, done, reported. */
async function moveMemory(
  call: Call,
  memdir: Memdir,
  move: Move,
  { who, question }: { who: string; question: string },
): Promise<number> {
  if (!call.json) show(call, move, who);
  if (call.flag("dry-run")) return answer(call, describe(move), () => []);
  if (!(await isAgreed(call, question))) return answer(call, null, () => "nothing was changed");
  const result = sign(memdir, move, await carryOut(move));
  return answer(call, result, () => report(call, result));
}

function show({ terminal }: Call, { from, file, to, target, text, isThere, notices }: Move, who: string): void {
  const { bold, dim, yellow } = terminal.color;
  terminal.print(`${bold(sanitiseLine(file))} ${dim(`(${from.scope})`)} -> ${sanitiseLine(`${to.path}/${target}`)}`);
  const lines = sanitise(text).trimEnd().split("\n");
  for (const line of foldLines(lines, Math.max(MIN_COLUMNS, terminal.columns || PIPE_COLUMNS)))
    terminal.print(`  ${line}`);
  if (isThere) terminal.print(dim("The same text is there already: it is only removed here."));
  terminal.print(who);
  for (const notice of notices) terminal.print(yellow(`note: ${sanitiseLine(notice)}`));
}

/** Where there is no terminal to ask. */
const PIPE_COLUMNS = 160;
const MIN_COLUMNS = 40;

function describe({ kind, name, from, file, to, target, isThere, text, notices }: Move) {
  const ends = { from: { scope: from.scope, file }, to: { scope: to.scope, file: target } };
  return { kind, name, ...ends, isThere, text, notices };
}

/** Ids as `memdir undo` takes them. */
function sign(memdir: Memdir, { from, to }: Move, result: MoveResult): MoveResult {
  const { written, removed } = result.undo;
  // The first memory that is shared makes the team's directory, which was not there when the others were opened.
  const isNew = memdir.directories.every(({ path }) => path !== to.path);
  const directories = isNew ? [...memdir.directories, to] : memdir.directories;
  return {
    ...result,
    undo: { written: written && signEntry(directories, to, written), removed: signEntry(directories, from, removed) },
  };
}

function report(call: Call, { kind, from, to, notices, undo }: MoveResult): void {
  const { terminal } = call;
  const word = kind === "promote" ? "promoted" : "demoted";
  terminal.print(`${word} ${sanitiseLine(from.file)} to ${to.scope}: ${sanitiseLine(to.path)}`);
  note(call, notices.map(sanitiseLine));
  const ids = [undo.removed, undo.written].filter((id) => id !== null);
  const back = kind === "promote" ? "memdir demote takes it back" : "memdir promote brings it back";
  terminal.print(terminal.color.dim(`${back}; or ${ids.map((id) => `memdir undo ${id}`).join(", then ")}`));
}
