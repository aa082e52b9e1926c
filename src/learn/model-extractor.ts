/**
 * The extractor that asks a model what was said since the last time and is worth keeping: with tools, in a fork where there is one,
 * or in one question. What it writes becomes drafts, which are checked and saved.
 */

import { relative, sep } from "node:path";
import { isWithin, realPath } from "../disk/fence.ts";
import { fork, type LoopEvent, runAgentLoop } from "../model/agent-loop.ts";
import type { Ask } from "../model/ask.ts";
import type { Tool } from "../model/tool.ts";
import { buildExtractionPrompt, EXTRACTION_RULES, saysNothingToKeep } from "../prompts/learning.ts";
import type { Workbench } from "../tools/workbench.ts";
import type { World } from "../world.ts";
import { countAnswers } from "./budget.ts";
import type { Sources } from "./draft.ts";
import { type Keeper, openKeeper } from "./keeper.ts";
import { type Extractor, type Keep, NOTHING_NEW, type Turns } from "./learn.ts";
import { type Asked, askOnce, type FindMemory, MAX_TOKENS } from "./one-shot.ts";
import type { Spoken } from "./origin.ts";
import { findFileProblem } from "./proposal.ts";
import { openFencedTools, say } from "./side-task.ts";
import { buildWindow, dayOf, listPieces, type Window } from "./window.ts";

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

interface ExtractionMemory {
  /** The memory directory; it need not exist. */
  dir: string;
  /** A line per existing memory, safe to show. */
  manifest: () => Promise<string>;
  find: FindMemory;
  /** Memories whose words are not the user's. */
  untold: () => Spoken[];
}

/** One to read, one to write, and some to fix what was refused. */
const MAX_TURNS = 5;

/** `model` is the one to ask now: the user may change it between runs. */
export function openModelExtractor(
  world: Pick<World, "now" | "newId">,
  model: () => LearningModel,
  memory: ExtractionMemory,
): Extractor {
  return {
    isFree: false,
    async extract(turns, keep) {
      const asked = model();
      const isFork = turns.conversation !== undefined && asked.takesTools !== false;
      const window = buildWindow(turns.fresh, { list: isFork });
      const { last, left } = window;
      if (window.pieces.length === 0) {
        return { saved: [], refused: [], failed: null, skipped: NOTHING_NEW, last, left, spent: null };
      }
      return { ...(await extractFrom(world, asked, memory, turns, window, keep)), last, left };
    },
  };
}

async function extractFrom(
  world: Pick<World, "now" | "newId">,
  model: LearningModel,
  memory: ExtractionMemory,
  turns: Turns,
  window: Window,
  keep: Keep,
) {
  const isOneShot = model.takesTools === false;
  const { session, explicit = false } = turns;
  const said = [...memory.untold(), ...listPieces(turns.messages)];
  const sources: Sources = { session, pieces: window.pieces, said };
  const keeper = openKeeper(world, sources, keep, turns.isStopped);
  const prompt = buildExtractionPrompt({
    dir: memory.dir,
    manifest: await memory.manifest(),
    window: window.text,
    isFork: turns.conversation !== undefined && !isOneShot,
    isOneShot,
    today: dayOf(world.now().toISOString()) ?? "",
    explicit,
  });
  const ask = countAnswers(model.ask);
  const asked = isOneShot
    ? await askOnce(ask, prompt, memory.find, keeper, turns.signal)
    : await askWithTools(ask, prompt, memory.dir, keeper, turns);
  // A stopped loop does not wait for its tools, but a save that is running will finish.
  await keeper.settle();
  return {
    saved: keeper.saved(),
    refused: keeper.refused(),
    failed: findFailure(asked, keeper),
    spent: {
      model: `${model.provider}/${model.name}`,
      usage: asked.loop.usage,
      turns: asked.loop.turns,
      calls: asked.calls,
    },
  };
}

/** In a fork of the conversation, if there is one. It reads what it wants to update, and is told at once why a file is refused. */
async function askWithTools(
  ask: Ask,
  prompt: string,
  dir: string,
  { keep }: Keeper,
  { conversation, signal }: Turns,
): Promise<Asked> {
  let calls = 0;
  const options = {
    tools: openExtractionTools(dir, keep),
    maxTurns: MAX_TURNS,
    maxTokens: MAX_TOKENS,
    ...(signal && { signal }),
    onEvent: (event: LoopEvent) => {
      if (event.type === "tool-start") calls++;
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
function findFailure(
  { loop: { ended, error, turns }, calls, isNothing, instead }: Asked,
  keeper: Keeper,
): string | null {
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
