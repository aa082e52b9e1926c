/** The calendar day of a moment in the user's time zone: what "today" means to them. */

/** YYYY-MM-DD */
export function localDay(at: Date): string {
  const two = (number: number) => String(number).padStart(2, "0");
  return `${String(at.getFullYear()).padStart(4, "0")}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}
