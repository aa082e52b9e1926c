/** What every database under the team server must do: one suite for the embedded one and for PostgreSQL. */

import { afterAll, beforeAll, expect, it } from "vitest";
import { MemdirError } from "../../../src/errors.ts";
import type { TeamData } from "../../../src/team/server/data.ts";
import { openTeamData } from "../../../src/team/server/data.ts";
import type { Caller } from "../../../src/team/server/data-base.ts";
import type { DataLimits } from "../../../src/team/server/data-memories.ts";
import type { Database } from "../../../src/team/server/database.ts";
import { TENANT_TABLES } from "../../../src/team/server/schema.ts";
import { sha256 } from "../../../src/text/hash.ts";
import { callerOf } from "./caller.ts";
import { ALL, addCaller, type DataStage, find, LIMITS, makeTeam, openStage, put } from "./data-world.ts";

export function testTeamData(open: (now: () => Date) => Promise<Database>): void {
  let stage: DataStage;
  let data: TeamData;

  beforeAll(async () => {
    stage = await openStage(open);
    data = stage.data;
    await data.migrate();
  });
  afterAll(() => data?.close());

  const remove = (caller: Caller, path: string, expected: string, limits: DataLimits) =>
    data.write(caller, { repository: "app", path, expected, memory: null }, limits);

  it("applies migrations once, whoever starts at the same time", async () => {
    expect(await Promise.all([data.migrate(), data.migrate(), data.migrate()])).toEqual([[], [], []]);
    await data.ping();
  });

  it("finds the caller of a token, and none for one that is forged, expired or revoked", async () => {
    const { team, ann } = await makeTeam(data);
    const made = await data.addToken(ann, "Ann", { label: "laptop", days: 2 });
    const token = made?.token ?? "";
    expect(token).toMatch(new RegExp(`^memdir_${team}_[\\w-]{43}$`));
    expect(await callerOf(data, token)).toMatchObject({ team, person: "Ann", tokenId: made?.id });
    const last = token.at(-1) === "A" ? "B" : "A";
    const forged = [
      "",
      "memdir_",
      token.slice(0, -1) + last,
      `${token}A`,
      token.replace(team, `${team}x`),
      `${token}\0`,
    ];
    for (const text of forged) expect(await callerOf(data, text)).toBeNull();
    stage.clock.now = new Date(stage.clock.now.getTime() + 2 * 86_400_000);
    expect(await callerOf(data, token)).toBeNull();

    const other = await data.issueToken(team, "ann", { label: "", days: null });
    expect(await callerOf(data, other?.token ?? "")).not.toBeNull();
    expect(await data.revokeToken(ann, other?.id ?? "")).toBe(true);
    expect(await callerOf(data, other?.token ?? "")).toBeNull();
    expect(await data.revokeToken(ann, "nothing")).toBe(false);
    expect(await data.issueToken(team, "Nobody", { label: "", days: null })).toBeNull();
    expect(await data.issueToken("no-such-team", "Ann", { label: "", days: null })).toBeNull();
    await expect(data.addToken(ann, "Ann", { label: "", days: 0 })).rejects.toThrow("1 to 3650");
  });

  it("notes a token's last use at most once a minute, and keeps the hash only", async () => {
    const { team, ann } = await makeTeam(data);
    const made = await data.addToken(ann, "Ann", { label: "laptop", days: null });
    const lastUsed = async () => (await data.tokens(ann)).find(({ id }) => id === made?.id)?.lastUsed;
    expect(await lastUsed()).toBeNull();
    const first = stage.clock.now.toISOString();
    await callerOf(data, made?.token ?? "");
    stage.clock.now = new Date(stage.clock.now.getTime() + 59_000);
    await callerOf(data, made?.token ?? "");
    expect(await lastUsed()).toBe(first);
    stage.clock.now = new Date(stage.clock.now.getTime() + 2_000);
    await callerOf(data, made?.token ?? "");
    expect(await lastUsed()).toBe(stage.clock.now.toISOString());
    const rows = await stage.database.transaction(team, (sql) => sql("select * from memdir_token"));
    expect(JSON.stringify(rows)).not.toContain(made?.token.slice(-43));
  });

  it("knows people, rights and repositories; the stronger right counts", async () => {
    const { ann } = await makeTeam(data);
    await data.addRepository(ann, "web");
    const bob = await addCaller(data, ann, "Bob", null);
    expect(await data.roleOf(bob, "app")).toBeNull();
    expect(await data.teamRoleOf(bob)).toBeNull();
    expect(await data.repositories(bob)).toEqual([]);
    expect(await data.setRole(ann, "Bob", "app", "writer")).toBe(true);
    expect(await data.roleOf(bob, "app")).toBe("writer");
    expect((await data.repositories(bob)).map(({ name }) => name)).toEqual(["app"]);
    expect(await data.setRole(ann, "Bob", null, "reader")).toBe(true);
    expect(await data.roleOf(bob, "app")).toBe("writer");
    expect(await data.roleOf(bob, "web")).toBe("reader");
    expect(await data.roleOf(bob, "nothing")).toBeNull();
    expect(await data.setRole(ann, "Bob", "app", null)).toBe(true);
    expect(await data.roleOf(bob, "app")).toBe("reader");
    expect(await data.people(ann)).toMatchObject([
      { name: "Ann", role: "admin" },
      { name: "Bob", role: "reader", repositories: [] },
    ]);
    expect((await data.people(bob)).map(({ name }) => name)).toEqual(["Bob"]);
    expect((await data.tokens(bob)).map(({ person }) => person)).toEqual(["Bob"]);
    for (const refused of [
      data.addPerson(bob, "Eve", "admin"),
      data.addToken(bob, "Ann", { label: "", days: null }),
      data.addRepository(bob, "mine"),
      data.addPerson(ann, "bob", null),
      data.addRepository(ann, "web"),
    ])
      expect(await refused).toBeNull();
    expect(await data.setRole(bob, "Bob", null, "admin")).toBe(false);
    expect(await data.setRole(ann, "Nobody", null, "admin")).toBe(false);
    expect(await data.setRole(ann, "Bob", "nothing", "admin")).toBe(false);
    expect(await data.revokeToken(bob, ann.tokenId)).toBe(false);
    await expect(data.setRole(ann, "Ann", null, "reader")).rejects.toThrow("last admin");
    await expect(data.addPerson(ann, "Eve\n", null)).rejects.toThrow(MemdirError);
    await expect(data.addRepository(ann, "../x")).rejects.toThrow(MemdirError);
    await expect(data.createTeam(ann.team, "Eve")).rejects.toThrow("already");
    await expect(data.createTeam("a b", "Eve")).rejects.toThrow(MemdirError);
  });

  it("leaves one admin when two take each other's right away", async () => {
    const { ann } = await makeTeam(data);
    const bob = await addCaller(data, ann, "Bob", "admin");
    await Promise.allSettled([data.setRole(ann, "Bob", null, null), data.setRole(bob, "Ann", null, null)]);
    const roles = [await data.teamRoleOf(ann), await data.teamRoleOf(bob)];
    expect(roles.filter((role) => role === "admin")).toHaveLength(1);
  });

  it("lets a token in with all that a request must know, and tells nothing of what it may not read", async () => {
    const { ann } = await makeTeam(data);
    const tokenOf = async (name: string) => (await data.addToken(ann, name, { label: "", days: null }))?.token ?? "";
    await put(data, ann, "a.md", "one", null);
    const token = await tokenOf("Ann");
    const { state } = await data.listMemories(ann, "app");
    const entered = { teamRole: "admin", role: "admin", state };
    expect(await data.enter(token, "app", null)).toMatchObject({ ...entered, caller: { personId: ann.personId } });
    await put(data, ann, "a.md", "two", "1");
    const later = await data.enter(token, "app", null);
    expect(later?.state).toBe((await data.listMemories(ann, "app")).state);
    expect(later?.state).not.toBe(state);
    expect(await data.enter(token, null, null)).toMatchObject({ role: null, state: null });
    await addCaller(data, ann, "Norbert", null);
    const nobody = await tokenOf("Norbert");
    for (const repository of ["app", "nothing"])
      expect(await data.enter(nobody, repository, null)).toMatchObject({
        teamRole: null,
        role: null,
        state: null,
      });
    expect(await data.enter(`${token.slice(0, -1)}_`, "app", null)).toBeNull();
  });

  it("lists what changed since a state, removals too, and everything where the state is not one of its own", async () => {
    const { ann, team } = await makeTeam(data);
    await put(data, ann, "a.md", "one", null);
    await put(data, ann, "b.md", "one", null);
    const { state } = await data.listMemories(ann, "app");
    expect(await data.listMemories(ann, "app", state)).toMatchObject({ since: state, state, entries: [] });
    await put(data, ann, "c.md", "new", null);
    await remove(ann, "a.md", "1", LIMITS);
    const { entries, since } = await data.listMemories(ann, "app", state);
    expect(since).toBe(state);
    expect(entries).toMatchObject([
      { path: "a.md", deleted: true },
      { path: "c.md", deleted: false },
    ]);
    const unknown = ["", "x", `${state}9`, state.replace(/^./, "z"), `${state.split("-")[0]}--1`];
    for (const other of unknown) {
      const all = await data.listMemories(ann, "app", other);
      expect(all.entries).toHaveLength(3);
      expect(all.since).toBeUndefined();
    }
    expect(team).not.toBe("");
  });

  it("gives versions a page at a time, bounded in number and bytes, or those of one text", async () => {
    const { ann } = await makeTeam(data);
    for (let i = 0; i < 9; i++) await put(data, ann, "a.md", `${i}`.repeat(100), i === 0 ? null : `${i}`);
    const revisions = async (query: Parameters<TeamData["versions"]>[3]) => {
      const { versions, more } = await data.versions(ann, "app", "a.md", query);
      return [versions.map(({ revision }) => revision).join(" "), more];
    };
    expect(await revisions(ALL)).toEqual(["1 2 3 4 5 6 7 8 9", false]);
    expect(await revisions({ ...ALL, limit: 2 })).toEqual(["8 9", true]);
    expect(await revisions({ ...ALL, before: "8", limit: 3 })).toEqual(["5 6 7", true]);
    expect(await revisions({ ...ALL, before: "3" })).toEqual(["1 2", false]);
    expect(await revisions({ limit: 9, bytes: 350 })).toEqual(["7 8 9", true]);
    expect(await revisions({ limit: 9, bytes: 1 })).toEqual(["9", true]);
    expect(await revisions({ ...ALL, hash: sha256("3".repeat(100)) })).toEqual(["4", false]);
  });

  it("bounds the history of a memory and of a repository, and never refuses a write for it", async () => {
    const { ann } = await makeTeam(data);
    const limits = { ...LIMITS, memoryVersions: 3 };
    const write = async (path: string, rounds: number, held: typeof limits) => {
      for (let i = 0; i < rounds; i++)
        expect(
          await put(data, ann, path, `${i} ${"x".repeat(98)}`, i === 0 ? null : `${i}`, { limits: held }),
        ).toMatchObject({ kind: "done" });
      return (await data.versions(ann, "app", path, ALL)).versions.map(({ revision }) => revision).join(" ");
    };
    const later = () => {
      stage.clock.now = new Date(stage.clock.now.getTime() + 1000);
    };
    expect(await write("number.md", 6, limits)).toBe("4 5 6");
    later();
    expect(await write("bytes.md", 6, { ...LIMITS, memoryHistoryBytes: 250 })).toBe("5 6");
    later();
    // The oldest of all go first, whoever's they are; what is current stays.
    expect(await write("all.md", 4, { ...LIMITS, repositoryHistoryBytes: 500 })).toBe("2 3 4");
    expect((await data.versions(ann, "app", "number.md", ALL)).versions).toMatchObject([{ revision: "6" }]);
    expect(await data.fetchMemories(ann, "app", ["number.md", "bytes.md", "all.md"])).toHaveLength(3);
    // What is counted is what is there.
    const accounts = await stage.database.transaction(ann.team, (sql) =>
      sql(`select (select sum(bytes) from memdir_version) = r.history as history,
        (select bool_and(m.kept = (select sum(v.bytes) from memdir_version v where v.path = m.path)) from memdir_memory m) as kept
        from memdir_repository r`),
    );
    expect(accounts).toEqual([{ history: true, kept: true }]);
  });

  it("keeps so many tombstones; a name that comes back afterwards has a higher revision than it ever had", async () => {
    const { ann } = await makeTeam(data);
    const limits = { ...LIMITS, repositoryTombstones: 2 };
    for (const name of ["a", "b", "c"]) {
      await put(data, ann, `${name}.md`, name, null);
      stage.clock.now = new Date(stage.clock.now.getTime() + 1000);
    }
    await put(data, ann, "a.md", "again", "1");
    for (const [name, revision] of [
      ["a", "2"],
      ["b", "1"],
      ["c", "1"],
    ] as const) {
      stage.clock.now = new Date(stage.clock.now.getTime() + 1000);
      expect(await remove(ann, `${name}.md`, revision, limits)).toMatchObject({ kind: "done" });
    }
    const { entries } = await data.listMemories(ann, "app");
    expect(entries.map(({ path }) => path)).not.toContain("a.md");
    expect(entries.length).toBeLessThanOrEqual(2);
    expect(await put(data, ann, "a.md", "back", null)).toMatchObject({ kind: "done", revision: "4" });
  });

  it("drops what is old: audit, replaced versions, tombstones; and nothing that is current", async () => {
    const { ann } = await makeTeam(data);
    await put(data, ann, "a.md", "one", null);
    await put(data, ann, "a.md", "two", "1");
    await put(data, ann, "gone.md", "three", null);
    await remove(ann, "gone.md", "1", LIMITS);
    stage.clock.now = new Date(stage.clock.now.getTime() + 100 * 86_400_000);
    await put(data, ann, "a.md", "now", "2");
    await data.sweep({ auditDays: null, versionDays: null, tombstoneDays: null });
    expect((await data.versions(ann, "app", "a.md", ALL)).versions).toHaveLength(3);
    expect(await data.sweep({ auditDays: 30, versionDays: 30, tombstoneDays: 30 })).toBeGreaterThan(0);
    expect((await data.versions(ann, "app", "a.md", ALL)).versions).toMatchObject([{ text: "now" }]);
    expect((await data.listMemories(ann, "app")).entries).toMatchObject([{ path: "a.md" }]);
    expect(await data.readAudit(ann, { before: null, limit: 100 })).toMatchObject([{ action: "write", revision: "3" }]);
  });

  it("ends everything that a removed person can do, and takes them in again with nothing of it", async () => {
    const { ann } = await makeTeam(data);
    const bob = await addCaller(data, ann, "Bob", "writer");
    await data.setRole(ann, "Bob", "app", "admin");
    const { token = "" } = (await data.addToken(ann, "Bob", { label: "", days: null })) ?? {};
    await put(data, bob, "a.md", "his", null);
    expect(await data.removePerson(bob, "Ann")).toBe(false);
    await expect(data.removePerson(ann, "Ann")).rejects.toThrow("last admin");
    expect(await data.removePerson(ann, "bob")).toBe(true);
    expect(await callerOf(data, token)).toBeNull();
    expect(await data.roleOf(bob, "app")).toBeNull();
    expect(await data.repositories(bob)).toEqual([]);
    await expect(put(data, bob, "b.md", "more", null)).rejects.toMatchObject({ code: "not-found" });
    expect((await data.people(ann)).map(({ name }) => name)).toEqual(["Ann"]);
    expect(await data.addToken(ann, "Bob", { label: "", days: null })).toBeNull();
    expect(await data.removePerson(ann, "Bob")).toBe(false);
    expect((await data.listMemories(ann, "app")).entries).toMatchObject([{ author: "Bob" }]);
    expect(await data.addPerson(ann, "Bob", "reader")).toMatchObject({ role: "reader", repositories: [] });
    expect(await callerOf(data, token)).toBeNull();
  });

  it("gives who signs in the roles of their groups, and takes them away with the groups", async () => {
    const { ann, team } = await makeTeam(data);
    const identity = { subject: "https://id.example 7", name: "Ann", hours: 24 };
    const signed = await data.signIn(team, {
      ...identity,
      roles: new Map([
        ["", "reader"],
        ["app", "writer"],
        ["nothing", "admin"],
      ]),
    });
    const own = await callerOf(data, signed?.token ?? "");
    // Somebody has the name already, and is somebody else.
    expect(own?.person).toBe("Ann 2");
    expect(own && (await data.roleOf(own, "app"))).toBe("writer");
    const again = await data.signIn(team, { ...identity, roles: new Map([["", "reader"]]) });
    const later = await callerOf(data, again?.token ?? "");
    expect(later?.personId).toBe(own?.personId);
    expect(later && (await data.roleOf(later, "app"))).toBe("reader");
    stage.clock.now = new Date(stage.clock.now.getTime() + 25 * 3_600_000);
    expect(await callerOf(data, again?.token ?? "")).toBeNull();
    const third = await data.signIn(team, { ...identity, roles: new Map([["", "reader"]]) });
    expect(await data.signIn(team, { ...identity, roles: new Map() })).toBeNull();
    expect(await callerOf(data, third?.token ?? "")).toBeNull();
    expect((await data.people(ann)).map(({ name }) => name)).toEqual(["Ann"]);
  });

  it("notes wrong tokens once for many, in the team that they name", async () => {
    const { ann, team } = await makeTeam(data);
    for (let i = 0; i < 5; i++) await data.enter(`memdir_${team}_${`${i}`.repeat(43)}`, "app", null);
    await data.enter(`memdir_no-such-team_${"A".repeat(43)}`, null, null);
    const [row] = await data.readAudit(ann, { before: null, limit: 10 });
    expect(row).toMatchObject({ action: "enter", outcome: expect.stringContaining("5"), person: "(unknown)" });
  });

  it("keeps a memory through put, edit, remove and put again; revisions only grow", async () => {
    const { ann, team } = await makeTeam(data);
    const { state: empty } = await data.listMemories(ann, "app");
    expect(await put(data, ann, "a.md", "one", null)).toEqual({ kind: "done", path: "a.md", revision: "1" });
    const { state } = await data.listMemories(ann, "app");
    expect(state).not.toBe(empty);
    expect(await put(data, ann, "a.md", "two", "1")).toMatchObject({ kind: "done", revision: "2" });
    expect(await put(data, ann, "a.md", "two", null)).toMatchObject({ kind: "done", revision: "2" });
    const stale = { kind: "stale", current: { path: "a.md", revision: "2", deleted: false, author: "Ann" } };
    for (const expected of [null, "1", "3", "x", "99999999999999999999"])
      expect(await put(data, ann, "a.md", "three", expected)).toMatchObject(stale);
    expect(await data.fetchMemories(ann, "app", ["a.md", "b.md", "../c"])).toMatchObject([
      { path: "a.md", revision: "2", text: "two" },
    ]);

    expect(await remove(ann, "a.md", "1", LIMITS)).toMatchObject(stale);
    expect(await remove(ann, "a.md", "2", LIMITS)).toMatchObject({ kind: "done", revision: "3" });
    expect(await remove(ann, "a.md", "2", LIMITS)).toMatchObject({ kind: "done", revision: "3" });
    expect(await remove(ann, "never.md", "2", LIMITS)).toMatchObject({ kind: "done" });
    const list = await data.listMemories(ann, "app");
    expect(list.entries).toMatchObject([{ path: "a.md", hash: "", revision: "3", deleted: true }]);
    expect(list.state).not.toBe(state);
    expect(list.id).toContain(`${team}/app`);
    expect(await data.fetchMemories(ann, "app", ["a.md"])).toEqual([]);
    expect(await data.repositories(ann)).toEqual([{ name: "app", memories: 0, bytes: 0, role: "admin" }]);

    expect(await put(data, ann, "a.md", "four", "2")).toMatchObject({ kind: "stale", current: { deleted: true } });
    expect(await put(data, ann, "a.md", "four", null)).toMatchObject({ kind: "done", revision: "4" });
    expect(await put(data, ann, "new.md", "x", "7")).toEqual({ kind: "stale", path: "new.md", current: null });
    expect((await data.versions(ann, "app", "a.md", ALL)).versions).toMatchObject([
      { revision: "1", text: "one", author: "Ann", deleted: false },
      { revision: "2", text: "two" },
      { revision: "3", text: null, deleted: true },
      { revision: "4", text: "four" },
    ]);
    expect((await data.versions(ann, "app", "never.md", ALL)).versions).toEqual([]);
    expect(await data.repositories(ann)).toEqual([{ name: "app", memories: 1, bytes: 4, role: "admin" }]);
  });

  it("lets one of many win who write at the same time, new or old", async () => {
    const { ann } = await makeTeam(data);
    const texts = ["a", "b", "c", "d", "e", "f"];
    const firsts = await Promise.all(texts.map((text) => put(data, ann, "race.md", text, null)));
    expect(firsts.filter(({ kind }) => kind === "done")).toHaveLength(1);
    expect(firsts.filter(({ kind }) => kind === "stale")).toHaveLength(5);
    const seconds = await Promise.all(texts.map((text) => put(data, ann, "race.md", `${text}2`, "1")));
    expect(seconds.filter(({ kind }) => kind === "done")).toEqual([{ kind: "done", path: "race.md", revision: "2" }]);
    expect((await data.versions(ann, "app", "race.md", ALL)).versions).toHaveLength(2);
    const cases = await Promise.all(["x.md", "X.md", "x.MD"].map((path) => put(data, ann, path, path, null)));
    expect(cases.filter(({ kind }) => kind === "done")).toHaveLength(1);
  });

  it("refuses paths and texts that not every system can hold", async () => {
    const { ann } = await makeTeam(data);
    await put(data, ann, "Docs/A.md", "a", null);
    const refused = async (path: string, text = "x") => {
      const outcome = await put(data, ann, path, text, null);
      return outcome.kind === "refused" ? outcome.reason : outcome.kind;
    };
    expect(await refused("docs/a.md")).toContain("Docs/A.md");
    expect(await refused("docs/b.md")).toContain("Docs/A.md");
    expect(await refused("memory.md")).toContain("index");
    expect(await refused("Docs/memory.md")).toContain("index");
    expect(await refused("stra\u00dfe.md")).toBe("done");
    expect(await refused("STRASSE.md")).toContain("stra\u00dfe.md");
    expect(await refused("Docs/A.md/b.md")).toContain("Docs/A.md");
    expect(await refused("docs.md")).toBe("done");
    expect(await refused("../a.md")).not.toBe("done");
    expect(await refused("MEMORY.md")).not.toBe("done");
    expect(await refused("nul.txt.md")).not.toBe("done");
    expect(await refused("zero.md", "a\0b")).toContain("U+0000");
    expect(await refused("lone.md", "a\ud800b")).toContain("well-formed");
    await put(data, ann, "e/f.md", "x", null);
    await remove(ann, "Docs/A.md", "1", LIMITS);
    expect(await refused("docs/a.md")).toBe("done");
    await expect(data.fetchMemories(ann, "app", ["a\0.md"])).rejects.toThrow("U+0000");
    await expect(data.roleOf(ann, "a\0")).rejects.toMatchObject({ code: "usage" });
  });

  it("holds the limits in the transaction, also against many at once", async () => {
    const { ann } = await makeTeam(data);
    const limits = { ...LIMITS, repositoryMemories: 3 };
    const many = Array.from({ length: 8 }, (_, at) => put(data, ann, `m${at}.md`, `${at}`, null, { limits }));
    const outcomes = await Promise.all(many);
    expect(outcomes.filter(({ kind }) => kind === "done")).toHaveLength(3);
    expect(outcomes.find(({ kind }) => kind === "refused")).toMatchObject({ reason: expect.stringContaining("full") });
    const [entry] = (await data.listMemories(ann, "app")).entries;
    const path = entry?.path ?? "";
    expect(await put(data, ann, path, "ä".repeat(501), "1")).toMatchObject({ kind: "refused" });
    expect(await put(data, ann, path, "ä".repeat(500), "1")).toMatchObject({ kind: "done" });
    const full = { ...LIMITS, repositoryBytes: 900 };
    expect(await put(data, ann, path, "b".repeat(1000), "2", { limits: full })).toMatchObject({ kind: "done" });
    expect(await put(data, ann, "more.md", "c", null, { limits: full })).toMatchObject({ kind: "refused" });
    expect(await put(data, ann, path, "b".repeat(950), "3", { limits: full })).toMatchObject({ kind: "done" });
  });

  it("lets readers read, and strangers not even that", async () => {
    const { ann } = await makeTeam(data);
    await put(data, ann, "a.md", "text", null);
    const reader = await addCaller(data, ann, "Rita", "reader");
    const nobody = await addCaller(data, ann, "Norbert", null);
    expect(await data.fetchMemories(reader, "app", ["a.md"])).toHaveLength(1);
    expect(await put(data, reader, "a.md", "mine", "1")).toMatchObject({ kind: "refused" });
    expect(await remove(reader, "a.md", "1", LIMITS)).toMatchObject({ kind: "refused" });
    expect(await data.redact(reader, "app", "a.md", "1", LIMITS)).toBe(false);
    expect(await data.readAudit(reader, { before: null, limit: 10 })).toEqual([]);
    for (const repository of ["app", "nothing"]) {
      await expect(data.listMemories(nobody, repository)).rejects.toMatchObject({ code: "not-found" });
      await expect(data.versions(nobody, repository, "a.md", ALL)).rejects.toMatchObject({ code: "not-found" });
      await expect(put(data, nobody, "a.md", "x", "1", { repository })).rejects.toMatchObject({ code: "not-found" });
    }
    expect(await find(data, nobody, "text")).toEqual([]);
  });

  it("says which versions it has lost, as after a restored backup", async () => {
    const { ann } = await makeTeam(data);
    await put(data, ann, "a.md", "one", null);
    await put(data, ann, "a.md", "two", "1");
    await put(data, ann, "secret.md", "redacted", null);
    await data.redact(ann, "app", "secret.md", "1", LIMITS);
    const ask = async (path: string, revision: string, text: string) =>
      (await data.findLost(ann, "app", [{ path, revision, hash: sha256(text) }])).length === 1;
    expect(await ask("a.md", "2", "two")).toBe(false);
    expect(await ask("a.md", "1", "one")).toBe(false);
    expect(await ask("secret.md", "1", "redacted")).toBe(false);
    expect(await ask("a.md", "2", "another")).toBe(true);
    for (const revision of ["3", "x", "99999999999999999999"]) expect(await ask("a.md", revision, "two")).toBe(true);
    expect(await ask("never.md", "1", "one")).toBe(true);
    // Of several at once, and one path in two versions.
    const had = [
      { path: "a.md", revision: "2", hash: sha256("two") },
      { path: "b.md", revision: "1", hash: sha256("b") },
      { path: "a.md", revision: "5", hash: sha256("five") },
    ];
    expect([...(await data.findLost(ann, "app", had))].sort()).toEqual(["a.md", "b.md"]);
  });

  it("takes a redacted text out of memory, versions and search", async () => {
    const { ann, team } = await makeTeam(data);
    await put(data, ann, "a.md", "the zanzibar key", null, { name: "zanzibar" });
    await put(data, ann, "a.md", "the zanzibar key again", "1", { name: "zanzibar" });
    expect(await data.redact(ann, "app", "a.md", "1", LIMITS)).toBe(true);
    expect(await data.fetchMemories(ann, "app", ["a.md"])).toMatchObject([{ revision: "2" }]);
    expect(await data.redact(ann, "app", "a.md", "2", LIMITS)).toBe(true);
    expect(await data.redact(ann, "app", "a.md", "3", LIMITS)).toBe(false);
    expect(await data.redact(ann, "app", "a.md", "9", LIMITS)).toBe(false);
    expect(await data.redact(ann, "app", "b.md", "x", LIMITS)).toBe(false);
    expect(await data.fetchMemories(ann, "app", ["a.md"])).toEqual([]);
    expect((await data.listMemories(ann, "app")).entries).toMatchObject([{ revision: "3", deleted: true, hash: "" }]);
    expect((await data.versions(ann, "app", "a.md", ALL)).versions).toMatchObject([
      { revision: "1", text: null, redacted: true },
      { revision: "2", text: null, redacted: true },
      { revision: "3", text: null, redacted: false, deleted: true },
    ]);
    expect(await find(data, ann, "zanzibar")).toEqual([]);
    const left = await stage.database.transaction(team, async (sql) =>
      JSON.stringify([
        await sql("select * from memdir_memory"),
        await sql("select * from memdir_version"),
        await sql("select team, path, terms::text as terms from memdir_search"),
      ]),
    );
    expect(left).toContain("a.md");
    expect(left).not.toContain("zanzibar");
    expect(await put(data, ann, "a.md", "clean", null)).toMatchObject({ kind: "done", revision: "4" });
  });

  it("searches with our own terms, whatever signs are in them, only where the caller may read", async () => {
    const { ann } = await makeTeam(data);
    const { ann: other } = await makeTeam(data);
    await data.addRepository(ann, "secret");
    await put(data, ann, "deploy.md", "We deploy the payment service on Fridays with `src/db/pool.ts`", null);
    await put(data, ann, "lunch.md", "Lunch is at noon, the payment by card", null);
    await put(data, ann, "ja.md", "データベースの接続 don't O'Brien back\\slash", null);
    await put(data, ann, "hidden.md", "deploy deploy deploy", null, { repository: "secret" });
    await put(data, other, "deploy.md", "deploy elsewhere", null);
    const bob = await addCaller(data, ann, "Bob", null);
    await data.setRole(ann, "Bob", "app", "reader");

    expect((await find(data, bob, "how do I deploy payments"))[0]).toMatchObject({
      repository: "app",
      path: "deploy.md",
      name: "deploy.md",
      author: "Ann",
    });
    expect((await find(data, bob, "deploy")).map(({ path }) => path)).toEqual(["deploy.md"]);
    expect((await find(data, ann, "deploy")).map(({ repository }) => repository).sort()).toEqual(["app", "secret"]);
    expect((await find(data, bob, "src/db/pool.ts"))[0]?.path).toBe("deploy.md");
    expect((await find(data, bob, "データベース"))[0]?.path).toBe("ja.md");
    for (const term of [
      "'",
      "\\",
      "' | 'x",
      "a':*",
      "\0",
      "\ud800",
      "",
      "!&|()<->",
      "'); drop table memdir_memory; --",
    ])
      expect(await data.search(bob, { terms: [term], vector: null, limit: 5 })).toEqual([]);
    expect(await data.search(bob, { terms: ["'", "deploy", "\\'"], vector: null, limit: 5 })).toHaveLength(1);
    expect(await data.search(bob, { terms: [], vector: null, limit: 5 })).toEqual([]);
    expect(await data.search(ann, { terms: ["deploi", "deploy", "payment"], vector: null, limit: 1 })).toHaveLength(1);
    const odd = { path: "odd.md", text: "odd", hash: "h", name: "it's", description: "\\'", vector: null };
    const terms = ["it's", "a\\b", "x':1A 'y", "'", "\\", "z\0"];
    expect(
      await data.write(ann, { repository: "app", path: odd.path, expected: null, memory: { ...odd, terms } }, LIMITS),
    ).toMatchObject({ kind: "done" });
    for (const term of terms.slice(0, 5))
      expect((await data.search(ann, { terms: [term], vector: null, limit: 5 })).map(({ path }) => path)).toEqual([
        "odd.md",
      ]);
    expect(await data.search(ann, { terms: ["y"], vector: null, limit: 5 })).toEqual([]);
    await remove(ann, "odd.md", "1", LIMITS);
    expect(await data.search(ann, { terms: ["it's"], vector: null, limit: 5 })).toEqual([]);
  });

  it("takes a memory of more terms than an index entry holds", async () => {
    const { ann } = await makeTeam(data);
    const limits = { ...LIMITS, memoryBytes: 2_000_000, repositoryBytes: 9_000_000 };
    const text = Array.from({ length: 150_000 }, (_, at) => `w${at}q`).join(" ");
    expect(await put(data, ann, "huge.md", `needle ${text}`, null, { limits })).toMatchObject({ kind: "done" });
    expect(await find(data, ann, "needle")).toHaveLength(1);
    expect(await put(data, ann, "same.md", "again ".repeat(100_000), null, { limits })).toMatchObject({ kind: "done" });
  });

  it("gives each of many writes that came together its own outcome, and nothing to a token that was revoked", async () => {
    const { ann } = await makeTeam(data);
    const bob = await addCaller(data, ann, "Bob", "writer");
    const reader = await addCaller(data, ann, "Rita", "reader");
    const gone = await addCaller(data, ann, "Gus", "writer");
    await put(data, ann, "a.md", "one", null);
    expect(await data.revokeToken(ann, gone.tokenId)).toBe(true);
    const all = await Promise.allSettled([
      ...Array.from({ length: 30 }, (_, i) => put(data, i % 2 ? ann : bob, `n${i}.md`, `text ${i}`, null)),
      put(data, bob, "a.md", "two", "1"),
      put(data, ann, "a.md", "other", "1"),
      put(data, bob, "N3.md", "clash", null),
      put(data, reader, "r.md", "no", null),
      put(data, gone, "g.md", "no", null),
    ]);
    expect(all.slice(0, 30).every((one) => one.status === "fulfilled" && one.value.kind === "done")).toBe(true);
    expect(all.slice(30)).toMatchObject([
      { value: { kind: "done", revision: "2" } },
      { value: { kind: "stale", current: { revision: "2" } } },
      { value: { kind: "refused" } },
      { value: { kind: "refused" } },
      { reason: { code: "not-found" } },
    ]);
    expect((await data.listMemories(ann, "app")).entries).toHaveLength(31);
  });

  it("says with who asks what changed since a state", async () => {
    const { ann } = await makeTeam(data);
    const token = (await data.addToken(ann, "Ann", { label: "", days: null }))?.token ?? "";
    await put(data, ann, "a.md", "one", null);
    const { state, id } = await data.listMemories(ann, "app");
    expect((await data.enter(token, "app", null, state))?.listed).toBeNull();
    await put(data, ann, "b.md", "two", null);
    const listed = (await data.enter(token, "app", null, state))?.listed;
    expect(listed).toMatchObject({ id, since: state, entries: [{ path: "b.md", revision: "1" }] });
    expect(listed?.state).toBe((await data.listMemories(ann, "app")).state);
    const other = (await data.enter(token, "app", null, `${state}1`))?.listed;
    expect(other?.entries).toHaveLength(2);
    expect(other).not.toHaveProperty("since");
  });

  it("writes down who did what, in the same transaction", async () => {
    const { ann } = await makeTeam(data);
    await put(data, ann, "a.md", "one", null);
    await put(data, ann, "a.md", "two", null);
    await remove(ann, "a.md", "1", LIMITS);
    await data.redact(ann, "app", "a.md", "1", LIMITS);
    // Written down after the answer, whenever that is.
    await put(data, ann, "a.md", "x".repeat(2000), "1");
    await data.audit(ann, [{ action: "search", repository: null, path: null, revision: null, outcome: "ok\n'" }]);
    const rows = await data.readAudit(ann, { before: null, limit: 100 });
    expect(rows.map(({ action, revision, outcome }) => [action, revision, outcome])).toEqual([
      ["search", null, "ok\n'"],
      ["write", null, "refused"],
      ["redact", "1", "done"],
      ["remove", "2", "done"],
      ["write", null, "stale"],
      ["write", "1", "done"],
      ["admin:add-repository", null, "done"],
      ["admin:add-token", null, expect.stringContaining("for Ann")],
      ["admin:add-token", null, expect.stringContaining("for Ann")],
      ["admin:create-team", null, expect.stringContaining("Ann")],
    ]);
    expect(rows[2]).toMatchObject({ person: "Ann", tokenId: ann.tokenId, repository: "app", path: "a.md" });
    stage.clock.now = new Date(stage.clock.now.getTime() + 1000);
    await data.audit(ann, [{ action: "later", repository: null, path: null, revision: null, outcome: "ok" }]);
    const [newest] = await data.readAudit(ann, { before: null, limit: 1 });
    expect(newest?.action).toBe("later");
    expect(await data.readAudit(ann, { before: newest?.at ?? "", limit: 2 })).toHaveLength(10);
    await expect(data.readAudit(ann, { before: "yesterday", limit: 2 })).rejects.toMatchObject({ code: "usage" });
  });

  it("keeps one team's rows from another's even when a query forgets its team", async () => {
    const { ann, team } = await makeTeam(data);
    const { ann: eve, team: others } = await makeTeam(data);
    await put(data, ann, "a.md", "ours", null);
    await put(data, eve, "b.md", "theirs", null);
    await data.setRole(ann, "Ann", "app", "admin");
    for (const table of TENANT_TABLES) {
      const seen = await stage.database.transaction(team, (sql) => sql(`select distinct team from ${table}`));
      // Two are written by 0.1 only.
      expect([table, seen]).toEqual([table, /_(search|rate)$/.test(table) ? [] : [{ team }]]);
    }
    expect(await changeAll(stage.database, others)).toEqual({ visible: 0, changed: 0 });
    const insert = (sql: string, values: string[]) =>
      stage.database
        .transaction(others, (run) => run(sql, values))
        .then(
          () => "taken",
          (error) => (error as MemdirError).details,
        );
    const audit =
      "insert into memdir_audit (team, at, person, token_id, action, outcome) values ($1, now(), '', '', '', '')";
    expect(await insert(audit, [team])).toMatchObject({ sqlState: "42501" });
    expect(await insert("insert into memdir_repository (team, name, id) values ($1, 'x', 'x')", [team])).toMatchObject({
      sqlState: "42501",
    });
    expect(await insert("update memdir_version set team = $1", [team])).toMatchObject({ sqlState: "42501" });
    expect(await data.fetchMemories(ann, "app", ["a.md"])).toMatchObject([{ text: "ours" }]);
    // A caller that is put together wrongly: a person of one team in another.
    expect(await data.roleOf({ ...eve, team }, "app")).toBeNull();
    await expect(data.listMemories({ ...eve, team }, "app")).rejects.toMatchObject({ code: "not-found" });
    expect(await find(data, { ...eve, team }, "ours")).toEqual([]);
  });

  it("shows the operator names of teams and counts, and no memory", async () => {
    const { ann, team } = await makeTeam(data);
    await put(data, ann, "a.md", "four", null);
    expect(await data.teams()).toContain(team);
    const { teams, memories, bytes } = await data.counts();
    expect(teams).toBe((await data.teams()).length);
    expect(memories).toBeGreaterThan(0);
    expect(bytes).toBeGreaterThanOrEqual(4);
    for (const table of TENANT_TABLES.filter((name) => !/_(team|repository)$/.test(name)))
      expect(await stage.database.transaction(null, (sql) => sql(`select 1 from ${table}`))).toEqual([]);
    expect(await stage.database.transaction(null, (sql) => sql("delete from memdir_repository returning 1"))).toEqual(
      [],
    );
  });

  it("rolls everything back after a failed statement, even if its error was caught", async () => {
    const { ann, team } = await makeTeam(data);
    const swallowed = stage.database.transaction(team, async (sql) => {
      await sql("update memdir_repository set bytes = 77");
      await sql("select 1/0").catch(() => []);
      return "fine";
    });
    await expect(swallowed).rejects.toMatchObject({ details: { sqlState: "22012" } });
    expect(await data.repositories(ann)).toMatchObject([{ bytes: 0 }]);
    const own = stage.database.transaction(team, async () => {
      throw new RangeError("ours");
    });
    await expect(own).rejects.toThrow(RangeError);
  });

  it("tries again after a deadlock, a few times", async () => {
    const { ann } = await makeTeam(data);
    let failures = 3;
    let draws = 0;
    const unlucky: Database = {
      ...stage.database,
      call: async (text, values) => {
        if (failures-- > 0) throw new MemdirError("disk", "deadlock", { details: { sqlState: "40P01" } });
        return stage.database.call(text, values);
      },
    };
    const randomBytes = (bytes: number) => {
      draws++;
      return new Uint8Array(bytes);
    };
    const patient = openTeamData(unlucky, { now: () => stage.clock.now, randomBytes });
    expect(await put(patient, ann, "a.md", "x", null)).toMatchObject({ kind: "done" });
    expect(draws).toBe(3);
    failures = 99;
    await expect(put(patient, ann, "a.md", "y", "1")).rejects.toThrow("deadlock");
    expect(failures).toBe(94);
  });
}

/** What a program that forgot every `where` would do to its own team; counted: rows of others that it met. */
async function changeAll(database: Database, team: string): Promise<{ visible: number; changed: number }> {
  let visible = 0;
  let changed = 0;
  const roll = new Error("roll back");
  for (const table of TENANT_TABLES) {
    visible += (await database.transaction(team, (sql) => sql(`select 1 from ${table} where team <> $1`, [team])))
      .length;
    if (table === "memdir_audit") continue;
    for (const statement of [`update ${table} set team = team returning team`, `delete from ${table} returning team`]) {
      await database
        .transaction(team, async (sql) => {
          await sql("set constraints all deferred");
          const rows = await sql(statement);
          changed += rows.filter((row) => row.team !== team).length;
          throw roll;
        })
        .catch((error) => {
          // A delete that would leave rows behind without their owner fails: nothing was changed then either.
          if (error !== roll && error.details?.sqlState !== "23503") throw error;
        });
    }
  }
  return { visible, changed };
}
