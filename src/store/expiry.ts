/** The one day that a note about a project is about, and whether it is well past. */

import type { Header, Memory } from "./memory.ts";

/** A date this long past is not merely late. */
const OVERDUE_DAYS = 30;
const DAY_MS = 86_400_000;

/** Begun at a date, it may hold still. */
const BEGINS =
  /\b(?:since|from|as of|starting|started|after|decided|introduced|begins?|began|launched|effective)\W+(?:\w+\W+)?$/i;

/** Days and months in other words: then the date is not the only one. */
const OTHER_DATE =
  /\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s+\d|\d(?:st|nd|rd|th)?\s+(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)|\bQ[1-4]\b|\b\d{4}-\d\d(?![\d-])/i;

/** As far as a word before a date belongs to it; a text of megabytes is not searched anew for each date. */
const REACH = 120;

/** YYYY-MM-DD; null for a memory that names several days or none, or that may hold still. */
export function findDay(memory: Pick<Memory, "type" | "pinned" | "name" | "description" | "body">): string | null {
  if (memory.type !== "project" || memory.pinned) return null;
  const said = `${memory.name}\n${memory.description}\n${memory.body}`;
  const dates = [...said.matchAll(/(?<![\d-])\d{4}-\d\d-\d\d(?![\d-])/g)];
  const [date] = dates[0] ?? [];
  if (date === undefined || dates.some(([each]) => each !== date) || OTHER_DATE.test(said)) return null;
  return dates.some(({ index }) => BEGINS.test(said.slice(Math.max(0, index - REACH), index))) ? null : date;
}

/** How many days past, where that is long ago and the memory was not looked at since; else null. */
export function daysOverdue(
  day: string,
  { modified, verified }: Pick<Header, "modified" | "verified">,
  now: Date,
): number | null {
  const days = Math.floor((now.getTime() - Date.parse(day)) / DAY_MS);
  const isFresh = [modified, verified].some(
    (iso) => iso !== null && now.getTime() - Date.parse(iso) <= OVERDUE_DAYS * DAY_MS,
  );
  return days > OVERDUE_DAYS && !isFresh ? days : null;
}
