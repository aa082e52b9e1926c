/** What can be done in the shown view: offered in the palette and, where it has one, by its key. */
import { useEffect, useRef } from "preact/hooks";
import { useKeys } from "./keyboard.ts";
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
  const press = (run: Command["run"]) => (event: KeyboardEvent) => {
    event.preventDefault();
    run();
  };
  useKeys(Object.fromEntries(offered.flatMap(({ keys, run }) => (keys === undefined ? [] : [[keys, press(run)]]))));
}
