/** Which memories a prompt is shown: ranked, without those that the session has seen, and cut where it is no longer sure enough. */

import { foreignShare, isReadable } from "../text/terms.ts";
import { MAX_MEMORIES, type RecallSession } from "./budget.ts";
import { sureEnough } from "./confidence.ts";
import { type Ranked, rank } from "./rank.ts";
import type { Resident } from "./resident-rows.ts";
import { type Method, queryTerms, type Signals } from "./score.ts";

export interface Asking extends Signals {
  prompt: string;
  /** The prompt's vector; null: by words only. */
  vector: Float32Array | null;
  nowMs: number;
  /** At most this many. Default: 5. */
  limit?: number;
  /** Files or paths to leave out. */
  exclude?: readonly string[];
  /** What this session was shown already. */
  session?: Pick<RecallSession, "surfaced">;
  /** Returns all memories in order, however uncertain. For measurements. */
  everything?: boolean;
  /** How many of the order are wanted beyond those that are shown. */
  orderLimit?: number;
}

export interface Choice {
  /** Sure enough to be shown, and some more in case that one has vanished. */
  ranked: Ranked[];
  method: Method;
  /** The order however unsure. */
  all: Ranked[];
  considered: number;
}

/** Some of the best may have vanished. */
const SPARE = 20;

/** Null when there is nothing to ask for. */
export function chooseMemories(resident: Resident, asking: Asking): Choice | null {
  const { nowMs, limit = MAX_MEMORIES, exclude = [], session, orderLimit = 0 } = asking;
  const prompt = asking.prompt.replaceAll("\0", " ").trim();
  if (prompt === "") return null;
  const terms = queryTerms(prompt, asking);
  // In scripts that neither the model nor its glossary reads, it would guess.
  const meaning = asking.vector && isReadable(prompt) ? { vector: asking.vector } : null;
  // Nothing but marks and stop words.
  if (terms.length === 0 && !meaning) return null;
  const wanted = limit + SPARE;
  const rankLimit = Math.max(orderLimit, wanted + exclude.length + (session?.surfaced.size ?? 0));
  const { order, method, considered } = rank(
    resident,
    { terms, meaning, foreign: foreignShare(prompt) },
    { nowMs, limit: rankLimit },
  );
  const all = order.filter((ranked) => !isExcluded(ranked.entry.file, pathOf(resident, ranked), asking));
  return { ranked: asking.everything ? all : sureEnough(all.slice(0, wanted), method), method, all, considered };
}

export function isExcluded(
  file: string,
  path: string,
  { exclude = [], session }: Pick<Asking, "exclude" | "session">,
): boolean {
  if (session?.surfaced.has(path)) return true;
  return exclude.some((each) => each === path || each === file || each === file.replace(/\.md$/, ""));
}

export function pathOf({ directories }: Resident, { owner, entry }: Pick<Ranked, "owner" | "entry">): string {
  return `${directories[owner]?.path}/${entry.file}`;
}
