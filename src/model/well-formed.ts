/** Text that a provider takes: half a character, from a paste or a model's own escape, makes it refuse the body, and every later one. */

/** The same value with lone surrogates replaced in every string and key; the very same object where there are none. */
export function wellFormed<T>(value: T): T {
  return repair(value) as T;
}

function repair(value: unknown): unknown {
  if (typeof value === "string") return value.isWellFormed() ? value : value.toWellFormed();
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map(repair);
    return items.some((item, i) => item !== value[i]) ? items : value;
  }
  const entries = Object.entries(value);
  const repaired = entries.map(([key, item]) => [key.toWellFormed(), repair(item)] as const);
  const isSame = repaired.every(([key, item], i) => key === entries[i]?.[0] && item === entries[i]?.[1]);
  return isSame ? value : Object.fromEntries(repaired);
}
