/**
 * Claims written by hand in a memory's frontmatter, and claims silenced there.
 *
 *     claims:
 *       - "path: src/server.ts"
 *       - "symbol: createServer in src/server.ts"
 *       - "date: 2026-06-30"
 *     unchecked:
 *       - "src/old.ts: kept for the picture it gives"
 *
 * `unchecked: REASON` silences the whole memory. Without a reason nothing is silenced.
 */

import type { Memory } from "../store/store.ts";
import { CLAIM_KINDS, type Claim, type ClaimKind } from "./claim.ts";

type Declared = Omit<Claim, "line" | "at">;

export function readDeclared(metadata: Memory["metadata"]): Declared[] {
  return entriesOf(metadata, "claims").flatMap((entry) => {
    const [, word = "", rest = ""] = /^\s*([a-z]+)\s*:\s*(.+?)\s*$/.exec(entry) ?? [];
    const kind = CLAIM_KINDS.find((each) => each === word);
    return kind ? [declaredOf(kind, rest)] : [];
  });
}

function declaredOf(kind: ClaimKind, text: string): Declared {
  const claim: Declared = { kind, text, loose: false, declared: true };
  const tied = kind === "symbol" ? /^(\S+)\s+in\s+(\S+)$/.exec(text) : null;
  if (tied) return { ...claim, text: tied[1] as string, file: tied[2] as string };
  if (kind === "date") return { ...claim, day: text };
  if (kind !== "script") return claim;
  const [, program, name] = /^(npm|make|just)\s+(?:run\s+)?(\S+)$/.exec(text) ?? [];
  return program && name ? { ...claim, text: name, program } : { ...claim, program: "npm" };
}

export function readSilenced(metadata: Memory["metadata"]): { text: string; reason: string }[] {
  const whole = fieldOf(metadata, "unchecked");
  if (typeof whole === "string") return whole.trim() === "" ? [] : [{ text: "*", reason: whole.trim() }];
  return entriesOf(metadata, "unchecked").flatMap((entry) => {
    const colon = entry.indexOf(": ");
    const reason = entry.slice(colon + 2).trim();
    return colon > 0 && reason !== "" ? [{ text: entry.slice(0, colon).trim(), reason }] : [];
  });
}

/** A list of texts, or of maps of one entry, as `- path: src/a.ts` is read. */
function entriesOf(metadata: Memory["metadata"], key: string): string[] {
  const value = fieldOf(metadata, key);
  if (typeof value === "string") return value === "" ? [] : [value];
  const items: unknown[] = Array.isArray(value)
    ? value
    : value && typeof value === "object"
      ? Object.entries(value).map((pair) => Object.fromEntries([pair]))
      : [];
  return items.flatMap((item) => {
    if (typeof item === "string") return [item];
    if (!item || typeof item !== "object") return [];
    return Object.entries(item).flatMap(([name, text]) => (typeof text === "string" ? [`${name}: ${text}`] : []));
  });
}

/** Claude Code moves fields under `metadata`. */
function fieldOf(metadata: Memory["metadata"], key: string): unknown {
  const nested = metadata.metadata;
  return metadata[key] ?? (nested && typeof nested === "object" && !Array.isArray(nested) ? nested[key] : undefined);
}
