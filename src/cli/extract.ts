/** `memdir extract`: what is worth keeping of a conversation, by a model, or by rules without one. */

import { resolve } from "node:path";
import { processEnv } from "../config.ts";
import { MemdirError } from "../errors.ts";
import { checkBudget } from "../learn/budget.ts";
import { findNew, learnSession, type SessionResult } from "../learn/learn.ts";
import { openRulesExtractor } from "../learn/rules.ts";
import type { Memdir } from "../memdir.ts";
import { openModel } from "../open-agent.ts";
import { openExtractor, openLearning } from "../open-learn.ts";
import { readTranscript } from "../session/transcripts.ts";
import { plainLine } from "../text/sanitise.ts";
import type { Call, Run } from "./command.ts";
import { runFromHook } from "./extract-hook.ts";
import { extractSince, INTERRUPTED, type Looker } from "./extract-since.ts";

export const run: Run = async (call) => {
  const file = call.value("transcript");
  const since = call.value("since");
  if ((file === undefined) === (since === undefined)) {
    throw new MemdirError("usage", "which conversations? memdir extract --transcript FILE, or --since 7d");
  }
  const mark = call.value("session-hook");
  if (mark !== undefined) return runFromHook(call, mark);
  const stop = new AbortController();
  const onInterrupt = () => stop.abort();
  process.once("SIGINT", onInterrupt);
  try {
    if (since !== undefined) return await extractSince(call, since, openLooker, stop.signal);
    return await extractOne(call, resolve(call.cwd, file ?? ""), stop.signal);
  } finally {
    process.off("SIGINT", onInterrupt);
  }
};

/** By the model that is configured, else by rules, which cost nothing. */
function openLooker(memdir: Memdir): Looker {
  const learning = openLearning(memdir);
  const env = processEnv();
  if (!env.MEMDIR_MODEL?.trim()) {
    return {
      look: (session, options) =>
        learnSession(learning, openRulesExtractor(learning, session.prompts), session, options),
      budget: () => ({ ok: true }),
    };
  }
  const model = openModel(env);
  if ("problem" in model) throw new MemdirError("usage", model.problem);
  return {
    look: (session, options) =>
      learnSession(
        learning,
        openExtractor(learning, () => model),
        session,
        options,
      ),
    budget: () => checkBudget(learning.ledger, memdir.config.learn, null),
  };
}

async function extractOne(call: Call, file: string, signal: AbortSignal): Promise<number> {
  const session = await readTranscript(file);
  const memdir = await call.open();
  if (call.flag("dry-run")) {
    const messages = findNew(openLearning(memdir).directory.path, session).length;
    if (call.json) call.terminal.json({ id: session.id, agent: session.agent, path: file, messages });
    else call.terminal.print(`${messages} new ${messages === 1 ? "message" : "messages"} would be looked at`);
    return 0;
  }
  const looker = openLooker(memdir);
  const progress = call.terminal.progress("messages");
  const done = await looker.look(session, { signal, onProgress: progress.show });
  progress.end();
  const { saved, refused, turns, usage } = done;
  const skipped = done.skipped ?? done.failed;
  if (call.json) call.terminal.json({ saved, skipped, refused, turns, usage });
  else tell(call, done, skipped);
  return signal.aborted ? INTERRUPTED : 0;
}

function tell({ terminal }: Call, { saved, refused }: SessionResult, skipped: string | null): void {
  for (const { file, action } of saved) terminal.print(`${action} ${plainLine(file)}`);
  for (const reason of refused) terminal.warn(`memdir: note: not kept: ${plainLine(reason)}`);
  if (skipped !== null) {
    terminal.print(`${saved.length === 0 ? "nothing was done" : "not all was done"}: ${plainLine(skipped)}`);
  } else if (saved.length === 0) terminal.print("nothing worth keeping was found");
}
