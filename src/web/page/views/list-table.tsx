/** The table of memories: of thousands of rows only those near the window are rendered, and keys move through all. */
import type { ComponentChildren, TargetedMouseEvent, VNode } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ListedMemory, Sort } from "../../api.ts";
import { useKeys } from "../keyboard.ts";
import { useStart } from "../live.ts";
import { Age, formatMemoryRoute, goToMemory, Marked, Tag, TypeTag, toneOf } from "../parts/basics.tsx";
import { keyOf, showName } from "../parts/format.ts";

interface Props {
  count: number;
  /** Undefined while it is being fetched. */
  rowAt: (at: number) => ListedMemory | undefined;
  sort: Sort;
  isReversed: boolean;
  onSort: (sort: Sort) => void;
  selected: ReadonlySet<string>;
  /** Null if nothing may be changed. */
  onSelect: ((key: string) => void) | null;
  /** Which rows are near the window. */
  onRange: (first: number, last: number) => void;
  /** The words to mark. */
  q: string;
}

interface Column {
  sort: Exclude<Sort, "rank">;
  title: string;
  width: string;
  looks: string;
  /** The name's is the row's own. */
  cell?: (row: ListedMemory) => ComponentChildren;
}

export const COLUMNS: Column[] = [
  { sort: "name", title: "Name", width: "", looks: "" },
  { sort: "verdict", title: "Verdict", width: "20%", looks: "", cell: ({ verdict }) => <Verdict verdict={verdict} /> },
  { sort: "type", title: "Type", width: "6.5rem", looks: " clip", cell: ({ type }) => <TypeTag type={type} /> },
  { sort: "scope", title: "Scope", width: "5.5rem", looks: " clip", cell: ({ scope }) => <bdi>{scope}</bdi> },
  { sort: "age", title: "Age", width: "7rem", looks: " clip", cell: ({ modified }) => <Age at={modified} /> },
  { sort: "cues", title: "Cues", width: "3.75rem", looks: " number", cell: ({ cues }) => cues },
  { sort: "recalled", title: "Recalled", width: "5.25rem", looks: " number", cell: ({ recalled }) => recalled },
];

/** The largest come first, unless reversed. */
const FALLING: ReadonlySet<Sort> = new Set(["cues", "recalled"]);

/** Up to this many rows rendering all is quick, and finding in the page works. */
const FEW = 200;
/** Rows beyond the window's edges, so that scrolling shows no gaps. */
const BEYOND = 12;

/** Which memory was opened last: going back to the list finds it again. */
let lastSelected: string | null = null;

export function MemoryTable(props: Props): VNode {
  const { count, rowAt, sort, isReversed, onSort, selected, onSelect, onRange, q } = props;
  const body = useRef<HTMLTableSectionElement>(null);
  const [first, last] = useRange(body, count);
  const [current, choose, move] = useCurrent(count, rowAt, body);
  const { readOnly } = useStart();
  useEffect(() => onRange(first, last), [first, last]);
  const isRising = FALLING.has(sort) === isReversed;
  const places = Array.from({ length: last - first }, (_, at) => first + at);
  const chosen = places.map(rowAt).find((row) => row !== undefined && keyOf(row) === current);
  useKeys({
    ArrowDown: (event) => move(event, 1),
    ArrowUp: (event) => move(event, -1),
    j: (event) => move(event, 1),
    k: (event) => move(event, -1),
    x: () => {
      if (chosen !== undefined && !chosen.isReadOnly) onSelect?.(keyOf(chosen));
    },
    Enter: () => {
      if (chosen !== undefined && document.activeElement === document.body) goToMemory(chosen);
    },
    e: () => {
      if (chosen !== undefined && !readOnly && !chosen.isReadOnly) goToMemory(chosen, "edit");
    },
  });
  return (
    <table class="memories" aria-rowcount={count + 1}>
      <caption class="hidden">Memories, {count} of them</caption>
      <thead>
        <tr aria-rowindex={1}>
          {onSelect === null ? null : (
            <th scope="col" style={{ width: "2rem" }}>
              <span class="hidden">Selected</span>
            </th>
          )}
          {COLUMNS.map(({ sort: id, title, width }) => (
            <th
              key={id}
              scope="col"
              class={`col-${id}`}
              style={{ width }}
              aria-sort={sort !== id ? undefined : isRising ? "ascending" : "descending"}
            >
              <button type="button" class="bare small" onClick={() => onSort(id)}>
                {title}
                <span aria-hidden="true">{sort !== id ? "" : isRising ? " ↑" : " ↓"}</span>
              </button>
            </th>
          ))}
        </tr>
      </thead>
      <Gap rows={first} />
      <tbody ref={body}>
        {places.map((at) => {
          const row = rowAt(at);
          if (row === undefined) return <EmptyRow key={at} />;
          const key = keyOf(row);
          return (
            <Row
              key={key}
              {...{ row, at, q, onSelect }}
              isCurrent={key === current}
              isSelected={selected.has(key)}
              onFocus={() => choose(key)}
              isReachable={chosen === undefined ? at === first : row === chosen}
            />
          );
        })}
      </tbody>
      <Gap rows={count - last} />
    </table>
  );
}

interface RowProps extends Pick<Props, "q" | "onSelect"> {
  row: ListedMemory;
  at: number;
  isCurrent: boolean;
  isSelected: boolean;
  /** By the tab key; the others by arrows. */
  isReachable: boolean;
  onFocus: () => void;
}

function Row({ row, at, q, isCurrent, isSelected, isReachable, onSelect, onFocus }: RowProps): VNode {
  const [name, description] = [showName(row.name), showName(row.description)];
  const address = formatMemoryRoute(row);
  // A press anywhere on the row opens it, unless it was meant for something in it or selects text.
  const open = (event: TargetedMouseEvent<HTMLElement>) => {
    if ((event.target as Element).closest("a, input, label") || getSelection()?.isCollapsed === false) return;
    if (event.ctrlKey || event.metaKey) window.open(address);
    else goToMemory(row);
  };
  const looks = `entry small soft${isCurrent ? " is-current" : ""}${isSelected ? " is-selected" : ""}`;
  return (
    <tr class={looks} aria-rowindex={at + 2} data-row={keyOf(row)} onClick={open}>
      {onSelect === null ? null : (
        <td class="col-select">
          <input
            type="checkbox"
            tabIndex={-1}
            aria-label={`Select ${name}`}
            checked={isSelected}
            disabled={row.isReadOnly}
            onChange={() => onSelect(keyOf(row))}
          />
        </td>
      )}
      <td class="col-name">
        <span class="name row">
          <a class="clip" href={address} tabIndex={isReachable ? 0 : -1} dir="auto" title={name} onFocus={onFocus}>
            <Marked text={name} q={q} />
          </a>
          {row.pinned ? <Tag tone="accent" text="pinned" /> : null}
        </span>{" "}
        <span class="clamp" dir="auto" title={description}>
          <Marked text={row.line ?? description} q={q} />
        </span>
      </td>
      {COLUMNS.slice(1).map(({ sort, looks, cell }) => (
        <td key={sort} class={`col-${sort}${looks}`} children={cell?.(row)} />
      ))}
    </tr>
  );
}

/** What the last check found, with the reason where something is wrong. */
function Verdict({ verdict }: { verdict: ListedMemory["verdict"] }): VNode {
  if (verdict === null) return <span title="Its claims were not checked yet, or it has changed since.">unchecked</span>;
  const { state, says } = verdict;
  if (state === "no claims") return <span title="It names nothing that can be checked.">no claims</span>;
  const tone = toneOf(state);
  return (
    <span class="verdict clamp" title={says}>
      <Tag tone={tone} text={state} />{" "}
      {tone === "good" ? null : <span dir="auto">{says.replace(/ \(checked.*$/, "")}</span>}
    </span>
  );
}

/** In place of a row that is being fetched. */
function EmptyRow(): VNode {
  return (
    <tr class="entry">
      <td colSpan={COLUMNS.length + 1} />
    </tr>
  );
}

/** In place of rows that are not rendered. */
function Gap({ rows }: { rows: number }): VNode | null {
  if (rows <= 0) return null;
  return (
    <tbody class="gap" aria-hidden="true">
      <tr>
        <td colSpan={COLUMNS.length + 1} style={{ height: `calc(var(--row-height) * ${rows})` }} />
      </tr>
    </tbody>
  );
}

type Body = { current: HTMLTableSectionElement | null };

/** The range of rows to render; follows the window. */
function useRange(body: Body, count: number): [number, number] {
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

/** The memory that keys act on, by its key, so that a list that is fetched again keeps it, and what changes it. */
function useCurrent(count: number, rowAt: Props["rowAt"], body: Body) {
  const [current, setCurrent] = useState(lastSelected);
  const place = useRef(-1);
  const choose = (key: string) => {
    // Keys arrive faster than rendering: the next one continues from here.
    lastSelected = key;
    setCurrent(key);
  };
  const wantsFocus = useRef(false);
  // Before the next key: Enter right after `j` opens the row that `j` led to.
  useLayoutEffect(() => {
    if (!wantsFocus.current || current === null || current !== lastSelected) return;
    const link = body.current?.querySelector<HTMLElement>(`[data-row="${CSS.escape(current)}"] a`);
    if (!link) return;
    wantsFocus.current = false;
    link.focus({ preventScroll: true });
  });
  const move = (event: KeyboardEvent, by: number) => {
    if (count === 0 || body.current === null) return;
    event.preventDefault();
    const isAt = (at: number) => {
      const row = rowAt(at);
      return row !== undefined && keyOf(row) === lastSelected;
    };
    const now = isAt(place.current) ? place.current : Array.from({ length: count }, (_, at) => at).findIndex(isAt);
    const at = now === -1 ? 0 : Math.min(count - 1, Math.max(0, now + by));
    const row = rowAt(at);
    bring(body.current, at);
    if (row === undefined) return;
    wantsFocus.current = true;
    place.current = at;
    choose(keyOf(row));
  };
  return [current, choose, move] as const;
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
