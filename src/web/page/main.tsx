/** The page: navigation, the view that the address names, messages and work in progress. */

import { render, type VNode } from "preact";
import { useEffect, useErrorBoundary, useRef } from "preact/hooks";
import type { Start } from "../api.ts";
import { startKeyboard } from "./keyboard.ts";
import { isConnected, startLive } from "./live.ts";
import { Button } from "./parts/basics.tsx";
import { OpenDialog } from "./parts/dialog.tsx";
import { JobTray } from "./parts/jobs.tsx";
import { Empty, Loading, PageHead } from "./parts/layout.tsx";
import { Messages, Notice, tell, tellFailure } from "./parts/notice.tsx";
import { get, start } from "./remote.ts";
import { formatRoute, route, startRouter } from "./router.ts";
import { Side } from "./side.tsx";
import { makeStore, useStore } from "./store.ts";
import { startTheme } from "./theme.ts";
import { ActivityView } from "./views/activity.tsx";
import { HomeView } from "./views/home.tsx";
import { ListView } from "./views/list.tsx";
import { View as MemoryView } from "./views/memory.tsx";
import { RecallView } from "./views/recall.tsx";
import { ReviewView } from "./views/review.tsx";
import { SettingsView } from "./views/settings.tsx";

type View = (props: { params: URLSearchParams }) => VNode;

const views = makeStore<Readonly<Record<string, View>>>({
  home: HomeView,
  memories: ListView,
  memory: MemoryView,
  edit: () => <Loading />,
  new: () => <Loading />,
  review: ReviewView,
  recall: RecallView,
  activity: ActivityView,
  settings: SettingsView,
});

/** The views that write are larger than the rest of the page, with their editor: they come with the first of these. */
const BEFORE_WRITING = new Set(["memory", "edit", "new"]);
/** The first view has been drawn by then. */
const AFTER_START_MS = 1000;

async function loadWriting(): Promise<void> {
  const { EditView, NewView } = await import("./views/edit.tsx");
  views.set({ ...views.get(), edit: EditView, new: NewView });
}

/** The files of a page that was opened before memdir was updated are gone, and a browser asks for them once. */
function needWriting(): void {
  loadWriting().catch(() => tell("The editor could not be loaded: reload the page.", "bad"));
}

/** These views are created again for another memory, so that text typed for one does not stay for the next. */
const OF_MEMORY = new Set(["memory", "edit"]);

function Page(): VNode {
  const at = useStore(route);
  const content = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  useEffect(() => {
    if (BEFORE_WRITING.has(at.view)) needWriting();
  }, [at.view]);
  const shown = OF_MEMORY.has(at.view) ? `${at.view} ${at.params.get("directory")} ${at.params.get("file")}` : at.view;
  useEffect(() => {
    // Tells screen readers that the view has changed; at the start the browser does it itself. A field of the view that has
    // the focus already keeps it, and a view that is gone back to gets it where it was.
    const { activeElement: active } = document;
    const isTaken = active !== null && active !== document.body && content.current?.contains(active);
    if (!isFirst.current && !isTaken)
      (content.current?.querySelector("h1") ?? content.current)?.focus({ preventScroll: true });
    isFirst.current = false;
  }, [shown]);
  return (
    <>
      <button type="button" class="hidden skip button" onClick={() => content.current?.focus()}>
        Skip to content
      </button>
      <div class="shell">
        <Side view={at.view} />
        <main class={`content content-${at.view}`} id="content" tabIndex={-1} ref={content}>
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
      <OpenDialog />
    </>
  );
}

function Shown({ view, params }: { view: string; params: URLSearchParams }): VNode {
  const [error, retry] = useErrorBoundary();
  const all = useStore(views);
  if (error !== undefined)
    return (
      <Notice tone="bad">
        <p>This view failed: {String((error as Error).message)}</p>
        <Button text="Try again" onClick={retry} />
      </Notice>
    );
  const Known = Object.hasOwn(all, view) ? all[view] : undefined;
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

async function begin(): Promise<void> {
  startTheme();
  startRouter();
  startKeyboard();
  // Before the first view asks: the end of a measurement that its question begins must not be missed.
  startLive();
  const place = document.getElementById("page");
  if (place !== null) render(<Page />, place);
  // Before anybody writes: what is typed right after the key for a new memory belongs into its first field.
  setTimeout(() => void loadWriting().catch(() => {}), AFTER_START_MS);
  const { value, failure } = await get<Start>("/api/start");
  if (failure !== null) tellFailure(failure);
  else start.set(value);
}

void begin();
