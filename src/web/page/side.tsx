/** Navigation: a column next to the content or, on a narrow screen, a bar at the top that unfolds; with the project, what waits, the theme and the keys. */

import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Project, Waiting } from "../api.ts";
import { ALL_PLACES, KEYS_SHOWN, PLACES, type Place, useKeys } from "./keyboard.ts";
import { beginAnew, useLive, useStart, waiting } from "./live.ts";
import { openPalette } from "./palette.tsx";
import { Button, Field, Keys, List } from "./parts/basics.tsx";
import { undoLast } from "./parts/change.ts";
import { Dialog, openDialog } from "./parts/dialog.tsx";
import { Facts } from "./parts/layout.tsx";
import { told } from "./parts/notice.tsx";
import { send } from "./remote.ts";
import { formatRoute, go } from "./router.ts";
import { useStore } from "./store.ts";
import { theme, turnTheme } from "./theme.ts";

export function Side({ view }: { view: string }): VNode {
  const { version, readOnly } = useStart();
  const chosen = useStore(theme);
  const [isOpen, setOpen] = useState(false);
  useKeys({
    "Ctrl k": openPalette,
    "?": openKeys,
    "/": () => go("memories", { focus: "search" }),
    n: () => !readOnly && go("new"),
    u: () => void undoLast(),
  });
  useEffect(() => setOpen(false), [view]);
  const waits = useLive<Waiting>("/api/waiting").value;
  useEffect(() => waiting.set(waits), [waits]);
  const current = ["memory", "edit", "new"].includes(view) ? "memories" : view;
  const title = ALL_PLACES.find((place) => place.view === current)?.title ?? "Menu";
  return (
    <header class={`side${isOpen ? " is-open" : ""}`}>
      <div class="side-top">
        <ProjectName />
        <button
          type="button"
          class="menu-button button button-small only-narrow"
          aria-expanded={isOpen}
          aria-controls="navigation"
          onClick={() => setOpen(!isOpen)}
        >
          {title} <span aria-hidden="true">{isOpen ? "▴" : "▾"}</span>
        </button>
      </div>
      <button type="button" class="palette-button button button-small" onClick={openPalette}>
        <Icon name="command" />
        <span style={{ flex: 1 }}>Search or run…</span>
        <kbd>{isMac ? "⌘K" : "Ctrl K"}</kbd>
      </button>
      <nav id="navigation" aria-label="Views">
        {PLACES.map((group) => (
          <Places key={group[0]?.view} places={group} current={current} onGo={() => setOpen(false)} />
        ))}
      </nav>
      <div class="side-foot stack-xs" style={{ marginTop: "auto" }}>
        <Places places={ALL_PLACES.slice(-1)} current={current} onGo={() => setOpen(false)} />
        <div class="row">
          <Button text={`Theme: ${chosen}`} kind="quiet" isSmall title="Change it" onClick={turnTheme} />
          <Button text="Keys" kind="quiet" isSmall onClick={openKeys} />
        </div>
        <p class="soft small" style={{ padding: "0 0.5rem" }}>
          {readOnly && version !== "" ? "read-only · " : ""}
          {version}
        </p>
      </div>
    </header>
  );
}

const isMac = /Mac|iPhone|iPad/.test(navigator.platform);

function Places(props: { places: readonly Place[]; current: string; onGo: () => void }): VNode {
  const waits = useStore(waiting);
  return (
    <List class="nav-list" rows={props.places}>
      {({ view: to, title }) => {
        const count = to === "review" ? (waits?.review ?? 0) : 0;
        return (
          <a
            class="row"
            href={formatRoute(to)}
            aria-current={to === props.current ? "page" : undefined}
            onClick={props.onGo}
          >
            <Icon name={to} />
            <span class="grow">{title}</span>
            {count === 0 ? null : (
              <span class="nav-count">
                {count.toLocaleString()}
                <span class="hidden"> waiting</span>
              </span>
            )}
          </a>
        );
      }}
    </List>
  );
}

/** The project whose memories these are; a menu where there are several. */
function ProjectName(): VNode {
  const { project, root } = useStart();
  const projects = useLive<Project[]>("/api/projects", {}, { isOnce: true }).value ?? [];
  const others = projects.filter((other) => other.root !== root);
  return (
    <div class="brand">
      <a href={formatRoute("home")}>memdir</a>{" "}
      {others.length === 0 ? (
        <span class="soft small" dir="auto" children={project} />
      ) : (
        <Field
          label="Project"
          isBare
          fieldClass="project"
          class="soft small"
          value={root}
          options={[[root, project], ...others.map((other) => [other.root, other.name] as const)]}
          onInput={(chosen) => void switchProject(chosen)}
        />
      )}
    </div>
  );
}

async function switchProject(root: string): Promise<void> {
  if ((await told(send("POST", "/api/project", { root }))) !== null) beginAnew();
}

function openKeys(): void {
  openDialog(
    <Dialog title="Keys">
      <div style={{ columns: "16rem" }}>
        <Facts facts={KEYS_SHOWN.map(([keys, says]) => [<Keys key={keys} keys={keys} />, says])} />
      </div>
    </Dialog>,
  );
}

/** Icons of one line weight, drawn on a grid of 16. */
const ICONS: Readonly<Record<string, string>> = {
  home: "M2.5 7.5 8 2.8l5.5 4.7v5.7H9.8V9.6H6.2v3.6H2.5z",
  review: "M2.5 9.5h3l1 2h3l1-2h3M2.5 9.5v3.7h11V9.5M2.5 9.5l2-6.7h7l2 6.7",
  memories: "M3.5 2.5h9v11h-9zM6 5.5h4M6 8h4M6 10.5h2.5",
  recall: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM10.3 10.3l3.2 3.2",
  activity: "M1.8 8.5h2.7l2-5.5 3 10 2-4.5h2.7",
  settings: "M2.5 4.5h6.2M11.8 4.5h1.7M2.5 11.5h1.7M7.3 11.5h6.2M10.2 3v3M5.8 10v3",
  command: "M3 4.5 6.5 8 3 11.5M8 12h5",
};

function Icon({ name }: { name: string }): VNode {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={ICONS[name]} />
    </svg>
  );
}
