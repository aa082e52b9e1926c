/** `memdir extract-hook`: what a Stop hook starts beside a session. It prints nothing, and ends by itself in bounded time. */

import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { lastMarks, readTurnTail, writesMemory } from "../hooks/turn-tail.ts";
import { findNew, type Learning, type LearnRequest, learn, type Prompt } from "../learn/learn.ts";
import { endingDay } from "../learn/model-extractor.ts";
import { understandSaid } from "../learn/said.ts";
import type { Memdir } from "../memdir.ts";
import { openModel } from "../open-agent.ts";
import { enrichBeside, openExtractor, openLearning, openOfflineExtractor } from "../open-learn.ts";
import { type HeardMessage, hearSession, ownWords } from "../session/heard.ts";
import { type HeardSession, sessionIdOf } from "../session/session-reader.ts";
import { readTranscript } from "../session/transcripts.ts";
import { readAuthors } from "../store/store.ts";
import { killAfter } from "../verbs/common.ts";
import { CHILD_VARIABLE } from "../world.ts";
import type { Call, Run } from "./command.ts";

/** Time for several answers of a slow model; MEMDIR_EXTRACT_SECONDS says otherwise. */
const DEADLINE_MS = 120_000;
const MAX_DEADLINE_MS = 3_600_000;
/** For a run that was told to stop to note what it cost. */
const GRACE_MS = 1_000;
/** How long the host's last message may take to reach the transcript. */
const LAG_MS = 2_000;
const LOOK_MS = 50;

interface HookRun extends Pick<Call, "env" | "cwd"> {
  memdir: Memdir;
  learning: Learning;
  /** The one that the environment or the settings name. */
  model: ReturnType<typeof openModel> | null;
  signal: AbortSignal;
  /** The model did not answer: there is no use in asking it for anything else. */
  hasFailed: boolean;
}

export const start: Run = async (call) => {
  const deadlineMs = findDeadline(call.env.MEMDIR_EXTRACT_SECONDS);
  await killAfter(deadlineMs + GRACE_MS);
  const signal = AbortSignal.timeout(deadlineMs);
  const file = resolve(call.cwd, call.value("transcript") ?? "");
  // That of the host's last message (`markOf`), "" when it is not known.
  const mark = call.value("mark") ?? "";
  if (call.env[CHILD_VARIABLE]) return 0;
  const memdir = await call.open();
  if (memdir.config.disabled !== null) return 0;
  const learning = openLearning(memdir);
  const wanted = memdir.config.learn.model;
  const model = wanted === null ? null : openModel(call.env, wanted);
  try {
    if (mark !== "") await waitFor(file, mark, signal);
    const run: HookRun = { memdir, learning, model, env: call.env, cwd: call.cwd, signal, hasFailed: false };
    await learnAll(run, file);
    if (model && !("problem" in model) && !run.hasFailed) {
      await enrichBeside(memdir, endingDay(model, learning.ledger, "enrich", null), signal);
    }
  } catch (error) {
    // What this process prints is not read.
    learning.ledger.skip("extraction", sessionIdOf(file), (error as Error).message);
  }
  // Hooks show who wrote the team's memories, and have no time to ask git themselves.
  for (const team of memdir.directories.filter(({ scope }) => scope === "team")) await readAuthors(team, call.env);
  // Commands end without making the vectors of what they saved, and hooks have no time for it.
  await memdir.warm({ signal }).catch((error: Error) => learning.directory.log(error.message));
  return 0;
};

function findDeadline(text: string | undefined): number {
  const ms = Number(text) * 1_000;
  return ms > 0 && ms <= MAX_DEADLINE_MS ? ms : DEADLINE_MS;
}

/**
 * A turn that ends meanwhile finds us at work and leaves it to us: its process looks for the lock when its words are in the file,
 * and we look at the file again when the lock is free.
 */
async function learnAll(run: HookRun, file: string): Promise<void> {
  let seen: string | undefined;
  while (!run.signal.aborted) {
    const session = await readTranscript(file);
    if (session.isSubAgent) return run.learning.ledger.skip("extraction", session.id, "it is a sub-agent's turn");
    const messages = hearSession(session);
    const last = messages.at(-1)?.id;
    if (last === seen || !(await learnTurn(run, session, messages))) return;
    seen = last;
  }
}

/** A transcript is written a little after the hook is told. What is not there by then is left for the next turn. */
async function waitFor(file: string, mark: string, signal: AbortSignal): Promise<void> {
  for (let waited = 0; waited < LAG_MS && !signal.aborted; waited += LOOK_MS) {
    if (lastMarks(readTurnTail(file, null, 1)?.lines ?? []).includes(mark)) return;
    await sleep(LOOK_MS);
  }
}

/** False when there is no point in going on. */
async function learnTurn(run: HookRun, session: HeardSession, messages: readonly HeardMessage[]): Promise<boolean> {
  const { memdir, learning, cwd, signal } = run;
  const { directory, ledger } = learning;
  const isWritten = writesInTurn(session, { dir: directory.path, cwd });
  const asked = isWritten ? [] : await findAsked(session, findNew(directory.path, session));
  const explicit = asked.length > 0;
  if (run.model && "problem" in run.model) {
    ledger.skip("extraction", session.id, run.model.problem);
    return false;
  }
  const model = run.model && endingDay(run.model, ledger, "extraction", session.id);
  const extractor = model ? openExtractor(learning, () => model) : openOfflineExtractor(memdir, learning);
  const request: LearnRequest = {
    ...{ session: session.id, messages, memoryWrittenInTurn: isWritten, explicit, signal },
    // When there is a budget again, a model looks at the rest.
    asked: asked.filter(({ id }) => id === session.prompts.at(-1)?.uuid),
  };
  const { skipped, failed } = await learn(learning, extractor, request);
  run.hasFailed ||= failed !== null;
  return skipped === null;
}

/** In whatever words: what the rules take for an explicit request. */
async function findAsked({ prompts }: HeardSession, fresh: readonly HeardMessage[]) {
  const asked: Prompt[] = [];
  for (const { uuid, text: prompt, at } of prompts.filter(({ uuid }) => fresh.some(({ id }) => id === uuid))) {
    const text = ownWords(prompt);
    const said = await understandSaid(text, new Date(at));
    if (said.some(({ explicit, act }) => explicit && act !== "forget")) asked.push({ id: uuid, text, at });
  }
  return asked;
}

/** By a call that was not refused. */
function writesInTurn({ messages, prompts }: HeardSession, place: { dir: string; cwd: string }): boolean {
  const blocks = messages.slice(prompts.at(-1)?.index ?? 0).flatMap(({ content }) => [...content]);
  const failed = new Set(blocks.flatMap((block) => (block.type === "tool_result" && block.isError ? [block.id] : [])));
  return blocks.some((block) => block.type === "tool_use" && !failed.has(block.id) && writesMemory(block, place));
}
