/** Navigation: a column next to the content or, on a narrow screen, a bar at the top that unfolds; with the project, what waits, the theme and the keys. */

import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Project, Waiting } from "../api.ts";
import { openPalette } from "./commands.ts";
import { ALL_PLACES, KEYS_SHOWN, PLACES, type Place, useKeys } from "./keyboard.ts";
import { beginAnew, measured, useLive, useStart, waiting } from "./live.ts";
import { Button, Field, List } from "./parts/basics.tsx";
import { undoLast } from "./parts/change.ts";
import { Dialog } from "./parts/dialog.tsx";
import { Icon } from "./parts/icon.tsx";
import { Facts } from "./parts/layout.tsx";
import { told } from "./parts/notice.tsx";
import { send } from "./remote.ts";
import { formatRoute, go } from "./router.ts";
import { useStore } from "./store.ts";
import { theme, turnTheme } from "./theme.ts";

export function Side({ view }: { view: string }): VNode {
  const { version, readOnly } = useStart();
  const [isOpen, setOpen] = useState(false);
  const [hasKeys, setHasKeys] = useState(false);
  useKeys({
    "Ctrl k": openPalette,
    "?": () => setHasKeys(true),
    "/": (event) => {
      event.preventDefault();
      go("memories", { focus: "search" });
    },
    n: (event) => {
      event.preventDefault();
      if (!readOnly) go("new");
    },
    u: () => void undoLast(),
  });
  useEffect(() => setOpen(false), [view]);
  const waits = useLive<Waiting>("/api/waiting", {}, { also: measured }).value;
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
        <span class="grow">Search or run…</span>
        <kbd>{isMac ? "⌘K" : "Ctrl K"}</kbd>
      </button>
      <nav id="navigation" aria-label="Views">
        {PLACES.map((group) => (
          <Places key={group[0]?.view} places={group} current={current} onGo={() => setOpen(false)} />
        ))}
      </nav>
      <div class="side-foot">
        <Places places={ALL_PLACES.slice(-1)} current={current} onGo={() => setOpen(false)} />
        <div class="row">
          <ThemeButton />
          <Button text="Keys" kind="quiet" isSmall onClick={() => setHasKeys(true)} />
        </div>
        <span class="soft small">
          {readOnly && version !== "" ? "read-only · " : ""}
          {version}
        </span>
      </div>
      {hasKeys ? <KeyTable onClose={() => setHasKeys(false)} /> : null}
    </header>
  );
}

const isMac = /Mac|iPhone|iPad/.test(navigator.platform);

function Places(props: { places: readonly Place[]; current: string; onGo: () => void }): VNode {
  const waits = useStore(waiting);
  return (
    <List class="nav-list" rows={props.places}>
      {({ view: to, title, icon }) => {
        const count = to === "review" ? (waits?.review ?? 0) : 0;
        return (
          <a href={formatRoute(to)} aria-current={to === props.current ? "page" : undefined} onClick={props.onGo}>
            <Icon name={icon} />
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

function KeyTable({ onClose }: { onClose: () => void }): VNode {
  return (
    <Dialog title="Keys" onClose={onClose} actions={<Button text="Close" kind="primary" onClick={onClose} />}>
      <Facts class="keys" facts={KEYS_SHOWN.map(([keys, says]) => [<Keys key={keys} keys={keys} />, says])} />
    </Dialog>
  );
}

/** Keys to press one after the other. */
export function Keys({ keys }: { keys: string }): VNode {
  return (
    <>
      {keys.split(" ").map((key) => (
        <kbd key={key}>{key}</kbd>
      ))}
    </>
  );
}
