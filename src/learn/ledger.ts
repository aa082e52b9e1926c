/** The ledger: what every background call cost and produced, and why others did not run; one JSON line each. */

import type { Price } from "../config.ts";
import { NO_USAGE, type Usage, usedNothing } from "../model/ask.ts";
import { openState } from "../store/store.ts";
import type { World } from "../world.ts";

export const SPENT_KINDS = ["extraction", "notes", "dream", "enrich", "recall", "check"] as const;
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
  /** The model cannot be asked again today: its client is logged out or has reached a limit. */
  endsDay?: true;
}

/** None of it throws. */
export interface Ledger {
  /**
   * On disk when this returns; an entry that cannot be written stays in memory, is counted, and is written with the
   * next one.
   */
  spend(entry: Omit<Spent, "at" | "skipped"> & Partial<Spent>): void;
  /** Not flushed: after most turns nothing runs, which is not worth waiting for the disk. */
  skip(kind: SpentKind, session: string | null, reason: string): void;
  /** Nothing more is asked of the model today, for this reason; until it answers again, by hand. */
  endDay(kind: SpentKind, session: string | null, model: string, reason: string): void;
  /** Why the provider's models are asked nothing more today, else null. */
  ended(provider: string): string | null;
  /** In the order they were written, newest last; only the end of a very large ledger. */
  entries(filter?: { since?: Date; session?: string }): Spent[];
  /** The user's local day. */
  today(): Sum;
  /** Why spending cannot be counted, and how to fix it; else null. */
  problem(): string | null;
}

const KINDS = ["input", "output", "cacheRead", "cacheWrite"] as const;
/** A reason is a sentence. */
const MAX_TEXT_CHARS = 500;
/** A full disk must not fill the memory. */
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
  const write = (entry: Parameters<Ledger["spend"]>[0], flush: boolean) => {
    // An entry of no day would never be counted.
    const at = Number.isNaN(Date.parse(entry.at ?? "")) ? world.now().toISOString() : entry.at;
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

  const ofToday = () => {
    const now = world.now();
    // An entry from a clock that ran ahead belongs to the day it names.
    const end = startOfDay(now, 1).getTime();
    return entries({ since: startOfDay(now) }).filter(({ at }) => Date.parse(at) < end);
  };

  return {
    spend: (entry) => write(entry, true),
    skip: (kind, session, reason) =>
      write({ kind, session, model: "", usage: NO_USAGE, produced: "", skipped: reason }, false),
    endDay: (kind, session, model, reason) =>
      write({ kind, session, model, usage: NO_USAGE, produced: "", skipped: reason, endsDay: true }, true),
    ended(provider) {
      const of = ofToday().filter(({ model }) => model.split("/")[0] === provider);
      // What failed is noted, too, after the end: only what was answered was used.
      const last = of.findLast((entry) => entry.endsDay || (isCall(entry) && !usedNothing(entry.usage)));
      return last?.endsDay ? last.skipped : null;
    },
    entries,
    today: () => sumUp(ofToday().filter(isCall), prices),
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

/** Local midnight, this many days later. */
export function startOfDay(now: Date, days = 0): Date {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + days);
}

function isCall(entry: Spent): boolean {
  return entry.skipped === null;
}

/** Null for a line that is not an entry, from a later version or edited by hand. */
function parseSpent(value: unknown): Spent | null {
  const { kind, at } = value as Partial<Spent>;
  if (!SPENT_KINDS.includes(kind as SpentKind) || Number.isNaN(Date.parse(String(at)))) return null;
  return tidy(value as Spent);
}

/** A valid entry from any input, because entries are summed up. */
function tidy(entry: Partial<Spent> & Pick<Spent, "kind">): Spent {
  const { at, kind, session, skipped, usage } = entry;
  return {
    ...{ at: String(at), kind, session: typeof session === "string" ? session : null, model: text(entry.model) },
    usage: Object.fromEntries(KINDS.map((kind) => [kind, amount(usage?.[kind])])) as unknown as Usage,
    produced: text(entry.produced),
    skipped: typeof skipped === "string" ? text(skipped) : null,
    ...(entry.endsDay === true && { endsDay: true }),
  };
}

function text(value: unknown): string {
  return typeof value === "string" ? value.slice(0, MAX_TEXT_CHARS).toWellFormed() : "";
}

function amount(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}

export type { Price };

/**
 * Per million tokens. No provider's price is built in: they change without notice, and a wrong sum is worse than none.
 * By model as MEMDIR_MODEL names it, `anthropic/claude-*`; a star stands for any text. The most specific pattern wins.
 */
export type Prices = Readonly<Record<string, Price>>;

interface Sum {
  tokens: number;
  /** Null when a model was used whose price is unknown. */
  cost: number | null;
  calls: number;
  /** The models without a price. */
  unpriced: string[];
}

const FREE: Price = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

/** Models on the user's own machine cost nothing by the token; the user's prices come before these. */
export const BUILT_IN_PRICES: Prices = { "ollama/*": FREE };

const PRICED_TOKENS = 1_000_000;
/** A cached token costs about a tenth of a fresh one, and forks read little else. */
const CACHED_SHARE = 0.1;

/** Null: unknown, which must never be shown or added up as zero. */
export function costOf(model: string, usage: Usage, prices: Prices = {}): number | null {
  const price = findPrice(model, prices);
  return price && KINDS.reduce((sum, kind) => sum + usage[kind] * price[kind], 0) / PRICED_TOKENS;
}

/** What a budget counts of a call. */
export function countTokens({ input, output, cacheRead, cacheWrite }: Usage): number {
  return input + output + cacheWrite + Math.ceil(cacheRead * CACHED_SHARE);
}

export function sumUp(calls: readonly { model: string; usage: Usage }[], prices: Prices = {}): Sum {
  const sum: Sum = { tokens: 0, cost: 0, calls: calls.length, unpriced: [] };
  for (const { model, usage } of calls) {
    const cost = costOf(model, usage, prices);
    sum.tokens += countTokens(usage);
    sum.cost = cost === null || sum.cost === null ? null : sum.cost + cost;
    if (cost === null && !sum.unpriced.includes(model)) sum.unpriced.push(model);
  }
  return sum;
}

export function findPrice(model: string, prices: Prices = {}): Price | null {
  return findIn(model, prices) ?? findIn(model, BUILT_IN_PRICES);
}

function findIn(model: string, prices: Prices): Price | null {
  const said = (pattern: string) => (pattern.includes("*") ? pattern.replaceAll("*", "").length : Infinity);
  const fitting = Object.keys(prices).filter((pattern) => fits(model, pattern));
  const [best] = fitting.sort((a, b) => Math.sign(said(b) - said(a)) || 0);
  return best === undefined ? null : prices[best]!;
}

/** Matches piece by piece, each as early as possible: a regular expression with many stars could take forever. */
function fits(model: string, pattern: string): boolean {
  const [first = "", ...pieces] = pattern.split("*");
  const last = pieces.pop();
  if (last === undefined) return model === pattern;
  if (!model.startsWith(first)) return false;
  let at = first.length;
  for (const piece of pieces) {
    const found = model.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return model.length - last.length >= at && model.endsWith(last);
}
