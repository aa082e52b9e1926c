/** Arithmetic with calendar days in the user's time zone, as YYYY-MM-DD. */

import { localDay } from "./local-day.ts";

export const shift = (now: Date, days: number): string =>
  localDay(new Date(now.getFullYear(), now.getMonth(), now.getDate() + days));
export const daysUntil = (now: Date, day: number): number => (day - now.getDay() + 7) % 7;
export const daysSince = (now: Date, day: number): number => (now.getDay() - day + 7) % 7 || 7;
/** That of the week this many weeks ahead: a week begins on Monday (1) and ends on Sunday (0 or 7). */
export const weekday = (now: Date, day: number, weeks: number): string =>
  shift(now, (day || 7) - (now.getDay() || 7) + 7 * weeks);
/** Of the next such month, or this one. */
export const yearOf = (now: Date, month: number): number => now.getFullYear() + Number(month < now.getMonth());
export const dayIn = (now: Date, month: number, day: number): string | null =>
  dayOfMonth(yearOf(now, month), month, day);
export const lastIn = (now: Date, month: number): string => localDay(new Date(yearOf(now, month), month + 1, 0));
export const monthIn = (now: Date, month: number): string =>
  localDay(new Date(yearOf(now, month), month, 1)).slice(0, 7);
/** "the 20th" is the next one; "Friday the 12th" is the next that is a Friday. */
export function numbered(now: Date, day: number, weekday: number | null = null): string | null {
  const next = now.getMonth() + Number(day < now.getDate());
  const months = Array.from({ length: 12 }, (_, i) => next + i);
  const named = months.find((month) => new Date(now.getFullYear(), month, day).getDay() === weekday);
  return dayOfMonth(now.getFullYear(), named ?? next, day);
}
/** The Sunday, by Gauss's rule for 1900 to 2099. */
export function easter(year: number): Date {
  const moon = (19 * (year % 19) + 24) % 30;
  const days = moon + ((2 * (year % 4) + 4 * (year % 7) + 6 * moon + 5) % 7);
  const isLate = days === 35 || (days === 34 && moon === 28 && year % 19 > 10);
  return new Date(year, 2, 22 + days - (isLate ? 7 : 0));
}
const monthAhead = (now: Date, step: number): string =>
  localDay(new Date(now.getFullYear(), now.getMonth() + step, 1)).slice(0, 7);

export function dayOfMonth(year: number, month: number, day: number): string | null {
  const date = new Date(year, month, day);
  return day > 0 && date.getDate() === day ? localDay(date) : null;
}

/** Units by their first letter in English. */
export type Unit = "d" | "w" | "m" | "q" | "y";

export function shiftBy(now: Date, count: number, unit: Unit): string {
  if (unit === "d" || unit === "w") return shift(now, Math.round(count * (unit === "w" ? 7 : 1)));
  const months = count * { m: 1, q: 3, y: 12 }[unit];
  const whole = new Date(now.getFullYear(), now.getMonth() + Math.trunc(months), now.getDate());
  return Number.isInteger(months) ? localDay(whole) : shift(whole, Math.sign(months) * 14);
}

/** A week, month, quarter or year is no single day: an exact one would be invented. */
export function periodOf(now: Date, step: number, unit: Unit): string {
  if (unit === "d") return shift(now, step);
  if (unit === "w") return `${weekday(now, 1, step)} to ${weekday(now, 7, step)}`;
  if (unit === "m") return monthAhead(now, step);
  const size = unit === "q" ? 3 : 12;
  const first = size * step - (now.getMonth() % size);
  return `${monthAhead(now, first)} to ${monthAhead(now, first + size - 1)}`;
}

export function endOf(now: Date, step: number, unit: Unit): string {
  if (unit === "d") return shift(now, step);
  if (unit === "w") return weekday(now, 7, step);
  const size = { m: 1, q: 3, y: 12 }[unit];
  return localDay(new Date(now.getFullYear(), now.getMonth() - (now.getMonth() % size) + size * (step + 1), 0));
}

/** The number 0 stands for the last one. */
export function nthWeekday(first: Date, number: number, day: number): string {
  const start = 1 + ((day - first.getDay() + 7) % 7) + 7 * (Math.max(number, 1) - 1);
  if (number > 0) return shift(first, start - 1);
  const days = new Date(first.getFullYear(), first.getMonth() + 1, 0).getDate();
  return shift(first, start + 7 * Math.floor((days - start) / 7) - 1);
}
