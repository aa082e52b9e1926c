/** Days of the calendar: that of a moment in the user's time zone, which is what "today" means to them, and those that exist. */

/** With or without a time; also that the month has the day: JavaScript takes 31 February for a day in March. */
export function isDay(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d/.test(text) || Number.isNaN(Date.parse(text))) return false;
  const day = text.slice(0, 10);
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
}

/** YYYY-MM-DD */
export function localDay(at: Date): string {
  const two = (number: number) => String(number).padStart(2, "0");
  return `${String(at.getFullYear()).padStart(4, "0")}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}
