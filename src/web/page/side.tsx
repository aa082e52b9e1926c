/**
 * Navigation: a column next to the content or, on a narrow screen, a bar at the top that unfolds; and the theme switch.
 */
import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { KEYS_SHOWN, LETTERS, useKeys } from "./keyboard.ts";
import { useStart } from "./live.ts";
import { Button } from "./parts/basics.tsx";
import { undoLast } from "./parts/change.ts";
import { Dialog } from "./parts/dialog.tsx";
import { formatRoute, go } from "./router.ts";
import { makeStore, useStore } from "./store.ts";

const TITLES: [view: string, title: string][] = [
  ["overview", "Overview"],
  ["memories", "Memories"],
  ["recall", "Recall"],
  ["context", "Context"],
  ["timeline", "Timeline"],
  ["map", "Map"],
  ["inbox", "Inbox"],
  ["dream", "Dream"],
  ["team", "Team"],
  ["sessions", "Sessions"],
];

export function Side({ view }: { view: string }): VNode {
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
  return (
    <header class={`side${isOpen ? " is-open" : ""}`}>
      <div class="side-top">
        <p class="brand">
          <a href={formatRoute("overview")}>memdir</a>
          <span class="brand-project" dir="auto">
            {project}
          </span>
        </p>
        <button
          type="button"
          class="menu-button button button-small"
          aria-expanded={isOpen}
          aria-controls="navigation"
          onClick={() => setOpen(!isOpen)}
        >
          {TITLES.find(([id]) => id === current)?.[1] ?? "Menu"} <span aria-hidden="true">{isOpen ? "▴" : "▾"}</span>
        </button>
      </div>
      <nav id="navigation" aria-label="Views">
        <ul class="nav-list">
          {TITLES.map(([id, title]) => (
            <li key={id}>
              <a
                href={formatRoute(id)}
                aria-current={id === current ? "page" : undefined}
                onClick={() => setOpen(false)}
              >
                {title}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <div class="side-foot">
        <ThemeButton />
        <Button kind="quiet" isSmall onClick={() => setHasKeys(true)}>
          Keys
        </Button>
        <span class="version">
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
    <Button kind="quiet" isSmall label={`Theme: ${current}. Change it`} onClick={turnTheme}>
      Theme: {current}
    </Button>
  );
}

type Theme = "system" | "light" | "dark";

const THEME_KEY = "memdir-theme";
const NEXT: Record<Theme, Theme> = { system: "light", light: "dark", dark: "system" };

/** The system's setting, until the person chooses. */
const theme = makeStore<Theme>("system");

export function startTheme(): void {
  const kept = localStorage.getItem(THEME_KEY);
  if (kept === "light" || kept === "dark") applyTheme(kept);
}

function turnTheme(): void {
  applyTheme(NEXT[theme.get()]);
  localStorage.setItem(THEME_KEY, theme.get());
}

function applyTheme(to: Theme): void {
  theme.set(to);
  if (to === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = to;
}

function KeyTable({ onClose }: { onClose: () => void }): VNode {
  return (
    <Dialog
      title="Keys"
      onClose={onClose}
      actions={
        <Button kind="primary" onClick={onClose}>
          Close
        </Button>
      }
    >
      <dl class="keys">
        {[...KEYS_SHOWN, ...Object.entries(LETTERS).map(([letter, to]) => [`g ${letter}`, to] as const)].map(
          ([keys, says]) => (
            <div key={keys}>
              <dt>
                {keys.split(" ").map((key) => (
                  <kbd key={key}>{key}</kbd>
                ))}
              </dt>
              <dd>{says}</dd>
            </div>
          ),
        )}
      </dl>
    </Dialog>
  );
}
