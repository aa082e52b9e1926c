/** `memdir ledger`. */

import { MemdirError } from "../errors.ts";
import { tokensLeft } from "../learn/budget.ts";
import { costOf, countTokens, type Ledger, type Prices, type Spent, startOfDay } from "../learn/ledger.ts";
import type { LearnConfig } from "../learn-config.ts";
import { openLearning } from "../open-learn.ts";
import { plainLine } from "../text/sanitise.ts";
import type { Call, Run } from "./command.ts";
import { costText, grouped, viewToday } from "./money-view.ts";

const DEFAULT_DAYS = 7;
/** A few screenfuls; --json has all. */
const MAX_ROWS = 200;

export const run: Run = async (call) => {
  const days = daysOf(call);
  const memdir = await call.open();
  const { learn } = memdir.config;
  const { directory, ledger } = openLearning(memdir);
  const problem = ledger.problem();
  if (problem !== null) call.terminal.warn(`memdir: warning: ${plainLine(problem)}`);
  const entries = ledger.entries({ since: startOfDay(directory.now(), 1 - days) });
  if (call.json) {
    call.terminal.json(answerOf(ledger, learn, entries));
    return 0;
  }
  printRows(call, entries, learn.prices, days);
  for (const line of viewToday(ledger, learn, call.terminal.color)) call.terminal.print(line);
  return 0;
};

function daysOf(call: Call): number {
  const text = call.value("days");
  if (text === undefined) return DEFAULT_DAYS;
  if (!/^\d{1,5}$/.test(text) || Number(text) === 0) {
    throw new MemdirError("usage", `--days takes a whole number from 1, not "${plainLine(text)}"`);
  }
  return Number(text);
}

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

function printRows(call: Call, entries: readonly Spent[], prices: Prices, days: number): void {
  const { print, color } = call.terminal;
  const rows = foldSkips(entries);
  if (rows.length === 0) {
    print(days === 1 ? "No background work today." : `No background work in the last ${days} days.`);
    return;
  }
  const hidden = rows.length - MAX_ROWS;
  if (hidden > 0) print(color.dim(`${hidden} earlier ones are left out; --json shows all.`));
  const shown = rows.slice(-MAX_ROWS).map(({ entry, times }) => cellsOf(entry, times, prices));
  const heads = ["when", "what", "session", "tokens", "cost"];
  const widths = heads.map((head, column) => Math.max(head.length, ...shown.map(({ cells }) => cells[column]!.length)));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => (column < 3 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!)))
      .join("  ");
  print(color.dim(`${line(heads)}  outcome`));
  for (const { cells, outcome, skipped } of shown) {
    const text = `${line(cells)}  ${outcome}`;
    print(skipped ? color.dim(text) : text);
  }
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

function cellsOf(entry: Spent, times: number, prices: Prices) {
  const { at, kind, session, model, usage, produced, skipped } = entry;
  const start = [localMinute(at), kind, plainLine(session ?? "-").slice(0, 8)];
  if (skipped !== null) {
    const again = times === 1 ? "" : ` (${times} times)`;
    return { cells: [...start, "-", "-"], outcome: `skipped: ${plainLine(skipped)}${again}`, skipped: true };
  }
  const cells = [...start, grouped(countTokens(usage)), costText(costOf(model, usage, prices))];
  return { cells, outcome: [plainLine(produced), plainLine(model)].filter(Boolean).join(", "), skipped: false };
}

/** Days are the user's, so the times are too. */
function localMinute(at: string): string {
  const date = new Date(at);
  const two = (part: number) => String(part).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`;
}
