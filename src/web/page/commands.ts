/** What the palette offers besides places and memories: the verbs of the table, and what the shown view adds. */
import { useEffect, useRef } from "preact/hooks";
import { makeStore } from "./store.ts";

export interface Command {
  title: string;
  /** Beside the title, in a soft colour: what it does, or which verb it is. */
  says?: string;
  /** The keys that do the same, such as "g h". */
  keys?: string;
  run: () => unknown;
}

/** By the view that added them; the last comes first. */
export const commands = makeStore<{ current: readonly Command[] }[]>([]);

export const isPaletteOpen = makeStore(false);

export function openPalette(): void {
  isPaletteOpen.set(true);
}

/** Offered while the component is shown. */
export function useCommands(offered: readonly Command[]): void {
  const latest = useRef(offered);
  latest.current = offered;
  useEffect(() => {
    commands.set([latest, ...commands.get()]);
    return () => commands.set(commands.get().filter((each) => each !== latest));
  }, []);
}
