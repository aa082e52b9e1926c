/** Which view is shown: the part of the address after `#`, so that back, forward and bookmarks work. */
import { formatQuery, type Query } from "./remote.ts";
import { makeStore } from "./store.ts";

export interface Route {
  view: string;
  params: URLSearchParams;
  /** The same for as long as this entry of the browser's history lives. */
  key: string;
}

const FIRST = "home";

/** Addresses of earlier versions, which bookmarks and notes still have. */
const MOVED: Record<string, [view: string, query?: Query, rename?: Record<string, string>]> = {
  overview: ["home"],
  map: ["memories", { as: "map" }],
  inbox: ["review"],
  dream: ["review"],
  team: ["review"],
  context: ["recall", { tab: "context" }],
  timeline: ["activity"],
  sessions: ["activity", { tab: "sessions" }, { id: "session" }],
};

/** A view has to fetch before it is tall enough to scroll; after this long it stays where it is. */
const RESTORE_MS = 1500;
/** The element that had the focus may come later; whoever has moved on in the meantime keeps theirs. */
const REFOCUS_MS = 6000;

const LEFT = "memdir-places";

export const route = makeStore<Route>({ view: FIRST, params: new URLSearchParams(), key: "" });

/** How a view was left: how far it was scrolled, and which element had the focus, as a selector. */
interface Left {
  top: number;
  focus: string | null;
}

/** Asks whether a view with unsaved changes may be left. */
let guard: (() => Promise<boolean>) | null = null;
const lefts = new Map<string, Left>();
let nextKey = 0;
/** The entry of the history with which the page was opened. */
let entrance = "";

export function startRouter(): void {
  history.scrollRestoration = "manual";
  for (const [key, left] of JSON.parse(sessionStorage.getItem(LEFT) ?? "[]") as [string, Left][]) lefts.set(key, left);
  nextKey = lefts.size;
  window.addEventListener("hashchange", () => void follow());
  window.addEventListener("pagehide", () => {
    noteLeft();
    sessionStorage.setItem(LEFT, JSON.stringify([...lefts].slice(-50)));
  });
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
  route.set(next);
  try {
    history.replaceState(history.state, "", formatHash(next));
  } catch {
    // Browsers refuse a hundred in a few seconds, as of a key that is held down; the next one counts again.
  }
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
  // The address has changed, what is shown has not yet.
  noteLeft();
  show();
}

function show(): void {
  const known = (history.state as { key?: string } | null)?.key;
  const key = known ?? `r${nextKey++}`;
  const [asked = "", query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const params = new URLSearchParams(query);
  const moved = Object.hasOwn(MOVED, asked) ? MOVED[asked] : undefined;
  const view = moved?.[0] ?? (asked === "" ? FIRST : asked);
  for (const [name, value] of Object.entries(moved?.[1] ?? {})) params.set(name, String(value));
  for (const [from, to] of Object.entries(moved?.[2] ?? {})) {
    const value = params.get(from);
    params.delete(from);
    if (value !== null) params.set(to, value);
  }
  const next = { view, params, key };
  if (known === undefined || moved !== undefined)
    history.replaceState({ key }, "", moved === undefined ? undefined : formatHash(next));
  const left = known === undefined ? undefined : lefts.get(key);
  route.set(next);
  restore(key, left ?? { top: 0, focus: null });
}

/** Scroll position and focus come back as soon as the view has what they need. */
function restore(key: string, { top, focus }: Left): void {
  const begun = performance.now();
  let isScrolled = false;
  const step = () => {
    if (route.get().key !== key) return;
    const passed = performance.now() - begun;
    if (!isScrolled) window.scrollTo(0, top);
    isScrolled ||= Math.abs(window.scrollY - top) <= 1 || passed > RESTORE_MS;
    const isFocused = focus === null || passed > REFOCUS_MS || giveFocus(focus);
    if (!(isScrolled && isFocused)) requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
}

function giveFocus(selector: string): boolean {
  const { activeElement: active } = document;
  // The person was quicker, or the view gave it to a field.
  if (active !== null && active !== document.body && !active.matches("h1, main")) return true;
  const element = document.querySelector<HTMLElement>(selector);
  element?.focus({ preventScroll: true });
  return element !== null;
}

/** Links are known by their address; other elements of a view are not found again. */
function noteLeft(): void {
  const href = document.activeElement?.getAttribute("href") ?? null;
  const focus = href === null ? null : `main a[href="${CSS.escape(href)}"]`;
  lefts.set(route.get().key, { top: window.scrollY, focus });
}

function formatHash({ view, params }: Route): string {
  return formatRoute(view, Object.fromEntries(params));
}
