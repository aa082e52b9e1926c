/** A row as a listing gives it, for tests that need no disk. */

import type { Row } from "../../src/store/rows.ts";

export function row(file: string, fields: Partial<Row> = {}): Row {
  return {
    file,
    path: `/home/me/.memory/${fields.scope ?? "project"}/${file}`,
    scope: "project",
    type: "project",
    typeExplicit: true,
    name: file.replace(/\.md$/, ""),
    description: `About ${file}`,
    modified: "2026-11-01T12:00:00.000Z",
    ageDays: 0,
    age: "fresh",
    bytes: 100,
    pinned: false,
    when: [],
    problems: [],
    unreadable: false,
    ...fields,
  };
}
