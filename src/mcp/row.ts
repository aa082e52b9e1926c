/** A memory's row as clients see it: what a model needs to choose by, made harmless to show. */

import { neutraliseLine } from "../recall/neutral.ts";
import { ageInWords, type Row } from "../store/store.ts";

const TEXT = { type: "string" };
const COUNT = { type: "integer", minimum: 0 };

export const ROW_SCHEMA = {
  file: { ...TEXT, description: "Its name for `read` and `forget`" },
  scope: TEXT,
  type: TEXT,
  name: TEXT,
  description: TEXT,
  modified: { ...TEXT, description: "ISO time that the age counts from" },
  ageDays: COUNT,
  age: { ...TEXT, enum: ["fresh", "recent", "stale", "old"] },
};

export function showRow(row: Row) {
  return {
    file: neutraliseLine(row.file),
    scope: row.scope,
    type: row.type,
    name: neutraliseLine(row.name),
    description: neutraliseLine(row.description),
    modified: row.modified,
    ageDays: row.ageDays,
    age: row.age,
  };
}

export function formatRow(row: Row): string {
  const { file, scope, type, name, description, ageDays } = showRow(row);
  const about = description === "" ? name : `${name}: ${description}`;
  return `- [${type}] ${file} (${scope}, ${ageInWords(ageDays)}) ${about}`;
}
