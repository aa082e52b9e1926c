/**
 * The extractor that asks a model: it reads what was said since the last time and writes drafts, which are checked and
 * saved.
 */

import { relative, sep } from "node:path";
import { isWithin, realPath } from "../disk/fence.ts";
import { fork, type LoopEvent, type LoopResult, runAgentLoop } from "../model/agent-loop.ts";
import type { Ask } from "../model/ask.ts";
import type { Tool } from "../model/tool.ts";
import { buildExtractionPrompt, EXTRACTION_RULES, saysNothingToKeep } from "../prompts/learning.ts";
import { openFileState } from "../session/file-state.ts";
import { INDEX_FILE, OVERFLOW_FILE } from "../store/store.ts";
import { openTools } from "../tools/tools.ts";
import type { World } from "../world.ts";
import { type Applied, isFinal } from "./apply.ts";
import { countAnswers } from "./budget.ts";
import { checkDraft, type Draft, type Sources } from "./draft.ts";
import { type Extractor, type Keep, type Kept, reasonOf, type Turns } from "./learn.ts";
import type { Proposal } from "./proposal.ts";
import { buildWindow, dayOf, listPieces, type Window } from "./window.ts";

/** The part of a model that learning needs. */
export interface LearningModel {
  ask: Ask;
  provider: string;
  name: string;
  /** The most tokens that one answer may have. */
  maxTokens: number;
}

interface ExtractionMemory {
  /** The memory directory; it need not exist. */
  dir: string;
  /** A line per existing memory, safe to show. */
  manifest: () => Promise<string>;
}

/** One to read, one to write, and some to fix what was refused. */
const MAX_TURNS = 5;
/** A few memories and a sentence. */
const MAX_TOKENS = 4_000;

/** `model` is the one to ask now: the user may change it between runs. */
export function openModelExtractor(
  world: Pick<World, "now" | "newId">,
  model: () => LearningModel,
  memory: ExtractionMemory,
): Extractor {
  return {
    isFree: false,
    async extract(turns, keep) {
      const window = buildWindow(turns.fresh, { list: turns.conversation !== undefined });
      const { last, left } = window;
      if (window.pieces.length === 0) {
        const skipped = "nothing is new since the last time";
        return { saved: [], refused: [], failed: null, skipped, last, left, spent: null };
      }
      return { ...(await extractFrom(world, model(), memory, turns, window, keep)), last, left };
    },
  };
}

async function extractFrom(
  world: Pick<World, "now" | "newId">,
  { ask, provider, name }: LearningModel,
  { dir, manifest }: ExtractionMemory,
  turns: Turns,
  window: Window,
  keep: Keep,
) {
  const { session, conversation, explicit = false, signal } = turns;
  const sources: Sources = { session, pieces: window.pieces, said: listPieces(turns.messages) };
  const keeper = openKeeper(world, sources, keep, turns.isStopped);
  const prompt = buildExtractionPrompt({
    dir,
    manifest: await manifest(),
    window: window.text,
    isFork: conversation !== undefined,
    today: dayOf(world.now().toISOString()) ?? "",
    explicit,
  });
  let calls = 0;
  const options = {
    tools: openExtractionTools(dir, keeper.keep),
    maxTurns: MAX_TURNS,
    maxTokens: MAX_TOKENS,
    ...(signal && { signal }),
    onEvent: (event: LoopEvent) => {
      if (event.type === "tool-start") calls++;
    },
  };
  const counted = countAnswers(ask);
  const loop = conversation
    ? await fork(counted, conversation, { ...options, prompt })
    : await runAgentLoop(counted, {
        ...options,
        system: [{ text: EXTRACTION_RULES, cache: true }],
        messages: [{ role: "user", content: [{ type: "text", text: prompt }] }],
      });
  // A stopped loop does not wait for its tools, but a save that is running will finish.
  await keeper.settle();
  return {
    saved: keeper.saved(),
    refused: keeper.refused(),
    failed: findFailure(loop, keeper, calls),
    spent: { model: `${provider}/${name}`, usage: loop.usage, turns: loop.turns, calls },
  };
}

/** A run that did nothing must say so in the words that the prompt asks for; anything else is only a claim. */
function findFailure({ ended, error, text, turns }: LoopResult, keeper: Keeper, calls: number): string | null {
  if (ended === "aborted") return "it was stopped";
  if (ended === "error") return error?.message ?? "the model did not answer";
  const problem = keeper.problem();
  if (problem !== null) return problem;
  const kept = keeper.count();
  if (ended === "turns") return kept > 0 ? null : `it saved nothing in ${turns} turns`;
  if (ended !== "done") return `the model's answer was ${ended === "length" ? "cut off" : ended}`;
  // Our own checks would refuse the same again.
  if (kept > 0 || keeper.refused().length > 0 || saysNothingToKeep(text)) return null;
  return calls === 0 ? "it called no tool and did not say that there is nothing to keep" : "it wrote nothing";
}

/** Checks each draft, passes it on as a proposal, and records the outcome. */
interface Keeper {
  /** Throws with a reason for the model. */
  keep(draft: Draft): Promise<{ notices: string[] }>;
  /** Resolves when no save is running any more. */
  settle(): Promise<unknown>;
  saved(): Kept[];
  /** Includes those that an earlier run saved, such as one that was killed before its cursor moved. */
  count(): number;
  /** What our own rules refused and the model did not fix: the same would be refused again. */
  refused(): string[];
  /** Why something that should have been saved was not, but may be the next time. */
  problem(): string | null;
}

export function openKeeper(
  world: Pick<World, "now" | "newId">,
  sources: Sources,
  keep: Keep,
  isStopped: () => boolean,
): Keeper {
  const pending = new Set<Promise<unknown>>();
  const ids = new Map<string, string>();
  const labels = new Map<string, string[]>();
  const saved = new Map<string, Kept>();
  const refused = new Map<string, string>();
  const problems = new Map<string, string>();
  let unchanged = 0;

  const refuse = (file: string, reason: string): never => {
    refused.set(file, `${file}: ${reason}`);
    throw new Error(`${file} was not written: ${reason}`);
  };

  const hand = async ({ file, base }: Draft, proposal: Proposal): Promise<Applied> => {
    try {
      return await keep(proposal, base);
    } catch (error) {
      const reason = reasonOf(error);
      if (isFinal(error)) return refuse(file, reason);
      problems.set(file, `${file} could not be saved: ${reason}`);
      throw error;
    }
  };

  const keepDraft = async (draft: Draft): Promise<{ notices: string[] }> => {
    const { file } = draft;
    const checked = await checkDraft(draft, sources, world.now(), labels.get(file));
    // Checking takes a while; nothing is started if the run was stopped in the meantime.
    if (isStopped()) throw new Error("stopped; nothing was written");
    if (!checked.ok) return refuse(file, checked.reason);
    const id = ids.get(file) ?? world.newId();
    ids.set(file, id);
    const proposal: Proposal = { id, ...checked.proposal };
    const { done, reason, file: written } = await hand(draft, proposal);
    if (done === "refused") return refuse(file, reason ?? "it is not wanted");
    labels.set(file, checked.labels);
    refused.delete(file);
    problems.delete(file);
    const keptAs = written ?? file;
    const earlier = saved.get(id);
    if (done === "unchanged") unchanged++;
    // A memory that was made and fixed in one run was made.
    if (earlier) earlier.proposal = { ...proposal, action: earlier.proposal.action, file: earlier.proposal.file };
    else if (done !== "unchanged") saved.set(id, { file: keptAs, action: done, proposal });
    const elsewhere = keptAs === file ? [] : [`it is saved as ${keptAs}`];
    return { notices: [...elsewhere, ...(reason === undefined ? [] : [reason]), ...checked.notices] };
  };

  return {
    keep(draft) {
      const keeping = keepDraft(draft);
      const done: Promise<unknown> = keeping.catch(() => {}).finally(() => pending.delete(done));
      pending.add(done);
      return keeping;
    },
    settle: () => Promise.all(pending),
    saved: () => [...saved.values()],
    count: () => saved.size + unchanged,
    refused: () => [...refused.values()],
    problem: () => [...problems.values()][0] ?? null,
  };
}

/** They can access only the memory directory, and what they write is handed over, not written. */
function openExtractionTools(dir: string, keep: Keeper["keep"]): Tool[] {
  const root = realPath(dir);
  return openTools(
    {
      cwd: root,
      fence: dir,
      readable: [],
      files: openFileState(),
      history: null,
      // Never asked inside the fence; if it were, there is no user to answer.
      permit: async () => ({ allowed: false, reason: "there is no user to ask" }),
      env: {},
      onTouch: () => {},
      store: {
        // Everything goes through here: nothing may bypass the store.
        owns: () => true,
        write: async (path, text, base) => {
          const file = relative(root, path).split(sep).join("/");
          const problem = isWithin(root, path) ? findFileProblem(file) : "it is outside the memory directory";
          if (problem) throw new Error(`${file} was not written: ${problem}`);
          return keep({ file, text, base });
        },
        remark: () => null,
      },
    },
    ["Read", "Glob", "Grep", "Write", "Edit"],
  );
}

/** Folders next to the memories that belong to other features. */
const OTHERS: ReadonlySet<string> = new Set(["logs", "agents"]);

/** Names are compared in lower case: on many disks `memory.md` is the index. */
function findFileProblem(file: string): string | null {
  const parts = file.toLowerCase().split("/");
  if (parts.some((part) => part.startsWith("."))) return "hidden files and folders are not memories";
  if (!file.endsWith(".md")) return "the name of a memory must end in .md";
  const name = parts.at(-1);
  if (name === INDEX_FILE.toLowerCase() || name === OVERFLOW_FILE.toLowerCase()) {
    return "the index is updated automatically; write only the memory's own file";
  }
  if (parts.length > 1 && OTHERS.has(parts[0]!)) return `${parts[0]}/ is not for memories; put it next to the others`;
  return null;
}
