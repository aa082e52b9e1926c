/** The table of memories: of thousands of rows only the pages near the window are fetched and rendered, and keys move through all. */
import type { ComponentChildren, TargetedMouseEvent, VNode } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { ListedMemory, MemoryList, Sort } from "../../api.ts";
import { useKeys } from "../keyboard.ts";
import { useLive, useStart } from "../live.ts";
import { Age, formatMemoryRoute, goToMemory, Marked, Tag, TypeTag, toneOf } from "../parts/basics.tsx";
import { keyOf, showName } from "../parts/format.ts";
import { useNear } from "../parts/hooks.ts";
import type { Query } from "../remote.ts";

interface Props {
  /** What was asked, and the first page of the answer. */
  query: Query;
  list: MemoryList;
  sort: Sort;
  isReversed: boolean;
  onSort: (sort: Sort) => void;
  selected: ReadonlySet<string>;
  /** Null if nothing may be changed. */
  onSelect: ((key: string) => void) | null;
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

/** As many rows as are fetched at a time. */
export const PAGE = 60;
/** Up to this many rows rendering all is quick, and finding in the page works. */
const FEW = 200;
/** Rows beyond the window's edges are rendered too, so that scrolling shows no gaps. */
const BEYOND = "1000px 0px";

/** Which memory was opened last: going back to the list finds it again. */
let lastSelected: string | null = null;

export function MemoryTable(props: Props): VNode {
  const { query, list, sort, isReversed, onSort, onSelect } = props;
  const table = useRef<HTMLTableElement>(null);
  /** Those that were fetched, by their place. */
  const rows = useMemo(() => new Map<number, ListedMemory>(), [JSON.stringify(query)]);
  for (const [at, row] of list.rows.entries()) rows.set(at, row);
  const cursor = useCursor(list.found, rows, table);
  const { current, findCurrent, move } = cursor;
  const { readOnly } = useStart();
  const isRising = FALLING.has(sort) === isReversed;
  /** Where the rendered pages begin: the tab key leads to the current row if it is in one of them, else to the first row of all. */
  const [rendered, setRendered] = useState<readonly number[]>([]);
  const at = [...rows].find(([place, row]) => place < list.found && keyOf(row) === current)?.[0];
  const reachable = at !== undefined && rendered.includes(at - (at % PAGE)) ? at : Math.min(...rendered);
  useKeys({
    ArrowDown: (event) => move(event, 1),
    ArrowUp: (event) => move(event, -1),
    j: (event) => move(event, 1),
    k: (event) => move(event, -1),
    x: () => {
      const row = findCurrent();
      if (row && !row.isReadOnly) onSelect?.(keyOf(row));
    },
    Enter: () => {
      const row = findCurrent();
      if (row && document.activeElement === document.body) goToMemory(row);
    },
    e: () => {
      const row = findCurrent();
      if (row && !readOnly && !row.isReadOnly) goToMemory(row, "edit");
    },
  });
  return (
    <table class="memories" aria-rowcount={list.found + 1} ref={table}>
      <caption class="hidden">Memories, {list.found} of them</caption>
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
      {Array.from({ length: Math.ceil(list.found / PAGE) }, (_, page) => (
        <PageRows key={page} {...props} {...{ rows, cursor, reachable, setRendered }} offset={page * PAGE} />
      ))}
    </table>
  );
}

interface PageProps extends Props {
  rows: Map<number, ListedMemory>;
  cursor: ReturnType<typeof useCursor>;
  /** The row that the tab key leads to; arrows lead to the others. */
  reachable: number;
  setRendered: (change: (before: readonly number[]) => readonly number[]) => void;
  offset: number;
}

/** A page of rows, fetched and rendered near the window; elsewhere a gap as high as they are. */
function PageRows(props: PageProps): VNode {
  const { query, list, rows, cursor, setRendered, offset } = props;
  const place = useRef<HTMLTableSectionElement>(null);
  const isFirst = offset === 0;
  const isShown = useNear(place, BEYOND, isFirst) || list.found <= FEW;
  const asked = { ...query, offset, limit: PAGE };
  const live = useLive<MemoryList>(isShown && !isFirst ? "/api/memories" : null, asked);
  const fetched = (isFirst ? list : live.value)?.rows;
  for (const [at, row] of fetched?.entries() ?? []) rows.set(offset + at, row);
  useLayoutEffect(cursor.giveFocus);
  const isRendered = isShown && fetched !== undefined;
  useLayoutEffect(() => {
    if (!isRendered) return;
    setRendered((before) => [...before, offset]);
    return () => setRendered((before) => before.filter((each) => each !== offset));
  }, [isRendered]);
  if (!isShown || !fetched) {
    const height = `calc(var(--row-height) * ${Math.min(PAGE, list.found - offset)})`;
    return (
      <tbody ref={place} class="gap" aria-hidden="true">
        <tr>
          <td colSpan={COLUMNS.length + 1} style={{ height }} />
        </tr>
      </tbody>
    );
  }
  return (
    <tbody ref={place}>
      {fetched.map((row, nth) => (
        <Row key={keyOf(row)} {...props} row={row} at={offset + nth} />
      ))}
    </tbody>
  );
}

function Row(props: PageProps & { row: ListedMemory; at: number }): VNode {
  const { row, at, q, selected, onSelect, cursor, reachable } = props;
  const key = keyOf(row);
  const isSelected = selected.has(key);
  const [name, description] = [showName(row.name), showName(row.description)];
  const address = formatMemoryRoute(row);
  // A press anywhere on the row opens it, unless it was meant for something in it or selects text.
  const open = (event: TargetedMouseEvent<HTMLElement>) => {
    if ((event.target as Element).closest("a, input, label") || getSelection()?.isCollapsed === false) return;
    if (event.ctrlKey || event.metaKey) window.open(address);
    else goToMemory(row);
  };
  const looks = `entry small soft${key === cursor.current ? " is-current" : ""}${isSelected ? " is-selected" : ""}`;
  return (
    <tr class={looks} aria-rowindex={at + 2} data-row={key} onClick={open}>
      {onSelect === null ? null : (
        <td class="col-select">
          <input
            type="checkbox"
            tabIndex={-1}
            aria-label={`Select ${name}`}
            checked={isSelected}
            disabled={row.isReadOnly}
            onChange={() => onSelect(key)}
          />
        </td>
      )}
      <td class="col-name">
        <span class="name row">
          <a
            class="clip"
            href={address}
            tabIndex={at === reachable ? 0 : -1}
            dir="auto"
            title={name}
            onFocus={() => cursor.choose(key)}
          >
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

/** The memory that keys act on, by its key, so that a list that is fetched again keeps it, and what changes it. */
function useCursor(count: number, rows: Map<number, ListedMemory>, table: { current: HTMLTableElement | null }) {
  const [current, setCurrent] = useState(lastSelected);
  const wantsFocus = useRef(false);
  const places = () => [...rows].filter(([at]) => at < count);
  const findCurrent = () => places().find(([, row]) => keyOf(row) === lastSelected);
  const choose = (key: string) => {
    // Keys arrive faster than rendering: the next one continues from here.
    lastSelected = key;
    setCurrent(key);
  };
  // Before the next key: Enter right after `j` opens the row that `j` led to.
  const giveFocus = () => {
    if (!wantsFocus.current || lastSelected === null) return;
    const link = table.current?.querySelector<HTMLElement>(`[data-row="${CSS.escape(lastSelected)}"] a`);
    if (!link) return;
    wantsFocus.current = false;
    link.focus({ preventScroll: true });
  };
  const move = (event: KeyboardEvent, by: number) => {
    if (count === 0 || table.current === null) return;
    event.preventDefault();
    const now = findCurrent()?.[0];
    const at = now === undefined ? 0 : Math.min(count - 1, Math.max(0, now + by));
    bring(table.current, at);
    const row = rows.get(at);
    if (row === undefined) return;
    wantsFocus.current = true;
    choose(keyOf(row));
  };
  return { current, findCurrent: () => findCurrent()?.[1], choose, move, giveFocus };
}

/** Scrolls as little as needed to have row `at` within the window, with a row of room. */
function bring(table: HTMLTableElement, at: number): void {
  const height = table.querySelector<HTMLElement>(".entry")?.offsetHeight || 56;
  const top = (table.tBodies[0]?.getBoundingClientRect().top ?? 0) + at * height;
  if (top < height * 2) window.scrollBy(0, top - height * 2);
  else if (top + height * 2 > window.innerHeight) window.scrollBy(0, top + height * 2 - window.innerHeight);
}
