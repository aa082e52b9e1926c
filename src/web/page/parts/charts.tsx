/** Small charts: parts of a whole, and days as a strip of columns; each with its figures as text. */
import type { VNode } from "preact";
import type { Home } from "../../api.ts";
import { Soft } from "./basics.tsx";
import { type DayColumn, formatBytes, formatDay } from "./format.ts";
import { Table } from "./layout.tsx";

/** As many as the style has. */
const COLOURS = 6;

/** As many parts as there are colours: the largest ones in their order, and the others as one. */
function foldSmall(parts: Home["given"]["context"]): Home["given"]["context"] {
  if (parts.length <= COLOURS) return parts;
  const largest = new Set([...parts].sort((a, b) => b.bytes - a.bytes).slice(0, COLOURS - 1));
  const small = parts.filter((part) => !largest.has(part));
  const sum = (of: "bytes" | "tokens") => small.reduce((total, part) => total + part[of], 0);
  const others = { part: `${small.length} smaller parts`, bytes: sum("bytes"), tokens: sum("tokens") };
  return [...parts.filter((part) => largest.has(part)), others];
}

/** What fills the model's context: one bar of all parts, with a legend as a table of bytes and tokens. */
export function ContextBar({ parts }: { parts: Home["given"]["context"] }): VNode {
  const sum = (of: "bytes" | "tokens") => parts.reduce((total, part) => total + part[of], 0);
  const total = { part: "Total", bytes: sum("bytes"), tokens: sum("tokens"), class: "hidden" };
  if (total.bytes === 0)
    return (
      <Soft text="Nothing yet. Instructions, the index, rules and recalled memories appear here, sorted by size." />
    );
  const rows = foldSmall(parts).map((part, at) => ({ ...part, class: `swatch chart-${at + 1}` }));
  return (
    <div class="parts">
      <div
        class="stacked-bar"
        role="img"
        aria-label={`${formatBytes(total.bytes)} in ${parts.length} parts; the table has the sizes`}
      >
        {rows.map(({ part, bytes, class: colour }) =>
          bytes === 0 ? null : (
            <span
              key={part}
              class={colour}
              style={{ width: `${((bytes / total.bytes) * 100).toFixed(2)}%` }}
              title={`${part} ${formatBytes(bytes)}`}
            />
          ),
        )}
      </div>
      <Table
        caption="Parts of the context with bytes and tokens"
        columns={[
          {
            title: "Part",
            cell: ({ part, class: colour }) => (
              <>
                <span class={colour} aria-hidden="true" /> {part}
              </>
            ),
          },
          { title: "Size", isNumber: true, cell: ({ bytes }) => formatBytes(bytes) },
          { title: "Tokens", isNumber: true, cell: ({ tokens }) => `≈ ${tokens.toLocaleString()}` },
        ]}
        rows={[...rows, total]}
        keyOf={({ part }) => part}
      />
    </div>
  );
}

interface ColumnsProps {
  columns: DayColumn[];
  kinds: { title: string; class: string }[];
  /** Read aloud and the caption of the table. */
  label: string;
  format: (value: number) => string;
  onChoose?: (day: string) => void;
}

export function Columns({ columns, kinds, label, format, onChoose }: ColumnsProps): VNode {
  const most = Math.max(...columns.map(sumOf), Number.MIN_VALUE);
  return (
    <figure class="columns">
      <p class="soft small" aria-hidden="true" children={most > 1e-6 ? format(most) : ""} />
      <div class="columns-box" role="img" aria-label={label}>
        {columns.map((column) => (
          // biome-ignore lint/a11y/noStaticElementInteractions: a shortcut for the mouse; the field for the day is there for the keyboard
          // biome-ignore lint/a11y/useKeyWithClickEvents: the same
          <div key={column.day} title={describe(column, kinds, format)} onClick={() => onChoose?.(column.day)}>
            {column.values.map((value, kind) =>
              value <= 0 ? null : (
                <span key={kind} class={kinds[kind]?.class} style={{ height: `${(value / most) * 100}%` }} />
              ),
            )}
          </div>
        ))}
      </div>
      <div class="row soft small" style={{ justifyContent: "space-between" }} aria-hidden="true">
        {pickDays(columns).map((day) => (
          <span key={day}>{formatDay(day)}</span>
        ))}
      </div>
      <div class="hidden">
        <Table
          caption={label}
          columns={[
            { title: "Day", cell: ({ day }) => day },
            ...kinds.map(({ title }, kind) => ({ title, cell: ({ values }: DayColumn) => format(values[kind] ?? 0) })),
          ]}
          rows={columns.filter((column) => sumOf(column) > 0)}
          keyOf={({ day }) => day}
        />
      </div>
    </figure>
  );
}

function describe(column: DayColumn, kinds: ColumnsProps["kinds"], format: ColumnsProps["format"]): string {
  const said = kinds
    .map(({ title }, at) => ({ title, value: column.values[at] ?? 0 }))
    .filter(({ value }) => value > 0)
    .map(({ title, value }) => `${title} ${format(value)}`);
  return `${formatDay(column.day, true)}: ${said.length === 0 ? "nothing" : said.join(", ")}`;
}

function pickDays(columns: DayColumn[]): string[] {
  if (columns.length < 3) return columns.map(({ day }) => day);
  const places = [0, Math.floor((columns.length - 1) / 2), columns.length - 1];
  return places.map((at) => columns[at]?.day ?? "");
}

function sumOf(column: DayColumn): number {
  return column.values.reduce((sum, value) => sum + value, 0);
}
