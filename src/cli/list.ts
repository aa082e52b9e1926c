/** `memdir list`. */

import { MemdirError } from "../errors.ts";
import { ageInWords, isMemoryType, MEMORY_TYPES, type Row } from "../store/store.ts";
import { findAuthors } from "./authors-view.ts";
import type { Color, Run } from "./command.ts";

export const run: Run = async (call) => {
  const type = call.value("type");
  if (type !== undefined && !isMemoryType(type)) {
    throw new MemdirError("usage", `the type "${type}" is none of ${MEMORY_TYPES.join(", ")}`);
  }
  const memdir = await call.open();
  const { rows, skipped } = await memdir.survey();
  const shown = rows.filter((row) => type === undefined || row.type === type);
  const authorOf = await findAuthors(memdir.directories);
  if (call.json) {
    call.terminal.json(shown.map((row) => (row.scope === "team" ? { ...row, author: authorOf(row) } : row)));
    return 0;
  }
  if (shown.length === 0) {
    call.terminal.print("No memories saved yet.");
    call.terminal.print(
      call.terminal.color.dim('Save one: echo "Use pnpm." | memdir save --type feedback --name "use pnpm"'),
    );
  } else {
    const head = `${shown.length} ${shown.length === 1 ? "memory" : "memories"}:`;
    call.terminal.print([head, ...shown.map((row) => rowLine(row, authorOf(row), call.terminal.color))].join("\n"));
  }
  for (const { path, reason } of skipped.filter(({ isPlain }) => !isPlain))
    call.terminal.warn(`memdir: note: ${path} is passed over: ${reason}`);
  return 0;
};

/** `[type] name — description`. A type that the file does not state is not shown. */
export function plainRow(row: Row): string {
  const type = row.typeExplicit ? `[${row.type}] ` : "";
  return `    ${type}${row.name}${row.description === "" ? "" : ` — ${row.description}`}`;
}

function rowLine(row: Row, author: string | null, color: Color): string {
  const scope = row.scope === "project" ? "" : `${row.scope}${author === null ? "" : `: ${author}`}, `;
  const line = `${plainRow(row)} ${color.dim(`(${scope}${ageInWords(row.ageDays)})`)}`;
  return row.problems.length === 0
    ? line
    : `${line}\n        ${color.yellow(`${row.file}: ${row.problems.join("; ")}`)}`;
}
