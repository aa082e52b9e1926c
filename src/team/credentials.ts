/** Tokens of team servers: one for each server and team, in a file that only the user can read. */

import { closeSync, fstatSync, fsyncSync, mkdirSync, openSync, readFileSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import * as v from "valibot";
import type { Config } from "../config.ts";
import { moveInto, PRIVATE_MODE, removeQuietly, writeTemporary } from "../disk/atomic.ts";
import { withRegular } from "../disk/fence.ts";
import { diskError, MemdirError, onDisk } from "../errors.ts";
import { type Membership, parseServer } from "./membership.ts";

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
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
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
