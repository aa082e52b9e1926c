/** The shapes that answers are made of, for the page and its server, and the words that both know. */

export const MEMORY_TYPES = ["user", "feedback", "project", "reference"] as const;

/** How the list filters by age; each begins where the one before ends. */
export const AGES: readonly { label: string; days: number }[] = [
  { label: "today", days: 1 },
  { label: "this week", days: 7 },
  { label: "this month", days: 31 },
  { label: "this quarter", days: 92 },
  { label: "older", days: Number.POSITIVE_INFINITY },
];

/** Where a memory is: which directory (its index in `Memdir.directories`) and which file. */
export interface Ref {
  directory: number;
  file: string;
}

/** The same for as long as a memory keeps its file. */
export function keyOf({ directory, file }: Ref): string {
  return `${directory}/${file}`;
}

/** The worst of what a memory claims: it names something that is gone, a day that has passed, something that moved; or it claims nothing. */
export type VerdictState = "gone" | "expired" | "moved" | "holds" | "no claims";

/** A memory as lists show it. */
export interface ListedMemory extends Ref {
  name: string;
  scope: string;
  type: (typeof MEMORY_TYPES)[number];
  description: string;
  /** ISO; what the age counts from. */
  modified: string;
  cues: number;
  pinned: boolean;
  /** The last result of checking its claims, with the reason; null if they were never checked as they are now. */
  verdict: { state: VerdictState; says: string } | null;
  /** How often it was shown since the log began. */
  recalled: number;
  /** Team memories only. */
  author: string | null;
  isReadOnly: boolean;
  /** The line of the text that matches a search, where name and description do not. */
  line?: string;
}

export interface MemoryTitle extends Ref {
  name: string;
}

/** By what the list can be filtered, several at a time; the values of one are joined by commas. */
export const FILTERS = ["type", "scope", "verdict", "age", "cues", "author"] as const;
export type Filter = (typeof FILTERS)[number];
export const SORTS = ["rank", "type", "name", "scope", "age", "verdict", "cues", "recalled"] as const;
export type Sort = (typeof SORTS)[number];

/**
 * GET /api/memories?q=&type=&…&sort=&reversed=&offset=&limit= : a page of the rows that match, in order. With quick=true
 * the words alone are looked for, for searching while typing; else the real ranking counts.
 */
export interface MemoryList {
  rows: ListedMemory[];
  /** How many there are, and how many match. */
  total: number;
  found: number;
  /** Of each filter every value, with how many rows it would show beside the other filters. */
  facets: Record<Filter, { value: string; count: number }[]>;
  /** Files in the directories that are not memories; with the first page. */
  skipped: { path: string; reason: string }[];
  /** The newest as they were last seen, before every file was looked at: ask again for the rest. */
  isEarly?: true;
}

/** Markdown as a tree that the page turns into elements, so that no text of a memory ever becomes HTML. */
export interface MarkdownNode {
  /** p, h1…h6, ul, ol, li, blockquote, pre, code, strong, em, del, a, hr, br, table, thead, tbody, tr, th, td, text, memory-link, task, and labelled: a paragraph that begins with **Why:** or **How to apply:**, which is its text. */
  kind: string;
  text?: string;
  /** Only http, https, mailto; for memory-link the name. */
  href?: string;
  /** For a memory-link that exists. */
  ref?: Ref | null;
  checked?: boolean;
  /** Of a cell. */
  align?: "left" | "center" | "right";
  children?: MarkdownNode[];
}

export interface ClaimRow {
  kind: string;
  text: string;
  line: number;
  /** holds, moved, gone, expired, unknown, silenced */
  verdict: string;
  evidence: string;
  /** Wrong, and sure enough to say so unasked. */
  isWrong: boolean;
}

/** One line of a diff. */
export interface DiffLine {
  kind: "same" | "added" | "removed" | "skipped";
  text: string;
  /** Those that were skipped. */
  lines?: string[];
}

/** POST /api/undo { id? } : `undo` is the change that undoing was, which can be undone in turn. */
export type UndoAnswer = { undo: string; notices: string[] };

export interface TimelineEvent {
  at: string;
  kind: "change" | "recall" | "extraction" | "dream" | "sync";
  says: string;
  /** By whom, and why. */
  by: string;
  memories: MemoryTitle[];
  /** In which it happened. */
  session?: string;
}

export const REVIEW_KINDS = ["conflict", "proposal", "dream", "finding", "duplicate", "cues"] as const;
export type ReviewKind = (typeof REVIEW_KINDS)[number];

export type ReviewVerb =
  | ("accept" | "merge" | "fix" | "true" | "cue" | "edit" | "pin" | "unpin" | "promote" | "forget" | "open")
  | "skip";

/** Something that waits for a person. */
export interface ReviewItem {
  /** Of another text it is another item, so that skipping one lasts until it changes. */
  id: string;
  kind: ReviewKind;
  /** The memory's name. */
  title: string;
  /** What is proposed or wrong, in one line. */
  says: string;
  type: string | null;
  at: string | null;
  /** The memory that it is about; null if it does not exist yet. */
  memory: MemoryTitle | null;
  /** The second one of a pair. */
  other: MemoryTitle | null;
  /** What can be done, the usual first. */
  verbs: ReviewVerb[];
}

export type ReviewCounts = Record<ReviewKind, number>;

/** A field of a memory's head or a block of its text, in two versions; null where a version does not have it. */
export interface TextPart {
  /** Null for a block. */
  field: string | null;
  before: string | null;
  after: string | null;
  /** The lines of a field as the files have them. */
  lines?: [before: string | null, after: string | null];
  /** Bookkeeping such as dates: it is not shown. */
  isQuiet?: true;
  /** The block as it would be, or was. */
  body: MarkdownNode[];
}

/** GET /api/review/item?id= */
export interface ReviewDetail {
  reason: string;
  origin: { label: string; value: string; session?: string }[];
  /** One for each file that it is about. */
  changes: { effect: "new" | "changed" | "removed" | "same"; title: string; ref: Ref | null; parts: TextPart[] }[];
  /** What is wrong with the memory. */
  claims: ClaimRow[];
  /** Both texts, to be merged; they go back with POST /api/merge. */
  texts: { left: string; right: string } | null;
  /** Of a proposal: stands for both texts that are shown, and goes back when it is accepted. */
  base: string | null;
  /** What a person may change of a proposal. */
  words: { name: string; type: string; description: string; body: string; cues: string[] } | null;
}

/**
 * POST /api/review/accept { id, amended? }, /api/review/skip { id }; /api/review/restore { id } puts back what was
 * skipped, and a proposal that was accepted. POST /api/mark { directory, file, pinned?, cue?, isTrue? } for one memory.
 * POST /api/merge { keep, other, text, left, right }: `text` replaces `keep`, `other` is forgotten, as one change.
 */
export interface ChangedAnswer {
  message: string;
  entry: string | null;
  ref: Ref | null;
}

export type JobKind = "warm" | "verify" | "dream" | "learn";

/** POST /api/jobs { kind }, DELETE /api/jobs?id= ; its progress comes with the live stream. One of a kind at a time. */
export interface Job {
  id: string;
  kind: JobKind;
  state: "running" | "done" | "failed" | "stopped";
  done: number;
  total: number;
  says: string;
}

/** GET /api/live : server-sent events; `data` is one of these. */
export type LiveEvent =
  | { kind: "changed"; directory: number }
  /** Memories were shown to a model. */
  | { kind: "recalled" }
  /** The health was measured. */
  | { kind: "health" }
  | { kind: "job"; job: Job }
  /** The first, and again once other directories are watched: a page of another generation begins anew. */
  | { kind: "hello"; jobs: Job[]; generation: number };

/** Every error: 4xx and 5xx. */
export interface Problem {
  problem: string;
  message: string;
}
