/** Days as the columns of a chart: without gaps, joined where there are many, and their names. A day is YYYY-MM-DD of the clock on the wall. */

export interface Column {
  /** The day, or the first of several. */
  day: string;
  /** In the order of `kinds`. */
  values: number[];
}

/** Days joined to weeks where there are more than fit, so that a year is still a picture. */
export function gatherDays(days: Column[], most: number): { columns: Column[]; each: number } {
  const each = days.length <= most ? 1 : 7;
  const columns: Column[] = [];
  for (let at = 0; at < days.length; at += each) {
    const together = days.slice(at, at + each);
    const first = together[0];
    if (first === undefined) break;
    columns.push({
      day: first.day,
      values: first.values.map((_, kind) => together.reduce((sum, day) => sum + (day.values[kind] ?? 0), 0)),
    });
  }
  return { columns, each };
}

/** Days between the first and the last that nobody spoke of, with nothing in them. */
export function fillDays(days: Column[], kinds: number, from?: string, to?: string): Column[] {
  const first = from ?? days[0]?.day;
  const last = to ?? days.at(-1)?.day;
  if (first === undefined || last === undefined) return days;
  const known = new Map(days.map((day) => [day.day, day]));
  const filled: Column[] = [];
  const at = new Date(`${first}T00:00:00Z`);
  // Ten years: an odd clock must not hang the page.
  for (let count = 0; count < 3660 && !Number.isNaN(at.getTime()); count++) {
    const day = at.toISOString().slice(0, 10);
    if (day > last) break;
    filled.push(known.get(day) ?? { day, values: new Array<number>(kinds).fill(0) });
    at.setUTCDate(at.getUTCDate() + 1);
  }
  return filled;
}

export function formatDay(day: string, isLong = false): string {
  const at = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(at.getTime())) return day;
  const year = isLong ? ({ weekday: "short", year: "numeric" } as const) : {};
  return at.toLocaleDateString(undefined, { day: "numeric", month: "short", timeZone: "UTC", ...year });
}

export function addDays(day: string, count: number): string {
  const at = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(at.getTime())) return day;
  at.setUTCDate(at.getUTCDate() + count);
  return at.toISOString().slice(0, 10);
}

export function localDay(at: Date): string {
  const two = (part: number) => String(part).padStart(2, "0");
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

/** The moment after which the day's events come no more; days are those of the clock on the wall. */
export function endOf(day: string): string | null {
  const at = new Date(`${addDays(day, 1)}T00:00:00`);
  return Number.isNaN(at.getTime()) ? null : at.toISOString();
}
