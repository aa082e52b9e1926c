/** Which view is shown: the part of the address after `#`, so that back, forward and bookmarks work. */
import { formatQuery, type Query } from "./remote.ts";
import { makeStore } from "./store.ts";

export interface Route {
  view: string;
  params: URLSearchParams;
  /** The same for as long as this entry of the browser's history lives. */
  key: string;
}

/** A view that must not be left unasked. */
export interface Guard {
  /** Whether there is anything to ask about now. */
  isNeeded: () => boolean;
  mayLeave: () => Promise<boolean>;
}

const FIRST = "overview";

/** A view fetches before it is tall enough to scroll; after this long it stays where it is. */
const RESTORE_MS = 1500;

const PLACES = "memdir-places";

export const route = makeStore<Route>({ view: FIRST, params: new URLSearchParams(), key: "" });

let guard: Guard | null = null;
const places = new Map<string, number>();
let nextKey = 0;
/** The entry of the history with which the page was opened. */
let entrance = "";

export function startRouter(): void {
  history.scrollRestoration = "manual";
  for (const [key, top] of JSON.parse(sessionStorage.getItem(PLACES) ?? "[]") as [string, number][])
    places.set(key, top);
  nextKey = places.size;
  window.addEventListener("hashchange", () => void follow());
  window.addEventListener("scroll", () => places.set(route.get().key, window.scrollY), { passive: true });
  window.addEventListener("pagehide", () => sessionStorage.setItem(PLACES, JSON.stringify([...places].slice(-50))));
  show();
  entrance = route.get().key;
}

export function formatRoute(view: string, query: Query = {}): string {
  return `#/${view}${formatQuery(query)}`;
}

export function go(view: string, query: Query = {}): void {
  location.hash = formatRoute(view, query);
}

/** Goes on without leaving a way back here. */
export function replace(view: string, query: Query = {}): void {
  location.replace(formatRoute(view, query));
}

/** Where the person came from; `otherwise` where they came from outside. */
export function goBack(otherwise: string, query: Query = {}): void {
  if (route.get().key === entrance) replace(otherwise, query);
  else history.back();
}

/** Changes what the view was asked for without a new entry in the history, such as a filter. */
export function amend(query: Query): void {
  const now = route.get();
  const params = new URLSearchParams(now.params);
  for (const [key, value] of Object.entries(query)) {
    if (value === null || value === undefined || value === "") params.delete(key);
    else params.set(key, String(value));
  }
  const asked = params.toString();
  history.replaceState(history.state, "", `#/${now.view}${asked === "" ? "" : `?${asked}`}`);
  route.set({ ...now, params });
}

/** Returns what takes the guard away. */
export function guardRoute(by: Guard): () => void {
  guard = by;
  return () => {
    if (guard === by) guard = null;
  };
}

async function follow(): Promise<void> {
  const here = route.get();
  if (guard?.isNeeded() && location.hash !== formatHash(here)) {
    // The address has already moved: it is put back while the question stands.
    history.pushState({ key: here.key }, "", formatHash(here));
    if (!(await guard.mayLeave())) return;
    guard = null;
    history.back();
    return;
  }
  show();
}

function show(): void {
  const known = (history.state as { key?: string } | null)?.key;
  const key = known ?? `r${nextKey++}`;
  if (known === undefined) history.replaceState({ key }, "");
  const [view = "", asked = ""] = location.hash.replace(/^#\/?/, "").split("?");
  route.set({ view: view === "" ? FIRST : view, params: new URLSearchParams(asked), key });
  restore(key, known === undefined ? 0 : (places.get(key) ?? 0));
}

function restore(key: string, top: number): void {
  const until = performance.now() + RESTORE_MS;
  const step = () => {
    if (route.get().key !== key) return;
    window.scrollTo(0, top);
    if (Math.abs(window.scrollY - top) > 1 && performance.now() < until) requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
}

function formatHash(at: Route): string {
  const asked = at.params.toString();
  return `#/${at.view}${asked === "" ? "" : `?${asked}`}`;
}
