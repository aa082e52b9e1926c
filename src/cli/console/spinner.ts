/** The line that says that something is going on, for how long, and how to stop it: a pure function of the time. */

import { sanitiseLine } from "../../text/sanitise.ts";
import { cut, widthOf } from "../../text/wrap.ts";
import type { Paint } from "../terminal.ts";

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"] as const;
/** How long a frame stands: about twelve a second look smooth and cost little. */
export const FRAME_MS = 80;

interface Spinning {
  label: string;
  elapsedMs: number;
  /** Tokens the model has written so far; null while it is not known. */
  tokens: number | null;
  /** What the last words say, such as "Ctrl-C stops". */
  hint?: string;
}

/** `⠙ Thinking… 12s · 1.2k tokens · Ctrl-C stops`; what does not fit is left out from the end. */
export function spinnerLine(spinning: Spinning, columns: number, paint: Paint): string {
  const { label, elapsedMs, tokens, hint = "Ctrl-C stops" } = spinning;
  const head = `${frameAt(elapsedMs)} ${sanitiseLine(label)}`;
  const details = [formatElapsed(elapsedMs), ...(tokens ? [`${formatTokens(tokens)} tokens`] : []), hint];
  let tail = "";
  for (const detail of details) {
    const longer = `${tail === "" ? " " : `${tail} · `}${detail}`;
    if (detail === "" || widthOf(head + longer) > columns) break;
    tail = longer;
  }
  return tail === "" ? cut(paint.cyan(head), columns) : `${paint.cyan(head)}${paint.dim(tail)}`;
}

export function frameAt(ms: number): string {
  return FRAMES[Math.floor(Math.max(0, ms) / FRAME_MS) % FRAMES.length] ?? FRAMES[0];
}

/** `4s`, `2m 05s`, `1h 02m`. */
export function formatElapsed(ms: number): string {
  const seconds = Math.floor(Math.max(0, ms) / 1000);
  const two = (value: number) => String(value).padStart(2, "0");
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ${two(seconds % 60)}s`;
  return `${Math.floor(seconds / 3600)}h ${two(Math.floor((seconds % 3600) / 60))}m`;
}

/** `950`, `1.2k`, `35k`, `1.0M`. */
export function formatTokens(count: number): string {
  return scale(count, 1000, ["", "k", "M", "G"]);
}

/** `950 B`, `1.2 KB`, `35 KB`. */
export function formatBytes(count: number): string {
  return scale(count, 1024, [" B", " KB", " MB", " GB"]);
}

/** One digit behind the point below ten, none from there on; 999.6 is already the next unit's 1.0. */
function scale(count: number, base: number, units: readonly string[]): string {
  let value = Math.max(0, count);
  let unit = 0;
  while (Math.round(value) >= base && unit < units.length - 1) {
    value /= base;
    unit++;
  }
  const digits = unit > 0 && value < 9.95 ? value.toFixed(1) : String(Math.round(value));
  return `${digits}${units[unit] ?? ""}`;
}
