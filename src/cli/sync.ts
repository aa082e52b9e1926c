/** `memdir sync`: exchanges the team's memories with its server, or one's own with other machines through git. */

import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { exitCodeOf, MemdirError } from "../errors.ts";
import type { Memdir } from "../memdir.ts";
import { openGitSync, openTeam, type SyncRequest } from "../open-team.ts";
import type { Network } from "../team/http.ts";
import type { SyncResult } from "../team/sync-pass.ts";
import { keepSynced, listenToFiles, POLL_MS } from "../team/watch.ts";
import type { Call, Run } from "./command.ts";
import { sanitiseLine } from "./console/sanitise.ts";

export const run: Run = async (call) => {
  const stop = new AbortController();
  const onSignal = () => stop.abort();
  for (const name of SIGNALS) process.on(name, onSignal);
  try {
    return await syncMemories(call, {}, stop);
  } finally {
    for (const name of SIGNALS) process.off(name, onSignal);
  }
};

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/** What is synced, whichever way: one pass, and the folders that it is about. */
interface Exchange {
  folders: string[];
  pass(request: SyncRequest): Promise<SyncResult>;
}

export async function syncMemories(call: Call, network: Partial<Network>, stop: AbortController): Promise<number> {
  if (call.flag("dry-run") && call.flag("watch"))
    throw new MemdirError("usage", "--dry-run looks once: leave --watch out");
  setDeadline(call, stop);
  const exchange = await openExchange(call, await call.open(), network);
  if (call.flag("watch")) return watch(call, exchange, stop);
  const progress = call.terminal.progress("memories");
  let result: SyncResult;
  try {
    result = await exchange.pass({ signal: stop.signal, onProgress: progress.show, dryRun: call.flag("dry-run") });
  } finally {
    progress.end();
  }
  if (call.json) call.terminal.json(result);
  else printResult(call, result, call.flag("dry-run"));
  return result.conflicts.length + result.refused.length === 0 ? 0 : 1;
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
function setDeadline(call: Call, stop: AbortController): void {
  const text = call.value("deadline");
  if (text === undefined) return;
  const ms = Number(text) * 1000;
  if (!(ms > 0 && ms <= MAX_DEADLINE_MS)) {
    throw new MemdirError("usage", `--deadline takes seconds, from 1 to ${MAX_DEADLINE_MS / 1000}; it is ${text}`);
  }
  setTimeout(() => stop.abort(), ms).unref();
  // From a thread of its own: this one may be caught in a call that never returns. What is killed loses nothing.
  new Worker(`setTimeout(() => process.kill(process.pid, "SIGKILL"), ${ms + GRACE_MS})`, { eval: true }).unref();
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
      // A mistake in the settings does not mend itself.
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

/** Shared with `join`. */
export function printResult({ terminal }: Call, result: SyncResult, isDry: boolean): void {
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
  for (const notice of result.notices) terminal.warn(`memdir: note: ${sanitiseLine(notice)}`);
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
