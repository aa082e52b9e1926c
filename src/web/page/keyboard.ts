/** Keyboard shortcuts and commands. Views add theirs while they are shown; typing in a field triggers none. */
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { go, route } from "./router.ts";
import { makeStore } from "./store.ts";

/** By the browser's name of the key, such as "/", "e", "ArrowDown"; "Ctrl s" also while somebody types. */
type Keys = Record<string, (event: KeyboardEvent) => unknown>;

export interface Place {
  /** Also the name of its icon. */
  view: string;
  title: string;
  /** The key after `g`. */
  letter: string;
}

/** The places of the navigation, in groups: what asks for attention, what is remembered, what happened. */
export const PLACES: readonly (readonly Place[])[] = [
  [
    { view: "home", title: "Home", letter: "h" },
    { view: "review", title: "Review", letter: "v" },
  ],
  [
    { view: "memories", title: "Memories", letter: "m" },
    { view: "recall", title: "Recall", letter: "r" },
  ],
  [{ view: "activity", title: "Activity", letter: "a" }],
];

export const ALL_PLACES: readonly Place[] = [...PLACES.flat(), { view: "settings", title: "Settings", letter: "s" }];

export const KEYS_SHOWN: [string, string][] = [
  ["Ctrl K", "run anything, open any memory"],
  ["/", "search the memories"],
  ["n", "write a new memory"],
  ["j k", "next, previous (arrow keys too)"],
  ["x", "select the row"],
  ["Enter", "open it"],
  ["e", "edit it"],
  ["u", "undo the last change"],
  ["Esc", "back, or clear the selection"],
  ["Ctrl S", "save what you write"],
  ["a s", "in Review: accept (the usual verb), skip"],
  ["m f t c", "merge, fix the path, still true, add a cue"],
  ["p h d", "pin, share with the team, forget"],
  ["?", "show the keys"],
  ...ALL_PLACES.map(({ letter, title }): [string, string] => [`g ${letter}`, `go to ${title}`]),
];

/** A second key later than this is no longer part of `g …`. */
const SEQUENCE_MS = 1200;

/** Who opens these means to type: a letter that arrives before the field is there must not lead anywhere. */
const TYPED_IN: ReadonlySet<string> = new Set(["edit", "new"]);

/** The last one added comes first. */
const listeners: { current: Keys }[] = [];

export function startKeyboard(): void {
  let sinceG = Number.NEGATIVE_INFINITY;
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.altKey || event.isComposing) return;
    // A dialog has its own keys.
    if (document.querySelector("dialog[open]") !== null) return;
    // It closes what has popped up, and nothing else.
    if (event.key === "Escape" && document.querySelector(":popover-open") !== null) return;
    if (event.ctrlKey || event.metaKey) {
      const handle = event.shiftKey ? undefined : findHandler(`Ctrl ${event.key.toLowerCase()}`);
      if (handle === undefined) return;
      event.preventDefault();
      return void handle(event);
    }
    // The editor is in a shadow tree, where the event itself names only its host.
    if (isTyping(event.composedPath()[0] ?? null) && event.key !== "Escape") return;
    if (event.key.length === 1 && TYPED_IN.has(location.hash.replace(/^#\/|\?.*$/g, "") || route.get().view)) return;
    if (performance.now() - sinceG < SEQUENCE_MS) {
      sinceG = Number.NEGATIVE_INFINITY;
      const place = ALL_PLACES.find(({ letter }) => letter === event.key);
      if (place !== undefined) {
        event.preventDefault();
        return go(place.view);
      }
    }
    if (event.key === "g") {
      sinceG = performance.now();
      return;
    }
    const handle = findHandler(event.key);
    // Some browsers search with a letter or a slash, and a field that the key opens must not get it.
    if (handle !== undefined && event.key.length === 1) event.preventDefault();
    handle?.(event);
  });
}

function findHandler(key: string): Keys[string] | undefined {
  return listeners.findLast(({ current }) => Object.hasOwn(current, key))?.current[key];
}

export function useKeys(keys: Keys): void {
  const current = useRef(keys);
  current.current = keys;
  useLayoutEffect(() => {
    listeners.push(current);
    return () => {
      listeners.splice(listeners.indexOf(current), 1);
    };
  }, []);
}

/** What can be done in the shown view: offered in the palette and, where it has one, by its key. */
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

/** Offered while the component is shown. */
export function useCommands(offered: readonly Command[]): void {
  const latest = useRef(offered);
  latest.current = offered;
  useEffect(() => {
    commands.set([latest, ...commands.get()]);
    return () => commands.set(commands.get().filter((each) => each !== latest));
  }, []);
  useKeys(Object.fromEntries(offered.flatMap(({ keys, run }) => (keys === undefined ? [] : [[keys, run]]))));
}

const TYPED = "input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable=true]";

function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.matches(TYPED);
}
