/** The editor's text laid out in columns: which rows it takes, and where the cursor stands. */

import type { Editor } from "./editor.ts";
import { MARKS, pasteNote, showPastes } from "./editor-paste.ts";
import { graphemes, graphemeWidth } from "./width.ts";
import { cut } from "./wrap.ts";

export interface Laid {
  lines: string[];
  cursor: { row: number; column: number };
}

export interface ViewOptions {
  columns: number;
  /** Of the same width both: before the first line and before all others. */
  prompt: string;
  indent: string;
  /** At most so many rows, those around the cursor. */
  maxRows: number;
  /** Around the note that stands for a paste. */
  dim(text: string): string;
}

export function layEditor(editor: Editor, options: ViewOptions): Laid {
  const { columns, prompt, indent, maxRows } = options;
  // In a terminal too narrow for both, the text is more use than the prompt.
  const lead = columns > 8 ? prompt : "";
  const rest = columns > 8 ? indent : "";
  // One column stays free: there the cursor stands behind a full row.
  const room = Math.max(2, columns - lead.length - 1);
  const rows: string[] = [];
  let row = "";
  let width = 0;
  let cursor: Laid["cursor"] | null = null;
  const breakRow = () => {
    rows.push(row);
    row = "";
    width = 0;
  };
  let at = 0;
  for (const grapheme of graphemes(editor.text)) {
    const { shown, size } = showGrapheme(grapheme, editor, options, room);
    if (grapheme !== "\n" && width + size > room) breakRow();
    // Not "equal": a mark that came late may have grown into the grapheme the cursor stood behind.
    if (at >= editor.cursor) cursor ??= { row: rows.length, column: width };
    at += grapheme.length;
    if (grapheme === "\n") breakRow();
    else {
      row += shown;
      width += size;
    }
  }
  cursor ??= { row: rows.length, column: width };
  rows.push(row);
  const lines = rows.map((each, index) => `${index === 0 ? lead : rest}${each}`);
  return windowAround(lines, { row: cursor.row, column: cursor.column + lead.length }, maxRows);
}

/** As it is echoed once it was sent: pastes as notes. */
export function echoOf(editor: Editor): string {
  return showPastes(editor.text, editor.pastes, pasteNote);
}

function showGrapheme(grapheme: string, editor: Editor, { dim }: ViewOptions, room: number) {
  if (grapheme === "\t") return { shown: "    ", size: 4 };
  if (!MARKS.test(grapheme)) return { shown: grapheme, size: graphemeWidth(grapheme) };
  const note = cut(showPastes(grapheme, editor.pastes, pasteNote), room);
  return { shown: dim(note), size: note.length };
}

function windowAround(lines: string[], cursor: Laid["cursor"], maxRows: number): Laid {
  const rows = Math.max(1, maxRows);
  if (lines.length <= rows) return { lines, cursor };
  const first = Math.min(Math.max(0, cursor.row - rows + 1), lines.length - rows);
  return { lines: lines.slice(first, first + rows), cursor: { row: cursor.row - first, column: cursor.column } };
}
