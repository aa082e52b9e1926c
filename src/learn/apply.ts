/**
 * Decides what happens to a proposal: it is written with its origin, put into the inbox for review, or refused with a
 * reason.
 */

import { join } from "node:path";
import { readRegular } from "../disk/fence.ts";
import { MemdirError } from "../errors.ts";
import { withCues } from "../memory/edit.ts";
import { type Memories as AllMemories, openMemories } from "../memory/memories.ts";
import {
  formatSource,
  type Memory,
  mayBecome,
  mayReplace,
  oneLine,
  parseMemory,
  type Row,
  type Store,
  sameName,
  type Trust,
  trustOf,
} from "../store/store.ts";
import { editBody, editFields, formatDocument } from "../text/frontmatter.ts";
import { type Inbox, MAX_BYTES, openTeamInbox } from "./inbox.ts";
import { isUntold } from "./origin.ts";
import { isOnlyCues, type LearnMode, type Proposal, sourceFor, type Wish } from "./proposal.ts";

/** The part of a Memdir that this needs; the first directory is the one that is written to. */
export interface Memories extends Pick<AllMemories, "list" | "save" | "put" | "forget"> {
  readonly directories: readonly { readonly path: string }[];
}

/** Whose proposals are applied, and whether they need review. */
export interface Applying {
  store: Memories;
  inbox: Pick<Inbox, "add" | "wasRejected">;
  /** Of the scope that is written to. */
  mode: LearnMode;
}

export interface Applied {
  done: "saved" | "updated" | "unchanged" | "forgotten" | "inbox" | "refused";
  /** The memory that was or would be written or removed; null if it does not exist yet. */
  file: string | null;
  /** The journal entry, for undo. */
  undo: string | null;
  /** If it is in the inbox: its id, and whether it was just added. */
  id?: string;
  isAdded?: boolean;
  /** Why it was not written. */
  reason?: string;
}

/** The memory that a proposal changes, as it is now. */
export interface Target {
  path: string;
  text: string;
  memory: Memory;
}

/** Throws on disk errors, and if a memory is no longer the `base` that the proposal was made from. */
export async function applyProposal(applying: Applying, proposal: Proposal, base?: string | null): Promise<Applied> {
  const { store, inbox, mode } = applying;
  if (mode === "off") return refused(proposal, "learning is off for this scope");
  if (mode === "read-only") return refused(proposal, "this scope is read-only for learning");
  if (inbox.wasRejected(proposal)) return refused(proposal, "it was rejected before");
  const target = await findTarget(store, proposal, base);
  const problem = findProblem(proposal, target);
  if (problem !== null) return refused(proposal, problem);
  const same = await findSame(store, proposal, target);
  if (same !== null) return { done: "unchanged", file: same, undo: null, reason: "a memory already says this" };
  const doubt = mode === "inbox" ? "proposals in this scope need review" : findDoubt(proposal, target);
  if (doubt !== null) return await wait(applying, proposal, target, doubt);
  return await write(store, proposal, target, proposal.trust);
}

/** Whether retrying would make no difference. */
export function isFinal(error: unknown): boolean {
  return error instanceof MemdirError && FINAL.has(error.code);
}

const FINAL: ReadonlySet<string> = new Set(["usage", "outside", "secret", "broken", "untrusted", "ambiguous"]);

/**
 * A person has reviewed and accepted it: trust no longer matters, but is recorded unchanged. `base` is the memory as they
 * saw it, empty if there was none. Throws if it fails.
 */
export async function acceptProposal(store: Memories, inbox: Inbox, proposal: Proposal, base?: string | null) {
  const target = await findTarget(store, proposal, base);
  const blocked = findBlocked(proposal, target);
  const code = target === null ? "not-found" : "broken";
  if (blocked !== null) throw new MemdirError(code, `${blocked}; fix that first, or reject the proposal`);
  const same = await findSame(store, proposal, target);
  const applied: Applied =
    same === null ? await write(store, proposal, target, "user") : { done: "unchanged", file: same, undo: null };
  await inbox.accept(proposal.id);
  return applied;
}

/** The file's text before and after. `before` is null for a new memory, `after` is empty if it is removed. */
export async function previewProposal(store: Memories, proposal: Proposal) {
  const target = await findTarget(store, proposal);
  const file = target?.memory.file ?? proposal.file;
  const before = target?.text ?? null;
  if (proposal.action === "forget") return { file, before, after: "" };
  if (target) return { file, before, after: updatedText(proposal, target) };
  const { name, description, type, when, body } = proposal;
  const source = formatSource(sourceFor(proposal));
  return { file, before, after: formatDocument({ name, description, type, when, source }, body) };
}

/** Found by file or, without one, by type and name, like a save does. Throws if it is there and says something else than `base`. */
export async function findTarget(
  store: Memories,
  { file, name, type }: Pick<Proposal, "file" | "name" | "type">,
  base: string | null = null,
): Promise<Target | null> {
  const rows = await ownRows(store);
  const isNamed = (row: Row) => sameName(row.name, name) && (!row.typeExplicit || row.type === type);
  const row = rows.find(file === null ? isNamed : (row) => row.file === file);
  const data = row && readRegular(row.path);
  if (!data) return null;
  const text = data.toString("utf8");
  if (base !== null && text !== base)
    throw new MemdirError("conflict", `${row.file} was changed in the meantime: read it again`);
  return { path: row.path, text, memory: parseMemory(row.file, data) };
}

/** Memories of the directory that is written to; those of other scopes must not be changed. */
async function ownRows(store: Memories): Promise<Row[]> {
  const own = store.directories[0]?.path ?? "";
  return (await store.list()).filter((row) => row.path === join(own, row.file) && !row.unreadable);
}

/** Why it is refused outright. */
function findProblem(proposal: Proposal, target: Target | null): string | null {
  const { action, trust, type, body } = proposal;
  if (Buffer.byteLength(body) > MAX_BYTES)
    return `it is larger than ${MAX_BYTES / 1024} KB: shorten it to what matters`;
  const origin = trust === "tool" ? "what a tool printed" : "a document";
  if (action === "forget" && isUntold(trust)) return `${origin} cannot request that a memory is forgotten`;
  const blocked = findBlocked(proposal, target);
  if (blocked !== null) return blocked;
  // An update keeps the memory's own type, so both must be allowed.
  const types = target === null ? [type] : [type, target.memory.type];
  const barred = action === "forget" ? undefined : types.find((kind) => !mayBecome(kind, trust));
  return barred === undefined ? null : `${origin} cannot become a ${barred} memory: only the user can say that`;
}

/** Why it cannot be written at all. */
function findBlocked({ action, file, name }: Proposal, target: Target | null): string | null {
  // Forgotten in the meantime: an update must not bring it back.
  if (target === null) return action === "forget" || file !== null ? `there is no memory ${file ?? name}` : null;
  const { broken, file: there } = target.memory;
  return broken && action !== "forget" ? `${there} cannot be parsed, so it is not rewritten` : null;
}

/** Why a person should review it first. */
function findDoubt({ action, trust, isUnsure }: Proposal, target: Target | null): string | null {
  if (isUnsure) return "it may not be worth keeping";
  if (target === null) return null;
  const { file, pinned, source } = target.memory;
  if (!mayReplace(source, trust)) return `${file} has a more trusted source (${trustOf(source)}) than this (${trust})`;
  return action === "forget" && pinned && trust !== "user" ? `${file} is pinned` : null;
}

/** A larger file cannot be a duplicate of a proposal. */
const MAX_SAME_BYTES = 256 * 1024;

/** The memory that already says exactly this, under any name. */
async function findSame(store: Memories, proposal: Proposal, target: Target | null): Promise<string | null> {
  if (proposal.action === "forget") return null;
  // Saying it again elsewhere does not change a memory.
  const bare = (text: string) => editFields(text, { source: null });
  if (target !== null && bare(updatedText(proposal, target)) === bare(target.text)) return target.memory.file;
  const body = oneLine(proposal.body);
  if (target !== null || body === "") return null;
  const found = (await ownRows(store)).find(({ type, bytes, file, path }) => {
    const data = type === proposal.type && bytes <= MAX_SAME_BYTES ? readRegular(path) : null;
    return data !== null && oneLine(parseMemory(file, data).body) === body;
  });
  return found?.file ?? null;
}

async function wait({ inbox }: Applying, proposal: Proposal, target: Target | null, reason: string): Promise<Applied> {
  const waiting = { done: "inbox" as const, file: target?.memory.file ?? null, undo: null };
  const added = await inbox.add(proposal);
  if ("id" in added) return { ...waiting, id: added.id, isAdded: true, reason };
  if ("duplicate" in added) return { ...waiting, id: added.duplicate, reason: "it is already in the inbox" };
  return refused(proposal, "full" in added ? "the inbox is full" : "it was rejected before");
}

async function write(store: Memories, proposal: Proposal, target: Target | null, by: Trust): Promise<Applied> {
  if (proposal.action === "forget") {
    const { file, undo } = await store.forget(target?.memory.file ?? proposal.name, { reason: proposal.reason });
    return { done: "forgotten", file, undo };
  }
  if (target !== null) {
    const text = updatedText(proposal, target);
    // Passes the text it was judged by: if another process writes the memory in the meantime, nothing is overwritten.
    const { file, undo, action } = await store.put(target.path, text, target.text, { trust: by });
    return { done: action === "unchanged" ? "unchanged" : "updated", file, undo };
  }
  const { type, name, description, body, when, reason } = proposal;
  const source = sourceFor(proposal);
  const { file, undo } = await store.save({ type, name, description, body, when, reason, source, trust: by });
  return { done: "saved", file, undo };
}

function updatedText(proposal: Proposal, target: Target): string {
  const { text, memory } = target;
  if (isOnlyCues(proposal)) return { text, ...withCues(memory.file, text, proposal.when) }.text;
  const source = formatSource(sourceFor(proposal, memory.source));
  const description = oneLine(proposal.description) || memory.description;
  return rewrite(target, { ...proposal, description, body: proposal.body.trim() || memory.body, source });
}

/** Name and type stay, because another name or type is another memory. New cues are added to the old ones. */
export function rewrite({ text, memory }: Target, changes: Changes): string {
  const { type, description, when, source, body } = changes;
  const cues = [...new Set([...memory.when, ...when.map(oneLine)])].filter((cue) => cue !== "");
  // A text without frontmatter gets one, so that the origin of its words stays known.
  if (Object.keys(memory.metadata).length === 0)
    return formatDocument({ name: memory.name, description, type, when: cues, source }, body);
  const fields = { ...(description ? { description } : {}), ...(cues.length > 0 ? { when: cues } : {}), source };
  return editBody(editFields(text, fields), body);
}

type Changes = Pick<Proposal, "type" | "description" | "when" | "body"> & { source: string };

function refused(proposal: Proposal, reason: string): Applied {
  return { done: "refused", file: proposal.file, undo: null, reason };
}

export type Proposed = Applied & { says: string };

/**
 * What a model would write to or delete from the team's memories waits in the user's own inbox, and a person decides. Throws where
 * it cannot even be proposed.
 */
export async function proposeToTeam(own: Store, team: Store, { by, reason, ...wish }: Wish): Promise<Proposed> {
  const at = team.now().toISOString();
  const origin = { trust: "inferred", session: null, message: null, from: "agent" } as const;
  const proposal = { id: "", at, ...wish, ...origin, reason: reason || `asked for by ${by}` };
  const store = { ...openMemories([team], async () => {}), directories: [team] };
  const applied = await applyProposal({ store, inbox: openTeamInbox(own), mode: "inbox" }, proposal);
  if (applied.done === "refused") throw new MemdirError("conflict", `nothing was changed: ${applied.reason}`);
  const waits = `others read the team's memories, so this waits for a person's decision: \`memdir inbox\` shows it as ${applied.id}`;
  return { ...applied, says: applied.done === "inbox" ? waits : "a memory of the team says this already" };
}
