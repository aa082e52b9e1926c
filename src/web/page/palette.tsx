/** The palette (`⌘K`, `Ctrl-K`): every place, every verb of the table, what the shown view offers, and every memory, by typing. */

import type { TargetedKeyboardEvent, VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { MemoryList } from "../api.ts";
import { ALL_PLACES, type Command, commands } from "./keyboard.ts";
import { useLive, useStart } from "./live.ts";
import { goToMemory, Keys } from "./parts/basics.tsx";
import { undoLast } from "./parts/change.ts";
import { closeDialog, openDialog, useModal } from "./parts/dialog.tsx";
import { holds } from "./parts/format.ts";
import { useLater } from "./parts/hooks.ts";
import { startJob } from "./parts/jobs.tsx";
import { go } from "./router.ts";
import { useStore } from "./store.ts";
import { turnTheme } from "./theme.ts";
import { askVerb } from "./verb-dialog.tsx";

export function openPalette(): void {
  openDialog(<Palette />);
}

/** A keystroke is asked once the next one does not follow at once. */
const PAUSE_MS = 80;
/** As many memories as fit below the commands. */
const MOST_MEMORIES = 8;

function Palette(): VNode {
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const modal = useModal();
  const choices = useChoices(typed);
  const current = Math.min(at, choices.length - 1);
  const run = (choice: Command | undefined) => {
    if (choice === undefined) return;
    closeDialog();
    void choice.run();
  };
  const press = (event: TargetedKeyboardEvent<HTMLInputElement>) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by !== undefined) {
      event.preventDefault();
      setAt((current + by + choices.length) % Math.max(1, choices.length));
    } else if (event.key === "Enter" && !event.isComposing) {
      event.preventDefault();
      run(choices[current]);
    }
  };
  useEffect(() => {
    modal.ref.current?.querySelector(".is-current")?.scrollIntoView({ block: "nearest" });
  }, [current, choices.length]);
  return (
    <dialog {...modal} class="dialog palette" aria-label="Run a command or open a memory" closedby="any">
      <input
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-choices"
        aria-activedescendant={choices.length === 0 ? undefined : `choice-${current}`}
        aria-label="A command or a memory"
        placeholder="Run a command or open a memory…"
        autocomplete="off"
        spellcheck={false}
        value={typed}
        onInput={(event) => {
          setTyped(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={press}
      />
      <div role="listbox" id="palette-choices" aria-label="Commands and memories" tabIndex={-1}>
        {choices.map((choice, number) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field, which keeps the focus
          <div
            key={`${choice.title} ${choice.says}`}
            role="option"
            id={`choice-${number}`}
            tabIndex={-1}
            aria-selected={number === current}
            class={`palette-row row${number === current ? " is-current" : ""}`}
            onMouseMove={() => setAt(number)}
            onClick={() => run(choice)}
          >
            <span class="clip" style={{ minWidth: "6rem" }} dir="auto" children={choice.title} />
            <span class="soft small grow clip" dir="auto" children={choice.says} />
            {choice.keys === undefined ? null : <Keys keys={choice.keys} />}
          </div>
        ))}
      </div>
      {choices.length === 0 ? <p class="soft palette-row">Nothing matches.</p> : null}
    </dialog>
  );
}

/** What the typed words fit: commands by their words, then memories by name, description and text. */
function useChoices(typed: string): Command[] {
  const { verbs, readOnly } = useStart();
  const offered = useStore(commands).flatMap(({ current }) => current);
  const [asked] = useLater(typed.trim(), PAUSE_MS);
  const query = { q: asked, quick: true, limit: MOST_MEMORIES };
  const found = useLive<MemoryList>(asked === "" ? null : "/api/memories", query, { isSteady: true }).value;
  const [first = ""] = typed.trim().toLowerCase().split(/\s+/);
  const all: Command[] = [
    ...offered,
    ...ALL_PLACES.map(({ view, title, letter }) => ({
      title,
      says: "go to",
      keys: `g ${letter}`,
      run: () => go(view),
    })),
    { title: "Context", says: "what is loaded at the start", run: () => go("recall", { tab: "context" }) },
    { title: "Map", says: "memories by link and meaning", run: () => go("memories", { as: "map" }) },
    { title: "Sessions", says: "past conversations", run: () => go("activity", { tab: "sessions" }) },
    { title: "Change the theme", run: turnTheme },
    ...(readOnly
      ? []
      : [
          { title: "dream", says: "Plan how to tidy up: merge, rewrite, retire", run: () => startJob("dream") },
          { title: "learn", says: "Learn from past sessions", run: () => startJob("learn") },
        ]),
    ...verbs.map(({ name, summary }) => ({ title: name, says: summary, run: RUNS[name] ?? (() => askVerb(name)) })),
  ];
  const fits = all.filter(({ title, says = "" }) => holds(`${title} ${says}`, typed));
  // What begins with the words before what only mentions them.
  const begins = ({ title }: Command) => (title.toLowerCase().startsWith(first) ? 0 : 1);
  const memories = typed.trim() === "" ? [] : (found?.rows ?? []);
  return [
    ...fits.sort((a, b) => begins(a) - begins(b)),
    ...memories.map((row) => ({ title: row.name, says: row.description, run: () => goToMemory(row) })),
  ];
}

/** Where the page has a place of its own for what a verb does; the others are asked in a form. */
const RUNS: Readonly<Record<string, () => unknown>> = {
  save: () => go("new"),
  list: () => go("memories"),
  search: () => go("memories", { focus: "search" }),
  recall: () => go("recall"),
  undo: undoLast,
  history: () => go("activity"),
  health: () => go("home"),
  verify: () => startJob("verify"),
};
