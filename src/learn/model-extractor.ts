/**
 * The extractor that asks a model what was said since the last time and is worth keeping: with tools, in a fork where there is one,
 * or in one question. What it writes becomes drafts, which are checked and saved.
 */

import { relative, sep } from "node:path";
import { isWithin, realPath } from "../disk/fence.ts";
import { messageOf } from "../errors.ts";
import { choice, filled, list, readInput, required, text } from "../input.ts";
import { askTwice, fork, type LoopEvent, type LoopResult, runAgentLoop } from "../model/agent-loop.ts";
import { type Ask, say } from "../model/ask.ts";
import { countAnswers } from "../model/cost.ts";
import type { Tool } from "../model/tool.ts";
import {
  buildExtractionCorrection,
  buildExtractionPrompt,
  EXTRACTION_RULES,
  EXTRACTION_SCHEMA,
  ONE_SHOT_RULES,
  readObject,
  saysNothingToKeep,
} from "../prompts/learning.ts";
import { neutraliseTags } from "../recall/neutral.ts";
import { formatManifest } from "../recall/select.ts";
import { fileNameFor, MEMORY_TYPES } from "../store/store.ts";
import { formatDocument } from "../text/frontmatter.ts";
import { redactSecrets } from "../text/secrets.ts";
import { openFencedTools } from "../tools/tools.ts";
import type { Workbench } from "../tools/workbench.ts";
import type { World } from "../world.ts";
import { findTarget, type Memories, rewrite, type Target } from "./apply.ts";
import { type Draft, type Keeper, openKeeper } from "./draft.ts";
import { type Extractor, foundNothing, type Learning, NOTHING_NEW, type Turns } from "./learn.ts";
import type { Ledger, SpentKind } from "./ledger.ts";
import { readUntold } from "./origin.ts";
import { findFileProblem } from "./proposal.ts";
import { buildWindow, dayOf, listPieces } from "./window.ts";

/** The part of a model that learning needs. */
export interface LearningModel {
  ask: Ask;
  provider: string;
  name: string;
  /** The most tokens that one answer may have. */
  maxTokens: number;
  /** False for a model that only answers, to be asked with a schema; default true. */
  takesTools?: boolean;
}

/**
 * A model that is asked nothing more today once its client is logged out or has reached a limit: nobody is there to log in, and to
 * wait for an account's limit is to wait for hours. For background work; whoever sits at a terminal is told, and decides.
 */
export function endingDay(model: LearningModel, ledger: Ledger, kind: SpentKind, session: string | null) {
  // A provider's own limits pass within minutes, and its key may be changed for the next process.
  if (model.takesTools !== false) return model;
  const ask: Ask = async (request) => {
    const answer = await model.ask(request);
    if (!answer.ok && (answer.error.kind === "rate" || answer.error.kind === "auth")) {
      const until = "it goes on tomorrow, or when `memdir doctor --model` gets an answer";
      ledger.endDay(kind, session, `${model.provider}/${model.name}`, `${answer.error.message}; ${until}`);
    }
    return answer;
  };
  return { ...model, ask };
}

/** One to read, one to write, and some to fix what was refused. */
const MAX_TURNS = 5;

/** `model` is the one to ask now: the user may change it between runs. */
export function openModelExtractor(
  learning: Pick<Learning, "store" | "directory">,
  model: () => LearningModel,
  newId: World["newId"],
): Extractor {
  return {
    isFree: false,
    async extract(turns, keep) {
      const { store, directory } = learning;
      const { ask, provider, name, takesTools = true } = model();
      const isFork = turns.conversation !== undefined && takesTools;
      const { pieces, text: window, ...read } = buildWindow(turns.fresh, { list: isFork });
      if (pieces.length === 0) return { ...foundNothing(), skipped: NOTHING_NEW, ...read };
      const said = [...readUntold(directory), ...listPieces(turns.messages)];
      const keeper = openKeeper({ now: directory.now, newId }, { ...turns, pieces, said }, keep);
      const prompt = buildExtractionPrompt({
        dir: directory.path,
        manifest: formatManifest((await store.list()).filter(({ scope }) => scope === directory.scope)).manifest,
        ...{ window, isFork, isOneShot: !takesTools, explicit: turns.explicit ?? false },
        today: dayOf(directory.now().toISOString()) ?? "",
      });
      const asking: Asking = { ...turns, ask: countAnswers(ask), prompt, keeper };
      const asked = await (takesTools ? askWithTools(asking, directory.path) : askOnce(asking, store));
      // A stopped loop does not wait for its tools, but a save that is running will finish.
      await keeper.settle();
      const { usage, turns: answers } = asked.loop;
      const spent = { model: `${provider}/${name}`, usage, turns: answers, calls: asked.calls };
      return { saved: keeper.saved(), refused: keeper.refused(), failed: findFailure(asked, keeper), spent, ...read };
    },
  };
}

interface Asking extends Pick<Turns, "conversation" | "signal"> {
  ask: Ask;
  prompt: string;
  keeper: Keeper;
}

/** In a fork of the conversation, if there is one. It reads what it wants to update, and is told at once why a file is refused. */
async function askWithTools({ ask, prompt, keeper, conversation, signal }: Asking, dir: string): Promise<Asked> {
  let calls = 0;
  const options = {
    tools: openExtractionTools(dir, keeper.keep),
    maxTurns: MAX_TURNS,
    maxTokens: MAX_TOKENS,
    ...(signal && { signal }),
    onEvent: ({ type }: LoopEvent) => {
      if (type === "tool-start") calls++;
    },
  };
  const system = [{ text: EXTRACTION_RULES, cache: true }];
  const loop = conversation
    ? await fork(ask, conversation, { ...options, prompt })
    : await runAgentLoop(ask, { ...options, system, messages: [say(prompt)] });
  const instead = "it called no tool and did not say that there is nothing to keep";
  return { loop, calls, isNothing: saysNothingToKeep(loop.text), instead };
}

/** A run that did nothing must say so in the words that the prompt asks for; anything else is only a claim. */
function findFailure({ loop, calls, isNothing, instead }: Asked, keeper: Keeper): string | null {
  const { ended, error, turns } = loop;
  if (ended === "aborted") return "it was stopped";
  if (ended === "error") return error?.message ?? "the model did not answer";
  const problem = keeper.problem();
  if (problem !== null) return problem;
  const isKept = keeper.isAnyThere();
  if (ended === "turns") return isKept ? null : `it saved nothing in ${turns} turns`;
  if (ended !== "done") return `the model's answer was ${ended === "length" ? "cut off" : ended}`;
  // Our own checks would refuse the same again.
  if (isKept || keeper.refused().length > 0 || isNothing) return null;
  return calls === 0 ? instead : "it wrote nothing";
}

/** What they write is handed over, not written. */
function openExtractionTools(dir: string, keep: Keeper["keep"]): Tool[] {
  const root = realPath(dir);
  const store: Workbench["store"] = {
    // Everything goes through here: nothing may bypass the store.
    owns: () => true,
    write: async (path, text, base) => {
      const file = relative(root, path).split(sep).join("/");
      const problem = isWithin(root, path) ? findFileProblem(file) : "it is outside the memory directory";
      if (problem) throw new Error(`${file} was not written: ${problem}`);
      return keep({ file, text, base });
    },
    remark: () => null,
  };
  return openFencedTools(dir, store, ["Read", "Glob", "Grep", "Write", "Edit"]);
}

/** How an extracting model was asked, in whatever form. */
interface Asked {
  loop: LoopResult;
  /** How many memories or files it dealt with. */
  calls: number;
  /** It says, as it was asked to, that there is nothing to keep. */
  isNothing: boolean;
  /** What it did instead, if neither. */
  instead: string;
}

/** A few memories and a sentence. */
const MAX_TOKENS = 4_000;
/** More of them are no longer few and good ones. */
const MAX_MEMORIES = 20;
/** A longer one is not rewritten in one answer. */
const MAX_SHOWN_CHARS = 8_000;

async function askOnce({ ask, prompt, keeper, signal }: Asking, store: Memories): Promise<Asked> {
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
        const { draft, target } = await readDraft(given, store);
        if (target && seen.get(draft.file) !== target.text) {
          unseen.push(target);
          keeper.refuse(draft.file, "you have not seen what it says now");
        }
        await keeper.keep(draft);
      } catch (error) {
        problems.push(redactSecrets(messageOf(error)));
      }
    }
    for (const { memory, text } of unseen) seen.set(memory.file, text);
    // Asking again does not help where the disk fails.
    if (problems.length === 0 || keeper.problem() !== null) return null;
    // What they hold is data, and a secret in one stays where it is.
    const shown = unseen.map(({ memory: { file }, text }) => ({ file, text: neutraliseTags(redactSecrets(text)) }));
    return buildExtractionCorrection(problems, shown);
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
async function readDraft(given: unknown, store: Memories): Promise<{ draft: Draft; target: Target | null }> {
  const { file, type, name, description, body, ...rest } = readInput(FIELDS, given as Record<string, unknown>);
  const { when = [], source: labels = [] } = rest;
  const find = (file: string | null) => findTarget(store, { file, type, name });
  const target = (file ? await find(file) : null) ?? (await find(null));
  const source = labels.length > 0 ? labels.join(", ") : "unknown";
  if (!target) {
    const text = formatDocument({ name, description, type, when, source }, body);
    return { draft: { file: fileNameFor(type, name), text, base: null }, target };
  }
  const { memory, text: base } = target;
  const problem =
    findFileProblem(memory.file) ?? (base.length > MAX_SHOWN_CHARS ? "it is too long to be rewritten" : null);
  if (problem !== null) throw new Error(`${memory.file} is not changed: ${problem}`);
  const text = memory.broken ? base : rewrite(target, { type: memory.type, description, when, source, body });
  return { draft: { file: memory.file, text, base }, target };
}
