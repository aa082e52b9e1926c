/** Formats names, times, sizes and counts for people, and days as the columns of a chart. */

export { keyOf } from "../../api.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Marks that reverse what follows: "gnp.live" would read "evil.png". Direction comes from the letters alone. */
const TURNS = /[\u202a-\u202e\u2066-\u2069]/g;

export function showName(name: string): string {
  return name.replace(TURNS, "");
}

export function formatAge(ms: number): string {
  if (ms < MINUTE) return "just now";
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min ago`;
  if (ms < DAY) return `${Math.floor(ms / HOUR)} h ago`;
  const days = Math.floor(ms / DAY);
  if (days === 1) return "yesterday";
  if (days < 60) return `${days} days ago`;
  // Months up to two years: "13 months" says more than "1 year".
  if (days < 730) return `${Math.round(days / 30.4)} months ago`;
  return `${Math.floor(days / 365)} years ago`;
}

export function formatMoment(at: string): string {
  return new Date(at).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}

export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${(bytes / 1000).toFixed(1)} KB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

export function formatCount(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString()} ${count === 1 ? one : many}`;
}

/** With the value, or without it if it was among them. */
export function toggle<T>(values: Iterable<T>, value: T): T[] {
  const others = [...values].filter((each) => each !== value);
  return [...values].includes(value) ? others : [...others, value];
}

/** Whether the text contains every word that was typed. */
export function holds(text: string, typed: string): boolean {
  const words = typed.toLowerCase().split(/\s+/);
  return words.every((word) => text.toLowerCase().includes(word));
}

/** Non-empty lines, trimmed. */
export function linesOf(text: string): string[] {
  const lines = text.split("\n").map((line) => line.trim());
  return lines.filter((line) => line !== "");
}

/** A day is YYYY-MM-DD in the reader's time zone. */
export interface DayColumn {
  /** The day, or the first of several. */
  day: string;
  /** In the order of `kinds`. */
  values: number[];
}

/** Days joined to weeks where there are more than fit, so that a year is still readable. */
export function gatherDays(days: DayColumn[], most: number): { columns: DayColumn[]; each: number } {
  const each = days.length <= most ? 1 : 7;
  const columns = days
    .filter((_, at) => at % each === 0)
    .map(({ day, values }, nth) => {
      const together = days.slice(nth * each, (nth + 1) * each);
      return { day, values: values.map((_, kind) => together.reduce((sum, one) => sum + (one.values[kind] ?? 0), 0)) };
    });
  return { columns, each };
}

export function formatDay(day: string, isLong = false): string {
  const year = isLong ? ({ weekday: "short", year: "numeric" } as const) : {};
  return dateOf(day).toLocaleDateString(undefined, { day: "numeric", month: "short", timeZone: "UTC", ...year });
}

export function addDays(day: string, count: number): string {
  const at = dateOf(day);
  if (Number.isNaN(at.getTime())) return day;
  at.setUTCDate(at.getUTCDate() + count);
  return at.toISOString().slice(0, 10);
}

/** The first moment after the day. */
export function endOf(day: string): string | null {
  const at = new Date(`${addDays(day, 1)}T00:00:00`);
  return Number.isNaN(at.getTime()) ? null : at.toISOString();
}

function dateOf(day: string): Date {
  return new Date(`${day}T00:00:00Z`);
}
