/** The inbox: proposals that wait for review, one file each next to the memories, and what was rejected for good. */

import { basename, dirname } from "node:path";
import { MemdirError } from "../errors.ts";
import { isMemoryType, openStateIn, type State, type Store, secretError, TRUSTS } from "../store/store.ts";
import { sha256 } from "../text/hash.ts";
import { findSecrets } from "../text/secrets.ts";
import type { World } from "../world.ts";
import { ACTIONS, isOnlyCues, ORIGINS, type Proposal } from "./proposal.ts";

/** `full`: the waiting proposals are all trusted more, so this one was dropped. */
type Added = { id: string } | { duplicate: string } | { rejectedBefore: true } | { full: true };

export type Amendment = Partial<Pick<Proposal, "type" | "name" | "description" | "body" | "when">>;

/** More than a person reviews. */
const MAX_WAITING = 200;

export type Inbox = ReturnType<typeof openInbox>;

/** Safe for several processes. Files are validated: one that is not a proposal is skipped and logged. */
export function openInbox(directory: Store, { now, log }: Pick<World, "now" | "log">) {
  const files = openInboxFiles(directory.state(), log);
  const read = (id: string): Proposal => {
    const proposal = files.read(id);
    const named = JSON.stringify(id.slice(0, 40));
    if (!proposal) throw new MemdirError("not-found", `there is no proposal ${named}; \`memdir inbox\` lists them`);
    return proposal;
  };
  const take = (id: string, work: (proposal: Proposal) => void) =>
    directory.change(() => {
      const proposal = read(id);
      work(proposal);
      return proposal;
    });
  return {
    /** Oldest first. */
    list: files.list,
    wasRejected: (proposal: Proposal) => files.rejected().has(fingerprint(proposal)),
    /** By id or a prefix of one; throws `ambiguous` if several match. */
    find(prefix: string): Proposal | null {
      if (!/^[0-9a-f]+$/i.test(prefix)) return null;
      const found = files.list().filter(({ id }) => id.startsWith(prefix.toLowerCase()));
      if (found.length <= 1) return found[0] ?? null;
      const begin = `${found.length} proposals begin with ${prefix}: ${found.map(({ id }) => id).join(", ")}`;
      throw new MemdirError("ambiguous", `${begin}; give a longer prefix of the id`);
    },
    /** The id is derived from the content, so the same thing proposed twice is one file. Refuses secrets. */
    async add(proposal: Proposal): Promise<Added> {
      const kept = { ...proposal, id: fingerprint(proposal) };
      check(kept);
      return directory.change(() => {
        const { id } = kept;
        if (files.rejected().has(id)) return { rejectedBefore: true };
        const waiting = files.list();
        const same = waiting.find((other) => other.id === id || fingerprint(other) === id);
        if (same) return { duplicate: same.id };
        // The least trusted first, then the oldest.
        const all = [...waiting, kept].sort((a, b) => rankOf(a) - rankOf(b) || oldestFirst(a, b));
        const dropped = all.slice(0, Math.max(0, all.length - MAX_WAITING));
        for (const weak of dropped) {
          const named = `${weak.id} (${JSON.stringify(weak.name)})`;
          log(`inbox: more than ${MAX_WAITING} proposals are waiting; dropped ${named}`);
          files.remove(weak.id);
        }
        if (dropped.includes(kept)) return { full: true };
        files.write(kept);
        return { id };
      });
    },
    /** Removes it as done; called after it was applied, so that a crash in between loses nothing. */
    accept: (id: string) => take(id, () => files.remove(id)),
    /** Removes it; neither the original nor a person's edited version is accepted again. */
    reject: (id: string) =>
      take(id, (proposal) => {
        files.noteRejected(idsOf(proposal), now());
        files.remove(id);
      }),
    /** Puts back what was accepted or rejected. */
    async restore(proposal: Proposal): Promise<void> {
      check(proposal);
      await directory.change(() => {
        if (idsOf(proposal).some((id) => files.rejected().has(id))) files.noteRejected(idsOf(proposal), now(), true);
        files.write(proposal);
      });
    },
    async amend(id: string, changes: Amendment): Promise<Proposal> {
      const amended = { ...read(id), ...changes };
      check(amended);
      await take(id, () => files.write(amended));
      return amended;
    },
  };
}

/** The inbox of a project as far as it is about the team: never in the team's own directory, where others could put proposals. */
export function openTeamInbox(own: Store): Inbox {
  const inbox = openInbox(own, own);
  const forTeam = (proposal: Proposal): Proposal => ({ ...proposal, scope: "team" });
  return {
    ...inbox,
    add: (proposal) => inbox.add(forTeam(proposal)),
    wasRejected: (proposal) => inbox.wasRejected(forTeam(proposal)),
    list: () => inbox.list().filter(({ scope }) => scope === "team"),
  };
}

/** Its own, and that of what it says by now. */
function idsOf(proposal: Proposal): string[] {
  return [...new Set([proposal.id, fingerprint(proposal)])];
}

/** Compares the type of memory and what it says, not its name or where it came from. */
function fingerprint(proposal: Proposal): string {
  const { action, type, name, description, body, file, scope } = proposal;
  const whose = scope === undefined ? "" : `${scope}\n`;
  if (action === "forget" || isOnlyCues(proposal))
    return sha256(`${whose}${action === "forget" ? "forget" : "cues"}\n${file ?? name}`).slice(0, ID_LENGTH);
  const words = (body.trim() === "" ? `${name}\n${description}` : body)
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[*`]/g, "")
    .replace(/\s+/g, " ")
    .replace(/[.!\s]+$/, "")
    .trim();
  return sha256(`${whose}${type}\n${words}`).slice(0, ID_LENGTH);
}

const rankOf = ({ trust }: Proposal) => TRUSTS.indexOf(trust);

function check(proposal: Proposal): void {
  const invalid = "the proposal is invalid: it needs a name, a known type, and a body or a description";
  if (!isProposal(proposal)) throw new MemdirError("usage", invalid);
  const { name, description, body, when, reason, session, message } = proposal;
  const texts = { name, description, body, cues: when.join("\n"), reason, source: `${session} ${message}` };
  const found = Object.entries(texts).flatMap(([where, text]) =>
    findSecrets(text).map(({ rule, line }) => `${rule} ${where === "body" ? `on line ${line}` : `in the ${where}`}`),
  );
  if (found.length > 0) throw secretError(found);
  if (Buffer.byteLength(JSON.stringify(proposal)) >= MAX_BYTES)
    throw new MemdirError("usage", `the proposal is larger than ${MAX_BYTES / 1024} KB: shorten it`);
}

/** A memory is a page, not a book. */
export const MAX_BYTES = 64 * 1024;

/** Hexadecimal digits: short enough to type, long enough to be unique. */
const ID_LENGTH = 12;
const ID = new RegExp(`^[0-9a-f]{${ID_LENGTH}}$`);

function openInboxFiles(state: State, log: World["log"]) {
  const recordOf = (id: string) => {
    const parse = (value: unknown) => (isProposal(value) && value.id === id ? value : null);
    return state.record(`inbox/${id}`, parse, { maxBytes: MAX_BYTES, flush: true });
  };
  const rejected = state.log("inbox/rejected.jsonl", (value) => {
    const { ids, isBack } = value as { ids?: unknown; isBack?: unknown };
    if (!Array.isArray(ids)) return null;
    return { ids: ids.filter((id) => typeof id === "string" && ID.test(id)), isBack: isBack === true };
  });
  /** A file that is not a proposal is skipped and logged. */
  const read = (id: string) =>
    ID.test(id) ? recordOf(id).read((why) => log(`inbox: ${id}.json is not a proposal and is skipped: ${why}`)) : null;
  return {
    read,
    /** Oldest first. */
    list: (): Proposal[] =>
      state
        .keys("inbox")
        .flatMap((key) => read(basename(key)) ?? [])
        .sort(oldestFirst),
    write: (proposal: Proposal) => recordOf(proposal.id).write(proposal),
    remove: (id: string) => recordOf(id).remove(),
    /** Ids of the content, never the content itself. */
    rejected: () => {
      const known = new Set<string>();
      for (const { ids, isBack } of rejected.read((why) => log(`inbox: ${why}`)))
        for (const id of ids) isBack ? known.delete(id) : known.add(id);
      return known;
    },
    noteRejected: (ids: string[], at: Date, isBack = false) => rejected.append([{ ids, isBack, at: at.toISOString() }]),
  };
}

/** For a hook, which knows only the folder. Oldest first. */
export function readProposals(folder: string, log: World["log"]): Proposal[] {
  return openInboxFiles(openStateIn(dirname(folder)), log).list();
}

function isProposal(value: unknown): value is Proposal {
  const given = (value ?? {}) as Record<string, unknown>;
  const isText = (field: string) => typeof given[field] === "string";
  const { action, when, name, body, description, type, from, trust, scope } = given;
  return (
    ["id", "at", "name", "description", "body", "reason"].every(isText) &&
    ["file", "session", "message"].every((field) => given[field] === null || isText(field)) &&
    Array.isArray(when) &&
    when.every((cue) => typeof cue === "string") &&
    (name as string).trim() !== "" &&
    (action === "forget" || `${body}${description}`.trim() !== "" || isOnlyCues(value as Proposal)) &&
    isMemoryType(type) &&
    (scope === undefined || scope === "team") &&
    ACTIONS.some((known) => known === action) &&
    ORIGINS.some((known) => known === from) &&
    TRUSTS.some((known) => known === trust)
  );
}

function oldestFirst(a: Proposal, b: Proposal): number {
  const [first, second] = [`${a.at}\n${a.id}`, `${b.at}\n${b.id}`];
  return first < second ? -1 : Number(first > second);
}
