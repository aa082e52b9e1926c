/** Which team's server a project belongs to, how that is written as a URL, its token, and the mirror of the team's memories on this machine. */

import { closeSync, fstatSync, fsyncSync, openSync, readdirSync, readFileSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import * as v from "valibot";
import type { Config } from "../config.ts";
import {
  makeFolders,
  moveInto,
  PRIVATE_MODE,
  realPath,
  removeQuietly,
  withRegular,
  writeTemporary,
} from "../disk/fence.ts";
import { diskError, MemdirError, onDisk } from "../errors.ts";
import type { Project } from "../project/locate.ts";
import { setUserEntry } from "../project/owner.ts";
import { mirrorOf } from "../project/scopes.ts";
import { openState, prepareDirectory, type Store } from "../store/store.ts";
import { findPlainNameProblem } from "./protocol.ts";

/** From the user's own file only: a repository must not send a user's memories anywhere. Throws for an entry that cannot be used. */
export function findMembership(config: Config, project: Project): Membership | null {
  const text = Object.hasOwn(config.teams, project.root) ? config.teams[project.root] : undefined;
  return text === undefined ? null : parseMembership(text);
}

/** Null leaves the team. */
export function keepMembership(config: Config, project: Project, membership: Membership | null): void {
  setUserEntry(config, "teams", project.root, membership && formatMembership(membership));
}

/** Says whose copy the directory is, and who we are on the server, as it said when we joined; "" where that is not known. */
const Marker = v.object({
  server: v.string(),
  team: v.string(),
  repository: v.string(),
  person: v.fallback(v.string(), ""),
});

const MAX_MARKER_BYTES = 10_000;

/**
 * Prepares the directory to be this team's mirror, or throws: only what is exactly there, is not a link and was made for this
 * very team is ever sent. `dir` is the project's memory directory.
 */
export async function prepareMirror(directory: Store, dir: string, membership: Membership, person = ""): Promise<void> {
  const { path } = directory;
  const url = formatMembership(membership);
  if (path !== mirrorOf(dir) || realPath(path) !== mirrorOf(realPath(dir)))
    throw new MemdirError("outside", `${path} is not the mirror of ${url}: nothing was sent`);
  let problem = "";
  const found = readMarker(directory, (why) => {
    problem = why;
  });
  if (found === url) return;
  const whose = found ?? `something that cannot be read (${problem})`;
  const other = `${path} is a mirror of ${whose}, not of ${url}: it is left alone; move it away, then run this again`;
  if (found !== null || problem !== "") throw new MemdirError("conflict", other);
  checkEmpty(directory);
  prepareDirectory(directory);
  markerOf(directory).write({ ...membership, person });
}

/** Which team the directory is a mirror of, as a URL; null where it does not say, and `broken` is called where that cannot be read. */
export function readMarker(directory: Store, broken?: (why: string) => void): string | null {
  const marker = markerOf(directory).read(broken);
  return marker && formatMembership(marker);
}

export function readPerson(directory: Store): string {
  return markerOf(directory).read()?.person ?? "";
}

function markerOf({ path }: Store) {
  const options = { maxBytes: MAX_MARKER_BYTES, flush: true };
  return openState(path).record("mirror", (value) => v.parse(Marker, value), options);
}

/** What is in a folder without a marker is not known to be the team's: it may be private. */
function checkEmpty({ path }: Store): void {
  let names: string[];
  try {
    names = readdirSync(path).filter((name) => name !== ".memdir");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
    throw diskError(error, "read", path);
  }
  const message = `${path} holds files that did not come from the team's server: move them away, run \`memdir sync\`, and share those that are meant for the team with \`memdir promote\``;
  if (names.length > 0) throw new MemdirError("conflict", message);
}

/** The server without a slash at its end. */
export type Membership = Omit<v.InferOutput<typeof Marker>, "person">;

/** "https://host/team/repository"; the server may be below a path of its own. Throws `usage`. */
export function parseMembership(text: string): Membership {
  const server = parseServer(text);
  const parts = server.split("/");
  const [team = "", repository = ""] = parts.splice(-2);
  // Three parts are the scheme, nothing and the host.
  if (parts.length < 3 || findPlainNameProblem(team) || findPlainNameProblem(repository)) {
    const advice = "write https://HOST/TEAM/REPOSITORY, with names of letters, digits, dots and hyphens";
    throw new MemdirError("usage", `${JSON.stringify(clip(text))} names no repository of a team: ${advice}`);
  }
  return { server: parts.join("/"), team, repository };
}

export function formatMembership({ server, team, repository }: Membership): string {
  return `${server}/${team}/${repository}`;
}

/** The address as it is used, without a slash at its end. Throws `usage` for one that memories may not be sent to. */
export function parseServer(text: string): string {
  const reason = findServerProblem(text);
  if (reason)
    throw new MemdirError("usage", `${JSON.stringify(clip(text))} cannot be used as a team server: ${reason}`);
  const { origin, pathname } = new URL(text);
  return `${origin}${pathname}`.replace(/\/+$/, "");
}

/** Contents and tokens travel over TLS, or not beyond this machine. */
function findServerProblem(text: string): string | null {
  if (!URL.canParse(text)) return "it is not a URL; write https://HOST/TEAM/REPOSITORY";
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:") return "only https is supported";
  if (url.username !== "" || url.password !== "") return "it must not contain a name or password; use a token";
  if (url.search !== "" || url.hash !== "") return "it must end after the path";
  if (url.protocol === "http:" && !isLoopback(url.hostname)) {
    return "memories are sent over https; plain http is for this machine only (localhost, 127.0.0.1, [::1])";
  }
  return null;
}

/** Of a URL or as it is listened on; other spellings of an address do not count. */
export function isLoopback(host: string): boolean {
  return /^(localhost|\[::1\]|::1|127(\.\d{1,3}){3})$/.test(host);
}

/** What is wrong may be long, and may hold a password. */
function clip(text: string): string {
  const shown = text.replace(/\/\/[^/@]*@/, "//…@");
  return shown.length > 120 ? `${shown.slice(0, 120)}…` : shown;
}

// --- Tokens of team servers: one for each server and team, in a file that only the user can read.

/** Whose token; one person may be in several teams of a server. */
type Audience = Pick<Membership, "server" | "team">;

/** It goes into a header: no spaces, no line breaks. Its length is the server's affair, within reason. */
const TOKEN = /^[!-~]{16,512}$/;

export function tokensFile(config: Pick<Config, "userFile">): string {
  return join(dirname(config.userFile), "memdir-tokens.json");
}

/**
 * MEMDIR_TOKEN, which a repository's settings cannot set (config.ts), for the one server that MEMDIR_TOKEN_SERVER names: an
 * environment is shared by all projects, and a token must not reach the server of another one. Null for other servers.
 */
export function findGivenToken({ env }: Pick<Config, "env">, server: string): string | null {
  if (!env.MEMDIR_TOKEN) return null;
  const bound = env.MEMDIR_TOKEN_SERVER;
  if (!bound)
    throw new MemdirError(
      "usage",
      `MEMDIR_TOKEN was not sent: it does not say which server it is for; set MEMDIR_TOKEN_SERVER=${server} as well if it is for this one`,
    );
  return parseServer(bound) === server ? checkToken(env.MEMDIR_TOKEN, "MEMDIR_TOKEN") : null;
}

/** The one in the environment, or the one that was kept. Null where there is none. */
export function findToken(config: Pick<Config, "userFile" | "env">, audience: Audience): string | null {
  const given = findGivenToken(config, audience.server);
  if (given !== null) return given;
  const tokens = readTokens(tokensFile(config));
  const key = keyOf(audience);
  const kept = Object.hasOwn(tokens, key) ? tokens[key] : undefined;
  return typeof kept === "string" ? checkToken(kept, `the token for ${key} in ${tokensFile(config)}`) : null;
}

/** Null removes it. */
export function keepToken(config: Pick<Config, "userFile">, audience: Audience, token: string | null): void {
  const file = tokensFile(config);
  const { [keyOf(audience)]: _, ...tokens } = readTokens(file);
  if (token !== null) tokens[keyOf(audience)] = checkToken(token, "the token");
  onDisk("write", file, () => {
    makeFolders(dirname(file), 0o700);
    const text = `${JSON.stringify(tokens, null, 2)}\n`;
    moveInto(writeTemporary(dirname(file), text, PRIVATE_MODE, ".memdir"), file);
  });
}

/** More servers than ever shared one folder. */
const MAX_FILES = 1000;

/**
 * Writes a token to a file of its own and names it. The file is there before the token is made, as a token that cannot be
 * written is lost, and valid. What is there already stays: `taken` says what to do then, without it the next free name is used.
 */
export async function writeToken(wanted: string, make: () => Promise<string>, taken?: string): Promise<string> {
  const { file, fd } = openFree(wanted, taken);
  let isWritten = false;
  try {
    writeSync(fd, `${await make()}\n`);
    fsyncSync(fd);
    isWritten = true;
    return file;
  } finally {
    closeSync(fd);
    if (!isWritten) removeQuietly(file);
  }
}

function openFree(wanted: string, taken: string | undefined): { file: string; fd: number } {
  for (let i = 1; ; i++) {
    const file = i === 1 ? wanted : `${wanted}-${i}`;
    try {
      return { file, fd: openSync(file, "wx", PRIVATE_MODE) };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST" || i > MAX_FILES) throw diskError(error, "write", file);
      if (taken) throw new MemdirError("conflict", `${file} already exists: ${taken}`);
    }
  }
}

/** The token without the line break that editors and pipes leave behind it. `source` names it in messages, which never quote it. */
export function checkToken(text: string, source: string): string {
  const token = text.trim();
  if (TOKEN.test(token)) return token;
  throw new MemdirError("usage", `${source} is not a token: it must be one word of at least 16 plain characters`);
}

function keyOf({ server, team }: Audience): string {
  return `${server}/${team}`;
}

function readTokens(file: string): Record<string, unknown> {
  const read = (fd: number) => {
    // Windows has no such bits; there the user's own folder is closed to others.
    if (process.platform !== "win32" && (fstatSync(fd).mode & 0o077) !== 0)
      throw new MemdirError("untrusted", `${file} can be read by others and is not used: run chmod 600 on it`);
    return readFileSync(fd, "utf8");
  };
  const text = onDisk("read", file, () => withRegular(file, read)) ?? "";
  try {
    return v.parse(v.record(v.string(), v.unknown()), text.trim() === "" ? {} : JSON.parse(text));
  } catch {
    throw new MemdirError("broken", `${file} is not valid JSON and is not rewritten: fix it by hand first`);
  }
}
