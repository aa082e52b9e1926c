/** The composition root of learning: a Memdir and a model, in; what extraction needs, out. */

import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { openSessionLearner, type SessionLearner } from "./agent/learner.ts";
import type { LearnerOptions } from "./agent/state.ts";
import { MemdirError } from "./errors.ts";
import type { Memories } from "./learn/apply.ts";
import { enrich, findPoor } from "./learn/enrich.ts";
import { openInbox, openTeamInbox } from "./learn/inbox.ts";
import type { Extractor, Learning } from "./learn/learn.ts";
import { checkBudget, openLedger } from "./learn/ledger.ts";
import { type LearningModel, openModelExtractor } from "./learn/model-extractor.ts";
import type { Proposal } from "./learn/proposal.ts";
import { openAskedExtractor, openRulesExtractor } from "./learn/rules.ts";
import type { Memdir } from "./memdir.ts";
import { openMemories } from "./memory/memories.ts";
import { usedNothing } from "./model/ask.ts";
import { findOwn, findTeam } from "./open.ts";
import { findBytes, isShared, signEntry } from "./store/store.ts";

export function openLearning(memdir: Memdir): Learning {
  const [directory] = memdir.directories;
  if (!directory) throw new MemdirError("not-found", "there is no memory directory here");
  const { learn, disabled } = memdir.config;
  const ledger = openLedger(directory.path, directory, learn.prices);
  return {
    store: memdir,
    directory,
    mode: directory.scope === "team" ? learn.teamMode : learn.mode,
    ledger,
    inbox: directory.scope === "team" ? openTeamInbox(findOwn(memdir)) : openInbox(directory, directory),
    gates: (session) => ({
      enabled: disabled === null,
      everyTurns: learn.everyTurns,
      budget: checkBudget(ledger, learn, session),
    }),
  };
}

/** Where a proposal's memory is, or is to be: the team's, which may be on a server's mirror and in the repository, or the project's. */
export function memoriesFor(memdir: Memdir, { scope, file }: Proposal): Memories {
  if (scope !== "team") return memdir;
  const teams = memdir.directories.filter((each) => each.scope === "team");
  const team = teams.find((each) => file !== null && findBytes(each, file) !== null) ?? findTeam(memdir);
  const memories = openMemories([team], async () => {});
  const known = teams.includes(team) ? memdir.directories : [...memdir.directories, team];
  const signed = async <T extends { undo: string | null }>(change: Promise<T>): Promise<T> => {
    const { undo, ...done } = await change;
    return { ...done, undo: undo && signEntry(known, team, undo) } as T;
  };
  return {
    directories: [team],
    list: memories.list,
    save: (request) => signed(memories.save(request)),
    put: (...given) => signed(memories.put(...given)),
    forget: (...given) => signed(memories.forget(...given)),
  };
}

/** `model` is the one to ask now: it may change. */
export function openExtractor(learning: Learning, model: () => LearningModel): Extractor {
  return { ...openModelExtractor(learning, model, randomUUID), asked: openAskedExtractor(learning) };
}

/**
 * Cues in the background: one batch, for the first of the stores that has memories without and may be written to, so that one undo
 * reverts it. A store in a repository, or the team's, gets none.
 */
export async function enrichBeside(memdir: Memdir, model: LearningModel, signal: AbortSignal): Promise<void> {
  const { directory: main, ledger } = openLearning(memdir);
  const { learn, disabled } = memdir.config;
  if (disabled !== null) return;
  for (const directory of memdir.directories) {
    const { mode } = learn;
    // What others read too is a person's to change, and only the inbox of the main store is looked into.
    const mayPropose = mode === "inbox" && directory === main;
    if (directory.readOnly || isShared(directory) || (mode !== "auto" && !mayPropose)) continue;
    const poor = await findPoor(directory, main.path);
    const release = poor.length > 0 ? directory.state().lock("cues.lock").try() : null;
    if (!release) continue;
    try {
      const inbox = mode === "inbox" ? openInbox(directory, directory) : null;
      const budget = () => checkBudget(ledger, learn, null);
      const files = poor.map(({ file }) => file);
      const options = { maxBatches: 1, isBackground: true, log: directory.log, signal };
      const { usage, stopped } = await enrich({ directory, ledger, budget, inbox, ...options }, model, files);
      if (stopped !== null) ledger.skip("enrich", null, stopped);
      if (stopped !== null || !usedNothing(usage)) return;
    } finally {
      release();
    }
  }
}

/** Without a model. The sentence model is opened when there is something to read. */
export function openOfflineExtractor(memdir: Memdir, learning: Learning): Extractor {
  const find = async () => (memdir.config.meaning ? (await import("./meaning/meaning.ts")).findEmbed() : null);
  return openRulesExtractor(learning, find);
}

/** What an agent learns with beside its sessions; null when the user wants none of it. */
export function openLearner(memdir: Memdir): ((options: LearnerOptions) => SessionLearner) | null {
  const learning = openLearning(memdir);
  const { mode } = learning;
  const { learn, claudeDir, disabled } = memdir.config;
  if (mode === "off" || mode === "read-only" || disabled !== null) return null;
  const configDir = join(claudeDir, "session-memory", "config");
  return ({ session, sessionsDir, model, tell }) =>
    openSessionLearner(learning, openExtractor(learning, model), {
      notes: { model, sessionsDir, session, configDir },
      takesNotes: learn.notes,
      tell,
    });
}
