/** Notes about a project whose only day lies well behind us. */

import type { Memory } from "../store/store.ts";

export interface Expired {
  memory: Memory;
  /** As it stands there, YYYY-MM-DD. */
  date: string;
  days: number;
}

/** A date this long past is not merely late. */
const EXPIRED_DAYS = 30;
const DAY_MS = 86_400_000;

/** Begun at a date, it may hold still. */
const BEGINS =
  /\b(?:since|from|as of|starting|started|after|decided|introduced|begins?|began|launched|effective)\W+(?:\w+\W+)?$/i;

/** Days and months in other words: then the date is not the only one. */
const OTHER_DATE =
  /\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s+\d|\d(?:st|nd|rd|th)?\s+(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)|\bQ[1-4]\b|\b\d{4}-\d\d(?![\d-])/i;

/** Null for a memory that names several days or none, that may hold still, or that somebody has looked at since. */
export function findExpiry(memory: Memory, now: Date): Expired | null {
  if (memory.type !== "project" || memory.pinned) return null;
  const said = `${memory.name}\n${memory.description}\n${memory.body}`;
  const dates = [...said.matchAll(/(?<![\d-])\d{4}-\d\d-\d\d(?![\d-])/g)];
  const [date] = dates[0] ?? [];
  if (date === undefined || dates.some(([each]) => each !== date) || OTHER_DATE.test(said)) return null;
  if (dates.some(({ index }) => BEGINS.test(said.slice(Math.max(0, index - REACH), index)))) return null;
  const days = Math.floor((now.getTime() - Date.parse(date)) / DAY_MS);
  const isFresh = [memory.modified, memory.verified].some(
    (iso) => iso !== null && now.getTime() - Date.parse(iso) <= EXPIRED_DAYS * DAY_MS,
  );
  return days > EXPIRED_DAYS && !isFresh ? { memory, date, days } : null;
}

/** As far as a word before a date belongs to it; a text of megabytes is not searched anew for each date. */
const REACH = 120;
