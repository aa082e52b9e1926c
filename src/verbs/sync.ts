/** `sync` and `join`: the team's memories are exchanged with its server, or one's own with other machines through git. */

import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { readRegular } from "../disk/fence.ts";
import { exitCodeOf, MemdirError, onDisk } from "../errors.ts";
import type { Memdir } from "../memdir.ts";
import { watchDirectory } from "../memory/watch.ts";
import { type GitSync, joinTeam, leaveTeam, openGitSync, openNetwork, openTeam } from "../open-team.ts";
import { isMemoryFile } from "../store/store.ts";
import type { Network } from "../team/http.ts";
import { checkToken, findGivenToken, formatMembership, parseMembership } from "../team/membership.ts";
import { signIn } from "../team/server-remote.ts";
import type { SyncResult } from "../team/sync-pass.ts";
import { keepSynced, POLL_MS } from "../team/watch.ts";
import { bold, type Context, dim, flag, good, type Input, notes, number, text, verb, warn } from "../verb.ts";
import { killAfter } from "./common.ts";

const SYNC = {
  watch: flag("keep syncing: soon after a change here, and every 15 seconds for changes there"),
  git: text("sync your own memories, of this project and about you, through a branch of any git remote", "REMOTE"),
  branch: text("with --git: the branch that holds them (default: memdir)", "NAME"),
  "dry-run": flag("only show what would happen"),
  deadline: number("stop after this many seconds; the next sync continues", { min: 1, max: 3600, value: "SECONDS" }),
  "while-stdin": flag("with --watch: exit when standard input is closed"),
};

export function makeSync(network: Partial<Network>) {
  return verb({
    args: [],
    input: SYNC,
    about: "Syncs your team's memories through its server, or your own between machines through a git remote.",
    examples: ["sync --watch"],
    writes: (input) => input["dry-run"] !== true,
    async run(memdir, input, context) {
      const { watch: isWatching, deadline, "dry-run": dryRun = false } = input;
      if (dryRun && isWatching) throw new MemdirError("usage", "--dry-run looks once: leave --watch out");
      const signal = isWatching || deadline !== undefined ? await unattended(input, context.signal) : context.signal;
      const exchange = await openExchange(memdir, input, context.scope, network);
      if (isWatching) return watch(exchange, { ...context, signal });
      return exchange.sync({ signal, onProgress: context.progress("memories"), dryRun });
    },
    json: (result) => result ?? undefined,
    exitCode: exitCodeFor,
    say: (result, { input }) => (result ? describeSync(result, input["dry-run"]) : []),
  });
}

export const sync = makeSync({});

/** 1 where there is something to look at. */
function exitCodeFor(result: SyncResult | null): number {
  return result && result.conflicts.length + result.refused.length > 0 ? 1 : 0;
}

/** What is synced, whichever way: one pass, and the directories that it is about. */
async function openExchange(
  memdir: Memdir,
  input: Input<typeof SYNC>,
  scope: Context["scope"],
  network: Partial<Network>,
) {
  const { git: remote, branch } = input;
  if (remote !== undefined) return openGitSync(memdir, { remote, branch, scope });
  if (branch !== undefined) throw new MemdirError("usage", "--branch goes with --git REMOTE");
  const { directory, sync } = openTeam(memdir, network);
  return { directories: [directory], sync };
}

/** To finish what is half written. */
const GRACE_MS = 3_000;

/** For whoever starts it and does not wait, such as a hook: what else ends it, whatever it is caught in. */
async function unattended(
  { deadline, "while-stdin": isWithInput }: Input<typeof SYNC>,
  signal: AbortSignal,
): Promise<AbortSignal> {
  const stop = new AbortController();
  const end = () => stop.abort();
  process.once("SIGTERM", end);
  if (deadline !== undefined) {
    setTimeout(end, deadline * 1000).unref();
    await killAfter(deadline * 1000 + GRACE_MS);
  }
  const either = AbortSignal.any([signal, stop.signal]);
  if (isWithInput) {
    for (const event of ["end", "close", "error"]) process.stdin.once(event, end);
    process.stdin.resume();
    either.addEventListener("abort", () => process.stdin.destroy());
  }
  return either;
}

/** Our own notes and the index change with every pass. */
function isWanted(file: string): boolean {
  return isMemoryFile(file) && !file.startsWith(".");
}

/** Shows what each pass did, until it is told to end. */
async function watch({ sync, directories }: GitSync, { show, signal }: Context): Promise<null> {
  let told = "";
  show([dim("watching; Ctrl-C ends it")]);
  const timing = { sleep: (ms: number, signal?: AbortSignal) => sleep(ms, undefined, { signal }), random: Math.random };
  await keepSynced(timing, {
    pass: async (signal) => {
      const result = await sync({ signal });
      told = "";
      if (countsOf(result).length > 0) show(describeSync(result), result);
    },
    listen: (onChange) => {
      // Changes settle in `keepSynced`, which must know of the last one when it is told to end.
      const watched = directories.map(({ path, recursive }) =>
        watchDirectory({ path, recursive, onChange, isWanted, log: () => {}, settleMs: 0 }),
      );
      return () => {
        for (const { close } of watched) close();
      };
    },
    onFailure: (error) => {
      // A mistake in the settings does not go away by itself.
      if (exitCodeOf(error) === 2) throw error;
      const { message } = error as Error;
      if (message !== told) show([{ warning: message }]);
      told = message;
    },
    signal,
    pollMs: POLL_MS,
  });
  return null;
}

function movedIn({ pulled, pushed, merged, removed }: SyncResult): [what: string, paths: readonly string[]][] {
  return [
    ["pulled", pulled],
    ["pushed", pushed],
    ["merged", merged],
    ["removed here", removed.here],
    ["removed there", removed.there],
  ];
}

function countsOf(result: SyncResult): string[] {
  const all = [...movedIn(result), ["in conflict", result.conflicts], ["held back", result.refused]] as const;
  return all.flatMap(([what, { length }]) => (length === 0 ? [] : [`${length} ${what}`]));
}

function describeSync(result: SyncResult, isDry = false) {
  const { conflicts, refused, waiting, notices } = result;
  const remark = (word: string, path: string, words: string) => [warn(word), " ", bold(path), `: ${words}`];
  // What waits or was noted is a difference all the same.
  const nothing =
    waiting.length + notices.length === 0 ? "nothing to exchange: both sides are the same" : "nothing was exchanged";
  return [
    ...movedIn(result).flatMap(([what, paths]) => paths.map((path) => [good(what), ` ${path}`])),
    ...conflicts.map(({ path, copy }) => {
      const advice = `theirs is kept there, yours is in ${copy}: merge the two, then forget the copy`;
      return remark("conflict", path, `both sides changed it; ${advice}`);
    }),
    ...refused.map(({ path, reason }) => remark("held back", path, reason)),
    ...waiting.map(({ path, until }) =>
      remark("waiting", path, `it is missing here; a sync after ${until} removes it for everybody`),
    ),
    ...notes(notices),
    `${countsOf(result).join(", ") || nothing}${isDry ? " (dry run: nothing was changed)" : ""}`,
  ];
}

const JOIN = {
  url: text("the team's address: https://HOST/TEAM/REPOSITORY", "URL"),
  "token-file": text("the token that an admin of the team gave you", "FILE"),
  login: flag("sign in through the server's identity provider, in a browser, instead of using a token"),
  create: flag("create the repository on the server if it does not exist; for admins"),
  leave: flag("stop sharing; what was shared stays on disk"),
};

export function makeJoin(network: Partial<Network>) {
  return verb({
    args: ["url?"],
    input: JOIN,
    about: "The token comes from a file or standard input, or from signing in with --login.",
    examples: ["join https://memory.example/acme/app --token-file token"],
    writes: true,
    async run(memdir, input, context) {
      const { url, create = false, leave } = input;
      if (leave) {
        const { membership, mirror } = leaveTeam(memdir);
        return { left: formatMembership(membership), directory: mirror };
      }
      if (url === undefined)
        throw new MemdirError("usage", "join what? memdir join https://HOST/TEAM/REPOSITORY --token-file FILE");
      const membership = parseMembership(url);
      const { show, signal } = context;
      const token = input.login
        ? { token: await signIn(openNetwork(memdir, network), membership, show, signal) }
        : await readToken(memdir, membership.server, input, context);
      const team = await joinTeam(memdir, url, { ...token, create }, network);
      const result = await team.sync({ signal, onProgress: context.progress("memories") });
      return { joined: formatMembership(team.membership), directory: team.directory.path, ...result };
    },
    exitCode: (result) => ("joined" in result ? exitCodeFor(result) : 0),
    say: (result) =>
      "joined" in result
        ? [`joined ${result.joined}; its memories are in ${result.directory}`, ...describeSync(result)]
        : [`left ${result.left}; what was shared stays in ${result.directory}, unread: remove it if you like`],
  });
}

export const join = makeJoin({});

/** Never an argument: those are in the shell's history, and everybody on the machine can see them. */
async function readToken(
  { config }: Memdir,
  server: string,
  { "token-file": file }: Input<typeof JOIN>,
  { cwd, readInput }: Context,
): Promise<{ token: string; keep: boolean }> {
  if (file !== undefined)
    return { token: checkToken(readTokenFile(resolve(cwd, file)), `what ${file} holds`), keep: true };
  // Whoever sets it sets it for every call, as on a build machine.
  const given = findGivenToken(config, server);
  if (given !== null) return { token: given, keep: false };
  const needed = "a token is needed: give its file with --token-file, or itself on standard input";
  // Whoever set the variables meant them to be used.
  const other = config.env.MEMDIR_TOKEN
    ? `; MEMDIR_TOKEN is for ${config.env.MEMDIR_TOKEN_SERVER}, not for ${server}`
    : "";
  const input = !readInput || process.stdin.isTTY ? "" : await readInput();
  if (input.trim() === "") throw new MemdirError("usage", `${needed}${other}`);
  return { token: checkToken(input, "what came on standard input"), keep: true };
}

const MAX_BYTES = 10_000;

function readTokenFile(file: string): string {
  const data = onDisk("read", file, () => readRegular(file, { follow: true, maxBytes: MAX_BYTES }));
  if (data) return data.toString("utf8");
  throw new MemdirError("not-found", `${file} is not a file with a token`);
}
