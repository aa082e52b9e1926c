/** The team's data on a real PostgreSQL: the contract, users without rights, and writers while the database goes down. */

import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MemdirError } from "../../src/errors.ts";
import { openTeamData, type TeamData } from "../../src/team/server/data.ts";
import type { Caller } from "../../src/team/server/data-base.ts";
import { openPostgres } from "../../src/team/server/postgres.ts";
import { TENANT_TABLES } from "../../src/team/server/schema.ts";
import { testTeamData } from "../team/server/data-contract.ts";
import { ALL, addCaller, find, LIMITS, makeTeam, put } from "../team/server/data-world.ts";
import { findPostgres, type PostgresCluster, startPostgres } from "../team/server/postgres-cluster.ts";
import { PATIENT } from "../until.ts";

const now = () => new Date();
const installed = findPostgres() !== null;

if (!installed) it.skip("no PostgreSQL server is installed: install the package `postgresql` to run these tests");

describe.skipIf(!installed)("on PostgreSQL", () => {
  let cluster: PostgresCluster;

  beforeAll(async () => {
    cluster = await startPostgres();
  });
  afterAll(() => cluster?.stop());

  const open = (user?: string, database?: string) =>
    openTeamData(openPostgres({ url: cluster.url({ user, database }), now, connectTimeoutMs: 2_000 }), {
      now,
      randomBytes,
    });

  describe("as superuser", () => {
    testTeamData(async (clock) => openPostgres({ url: cluster.url(), now: clock, max: 8 }));
  });

  describe("as an ordinary user who may make roles", () => {
    testTeamData(async (clock) => {
      cluster.sql("create role maker login createrole");
      cluster.sql("create database making owner maker");
      return openPostgres({ url: cluster.url({ user: "maker", database: "making" }), now: clock, max: 8 });
    });

    it("uses the role, and the index for terms", () => {
      const member = "select pg_has_role('maker', 'memdir_app', 'member')";
      expect(cluster.sql(member, "making")).toBe("t");
      const forced = `select string_agg(relname, ' ') from pg_class where relname like 'memdir_%' and relkind = 'r' and relrowsecurity and not relforcerowsecurity`;
      expect(cluster.sql(forced, "making")).toBe("memdir_search");
    });
  });

  describe("as an ordinary user who may not", () => {
    testTeamData(async (clock) => {
      cluster.sql("create role plain login nocreaterole");
      cluster.sql("create database plainly owner plain");
      return openPostgres({ url: cluster.url({ user: "plain", database: "plainly" }), now: clock, max: 8 });
    });

    it("is bound by the tables' own rules", () => {
      expect(cluster.sql("select pg_has_role('plain', 'memdir_app', 'member')", "plainly")).toBe("f");
      const unbound = `select count(*) from pg_class where relname = any('{${TENANT_TABLES.join(",")}}') and not (relrowsecurity and relforcerowsecurity)`;
      expect(cluster.sql(unbound, "plainly")).toBe("0");
    });
  });

  it("refuses to work where row-level security would bind nobody", async () => {
    cluster.sql("create role bare login bypassrls");
    cluster.sql("create database bared owner bare");
    const data = open("bare", "bared");
    await expect(data.migrate()).rejects.toThrow("row-level security");
    await expect(data.createTeam("acme", "Ann")).rejects.toThrow(MemdirError);
    await data.close();
    cluster.sql("alter role memdir_app bypassrls");
    const unbound = open();
    await expect(unbound.createTeam("acme", "Ann")).rejects.toThrow("row-level security");
    cluster.sql("alter role memdir_app nobypassrls");
    await unbound.createTeam("acme", "Ann");
    await unbound.close();
  });

  it("prepares one database from several processes at once, and refuses a newer one's", async () => {
    cluster.sql("create database many");
    const all = Array.from({ length: 6 }, () => open("postgres", "many"));
    const applied = await Promise.all(all.map((data) => data.migrate()));
    expect(applied.flat().filter((name) => name === "2026-11-team")).toHaveLength(1);
    cluster.sql("insert into memdir_migration values ('2031-01-later', now())", "many");
    await expect(all[0]?.migrate()).rejects.toThrow("2031-01-later");
    await Promise.all(all.map((data) => data.close()));
  });

  it("says so when the database cannot be reached, or not by us", async () => {
    const gone = openPostgres({ url: "postgres://nobody@127.0.0.1:1/none", now, connectTimeoutMs: 500 });
    await expect(gone.ping()).rejects.toMatchObject({ code: "network" });
    await gone.close();
    const wrong = open("postgres", "no_such_database");
    await expect(wrong.ping()).rejects.toMatchObject({ code: "network" });
    await wrong.close();
  });

  it("loses no acknowledged update of 50 writers to 20 memories through two pools while PostgreSQL is restarted", async () => {
    cluster.sql("create database busy");
    const servers = [open("postgres", "busy"), open("postgres", "busy")] as const;
    await servers[0].migrate();
    const { ann } = await makeTeam(servers[0]);
    const paths = Array.from({ length: 20 }, (_, at) => `memory-${at}.md`);
    const acknowledged: { path: string; line: string }[] = [];
    let failures = 0;
    let stop = false;

    const writer = async (data: TeamData, number: number) => {
      for (let round = 0; !stop || round < 4; round++) {
        const path = paths[(number * 7 + round * 3) % paths.length] ?? "";
        const line = `${number}/${round}`;
        // A writer appends its line to what is there; told nothing, it asks again with the same line.
        for (let done = false; !done; ) {
          try {
            done = await appendLine(data, ann, path, line);
          } catch (error) {
            expect(error).toMatchObject({ code: "network" });
            failures++;
            await sleep(20);
          }
        }
        acknowledged.push({ path, line });
      }
    };
    const writers = Array.from({ length: 50 }, (_, number) => writer(servers[number % 2] ?? servers[0], number));
    await sleep(1_500);
    const before = acknowledged.length;
    await cluster.restart();
    await sleep(1_000);
    stop = true;
    await Promise.all(writers);

    expect(before).toBeGreaterThan(0);
    expect(failures).toBeGreaterThan(0);
    expect(acknowledged.length).toBeGreaterThan(before);
    const texts = new Map<string, string[]>();
    for (const { path, text } of await servers[1].fetchMemories(ann, "app", paths)) texts.set(path, text.split("\n"));
    const lost = acknowledged.filter(({ path, line }) => !texts.get(path)?.includes(line));
    expect(lost).toEqual([]);
    for (const [path, lines] of texts) {
      expect(new Set(lines).size).toBe(lines.length);
      expect((await servers[0].versions(ann, "app", path, ALL)).versions).toHaveLength(lines.length);
    }
    await Promise.all(servers.map((server) => server.close()));
  });

  it("finds by an index among many memories", async () => {
    cluster.sql("create database large");
    const data = open("postgres", "large");
    await data.migrate();
    const { ann, team } = await makeTeam(data);
    await put(data, ann, "needle.md", "the zanzibar needle", null);
    const bob = await addCaller(data, ann, "Bob", "reader");
    cluster.sql(
      `insert into memdir_memory select '${team}', 'app', 'm' || n || '.md', 'm' || n || '.md', 1, 'h', false, 1, 'Ann', now(), 'm' || n, '' from generate_series(1, 20000) n;
       insert into memdir_words select m.id, r.id, memdir_opaque(array_to_tsvector(
           array['${team} common', '${team} w' || substr(m.name, 2)] || array(select 'x' || (m.id * i) % 5000 from generate_series(1, 60) i)))
         from memdir_memory m join memdir_repository r on r.team = m.team and r.name = m.repository where m.path <> 'needle.md';
       analyze`,
      "large",
    );
    const scans = () =>
      Number(
        cluster.sql("select idx_scan from pg_stat_user_indexes where indexrelname = 'memdir_words_terms'", "large"),
      );
    const before = scans();
    expect((await find(data, bob, "zanzibar common"))[0]?.path).toBe("needle.md");
    expect((await find(data, bob, "w777"))[0]?.path).toBe("m777.md");
    await data.close();
    await expect.poll(scans, PATIENT).toBeGreaterThan(before);
  });
});

async function appendLine(data: TeamData, caller: Caller, path: string, line: string): Promise<boolean> {
  const limits = { ...LIMITS, memoryBytes: 1_000_000, repositoryBytes: 100_000_000 };
  const [there] = await data.fetchMemories(caller, "app", [path]);
  if (there?.text.split("\n").includes(line)) return true;
  const text = there ? `${there.text}\n${line}` : line;
  const outcome = await put(data, caller, path, text, there?.revision ?? null, { limits });
  return outcome.kind === "done";
}
