/** `ledger`: what background work cost, why some did not run, and what is left of its budget today. */

import { type Spent, startOfDay, tokensLeft } from "../learn/ledger.ts";
import type { Memdir } from "../memdir.ts";
import { costOf, countTokens } from "../model/cost.ts";
import { openLearning } from "../open-learn.ts";
import { localDay } from "../text/local-day.ts";
import { bold, count, dim, type Line, number, type Said, type Span, verb } from "../verb.ts";

const DEFAULT_DAYS = 7;
/** A few screenfuls; --json has all. */
const MAX_ROWS = 200;

export const ledger = verb({
  args: [],
  input: { days: number("how many days to show, including today (default: 7)", { min: 1, max: 99_999 }) },
  about:
    "Lists every background call to a model: what it cost, why some did not run, and what is left of today's budget. " +
    "See `memdir history` for what memdir changed, and `memdir log` for what happened in the project.",
  examples: ["ledger --days 1"],
  async run(memdir, { days = DEFAULT_DAYS }) {
    const { prices } = memdir.config.learn;
    const { directory, ledger } = openLearning(memdir);
    const entries = ledger.entries({ since: startOfDay(directory.now(), 1 - days) }).map((entry) => ({
      ...entry,
      tokens: countTokens(entry.usage),
      cost: entry.skipped === null ? costOf(entry.model, entry.usage, prices) : 0,
    }));
    return { today: readToday(memdir), entries };
  },
  json({ today: { tokens, cost, calls, limits, left }, entries }) {
    const { tokensPerDay, tokensPerSession } = limits;
    return { today: { tokens, cost, calls }, budget: { tokensPerDay, tokensPerSession, left }, entries };
  },
  say: ({ today, entries }, { input: { days = DEFAULT_DAYS } }) => [...sayEntries(entries, days), ...sayToday(today)],
});

type Today = ReturnType<typeof readToday>;

/** Also for the console's `/cost`. */
export function readToday(memdir: Memdir) {
  const { ledger } = openLearning(memdir);
  const limits = memdir.config.learn;
  return { ...ledger.today(), limits, left: tokensLeft(ledger, limits), problem: ledger.problem() };
}

/** `models`: others without a price that the same screen shows. */
export function sayToday({ tokens, cost, calls, unpriced, limits, left, problem }: Today, models: string[] = []): Said {
  const unknown = [...new Set([...models, ...unpriced])].join(", ");
  return [
    ...(problem === null ? [] : [{ warning: problem }]),
    bold(`Today: ${count(calls, "call")}, ${grouped(tokens)} tokens, cost ${costText(cost)}`),
    `Left today: ${grouped(left)} of ${grouped(limits.tokensPerDay)} tokens${left === 0 ? STOPPED : ""}`,
    ...(limits.costPerDay === null ? [] : [`Cost per day: at most ${limits.costPerDay}`]),
    dim(`A session may take ${grouped(limits.tokensPerSession)}. Cached input counts a tenth.`),
    ...(unknown === "" ? [] : [dim(`No price is known for ${unknown}: set learn.prices in memdir.json.`)]),
  ];
}

const STOPPED = "; background work is stopped until midnight";

type Entry = Spent & { tokens: number; cost: number | null };
type Folded = Entry & { times: number };

function sayEntries(entries: readonly Entry[], days: number): Line[] {
  const rows = foldSkips(entries);
  if (rows.length === 0)
    return [days === 1 ? "No background work today." : `No background work in the last ${days} days.`];
  const hidden = rows.length - MAX_ROWS;
  const head = ["when", "what", "session", "tokens", "cost", "outcome"].map(dim);
  return [
    ...(hidden > 0 ? [dim(`${hidden} earlier ones are left out; --json shows all.`)] : []),
    { rows: [head, ...rows.slice(-MAX_ROWS).map(cellsOf)], right: [3, 4] },
  ];
}

/** At the end of most turns nothing runs, for the same reason as at the one before: a run of them is one row. */
function foldSkips(entries: readonly Entry[]): Folded[] {
  const rows: Folded[] = [];
  for (const entry of entries) {
    const last = rows.at(-1);
    const isLike = (["kind", "session", "skipped"] as const).every((field) => entry[field] === last?.[field]);
    if (last && isLike && entry.skipped !== null) rows[rows.length - 1] = { ...entry, times: last.times + 1 };
    else rows.push({ ...entry, times: 1 });
  }
  return rows;
}

function cellsOf({ at, kind, session, model, produced, skipped, tokens, cost, times }: Folded): Span[] {
  const start = [localMinute(at), kind, (session ?? "-").slice(0, 8)];
  if (skipped !== null)
    return [...start, "-", "-", `skipped: ${skipped}${times === 1 ? "" : ` (${times} times)`}`].map(dim);
  return [...start, grouped(tokens), costText(cost), [produced, model].filter(Boolean).join(", ")];
}

/** Days are the user's, so the times are too. */
function localMinute(at: string): string {
  const date = new Date(at);
  return `${localDay(date)} ${date.toTimeString().slice(0, 5)}`;
}

export function costText(cost: number | null): string {
  if (cost === null) return "unknown";
  return cost === 0 ? "0" : cost < 0.0001 ? "<0.0001" : cost.toFixed(4);
}

export function grouped(count: number): string {
  return Number.isFinite(count) ? count.toLocaleString("en-US") : "unlimited";
}
