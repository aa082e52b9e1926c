/** Placeholder until the real one is written. */
export interface RelativeDate {
  line: number;
  words: string;
  date: string;
}
export async function findRelativeDates(_text: string, _now: Date): Promise<RelativeDate[]> {
  return [];
}
