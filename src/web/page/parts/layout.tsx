/** The parts of a view: its head, sections, tabs, tables, and empty and loading states. */
import type { ComponentChildren, VNode } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import type { Live } from "../live.ts";
import { Button } from "./basics.tsx";
import { showName } from "./format.ts";
import { Failed } from "./notice.tsx";

/** The title, also in the browser's tab, with a sentence below it, and buttons on the right if there is space. */
export function PageHead(props: { title: string; lead?: ComponentChildren; children?: ComponentChildren }): VNode {
  const title = showName(props.title);
  useEffect(() => {
    document.title = `${title} · memdir`;
  }, [title]);
  return (
    <header class="page-head">
      <div class="page-head-words">
        <h1 tabIndex={-1} dir="auto">
          {title}
        </h1>
        {props.lead === undefined ? null : <p class="lead">{props.lead}</p>}
      </div>
      {props.children ? <div class="actions">{props.children}</div> : null}
    </header>
  );
}

interface SectionProps {
  title: string;
  /** Read aloud; the title by default. */
  label?: string;
  /** After the title. */
  count?: number | string;
  children: ComponentChildren;
}

export function Section({ title, label = title, count, children }: SectionProps): VNode {
  return (
    <section class="stack" aria-label={label}>
      <Heading title={title} count={count} />
      {children}
    </section>
  );
}

export function Heading({ title, count }: { title: string; count: number | string | undefined }): VNode {
  return (
    <h2>
      {title}
      {count === undefined ? null : (
        <>
          {" "}
          <span class="soft">{count}</span>
        </>
      )}
    </h2>
  );
}

/** An empty state: why it is empty, and what to do. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }): VNode {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children ? <div class="empty-words">{children}</div> : null}
    </div>
  );
}

/** Shown until the first answer arrives: nothing for a moment, then a line, or the error with a way to try again. */
export function Waiting({ live }: { live: Live<unknown> }): VNode {
  if (live.failure !== null && !live.isLoading)
    return (
      <Failed failure={live.failure}>
        <Button onClick={live.reload}>Try again</Button>
      </Failed>
    );
  return (
    <p class="waiting" role="status">
      Loading…
    </p>
  );
}

interface TabsProps {
  label: string;
  tabs: { id: string; title: string; count?: number }[];
  current: string;
  onChange: (id: string) => void;
  /** The panel of the current tab. */
  children: ComponentChildren;
}

export function Tabs({ label, tabs, current, onChange, children }: TabsProps): VNode {
  const base = useId();
  const list = useRef<HTMLDivElement>(null);
  const move = (event: KeyboardEvent) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    const at = tabs.findIndex((tab) => tab.id === current);
    const next = tabs[(at + by + tabs.length) % tabs.length];
    if (next === undefined) return;
    onChange(next.id);
    list.current?.querySelector<HTMLElement>(`[data-tab="${CSS.escape(next.id)}"]`)?.focus();
  };
  return (
    <div class="tabs">
      <div role="tablist" aria-label={label} class="tab-list" ref={list} onKeyDown={move}>
        {tabs.map((tab) => (
          <button
            key={tab.id}
            type="button"
            role="tab"
            data-tab={tab.id}
            id={`${base}-${tab.id}`}
            aria-selected={tab.id === current}
            aria-controls={`${base}-panel`}
            tabIndex={tab.id === current ? 0 : -1}
            onClick={() => onChange(tab.id)}
          >
            {tab.title}
            {tab.count === undefined ? null : <span class="count">{tab.count}</span>}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${base}-panel`} aria-labelledby={`${base}-${current}`} class="tab-panel">
        {children}
      </div>
    </div>
  );
}

interface Column<Row> {
  title: string;
  cell: (row: Row) => ComponentChildren;
  /** Aligned to the right. */
  isNumber?: boolean;
}

interface TableProps<Row> {
  caption: string;
  columns: Column<Row>[];
  rows: Row[];
  keyOf: (row: Row) => string;
}

/** A plain table of a few dozen rows; on a narrow screen a row becomes a block with the column's name before each value. */
export function Table<Row>({ caption, columns, rows, keyOf }: TableProps<Row>): VNode {
  return (
    <table class="table">
      <caption class="hidden">{caption}</caption>
      <thead>
        <tr>
          {columns.map(({ title, isNumber }) => (
            <th key={title} scope="col" class={isNumber ? "number" : undefined}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)}>
            {columns.map(({ title, isNumber, cell }) => (
              <td key={title} class={isNumber ? "number" : undefined} data-title={title} dir="auto">
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
