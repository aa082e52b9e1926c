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
import { isFinal } from "./apply.ts";
import { countAnswers } from "./budget.ts";
import { checkDraft, type Draft, type Sources } from "./draft.ts";
import { type Extractor, type Keep, type Kept, NOTHING_NEW, reasonOf, type Turns } from "./learn.ts";
import type { Proposal } from "./proposal.ts";
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
        return { saved: [], refused: [], failed: null, skipped: NOTHING_NEW, last, left, spent: null };
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
  const isKept = keeper.isAnyThere();
  if (ended === "turns") return isKept ? null : `it saved nothing in ${turns} turns`;
  if (ended !== "done") return `the model's answer was ${ended === "length" ? "cut off" : ended}`;
  // Our own checks would refuse the same again.
  if (isKept || keeper.refused().length > 0 || saysNothingToKeep(text)) return null;
  return calls === 0 ? "it called no tool and did not say that there is nothing to keep" : "it wrote nothing";
}

type Keeper = ReturnType<typeof openKeeper>;

/** What became of a file that the model wrote. */
interface Outcome {
  id: string;
  /** The sources that it named. */
  labels?: string[];
  kept?: Kept;
  /** Includes what an earlier run saved, such as one that was killed before its cursor moved. */
  isThere?: boolean;
  refused?: string | undefined;
  problem?: string | undefined;
}

/** Checks each draft, passes it on as a proposal, and records the outcome. */
export function openKeeper(
  world: Pick<World, "now" | "newId">,
  sources: Sources,
  keep: Keep,
  isStopped: () => boolean,
) {
  const pending = new Set<Promise<unknown>>();
  const outcomes = new Map<string, Outcome>();
  const all = () => [...outcomes.values()];

  const keepDraft = async (draft: Draft): Promise<{ notices: string[] }> => {
    const { file } = draft;
    const outcome = outcomes.get(file) ?? { id: world.newId() };
    outcomes.set(file, outcome);
    const refuse = (reason: string): never => {
      outcome.refused = `${file}: ${reason}`;
      throw new Error(`${file} was not written: ${reason}`);
    };
    const checked = await checkDraft(draft, sources, world.now(), outcome.labels);
    // Checking takes a while; nothing is started if the run was stopped in the meantime.
    if (isStopped()) throw new Error("stopped; nothing was written");
    if (!checked.ok) return refuse(checked.reason);
    const proposal: Proposal = { id: outcome.id, ...checked.proposal };
    const {
      done,
      reason,
      file: written,
    } = await keep(proposal, draft.base).catch((error) => {
      if (isFinal(error)) return refuse(reasonOf(error));
      outcome.problem = `${file} could not be saved: ${reasonOf(error)}`;
      throw error;
    });
    if (done === "refused") return refuse(reason ?? "it is not wanted");
    const keptAs = written ?? file;
    const { kept } = outcome;
    // A memory that was made and fixed in one run was made.
    if (kept) kept.proposal = { ...proposal, action: kept.proposal.action, file: kept.proposal.file };
    else if (done !== "unchanged") outcome.kept = { file: keptAs, action: done, proposal };
    Object.assign(outcome, { labels: checked.labels, isThere: true, refused: undefined, problem: undefined });
    const elsewhere = keptAs === file ? [] : [`it is saved as ${keptAs}`];
    return { notices: [...elsewhere, ...(reason === undefined ? [] : [reason]), ...checked.notices] };
  };

  return {
    /** Throws with a reason for the model. */
    keep(draft: Draft): Promise<{ notices: string[] }> {
      const keeping = keepDraft(draft);
      const done: Promise<unknown> = keeping.catch(() => {}).finally(() => pending.delete(done));
      pending.add(done);
      return keeping;
    },
    /** Resolves when no save is running any more. */
    settle: () => Promise.all(pending),
    saved: () => all().flatMap(({ kept }) => kept ?? []),
    isAnyThere: () => all().some(({ isThere }) => isThere),
    /** What our own rules refused and the model did not fix: the same would be refused again. */
    refused: () => all().flatMap(({ refused }) => refused ?? []),
    /** Why something that should have been saved was not, but may be the next time. */
    problem: () => all().find(({ problem }) => problem !== undefined)?.problem ?? null,
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
