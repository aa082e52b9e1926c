/** The page: navigation, the view that the address names, messages and work in progress. */

import { render, type VNode } from "preact";
import { useEffect, useErrorBoundary, useRef, useState } from "preact/hooks";
import type { Start } from "../api.ts";
import { KEYS_SHOWN, PLACES, startKeyboard, useKeys } from "./keyboard.ts";
import { isConnected, start, startLive, useStart } from "./live.ts";
import { Button, List } from "./parts/basics.tsx";
import { undoLast } from "./parts/change.ts";
import { Dialog, Questions } from "./parts/dialog.tsx";
import { JobTray } from "./parts/jobs.tsx";
import { Empty, Loading, PageHead } from "./parts/layout.tsx";
import { Messages, Notice, tellFailure } from "./parts/notice.tsx";
import { get } from "./remote.ts";
import { formatRoute, go, route, startRouter } from "./router.ts";
import { makeStore, useStore } from "./store.ts";
import { SessionsView, TimelineView } from "./views/activity.tsx";
import { EditView, NewView } from "./views/edit.tsx";
import { View as ListView } from "./views/list.tsx";
import { View as MemoryView } from "./views/memory.tsx";
import { View as OverviewView } from "./views/overview.tsx";
import { ContextView, RecallView } from "./views/recall.tsx";
import { DreamView, InboxView } from "./views/review.tsx";
import { View as TeamView } from "./views/team.tsx";

type View = (props: { params: URLSearchParams }) => VNode;

const VIEWS: Record<string, View> = {
  overview: OverviewView,
  memories: ListView,
  memory: MemoryView,
  edit: EditView,
  new: NewView,
  recall: RecallView,
  context: ContextView,
  timeline: TimelineView,
  map: LaterMap,
  inbox: InboxView,
  dream: DreamView,
  team: TeamView,
  sessions: SessionsView,
};

/** These views are created again for another memory, so that text typed for one does not stay for the next. */
const OF_MEMORY = new Set(["memory", "edit"]);

function Page(): VNode {
  const at = useStore(route);
  const content = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  const shown = OF_MEMORY.has(at.view) ? `${at.view} ${at.params.get("directory")} ${at.params.get("file")}` : at.view;
  useEffect(() => {
    // Tells screen readers that the view has changed; at the start the browser does it itself.
    if (!isFirst.current) (content.current?.querySelector("h1") ?? content.current)?.focus({ preventScroll: true });
    isFirst.current = false;
  }, [shown]);
  return (
    <>
      <button type="button" class="skip button" onClick={() => content.current?.focus()}>
        Skip to content
      </button>
      <div class="shell">
        <Side view={at.view} />
        <main class="content" id="content" tabIndex={-1} ref={content}>
          {useStore(isConnected) ? null : (
            <p class="status-line notice tone-warn small" role="status">
              The server is not responding, so this page may be out of date. If you stopped it, run{" "}
              <code>memdir ui</code> again.
            </p>
          )}
          <Shown key={shown} view={at.view} params={at.params} />
        </main>
      </div>
      <div class="corner stack-xs">
        <JobTray />
        <Messages />
      </div>
      <Questions />
    </>
  );
}

function Shown({ view, params }: { view: string; params: URLSearchParams }): VNode {
  const [error, retry] = useErrorBoundary();
  if (error !== undefined)
    return (
      <Notice tone="bad">
        <p>This view failed: {String((error as Error).message)}</p>
        <Button text="Try again" onClick={retry} />
      </Notice>
    );
  const Known = Object.hasOwn(VIEWS, view) ? VIEWS[view] : undefined;
  if (Known === undefined)
    return (
      <>
        <PageHead title="Page not found" />
        <Empty title={`There is no view named “${view}”.`}>
          <a href={formatRoute("memories")}>All memories</a>
        </Empty>
      </>
    );
  return <Known params={params} />;
}

/** Only the map needs graph layout, so it is loaded when it is opened. */
function LaterMap({ params }: { params: URLSearchParams }): VNode {
  const [Loaded, setLoaded] = useState<View | null>(null);
  useEffect(() => {
    void import("./views/map.tsx").then(({ View }) => setLoaded(() => View));
  }, []);
  if (Loaded === null)
    return (
      <>
        <PageHead title="Map" />
        <Loading />
      </>
    );
  return <Loaded params={params} />;
}

async function begin(): Promise<void> {
  startTheme();
  startRouter();
  startKeyboard();
  const place = document.getElementById("page");
  if (place !== null) render(<Page />, place);
  const { value, failure } = await get<Start>("/api/start");
  if (failure !== null) tellFailure(failure);
  else start.set(value);
  startLive();
}

// --- Navigation: a column next to the content or, on a narrow screen, a bar at the top that unfolds; and the theme switch.

function Side({ view }: { view: string }): VNode {
  const { project, version, readOnly } = useStart();
  const [isOpen, setOpen] = useState(false);
  const [hasKeys, setHasKeys] = useState(false);
  useKeys({
    "?": () => setHasKeys(true),
    "/": (event) => {
      event.preventDefault();
      go("memories", { focus: "search" });
    },
    u: () => void undoLast(),
  });
  useEffect(() => setOpen(false), [view]);
  const current = ["memory", "edit", "new"].includes(view) ? "memories" : view;
  const title = PLACES.find((place) => place.view === current)?.title ?? "Menu";
  return (
    <header class={`side${isOpen ? " is-open" : ""}`}>
      <div class="side-top">
        <p class="brand">
          <a href={formatRoute("overview")}>memdir</a> <span class="soft small" dir="auto" children={project} />
        </p>
        <button
          type="button"
          class="menu-button button button-small"
          aria-expanded={isOpen}
          aria-controls="navigation"
          onClick={() => setOpen(!isOpen)}
        >
          {title} <span aria-hidden="true">{isOpen ? "▴" : "▾"}</span>
        </button>
      </div>
      <nav id="navigation" aria-label="Views">
        <List class="nav-list" rows={PLACES}>
          {({ view: to, title: name }) => (
            <a
              href={formatRoute(to)}
              aria-current={to === current ? "page" : undefined}
              onClick={() => setOpen(false)}
              children={name}
            />
          )}
        </List>
      </nav>
      <div class="side-foot">
        <ThemeButton />
        <Button text="Keys" kind="quiet" isSmall onClick={() => setHasKeys(true)} />
        <span class="soft small">
          {readOnly && version !== "" ? "read-only · " : ""}
          {version}
        </span>
      </div>
      {hasKeys ? <KeyTable onClose={() => setHasKeys(false)} /> : null}
    </header>
  );
}

function ThemeButton(): VNode {
  const current = useStore(theme);
  return (
    <Button
      text={`Theme: ${current}`}
      kind="quiet"
      isSmall
      aria-label={`Theme: ${current}. Change it`}
      onClick={turnTheme}
    />
  );
}

type Theme = "system" | "light" | "dark";

const THEME_KEY = "memdir-theme";
const NEXT: Record<Theme, Theme> = { system: "light", light: "dark", dark: "system" };

/** The system's setting, until the person chooses. */
const theme = makeStore<Theme>("system");

function startTheme(): void {
  const kept = localStorage.getItem(THEME_KEY);
  if (kept === "light" || kept === "dark") applyTheme(kept);
}

function turnTheme(): void {
  applyTheme(NEXT[theme.get()]);
  localStorage.setItem(THEME_KEY, theme.get());
}

function applyTheme(to: Theme): void {
  theme.set(to);
  document.documentElement.style.colorScheme = to === "system" ? "" : to;
}

function KeyTable({ onClose }: { onClose: () => void }): VNode {
  return (
    <Dialog title="Keys" onClose={onClose} actions={<Button text="Close" kind="primary" onClick={onClose} />}>
      <dl class="facts keys">
        {KEYS_SHOWN.map(([keys, says]) => (
          <div key={keys}>
            <dt>
              {keys.split(" ").map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{says}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}

void begin();
