/** State that several views use: debounced values, what is near the window, work in progress. */
import { useEffect, useState } from "preact/hooks";
import { amend } from "../router.ts";

/** A value that follows another once it has not changed for a while, for requests while typing. */
export function useLater<T>(value: T, ms: number): [T, (now: T) => void] {
  const [later, setLater] = useState(value);
  useEffect(() => {
    const waiting = setTimeout(() => setLater(value), ms);
    return () => clearTimeout(waiting);
  }, [value, ms]);
  return [later, setLater];
}

/** Text that is typed, which is in the address under `name`, and what is asked: the same a moment after the last key. */
export function useAsked(params: URLSearchParams, name: string, ms: number) {
  const typed = params.get(name) ?? "";
  const setTyped = (text: string) => amend({ [name]: text });
  const [asked, askNow] = useLater(typed.trim(), ms);
  return { typed, setTyped, asked, askNow: () => askNow(typed.trim()) };
}

/** Whether an element is within the window, or no further than `margin` from it. */
export function useNear(place: { current: Element | null }, margin: string, first = false): boolean {
  const [isNear, setNear] = useState(first);
  useEffect(() => {
    const watching = new IntersectionObserver((entries) => setNear(entries.at(-1)?.isIntersecting ?? false), {
      rootMargin: margin,
    });
    if (place.current !== null) watching.observe(place.current);
    return () => watching.disconnect();
  }, []);
  return isNear;
}

/** Whether a task that was started here is still running, and what starts one. */
export function useBusy(): [isBusy: boolean, run: <T>(task: Promise<T>) => Promise<T>] {
  const [isBusy, setBusy] = useState(false);
  const run = async <T>(task: Promise<T>) => {
    setBusy(true);
    const done = await task;
    setBusy(false);
    return done;
  };
  return [isBusy, run];
}
