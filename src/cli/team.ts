/** `memdir team`: who shares memories here, and what an admin of the team does about it. */

import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import { resolve } from "node:path";
import { PRIVATE_MODE, removeQuietly } from "../disk/atomic.ts";
import { diskError, MemdirError } from "../errors.ts";
import { openTeam, type Team } from "../open-team.ts";
import type { Network } from "../team/http.ts";
import { formatMembership } from "../team/membership.ts";
import type { Role } from "../team/protocol.ts";
import { findMemory } from "../verbs/find.ts";
import type { Call, Run } from "./command.ts";
import { sanitiseLine } from "./console/sanitise.ts";
import { showTeam } from "./team-view.ts";

export const run: Run = (call) => runTeam(call, {});

export async function runTeam(call: Call, network: Partial<Network>): Promise<number> {
  const [verb, ...args] = call.args;
  const work = verb === undefined ? { words: "", run: ({ call, team }: Desk) => showTeam(call, team) } : findVerb(verb);
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
  const team = openTeam(await call.open(), network);
  return work.run({ call, team, args });
}

interface Desk {
  call: Call;
  team: Team;
  args: string[];
}

interface Verb {
  /** What it is called with. */
  words: string;
  run(desk: Desk): Promise<number>;
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

function findVerb(verb: string): Verb | undefined {
  return Object.hasOwn(VERBS, verb) ? VERBS[verb] : undefined;
}

/** With --repository the role counts there only. */
async function addPerson({ call, team, args: [person = ""] }: Desk): Promise<number> {
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

async function setRole({ call, team, args: [person = ""] }: Desk): Promise<number> {
  const role = readRole(call);
  if (role === undefined) throw new MemdirError("usage", "which role? --role reader, writer, admin or none");
  const repository = call.value("repository") ?? null;
  await team.administration.setRole(person, repository, role);
  const what = role === null ? "has no role of their own" : `is ${role}`;
  return tell(call, { person, role, repository }, `${person} ${what} in ${repository ?? team.membership.team}`);
}

/** Never on the terminal: what is shown there is kept by others. */
async function makeToken({ call, team, args: [person = ""] }: Desk): Promise<number> {
  const file = call.value("token-file");
  if (file === undefined)
    throw new MemdirError("usage", "where to? --token-file FILE; a token is not shown on the terminal");
  const path = resolve(call.cwd, file);
  const days = readDays(call);
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

async function listTokens({ call, team }: Desk): Promise<number> {
  const tokens = await team.administration.tokens();
  if (call.json) call.terminal.json(tokens);
  for (const row of call.json ? [] : tokens) {
    const state = row.revoked ? `revoked ${day(row.revoked)}` : row.expires ? `until ${day(row.expires)}` : "no end";
    const used = row.lastUsed ? `used ${day(row.lastUsed)}` : "never used";
    call.terminal.print([row.id, row.person, row.label || "-", state, used].map(sanitiseLine).join("  "));
  }
  return 0;
}

async function revokeToken({ call, team, args: [id = ""] }: Desk): Promise<number> {
  await team.administration.revokeToken(id);
  return tell(call, { revoked: id }, `token ${id} is not valid any more`);
}

async function addRepository({ call, team, args: [name = ""] }: Desk): Promise<number> {
  await team.administration.addRepository(name);
  const url = formatMembership({ ...team.membership, repository: name });
  return tell(call, { repository: name, url }, `members join it with memdir join ${url}`);
}

async function search({ call, team, args }: Desk): Promise<number> {
  const hits = await team.administration.search(args.join(" "), readCount(call, "limit", 50) ?? 10);
  if (call.json) call.terminal.json(hits);
  for (const hit of call.json ? [] : hits) {
    const place = call.terminal.color.bold(sanitiseLine(`${hit.repository}/${hit.path}`));
    const who = call.terminal.color.dim(sanitiseLine(`${hit.author} ${day(hit.at)}`));
    call.terminal.print(`${place} ${sanitiseLine(hit.name)}: ${sanitiseLine(hit.description)} ${who}`);
  }
  if (!call.json && hits.length === 0) call.terminal.print("nothing that you may read in this team has these words");
  return hits.length === 0 ? 1 : 0;
}

async function showAudit({ call, team }: Desk): Promise<number> {
  const rows = await team.administration.audit({
    limit: readCount(call, "limit", 1000) ?? 50,
    before: call.value("before"),
  });
  if (call.json) call.terminal.json(rows);
  for (const row of call.json ? [] : rows) {
    const what = [row.repository, row.path].filter((part) => part !== null).join("/");
    call.terminal.print([row.at, row.person, row.action, what || "-", row.outcome].map(sanitiseLine).join("  "));
  }
  return 0;
}

async function listVersions({ call, team, args: [name = ""] }: Desk): Promise<number> {
  const path = await pathOf(team, name);
  const versions = await team.remote.versions(path);
  if (versions.length === 0) throw new MemdirError("not-found", `the server has no version of ${path}`);
  const shown = versions.map(({ text, ...rest }) => ({
    ...rest,
    bytes: text === null ? null : Buffer.byteLength(text),
  }));
  if (call.json) call.terminal.json({ path, versions: shown });
  for (const { revision, author, at, bytes } of call.json ? [] : shown) {
    const size = bytes === null ? "removed or redacted" : `${bytes} bytes`;
    call.terminal.print([revision, at || "-", author || "-", size].map(sanitiseLine).join("  "));
  }
  return 0;
}

async function redact({ call, team, args: [name = "", revision = ""] }: Desk): Promise<number> {
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

function tell(call: Call, answer: object, words: string): number {
  if (call.json) call.terminal.json(answer);
  else call.terminal.print(sanitiseLine(words));
  return 0;
}

/** Null takes a role away. */
function readRole(call: Call): Role | null | undefined {
  const role = call.value("role");
  if (role === undefined) return undefined;
  if (role === "none") return null;
  if (role === "reader" || role === "writer" || role === "admin") return role;
  throw new MemdirError("usage", `--role is reader, writer, admin or none, not ${JSON.stringify(role)}`);
}

function readDays(call: Call): number | null {
  return readCount(call, "days", 3650);
}

function readCount(call: Call, name: string, max: number): number | null {
  const text = call.value(name);
  if (text === undefined) return null;
  const count = Number(text);
  if (/^\d{1,6}$/.test(text) && count >= 1 && count <= max) return count;
  throw new MemdirError("usage", `--${name} is a number from 1 to ${max}`);
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

function day(time: string): string {
  return time.slice(0, 10);
}

function quote(text: string): string {
  return /^[\w.-]+$/.test(text) ? text : JSON.stringify(text);
}
