/** What memdir keeps on this machine besides memories, and how all of it is removed. */

import { lstatSync, readdirSync, renameSync, rmdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Config } from "../config.ts";
import { lstatOrNull } from "../disk/fence.ts";
import { attempt, onDisk } from "../errors.ts";
import type { Memdir } from "../memdir.ts";
import { findProject, readOwner } from "../project/locate.ts";
import { agentDirectories, getTeamMemDir, listEntries, mirrorOf, repositoryOf } from "../project/scopes.ts";
import { readClaudeHead } from "../session/transcripts.ts";
import { openStore, type Store } from "../store/store.ts";

export interface Trace {
  path: string;
  /** In words, for the user who is asked. */
  what: string;
  bytes: number;
  /** The store whose state it is; null for everything else. */
  store: string | null;
}

const STATE = ".memdir";
/** The state on its way out: what a killed run left under this name goes with the next one. */
const LEAVING = `${STATE}-purge`;

/** Everything that `purge` would remove. Links are not followed: what they lead to is not memdir's to remove. */
export function findTraces({ config, directories, location }: Memdir, caches: string): Trace[] {
  const { claudeDir, userFile } = config;
  const beside = dirname(userFile);
  const stores = findStores(config, directories, repositoryOf(location.project));
  const traces: [path: string, what: string, store?: string][] = [
    ...stores.flatMap((store): [string, string, string][] => [
      [join(store, STATE), "undo history, waiting proposals, caches", store],
      [join(store, LEAVING), "what an interrupted purge left", store],
    ]),
    ...foldersOf(join(claudeDir, "projects")).map((folder): [string, string] => [
      join(folder, "prompts.jsonl"),
      "what you typed in the console",
    ]),
    [userFile, "your settings"],
    [join(beside, "memdir-tokens.json"), "tokens of team servers"],
    [join(beside, "memdir-git"), "copies of git remotes that you sync with"],
    [join(claudeDir, "memdir-archive"), "copies of transcripts (hooks.archive)"],
    [caches, "errors of hooks, caches"],
  ];
  return traces.flatMap(([path, what, store = null]) => {
    const stat = lstatOrNull(path);
    return stat && !stat.isSymbolicLink() ? [{ path, what, bytes: sizeOf(path), store }] : [];
  });
}

/** Removes them, each store's under its lock, after finishing what a killed writer began; then the folders that are empty now. */
export async function purge({ config, directories }: Memdir, traces: readonly Trace[]): Promise<void> {
  for (const { path, store } of traces) {
    if (store !== null && basename(path) === STATE) await removeState({ ...(directories[0] as Store), path: store });
    else onDisk("remove", path, () => rmSync(path, { recursive: true, force: true }));
  }
  for (const { path, store } of traces) removeEmpty(store ?? dirname(path), config.home);
}

/** A waiting writer notices that the state was replaced, and starts again with a fresh one. */
async function removeState(store: Store): Promise<void> {
  const [state, leaving] = [join(store.path, STATE), join(store.path, LEAVING)];
  const isMoved = await openStore({ ...store, readOnly: false }).change(() => {
    rmSync(leaving, { recursive: true, force: true });
    return attempt(() => {
      renameSync(state, leaving);
      return true;
    }, false);
  });
  // Windows renames no folder with an open file, such as the lock.
  const path = isMoved ? leaving : state;
  onDisk("remove", path, () => rmSync(path, { recursive: true, force: true }));
}

/** Stores that exist: of every project that Claude Code's folder knows, of the user, of agents, and of those projects' repositories, by what was saved or said there. */
function findStores(config: Config, directories: readonly Store[], repository: string): string[] {
  const { claudeDir } = config;
  const folders = foldersOf(join(claudeDir, "projects"));
  const projects = folders.flatMap((folder) => [folder, join(folder, "memory")]);
  const own = [...directories.map(({ path }) => path), ...projects, join(claudeDir, "memory")];
  const recorded = own.flatMap((path) => readOwner(path)?.roots ?? []);
  const roots = new Set([repository, ...recorded, ...folders.flatMap(findRepository)]);
  const shared = [...roots].flatMap((root) => {
    const agents = Object.values(agentDirectories("", config, root)).flatMap(foldersOf);
    return [getTeamMemDir(root), ...agents];
  });
  return [...new Set([...own, ...own.map(mirrorOf), ...shared])].filter((path) => lstatOrNull(path)?.isDirectory());
}

/** Where the sessions of a folder were: memdir may have read a team's memories there without saving anything. */
function findRepository(sessions: string): string[] {
  for (const { name } of listEntries(sessions)) {
    const { cwd } = name.endsWith(".jsonl") ? readClaudeHead(join(sessions, name)) : { cwd: null };
    if (cwd !== null) return lstatOrNull(cwd)?.isDirectory() ? [repositoryOf(findProject(cwd))] : [];
  }
  return [];
}

function foldersOf(folder: string): string[] {
  return listEntries(folder).flatMap((entry) => (entry.isDirectory() ? [join(folder, entry.name)] : []));
}

/** Folders that memdir makes where they are missing; a project's own folder is never one of them. */
const MADE = /^(?:memory|team|projects|agent-memory(?:-local)?|\.claude|\.cache)$/;

/** Upwards as far as nothing else is in them. */
function removeEmpty(folder: string, home: string): void {
  for (let at = folder; at !== home; at = dirname(at)) {
    const isMade = MADE.test(basename(at)) || /^(?:projects|agent-memory(?:-local)?)$/.test(basename(dirname(at)));
    if (!isMade || attempt(() => readdirSync(at).length, 1) > 0) return;
    attempt(() => rmdirSync(at), null);
  }
}

function sizeOf(path: string): number {
  const stat = lstatSync(path);
  if (!stat.isDirectory()) return stat.size;
  const inside = readdirSync(path, { recursive: true, withFileTypes: true });
  const files = inside.filter((entry) => entry.isFile());
  return files.reduce((sum, { parentPath, name }) => sum + (lstatOrNull(join(parentPath, name))?.size ?? 0), 0);
}
