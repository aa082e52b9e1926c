/** The composition root of learning: a Memdir and a model, in; what extraction needs, out. */

import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { LearnerOptions } from "./agent/state.ts";
import { approximateTokens } from "./context/window.ts";
import { MemdirError } from "./errors.ts";
import { checkBudget } from "./learn/budget.ts";
import { openInbox } from "./learn/inbox.ts";
import type { Extractor, Learning } from "./learn/learn.ts";
import { openLedger } from "./learn/ledger.ts";
import { type LearningModel, openModelExtractor } from "./learn/model-extractor.ts";
import { openRulesExtractor } from "./learn/rules.ts";
import { openSessionLearner, type SessionLearner } from "./learn/session-learner.ts";
import type { Memdir } from "./memdir.ts";
import { formatManifest } from "./recall/select.ts";
import type { HeardSession } from "./session/transcripts.ts";

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
    inbox: openInbox(directory, directory),
    gates: (session) => ({
      enabled: disabled === null,
      everyTurns: learn.everyTurns,
      budget: checkBudget(ledger, learn, session),
    }),
  };
}

/** `model` is the one to ask now: it may change. */
export function openExtractor({ store, directory }: Learning, model: () => LearningModel): Extractor {
  const manifest = async () =>
    formatManifest((await store.list()).filter(({ scope }) => scope === directory.scope)).manifest;
  return openModelExtractor({ now: directory.now, newId: randomUUID }, model, { dir: directory.path, manifest });
}

/** Without a model. The sentence model is opened when there is something to read. */
export function openOfflineExtractor(memdir: Memdir, learning: Learning, prompts: HeardSession["prompts"]): Extractor {
  const find = async () => (memdir.config.meaning ? (await import("./meaning/meaning.ts")).findEmbed() : null);
  return openRulesExtractor(learning, prompts, find);
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
      notes: { model, sessionsDir, session, configDir, countTokens: approximateTokens },
      takesNotes: learn.notes,
      tell,
    });
}
