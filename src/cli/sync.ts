/** `memdir sync`: exchanges the team's memories with its server, or one's own with other machines through git; `memdir join` begins it. */

import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Config } from "../config.ts";
import { readRegular } from "../disk/fence.ts";
import { diskError, exitCodeOf, MemdirError } from "../errors.ts";
import type { Memdir } from "../memdir.ts";
import { joinTeam, leaveTeam, openGitSync, openTeam, type SyncRequest } from "../open-team.ts";
import { checkToken } from "../team/credentials.ts";
import type { Network } from "../team/http.ts";
import { formatMembership, parseMembership } from "../team/membership.ts";
import type { SyncResult } from "../team/sync-pass.ts";
import { keepSynced, listenToFiles, POLL_MS } from "../team/watch.ts";
import { sanitiseLine } from "../text/sanitise.ts";
import { answer, type Call, cancellable, killAfter, note, type Run, withProgress } from "./command.ts";

export const sync: Run = cancellable((call, stop) => syncMemories(call, {}, stop), "SIGTERM");

export const join: Run = (call) => joinServer(call, {});

/** What is synced, whichever way: one pass, and the folders that it is about. */
interface Exchange {
  folders: string[];
  pass(request: SyncRequest): Promise<SyncResult>;
}

export async function syncMemories(call: Call, network: Partial<Network>, stop: AbortController): Promise<number> {
  if (call.flag("dry-run") && call.flag("watch"))
    throw new MemdirError("usage", "--dry-run looks once: leave --watch out");
  await setDeadline(call, stop);
  const exchange = await openExchange(call, await call.open(), network);
  if (call.flag("watch")) return watch(call, exchange, stop);
  const dryRun = call.flag("dry-run");
  const result = await withProgress(call, "memories", (onProgress) =>
    exchange.pass({ signal: stop.signal, onProgress, dryRun }),
  );
  return answer(call, result, () => printResult(call, result, dryRun), exitCodeFor(result));
}

function exitCodeFor({ conflicts, refused }: SyncResult): number {
  return conflicts.length + refused.length === 0 ? 0 : 1;
}

async function openExchange(call: Call, memdir: Memdir, network: Partial<Network>): Promise<Exchange> {
  const remote = call.value("git");
  if (remote === undefined) {
    if (call.value("branch") !== undefined) throw new MemdirError("usage", "--branch goes with --git REMOTE");
    const team = openTeam(memdir, network);
    return { folders: [team.directory.path], pass: team.sync };
  }
  const git = await openGitSync(memdir, { remote, branch: call.value("branch"), scope: call.value("scope") });
  return { folders: git.directories.map(({ path }) => path), pass: git.sync };
}

/** For whoever starts it and does not wait, such as a hook: it ends by itself, whatever it is caught in. */
async function setDeadline(call: Call, stop: AbortController): Promise<void> {
  const text = call.value("deadline");
  if (text === undefined) return;
  const ms = Number(text) * 1000;
  if (!(ms > 0 && ms <= MAX_DEADLINE_MS)) {
    throw new MemdirError("usage", `--deadline takes seconds, from 1 to ${MAX_DEADLINE_MS / 1000}; it is ${text}`);
  }
  setTimeout(() => stop.abort(), ms).unref();
  await killAfter(ms + GRACE_MS);
}

const MAX_DEADLINE_MS = 3_600_000;
/** To finish what is half written. */
const GRACE_MS = 3_000;

async function watch(call: Call, exchange: Exchange, stop: AbortController): Promise<number> {
  const { terminal } = call;
  if (call.flag("while-stdin")) endWithInput(stop);
  let told = "";
  if (!call.json) terminal.print(terminal.color.dim("watching; Ctrl-C ends it"));
  const timing = {
    sleep: (ms: number, signal?: AbortSignal) => sleep(ms, undefined, { signal }),
    random: Math.random,
  };
  await keepSynced(timing, {
    pass: async (signal) => {
      const result = await exchange.pass({ signal });
      told = "";
      if (!isEventful(result)) return;
      // One value on each line, for programs that read along.
      if (call.json) terminal.print(JSON.stringify(result));
      else printResult(call, result, false);
    },
    listen: (onChange) => {
      const closers = exchange.folders.map((folder) => listenToFiles(folder, () => {})(onChange));
      return () => {
        for (const close of closers) close();
      };
    },
    onFailure: (error) => {
      // A mistake in the settings does not go away by itself.
      if (exitCodeOf(error) === 2) throw error;
      const message = sanitiseLine((error as Error).message);
      if (message !== told) terminal.warn(`memdir: ${message}`);
      told = message;
    },
    signal: stop.signal,
    pollMs: POLL_MS,
  });
  return 0;
}

/** Whoever started it holds the other end: when they are gone, so is its purpose. */
function endWithInput(stop: AbortController): void {
  for (const event of ["end", "close", "error"]) process.stdin.once(event, () => stop.abort());
  process.stdin.resume();
  stop.signal.addEventListener("abort", () => process.stdin.destroy());
}

function isEventful({ pulled, pushed, removed, merged, conflicts, refused }: SyncResult): boolean {
  const counts = [pulled, pushed, removed.here, removed.there, merged, conflicts, refused];
  return counts.some(({ length }) => length > 0);
}

function printResult(call: Call, result: SyncResult, isDry: boolean): void {
  const { terminal } = call;
  const { color } = terminal;
  const rows: [string, readonly string[]][] = [
    ["pulled", result.pulled],
    ["pushed", result.pushed],
    ["merged", result.merged],
    ["removed here", result.removed.here],
    ["removed there", result.removed.there],
  ];
  for (const [what, paths] of rows) {
    for (const path of paths) terminal.print(`${color.green(what)} ${sanitiseLine(path)}`);
  }
  for (const { path, copy } of result.conflicts) {
    const words = `both sides changed it; theirs is kept there, yours is in ${sanitiseLine(copy)}: bring the two together, then forget the copy`;
    terminal.print(`${color.yellow("conflict")} ${color.bold(sanitiseLine(path))}: ${words}`);
  }
  for (const { path, reason } of result.refused) {
    terminal.print(`${color.yellow("held back")} ${color.bold(sanitiseLine(path))}: ${sanitiseLine(reason)}`);
  }
  for (const { path, until } of result.waiting) {
    const words = `it is missing here; a sync after ${until} removes it for everybody`;
    terminal.print(`${color.yellow("waiting")} ${color.bold(sanitiseLine(path))}: ${words}`);
  }
  note(call, result.notices.map(sanitiseLine));
  const said = [
    ...rows.map(([what, { length }]) => [length, what]),
    [result.conflicts.length, "in conflict"],
    [result.refused.length, "held back"],
  ];
  const counts = said.filter(([count]) => count !== 0).map(([count, what]) => `${count} ${what}`);
  // What waits or was noted is a difference all the same.
  const isSame = result.waiting.length + result.notices.length === 0;
  const nothing = isSame ? "nothing to exchange: both sides are the same" : "nothing was exchanged";
  const summary = counts.length === 0 ? nothing : counts.join(", ");
  terminal.print(isDry ? `${summary} (only looked at, nothing was changed)` : summary);
}

export async function joinServer(call: Call, network: Partial<Network>): Promise<number> {
  const [url] = call.args;
  if (call.flag("leave")) return leave(call);
  if (url === undefined) {
    throw new MemdirError("usage", "join what? memdir join https://HOST/TEAM/REPOSITORY --token-file FILE");
  }
  parseMembership(url);
  const memdir = await call.open();
  const { token, keep } = await readToken(call, memdir.config);
  const team = await joinTeam(memdir, url, { token, keep, create: call.flag("create") }, network);
  const result = await withProgress(call, "memories", (onProgress) => team.sync({ onProgress }));
  const name = formatMembership(team.membership);
  const say = () => {
    call.terminal.print(`joined ${name}; its memories are in ${sanitiseLine(team.directory.path)}`);
    printResult(call, result, false);
  };
  return answer(call, { joined: name, directory: team.directory.path, ...result }, say, exitCodeFor(result));
}

async function leave(call: Call): Promise<number> {
  const { membership, mirror } = leaveTeam(await call.open());
  const name = formatMembership(membership);
  const rest = `what was shared stays in ${sanitiseLine(mirror)}, unread: remove it if you like`;
  return answer(call, { left: name, directory: mirror }, () => `left ${name}; ${rest}`);
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
