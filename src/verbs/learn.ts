/** `learn`: what past sessions have to teach, proposed one by one. */

import { tokensLeft } from "../learn/ledger.ts";
import type { Memdir } from "../memdir.ts";
import { openLearning } from "../open-learn.ts";
import { TRANSCRIPT_AGENTS } from "../session/transcripts.ts";
import { bold, type Context, choice, count, countMemories, dim, flag, type Line, text, verb } from "../verb.ts";
import { YES } from "./common.ts";
import { extractSince, openLooker, type Walk } from "./extract.ts";
import { review } from "./inbox.ts";
import { grouped } from "./ledger.ts";
import { modelFor } from "./model.ts";

/** A month: far enough back for a newcomer to know what it is about. */
const SINCE = "30d";
/** Vectors of some hundred memories; what is left is made behind the first prompts. */
const WARM_MS = 5_000;

export const learn = verb({
  args: [],
  input: {
    since: text(`how far back to read: 24h, 30d, 2w or a date (default: ${SINCE})`, "TIME"),
    agent: choice(TRANSCRIPT_AGENTS, "only sessions of claude, codex or gemini", "NAME"),
    "dry-run": flag("only show how much there is to read, and what it would cost"),
    yes: YES,
  },
  about:
    "First shows how much there is to read and what it costs, then proposes memories one by one: keep, edit or skip " +
    "each. Without a terminal, they wait in the inbox. You can stop at any time; run the same command to continue.",
  examples: ["learn --since 30d"],
  writes: (input) => input["dry-run"] !== true,
  async run(memdir, { since = SINCE, agent, "dry-run": isTrial, yes }, context) {
    const { inbox, mode } = openLearning(memdir);
    const seen = await extractSince(memdir, { since, agent, looker: null }, context);
    const found = sumUp(seen, context);
    const resultOf = ({ sessions, stopped, left, turns, usage, warnings }: Walk) => ({
      found,
      /** What was kept, or waits for a person with the action `inbox`. */
      saved: sessions.flatMap(({ saved }) => saved).filter(({ action }) => action !== "unchanged"),
      /** Why nothing or not all was read. */
      skipped: stopped,
      /** Proposals that were turned down for good. */
      rejected: 0,
      /** Proposals in the inbox. */
      waiting: inbox.list().length,
      ...{ left, turns, usage, warnings },
    });
    if (isTrial) return resultOf(seen);
    if (found.sessions > 0 && (mode === "auto" || mode === "inbox")) {
      context.show(sayFound(found, since, memdir));
      const isWanted = found.model === null || yes || !context.ask || (await context.ask("Read them now?"));
      if (!isWanted) return { ...resultOf(seen), skipped: "nothing was read" };
    }
    const looker = openLooker(memdir, context, { inbox: true });
    const read = resultOf(await extractSince(memdir, { since, agent, looker }, context));
    if (!context.choose || context.signal.aborted) return read;
    return { ...read, ...(await reviewNow(memdir, context, context.choose)) };
  },
  /** The next prompt should find by meaning what was kept just now. */
  async after(memdir, input, { progress, signal }) {
    if (!input["dry-run"]) await memdir.warm({ budgetMs: WARM_MS, onProgress: progress("making vectors"), signal });
  },
  say(result, { input, call }) {
    const { found, saved, skipped, rejected, waiting, warnings } = result;
    const since = input.since ?? SINCE;
    const problems = [...warnings, ...(skipped === null ? [] : [skipped])].map((warning) => ({ warning }));
    if (input["dry-run"]) return [...sayFound(found, since), ...problems];
    const kept = saved.filter(({ action }) => action !== "inbox");
    const isNone = found.sessions === 0 && waiting === 0 && kept.length === 0;
    if (isNone) return [`There is nothing new in the sessions ${sayPeriod(since)}.`, ...problems];
    const nothing = kept.length === 0 && rejected === 0 && waiting === 0 && skipped === null;
    return [
      ...(kept.length > 0 ? [bold(`Learnt: ${countMemories(kept.length)}.`)] : []),
      ...kept.map(({ file, action }): Line => `    ${action} ${file}`),
      ...(rejected > 0
        ? [`${count(rejected, "proposal")} skipped; ${rejected === 1 ? "it does" : "they do"} not come back.`]
        : []),
      ...(nothing ? [`Nothing worth keeping in ${count(found.sessions, "session")}.`] : []),
      ...(waiting > 0
        ? [
            `${count(waiting, "proposal waits", "proposals wait")}: ${call("inbox")} lists them, ${call("inbox accept ID")} keeps one`,
          ]
        : []),
      ...problems,
      ...(kept.length > 0
        ? [dim(`${call("list")} shows what is remembered; ${call("undo")} reverts the last change`)]
        : []),
    ];
  },
});

type Found = ReturnType<typeof sumUp>;

/** What there is to read, before anything is read by a model. */
function sumUp({ sessions, tokens }: Walk, context: Context) {
  const fresh = sessions.filter(({ messages }) => messages > 0);
  const model = fresh.length === 0 ? null : modelFor(context);
  return {
    sessions: fresh.length,
    messages: fresh.reduce((sum, { messages }) => sum + messages, 0),
    /** An estimate; 0 without a model. */
    tokens: model ? tokens : 0,
    model: model && `${model.provider}/${model.name}`,
  };
}

/** With a Memdir also what the day's limit allows. */
function sayFound({ sessions, messages, tokens, model }: Found, since: string, memdir?: Memdir): Line[] {
  if (sessions === 0) return [`There is nothing new in the sessions ${sayPeriod(since)}.`];
  const what = `${count(sessions, "session")} ${sayPeriod(since)}, ${count(messages, "new message")}`;
  if (model === null) return [`${what}. Reading them is free: no model is configured, so it is done offline.`];
  const left = memdir && tokensLeft(openLearning(memdir).ledger, memdir.config.learn);
  const isTight = left !== undefined && left < tokens;
  return [
    `${what}. Reading them takes about ${grouped(tokens)} tokens of ${model}.`,
    ...(isTight
      ? [`Today's limit leaves ${grouped(left)}: it stops there, and the same command continues tomorrow.`]
      : []),
  ];
}

/** "of the last 30 days", or "since" a date. */
function sayPeriod(since: string): string {
  const [, number, unit = ""] = /^\s*(\d+)([hdw])\s*$/i.exec(since) ?? [];
  const units: Record<string, string> = { h: "hour", d: "day", w: "week" };
  if (number === undefined) return `since ${since}`;
  return `of the last ${number === "1" ? "" : `${number} `}${units[unit.toLowerCase()]}${number === "1" ? "" : "s"}`;
}

/** All that waits, so that a review that was left goes on. */
async function reviewNow(memdir: Memdir, { show, env }: Context, choose: NonNullable<Context["choose"]>) {
  const call = (words: string) => `memdir ${words}`;
  const decided = await review(memdir, { choose, env, show, call, release: (work) => work() });
  const kept = decided.flatMap(({ done, file }) => (done === "rejected" ? [] : [{ file: file ?? "", action: done }]));
  return { saved: kept, rejected: decided.length - kept.length, waiting: openLearning(memdir).inbox.list().length };
}
