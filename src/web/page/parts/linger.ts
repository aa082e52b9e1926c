/** What goes by itself after a while, but never from under a hand or the focus. */
import { useEffect, useRef, useState } from "preact/hooks";

/** Long enough to read two lines and reach the button. */
export const STAYS_MS = 9000;

/** `ms` null: it stays. Returns what the element listens to. */
export function useLinger(ms: number | null, onEnd: () => void) {
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
