/** `memdir extract`: what is worth keeping of a conversation, by a model, or by rules without one. */

import { resolve } from "node:path";
import { MemdirError } from "../errors.ts";
import { checkBudget } from "../learn/budget.ts";
import { findNew, learnSession } from "../learn/learn.ts";
import { openRulesExtractor } from "../learn/rules.ts";
import type { Memdir } from "../memdir.ts";
import { openExtractor, openLearning } from "../open-learn.ts";
import { readTranscript } from "../session/transcripts.ts";
import { plainLine } from "../text/sanitise.ts";
import { configuredModel } from "./agent.ts";
import { answer, type Call, cancellable, count, INTERRUPTED, note, type Run, withProgress } from "./command.ts";
import { runFromHook } from "./extract-hook.ts";
import { extractSince, type Looker } from "./extract-since.ts";

export const extract: Run = async (call) => {
  const file = call.value("transcript");
  const since = call.value("since");
  if ((file === undefined) === (since === undefined)) {
    throw new MemdirError("usage", "which conversations? memdir extract --transcript FILE, or --since 7d");
  }
  const mark = call.value("session-hook");
  if (mark !== undefined) return runFromHook(call, mark);
  return cancellable((_, { signal }) =>
    since === undefined
      ? extractOne(call, resolve(call.cwd, file ?? ""), signal)
      : extractSince(call, since, (memdir) => openLooker(call, memdir), signal),
  )(call);
};

/** By the model that is configured, else by rules, which cost nothing. */
function openLooker({ env }: Call, memdir: Memdir): Looker {
  const learning = openLearning(memdir);
  const model = configuredModel(env);
  if (!model) {
    return {
      look: (session, options) =>
        learnSession(learning, openRulesExtractor(learning, session.prompts), session, options),
      budget: () => ({ ok: true }),
    };
  }
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
    const value = { id: session.id, agent: session.agent, path: file, messages };
    return answer(call, value, () => `${count(messages, "new message")} would be looked at`);
  }
  const looker = openLooker(call, memdir);
  const { saved, refused, turns, usage, ...done } = await withProgress(call, "messages", (onProgress) =>
    looker.look(session, { signal, onProgress }),
  );
  const skipped = done.skipped ?? done.failed;
  const say = () => {
    for (const { file: changed, action } of saved) call.terminal.print(`${action} ${plainLine(changed)}`);
    note(
      call,
      refused.map((reason) => `not kept: ${plainLine(reason)}`),
    );
    if (skipped === null) return saved.length === 0 ? "nothing worth keeping was found" : [];
    return `${saved.length === 0 ? "nothing was done" : "not all was done"}: ${plainLine(skipped)}`;
  };
  return answer(call, { saved, skipped, refused, turns, usage }, say, signal.aborted ? INTERRUPTED : 0);
}
