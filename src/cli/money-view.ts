/** What background work cost today and what is left of its budget, as `memdir ledger` and the console's `/cost` say it. */

import { type Limits, tokensLeft } from "../learn/budget.ts";
import type { Ledger } from "../learn/ledger.ts";
import { plainLine } from "../text/sanitise.ts";
import type { Color } from "./command.ts";

/** `models`: others without a price that the same screen tells of. */
export function viewToday(ledger: Ledger, limits: Limits, color: Color, models: readonly string[] = []): string[] {
  const { tokens, cost, calls, unpriced } = ledger.today();
  const left = tokensLeft(ledger, limits);
  const many = `${calls} ${calls === 1 ? "call" : "calls"}`;
  const unknown = [...new Set([...models, ...unpriced])].map(plainLine).join(", ");
  return [
    color.bold(`Today: ${many}, ${grouped(tokens)} tokens, cost ${costText(cost)}`),
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
