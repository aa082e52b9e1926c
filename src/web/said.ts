/** What a verb says, as plain text for a box on the page. */

import type { Line, Said, Span } from "../verb.ts";

export function plainOf(said: Said): string {
  return said.map(plainLine).join("\n");
}

function plainLine(line: Line): string {
  if (typeof line === "string" || Array.isArray(line) || "text" in (line as object)) return plainSpans(line as Span);
  const one = line as Exclude<Line, Span | readonly Span[]>;
  if ("block" in one) return one.block;
  if ("raw" in one) return one.raw;
  if ("diff" in one) return one.diff.after;
  if ("note" in one) return `note: ${one.note}`;
  if ("warning" in one) return `warning: ${one.warning}`;
  if ("aside" in one) return plainSpans(one.aside);
  return one.rows.map((row) => row.map(plainSpans).join("  ")).join("\n");
}

function plainSpans(spans: Span | readonly Span[]): string {
  return [spans]
    .flat()
    .map((span) => (typeof span === "string" ? span : span.text))
    .join("");
}
