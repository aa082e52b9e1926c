/** `memdir promote`: shows a memory, says who will see it, asks, and moves it to the team. */

import { processEnv } from "../config.ts";
import { findDirectories } from "../directories.ts";
import { MemdirError } from "../errors.ts";
import type { Memdir } from "../memdir.ts";
import { mirrorOf, repositoryOf } from "../project/scopes.ts";
import { type Directory, signEntry } from "../store/store.ts";
import { carryOut, type Move, type MoveResult, planPromotion } from "../team/promote.ts";
import { findIgnoreWarning } from "../team/repository.ts";
import { askPerson } from "./ask.ts";
import type { Call, Run } from "./command.ts";
import { sanitise, sanitiseLine } from "./console/sanitise.ts";
import { foldLines } from "./diff-view.ts";

export const run: Run = (call) => promoteMemory(call, askPerson);

/** True for yes. Only asked on a terminal. */
export type AskYes = (question: string) => Promise<boolean>;

export async function promoteMemory(call: Call, ask: AskYes): Promise<number> {
  const memdir = await call.open();
  const team = findTeam(memdir, call.cwd);
  const isPrivate = ({ scope, path }: Directory) => scope !== "team" && path !== team.path;
  const move = await planPromotion(memdir.directories.filter(isPrivate), team, call.args[0] as string);
  const ignored = team.inRepository
    ? await findIgnoreWarning({ root: repositoryOf(memdir.location.project), env: processEnv() })
    : null;
  if (ignored) move.notices.unshift(ignored.message);
  return moveMemory(call, memdir, move, { ask, who: sayWho(memdir, team), question: "Share it?" });
}

function sayWho(memdir: Memdir, team: Directory): string {
  if (team.inRepository) return "Everybody who has this repository sees it, once it is committed.";
  return isMirror(memdir, team)
    ? "Everybody in the team sees it, once you have run `memdir sync`."
    : "Everybody who shares this directory sees it.";
}

/** Whether it is what a team's server has, and not a folder of the project. */
export function isMirror({ location }: Memdir, { path }: Directory): boolean {
  return path === mirrorOf(location.dir);
}

/**
 * The team's directory, whether it is there already or not. Who has joined a server means its mirror: the repository's folder,
 * which others may see, never takes its place.
 */
export function findTeam(memdir: Memdir, cwd: string): Directory {
  const { config, location, directories } = memdir;
  const isMember = Object.hasOwn(config.teams, location.project.root);
  const found = directories.find((one) => one.scope === "team" && (!isMember || isMirror(memdir, one)));
  if (found) return found;
  const { now, by, log } = directories[0] as Directory;
  return findDirectories({ cwd, scope: "team", now, by, log, withOlder: false }, config, location).main;
}

/** Shared with `demote`: shown, asked about, done, told. */
export async function moveMemory(
  call: Call,
  memdir: Memdir,
  move: Move,
  { ask, who, question }: { ask: AskYes; who: string; question: string },
): Promise<number> {
  const { terminal, json } = call;
  const isAsking = !call.flag("yes") && !call.flag("dry-run") && terminal.interactive && !json;
  if (!json) show(call, move, who);
  if (call.flag("dry-run")) {
    if (json) terminal.json(describe(move));
    return 0;
  }
  if (!call.flag("yes") && !isAsking)
    throw new MemdirError("usage", "nothing was changed, as nobody can be asked here; give --yes to do it");
  if (isAsking && !(await ask(question))) {
    terminal.print("nothing was changed");
    return 0;
  }
  const result = sign(memdir, move, await carryOut(move));
  if (json) terminal.json(result);
  else report(call, result);
  return 0;
}

function show({ terminal }: Call, { from, file, to, target, text, isThere, notices }: Move, who: string): void {
  const { bold, dim, yellow } = terminal.color;
  terminal.print(`${bold(sanitiseLine(file))} ${dim(`(${from.scope})`)} -> ${sanitiseLine(`${to.path}/${target}`)}`);
  const lines = sanitise(text).trimEnd().split("\n");
  for (const line of foldLines(lines, Math.max(MIN_COLUMNS, process.stdout.columns || PIPE_COLUMNS)))
    terminal.print(`  ${line}`);
  if (isThere) terminal.print(dim("The same text is there already: it is only removed here."));
  terminal.print(who);
  for (const notice of notices) terminal.print(yellow(`note: ${sanitiseLine(notice)}`));
}

/** Where there is no terminal to ask. */
const PIPE_COLUMNS = 160;
const MIN_COLUMNS = 40;

function describe({ kind, name, from, file, to, target, isThere, text, notices }: Move) {
  return {
    kind,
    name,
    from: { scope: from.scope, file },
    to: { scope: to.scope, file: target },
    isThere,
    text,
    notices,
  };
}

/** Ids as `memdir undo` takes them. */
function sign({ directories }: Memdir, { from, to }: Move, result: MoveResult): MoveResult {
  const { written, removed } = result.undo;
  return {
    ...result,
    undo: { written: written && signEntry(directories, to, written), removed: signEntry(directories, from, removed) },
  };
}

function report({ terminal }: Call, { kind, from, to, notices, undo }: MoveResult): void {
  const word = kind === "promote" ? "promoted" : "demoted";
  terminal.print(`${word} ${sanitiseLine(from.file)} to ${to.scope}: ${sanitiseLine(to.path)}`);
  for (const notice of notices) terminal.warn(`memdir: note: ${sanitiseLine(notice)}`);
  const ids = [undo.removed, undo.written].filter((id) => id !== null);
  const back = kind === "promote" ? "memdir demote takes it back" : "memdir promote brings it back";
  terminal.print(terminal.color.dim(`${back}; or ${ids.map((id) => `memdir undo ${id}`).join(", then ")}`));
}
