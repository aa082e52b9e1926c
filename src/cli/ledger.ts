/** `memdir ledger`: what background work cost, why some did not run, and what is left of its budget today. */

import { type Limits, tokensLeft } from "../learn/budget.ts";
import { costOf, countTokens, type Ledger, type Prices, type Spent, startOfDay } from "../learn/ledger.ts";
import { openLearning } from "../open-learn.ts";
import type { LearnConfig } from "../settings.ts";
import { plainLine } from "../text/sanitise.ts";
import { answer, type Call, columnsOf, count, numberOf, type Run, warning } from "./command.ts";
import type { Paint } from "./terminal.ts";

const DEFAULT_DAYS = 7;
/** A few screenfuls; --json has all. */
const MAX_ROWS = 200;

export const ledger: Run = async (call) => {
  const days = numberOf(call, "days", { min: 1, max: 99_999 }) ?? DEFAULT_DAYS;
  const memdir = await call.open();
  const { learn } = memdir.config;
  const { directory, ledger } = openLearning(memdir);
  const problem = ledger.problem();
  if (problem !== null) warning(call, [plainLine(problem)]);
  const entries = ledger.entries({ since: startOfDay(directory.now(), 1 - days) });
  return answer(call, answerOf(ledger, learn, entries), () => [
    ...viewRows(call, entries, learn.prices, days),
    ...viewToday(ledger, learn, call.terminal.color),
  ]);
};

function answerOf(ledger: Ledger, learn: LearnConfig, entries: readonly Spent[]) {
  const { tokens, cost, calls } = ledger.today();
  const { tokensPerDay, tokensPerSession } = learn;
  return {
    today: { tokens, cost, calls },
    budget: { tokensPerDay, tokensPerSession, left: tokensLeft(ledger, learn) },
    entries: entries.map((entry) => ({
      ...entry,
      tokens: countTokens(entry.usage),
      cost: entry.skipped === null ? costOf(entry.model, entry.usage, learn.prices) : 0,
    })),
  };
}

function viewRows({ terminal: { color } }: Call, entries: readonly Spent[], prices: Prices, days: number): string[] {
  const rows = foldSkips(entries);
  if (rows.length === 0)
    return [days === 1 ? "No background work today." : `No background work in the last ${days} days.`];
  const hidden = rows.length - MAX_ROWS;
  const shown = rows.slice(-MAX_ROWS);
  const cells = shown.map(({ entry, times }) => cellsOf(entry, times, prices));
  const [head = "", ...lines] = columnsOf([["when", "what", "session", "tokens", "cost", "outcome"], ...cells], [3, 4]);
  return [
    ...(hidden > 0 ? [color.dim(`${hidden} earlier ones are left out; --json shows all.`)] : []),
    color.dim(head),
    ...lines.map((line, at) => (shown[at]?.entry.skipped === null ? line : color.dim(line))),
  ];
}

interface Row {
  entry: Spent;
  times: number;
}

/** At the end of most turns nothing runs, for the same reason as at the one before: a run of them is one row. */
function foldSkips(entries: readonly Spent[]): Row[] {
  const rows: Row[] = [];
  for (const entry of entries) {
    const last = rows.at(-1);
    if (last && entry.skipped !== null && isLike(entry, last.entry)) {
      rows[rows.length - 1] = { entry, times: last.times + 1 };
    } else rows.push({ entry, times: 1 });
  }
  return rows;
}

function isLike(a: Spent, b: Spent): boolean {
  return a.kind === b.kind && a.session === b.session && a.skipped === b.skipped;
}

function cellsOf(entry: Spent, times: number, prices: Prices): string[] {
  const { at, kind, session, model, usage, produced, skipped } = entry;
  const start = [localMinute(at), kind, plainLine(session ?? "-").slice(0, 8)];
  if (skipped !== null)
    return [...start, "-", "-", `skipped: ${plainLine(skipped)}${times === 1 ? "" : ` (${times} times)`}`];
  const outcome = [plainLine(produced), plainLine(model)].filter(Boolean).join(", ");
  return [...start, grouped(countTokens(usage)), costText(costOf(model, usage, prices)), outcome];
}

/** Days are the user's, so the times are too. */
function localMinute(at: string): string {
  const date = new Date(at);
  const two = (part: number) => String(part).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** For the console's `/cost`, too. `models`: others without a price that the same screen tells of. */
export function viewToday(ledger: Ledger, limits: Limits, color: Paint, models: readonly string[] = []): string[] {
  const { tokens, cost, calls, unpriced } = ledger.today();
  const left = tokensLeft(ledger, limits);
  const unknown = [...new Set([...models, ...unpriced])].map(plainLine).join(", ");
  return [
    color.bold(`Today: ${count(calls, "call")}, ${grouped(tokens)} tokens, cost ${costText(cost)}`),
    `Left today: ${grouped(left)} of ${grouped(limits.tokensPerDay)} tokens${left === 0 ? STOPPED : ""}`,
    ...(limits.costPerDay === null ? [] : [`Cost per day: at most ${limits.costPerDay}`]),
    color.dim(`A session may take ${grouped(limits.tokensPerSession)}. Cached input counts a tenth.`),
    ...(unknown === "" ? [] : [color.dim(`No price is known for ${unknown}: set learn.prices in memdir.json.`)]),
  ];
}

const STOPPED = "; background work is stopped until midnight";

export function costText(cost: number | null): string {
  if (cost === null) return "unknown";
  return cost === 0 ? "0" : cost < 0.0001 ? "<0.0001" : cost.toFixed(4);
}

export function grouped(count: number): string {
  return Number.isFinite(count) ? count.toLocaleString("en-US") : "unlimited";
}
