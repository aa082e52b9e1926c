/**
 * Extraction by a model without tools: one question, one JSON answer with all memories. What is refused, or changes a memory that the
 * model has not seen, it may fix once.
 */

import { choice, filled, list, readInput, required, text } from "../input.ts";
import type { LoopResult } from "../model/agent-loop.ts";
import type { Ask } from "../model/ask.ts";
import { buildExtractionCorrection, EXTRACTION_SCHEMA, ONE_SHOT_RULES, readObject } from "../prompts/learning.ts";
import { neutraliseTags } from "../recall/neutral.ts";
import { fileNameFor, MEMORY_TYPES } from "../store/store.ts";
import { editBody, editFields, formatDocument } from "../text/frontmatter.ts";
import { redactSecrets } from "../text/secrets.ts";
import type { Target } from "./apply.ts";
import type { Draft } from "./draft.ts";
import type { Keeper } from "./keeper.ts";
import { reasonOf } from "./learn.ts";
import { findFileProblem, type Proposal } from "./proposal.ts";
import { askTwice, say } from "./side-task.ts";

/** How an extracting model was asked, in whatever form. */
export interface Asked {
  loop: LoopResult;
  /** How many memories or files it dealt with. */
  calls: number;
  /** It says, as it was asked to, that there is nothing to keep. */
  isNothing: boolean;
  /** What it did instead, if neither. */
  instead: string;
}

/** The memory of this file or, without one, of this type and name. */
export type FindMemory = (wanted: Pick<Proposal, "file" | "type" | "name">) => Promise<Target | null>;

/** A few memories and a sentence. */
export const MAX_TOKENS = 4_000;
/** More of them are no longer few and good ones. */
const MAX_MEMORIES = 20;
/** A longer one is not rewritten in one answer. */
const MAX_SHOWN_CHARS = 8_000;

export async function askOnce(
  ask: Ask,
  prompt: string,
  find: FindMemory,
  keeper: Keeper,
  signal: AbortSignal | undefined,
): Promise<Asked> {
  const seen = new Map<string, string>();
  const asked = { calls: 0, isNothing: false };
  const take = async ({ text: answer, ended }: LoopResult): Promise<string | null> => {
    const memories = readObject(answer)?.memories;
    if (!Array.isArray(memories))
      return buildExtractionCorrection([ended === "length" ? "the answer was cut off: keep fewer memories" : NO_LIST]);
    asked.isNothing = memories.length === 0;
    const problems = memories.length > MAX_MEMORIES ? [`only the first ${MAX_MEMORIES} memories were read`] : [];
    const unseen: Target[] = [];
    for (const given of memories.slice(0, MAX_MEMORIES)) {
      asked.calls++;
      try {
        const { draft, target } = await readDraft(given, find);
        if (target && seen.get(draft.file) !== target.text) {
          unseen.push(target);
          keeper.refuse(draft.file, "you have not seen what it says now");
        }
        await keeper.keep(draft);
      } catch (error) {
        problems.push(redactSecrets(reasonOf(error)));
      }
    }
    for (const { memory, text } of unseen) seen.set(memory.file, text);
    // Asking again does not help where the disk fails.
    if (problems.length === 0 || keeper.problem() !== null) return null;
    return buildExtractionCorrection(problems, unseen.map(show));
  };
  const system = [{ text: ONE_SHOT_RULES, cache: true }];
  const options = { system, messages: [say(prompt)], tools: [], schema: EXTRACTION_SCHEMA, maxTurns: 1 };
  const loop = await askTwice(ask, { ...options, maxTokens: MAX_TOKENS, ...(signal && { signal }) }, take);
  return { loop, ...asked, instead: NO_LIST };
}

const NO_LIST = 'the answer is not a JSON object with a list "memories"';

const FIELDS = {
  file: text(),
  type: required(choice(MEMORY_TYPES)),
  name: required(filled(text())),
  description: required(text()),
  when: list(),
  source: list(),
  body: required(filled(text())),
};

/** As a file, like one that a model with tools writes. Throws with a reason for the model. */
async function readDraft(given: unknown, find: FindMemory): Promise<{ draft: Draft; target: Target | null }> {
  const {
    file,
    type,
    name,
    description,
    when = [],
    source: labels = [],
    body,
  } = readInput(FIELDS, given as Record<string, unknown>);
  const target = (file ? await find({ file, type, name }) : null) ?? (await find({ file: null, type, name }));
  const source = labels.length > 0 ? labels.join(", ") : "unknown";
  if (!target) {
    const text = formatDocument({ name, description, type, when, source }, body);
    return { draft: { file: fileNameFor(type, name), text, base: null }, target };
  }
  const { memory, text: base } = target;
  const problem =
    findFileProblem(memory.file) ?? (base.length > MAX_SHOWN_CHARS ? "it is too long to be rewritten" : null);
  if (problem !== null) throw new Error(`${memory.file} is not changed: ${problem}`);
  // Name and type stay, because another name or type is another memory.
  const isBare = Object.keys(memory.metadata).length === 0;
  const text = isBare
    ? formatDocument({ name: memory.name, description, type: memory.type, when, source }, body)
    : editBody(editFields(base, { description, when: [...new Set([...memory.when, ...when])], source }), body);
  return { draft: { file: memory.file, text: memory.broken ? base : text, base }, target };
}

/** What it holds is data, and a secret in it stays where it is. */
function show({ memory: { file }, text }: Target): { file: string; text: string } {
  return { file, text: neutraliseTags(redactSecrets(text)) };
}
