/** The composition root of learning: a Memdir and a model, in; what extraction needs, out. */

import { randomUUID } from "node:crypto";
import type { AgentModel } from "./agent/world.ts";
import { MemdirError } from "./errors.ts";
import { applyProposal } from "./learn/apply.ts";
import { checkBudget } from "./learn/budget.ts";
import type { ExtractionWorld } from "./learn/extraction.ts";
import { type Inbox, openInbox } from "./learn/inbox.ts";
import { type Ledger, openLedger } from "./learn/ledger.ts";
import type { LearnMode } from "./learn-config.ts";
import type { Memdir } from "./memdir.ts";
import { type Directory, statePath } from "./memory/directory.ts";
import { formatManifest } from "./recall/manifest.ts";

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
    ledger: openLedger({ file: statePath(directory, "ledger.jsonl"), prices: learn.prices }, directory),
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
  return {
    ask: model.ask,
    model: `${model.provider}/${model.name}`,
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
      const { done, file, reason } = await applyProposal(memdir, inbox, proposal, mode);
      return { file: file ?? draft.file, action: done, notices: reason === undefined ? [] : [reason] };
    },
    ledger,
  };
}
