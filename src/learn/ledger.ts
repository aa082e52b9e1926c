/** The ledger: what every background call cost and produced, and why others did not run; one JSON line each. And how much they may cost. */

import { type Usage, usedNothing } from "../model/ask.ts";
import { type Prices, type Sum, sumUp, TOKEN_KINDS } from "../model/cost.ts";
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
export type Ledger = ReturnType<typeof openLedger>;

/** A reason is a sentence. */
const MAX_TEXT_CHARS = 500;
/** A full disk must not fill the memory. */
const MAX_WAITING = 200;
/** Lines of several processes may change places with so many others. */
const OUT_OF_ORDER = 200;

/** Of the memory directory `dir`, which need not exist. `prices` are the user's own. */
export function openLedger(dir: string, world: Pick<World, "now" | "log">, prices: Prices = {}) {
  const lines = openState(dir, { parents: true }).log("ledger.jsonl", parseSpent);
  let waiting: Spent[] = [];
  let lastLogged: string | null = null;

  const tell = (message: string): string => {
    if (message !== lastLogged) world.log(message);
    lastLogged = message;
    return message;
  };
  const write = (entry: Entry, flush: boolean) => {
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
  const entries = ({ since, session }: { since?: Date; session?: string } = {}): Spent[] => {
    const from = since?.getTime() ?? Number.NEGATIVE_INFINITY;
    const isBefore = (entry: Spent) => Date.parse(entry.at) < from;
    // Most lines are of other sessions: they need not be parsed.
    const mark = session === undefined ? "" : JSON.stringify(session);
    const isEnough = (values: readonly Spent[]) => values.slice(0, OUT_OF_ORDER).every(isBefore);
    const written = lines.tail({ mark, isEnough, broken: tell });
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
    /** On disk when this returns; an entry that cannot be written stays in memory, is counted, and is written with the next one. */
    spend: (entry: Omit<Spent, "at" | "skipped"> & Partial<Spent>) => write(entry, true),
    /** Not flushed: after most turns nothing runs, which is not worth waiting for the disk. */
    skip: (kind: SpentKind, session: string | null, skipped: string) => write({ kind, session, skipped }, false),
    /** Nothing more is asked of the model today, for this reason; until it answers again, by hand. */
    endDay: (kind: SpentKind, session: string | null, model: string, skipped: string) =>
      write({ kind, session, model, skipped, endsDay: true }, true),
    /** Why the provider's models are asked nothing more today, else null. */
    ended(provider: string): string | null {
      const of = ofToday().filter(({ model }) => model.split("/")[0] === provider);
      // What failed is noted, too, after the end: only what was answered was used.
      const last = of.findLast((entry) => entry.endsDay || (isCall(entry) && !usedNothing(entry.usage)));
      return last?.endsDay ? last.skipped : null;
    },
    /** In the order they were written, newest last; only the end of a very large ledger. */
    entries,
    /** The user's local day. */
    today: (): Sum => sumUp(ofToday().filter(isCall), prices),
    /** Why spending cannot be counted, and how to fix it; else null. */
    problem(): string | null {
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

type Entry = Partial<Spent> & Pick<Spent, "kind">;

/** A valid entry from any input, because entries are summed up. */
function tidy(entry: Entry): Spent {
  const { at, kind, session, skipped, usage } = entry;
  return {
    ...{ at: String(at), kind, session: typeof session === "string" ? session : null, model: text(entry.model) },
    usage: Object.fromEntries(TOKEN_KINDS.map((kind) => [kind, amount(usage?.[kind])])) as unknown as Usage,
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

/*
 * How much background work may cost: checked before each of its calls, never in the foreground. Nothing is reserved
 * while a call runs, so each running process may exceed a limit by one call.
 */

export interface Limits {
  /** Tokens as `countTokens` counts them. A limit of 0 stops all background calls, Infinity none. */
  tokensPerDay: number;
  tokensPerSession: number;
  /** In the currency of the prices; null for no such limit. */
  costPerDay: number | null;
  /** What would be asked, if a setting names it. */
  model?: string | null;
}

export type BudgetAnswer = { ok: true } | { ok: false; reason: string };

/** Must not throw. The reason is for the ledger: it names the limit and how much of it is used. */
export function checkBudget(ledger: Ledger, limits: Limits, session: string | null): BudgetAnswer {
  const { tokensPerDay, tokensPerSession, costPerDay } = limits;
  const no = (reason: string) => ({ ok: false as const, reason });
  // Spending that cannot be counted cannot be limited.
  const problem = ledger.problem();
  if (problem !== null) return no(problem);
  const ended = limits.model ? ledger.ended(limits.model.split("/")[0]!.toLowerCase()) : null;
  if (ended !== null) return no(`no more background work today: ${ended}`);
  const { tokens, cost, unpriced } = ledger.today();
  if (tokens >= tokensPerDay)
    return no(`the daily budget is used up: ${tokens} of ${tokensPerDay} tokens (learn.tokensPerDay)`);
  if (costPerDay !== null && cost === null)
    return no(`the cost per day is limited, but there is no price for ${unpriced.join(", ")}: set it in learn.prices`);
  if (costPerDay !== null && cost !== null && cost >= costPerDay)
    return no(`the daily budget is used up: ${cost.toFixed(4)} of ${costPerDay} spent (learn.costPerDay)`);
  const spent = session === null ? Number.NEGATIVE_INFINITY : sumUp(ledger.entries({ session })).tokens;
  if (spent < tokensPerSession) return { ok: true };
  return no(`the session's budget is used up: ${spent} of ${tokensPerSession} tokens (learn.tokensPerSession)`);
}

/** Tokens that background work may still take today. */
export function tokensLeft(ledger: Ledger, limits: Limits): number {
  return Math.max(0, limits.tokensPerDay - ledger.today().tokens);
}
