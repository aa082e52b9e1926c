/** Small charts: counts as rows of bars, and days as a strip of columns; each with its figures as a table for those who do not see it. */
import type { VNode } from "preact";
import { Bar } from "./bar.tsx";
import { type Column, formatDay } from "./days.ts";

export interface Count {
  label: string;
  count: number;
  /** Where a click leads. */
  href?: string;
  /** A dot before the label, by class. */
  dot?: string;
}

export function Counts({ counts, label }: { counts: Count[]; label: string }): VNode {
  const most = Math.max(1, ...counts.map(({ count }) => count));
  return (
    <table class="counts">
      <caption class="hidden">{label}</caption>
      <tbody>
        {counts.map(({ label, count, href, dot }) => (
          <tr key={label}>
            <th scope="row" dir="auto">
              {dot === undefined ? null : <span class={`dot ${dot}`} aria-hidden="true" />}
              {href === undefined ? label : <a href={href}>{label}</a>}
            </th>
            <td class="counts-bar" aria-hidden="true">
              <Bar share={count / most} label={label} tone="plain" />
            </td>
            <td class="number">{count.toLocaleString()}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface ColumnsProps {
  columns: Column[];
  kinds: { title: string; class: string }[];
  /** Read aloud and the caption of the table. */
  label: string;
  format: (value: number) => string;
  onChoose?: (day: string) => void;
}

/** Columns are drawn in a box of this height and stretched by the browser. */
const HEIGHT = 100;
/** Something that happened once beside a thousand is still seen. */
const LEAST = 3;

export function Columns({ columns, kinds, label, format, onChoose }: ColumnsProps): VNode {
  const most = Math.max(...columns.map(sumOf), Number.MIN_VALUE);
  return (
    <figure class="columns">
      <div class="columns-scale soft" aria-hidden="true">
        <span>{most > 1e-6 ? format(most) : ""}</span>
      </div>
      <svg
        viewBox={`0 0 ${columns.length} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={label}
        class={onChoose === undefined ? undefined : "is-pressable"}
      >
        {columns.map((column, at) => (
          // biome-ignore lint/a11y/noStaticElementInteractions: a shortcut for the mouse; the field for the day is there for the keyboard
          <g key={column.day} onClick={() => onChoose?.(column.day)}>
            <title>{describe(column, kinds, format)}</title>
            <rect class="columns-ground" x={at} y={0} width={1} height={HEIGHT} />
            {stack(column, most).map(({ y, height }, kind) =>
              height === 0 ? null : (
                <rect
                  key={kinds[kind]?.title}
                  class={kinds[kind]?.class}
                  x={at + 0.1}
                  y={y}
                  width={0.8}
                  height={height}
                />
              ),
            )}
          </g>
        ))}
      </svg>
      <div class="columns-days soft" aria-hidden="true">
        {pickDays(columns).map((day) => (
          <span key={day}>{formatDay(day)}</span>
        ))}
      </div>
      <ColumnsTable columns={columns} kinds={kinds} label={label} format={format} />
    </figure>
  );
}

function ColumnsTable({ columns, kinds, label, format }: ColumnsProps): VNode {
  const filled = columns.filter((column) => sumOf(column) > 0);
  return (
    <div class="hidden">
      <table>
        <caption>{label}</caption>
        <thead>
          <tr>
            <th scope="col">Day</th>
            {kinds.map(({ title }) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {filled.map((column) => (
            <tr key={column.day}>
              <th scope="row">{column.day}</th>
              {kinds.map(({ title }, kind) => (
                <td key={title}>{format(column.values[kind] ?? 0)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function stack(column: Column, most: number): { y: number; height: number }[] {
  let top = HEIGHT;
  return column.values.map((value) => {
    const height = value <= 0 ? 0 : Math.max(LEAST, (value / most) * HEIGHT);
    top -= height;
    return { y: Math.max(0, top), height };
  });
}

function describe(column: Column, kinds: ColumnsProps["kinds"], format: ColumnsProps["format"]): string {
  const said = kinds
    .map(({ title }, at) => ({ title, value: column.values[at] ?? 0 }))
    .filter(({ value }) => value > 0)
    .map(({ title, value }) => `${title} ${format(value)}`);
  return `${formatDay(column.day, true)}: ${said.length === 0 ? "nothing" : said.join(", ")}`;
}

function pickDays(columns: Column[]): string[] {
  if (columns.length < 3) return columns.map(({ day }) => day);
  const places = [0, Math.floor((columns.length - 1) / 2), columns.length - 1];
  return places.map((at) => columns[at]?.day ?? "");
}

function sumOf(column: Column): number {
  return column.values.reduce((sum, value) => sum + value, 0);
}
