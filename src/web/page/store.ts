/** A value that several components watch. */
import { useEffect, useState } from "preact/hooks";

type Store<T> = ReturnType<typeof makeStore<T>>;

export function makeStore<T>(first: T) {
  let current = first;
  const listeners = new Set<() => void>();
  return {
    get: (): T => current,
    set: (value: T): void => {
      if (Object.is(value, current)) return;
      current = value;
      for (const listener of [...listeners]) listener();
    },
    watch: (listener: () => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

export function useStore<T>(store: Store<T>): T {
  const [, redraw] = useState(0);
  const shown = store.get();
  useEffect(() => {
    // It may have changed between rendering and watching.
    if (!Object.is(store.get(), shown)) redraw((count) => count + 1);
    return store.watch(() => redraw((count) => count + 1));
  }, [store]);
  return shown;
}
