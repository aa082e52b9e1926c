/** The list of completions below the input: a value, how keys move in it, and its lines. */

import type { Paint } from "./paint.ts";
import { sanitiseLine } from "./sanitise.ts";
import { widthOf } from "./width.ts";
import { cut, pad } from "./wrap.ts";

export interface Completion {
  /** As the list shows it. */
  label: string;
  description: string;
  /** What it puts in place of the text between `from` and the cursor. */
  insert: string;
  from: number;
}

export interface Menu {
  items: readonly Completion[];
  selected: number;
  /** Whether the arrows chose: until then Enter may still mean the text as typed. */
  isChosen: boolean;
}

/** More than this pushes the conversation off a small screen. */
export const MAX_MENU_ROWS = 8;

export function openMenu(items: readonly Completion[]): Menu | null {
  return items.length === 0 ? null : { items, selected: 0, isChosen: false };
}

export function moveMenu(menu: Menu, by: 1 | -1): Menu {
  const count = menu.items.length;
  return { ...menu, selected: (menu.selected + by + count) % count, isChosen: true };
}

/** At most `rows` lines, those around the selected one. */
export function menuLines({ items, selected }: Menu, rows: number, columns: number, paint: Paint): string[] {
  const count = Math.max(1, Math.min(rows, MAX_MENU_ROWS));
  const first = Math.max(0, Math.min(selected - Math.floor(count / 2), items.length - count));
  const shown = items.slice(first, first + count);
  const labels = shown.map(({ label }) => sanitiseLine(label));
  const width = Math.min(Math.max(...labels.map(widthOf)), Math.floor(columns / 2));
  return shown.map(({ description }, index) => {
    const isSelected = first + index === selected;
    const label = pad(cut(labels[index] ?? "", width), width);
    const line = `${isSelected ? "›" : " "} ${label}  `;
    const rest = cut(sanitiseLine(description), columns - widthOf(line));
    return cut(`${isSelected ? paint.cyan(line) : line}${paint.dim(rest)}`, columns);
  });
}
