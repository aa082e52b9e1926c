/** Values made when they are first needed: patterns over all of Unicode take milliseconds, and a short process may need none. */

export function lazily<T>(make: () => T): () => T {
  let made: { value: T } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
