/** Navigation: a column beside the content; on a narrow screen a bar on top that unfolds. */
import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { KEYS_SHOWN, LETTERS, useKeys } from "./keyboard.ts";
import { Button } from "./parts/button.tsx";
import { Dialog } from "./parts/dialog.tsx";
import { useStart } from "./parts/start.ts";
import { undoLast } from "./parts/undo.ts";
import { formatRoute, go } from "./router.ts";
import { useStore } from "./store.ts";
import { theme, turnTheme } from "./theme.ts";

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
        {KEYS_SHOWN.map(([key, says]) => (
          <div key={key}>
            <dt>
              {key.split(" ").map((one) => (
                <kbd key={one}>{one}</kbd>
              ))}
            </dt>
            <dd>{says}</dd>
          </div>
        ))}
        {Object.entries(LETTERS).map(([letter, to]) => (
          <div key={letter}>
            <dt>
              <kbd>g</kbd> <kbd>{letter}</kbd>
            </dt>
            <dd>{to}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
