/** What is kept in a state folder, by name, and how much of it: `docs/format.md` shows the same table. */

import { FILE_HEAD_BYTES } from "./row-cache.ts";

export interface KeptFile {
  kind: "record" | "records" | "log" | "cache" | "lock" | "store";
  /** Logs: the older half goes beyond as many bytes. Records of a folder: the older half goes beyond as many files. */
  cap?: number;
  /** Of a cache that is not JSON: what is shorter cannot be read. */
  minBytes?: number;
}

/**
 * The journal, its images and the index's base belong to the store itself, which caps and repairs them; everything else goes
 * through `state.ts`. A session ends without telling anybody, so what is kept for each needs a cap.
 */
export const KEPT = {
  "journal.jsonl": { kind: "store" },
  images: { kind: "store" },
  "index.base": { kind: "store" },
  tmp: { kind: "store" },
  ".gitignore": { kind: "store" },
  lock: { kind: "lock" },
  "sync.lock": { kind: "lock" },
  // Thousands of memories; read by recall, which has no time to check the code.
  "verdicts.json": { kind: "cache" },
  "authors.json": { kind: "cache" },
  // At least its head.
  "rows.bin": { kind: "cache", minBytes: FILE_HEAD_BYTES },
  "project.json": { kind: "record" },
  "mirror.json": { kind: "record" },
  "attributes.json": { kind: "record" },
  "sync.json": { kind: "record" },
  "dream-scan": { kind: "record" },
  "sync-base": { kind: "records" },
  // As many as a person looks through; the inbox itself drops the least trusted first.
  inbox: { kind: "records" },
  surfaced: { kind: "records", cap: 64 },
  prefetch: { kind: "records", cap: 64 },
  // A session whose cursor is gone is looked through again from its beginning: only for sessions of long ago.
  cursors: { kind: "records", cap: 2000 },
  // Some hundred thousand background calls: years of use, read in a fraction of a second.
  "ledger.jsonl": { kind: "log", cap: 32 << 20 },
  // Some five thousand recalls: months of work.
  "surfaced.jsonl": { kind: "log", cap: 1 << 20 },
  // Some twenty thousand rejections; older ones may be proposed again.
  "inbox/rejected.jsonl": { kind: "log", cap: 2 << 20 },
  // In the user's cache folder: what matters is that there are any, and the last ones.
  "faults.jsonl": { kind: "log", cap: 64 * 1024 },
} as const satisfies Record<string, KeptFile>;

export type LogName = {
  [Name in keyof typeof KEPT]: (typeof KEPT)[Name]["kind"] extends "log" ? Name : never;
}[keyof typeof KEPT];

/** Null for what is not known. Locks have a file beside them with the holder's number; one of an extraction bears a hash. */
export function kindOf(name: string): KeptFile["kind"] | "temporary" | null {
  if (Object.hasOwn(KEPT, name)) return KEPT[name as keyof typeof KEPT].kind;
  if (TEMPORARY.test(name)) return "temporary";
  if (/^extract-[0-9a-f]{16}$|\.pid$|\.lock$/.test(name)) return "lock";
  return name.endsWith(".jsonl.1") ? "log" : null;
}

/** How files are called that are on their way into place. */
export const TEMPORARY_KIND = ".new";
/** The last two are names that earlier versions used. */
const TEMPORARY = /(?:^|\/)\.new-\d+-|\.pid\.clear$|^surfaced\.jsonl\.new$|\.json\.\d+$/;
