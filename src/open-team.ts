/** The composition root of sharing: a Memdir and its membership in; the team's directory, its remote, sync and administration out. */

import { hostname, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { MemdirError } from "./errors.ts";
import type { Memdir } from "./memdir.ts";
import { findScope } from "./open.ts";
import { parseMemory, type Store } from "./store/store.ts";
import { projectKey } from "./team/git-address.ts";
import { openGitRemote } from "./team/git-remote.ts";
import type { Network } from "./team/http.ts";
import {
  findMembership,
  findToken,
  formatMembership,
  keepMembership,
  keepToken,
  type Membership,
  parseMembership,
  prepareMirror,
  readPerson,
} from "./team/membership.ts";
import { withPrefix } from "./team/remote.ts";
import { openAdministration, openServerRemote } from "./team/server-remote.ts";
import { syncDirectory } from "./team/sync.ts";
import { readState } from "./team/sync-local.ts";
import { emptyResult, type SyncOptions, type SyncResult } from "./team/sync-pass.ts";
import { findTypeProblem } from "./team/travel.ts";
import { sha256 } from "./text/hash.ts";

export type SyncRequest = Pick<SyncOptions, "signal" | "onProgress" | "dryRun">;

export type Team = ReturnType<typeof connect>;

/** Throws `usage` where the project has not joined a team, and where there is no token for it. */
export function openTeam(memdir: Memdir, network: Partial<Network> = {}): Team {
  const { config, location } = memdir;
  const membership = findMembership(config, location.project);
  const alone =
    "this project has not joined a team: run `memdir join https://HOST/TEAM/REPOSITORY`; `memdir sync --git REMOTE` syncs your own memories";
  if (!membership) throw new MemdirError("usage", alone);
  const token = findToken(config, membership);
  const url = formatMembership(membership);
  const ask = `ask an admin of the team for one, then run \`memdir join ${url} --token-file FILE\``;
  if (token === null) throw new MemdirError("usage", `there is no token for ${url}: ${ask}`);
  return connect(memdir, membership, token, network);
}

export interface JoinOptions {
  token: string;
  /** False for a token that is given again each time: it is not written down. */
  keep?: boolean;
  /** Makes the repository on the server where it is missing; for admins. */
  create?: boolean;
}

/** Nothing is kept before the server has taken the token. */
export async function joinTeam(
  memdir: Memdir,
  url: string,
  options: JoinOptions,
  network: Partial<Network> = {},
): Promise<Team> {
  const { config, location } = memdir;
  const membership = parseMembership(url);
  const current = findMembership(config, location.project);
  if (current && formatMembership(current) !== formatMembership(membership)) {
    const advice = "leave it first with `memdir join --leave`";
    throw new MemdirError("conflict", `this project shares memories through ${formatMembership(current)}: ${advice}`);
  }
  const team = connect(memdir, membership, options.token, network);
  const person = await findRepository(team, options.create ?? false);
  await prepareMirror(team.directory, location.dir, membership, person);
  if (options.keep !== false) keepToken(config, membership, options.token);
  keepMembership(config, location.project, membership);
  return team;
}

/** The mirror stays where it is, and is not read any more. */
export function leaveTeam(memdir: Memdir): { membership: Membership; mirror: string } {
  const { config, location } = memdir;
  const membership = findMembership(config, location.project);
  if (!membership) throw new MemdirError("usage", "this project has not joined a team");
  const mirror = mirrorOf(memdir, membership).path;
  keepMembership(config, location.project, null);
  const others = Object.entries(config.teams).filter(([root]) => root !== location.project.root);
  const prefix = `${membership.server}/${membership.team}/`;
  if (!others.some(([, url]) => url.startsWith(prefix))) keepToken(config, membership, null);
  return { membership, mirror };
}

/** `directory` is the mirror on this machine; nothing else is ever sent to the server. */
function connect(memdir: Memdir, membership: Membership, token: string, given: Partial<Network>) {
  const directory = mirrorOf(memdir, membership);
  const network = openNetwork(memdir, given);
  const options = { ...membership, token };
  const remote = openServerRemote(network, options);
  return {
    membership,
    directory,
    remote,
    administration: openAdministration(network, options),
    async sync(request: SyncRequest = {}) {
      await prepareMirror(directory, memdir.location.dir, membership);
      const { agreed } = readState(directory);
      // What the team has already is no secret of ours, whatever others thought of sharing it.
      const isShared = (file: string, text: string) => agreed.get(file)?.hash === sha256(text);
      // Sync itself looks for secrets, on the way out and in.
      const mayTravel = (file: string, text: string) =>
        isShared(file, text) ? null : findTypeProblem(parseMemory(file, text));
      return syncDirectory({ directory, remote, who: readPerson(directory), mayTravel, ...request });
    },
  };
}

/** `given` is what a test has instead. */
export function openNetwork({ directories }: Memdir, given: Partial<Network> = {}): Network {
  const { now, log } = directories[0] as Store;
  return {
    fetch: globalThis.fetch,
    now,
    random: Math.random,
    sleep: (ms, signal) => sleep(ms, undefined, { signal }),
    log,
    ...given,
  };
}

/** As the project has it once it has joined, whether it has or not. */
function mirrorOf({ config, location, directories }: Memdir, membership: Membership): Store {
  const teams = { ...config.teams, [location.project.root]: formatMembership(membership) };
  return findScope({ config: { ...config, teams }, location, directories }, "team");
}

/** Who the token belongs to; throws where they have no right. */
async function findRepository({ administration, membership }: Team, create: boolean): Promise<string> {
  const { person, repositories, role } = await administration.view();
  const { repository, team } = membership;
  if (repositories.some(({ name }) => name === repository)) return person;
  // The server has just been started, and this is the first project.
  const isFresh = role === "admin" && repositories.length === 0;
  if (!create && !isFresh) {
    const known = repositories.map(({ name }) => name).join(", ") || "none";
    const advice = role === "admin" ? "; --create makes it" : "; an admin of the team can make it";
    throw new MemdirError("not-found", `${team} has no repository ${repository} that you may read (${known})${advice}`);
  }
  await administration.addRepository(repository);
  return person;
}

export interface GitOptions {
  remote: string;
  branch?: string | undefined;
  /** `user` or `project`; both by default. */
  scope?: string | undefined;
}

export type GitSync = Awaited<ReturnType<typeof openGitSync>>;

/** A user's own memories on several machines: those about them, and those of this project. They go nowhere else. */
export async function openGitSync(memdir: Memdir, { remote: address, branch, scope }: GitOptions) {
  const { config, location } = memdir;
  const { cwd } = location.project;
  const parts: { directory: Store; prefix: string }[] = [];
  for (const name of scope === undefined ? ["user", "project"] : [scope]) {
    const prefix = name === "user" ? "user/" : `projects/${await projectKey(location.project, config.env)}/`;
    const directory = findScope(memdir, name);
    refuseShared(directory);
    parts.push({ directory, prefix });
  }
  const { username } = userInfo();
  const remote = openGitRemote(
    { ...openNetwork(memdir), env: config.env },
    {
      remote: address,
      branch,
      cache: join(dirname(config.userFile), "memdir-git", sha256(`${address}\n${branch ?? ""}`).slice(0, 16)),
      who: { name: username, email: `${username}@${hostname()}` },
      cwd,
    },
  );
  return {
    directories: parts.map(({ directory }) => directory),
    async sync(request: SyncRequest = {}) {
      const all = emptyResult();
      for (const { directory, prefix } of parts) {
        const part = { directory, remote: withPrefix(remote, prefix), who: username };
        addResult(all, await syncDirectory({ ...part, ...request }), prefix);
      }
      return all;
    },
  };
}

function refuseShared({ scope, path, inRepository }: Store): void {
  if ((scope === "user" || scope === "project") && !inRepository) return;
  const why = inRepository ? `${path} is committed with the repository` : `${scope} memories are not your own`;
  const message = `only your own memories go to other machines of yours: ${why}; use --scope user or project`;
  throw new MemdirError("usage", message);
}

/** With paths as they are in the remote: those of two directories may be the same. */
function addResult(all: SyncResult, part: SyncResult, prefix: string): void {
  const at = (path: string) => prefix + path;
  const move = <T extends { path: string }>(row: T) => ({ ...row, path: at(row.path) });
  for (const key of ["pulled", "pushed", "merged"] as const) all[key].push(...part[key].map(at));
  for (const key of ["here", "there"] as const) all.removed[key].push(...part.removed[key].map(at));
  all.conflicts.push(...part.conflicts.map(({ path, copy }) => ({ path: at(path), copy: at(copy) })));
  all.refused.push(...part.refused.map(move));
  all.waiting.push(...part.waiting.map(move));
  all.notices.push(...part.notices);
}
