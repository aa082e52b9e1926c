/** Which view is shown: the part of the address after `#`, so that back, forward and bookmarks work. */
import { formatQuery, type Query } from "./remote.ts";
import { makeStore } from "./store.ts";

export interface Route {
  view: string;
  params: URLSearchParams;
  /** The same for as long as this entry of the browser's history lives. */
  key: string;
}

const FIRST = "overview";

/** A view has to fetch before it is tall enough to scroll; after this long it stays where it is. */
const RESTORE_MS = 1500;

const SCROLLS = "memdir-places";

export const route = makeStore<Route>({ view: FIRST, params: new URLSearchParams(), key: "" });

/** Asks whether a view with unsaved changes may be left. */
let guard: (() => Promise<boolean>) | null = null;
const scrolls = new Map<string, number>();
let nextKey = 0;
/** The entry of the history with which the page was opened. */
let entrance = "";

export function startRouter(): void {
  history.scrollRestoration = "manual";
  for (const [key, top] of JSON.parse(sessionStorage.getItem(SCROLLS) ?? "[]") as [string, number][])
    scrolls.set(key, top);
  nextKey = scrolls.size;
  window.addEventListener("hashchange", () => void follow());
  window.addEventListener("scroll", () => scrolls.set(route.get().key, window.scrollY), { passive: true });
  window.addEventListener("pagehide", () => sessionStorage.setItem(SCROLLS, JSON.stringify([...scrolls].slice(-50))));
  show();
  entrance = route.get().key;
}

export function formatRoute(view: string, query: Query = {}): string {
  return `#/${view}${formatQuery(query)}`;
}

export function go(view: string, query: Query = {}): void {
  location.hash = formatRoute(view, query);
}

/** Navigates without keeping a history entry for this view. */
export function replace(view: string, query: Query = {}): void {
  location.replace(formatRoute(view, query));
}

/** Goes back to where the person came from, or to `otherwise` if they came from outside. */
export function goBack(otherwise: string, query: Query = {}): void {
  if (route.get().key === entrance) replace(otherwise, query);
  else history.back();
}

/** Changes the view's parameters, such as a filter, without a new history entry. */
export function amend(query: Query): void {
  const now = route.get();
  const params = new URLSearchParams(now.params);
  for (const [key, value] of Object.entries(query)) {
    if (value === null || value === undefined || value === "") params.delete(key);
    else params.set(key, String(value));
  }
  const next = { ...now, params };
  history.replaceState(history.state, "", formatHash(next));
  route.set(next);
}

export function guardRoute(by: typeof guard): void {
  guard = by;
}

async function follow(): Promise<void> {
  const here = route.get();
  if (guard !== null && location.hash !== formatHash(here)) {
    // The address has already changed, so it is restored while the question is open.
    history.pushState({ key: here.key }, "", formatHash(here));
    if (!(await guard())) return;
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
  restore(key, known === undefined ? 0 : (scrolls.get(key) ?? 0));
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

function formatHash({ view, params }: Route): string {
  return formatRoute(view, Object.fromEntries(params));
}
