/** Keeps what an extraction writes: each draft is checked, made a proposal and handed on, and what became of it is remembered. */

import { isFinal } from "./apply.ts";
import { checkDraft, type Draft, type DraftWorld } from "./extraction-draft.ts";
import type { Proposal } from "./proposal.ts";

/**
 * Writes a proposal or puts it into the inbox, as the scope's mode says; with the action "refused" the notices say why not.
 * `draft.file` is where the model wants it, `draft.base` what it changed: throws when that is no longer so, and when the disk
 * refuses. The same `proposal.id` again is another version of it.
 */
export type Keep = (
  proposal: Proposal,
  text: string,
  draft: Draft,
) => Promise<{ file: string; action: string; notices: string[] }>;

export interface Kept {
  file: string;
  /** The keeper's word: "created", "updated", "inbox". */
  action: string;
  proposal: Proposal;
}

interface KeeperWorld extends DraftWorld {
  newId: () => string;
  keep: Keep;
  isStopped: () => boolean;
}

interface Keeper {
  /** Throws with a reason for the model. */
  keep(draft: Draft): Promise<{ notices: string[] }>;
  /** Ends when nothing is being kept any more. */
  settle(): Promise<unknown>;
  saved(): Kept[];
  /** What our own rules forbid, and was not mended: the same again would be refused again. */
  refused(): string[];
  /** Why something that should have been kept was not, and may be the next time. */
  fault(): string | null;
}

export function openKeeper(world: KeeperWorld): Keeper {
  const pending = new Set<Promise<unknown>>();
  const ids = new Map<string, string>();
  const labels = new Map<string, string[]>();
  const saved = new Map<string, Kept>();
  const refused = new Map<string, string>();
  const faults = new Map<string, string>();

  const refuse = (file: string, reason: string): never => {
    refused.set(file, `${file}: ${reason}`);
    throw new Error(`${file} was not written: ${reason}`);
  };

  const hand = async (draft: Draft, proposal: Proposal, text: string) => {
    try {
      return await world.keep(proposal, text, draft);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (isFinal(error)) return refuse(draft.file, reason);
      faults.set(draft.file, `${draft.file} could not be kept: ${reason}`);
      throw error;
    }
  };

  const keep = async (draft: Draft): Promise<{ notices: string[] }> => {
    const { file } = draft;
    const checked = await checkDraft(world, draft, labels.get(file));
    // Checking takes a while, and what was stopped meanwhile is not begun.
    if (world.isStopped()) throw new Error("stopped; nothing was written");
    if (!checked.ok) return refuse(file, checked.reason);
    const id = ids.get(file) ?? world.newId();
    ids.set(file, id);
    const proposal: Proposal = { id, ...checked.proposal };
    const kept = await hand(draft, proposal, checked.text);
    if (kept.action === "refused") return refuse(file, kept.notices.join("; ") || "it is not wanted");
    labels.set(file, checked.labels);
    refused.delete(file);
    faults.delete(file);
    const earlier = saved.get(id);
    // A memory that was made and mended in one run was made.
    if (earlier) earlier.proposal = { ...proposal, action: earlier.proposal.action, file: earlier.proposal.file };
    else if (kept.action !== "unchanged") saved.set(id, { file: kept.file, action: kept.action, proposal });
    const elsewhere = kept.file === file ? [] : [`it is kept as ${kept.file}`];
    return { notices: [...elsewhere, ...kept.notices, ...checked.notices] };
  };

  return {
    keep(draft) {
      const keeping = keep(draft);
      const done: Promise<unknown> = keeping.catch(() => {}).finally(() => pending.delete(done));
      pending.add(done);
      return keeping;
    },
    settle: () => Promise.all(pending),
    saved: () => [...saved.values()],
    refused: () => [...refused.values()],
    fault: () => [...faults.values()][0] ?? null,
  };
}
