/**
 * Adds cues to memories that have none: a model is asked in batches, and the results are journalled and resumable at
 * any point.
 */

import { type Ask, addUsage, NO_USAGE, textOf, type Usage } from "../model/ask.ts";
import { buildCueQuestion, buildCueSchema, CUES_SYSTEM, readCues } from "../prompts/learning.ts";
import { neutralise } from "../recall/neutral.ts";
import { redactSecrets } from "../text/secrets.ts";
import type { World } from "../world.ts";
import { countAnswers } from "./budget.ts";
import { findOrigins } from "./origin.ts";

export interface EnrichOptions {
  ask: Ask;
  /** The file's whole text, which is passed back to `write`. */
  read: (file: string) => Promise<{ text: string; name: string; description: string; body: string }>;
  write: (file: string, base: string, cues: readonly string[]) => Promise<void>;
  /** Checked before every batch. */
  budget: () => { ok: true } | { ok: false; reason: string };
  spent: (usage: Usage, produced: number) => void;
  onProgress?: (done: number, total: number) => void;
  signal?: AbortSignal;
}

export interface EnrichResult {
  enriched: string[];
  /** How many still have none. */
  left: number;
  usage: Usage;
  /** Why it stopped early. */
  stopped: string | null;
}

/** Few enough that an answer fits and a lost one costs little; many enough that a client's own prompt is paid for rarely. */
export const BATCH = 20;
/** The beginning of a memory says what it is about. */
const MAX_BODY_CHARS = 1500;
/** Six cues of a dozen tokens for each of a batch, twice over. */
const MAX_TOKENS = 4000;

/** `files`: memories without cues. Must not throw: failed ones are left for the next run. */
export async function enrich(
  world: Pick<World, "log">,
  files: readonly string[],
  options: EnrichOptions,
): Promise<EnrichResult> {
  const enriched: string[] = [];
  let usage = NO_USAGE;
  let stopped: string | null = null;
  for (let at = 0; at < files.length && stopped === null; at += BATCH) {
    const budget = options.budget();
    if (!budget.ok) stopped = budget.reason;
    else if (options.signal?.aborted) stopped = "stopped by the user";
    else {
      const done = await enrichBatch(world, files.slice(at, at + BATCH), options);
      usage = addUsage(usage, done.usage);
      enriched.push(...done.enriched);
      stopped = done.stopped;
      options.onProgress?.(Math.min(files.length, at + BATCH), files.length);
    }
  }
  return { enriched, left: files.length - enriched.length, usage, stopped };
}

async function enrichBatch({ log }: Pick<World, "log">, files: readonly string[], options: EnrichOptions) {
  const { ask, signal } = options;
  const read = await Promise.all(
    files.map((file) => readOne(options, file).catch((error: Error) => log(`enrich: ${file}: ${error.message}`))),
  );
  const tasks = read.filter((one) => one !== undefined);
  if (tasks.length === 0) return { enriched: [], usage: NO_USAGE, stopped: null };
  const answer = await countAnswers(ask)({
    system: [{ text: CUES_SYSTEM, cache: true }],
    messages: [{ role: "user", content: [{ type: "text", text: buildCueQuestion(tasks) }] }],
    schema: buildCueSchema(tasks.length),
    maxTokens: MAX_TOKENS,
    ...(signal && { signal }),
  });
  const usage = answer.ok ? answer.usage : (answer.partial?.usage ?? NO_USAGE);
  const enriched: string[] = [];
  const cues = answer.ok ? readCues(textOf(answer.content), tasks.length) : null;
  if (answer.ok && !cues) log("enrich: the model's answer was not a list of cues; this batch is left for the next run");
  for (const [i, texts] of cues ?? []) {
    const task = tasks[i];
    if (!task) continue;
    try {
      const own = await withoutBorrowed(texts, i, tasks);
      if (own.length === 0) continue;
      await options.write(task.file, task.text, own);
      enriched.push(task.file);
    } catch (error) {
      log(`enrich: ${task.file}: ${(error as Error).message}`);
    }
  }
  options.spent(usage, enriched.length);
  return { enriched, usage, stopped: answer.ok ? null : redactSecrets(answer.error.message) };
}

/** A note may ask to be added to others in the batch, so a cue with another note's words is dropped. */
async function withoutBorrowed(cues: readonly string[], own: number, notes: readonly Note[]): Promise<string[]> {
  const words = notes.map(({ name, description, body }) => [name, description, body].join("\n"));
  const others = words.toSpliced(own, 1).map((text) => ({ trust: "document" as const, text }));
  const origins = await Promise.all(cues.map((cue) => findOrigins(cue, words[own]!, others)));
  return cues.filter((_, i) => origins[i]?.length === 0);
}

type Note = Record<"name" | "description" | "body", string>;

async function readOne({ read }: EnrichOptions, file: string) {
  const { text, name, description, body } = await read(file);
  const shown = neutralise(body).slice(0, MAX_BODY_CHARS);
  return { file, text, name: neutralise(name), description: neutralise(description), body: shown };
}
