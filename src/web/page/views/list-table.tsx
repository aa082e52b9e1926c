/** The table of memories: of thousands of rows only those near the window are rendered, and arrow keys move through all. */
import type { VNode } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ListedMemory } from "../../api.ts";
import { useKeys } from "../keyboard.ts";
import { useStart } from "../live.ts";
import { Age, formatMemoryRoute, Tag, TypeTag, toneOf } from "../parts/basics.tsx";
import { keyOf, showName } from "../parts/format.ts";
import { go } from "../router.ts";
import type { Sort } from "./list-order.ts";

interface Props {
  rows: ListedMemory[];
  sort: Sort;
  isReversed: boolean;
  onSort: (sort: Sort) => void;
}

export const COLUMNS: [sort: Sort, title: string, width: string][] = [
  ["type", "Type", "7rem"],
  ["name", "Memory", "auto"],
  ["scope", "Scope", "6.5rem"],
  ["age", "Age", "7.5rem"],
  ["verdict", "Verdict", "7rem"],
  ["cues", "Cues", "4.25rem"],
  ["recalled", "Recalled", "6rem"],
];

/** The largest come first, unless reversed. */
const FALLING: ReadonlySet<Sort> = new Set(["verdict", "cues", "recalled"]);

/** Up to this many rows rendering all is quick, and finding in the page works. */
const FEW = 200;
/** Rows beyond the window's edges, so that scrolling shows no gaps. */
const BEYOND = 12;

/** Which memory was opened last: going back to the list finds it again. */
let lastSelected: string | null = null;

export function MemoryTable({ rows, sort, isReversed, onSort }: Props): VNode {
  const body = useRef<HTMLTableSectionElement>(null);
  const [first, last] = useRange(body, rows.length);
  const [selected, select, move] = useSelection(rows, body);
  const { readOnly } = useStart();
  const isRising = FALLING.has(sort) === isReversed;
  const chosen = rows.find((row) => keyOf(row) === selected);
  useKeys({
    ArrowDown: (event) => move(event, 1),
    ArrowUp: (event) => move(event, -1),
    Enter: () => {
      if (chosen !== undefined && document.activeElement === document.body) location.hash = formatMemoryRoute(chosen);
    },
    e: () => {
      if (chosen !== undefined && !readOnly && !chosen.isReadOnly)
        go("edit", { directory: chosen.directory, file: chosen.file });
    },
  });
  return (
    <table class="memories" aria-rowcount={rows.length + 1}>
      <caption class="hidden">Memories, {rows.length} of them</caption>
      <thead>
        <tr aria-rowindex={1}>
          {COLUMNS.map(([id, title, width]) => (
            <th
              key={id}
              scope="col"
              class={`col-${id}`}
              style={{ width }}
              aria-sort={sort !== id ? undefined : isRising ? "ascending" : "descending"}
            >
              <button type="button" onClick={() => onSort(id)}>
                {title}
                <span aria-hidden="true">{sort !== id ? "" : isRising ? " ↑" : " ↓"}</span>
              </button>
            </th>
          ))}
        </tr>
      </thead>
      <Gap rows={first} />
      <tbody ref={body}>
        {rows.slice(first, last).map((row, at) => (
          <Row
            key={keyOf(row)}
            row={row}
            at={first + at}
            isSelected={keyOf(row) === selected}
            onFocus={() => select(keyOf(row))}
            isReachable={chosen === undefined ? first + at === 0 : row === chosen}
          />
        ))}
      </tbody>
      <Gap rows={rows.length - last} />
    </table>
  );
}

interface RowProps {
  row: ListedMemory;
  at: number;
  isSelected: boolean;
  /** By the tab key; the others by arrows. */
  isReachable: boolean;
  onFocus: () => void;
}

function Row({ row, at, isSelected, isReachable, onFocus }: RowProps): VNode {
  const { state, says } = row.verdict ?? { state: "unchecked", says: "its claims were not checked yet" };
  const [name, description] = [showName(row.name), showName(row.description)];
  return (
    <tr class={`entry${isSelected ? " is-selected" : ""}`} aria-rowindex={at + 2} data-key={keyOf(row)}>
      <td class="col-type">
        <TypeTag type={row.type} />
      </td>
      <td class="col-name">
        <span class="name">
          {" "}
          <a href={formatMemoryRoute(row)} tabIndex={isReachable ? 0 : -1} dir="auto" title={name} onFocus={onFocus}>
            {name}
          </a>
          {row.pinned ? <Tag tone="accent" text="pinned" /> : null}
        </span>{" "}
        <span class="description" dir="auto" title={description} children={description} />
      </td>
      <td class="col-scope" dir="auto">
        <span class="narrow-only">in </span>
        {row.scope}
      </td>
      <td class="col-age">
        <Age at={row.modified} />
      </td>
      <td class="col-verdict">
        {state === "unchecked" ? (
          <span class="soft" title={says} children={state} />
        ) : (
          <Tag tone={toneOf(state)} title={says} text={state} />
        )}
      </td>
      <td class="col-cues number">{row.cues}</td>
      <td class="col-recalled number">{row.recalled}</td>
    </tr>
  );
}

/** In place of rows that are not rendered. */
function Gap({ rows }: { rows: number }): VNode | null {
  if (rows <= 0) return null;
  return (
    <tbody class="gap" aria-hidden="true">
      <tr>
        <td colSpan={COLUMNS.length} style={{ height: `calc(var(--row-height) * ${rows})` }} />
      </tr>
    </tbody>
  );
}

/** The range of rows to render; follows the window. */
function useRange(body: { current: HTMLTableSectionElement | null }, count: number): [number, number] {
  const [range, setRange] = useState<[number, number]>([0, 60]);
  useLayoutEffect(() => {
    if (count <= FEW) return;
    let frame = 0;
    const measure = () => {
      frame = 0;
      if (body.current === null) return;
      const height = rowHeight(body.current);
      const above = -topOf(body.current);
      // In steps, so that not every pixel renders again.
      const from = Math.max(0, Math.floor(above / height / BEYOND) * BEYOND - BEYOND);
      const to = Math.min(count, from + Math.ceil(window.innerHeight / height / BEYOND) * BEYOND + 3 * BEYOND);
      setRange((now) => (now[0] === from && now[1] === to ? now : [from, to]));
    };
    const soon = () => {
      if (frame === 0) frame = requestAnimationFrame(measure);
    };
    measure();
    const listening = new AbortController();
    for (const kind of ["scroll", "resize"])
      window.addEventListener(kind, soon, { passive: true, signal: listening.signal });
    return () => {
      cancelAnimationFrame(frame);
      listening.abort();
    };
  }, [count]);
  if (count <= FEW) return [0, count];
  // A shorter list is rendered once with the range of the longer one.
  return range[0] < count ? [range[0], Math.min(count, range[1])] : [0, Math.min(count, 60)];
}

/** The chosen memory by its key, so that a list that is fetched again keeps it, and what changes the choice. */
function useSelection(
  rows: ListedMemory[],
  body: { current: HTMLTableSectionElement | null },
): [string | null, (key: string) => void, (event: KeyboardEvent, by: number) => void] {
  const [selected, setSelected] = useState(lastSelected);
  // Keys arrive faster than rendering: the next one continues from here.
  const latest = useRef(selected);
  const select = (key: string) => {
    latest.current = key;
    lastSelected = key;
    setSelected(key);
  };
  const wantsFocus = useRef(false);
  useEffect(() => {
    if (!wantsFocus.current || selected === null || selected !== latest.current) return;
    const link = body.current?.querySelector<HTMLElement>(`[data-key="${CSS.escape(selected)}"] a`);
    if (!link) return;
    wantsFocus.current = false;
    link.focus({ preventScroll: true });
  });
  const move = (event: KeyboardEvent, by: number) => {
    if (rows.length === 0 || body.current === null) return;
    event.preventDefault();
    const now = rows.findIndex((row) => keyOf(row) === latest.current);
    const at = now === -1 ? 0 : Math.min(rows.length - 1, Math.max(0, now + by));
    const row = rows[at];
    if (row === undefined) return;
    wantsFocus.current = true;
    select(keyOf(row));
    bring(body.current, at);
  };
  return [selected, select, move];
}

/** Scrolls as little as needed to have row `at` within the window, with a row of room. */
function bring(body: HTMLElement, at: number): void {
  const height = rowHeight(body);
  const top = topOf(body) + at * height;
  if (top < height * 2) window.scrollBy(0, top - height * 2);
  else if (top + height * 2 > window.innerHeight) window.scrollBy(0, top + height * 2 - window.innerHeight);
}

function rowHeight(body: HTMLElement): number {
  return body.querySelector<HTMLElement>(".entry")?.offsetHeight || 56;
}

/** Where the first row is or would be, rendered or not. */
function topOf(body: HTMLElement): number {
  const gap = body.previousElementSibling;
  return (gap?.matches(".gap") ? gap : body).getBoundingClientRect().top;
}
