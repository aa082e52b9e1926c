/** The list of memories that a model chooses from: a line for each, and never a body. */

import { ageInWords, type Row } from "../store/store.ts";
import { clipLine } from "./cut.ts";
import { neutraliseLine } from "./neutral.ts";

/** What a side query can hold beside its prompt without becoming slow or dear: about 6,000 tokens. */
export const MAX_MANIFEST_CHARS = 25_000;

/** One talkative memory must not take the place of the others. */
const MAX_DESCRIPTION_CHARS = 600;
const MAX_CUES_CHARS = 400;

export interface Manifest {
  manifest: string;
  included: Row[];
  /** How many had no room. */
  left: number;
}

/** In the order given. A line that does not fit is passed over; smaller ones after it still go in. */
export function formatManifest(rows: readonly Row[], { maxChars = MAX_MANIFEST_CHARS } = {}): Manifest {
  const names = manifestNames(rows);
  const lines: string[] = [];
  const included: Row[] = [];
  let chars = 0;
  for (const [i, row] of rows.entries()) {
    const line = formatLine({
      type: row.type,
      file: names[i]!,
      date: `${row.modified.slice(0, 10)}, ${ageInWords(row.ageDays)}`,
      description: row.description || row.name,
      when: row.when,
    });
    const more = line.length + (lines.length > 0 ? 1 : 0);
    if (chars + more > maxChars) continue;
    chars += more;
    lines.push(line);
    included.push(row);
  }
  return { manifest: lines.join("\n"), included, left: rows.length - included.length };
}

/** File names and descriptions alone, a line per file. */
export function formatMemoryManifest(
  headers: readonly { filename: string; description: string; type?: string }[],
): string {
  return headers.map(({ filename, ...header }) => formatLine({ file: filename, ...header })).join("\n");
}

/** What each row is called in the list: its file, with the scope before it when another scope has a file of that name. */
export function manifestNames(rows: readonly Row[]): string[] {
  const counts = new Map<string, number>();
  for (const { file } of rows) counts.set(file, (counts.get(file) ?? 0) + 1);
  return rows.map(({ file, scope }) => oneLine(counts.get(file) === 1 ? file : `${scope}:${file}`));
}

interface Line {
  type?: string;
  file: string;
  date?: string;
  description: string;
  when?: readonly string[];
}

function formatLine({ type, file, date, description, when = [] }: Line): string {
  const cues = when.map(oneLine).filter((cue) => cue !== "");
  return [
    `- ${type ? `[${oneLine(type)}] ` : ""}${oneLine(file)}${date ? ` (${date})` : ""}`,
    description.trim() === "" ? "" : `: ${clipLine(oneLine(description), MAX_DESCRIPTION_CHARS)}`,
    cues.length === 0 ? "" : ` — when: ${clipLine(cues.join("; "), MAX_CUES_CHARS)}`,
  ].join("");
}

function oneLine(text: string): string {
  return neutraliseLine(text).trim();
}
