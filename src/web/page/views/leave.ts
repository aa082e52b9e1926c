/** Unsaved text is not left unasked. */
import { useEffect, useRef } from "preact/hooks";
import { ask } from "../parts/dialog.tsx";
import { guardRoute } from "../router.ts";

/** Asks before unsaved text is left; returns what ends that. */
export function useGuard(isDirty: boolean): () => void {
  const needed = useRef(isDirty);
  needed.current = isDirty;
  const isOver = useRef(false);
  useEffect(() => {
    const isNeeded = () => needed.current && !isOver.current;
    const mayLeave = async () => {
      const text = "It is not saved. It stays in this tab: come back to editing this memory and it is there.";
      return (await ask({ title: "Leave what you wrote?", text, yes: "Leave", no: "Stay" })) !== null;
    };
    const unload = (event: BeforeUnloadEvent) => {
      if (isNeeded()) event.preventDefault();
    };
    window.addEventListener("beforeunload", unload);
    const free = guardRoute({ isNeeded, mayLeave });
    return () => {
      window.removeEventListener("beforeunload", unload);
      free();
    };
  }, []);
  return () => {
    isOver.current = true;
  };
}
