/** `extract`: what is worth keeping of conversations, by a model, or by rules without one. */

import { resolve } from "node:path";
import { MemdirError } from "../errors.ts";
import { checkBudget } from "../learn/budget.ts";
import { findNew, learnSession, type SessionResult } from "../learn/learn.ts";
import type { Memdir } from "../memdir.ts";
import { openExtractor, openLearning, openOfflineExtractor } from "../open-learn.ts";
import { readTranscript, TRANSCRIPT_AGENTS } from "../session/transcripts.ts";
import { type Context, choice, count, flag, notes, text, verb } from "../verb.ts";
import { extractSince, type Looked, type Looker, sayWalk, type Walk } from "./extract-since.ts";
import { modelFor } from "./model.ts";

export const extract = verb({
  args: [],
  usage: "--transcript FILE | --since TIME",
  input: {
    transcript: text("a session's file, also Codex's or Gemini CLI's; memdir sessions --json names some", "FILE"),
    since: text("all sessions here that changed since: 24h, 7d, 2w or a date; run again to go on", "TIME"),
    agent: choice(TRANSCRIPT_AGENTS, "with --since: only sessions of claude, codex or gemini", "NAME"),
    "dry-run": flag("only say what would be read"),
  },
  examples: ["extract --transcript session.jsonl"],
  writes: (input) => input["dry-run"] !== true,
  async run(memdir, { transcript, since, agent, "dry-run": dryRun }, context): Promise<Walk | Trial | Extracted> {
    if ((transcript === undefined) === (since === undefined))
      throw new MemdirError("usage", "which conversations? memdir extract --transcript FILE, or --since 7d");
    const looker = dryRun ? null : openLooker(memdir, context);
    if (transcript === undefined) return extractSince(memdir, { since: since ?? "", agent, looker }, context);
    const path = resolve(context.cwd, transcript);
    const session = await readTranscript(path);
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
    if ("messages" in result) return [`${count(result.messages, "new message")} would be read`];
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

type Trial = Omit<Looked, "saved" | "skipped">;
type Extracted = Pick<SessionResult, "saved" | "skipped" | "refused" | "turns" | "usage">;

/** By the model that is configured, else by rules, which cost nothing. */
function openLooker(memdir: Memdir, context: Context): Looker {
  const learning = openLearning(memdir);
  const model = modelFor(context);
  return {
    look(session, options) {
      const extractor = model
        ? openExtractor(learning, () => model)
        : openOfflineExtractor(memdir, learning, session.prompts);
      return learnSession(learning, extractor, session, options);
    },
    budget: () => (model ? checkBudget(learning.ledger, memdir.config.learn, null) : { ok: true }),
  };
}
