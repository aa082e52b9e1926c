/** The parts of a view: its head, sections, modes, tables, and empty and loading states. */
import type { ComponentChildren, TargetedKeyboardEvent, VNode } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { useKeys } from "../keyboard.ts";
import type { Live } from "../live.ts";
import { amend, formatRoute, route } from "../router.ts";
import { useStore } from "../store.ts";
import { Button, Field } from "./basics.tsx";
import { showName, toggle } from "./format.ts";
import { Failed } from "./notice.tsx";

/** The title, also in the browser's tab, with a sentence below it, and buttons on the right if there is space. */
export function PageHead(props: { title: string; lead?: ComponentChildren; children?: ComponentChildren }): VNode {
  const title = showName(props.title);
  useEffect(() => {
    document.title = `${title} · memdir`;
  }, [title]);
  return (
    <header class="page-head row" style={{ alignItems: "flex-start", gap: "0.75rem 1.5rem" }}>
      <div class="grow">
        <h1 tabIndex={-1} dir="auto" children={title} />
        {props.lead ? (
          <p class="lead soft" style={{ maxWidth: "60rem", marginTop: "0.25rem" }} children={props.lead} />
        ) : null}
      </div>
      {props.children ? <div class="row">{props.children}</div> : null}
    </header>
  );
}

/** Ways to show the same thing, as links side by side: titles with the value of a parameter, null for the usual one. */
export function Modes(props: { label: string; view: string; by: string; modes: Record<string, string | null> }): VNode {
  const { label, view, by, modes } = props;
  const all = Object.entries(modes);
  const now = useStore(route).params.get(by);
  const current = all.findLast(([, value]) => value === null || value === now);
  return (
    <nav class="row chips" aria-label={label}>
      {all.map((mode) => (
        <a
          key={mode[0]}
          class="chip"
          href={formatRoute(view, { [by]: mode[1] })}
          aria-current={mode === current ? "page" : undefined}
          children={mode[0]}
        />
      ))}
    </nav>
  );
}

interface SectionProps {
  title: string;
  /** After the title. */
  count?: number | string;
  class?: string;
  children: ComponentChildren;
}

export function Section({ title, count, class: looks = "", children }: SectionProps): VNode {
  return (
    <section class={`stack-s ${looks}`.trim()} aria-label={title}>
      <Heading title={title} count={count} />
      {children}
    </section>
  );
}

export function Heading({ title, count = "" }: { title: string; count?: number | string | undefined }): VNode {
  return (
    <h2>
      {title} <span class="soft">{count}</span>
    </h2>
  );
}

/** Names with what they stand for, in two columns. */
export function Facts({ facts }: { facts: readonly [name: ComponentChildren, value: ComponentChildren][] }): VNode {
  return (
    <dl class="facts">
      {facts.map(([name, value], at) => (
        <div key={at}>
          <dt class="soft" dir="auto">
            {name}
          </dt>
          <dd dir="auto">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** An empty state: why it is empty, and what to do. */
export function Empty(props: { title: string; text?: string; children?: ComponentChildren }): VNode {
  return (
    <div class="empty stack-s soft">
      <p style={{ color: "var(--ink)", font: "600 1rem / 1.55 var(--sans)" }}>{props.title}</p>
      {props.text === undefined ? null : <p>{props.text}</p>}
      {props.children}
    </div>
  );
}

export function Loading(): VNode {
  return <p class="waiting soft" role="status" children="Loading…" />;
}

/** What an answer shows; until it arrives nothing for a moment, then a line, or the error with a way to try again. */
export function Answered<T>({ live, children }: { live: Live<T>; children: (value: T) => ComponentChildren }): VNode {
  if (live.value !== null) return <>{children(live.value)}</>;
  if (live.failure === null || live.isLoading) return <Loading />;
  return (
    <Failed failure={live.failure}>
      <Button text="Try again" onClick={live.reload} />
    </Failed>
  );
}

interface PageProps<T> {
  title: string;
  lead?: ComponentChildren;
  live: Live<T>;
  /** Buttons in its head. */
  actions?: ComponentChildren;
  children: (value: T) => ComponentChildren;
}

/** A view that shows the answer to one question. */
export function Page<T>({ title, lead, live, actions, children }: PageProps<T>): VNode {
  return (
    <>
      <PageHead title={title} lead={lead} children={actions} />
      <Answered live={live} children={children} />
    </>
  );
}

interface ChoicesProps<Value> {
  label: string;
  /** The value is the title by default; `class` is that of a colour sample before it. */
  choices: readonly { value: Value; title?: string; class?: string; count?: number }[];
  isChosen: (value: Value) => boolean;
  onChoose: (value: Value) => void;
  /** Of every button. */
  looks?: string;
}

/** A few things side by side, of which one or several are chosen. */
export function Choices<Value extends string | null>(props: ChoicesProps<Value>): VNode {
  const { label, choices, isChosen, onChoose, looks = "chip" } = props;
  return (
    <fieldset class={`row plain-set${looks === "chip" ? " chips" : ""}`}>
      <legend class="hidden">{label}</legend>
      {choices.map(({ value, title, class: sample, count }) => (
        <button key={value} type="button" class={looks} aria-pressed={isChosen(value)} onClick={() => onChoose(value)}>
          {sample === undefined ? null : <span class={`swatch ${sample}`} aria-hidden="true" />}
          {title ?? value} {count === undefined ? null : <span class="soft">{count.toLocaleString()}</span>}
        </button>
      ))}
    </fieldset>
  );
}

type KindsProps<Kind> = Pick<ChoicesProps<Kind>, "label" | "choices"> & {
  /** Those that are hidden, as the address has them. */
  without: ReadonlySet<string>;
};

/** Which kinds of something are shown. */
export function Kinds<Kind extends string>({ without, ...shown }: KindsProps<Kind>): VNode {
  const turn = (kind: Kind) => amend({ without: toggle<string>(without, kind).join(",") });
  return <Choices {...shown} isChosen={(kind) => !without.has(kind)} onChoose={turn} looks="button button-small" />;
}

export function readWithout(params: URLSearchParams): ReadonlySet<string> {
  return new Set((params.get("without") ?? "").split(",").filter((kind) => kind !== ""));
}

interface Column<Row> {
  title: string;
  cell: (row: Row) => ComponentChildren;
  /** Aligned to the right. */
  isNumber?: boolean;
}

interface TableProps<Row> {
  caption: string;
  /** Said in its place if there are no rows. */
  none?: string;
  columns: Column<Row>[];
  rows: Row[];
  keyOf: (row: Row) => string;
}

/** A plain table of a few dozen rows; on a narrow screen a row becomes a block with the column's name before each value. */
export function Table<Row>({ caption, none = "", columns, rows, keyOf }: TableProps<Row>): VNode {
  if (rows.length === 0) return <p class="soft">{none}</p>;
  return (
    <table class="table wide">
      <caption class="hidden">{caption}</caption>
      <thead>
        <tr class="soft">
          {columns.map(({ title, isNumber }) => (
            <th key={title} scope="col" class={isNumber ? "number" : undefined} children={title} />
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

interface SearchProps {
  label: string;
  placeholder: string;
  q: string;
  onInput: (q: string) => void;
  onKeyDown: (event: TargetedKeyboardEvent<HTMLElement>) => void;
  class: string;
  /** Somebody came to search. */
  wantsFocus?: boolean;
  children?: ComponentChildren;
}

/** A field that searches what the view shows; a slash leads to it. */
export function SearchField({ class: looks, q, wantsFocus = false, children, ...more }: SearchProps): VNode {
  const place = useRef<HTMLElement>(null);
  const focus = () => {
    const input = place.current?.querySelector("input");
    input?.focus();
    input?.select();
  };
  useKeys({ "/": focus });
  // Before the view's title would get the focus, and before the next key.
  useLayoutEffect(() => {
    if (!wantsFocus) return;
    focus();
    amend({ focus: null });
  }, [wantsFocus]);
  return (
    <search class={looks} ref={place}>
      <Field isBare type="search" spellcheck={false} value={q} {...more} />
      {children}
    </search>
  );
}
