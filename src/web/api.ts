/**
 * The protocol between the page and its server: every answer as a type. The page knows nothing else about the program.
 */

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
  /** Where the file is. */
  path: string;
  /** The last result of checking its claims, with the reason; null if they were never checked as they are now. */
  verdict: { state: VerdictState; says: string } | null;
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
  /** The project's folder. */
  root: string;
  /** Sent back with every request that is no GET, so that nothing of another project is changed. */
  generation: number;
  readOnly: boolean;
  warnings: string[];
  /** The verbs of the table that are for the page. */
  verbs: { name: string; summary: string }[];
}

/** GET /api/waiting : what waits for a person; asked after every change, so it must cost little. */
export interface Waiting {
  review: number;
  counts: ReviewCounts;
}

/** GET /api/home?since= */
export interface Home {
  total: number;
  scopes: number;
  /** What happened since the person was here, or in the last week; recalls are counted. */
  changed: { since: string; events: TimelineEvent[]; count: number; recalls: number; sessions: number };
  /** What fills a model's context at the start, in the order it is sent, and what recall adds most often. */
  given: {
    context: { part: string; bytes: number; tokens: number }[];
    /** `listed`: how many memories it names. */
    index: { lines: number; maxLines: number; listed: number; isCut: boolean };
    most: (MemoryTitle & { count: number })[];
    /** Since when recalls are logged. */
    since: string | null;
  };
  /** Of background work in this month. */
  cost: {
    month: string;
    cost: number;
    /** Also of models without a price. */
    tokens: number;
    byDay: { day: string; cost: number; tokens: number }[];
    byKind: { kind: string; cost: number; tokens: number }[];
    /** Models without a known price, which are not included in the costs. */
    unpriced: string[];
  };
}

/** GET /api/health : the last measurement; the stream tells when there is another. */
export interface HealthView {
  /** Null before the first measurement. */
  score: number | null;
  memories: number;
  /** What brings the score down, the most first: `count` memories, of which the first are named. */
  parts: { kind: string; says: string; count: number; points: number; memories: MemoryTitle[] }[];
  /** False while it is being measured. */
  isComplete: boolean;
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

/** Only what a list shows; `line` is the line of the text that matches a search, where name and description do not. */
export type ListedMemory = Omit<MemoryRow, "bytes" | "problems" | "path"> & { line?: string };

/** POST /api/bulk { action: "forget", memories: [place, …] } : one change in each store. */
export interface BulkAnswer {
  message: string;
  entries: string[];
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
  /** In the order of the file, without those that are shown as something else. */
  fields: { key: string; value: string | string[] }[];
  /** The whole file; it goes back as `base` with an edit. */
  text: string;
  body: MarkdownNode[];
  cues: string[];
  links: { to: (MemoryTitle | { name: string })[]; from: MemoryTitle[] };
  claims: ClaimRow[];
  provenance: { key: string; value: string }[];
  history: HistoryRow[];
  /** `prompt` and `used` if the conversation is here: what was asked, and what of the memory the answer names ("" for nothing). */
  surfaced: {
    at: string;
    adapter: string;
    session: string | null;
    why: string[];
    prompt: string | null;
    used: string | null;
  }[];
}

/** POST /api/check { directory, file, base, text } : as `save` would see it; nothing is written. */
export interface CheckAnswer {
  diff: DiffLine[];
  problems: string[];
  secrets: { rule: string; line: number }[];
  /** The text as it will look. */
  body: MarkdownNode[];
  /** The file has changed since editing began. */
  conflict: { text: string; diff: DiffLine[] } | null;
}

/** PUT /api/memory { directory, file, base, text }; 409 with the same body as a check where the file has changed. */
export interface SavedAnswer extends Ref {
  /** For undo. */
  entry: string | null;
  notices: string[];
}

/** POST /api/forget, /api/rename { to } on a memory's place: what the page needs of the verbs' results. */
export interface VerbAnswer {
  file: string;
  undo: string | null;
  notices?: string[];
}

/** POST /api/undo { id? } : `undo` is the change that undoing was, which can be undone in turn. */
export type UndoAnswer = { undo: string; notices: string[] };

/** GET /api/last : what `u` would undo; null if there is nothing. */
export interface LastChange {
  id: string;
  at: string;
  by: string;
  /** "Forgot “deploy to staging”". */
  says: string;
}

export interface InspectedMemory extends MemoryTitle {
  scope: string;
  type: string;
  /** From 0 to 1; from 0.5 on it is shown, if there is room. */
  confidence: number;
  /** Sentences. */
  reasons: string[];
  /** shown; below the threshold; over the budget; shown to the session before. */
  outcome: "shown" | "unsure" | "no-room";
}

/** POST /api/inspect { prompt, adapter } */
export interface InspectAnswer {
  method: string;
  considered: number;
  tookMs: number;
  /** The most confident first. */
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
  index: { bytes: number; isCut: boolean; body: MarkdownNode[] } | null;
  warnings: string[];
}

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

/** GET /api/timeline?before=&limit= */
export interface Timeline {
  events: TimelineEvent[];
  /** Over all of it. */
  counts: Record<TimelineEvent["kind"], number>;
  /** Counts by day over the last half year, oldest first. */
  days: { day: string; change: number; recall: number; extraction: number; dream: number; sync: number }[];
  hasMore: boolean;
}

/** GET /api/map */
export interface MemoryMap {
  /** Those with connections, the most connected first. */
  nodes: (MemoryTitle & { type: string; scope: string; description: string; cluster: number })[];
  /** Positions in `nodes`. */
  edges: { a: number; b: number; kind: "link" | "supersedes" | "near"; share: number }[];
  /** What the members of a cluster have in common, in words; "" for small ones. */
  clusters: string[];
  /** How many memories there are, have no connection, and were not compared with the others. */
  total: number;
  alone: number;
  uncompared: number;
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

/** GET /api/review */
export interface ReviewAnswer {
  items: ReviewItem[];
  counts: ReviewCounts;
  /** False while duplicates are still searched for: ask again. */
  isComplete: boolean;
  /** When memories were last checked, and the last dream was. */
  checked: string | null;
  dreamt: string | null;
}

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

/** GET /api/team */
export interface TeamAnswer {
  place: { kind: "none" | "repository" | "server"; where: string } | null;
  lastSync: string | null;
  people: { name: string; memories: number; last: string | null }[];
}

export interface SessionRow {
  id: string;
  at: string;
  title: string;
  messages: number;
  excerpt: string | null;
  /** How often memories were shown in it, and how many memories come from it. */
  recalls: number;
  learnt: number;
}

/** GET /api/sessions?q= ; GET /api/session?id= */
export interface SessionList {
  sessions: SessionRow[];
}
export interface SessionView {
  row: SessionRow;
  messages: { role: "user" | "assistant" | "tool" | "note"; at: string | null; text: string }[];
  isCut: boolean;
  /** Memories that it was shown, at which of its messages (-1: unknown). */
  shown: { at: string; message: number; memories: (MemoryTitle & { why: string[] })[] }[];
  /** Memories that were learnt from it, and names of proposals that wait. */
  learnt: MemoryTitle[];
  proposed: string[];
}

/** GET /api/settings; POST { name, value } for one of `learn`, "" for the default; POST /api/agents { name } wires one. */
export interface SettingsView {
  learn: {
    mode: string;
    teamMode: string;
    tokensPerDay: number;
    tokensPerSession: number;
    costPerDay: number | null;
    model: string | null;
  };
  /** Where they are kept. */
  userFile: string;
  stores: { scope: string; path: string; readOnly: boolean }[];
  agents: AgentRow[];
}

export interface AgentRow {
  name: string;
  title: string;
  /** On this machine. */
  isFound: boolean;
  isWired: boolean;
  /** What wiring it would change. */
  changes: { file: string; why: string }[];
}

/** GET /api/projects : those with memories; POST /api/project { root } shows another one. */
export interface Project {
  root: string;
  name: string;
  at: string;
}

/** GET /api/verb?name= : what a verb asks for, as JSON Schema has it; POST /api/<verb> { …, say: true } gives { text }. */
export interface VerbForm {
  name: string;
  summary: string;
  about: string;
  properties: Record<string, { type: string; enum?: string[]; description?: string }>;
  required: string[];
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
