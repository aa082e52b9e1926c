/** `extract`: what is worth keeping of conversations, by a model, or by rules without one. */

import { isAbsolute, join, resolve } from "node:path";
import { MemdirError } from "../errors.ts";
import { findNew, type LearnRequest, learnSession, NOTHING_NEW } from "../learn/learn.ts";
import { type BudgetAnswer, checkBudget } from "../learn/ledger.ts";
import { estimateTokens } from "../learn/window.ts";
import type { Memdir } from "../memdir.ts";
import { addUsage, NO_USAGE } from "../model/ask.ts";
import { openExtractor, openLearning, openOfflineExtractor } from "../open-learn.ts";
import { findProject } from "../project/locate.ts";
import { sessionsFolder } from "../project/scopes.ts";
import type { HeardSession } from "../session/session-reader.ts";
import { findTranscripts, readTranscript, TRANSCRIPT_AGENTS, type TranscriptAgent } from "../session/transcripts.ts";
import { bold, type Context, choice, count, countMemories, flag, notes, type Said, text, verb } from "../verb.ts";
import type { Env } from "../world.ts";
import { modelFor } from "./model.ts";
import { placesOf } from "./sessions.ts";

export const extract = verb({
  args: [],
  usage: "--transcript FILE | --since TIME",
  input: {
    transcript: text(
      "a session file from Claude Code, Codex or Gemini CLI; `memdir sessions --json` lists some",
      "FILE",
    ),
    since: text("all sessions here that changed since: 24h, 7d, 2w or a date; run again to continue", "TIME"),
    agent: choice(TRANSCRIPT_AGENTS, "with --since: only sessions of claude, codex or gemini", "NAME"),
    "dry-run": flag("only show what would be read"),
  },
  examples: ["extract --transcript session.jsonl"],
  writes: (input) => input["dry-run"] !== true,
  async run(memdir, { transcript, since, agent, "dry-run": dryRun }, context) {
    if ((transcript === undefined) === (since === undefined))
      throw new MemdirError("usage", "which conversations? memdir extract --transcript FILE, or --since 7d");
    const looker = dryRun ? null : openLooker(memdir, context);
    if (transcript === undefined) return extractSince(memdir, { since: since ?? "", agent, looker }, context);
    const path = resolve(context.cwd, transcript);
    const session = await readTranscript(path);
    if (session.messages.length === 0)
      throw new MemdirError(
        "usage",
        `${path} holds no conversation: give a transcript of Claude Code, Codex or Gemini CLI`,
      );
    if (!looker) {
      const messages = findNew(openLearning(memdir).directory.path, session).length;
      return { id: session.id, agent: session.agent, path, messages };
    }
    const onProgress = context.progress("messages");
    const done = await looker.look(session, { signal: context.signal, onProgress });
    const { saved, refused, turns, usage, skipped, failed } = done;
    return { saved, skipped: skipped ?? failed, refused, turns, usage };
  },
  say(result, { input }) {
    if ("sessions" in result) return sayWalk(result, input.since ?? "", input["dry-run"] === true);
    if (result.messages !== undefined) return [`${count(result.messages, "new message")} would be read`];
    const { saved, refused, skipped } = result;
    const isNone = saved.length === 0;
    return [
      ...saved.map(({ file, action }) => `${action} ${file}`),
      ...notes(refused.map((reason) => `not kept: ${reason}`)),
      ...(skipped !== null ? [`${isNone ? "nothing was done" : "not all was done"}: ${skipped}`] : []),
      ...(skipped === null && isNone ? ["nothing worth keeping was found"] : []),
    ];
  },
});

// --- The sessions of this project since a time, one after the other, to go on with if it is stopped.

type Looker = ReturnType<typeof openLooker>;
type Read = Awaited<ReturnType<Looker["look"]>>;

/**
 * How sessions are looked through, and whether that may go on today: by the model that is configured, else by rules, which
 * cost nothing. With `inbox` everything waits for a person.
 */
export function openLooker(memdir: Memdir, context: Context, { inbox = false } = {}) {
  const opened = openLearning(memdir);
  const learning = inbox && opened.mode === "auto" ? { ...opened, mode: "inbox" as const } : opened;
  const model = modelFor(context);
  return {
    async look(session: HeardSession, options: Pick<LearnRequest, "signal" | "onProgress">) {
      const extractor = model ? openExtractor(learning, () => model) : openOfflineExtractor(memdir, learning);
      const read = await learnSession(learning, extractor, session, options);
      return { ...read, saved: read.saved.map(({ file, action }) => ({ file, action })) };
    },
    budget: (): BudgetAnswer => (model ? checkBudget(learning.ledger, memdir.config.learn, null) : { ok: true }),
  };
}

export type Walk = Awaited<ReturnType<typeof extractSince>>;
type Looked = ReturnType<typeof beginRow>;

/** A model that failed so often in a row does not work at all. */
const MAX_FAILURES = 3;

/** Without a looker nothing is asked or written, and `left` says how many there are to look at. */
export async function extractSince(
  memdir: Memdir,
  { since, agent, looker }: { since: string; agent: TranscriptAgent | undefined; looker: Looker | null },
  { env, signal, progress }: Context,
) {
  const { directory, mode } = openLearning(memdir);
  const found = await findTranscripts(placesFor(memdir, env, agent), parseSince(since, directory.now()));
  const walk = {
    sessions: [] as Looked[],
    /** How many memories were kept. */
    saved: 0,
    /** How many sessions are still to be looked at. */
    left: found.length,
    /** About how many tokens a model would take for those that were not looked at. */
    tokens: 0,
    turns: 0,
    usage: NO_USAGE,
    /** Why it ended early. */
    stopped: null as string | null,
    warnings: [] as string[],
  };
  if (looker && (mode === "off" || mode === "read-only"))
    return { ...walk, stopped: `nothing was done: learning is ${mode} here (learn.mode)` };
  const stop = (why: string, then: string) => {
    walk.stopped = `${why}; ${count(walk.left, "session")} left; run the same again ${then}`;
  };
  const onProgress = progress("sessions");
  let failures = 0;
  for (const [index, transcript] of found.entries()) {
    onProgress(index, found.length);
    const { end, why = "" } = await visit(memdir, transcript, looker, signal, walk);
    if (end === "done") walk.left--;
    failures = end === "failed" ? failures + 1 : 0;
    if (signal.aborted) stop("interrupted", "to go on");
    else if (end === "spent") stop(why, why.startsWith("the daily budget") ? "tomorrow" : "when that is fixed");
    else if (failures === MAX_FAILURES) stop(`it failed ${failures} times in a row`, "when that is fixed");
    if (walk.stopped !== null) return walk;
  }
  if (looker && walk.left > 0) stop("not all could be done", "to try the rest");
  return walk;
}

const HOUR_MS = 3_600_000;
const UNITS_MS: Readonly<Record<string, number>> = { h: HOUR_MS, d: 24 * HOUR_MS, w: 7 * 24 * HOUR_MS };

/** A length of time before now, or a day from its first minute on, where the user is. */
function parseSince(text: string, now: Date): number {
  const [, number, unit] = /^(\d{1,5})([hdw])$/.exec(text.trim().toLowerCase()) ?? [];
  if (number !== undefined) return now.getTime() - Number(number) * (UNITS_MS[unit ?? ""] ?? 0);
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text.trim()) ?? [];
  const date = new Date(Number(year), Number(month) - 1, Number(day));
  // Out of range it would be another day.
  if (date.getMonth() === Number(month) - 1 && date.getDate() === Number(day)) return date.getTime();
  throw new MemdirError(
    "usage",
    `--since "${text}": give hours, days, weeks or a date, such as 24h, 7d, 2w or 2026-11-01`,
  );
}

function placesFor(memdir: Memdir, env: Env, agent: TranscriptAgent | undefined) {
  const { config, location } = memdir;
  const { projectScope, home } = config;
  const { root } = location.project;
  const isMeant = (one: TranscriptAgent) => agent === undefined || agent === one;
  return {
    claude: isMeant("claude") ? placesOf(memdir, true) : null,
    own: sessionsFolder(config, location.project),
    codex: isMeant("codex") ? join(env.CODEX_HOME?.trim() || join(home, ".codex"), "sessions") : null,
    gemini: isMeant("gemini") ? join(env.GEMINI_CLI_HOME?.trim() || home, ".gemini", "tmp") : null,
    // Those that share this directory of memories: subfolders and worktrees, but no repository inside this one.
    // A path of another system would be looked for below the working directory.
    isHere: (cwd: string) => isAbsolute(cwd) && !cwd.includes("\0") && findProject(cwd, { projectScope }).root === root,
  };
}

/** One session; what is told of it goes into the walk. `open`: there is something to look at, and it was not looked at to the end. */
async function visit(
  memdir: Memdir,
  { agent, path }: Pick<Looked, "agent" | "path">,
  looker: Looker | null,
  signal: AbortSignal,
  walk: Walk,
): Promise<{ end: "done" | "open" | "failed" | "spent"; why?: string }> {
  const { directory, ledger } = openLearning(memdir);
  const session = await readTranscript(path).catch((error: Error) => error);
  if (session instanceof Error) {
    walk.warnings.push(`${path} is skipped: ${session.message}`);
    return { end: "done" };
  }
  const fresh = findNew(directory.path, session);
  const messages = fresh.length;
  const row = beginRow(session.id, agent, path, messages);
  walk.sessions.push(row);
  // Once is enough: what is wrong with a session that was looked at to its end has been told.
  if (messages > 0 || session.messages.length === 0)
    walk.warnings.push(...session.problems.map((problem) => `${path}: ${problem}`));
  if (messages === 0) {
    row.skipped = NOTHING_NEW;
    return { end: "done" };
  }
  if (!looker) {
    walk.tokens += estimateTokens(fresh);
    return { end: "open" };
  }
  const before = looker.budget();
  if (!before.ok) {
    row.skipped = before.reason;
    ledger.skip("extraction", session.id, before.reason);
    return { end: "spent", why: before.reason };
  }
  const { saved, refused, turns, usage, skipped, failed } = await looker.look(session, { signal });
  Object.assign(row, { saved, skipped: skipped ?? failed });
  // What was there already is not counted.
  walk.saved += saved.filter(({ action }) => action !== "unchanged").length;
  walk.turns += turns;
  walk.usage = addUsage(walk.usage, usage);
  walk.warnings.push(...refused.map((reason) => `not kept: ${reason}`));
  if (signal.aborted && failed !== null) return { end: "open" };
  if (failed !== null) {
    walk.warnings.push(`${path}: ${failed}`);
    return { end: "failed" };
  }
  const after = looker.budget();
  return skipped !== null && !after.ok ? { end: "spent", why: after.reason } : { end: "done" };
}

/** What became of one session, before it is looked at; `messages`: new ones. */
function beginRow(id: string, agent: TranscriptAgent, path: string, messages: number) {
  return { id, agent, path, messages, saved: [] as Read["saved"], skipped: null as string | null };
}

function sayWalk({ sessions, saved: kept, left, stopped, warnings }: Walk, since: string, isTrial: boolean): Said {
  const fresh = sessions.filter(({ messages }) => messages > 0);
  const rows = fresh.flatMap(({ agent, id, messages, saved, skipped }): Said => {
    const found = `${count(messages, "new message")}${skipped === null ? "" : `: ${skipped}`}`;
    const files = saved.map(({ file, action }) => `    ${action} ${file}`);
    return [[`${agent.padEnd(6)}  `, bold(id.slice(0, 8)), `  ${found}`], ...files];
  });
  const problems = [...warnings, ...(stopped === null ? [] : [stopped])].map((warning) => ({ warning }));
  // Where all are left, the warning says why.
  if (left > 0 && fresh.length === 0) return [...rows, ...problems];
  if (sessions.length === 0) return [`No sessions of this project since ${since}.`, ...problems];
  if (fresh.length === 0) return [`Nothing new in ${count(sessions.length, "session")}.`, ...problems];
  const done = isTrial ? "would be read" : `with something new; ${countMemories(kept)} kept`;
  return [...rows, `${count(fresh.length, "session")} ${done}.`, ...problems];
}
