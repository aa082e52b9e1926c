/** The inbox: proposals that wait for a person, a file each beside the memories, and what was rejected for good. */

import { lstatSync, mkdirSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { removeQuietly } from "../disk/atomic.ts";
import { type Pin, pinFolder } from "../disk/pin.ts";
import { diskError, MemdirError } from "../errors.ts";
import { checkState, type Directory, statePath, withDirectory } from "../store/store.ts";
import { sha256 } from "../text/hash.ts";
import { findSecrets } from "../text/secrets.ts";
import { secretError } from "../verbs/save.ts";
import {
  appendRejected,
  formatProposal,
  ID_LENGTH,
  isProposal,
  MAX_BYTES,
  oldestFirst,
  readProposal,
  readProposals,
  readRejected,
  writeProposal,
} from "./inbox-file.ts";
import { type Proposal, TRUSTS } from "./proposal.ts";

export interface InboxWorld {
  now: () => Date;
  log: (message: string) => void;
}

/** `full`: others that wait are trusted more, so this one was not kept. */
export type Added = { id: string } | { duplicate: string } | { rejectedBefore: true } | { full: true };

export type Amendment = Partial<Pick<Proposal, "type" | "name" | "description" | "body" | "when">>;

/** Safe for several processes. What is read is never believed: files that are no proposals are passed over with a log. */
export interface Inbox {
  /** Its id becomes one made of its content: the same thing proposed twice is one file. Refuses secrets. */
  add(proposal: Proposal): Promise<Added>;
  /** Oldest first. */
  list(): Proposal[];
  /** By id or the beginning of one; `ambiguous` is thrown when several begin so. */
  find(idOrPrefix: string): Proposal | null;
  wasRejected(proposal: Proposal): boolean;
  /** Takes it out as done: after it was applied, so that a crash in between loses nothing. */
  accept(id: string): Promise<Proposal>;
  /** Takes it out; the same content is not taken again. */
  reject(id: string): Promise<Proposal>;
  amend(id: string, changes: Amendment): Promise<Proposal>;
}

/** More than a person looks through. */
const MAX_WAITING = 200;

export function openInbox(directory: Directory, world: InboxWorld): Inbox {
  const folder = () => folderOf(directory, world.log);
  const list = () => {
    const at = folder();
    return at === null ? [] : readProposals(at, world.log);
  };
  const take = (id: string, work: (at: string, proposal: Proposal) => void) =>
    withInbox(directory, (at) => {
      const proposal = readProposal(at, id, world.log);
      if (!proposal) throw missing(id);
      work(at, proposal);
      return proposal;
    });
  return {
    list,
    wasRejected: (proposal) => {
      const at = folder();
      return at !== null && readRejected(at, world.log).has(fingerprint(proposal));
    },
    find: (prefix) => findOne(list(), prefix),
    async add(proposal) {
      const kept = { ...proposal, id: fingerprint(proposal) };
      check(kept);
      return withInbox(directory, (at, tmp) => addChecked(at, tmp, kept, world.log));
    },
    accept: (id) => take(id, (at) => unlinkSync(join(at, `${id}.json`))),
    reject: (id) =>
      take(id, (at, proposal) => {
        // As it was proposed and as somebody amended it: neither comes back.
        const ids = [...new Set([id, fingerprint(proposal)])];
        appendRejected(at, { ids, at: world.now().toISOString() });
        unlinkSync(join(at, `${id}.json`));
      }),
    async amend(id, changes) {
      const found = list().find((proposal) => proposal.id === id);
      if (!found) throw missing(id);
      const amended = { ...found, ...changes };
      check(amended);
      return withInbox(directory, (at, tmp) => {
        if (!readProposal(at, id, world.log)) throw missing(id);
        writeProposal(at, tmp, amended);
        return amended;
      });
    },
  };
}

function addChecked(at: string, tmp: string, kept: Proposal, log: InboxWorld["log"]): Added {
  const { id } = kept;
  if (readRejected(at, log).has(id)) return { rejectedBefore: true };
  const waiting = readProposals(at, log);
  const same = waiting.find((other) => other.id === id || fingerprint(other) === id);
  if (same) return { duplicate: same.id };
  const dropped = choose([...waiting, kept]);
  for (const weak of dropped) {
    log(`inbox: more than ${MAX_WAITING} proposals wait, dropped ${weak.id} (${JSON.stringify(weak.name)})`);
    removeQuietly(join(at, `${weak.id}.json`));
  }
  if (dropped.includes(kept)) return { full: true };
  writeProposal(at, tmp, kept);
  return { id };
}

/** The same content in other clothes is the same: what kind of memory and what it says, not its name or where it came from. */
function fingerprint({ action, type, name, description, body, file }: Proposal): string {
  if (action === "forget") return sha256(`forget\n${file ?? name}`).slice(0, ID_LENGTH);
  const words = (body.trim() === "" ? `${name}\n${description}` : body)
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[*`]/g, "")
    .replace(/\s+/g, " ")
    .replace(/[.!\s]+$/, "")
    .trim();
  return sha256(`${type}\n${words}`).slice(0, ID_LENGTH);
}

/** What must go so that no more than the limit waits: the least trusted, of those the oldest. */
function choose(all: readonly Proposal[]): Proposal[] {
  const rank = ({ trust }: Proposal) => TRUSTS.indexOf(trust);
  const weakest = [...all].sort((a, b) => rank(a) - rank(b) || oldestFirst(a, b));
  return weakest.slice(0, Math.max(0, all.length - MAX_WAITING));
}

/** The lock is held and the folder held open meanwhile; a link in its place is refused. */
async function withInbox<T>(directory: Directory, work: (at: string, tmp: string) => T): Promise<T> {
  return withDirectory(directory, (directory) => {
    const folder = statePath(directory, "inbox");
    let pin: Pin | null = null;
    try {
      if (!lstatSync(folder, { throwIfNoEntry: false })) mkdirSync(folder, { mode: 0o700 });
      // Where a folder cannot be held open, it is at least looked at.
      if (!lstatSync(folder).isDirectory())
        throw new MemdirError("outside", `${shown(directory)} is a link or no directory: remove it and run it again`);
      pin = pinFolder(folder);
      return work(pin.path, statePath(directory, "tmp"));
    } catch (error) {
      throw diskError(error, "write in", shown(directory));
    } finally {
      pin?.close();
    }
  });
}

/** For reading without the lock; null when there is none, or when a link stands in its place. */
function folderOf(directory: Directory, log: InboxWorld["log"]): string | null {
  try {
    checkState(directory);
    const folder = statePath(directory, "inbox");
    if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return folder;
  } catch (error) {
    log(`inbox: not read: ${diskError(error, "read", shown(directory)).message}`);
  }
  return null;
}

function shown(directory: Directory): string {
  return join(directory.path, ".memdir", "inbox");
}

function check(proposal: Proposal): void {
  if (!isProposal(proposal))
    throw new MemdirError("usage", "that is no proposal: it needs a name, a known type and a body or a description");
  const texts: [string, string][] = [
    ["name", proposal.name],
    ["description", proposal.description],
    ["body", proposal.body],
    ["cues", proposal.when.join("\n")],
    ["reason", proposal.reason],
    ["source", `${proposal.session} ${proposal.message}`],
  ];
  const found: string[] = [];
  for (const [where, text] of texts)
    for (const { rule, line } of findSecrets(text))
      found.push(where === "body" ? `${rule} in line ${line}` : `${rule} in the ${where}`);
  if (found.length > 0) throw secretError(found);
  if (Buffer.byteLength(formatProposal(proposal)) > MAX_BYTES)
    throw new MemdirError("usage", `the proposal has more than ${MAX_BYTES / 1024} KB: a memory is a page, shorten it`);
}

function findOne(all: readonly Proposal[], prefix: string): Proposal | null {
  if (!/^[0-9a-f]+$/i.test(prefix)) return null;
  const found = all.filter(({ id }) => id.startsWith(prefix.toLowerCase()));
  if (found.length > 1)
    throw new MemdirError(
      "ambiguous",
      `${found.length} proposals begin with ${prefix}: ${found.map(({ id }) => id).join(", ")}; give more of the id`,
    );
  return found[0] ?? null;
}

function missing(id: string): MemdirError {
  return new MemdirError(
    "not-found",
    `no proposal ${JSON.stringify(id.slice(0, 40))} waits: \`memdir inbox\` lists them`,
  );
}
