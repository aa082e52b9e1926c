/** `memdir join`: this project shares memories through a team's server from now on; `--leave` ends it. */

import { resolve } from "node:path";
import type { Config } from "../config.ts";
import { readRegular } from "../disk/fence.ts";
import { diskError, MemdirError } from "../errors.ts";
import { joinTeam, leaveTeam } from "../open-team.ts";
import { checkToken } from "../team/credentials.ts";
import type { Network } from "../team/http.ts";
import { formatMembership, parseMembership } from "../team/membership.ts";
import type { Call, Run } from "./command.ts";
import { sanitiseLine } from "./console/sanitise.ts";
import { printResult } from "./sync.ts";

export const run: Run = (call) => join(call, {});

export async function join(call: Call, network: Partial<Network>): Promise<number> {
  const [url] = call.args;
  if (call.flag("leave")) return leave(call);
  if (url === undefined) {
    throw new MemdirError("usage", "join what? memdir join https://HOST/TEAM/REPOSITORY --token-file FILE");
  }
  parseMembership(url);
  const memdir = await call.open();
  const { token, keep } = await readToken(call, memdir.config);
  const team = await joinTeam(memdir, url, { token, keep, create: call.flag("create") }, network);
  const progress = call.terminal.progress("memories");
  try {
    const result = await team.sync({ onProgress: progress.show });
    progress.end();
    const name = formatMembership(team.membership);
    if (call.json) {
      call.terminal.json({ joined: name, directory: team.directory.path, ...result });
    } else {
      call.terminal.print(`joined ${name}; its memories are in ${sanitiseLine(team.directory.path)}`);
      printResult(call, result, false);
    }
    return result.conflicts.length + result.refused.length === 0 ? 0 : 1;
  } finally {
    progress.end();
  }
}

async function leave(call: Call): Promise<number> {
  const { membership, mirror } = leaveTeam(await call.open());
  const name = formatMembership(membership);
  if (call.json) call.terminal.json({ left: name, directory: mirror });
  else
    call.terminal.print(
      `left ${name}; what was shared stays in ${sanitiseLine(mirror)}, unread: remove it if you like`,
    );
  return 0;
}

/** Never an argument: those are in the shell's history, and everybody on the machine can see them. */
async function readToken(call: Call, { env }: Config): Promise<{ token: string; keep: boolean }> {
  const file = call.value("token-file");
  if (file !== undefined) {
    return { token: checkToken(readTokenFile(resolve(call.cwd, file)), `what ${file} holds`), keep: true };
  }
  // Whoever sets it sets it for every call, as on a build machine.
  if (env.MEMDIR_TOKEN) return { token: checkToken(env.MEMDIR_TOKEN, "MEMDIR_TOKEN"), keep: false };
  if (call.terminal.interactive) {
    throw new MemdirError("usage", "which token? give its file with --token-file, or the token on standard input");
  }
  return { token: checkToken(await call.terminal.readInput(), "what came on standard input"), keep: true };
}

const MAX_BYTES = 10_000;

function readTokenFile(file: string): string {
  try {
    const data = readRegular(file, { follow: true, maxBytes: MAX_BYTES });
    if (data) return data.toString("utf8");
  } catch (error) {
    throw diskError(error, "read", file);
  }
  throw new MemdirError("not-found", `${file} is no file with a token`);
}
