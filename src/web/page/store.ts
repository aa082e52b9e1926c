/** A value that several components watch. */
import { useEffect, useState } from "preact/hooks";

interface Store<T> {
  get: () => T;
  set: (value: T) => void;
  watch: (listener: () => void) => () => void;
}

export function makeStore<T>(first: T): Store<T> {
  let current = first;
  const listeners = new Set<() => void>();
  return {
    get: () => current,
    set: (value) => {
      if (Object.is(value, current)) return;
      current = value;
      for (const listener of [...listeners]) listener();
    },
    watch: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
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
