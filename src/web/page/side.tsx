/**
 * Navigation: a column next to the content or, on a narrow screen, a bar at the top that unfolds; and the theme switch.
 */
import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { KEYS_SHOWN, PLACES, useKeys } from "./keyboard.ts";
import { useStart } from "./live.ts";
import { Button, List } from "./parts/basics.tsx";
import { undoLast } from "./parts/change.ts";
import { Dialog } from "./parts/dialog.tsx";
import { formatRoute, go } from "./router.ts";
import { makeStore, useStore } from "./store.ts";

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
