/** Notes about a project whose only day is well past. */

import { daysOverdue, findDay, type Memory } from "../store/store.ts";

export interface Expired {
  memory: Memory;
  /** As it stands there, YYYY-MM-DD. */
  date: string;
  days: number;
}

/** Null for a memory that names several days or none, that may hold still, or that somebody has looked at since. */
export function findExpiry(memory: Memory, now: Date): Expired | null {
  const date = findDay(memory);
  const days = date === null ? null : daysOverdue(date, memory, now);
  return date === null || days === null ? null : { memory, date, days };
}
