/**
 * The protocol between the page and its server: every answer as a type. The page knows nothing else about the program.
 */

export const MEMORY_TYPES = ["user", "feedback", "project", "reference"] as const;

/** How the overview counts ages and the list filters them; each begins where the one before ends. */
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

export interface MemoryRow extends Ref {
  name: string;
  scope: string;
  type: (typeof MEMORY_TYPES)[number];
  description: string;
  /** ISO; what the age counts from. */
  modified: string;
  ageDays: number;
  bytes: number;
  cues: number;
  pinned: boolean;
  /** The last result of checking its claims; null if they were never checked. */
  verdict: { state: "holds" | "doubtful" | "unchecked"; says: string } | null;
  /** How often it was shown since the log began. */
  recalled: number;
  /** Team memories only. */
  author: string | null;
  isReadOnly: boolean;
  problems: string[];
}

/** GET /api/start */
export interface Start {
  version: string;
  project: string;
  readOnly: boolean;
  warnings: string[];
}

/** GET /api/overview */
export interface Overview {
  total: number;
  byType: Record<string, number>;
  byScope: Record<string, number>;
  /** In the order of age: today, this week, this month, this quarter, older. */
  byAge: { label: string; count: number }[];
  index: { lines: number; maxLines: number; chars: number; maxChars: number; isCut: boolean };
  /** What fills the model's context at start, the largest first within the order it is sent. */
  context: { part: string; bytes: number; tokens: number }[];
  cost: {
    month: string;
    total: number;
    byDay: { day: string; cost: number; tokens: number }[];
    byKind: Record<string, number>;
    /** Also of models without a price. */
    tokensByKind: Record<string, number>;
    /** Models without a known price, which are not included in the sums. */
    unpriced: string[];
  };
  recalled: {
    most: (MemoryTitle & { count: number })[];
    never: MemoryTitle[];
    neverCount: number;
    since: string | null;
  };
}

/** GET /api/rot : reads every memory where one has changed. */
export interface RotView {
  score: number;
  /** `count` of them, of which the first are named. */
  first: { title: string; todo: string; count: number; memories: MemoryTitle[] }[];
}

export interface MemoryTitle extends Ref {
  name: string;
}

/** GET /api/memories */
export interface MemoryList {
  rows: ListedMemory[];
  /** Files in the directories that are not memories. */
  skipped: { path: string; reason: string }[];
}

/** Only what a list of thousands shows. */
export type ListedMemory = Omit<MemoryRow, "bytes" | "author" | "problems">;

/**
 * GET /api/search?q= : the real ranking, best first. With quick=true only memories that contain the words, for
 * searching while typing.
 */
export interface SearchAnswer {
  hits: (Ref & { score: number })[];
}

/** Markdown as a tree that the page turns into elements, so that no text of a memory ever becomes HTML. */
export interface MarkdownNode {
  /** p, h1…h6, ul, ol, li, blockquote, pre, code, strong, em, del, a, hr, br, table, thead, tbody, tr, th, td, text, memory-link, task. */
  kind: string;
  text?: string;
  /** Only http, https, mailto; for memory-link the name. */
  href?: string;
  /** For a memory-link that exists. */
  ref?: Ref | null;
  checked?: boolean;
  children?: MarkdownNode[];
}

export interface ClaimRow {
  kind: string;
  text: string;
  line: number;
  /** holds, moved, gone, expired, unknown, silenced */
  verdict: string;
  evidence: string;
}

/** One line of a diff. */
export interface DiffLine {
  /** file: the name of the next file in a diff of several. */
  kind: "same" | "added" | "removed" | "skipped" | "file";
  text: string;
}

export interface HistoryRow {
  id: string;
  at: string;
  by: string;
  action: string;
  reason: string;
  diff: DiffLine[];
  canUndo: boolean;
  undone: boolean;
}

/** GET /api/memory?directory=&file= */
export interface MemoryView {
  row: MemoryRow;
  /** In the order of the file. */
  fields: { key: string; value: string | string[] }[];
  /** The whole file; it goes back as `base` with an edit. */
  text: string;
  body: MarkdownNode[];
  cues: string[];
  links: { to: (MemoryTitle | { name: string })[]; from: MemoryTitle[] };
  claims: ClaimRow[];
  provenance: { key: string; value: string }[];
  history: HistoryRow[];
  surfaced: { at: string; adapter: string; session: string | null; why: string[] }[];
}

/** POST /api/check { directory, file, base, text } : as `save` would see it; nothing is written. */
export interface CheckAnswer {
  diff: DiffLine[];
  problems: string[];
  secrets: { rule: string; line: number }[];
  /** The file has changed since editing began. */
  conflict: { text: string; diff: DiffLine[] } | null;
}

/** PUT /api/memory { directory, file, base, text }; 409 with the same body as a check where the file has changed. */
export interface SavedAnswer extends Ref {
  /** For undo. */
  entry: string | null;
  notices: string[];
}

/** POST /api/new and what else only the page does. */
export interface ChangedAnswer {
  message: string;
  entry: string | null;
  ref: Ref | null;
}

/** POST /api/forget, /api/rename { to } on a memory's place, and /api/undo { id? }: results of the verbs. */
export interface VerbAnswer {
  action: string;
  file: string;
  undo: string | null;
  notices?: string[];
}
export interface UndoAnswer {
  action: string;
  undone: string;
  files: string[];
  notices: string[];
}

export interface Reason {
  /** words, cue, meaning, age, links */
  what: "words" | "cue" | "meaning" | "age" | "links" | "other";
  says: string;
  /** 0…1, for a bar; null if there is none. */
  share: number | null;
}

export interface InspectedMemory extends MemoryTitle {
  scope: string;
  type: string;
  score: number;
  confidence: number;
  reasons: Reason[];
  /** shown; below the threshold; over the budget; shown to the session before. */
  outcome: "shown" | "unsure" | "no-room";
}

/** POST /api/inspect { prompt, adapter } */
export interface InspectAnswer {
  method: string;
  considered: number;
  tookMs: number;
  threshold: number;
  memories: InspectedMemory[];
  /** Exactly what the model would get. */
  text: string;
  bytes: number;
  maxBytes: number;
  adapter: "hook" | "library";
}

export interface InstructionRow {
  path: string;
  source: string;
  bytes: number;
  tokens: number;
  reason: string;
  text: string;
}

/** GET /api/context?touch=PATH */
export interface ContextAnswer {
  loaded: InstructionRow[];
  notLoaded: { path: string; reason: string }[];
  added: InstructionRow[];
  index: { text: string; bytes: number; isCut: boolean } | null;
  warnings: string[];
}

export interface TimelineEvent {
  at: string;
  kind: "change" | "recall" | "extraction" | "dream" | "sync";
  says: string;
  memories: MemoryTitle[];
  /** In which it happened. */
  session?: string;
}

/** GET /api/timeline?before=&limit= */
export interface Timeline {
  events: TimelineEvent[];
  /** Counts by day over all of it, oldest first. */
  days: { day: string; change: number; recall: number; extraction: number; dream: number; sync: number }[];
  hasMore: boolean;
}

/** GET /api/map */
export interface MemoryMap {
  nodes: (MemoryTitle & { type: string; scope: string; description: string })[];
  /** Positions in `nodes`. */
  edges: { a: number; b: number; kind: "link" | "supersedes" | "near"; share: number }[];
  /** Pairs that say nearly the same. */
  duplicates: { a: number; b: number; share: number }[];
}

/** POST /api/merge { keep: Ref, other: Ref, text } : one change in the journal; `text` replaces `keep`, `other` is forgotten. GET /api/merge?… proposes the text. */
export interface MergeProposal {
  left: string;
  right: string;
  text: string;
  diff: DiffLine[];
}

export interface ProposalRow {
  id: string;
  action: string;
  from: string;
  at: string;
  name: string;
  type: string;
  description: string;
  body: string;
  cues: string[];
  why: string;
  /** Against the current text. */
  diff: DiffLine[];
}

/** GET /api/inbox; POST /api/inbox/accept { id, amended? }, /api/inbox/reject { id } */
export interface InboxAnswer {
  proposals: ProposalRow[];
}

/** GET /api/dream : the plan that waits, or null. It is made by a job. POST /api/dream/apply { plan }, undone by /api/undo. */
export interface DreamAnswer {
  plan: { id: string; made: string; summary: string; ops: { says: string; diff: DiffLine[] }[] } | null;
  last: string | null;
}

/** GET /api/team */
export interface TeamAnswer {
  place: { kind: "none" | "repository" | "server"; where: string } | null;
  lastSync: string | null;
  people: { name: string; memories: number; last: string | null }[];
  rows: (MemoryTitle & { author: string; at: string })[];
  conflicts: { ours: MemoryTitle; copy: MemoryTitle; left: string; right: string; diff: DiffLine[] }[];
}

export interface SessionRow {
  id: string;
  at: string;
  title: string;
  messages: number;
  excerpt: string | null;
}

/** GET /api/sessions?q= ; GET /api/session?id= */
export interface SessionList {
  sessions: SessionRow[];
}
export interface SessionView {
  row: SessionRow;
  messages: { role: "user" | "assistant" | "tool" | "note"; at: string | null; text: string }[];
  isCut: boolean;
}

export type JobKind = "warm" | "verify" | "dream";

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
  | { kind: "job"; job: Job }
  | { kind: "hello"; jobs: Job[] };

/** Every error: 4xx and 5xx. */
export interface Problem {
  problem: string;
  message: string;
}
