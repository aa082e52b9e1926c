/** Finds credentials in a text, and takes them out. */

import { findByOwnRules, GENERIC_RULES, type SecretSpan } from "./secret-rules.ts";

/** Offsets into the text; `line` is 1-based. Never holds the value. */
export interface SecretFinding {
  rule: string;
  line: number;
  start: number;
  end: number;
}

/** Every credential found in text, sorted by position, overlapping findings merged. Linear in the length of the text. */
export function findSecrets(text: string): SecretFinding[] {
  return toFindings(text, findByOwnRules(text));
}

/** The text with every finding replaced by `[redacted: <rule>]`. */
export function redactSecrets(text: string, findings: readonly SecretFinding[] = findSecrets(text)): string {
  let redacted = "";
  let from = 0;
  for (const finding of mergeSpans(findings)) {
    redacted += `${text.slice(from, finding.start)}[redacted: ${finding.rule}]`;
    from = finding.end;
  }
  return redacted + text.slice(from);
}

function toFindings(text: string, spans: readonly SecretSpan[]): SecretFinding[] {
  let line = 1;
  let from = 0;
  return mergeSpans(spans).map(({ rule, start, end }) => {
    for (let at = text.indexOf("\n", from); at !== -1 && at < start; at = text.indexOf("\n", from)) {
      line++;
      from = at + 1;
    }
    return { rule, line, start, end };
  });
}

/** Sorted, overlapping spans as one. The rule that names a format wins over one that only knows what the value was called. */
function mergeSpans(spans: readonly SecretSpan[]): SecretSpan[] {
  const merged: SecretSpan[] = [];
  for (const next of [...spans].sort((a, b) => a.start - b.start || b.end - a.end)) {
    const last = merged.at(-1);
    if (!last || next.start >= last.end) {
      merged.push({ ...next });
      continue;
    }
    last.end = Math.max(last.end, next.end);
    if (GENERIC_RULES.has(last.rule)) last.rule = next.rule;
  }
  return merged;
}
