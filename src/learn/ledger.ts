/** The ledger: what every background call cost and produced, and why others did not run; one JSON line each. */

import { NO_USAGE, type Usage } from "../model/ask.ts";
import { openState } from "../store/store.ts";
import type { World } from "../world.ts";
import { type Prices, type Sum, sumUp } from "./prices.ts";

export const SPENT_KINDS = ["extraction", "notes", "dream", "enrich", "recall"] as const;
export type SpentKind = (typeof SPENT_KINDS)[number];

/** One background call. Its texts are the program's own words, never those of a conversation. */
export interface Spent {
  /** ISO time. */
  at: string;
  kind: SpentKind;
  session: string | null;
  /** As MEMDIR_MODEL names it, with the provider; "" if none was asked. */
  model: string;
  usage: Usage;
  /** "2 saved, 1 updated". */
  produced: string;
  /** Why nothing ran, else null. */
  skipped: string | null;
}

/** None of it throws. */
export interface Ledger {
  /** On disk when this returns; what the disk does not take waits in memory, is counted, and goes with the next entry. */
  spend(entry: Spent): void;
  /** Not flushed: at the end of most turns nothing runs, and nobody should wait for the disk to learn that. */
  skip(kind: SpentKind, session: string | null, reason: string): void;
  /** In the order they were written, newest last; of a very large ledger only its end. */
  entries(filter?: { since?: Date; session?: string }): Spent[];
  /** The user's local day. */
  today(): Sum;
  /** Why spending cannot be counted, and how to fix it; else null. */
  problem(): string | null;
}

/** A reason is a sentence. */
const MAX_TEXT_CHARS = 500;
/** A disk that takes nothing must not fill the memory. */
const MAX_WAITING = 200;

/** Of the memory directory `dir`, which need not exist. `prices` are the user's own. */
export function openLedger(dir: string, world: Pick<World, "now" | "log">, prices: Prices = {}): Ledger {
  const lines = openState(dir, { parents: true }).log("ledger.jsonl", parseSpent);
  let waiting: Spent[] = [];
  let lastLogged: string | null = null;

  const tell = (message: string): string => {
    if (message !== lastLogged) world.log(message);
    lastLogged = message;
    return message;
  };
  const write = (entry: Spent, flush: boolean) => {
    // An entry of no day would never be counted.
    const at = Number.isNaN(Date.parse(entry.at)) ? world.now().toISOString() : entry.at;
    waiting.push(tidy({ ...entry, at }));
    try {
      lines.append(waiting, { flush });
      waiting = [];
      lastLogged = null;
    } catch (error) {
      tell((error as Error).message);
      // Skips go first: what was spent must stay counted.
      if (waiting.length > MAX_WAITING) waiting = waiting.filter(isCall).slice(-MAX_WAITING);
    }
  };
  const entries: Ledger["entries"] = ({ since, session } = {}) => {
    const from = since?.getTime() ?? Number.NEGATIVE_INFINITY;
    const isBefore = (entry: Spent) => Date.parse(entry.at) < from;
    // Most lines are of other sessions: they need not be parsed.
    const mark = session === undefined ? "" : JSON.stringify(session);
    const written = lines.tail({ mark, isEnough: (chunk) => chunk.every(isBefore), broken: tell });
    return [...written, ...waiting].filter(
      (entry) => !isBefore(entry) && (session === undefined || entry.session === session),
    );
  };

  return {
    spend: (entry) => write(entry, true),
    skip(kind, session, reason) {
      const at = world.now().toISOString();
      write({ at, kind, session, model: "", usage: NO_USAGE, produced: "", skipped: reason }, false);
    },
    entries,
    today() {
      const now = world.now();
      // An entry from a clock that ran ahead belongs to the day it names.
      const end = startOfDay(now, 1).getTime();
      const calls = entries({ since: startOfDay(now) }).filter((entry) => isCall(entry) && Date.parse(entry.at) < end);
      return sumUp(calls, prices);
    },
    problem() {
      try {
        lines.check();
        return null;
      } catch (error) {
        return tell((error as Error).message);
      }
    },
  };
}

/** Midnight where the user is, so many days later. */
export function startOfDay(now: Date, days = 0): Date {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + days);
}

function isCall(entry: Spent): boolean {
  return entry.skipped === null;
}

/** Null for what is no entry: of a later version, or edited by hand. */
function parseSpent(value: unknown): Spent | null {
  const { kind, at } = value as Partial<Spent>;
  if (!SPENT_KINDS.includes(kind as SpentKind) || Number.isNaN(Date.parse(String(at)))) return null;
  return tidy(value as Spent);
}

/** An entry as it should be, whatever it is made of: sums are made of it. */
function tidy({ at, kind, session, model, usage, produced, skipped }: Spent): Spent {
  return {
    at: String(at),
    kind,
    session: typeof session === "string" ? session : null,
    model: text(model),
    usage: {
      input: amount(usage?.input),
      output: amount(usage?.output),
      cacheRead: amount(usage?.cacheRead),
      cacheWrite: amount(usage?.cacheWrite),
    },
    produced: text(produced),
    skipped: typeof skipped === "string" ? text(skipped) : null,
  };
}

function text(value: unknown): string {
  return typeof value === "string" ? value.slice(0, MAX_TEXT_CHARS).toWellFormed() : "";
}

function amount(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}
