/** `memdir team`: who shares memories here, and what an admin of the team does about it. */

import { closeSync, fsyncSync, openSync, statSync, writeSync } from "node:fs";
import { resolve } from "node:path";
import { PRIVATE_MODE, removeQuietly } from "../disk/atomic.ts";
import { diskError, MemdirError } from "../errors.ts";
import { openTeam, type Team } from "../open-team.ts";
import { statePath, walk } from "../store/store.ts";
import { isConflictPath } from "../team/conflict-copy.ts";
import type { Network } from "../team/http.ts";
import { formatMembership } from "../team/membership.ts";
import type { Role } from "../team/protocol.ts";
import { sanitiseLine } from "../text/sanitise.ts";
import { findMemory } from "../verbs/find.ts";
import { answer, type Call, numberOf, type Run } from "./command.ts";

export const team: Run = (call) => runTeam(call, {});

export async function runTeam(call: Call, network: Partial<Network>): Promise<number> {
  const [verb, ...args] = call.args;
  const work = verb === undefined ? { words: "", run: showTeam } : Object.hasOwn(VERBS, verb) ? VERBS[verb] : undefined;
  if (!work) {
    throw new MemdirError(
      "usage",
      `there is no \`memdir team ${sanitiseLine(String(verb))}\`; there are ${Object.keys(VERBS).join(", ")}`,
    );
  }
  const wanted = work.words.split(" ").filter((word) => word !== "");
  const isOpen = work.words.endsWith("…");
  if (args.length < wanted.length || (!isOpen && args.length > wanted.length)) {
    throw new MemdirError("usage", `the call is \`memdir team ${verb} ${work.words}\``);
  }
  return work.run(call, openTeam(await call.open(), network), args);
}

interface Verb {
  /** What it is called with. */
  words: string;
  run(call: Call, team: Team, args: string[]): Promise<number>;
}

const VERBS: Readonly<Record<string, Verb>> = {
  add: { words: "PERSON", run: addPerson },
  role: { words: "PERSON", run: setRole },
  token: { words: "PERSON", run: makeToken },
  tokens: { words: "", run: listTokens },
  revoke: { words: "ID", run: revokeToken },
  repository: { words: "NAME", run: addRepository },
  search: { words: "WORDS…", run: search },
  audit: { words: "", run: showAudit },
  versions: { words: "NAME", run: listVersions },
  redact: { words: "NAME REVISION", run: redact },
};

/** Who I am in the team, who else is, when we last met, and what waits for a person. */
async function showTeam(call: Call, team: Team): Promise<number> {
  const { administration, directory, membership } = team;
  const [view, people] = await Promise.all([administration.view(), administration.people()]);
  const here = walk(directory.path).files;
  const own = view.repositories.find(({ name }) => name === membership.repository);
  const status = {
    url: formatMembership(membership),
    directory: directory.path,
    person: view.person,
    role: own?.role ?? view.role,
    memories: { here: here.length, there: own?.memories ?? 0 },
    lastSync: statSync(statePath(directory, "sync.json"), { throwIfNoEntry: false })?.mtime.toISOString() ?? null,
    conflicts: here.filter(isConflictPath),
    repositories: view.repositories,
    people,
  };
  return answer(call, status, () => {
    const { bold, dim, yellow } = call.terminal.color;
    return [
      `${bold(status.url)} ${dim(sanitiseLine(status.directory))}`,
      `you are ${sanitiseLine(status.person)}, ${status.role ?? "without a role here"}`,
      `${here.length} memories here, ${status.memories.there} there; last sync ${status.lastSync ?? "never"}`,
      ...status.repositories.map(
        ({ name, role, memories }) => `  ${sanitiseLine(name)}: ${memories} memories, you are ${role}`,
      ),
      // Only admins see the people.
      ...(people ?? []).map(({ name, role, repositories }) => {
        const roles = [role, ...repositories.map((one) => `${one.role} in ${one.repository}`)];
        return `  ${sanitiseLine(name)}: ${sanitiseLine(roles.filter((one) => one !== null).join(", ")) || "no role"}`;
      }),
      ...status.conflicts.map(
        (path) => `${yellow("conflict")} ${sanitiseLine(path)}: bring it together with its memory, then forget it`,
      ),
    ];
  });
}

/** With --repository the role counts there only. */
async function addPerson(call: Call, team: Team, [person = ""]: string[]): Promise<number> {
  const asked = readRole(call);
  const role = asked === undefined ? "writer" : asked;
  const repository = call.value("repository") ?? null;
  try {
    await team.administration.addPerson(person, repository === null ? role : null);
  } catch (error) {
    if (!(error instanceof MemdirError) || error.code !== "conflict") throw error;
    const advice = `\`memdir team role ${quote(person)} --role ROLE\` changes what they may do`;
    throw new MemdirError("conflict", `somebody called ${person} is in the team already: ${advice}`);
  }
  if (repository !== null) await team.administration.setRole(person, repository, role);
  const where = repository ?? team.membership.team;
  return tell(
    call,
    { person, role, repository },
    `${person} is ${role ?? "without a role"} in ${where}; memdir team token ${quote(person)} --token-file FILE makes a token`,
  );
}

async function setRole(call: Call, team: Team, [person = ""]: string[]): Promise<number> {
  const role = readRole(call);
  if (role === undefined) throw new MemdirError("usage", "which role? --role reader, writer, admin or none");
  const repository = call.value("repository") ?? null;
  await team.administration.setRole(person, repository, role);
  const what = role === null ? "has no role of their own" : `is ${role}`;
  return tell(call, { person, role, repository }, `${person} ${what} in ${repository ?? team.membership.team}`);
}

/** Never on the terminal: what is shown there is kept by others. */
async function makeToken(call: Call, team: Team, [person = ""]: string[]): Promise<number> {
  const file = call.value("token-file");
  if (file === undefined)
    throw new MemdirError("usage", "where to? --token-file FILE; a token is not shown on the terminal");
  const path = resolve(call.cwd, file);
  const days = numberOf(call, "days", { min: 1, max: 3650 }) ?? null;
  // Made before the token: one that could not be written down would be lost, and valid.
  const fd = openNew(path);
  let isKept = false;
  try {
    const made = await team.administration.addToken(person, { label: call.value("label") ?? "", days });
    writeSync(fd, `${made.token}\n`);
    fsyncSync(fd);
    isKept = true;
    const lasts = days === null ? "until it is revoked" : `for ${days} days`;
    return tell(
      call,
      { id: made.id, person, file: path, days },
      `token ${made.id} for ${person} is in ${path}, good ${lasts}: hand it over safely, then remove the file`,
    );
  } finally {
    closeSync(fd);
    if (!isKept) removeQuietly(path);
  }
}

async function listTokens(call: Call, team: Team): Promise<number> {
  const tokens = await team.administration.tokens();
  return answer(call, tokens, () =>
    tokens.map((row) => {
      const state = row.revoked ? `revoked ${day(row.revoked)}` : row.expires ? `until ${day(row.expires)}` : "no end";
      const used = row.lastUsed ? `used ${day(row.lastUsed)}` : "never used";
      return rowOf([row.id, row.person, row.label || "-", state, used]);
    }),
  );
}

async function revokeToken(call: Call, team: Team, [id = ""]: string[]): Promise<number> {
  await team.administration.revokeToken(id);
  return tell(call, { revoked: id }, `token ${id} is not valid any more`);
}

async function addRepository(call: Call, team: Team, [name = ""]: string[]): Promise<number> {
  await team.administration.addRepository(name);
  const url = formatMembership({ ...team.membership, repository: name });
  return tell(call, { repository: name, url }, `members join it with memdir join ${url}`);
}

async function search(call: Call, team: Team, args: string[]): Promise<number> {
  const hits = await team.administration.search(args.join(" "), numberOf(call, "limit", { min: 1, max: 50 }) ?? 10);
  const { bold, dim } = call.terminal.color;
  const say = () =>
    hits.map((hit) => {
      const place = bold(sanitiseLine(`${hit.repository}/${hit.path}`));
      const who = dim(sanitiseLine(`${hit.author} ${day(hit.at)}`));
      return `${place} ${sanitiseLine(hit.name)}: ${sanitiseLine(hit.description)} ${who}`;
    });
  const nothing = () => "nothing that you may read in this team has these words";
  return hits.length === 0 ? answer(call, hits, nothing, 1) : answer(call, hits, say);
}

async function showAudit(call: Call, team: Team): Promise<number> {
  const limit = numberOf(call, "limit", { min: 1, max: 1000 }) ?? 50;
  const rows = await team.administration.audit({ limit, before: call.value("before") });
  return answer(call, rows, () =>
    rows.map(({ at, person, action, repository, path, outcome }) => {
      const what = [repository, path].filter((part) => part !== null).join("/");
      return rowOf([at, person, action, what || "-", outcome]);
    }),
  );
}

async function listVersions(call: Call, team: Team, [name = ""]: string[]): Promise<number> {
  const path = await pathOf(team, name);
  const found = await team.remote.versions(path);
  if (found.length === 0) throw new MemdirError("not-found", `the server has no version of ${path}`);
  const versions = found.map(({ text, ...rest }) => ({
    ...rest,
    bytes: text === null ? null : Buffer.byteLength(text),
  }));
  return answer(call, { path, versions }, () =>
    versions.map(({ revision, author, at, bytes }) =>
      rowOf([revision, at || "-", author || "-", bytes === null ? "removed or redacted" : `${bytes} bytes`]),
    ),
  );
}

async function redact(call: Call, team: Team, [name = "", revision = ""]: string[]): Promise<number> {
  const path = await pathOf(team, name);
  const repository = call.value("repository") ?? team.membership.repository;
  await team.administration.redact(repository, path, revision);
  const words = `the text of ${path} at ${revision} is gone from the server for good; copies on people's machines are theirs to remove, and a secret must be revoked where it is valid`;
  return tell(call, { repository, path, revision, redacted: true }, words);
}

/** By name as everywhere, or as a path of the server: it may be gone here. */
async function pathOf({ directory }: Team, name: string): Promise<string> {
  try {
    return (await findMemory([directory], name)).file;
  } catch (error) {
    if (name.endsWith(".md") && error instanceof MemdirError && error.code === "not-found") return name;
    throw error;
  }
}

function tell(call: Call, value: object, words: string): number {
  return answer(call, value, () => sanitiseLine(words));
}

/** Null takes a role away. */
function readRole(call: Call): Role | null | undefined {
  const role = call.value("role");
  if (role === undefined) return undefined;
  if (role === "none") return null;
  if (role === "reader" || role === "writer" || role === "admin") return role;
  throw new MemdirError("usage", `--role is reader, writer, admin or none, not ${JSON.stringify(role)}`);
}

function openNew(path: string): number {
  try {
    return openSync(path, "wx", PRIVATE_MODE);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") {
      throw new MemdirError("conflict", `${path} is there already: choose another file`);
    }
    throw diskError(error, "write", path);
  }
}

function rowOf(cells: readonly string[]): string {
  return cells.map(sanitiseLine).join("  ");
}

function day(time: string): string {
  return time.slice(0, 10);
}

function quote(text: string): string {
  return /^[\w.-]+$/.test(text) ? text : JSON.stringify(text);
}
