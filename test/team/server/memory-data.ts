/** A TeamData without a database, for tests of what lies above it. Tokens are guessable. */

import { MemdirError } from "../../../src/errors.ts";
import type { AuditRow, RemoteEntry, Role, SearchHit } from "../../../src/team/protocol.ts";
import type { TeamData } from "../../../src/team/server/data.ts";
import type { AuditEntry, Caller } from "../../../src/team/server/data-base.ts";

interface Version {
  revision: string;
  author: string;
  at: string;
  text: string | null;
  deleted: boolean;
  redacted: boolean;
  hash: string;
  name: string;
  description: string;
  terms: readonly string[];
}

interface Team {
  people: Map<string, { id: string; role: Role | null; repositories: Map<string, Role> }>;
  repositories: Map<string, { state: number; memories: Map<string, Version[]> }>;
  tokens: Map<string, { id: string; person: string; label: string; expires: number | null; revoked: string | null }>;
  audit: AuditRow[];
}

export interface MemoryData extends TeamData {
  /** Every call by name, for tests that look at what was asked. */
  calls: string[];
  /** Thrown by every further call. */
  fail: unknown;
  /** Waited for by every further call. */
  hold: Promise<void> | null;
  closed: boolean;
  /** A copy of every team's memories; what it returns puts them back. */
  backUp(): () => void;
}

const RANK: Record<Role, number> = { reader: 1, writer: 2, admin: 3 };

export function openMemoryData(now: () => Date): MemoryData {
  const teams = new Map<string, Team>();
  let counter = 0;
  const next = (kind: string) => `${kind}${++counter}`;
  const teamOf = (caller: Caller) => teams.get(caller.team) as Team;
  const repositoryOf = (caller: Caller, name: string) => teamOf(caller).repositories.get(name);
  const note = (caller: Caller, entry: AuditEntry) =>
    void teamOf(caller).audit.push({
      repository: null,
      path: null,
      revision: null,
      ...entry,
      at: now().toISOString(),
      person: caller.person,
      tokenId: caller.tokenId,
    });
  const entryOf = (path: string, versions: Version[] | undefined): RemoteEntry | null => {
    const last = versions?.at(-1);
    if (!last) return null;
    const { revision, author, at, hash, deleted } = last;
    return { path, hash, revision, deleted, author, at };
  };
  const roleOf = (caller: Caller, name: string): Role | null => {
    const person = teamOf(caller).people.get(caller.person);
    if (!person || !teamOf(caller).repositories.has(name)) return null;
    const roles = [person.role, person.repositories.get(name) ?? null].filter((role) => role !== null);
    return roles.sort((a, b) => RANK[b] - RANK[a])[0] ?? null;
  };
  const mayTouch = (caller: Caller, person: string) =>
    person === caller.person || teamOf(caller).people.get(caller.person)?.role === "admin";
  const makeToken = (team: string, person: string, { label, days }: { label: string; days: number | null }) => {
    const tokens = teams.get(team)?.tokens as Team["tokens"];
    const id = next("t");
    const token = `${team}-${Buffer.from(person).toString("hex")}-${id}`;
    const expires = days === null ? null : now().getTime() + days * 86_400_000;
    tokens.set(token, { id, person, label, expires, revoked: null });
    return { id, token };
  };
  const write = (caller: Caller, repository: string, path: string, version: Partial<Version>) => {
    const place = repositoryOf(caller, repository) as NonNullable<ReturnType<typeof repositoryOf>>;
    const all = place.memories.get(path) ?? [];
    const revision = next("r");
    const base = { text: null, deleted: false, redacted: false, hash: "", name: "", description: "", terms: [] };
    all.push({ ...base, revision, author: caller.person, at: now().toISOString(), ...version });
    place.memories.set(path, all);
    place.state++;
    return revision;
  };

  const findCaller = (token: string): Caller | null => {
    for (const [team, { tokens, people }] of teams) {
      const row = tokens.get(token);
      if (!row) continue;
      if (row.revoked || (row.expires !== null && row.expires <= now().getTime())) return null;
      return { team, person: row.person, personId: people.get(row.person)?.id ?? "", tokenId: row.id };
    }
    return null;
  };
  /** As the database does it: the token, the repository, the role. */
  const mayWrite = (caller: Caller, repository: string): boolean => {
    const token = [...teamOf(caller).tokens].find(([, { id }]) => id === caller.tokenId)?.[0] ?? "";
    const role = findCaller(token) && roleOf(caller, repository);
    if (!role) throw new MemdirError("not-found", "there is no repository that you may read");
    return RANK[role] >= RANK.writer;
  };
  const verbs: TeamData = {
    migrate: async () => [],
    ping: async () => {},
    async close() {
      data.closed = true;
    },
    teams: async () => [...teams.keys()],
    async createTeam(team, admin) {
      if (teams.has(team)) throw new Error("there is such a team");
      teams.set(team, { people: new Map(), repositories: new Map(), tokens: new Map(), audit: [] });
      teams.get(team)?.people.set(admin, { id: next("p"), role: "admin", repositories: new Map() });
      return { token: makeToken(team, admin, { label: "", days: null }).token };
    },
    issueToken: async (team, person, options) =>
      teams.get(team)?.people.has(person) ? makeToken(team, person, options) : null,
    async enter(token, repository) {
      const caller = findCaller(token);
      if (!caller) return null;
      const role = repository === null ? null : roleOf(caller, repository);
      const state = role ? String(repositoryOf(caller, repository ?? "")?.state) : null;
      return { caller, teamRole: await data.teamRoleOf(caller), role, state, listed: null };
    },
    signIn: async () => null,
    advise: async () => [],
    sweep: async () => 0,
    figures: () => ({ open: 0, idle: 0, waiting: 0, queued: 0, auditLost: 0 }),
    roleOf: async (caller, repository) => roleOf(caller, repository),
    teamRoleOf: async (caller) => teamOf(caller).people.get(caller.person)?.role ?? null,
    people: async (caller) =>
      [...teamOf(caller).people].map(([name, { id, role, repositories }]) => ({
        id,
        name,
        role,
        repositories: [...repositories].map(([repository, own]) => ({ repository, role: own })),
      })),
    async addPerson(caller, name, role) {
      if (teamOf(caller).people.has(name)) return null;
      const id = next("p");
      teamOf(caller).people.set(name, { id, role, repositories: new Map() });
      return { id, name, role, repositories: [] };
    },
    async removePerson(caller, name) {
      for (const token of teamOf(caller).tokens.values())
        if (token.person === name) token.revoked = now().toISOString();
      return teamOf(caller).people.delete(name);
    },
    async setRole(caller, person, repository, role) {
      const row = teamOf(caller).people.get(person);
      if (!row || (repository !== null && !repositoryOf(caller, repository))) return false;
      const admins = [...teamOf(caller).people.values()].filter((one) => one.role === "admin");
      if (repository === null && role !== "admin" && admins.length === 1 && admins[0] === row)
        throw new MemdirError("conflict", `${person} is the last admin`);
      if (repository === null) row.role = role;
      else if (role === null) row.repositories.delete(repository);
      else row.repositories.set(repository, role);
      return true;
    },
    tokens: async (caller) =>
      [...teamOf(caller).tokens.values()]
        .filter(({ person }) => mayTouch(caller, person))
        .map(({ id, person, label, expires, revoked }) => ({
          id,
          person,
          label,
          created: now().toISOString(),
          expires: expires === null ? null : new Date(expires).toISOString(),
          revoked,
          lastUsed: null,
        })),
    addToken: async (caller, person, options) =>
      teamOf(caller).people.has(person) ? makeToken(caller.team, person, options) : null,
    async revokeToken(caller, id) {
      const row = [...teamOf(caller).tokens.values()].find((one) => one.id === id && mayTouch(caller, one.person));
      if (row) row.revoked = now().toISOString();
      return row !== undefined;
    },
    repositories: async (caller) =>
      [...teamOf(caller).repositories]
        .filter(([name]) => roleOf(caller, name) !== null)
        .map(([name, { memories }]) => ({
          name,
          memories: memories.size,
          bytes: 0,
          role: roleOf(caller, name) ?? "reader",
        })),
    async addRepository(caller, name) {
      if (repositoryOf(caller, name)) return null;
      teamOf(caller).repositories.set(name, { state: 0, memories: new Map() });
      return { name, memories: 0, bytes: 0, role: "admin" };
    },
    async listMemories(caller, repository) {
      const place = repositoryOf(caller, repository);
      const entries = [...(place?.memories ?? [])].map(([path, all]) => entryOf(path, all) as RemoteEntry);
      return { id: `${caller.team}/${repository}`, state: String(place?.state), entries };
    },
    findLost: async (caller, repository, had) =>
      had.flatMap(({ path, revision, hash }) => {
        const versions = repositoryOf(caller, repository)?.memories.get(path);
        return versions?.some((one) => one.revision === revision && (one.redacted || one.hash === hash)) ? [] : [path];
      }),
    fetchMemories: async (caller, repository, paths) =>
      paths.flatMap((path) => {
        const last = repositoryOf(caller, repository)?.memories.get(path)?.at(-1);
        return last?.text == null ? [] : [{ path, revision: last.revision, hash: last.hash, text: last.text }];
      }),
    async write(caller, { repository, path, expected, memory }, limits) {
      if (!mayWrite(caller, repository)) return { kind: "refused", path, reason: "you may read here, but not write" };
      const place = repositoryOf(caller, repository);
      const current = entryOf(path, place?.memories.get(path));
      if (memory === null) {
        if (!current || current.deleted) return { kind: "done", path, revision: current?.revision ?? "" };
        if (current.revision !== expected) return { kind: "stale", path, current };
        const revision = write(caller, repository, path, { deleted: true });
        note(caller, { action: "remove", repository, path, revision, outcome: "ok" });
        return { kind: "done", path, revision };
      }
      const { text, hash, name, description, terms } = memory;
      if (current && !current.deleted && current.hash === hash)
        return { kind: "done", path, revision: current.revision };
      if ((current && !current.deleted ? current.revision : null) !== expected) return { kind: "stale", path, current };
      if (!current && (place?.memories.size ?? 0) >= limits.repositoryMemories)
        return { kind: "refused", path, reason: "the repository is full" };
      const revision = write(caller, repository, path, { text, hash, name, description, terms });
      note(caller, { action: "write", repository, path, revision, outcome: "ok" });
      return { kind: "done", path, revision };
    },
    versions: async (caller, repository, path) => ({
      versions: (repositoryOf(caller, repository)?.memories.get(path) ?? []).map(
        ({ revision, author, at, text, deleted, redacted }) => ({ revision, author, at, text, deleted, redacted }),
      ),
      more: false,
    }),
    async redact(caller, repository, path, revision) {
      const found = repositoryOf(caller, repository)
        ?.memories.get(path)
        ?.find((version) => version.revision === revision);
      if (!found) return false;
      Object.assign(found, { text: null, redacted: true });
      note(caller, { action: "redact", repository, path, revision, outcome: "ok" });
      return true;
    },
    async search(caller, { terms, limit }) {
      const hits: SearchHit[] = [];
      for (const [repository, { memories }] of teamOf(caller).repositories) {
        if (roleOf(caller, repository) === null) continue;
        for (const [path, all] of memories) {
          const { name, description, author, at, terms: own } = all.at(-1) as Version;
          const score = terms.filter((term) => own.includes(term)).length;
          if (score > 0) hits.push({ repository, path, name, description, author, at, score });
        }
      }
      return hits.sort((a, b) => b.score - a.score).slice(0, limit);
    },
    audit: async (caller, rows) => {
      for (const row of rows) note(caller, row);
    },
    readAudit: async (caller, { before, limit }) =>
      teamOf(caller)
        .audit.filter(({ at }) => before === null || at < before)
        .reverse()
        .slice(0, limit),
    counts: async () => ({ teams: teams.size, repositories: 0, memories: 0, bytes: 0 }),
  };
  const backUp = () => {
    const kept = [...teams.values()].flatMap(({ repositories }) =>
      [...repositories.values()].map((place) => ({ place, state: place.state, memories: [...place.memories] })),
    );
    const copies = kept.map(({ memories }) => memories.map(([path, versions]) => [path, [...versions]] as const));
    return () => {
      for (const [at, { place, state }] of kept.entries()) {
        const memories = copies[at]?.map(([path, versions]) => [path, [...versions]] as const);
        Object.assign(place, { state, memories: new Map(memories) });
      }
    };
  };
  const data: MemoryData = { ...verbs, calls: [], fail: null, hold: null, closed: false, backUp };
  const { figures: _, ...asked } = verbs;
  for (const [name, verb] of Object.entries(asked) as [keyof TeamData, (...args: unknown[]) => Promise<unknown>][]) {
    Object.assign(data, {
      [name]: async (...args: unknown[]) => {
        data.calls.push(name);
        if (data.hold) await data.hold;
        if (data.fail && name !== "close") throw data.fail;
        return verb(...args);
      },
    });
  }
  return data;
}
