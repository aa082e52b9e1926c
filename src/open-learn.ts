/** The composition root of learning: a Memdir and a model, in; what extraction needs, out. */

import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { AgentModel, LearnerOptions } from "./agent/state.ts";
import { approximateTokens } from "./context/window.ts";
import { MemdirError } from "./errors.ts";
import { applyProposal } from "./learn/apply.ts";
import { applyAll } from "./learn/apply-all.ts";
import { checkBudget } from "./learn/budget.ts";
import type { ExtractionWorld } from "./learn/extraction.ts";
import { takeExtractionLock } from "./learn/extraction-lock.ts";
import { type Inbox, openInbox } from "./learn/inbox.ts";
import { type Ledger, openLedger } from "./learn/ledger.ts";
import { extractByRules } from "./learn/rules.ts";
import { openSessionLearner, type SessionLearner } from "./learn/session-learner.ts";
import type { LearnMode } from "./learn-config.ts";
import type { Memdir } from "./memdir.ts";
import { formatManifest } from "./recall/select.ts";
import type { Directory } from "./store/store.ts";

export interface Learning {
  directory: Directory;
  /** Of the scope that is written to. */
  mode: LearnMode;
  ledger: Ledger;
  inbox: Inbox;
}

export function openLearning(memdir: Memdir): Learning {
  const [directory] = memdir.directories;
  if (!directory) throw new MemdirError("not-found", "there is no memory directory here");
  const { learn } = memdir.config;
  return {
    directory,
    mode: directory.scope === "team" ? learn.teamMode : learn.mode,
    ledger: openLedger(directory.path, directory, learn.prices),
    inbox: openInbox(directory, directory),
  };
}

/** `session`: whose budget it goes to. */
export function openExtraction(
  memdir: Memdir,
  learning: Learning,
  model: AgentModel,
  session: string,
): ExtractionWorld {
  const { directory, mode, ledger, inbox } = learning;
  const { learn } = memdir.config;
  /** Where each draft waits, so that a mended one takes its place. */
  const waiting = new Map<string, string>();
  return {
    get ask() {
      return model.ask;
    },
    get model() {
      return `${model.provider}/${model.name}`;
    },
    now: directory.now,
    newId: randomUUID,
    log: directory.log,
    memory: {
      dir: directory.path,
      manifest: async () =>
        formatManifest((await memdir.list()).filter(({ scope }) => scope === directory.scope)).manifest,
    },
    gates: () => ({
      enabled: memdir.config.disabled === null,
      mode,
      everyTurns: learn.everyTurns,
      budget: checkBudget(ledger, learn, session),
    }),
    keep: async (proposal, _, draft) => {
      const applied = await applyProposal(memdir, inbox, proposal, mode, draft.base);
      const { done, file, reason } = applied;
      const earlier = waiting.get(proposal.id);
      if (applied.isAdded && applied.id) waiting.set(proposal.id, applied.id);
      // A person may have decided on it meanwhile.
      if (applied.isAdded && earlier) await inbox.accept(earlier).catch(() => {});
      return { file: file ?? draft.file, action: done, notices: reason === undefined ? [] : [reason] };
    },
    ledger,
    lock: (name) => takeExtractionLock(directory, name),
  };
}

/** What an agent learns with beside its sessions; null when the user wants none of it. */
export function openLearner(memdir: Memdir): ((options: LearnerOptions) => SessionLearner) | null {
  const learning = openLearning(memdir);
  const { mode, ledger, inbox, directory } = learning;
  if (mode === "off" || mode === "read-only" || memdir.config.disabled !== null) return null;
  return ({ session, sessionsDir, model, tell }) => {
    const live = followModel(model);
    return openSessionLearner({
      session,
      extraction: openExtraction(memdir, learning, live, session),
      notes: {
        get ask() {
          return live.ask;
        },
        get maxTokens() {
          return live.maxTokens;
        },
        sessionsDir,
        session,
        configDir: join(memdir.config.claudeDir, "session-memory", "config"),
        countTokens: approximateTokens,
        log: directory.log,
      },
      takesNotes: memdir.config.learn.notes,
      ledger,
      keepExplicit: async (said) => {
        const proposals = await extractByRules([{ ...said, role: "user" }], await memdir.list(), session);
        return (await applyAll(memdir, inbox, proposals, mode)).saved;
      },
      waiting: () => inbox.list().length,
      tell,
    });
  };
}

/** The one that is asked now, whichever that is. */
function followModel(model: () => AgentModel): AgentModel {
  return {
    get ask() {
      return model().ask;
    },
    get name() {
      return model().name;
    },
    get provider() {
      return model().provider;
    },
    get windowTokens() {
      return model().windowTokens;
    },
    get maxTokens() {
      return model().maxTokens;
    },
    get cutoff() {
      return model().cutoff;
    },
  };
}
