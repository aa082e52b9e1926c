/** A value that follows another once it has been still for a while, for questions asked as somebody types. */
import { useEffect, useState } from "preact/hooks";

export function useLater<T>(value: T, ms: number): [T, (now: T) => void] {
  const [later, setLater] = useState(value);
  useEffect(() => {
    const waiting = setTimeout(() => setLater(value), ms);
    return () => clearTimeout(waiting);
  }, [value, ms]);
  return [later, setLater];
}
