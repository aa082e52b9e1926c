/** The line that says what is going on, for how long, and how to stop it: a pure function of the time. */

import { sanitiseLine } from "../../text/sanitise.ts";
import { cut, widthOf } from "../../text/wrap.ts";
import type { Paint } from "../terminal.ts";

const FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";
/** How long a frame is shown: about twelve a second look smooth and cost little. */
export const FRAME_MS = 80;

interface Spinning {
  label: string;
  elapsedMs: number;
  /** Tokens the model has written so far; null while it is not known. */
  tokens: number | null;
}

/** `⠙ Thinking… 12s · 1.2k tokens · Ctrl-C stops`; what does not fit is left out from the end. */
export function spinnerLine({ label, elapsedMs, tokens }: Spinning, columns: number, paint: Paint) {
  const head = `${frameAt(elapsedMs)} ${sanitiseLine(label)}`;
  const details = [formatElapsed(elapsedMs), ...(tokens ? [`${formatTokens(tokens)} tokens`] : []), "Ctrl-C stops"];
  while (details.length > 0 && widthOf(`${head} ${details.join(" · ")}`) > columns) details.pop();
  return details.length === 0
    ? cut(paint.cyan(head), columns)
    : `${paint.cyan(head)}${paint.dim(` ${details.join(" · ")}`)}`;
}

export function frameAt(ms: number): string {
  return FRAMES.charAt(Math.floor(Math.max(0, ms) / FRAME_MS) % FRAMES.length);
}

/** `4s`, `2m 05s`, `1h 02m`. */
export function formatElapsed(ms: number): string {
  const seconds = Math.floor(Math.max(0, ms) / 1000);
  const two = (value: number) => String(value % 60).padStart(2, "0");
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes}m ${two(seconds)}s` : `${Math.floor(minutes / 60)}h ${two(minutes)}m`;
}

/** `950`, `1.2k`, `35k`, `1.0M`. */
export const formatTokens = (count: number) => scale(count, 1000, ["", "k", "M", "G"]);

/** `950 B`, `1.2 KB`, `35 KB`. */
export const formatBytes = (count: number) => scale(count, 1024, [" B", " KB", " MB", " GB"]);

/** One digit behind the point below ten, none from there on; 999.6 is already the next unit's 1.0. */
function scale(count: number, base: number, [unit = "", ...larger]: readonly string[], isScaled = false): string {
  const value = Math.max(0, count);
  if (Math.round(value) >= base && larger.length > 0) return scale(value / base, base, larger, true);
  return `${isScaled && value < 9.95 ? value.toFixed(1) : Math.round(value)}${unit}`;
}
