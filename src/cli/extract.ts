/** `memdir extract`: what is worth keeping of a conversation, by a model, or by rules without one. */

import { resolve } from "node:path";
import { processEnv } from "../config.ts";
import { MemdirError } from "../errors.ts";
import { applyProposal } from "../learn/apply.ts";
import { type ExtractionResult, extract } from "../learn/extraction.ts";
import { hearMessages } from "../learn/extraction-window.ts";
import { extractByRules, type SpokenMessage } from "../learn/rules.ts";
import type { Memdir } from "../memdir.ts";
import { addUsage, NO_USAGE, textOf, type Usage } from "../model/ask.ts";
import { openModel } from "../open-agent.ts";
import { type Learning, openExtraction, openLearning } from "../open-learn.ts";
import { plainLine } from "../session/excerpt.ts";
import { type ResumedSession, readSession } from "../session/session-reader.ts";
import type { Call, Run } from "./command.ts";

interface Done {
  saved: { file: string; action: string }[];
  skipped: string | null;
  refused: string[];
  turns: number;
  usage: Usage;
}

export const run: Run = async (call) => {
  const file = call.value("transcript");
  if (file === undefined) throw new MemdirError("usage", "which conversation? memdir extract --transcript FILE");
  const session = await readSession(resolve(call.cwd, file));
  const memdir = await call.open();
  const learning = openLearning(memdir);
  const env = processEnv();
  const done = env.MEMDIR_MODEL?.trim()
    ? await extractWithModel(call, memdir, learning, session)
    : await extractOffline(memdir, learning, session);
  if (call.json) call.terminal.json(done);
  else tell(call, done);
  return 0;
};

async function extractWithModel(
  call: Call,
  memdir: Memdir,
  learning: Learning,
  session: ResumedSession,
): Promise<Done> {
  const model = openModel(processEnv());
  if ("problem" in model) throw new MemdirError("usage", model.problem);
  const messages = hearMessages(session.messages, session.prompts);
  const world = openExtraction(memdir, learning, model, session.id);
  const done: Done = { saved: [], skipped: null, refused: [], turns: 0, usage: NO_USAGE };
  const progress = call.terminal.progress("messages");
  for (let left = messages.length; left > 0; ) {
    const result: ExtractionResult = await extract(world, { session: session.id, messages, explicit: true });
    done.saved.push(...result.saved);
    done.refused.push(...result.refused);
    done.turns += result.turns;
    done.usage = addUsage(done.usage, result.usage);
    done.skipped = result.skipped ?? result.failed;
    progress.show(messages.length - result.left, messages.length);
    // No step forward: the same would be asked again.
    if (done.skipped !== null || result.left >= left) break;
    left = result.left;
  }
  progress.end();
  return done;
}

async function extractOffline(memdir: Memdir, { mode, inbox }: Learning, session: ResumedSession): Promise<Done> {
  const done: Done = { saved: [], skipped: null, refused: [], turns: 0, usage: NO_USAGE };
  if (mode === "off" || mode === "read-only") return { ...done, skipped: `learning is ${mode} here (learn.mode)` };
  const rows = await memdir.list();
  const proposals = await extractByRules(speak(session), rows, session.id);
  for (const proposal of proposals) {
    const { done: action, file, reason } = await applyProposal(memdir, inbox, proposal, mode);
    if (action === "refused") done.refused.push(`${proposal.name}: ${reason ?? ""}`);
    else done.saved.push({ file: file ?? proposal.name, action });
  }
  return done;
}

/** What the two said to one another, with the time of the prompt before it. */
function speak({ messages, prompts }: ResumedSession): SpokenMessage[] {
  const spoken: SpokenMessage[] = [];
  let at = "";
  messages.forEach((message, index) => {
    const prompt = prompts.find((one) => one.index === index);
    if (prompt) {
      at = prompt.at;
      spoken.push({ id: prompt.uuid, role: "user", text: prompt.text, at });
    } else if (message.role === "assistant") {
      spoken.push({ id: `answer-${index}`, role: "assistant", text: textOf(message.content), at });
    }
  });
  return spoken;
}

function tell({ terminal }: Call, { saved, skipped, refused }: Done): void {
  for (const { file, action } of saved) terminal.print(`${action} ${plainLine(file)}`);
  for (const reason of refused) terminal.warn(`memdir: note: not kept: ${plainLine(reason)}`);
  if (skipped !== null) terminal.print(`nothing was done: ${plainLine(skipped)}`);
  else if (saved.length === 0) terminal.print("nothing worth keeping was found");
}
