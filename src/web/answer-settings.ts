/** What surrounds the memories: settings, agents, other projects, the team, and a memory's file in an editor. */

import { existsSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { findOpener, launchProgram } from "../child-group.ts";
import { type Config, SETTINGS, type Setting } from "../config.ts";
import { statOrNull } from "../disk/fence.ts";
import { attempt, MemdirError } from "../errors.ts";
import { choice, required } from "../input.ts";
import type { Memdir } from "../memdir.ts";
import { findByRef } from "../memory/memories.ts";
import { openMemdir } from "../open.ts";
import { readOwner } from "../project/locate.ts";
import { setUserEntry } from "../project/owner.ts";
import { statePath } from "../store/store.ts";
import { findMembership, formatMembership } from "../team/membership.ts";
import { findSecrets } from "../text/secrets.ts";
import { findMachine, init } from "../verbs/init.ts";
import { CLIENTS } from "../wiring/clients.ts";
import { contextOf, get, NAME, type Page, post, REF, TEXT } from "./answer.ts";
import { authorsOf } from "./answer-memories.ts";

const SIGNAL = new AbortController().signal;

/** The settings that the page offers; the others are in docs/configuration.md. */
const OFFERED = ["mode", "teamMode", "tokensPerDay", "tokensPerSession", "costPerDay", "model"] as const;
const LEARN = SETTINGS.private.learn as Record<(typeof OFFERED)[number], Setting<unknown>>;

export const SETTINGS_ROUTES = [
  get("/api/settings", {}, viewSettings),
  /** Into the user's own file; the page then goes by it. */
  post("/api/settings", { name: required(choice(OFFERED)), value: TEXT }, async (page, { name, value }) => {
    const { memdir, store } = page;
    setUserEntry(memdir.config, "learn", name, readSetting(name, value.trim()));
    await reopen(page, memdir.location.project.cwd, store);
    return {};
  }),
  post("/api/agents", { name: NAME }, async (page, { name }) => {
    const wired = await init.run(page.memdir, { agent: [name], yes: true }, contextOf(page, SIGNAL));
    const [problem] = "problems" in wired ? wired.problems : [];
    if (problem !== undefined) throw new MemdirError("conflict", String(Object.values(problem).at(-1)));
    return { notes: "notes" in wired ? wired.notes : [] };
  }),
  get("/api/projects", {}, async ({ memdir }) => listProjects(memdir.config)),
  /** Only one that was listed: an address must not open just any folder. */
  post("/api/project", { root: NAME }, async (page, { root }) => {
    if (!listProjects(page.memdir.config).some((project) => project.root === root))
      throw new MemdirError("not-found", "there is no such project with memories");
    await reopen(page, root);
    return {};
  }),
  get("/api/team", {}, viewTeam),
  post("/api/open", REF, async ({ memdir, env }, ref) => {
    const { directory, file } = findByRef(memdir.directories, ref);
    const path = join(directory.path, file);
    return { program: openInEditor(env, path), path };
  }),
];

export async function viewSettings(page: Page) {
  const { learn, userFile } = page.memdir.config;
  return {
    learn,
    /** Where they are kept. */
    userFile,
    stores: page.memdir.directories.map(({ scope, path, readOnly }) => ({ scope, path, readOnly })),
    agents: await listAgents(page),
  };
}

/** Shared memories: where they are shared, and who writes them. */
export async function viewTeam(page: Page) {
  const shared = page.memdir.directories.filter(({ scope }) => scope === "team");
  const authors = await Promise.all(shared.map((directory) => authorsOf(page, directory)));
  const written = authors.flatMap((files) => [...files.values()]);
  return { place: findTeam(page), lastSync: lastSync(page), people: countPeople(written) };
}

/** Null for nothing. Throws for what the setting cannot be, which would be ignored once it is written. */
function readSetting(name: (typeof OFFERED)[number], value: string): string | number | null {
  if (value === "") return null;
  const { kind } = LEARN[name];
  const given = kind.accept(value) === undefined ? Number(value) : value;
  if (kind.accept(given) === undefined)
    throw new MemdirError("usage", `"${name}" must be ${kind.expected}, or nothing`);
  const [secret] = findSecrets(value);
  if (secret) throw new MemdirError("secret", `not saved, it looks like a secret: ${secret.rule}`);
  return given;
}

/** Settings and projects are read when a Memdir is opened. */
async function reopen(page: Page, cwd: string, store: Page["store"] = {}): Promise<void> {
  const { env, now, log, watch } = page;
  const memdir = await openMemdir({ cwd, env, now, log, by: "ui", ...store });
  if (placeOf(memdir) !== placeOf(page.memdir)) page.generation++;
  const { version } = page.kept;
  Object.assign(page, { memdir, store, kept: { version: version === null ? null : version + 1 } });
  watch?.();
}

function placeOf({ location, directories }: Memdir): string {
  return JSON.stringify([location.project.root, ...directories.map(({ path }) => path)]);
}

/** On this machine; `changes` is what wiring one would change. */
export async function listAgents(page: Page) {
  const context = contextOf(page, SIGNAL);
  const machine = findMachine(context);
  const planned = await init.run(page.memdir, { "dry-run": true }, context);
  const changes = planned.changes as readonly { client?: string; file: string; why?: string }[];
  return CLIENTS.map(({ name, title, find }) => {
    const isFound = find(machine) !== null;
    const missing = changes.filter(({ client }) => client === name).map(({ file, why = "" }) => ({ file, why }));
    return { name, title, isFound, isWired: isFound && missing.length === 0, changes: missing };
  });
}

/** More would not fit into a menu. */
const MAX_PROJECTS = 100;

/** Projects whose folder is known and still exists, the last used first. */
export function listProjects({ claudeDir }: Config) {
  const projects = join(claudeDir, "projects");
  const found = attempt(() => readdirSync(projects), []).flatMap((name) => {
    const owner = readOwner(join(projects, name, "memory"));
    const root = owner?.roots.find((each) => existsSync(each));
    return owner && root !== undefined ? [{ root, name: basename(root), at: owner.at }] : [];
  });
  return found.sort((a, b) => (a.at < b.at ? 1 : -1)).slice(0, MAX_PROJECTS);
}

/** Editors with a window of their own: one in a terminal would need the terminal that the page's server runs in. */
const WINDOWED = /^(?:code|codium|cursor|windsurf|zed|subl|atom|gedit|kate|gvim|mate|idea|webstorm|notepad)\b/i;

/** The user's own editor, never a program that a repository names. Its name, null where none has a window. */
function openInEditor(env: Page["env"], path: string): string | null {
  const own = [env.VISUAL, env.EDITOR].find(
    (command) => command && WINDOWED.test(basename(command.split(" ")[0] ?? "")),
  );
  const opener = process.platform === "win32" ? null : findOpener(env);
  const [name, ...args] = own?.split(/\s+/) ?? (opener ? [opener] : []);
  if (name === undefined) return null;
  // "--wait" is for callers that read the file afterwards.
  return launchProgram(env, name, [...args.filter((each) => !/^-(?:-wait|w)$/.test(each)), path]);
}

/** A server that the project has joined comes before the folder in the repository. */
function findTeam({ memdir, log }: Page): { kind: "none" | "repository" | "server"; where: string } | null {
  try {
    const membership = findMembership(memdir.config, memdir.location.project);
    if (membership) return { kind: "server", where: formatMembership(membership) };
  } catch (error) {
    log((error as Error).message);
  }
  const shared = memdir.directories.find(({ scope }) => scope === "team");
  return shared ? { kind: shared.inRepository ? "repository" : "none", where: shared.path } : null;
}

/** When the notes of the last sync were written, as `memdir team` shows it. */
function lastSync({ memdir }: Page): string | null {
  const times = memdir.directories.map((directory) => statOrNull(statePath(directory, "sync.json"))?.mtimeMs ?? 0);
  const latest = Math.max(0, ...times);
  return latest === 0 ? null : new Date(latest).toISOString();
}

/** The busiest first; memories that were not committed or synced yet have no author. */
function countPeople(rows: readonly { author: string; at: string }[]) {
  const people = new Map<string, { name: string; memories: number; last: string | null }>();
  for (const { author, at } of rows) {
    if (author === "") continue;
    const known = people.get(author) ?? { name: author, memories: 0, last: null };
    known.memories++;
    if (known.last === null || at > known.last) known.last = at;
    people.set(author, known);
  }
  return [...people.values()].sort((a, b) => b.memories - a.memories || (a.name < b.name ? -1 : 1));
}
