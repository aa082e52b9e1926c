/** State that several views use: debounced values, and lists that grow on demand. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Answer, Failure } from "../remote.ts";

/** A value that follows another once it has not changed for a while, for requests while typing. */
export function useLater<T>(value: T, ms: number): [T, (now: T) => void] {
  const [later, setLater] = useState(value);
  useEffect(() => {
    const waiting = setTimeout(() => setLater(value), ms);
    return () => clearTimeout(waiting);
  }, [value, ms]);
  return [later, setLater];
}

/** The value, or the last one that was not null. */
export function useLast<T>(value: T | null): T | null {
  const last = useRef(value);
  last.current = value ?? last.current;
  return last.current;
}

/** Long enough to read two lines and reach the button. */
export const STAYS_MS = 9000;

/**
 * Calls `onEnd` after `ms`, but not while the pointer or the focus is on it; null: never. Returns the element's event
 * handlers.
 */
export function useExpiry(ms: number | null, onEnd: () => void) {
  const [isHeld, setHeld] = useState(false);
  const latest = useRef(onEnd);
  latest.current = onEnd;
  useEffect(() => {
    if (ms === null || isHeld) return;
    const waiting = setTimeout(() => latest.current(), ms);
    return () => clearTimeout(waiting);
  }, [ms, isHeld]);
  const hold = () => setHeld(true);
  const free = () => setHeld(false);
  return { onMouseEnter: hold, onMouseLeave: free, onFocusIn: hold, onFocusOut: free };
}

/** The first rows of a list, and a function that shows more; null if all are shown. */
export function useFirst<T>(rows: T[], first: number, step: number): [shown: T[], more: (() => void) | null] {
  const [count, setCount] = useState(first);
  return [rows.slice(0, count), count < rows.length ? () => setCount(count + step) : null];
}

export interface Asked<T> {
  value: T | null;
  failure: Failure | null;
  isLoading: boolean;
}

/**
 * The answer to a call that is made again when `inputs` change; the last answer stays until the next one arrives. Null
 * makes no call.
 */
export function useAnswer<T>(ask: ((signal: AbortSignal) => Promise<Answer<T>>) | null, inputs: unknown[]): Asked<T> {
  const [asked, setAsked] = useState<Asked<T>>({ value: null, failure: null, isLoading: false });
  useEffect(() => {
    if (ask === null) return setAsked({ value: null, failure: null, isLoading: false });
    const calling = new AbortController();
    setAsked((before) => ({ ...before, isLoading: true }));
    ask(calling.signal).then((answer) => {
      if (!calling.signal.aborted) setAsked({ ...answer, isLoading: false });
    });
    return () => calling.abort();
  }, inputs);
  return asked;
}
