/** Errors as values, where absence is expected: a file that may be missing, a text that may be broken. */

/** What the work returns, or `otherwise` when it throws. */
export function attempt<T, O>(work: () => T, otherwise: O): T | O {
  try {
    return work();
  } catch {
    return otherwise;
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
