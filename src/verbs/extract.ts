/** `extract`: what is worth keeping of conversations, by a model, or by rules without one. */

import { resolve } from "node:path";
import { MemdirError } from "../errors.ts";
import { findNew } from "../learn/learn.ts";
import { openLearning } from "../open-learn.ts";
import { readTranscript, TRANSCRIPT_AGENTS } from "../session/transcripts.ts";
import { choice, count, flag, notes, text, verb } from "../verb.ts";
import { extractSince, type Looked, openLooker, type Read, sayWalk, type Walk } from "./extract-since.ts";

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
  async run(memdir, { transcript, since, agent, "dry-run": dryRun }, context): Promise<Walk | Trial | Extracted> {
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
type Extracted = Pick<Read, "saved" | "skipped" | "refused" | "turns" | "usage">;
