/** Keyboard shortcuts. Views add theirs while they are shown; typing in a field triggers none. */
import { useEffect, useRef } from "preact/hooks";
import { go } from "./router.ts";

/** By the browser's name of the key, such as "/", "e", "ArrowDown". */
type Keys = Record<string, (event: KeyboardEvent) => void>;

/** The places of the navigation; the letter is the key after `g`. */
export const PLACES: { view: string; title: string; letter: string }[] = [
  { view: "overview", title: "Overview", letter: "o" },
  { view: "memories", title: "Memories", letter: "m" },
  { view: "recall", title: "Recall", letter: "r" },
  { view: "context", title: "Context", letter: "c" },
  { view: "timeline", title: "Timeline", letter: "t" },
  { view: "map", title: "Map", letter: "a" },
  { view: "inbox", title: "Inbox", letter: "i" },
  { view: "dream", title: "Dream", letter: "d" },
  { view: "team", title: "Team", letter: "e" },
  { view: "sessions", title: "Sessions", letter: "s" },
];

export const KEYS_SHOWN: [string, string][] = [
  ["/", "search the memories"],
  ["↑ ↓", "move in the list"],
  ["Enter", "open the memory"],
  ["e", "edit it"],
  ["a e r", "accept, edit, reject in the inbox"],
  ["u", "undo the last change (asks first)"],
  ["Esc", "back"],
  ["Ctrl S", "review your changes, then save"],
  ["?", "show the shortcuts"],
  ...PLACES.map(({ letter, view }): [string, string] => [`g ${letter}`, view]),
];

/** A second key later than this is no longer part of `g …`. */
const SEQUENCE_MS = 1200;

/** The last one added comes first. */
const listeners: { current: Keys }[] = [];

export function startKeyboard(): void {
  let sinceG = Number.NEGATIVE_INFINITY;
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    // A dialog has its own keys.
    if (document.querySelector("dialog[open]") !== null) return;
    if (isTyping(event.target) && event.key !== "Escape") return;
    if (performance.now() - sinceG < SEQUENCE_MS) {
      sinceG = Number.NEGATIVE_INFINITY;
      const place = PLACES.find(({ letter }) => letter === event.key);
      if (place !== undefined) {
        event.preventDefault();
        return go(place.view);
      }
    }
    if (event.key === "g") {
      sinceG = performance.now();
      return;
    }
    const handler = listeners.findLast((keys) => Object.hasOwn(keys.current, event.key));
    handler?.current[event.key]?.(event);
  });
}

export function useKeys(keys: Keys): void {
  const current = useRef(keys);
  current.current = keys;
  useEffect(() => {
    listeners.push(current);
    return () => {
      listeners.splice(listeners.indexOf(current), 1);
    };
  }, []);
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !["checkbox", "radio", "button", "range"].includes(target.type);
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement || target.isContentEditable;
}
