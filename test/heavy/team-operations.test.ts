/** What an operator does with a team server on PostgreSQL: an ordinary owner, a pooler, a standby, a backup, an upgrade beside 0.1. */

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openTeamData } from "../../src/team/server/data.ts";
import { openPostgres } from "../../src/team/server/postgres.ts";
import { ADDITIONS, MIGRATIONS } from "../../src/team/server/schema.ts";
import { sha256 } from "../../src/text/hash.ts";
import { mustCall } from "../team/server/caller.ts";
import { ALL, addCaller, find, LIMITS, makeTeam, put } from "../team/server/data-world.ts";
import { openDesk } from "../team/server/desk.ts";
import { findPostgres, type PostgresCluster, startPostgres } from "../team/server/postgres-cluster.ts";
import { makeTemporary } from "../temporary.ts";
import { PATIENT } from "../until.ts";

const now = () => new Date();
const installed = findPostgres() !== null;
const BOUNCER = "/usr/sbin/pgbouncer";

if (!installed) it.skip("no PostgreSQL server is installed: install the package `postgresql` to run these tests");

describe.skipIf(!installed)("a team server on PostgreSQL", () => {
  let cluster: PostgresCluster;
  const children: ChildProcess[] = [];

  beforeAll(async () => {
    cluster = await startPostgres();
    cluster.sql("create role owner login nocreaterole nocreatedb");
  });
  afterAll(async () => {
    for (const child of children) child.kill();
    await cluster?.stop();
  });

  const openUrl = (url: string) => openTeamData(openPostgres({ url, now, max: 4 }), { now, randomBytes });
  /** A database of its own whose owner has no other right. */
  const open = async (database: string) => {
    cluster.sql(`create database ${database} owner owner`);
    const data = openUrl(cluster.url({ user: "owner", database }));
    await data.migrate();
    return data;
  };

  it("finds by the index as an ordinary owner, and says how to make it where it is missing", async () => {
    const data = await open("ordinary");
    const { ann } = await makeTeam(data);
    await put(data, ann, "needle.md", "the zanzibar needle", null);
    cluster.sql(
      "insert into memdir_words select n, 'other', array_to_tsvector(array['common' || n % 7, 'w' || n]) from generate_series(100000, 130000) n; analyze",
      "ordinary",
    );
    const client = new pg.Client({ connectionString: cluster.url({ user: "owner", database: "ordinary" }) });
    await client.connect();
    // Behind row-level security this would not help: the operator of text search is not leakproof.
    await client.query("set enable_seqscan = off");
    const plan = await client.query("explain select memory from memdir_words where terms @@ 'w100500'::tsquery");
    expect(JSON.stringify(plan.rows)).toContain("memdir_words_terms");
    await client.end();
    expect((await find(data, ann, "zanzibar"))[0]?.path).toBe("needle.md");
    expect(await data.advise()).toEqual([]);
    cluster.sql("drop index memdir_words_terms", "ordinary");
    const [advice = ""] = await data.advise();
    const sql = /owner of the tables: (.*)$/.exec(advice)?.[1] ?? "";
    cluster.sql(sql, "ordinary");
    expect(await data.advise()).toEqual([]);
    await data.close();
  });

  it("answers with a page of versions however long the history, and with what changed since a state", async () => {
    const data = await open("history");
    const { ask, tokens } = await openDesk(data, { now: new Date() });
    const place = "/v1/teams/acme/repositories/app";
    const caller = await mustCall(data, tokens["acme ann"] ?? "");
    const limits = { ...LIMITS, memoryBytes: 300_000, repositoryBytes: 9_000_000, memoryHistoryBytes: 100_000_000 };
    for (let i = 0; i < 40; i++)
      await put(data, caller, "a.md", `${i} ${"x".repeat(250_000)}`, i === 0 ? null : `${i}`, {
        limits: { ...limits, repositoryHistoryBytes: 100_000_000 },
      });
    const first = await ask("GET", `${place}/versions/a.md`);
    expect(first.text.length).toBeLessThan(5_000_000);
    expect(first.body.more).toBe(true);
    const seen = [...first.body.versions];
    for (let more = true; more; ) {
      const page = await ask("GET", `${place}/versions/a.md?before=${seen[0].revision}`);
      seen.unshift(...page.body.versions);
      more = page.body.more;
    }
    expect(seen.map(({ revision }) => Number(revision))).toEqual(Array.from({ length: 40 }, (_, i) => i + 1));
    const [, third] = seen;
    const one = await ask("GET", `${place}/versions/a.md?hash=${sha256(third.text)}`);
    expect(one.body.versions).toMatchObject([{ revision: "2" }]);
    const { state } = (await ask("GET", `${place}/memories`)).body;
    await put(data, caller, "b.md", "new", null, { limits });
    const { body } = await ask("GET", `${place}/memories?since=${encodeURIComponent(state)}`);
    expect(body).toMatchObject({ since: state, entries: [{ path: "b.md" }] });
    expect((await ask("GET", `${place}/versions/a.md?before=x`)).status).toBe(400);
    await data.close();
  });

  it("stops a search that takes too long, and nothing else waits for it", async () => {
    const data = await open("slow");
    const { ask } = await openDesk(data, { now: new Date() });
    const blocker = new pg.Client({ connectionString: cluster.url({ database: "slow" }) });
    await blocker.connect();
    await blocker.query("begin");
    await blocker.query("lock table memdir_words in access exclusive mode");
    const searches = Array.from({ length: 6 }, () => ask("GET", "/v1/teams/acme/search?q=zanzibar"));
    // More searches than there are connections in all wait; lists are answered meanwhile.
    for (let i = 0; i < 10; i++)
      expect((await ask("GET", "/v1/teams/acme/repositories/app/memories")).status).toBe(200);
    const first = await searches[0];
    expect([first?.status, first?.body.problem]).toEqual([503, "search"]);
    await blocker.query("rollback");
    await blocker.end();
    expect((await searches.at(-1))?.status).toBe(200);
    await data.close();
  });

  it("reveals nothing of another team through the table of words, which has no row-level security", async () => {
    const data = await open("opaque");
    const { ann } = await makeTeam(data);
    const { ann: eve } = await makeTeam(data);
    await put(data, ann, "plan.md", "secretive zanzibar", null);
    expect(await find(data, eve, "zanzibar")).toEqual([]);
    const kept = cluster.sql("select terms::text || repository_id from memdir_words", "opaque");
    expect(kept).not.toMatch(/zanzibar|secretive|plan|team-/);
    await data.close();
  });

  it("keeps reading while the database takes no writes, says so, and writes again at once afterwards", async () => {
    const data = await open("failover");
    const { ask } = await openDesk(data, { now: new Date() });
    const NEW = { "if-none-match": "*" };
    const body = "---\nname: a\ndescription: b\ntype: project\n---\n\nText.\n";
    const write = (name: string) =>
      ask("PUT", `/v1/teams/acme/repositories/app/memories/${name}.md`, { body, headers: NEW });
    expect((await write("before")).status).toBe(200);
    expect((await ask("GET", "/ready")).status).toBe(200);
    cluster.sql("alter database failover set default_transaction_read_only = on");
    cluster.sql("select pg_terminate_backend(pid) from pg_stat_activity where datname = 'failover'");
    await expect.poll(async () => (await ask("GET", "/ready")).status, PATIENT).toBe(503);
    expect((await ask("GET", "/ready")).body.message).toContain("takes no writes");
    await expect.poll(async () => (await write("during")).status, PATIENT).toBe(503);
    expect((await ask("GET", "/v1/teams/acme/repositories/app/memories")).status).toBe(200);
    cluster.sql("alter database failover reset default_transaction_read_only");
    // Connections that saw the standby are given up with their first refusal.
    await expect.poll(async () => (await write("after")).status, PATIENT).toBe(200);
    await expect.poll(async () => (await ask("GET", "/ready")).status, PATIENT).toBe(200);
    await data.close();
  });

  it("is backed up and restored by its owner, whole", async () => {
    const data = await open("kept");
    const { ann } = await makeTeam(data);
    for (let i = 0; i < 5; i++) await put(data, ann, "a.md", `text ${i} zanzibar`, i === 0 ? null : String(i));
    await data.close();
    const bin = findPostgres() as string;
    const folder = makeTemporary("backup");
    const file = path.join(folder, "dump");
    const dump = (...more: string[]) =>
      execFileSync(
        path.join(bin, "pg_dump"),
        ["-Fc", "-f", file, ...more, cluster.url({ user: "owner", database: "kept" })],
        {
          stdio: "pipe",
        },
      );
    // As docs/operations.md has it: a role that reads every team's rows, for backups only.
    expect(() => dump()).toThrow("row-level security");
    cluster.sql("create role backup login bypassrls; grant pg_read_all_data to backup");
    execFileSync(path.join(bin, "pg_dump"), ["-Fc", "-f", file, cluster.url({ user: "backup", database: "kept" })]);
    cluster.sql("create database restored owner owner");
    execFileSync(path.join(bin, "pg_restore"), [
      "--no-owner",
      "--no-acl",
      "--exit-on-error",
      "-d",
      cluster.url({ user: "owner", database: "restored" }),
      file,
    ]);
    const again = openUrl(cluster.url({ user: "owner", database: "restored" }));
    expect(await again.migrate()).toEqual([]);
    expect((await again.versions(ann, "app", "a.md", ALL)).versions).toHaveLength(5);
    expect(await find(again, ann, "zanzibar")).toHaveLength(1);
    expect(await put(again, ann, "a.md", "more", "5")).toMatchObject({ kind: "done", revision: "6" });
    await again.close();
  });

  it("says what an operator can do when the database refuses", async () => {
    cluster.sql("create role stranger login password 'hunter2'");
    cluster.sql("create role late login password 'hunter2' connection limit 0");
    cluster.sql("create database closed owner owner");
    const refusals: [user: string, database: string, words: string][] = [
      ["owner", "missing", "(SQLSTATE 3D000): there is no database with this name"],
      ["stranger", "closed", "(SQLSTATE 42501): the user needs to own the database"],
      ["late", "closed", "(SQLSTATE 53300): it has no connection left for us"],
      ["nobody", "closed", "(SQLSTATE 28000): the user or the password is wrong"],
    ];
    for (const [user, database, words] of refusals) {
      const data = openUrl(cluster.url({ user, database }));
      await expect(data.migrate()).rejects.toThrow(words);
      await data.close();
    }
  });

  it("is set up by deploy/database.sh, as the entrypoint of PostgreSQL's container sources it", () => {
    const deploy = path.resolve(import.meta.dirname, "../../deploy");
    const { port } = new URL(cluster.url());
    // The entrypoint has taken the file's name out of the environment by then.
    const env = {
      PATH: `${findPostgres()}:${process.env.PATH}`,
      PGHOST: "127.0.0.1",
      PGPORT: port,
      PGUSER: "postgres",
    };
    execFileSync("bash", ["-ec", `. ${deploy}/database.sh`], {
      env: { ...env, POSTGRES_PASSWORD: "it's" },
      stdio: "pipe",
    });
    const roles = cluster.sql(
      "select rolname, rolsuper, rolbypassrls from pg_roles where rolname ~ '^memdir' order by 1",
    );
    expect(roles.split("\n")).toEqual(["memdir|f|f", "memdir_backup|f|t"]);
    const { version } = JSON.parse(fs.readFileSync(path.join(deploy, "../package.json"), "utf8"));
    expect(fs.readFileSync(path.join(deploy, "Dockerfile"), "utf8")).toContain(`ARG MEMDIR=memdir@${version}\n`);
  });

  it("gives no list since a state that a restored database never had", async () => {
    const data = await open("rewound");
    const { ann } = await makeTeam(data);
    await put(data, ann, "a.md", "one", null);
    const early = (await data.listMemories(ann, "app")).state;
    cluster.sql("create table memdir_kept as select * from memdir_repository", "rewound");
    await put(data, ann, "a.md", "two", "1");
    const { state } = await data.listMemories(ann, "app");
    // As a backup from before the last write would be.
    cluster.sql(
      `delete from memdir_version where revision = 2; update memdir_memory set revision = 1, changed = k.state from memdir_kept k;
       update memdir_repository r set state = k.state from memdir_kept k where k.team = r.team`,
      "rewound",
    );
    await put(data, ann, "b.md", "after the restore", null);
    await put(data, ann, "c.md", "after the restore", null);
    expect((await data.listMemories(ann, "app", state)).since).toBeUndefined();
    expect((await data.listMemories(ann, "app", state)).entries).toHaveLength(3);
    expect((await data.listMemories(ann, "app", early)).entries).toHaveLength(2);
    await data.close();
  });

  it("takes a database of 0.1 as it is, and what 0.1 writes beside it", async () => {
    cluster.sql("create database old owner owner");
    const url = cluster.url({ user: "owner", database: "old" });
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    // As 0.1 prepared it, with a team, a repository and a memory.
    await client.query("create table memdir_migration (name text primary key, at timestamptz not null)");
    for (const statement of MIGRATIONS[0]?.statements ?? []) await client.query(statement);
    await client.query("insert into memdir_migration values ('2026-11-team', now())");
    await client.query("select set_config('memdir.team', 'acme', false)");
    await client.query("insert into memdir_team values ('acme', now())");
    await client.query("insert into memdir_person values ('acme', 'p1', 'Ann', 'admin')");
    await client.query("insert into memdir_repository (team, name, id) values ('acme', 'app', 'r1')");
    const writeOld = async (name: string, word: string) => {
      await client.query("begin");
      await client.query("select 1 from memdir_repository where team = 'acme' and name = 'app' for no key update");
      await client.query(
        "insert into memdir_memory (team, repository, path, folded, revision, hash, deleted, bytes, author, at, name, description) values ('acme', 'app', $1, $1, 1, $2, false, 5, 'Ann', now(), $1, '')",
        [name, "0".repeat(64)],
      );
      await client.query(
        "insert into memdir_version (team, repository, path, revision, hash, deleted, author, at, text) values ('acme', 'app', $1, 1, $2, false, 'Ann', now(), 'words')",
        [name, "0".repeat(64)],
      );
      await client.query("insert into memdir_search values ('acme', 'app', $1, $2::tsvector)", [
        name,
        `'acme ${word}':1A`,
      ]);
      await client.query("update memdir_repository set state = state + 1, memories = memories + 1, bytes = bytes + 5");
      await client.query("commit");
    };
    await writeOld("before.md", "zanzibar");
    const data = openUrl(url);
    // The extension for vectors is not there.
    const wanted = ADDITIONS.filter(({ needsVectors }) => !needsVectors);
    expect(await data.migrate()).toEqual(wanted.map(({ name }) => name));
    const tokenId = (await data.issueToken("acme", "Ann", { label: "", days: null }))?.id ?? "";
    const ann = { team: "acme", personId: "p1", person: "Ann", tokenId };
    expect((await find(data, ann, "zanzibar")).map((hit) => hit.path)).toEqual(["before.md"]);
    await put(data, ann, "new.md", "ours", null);
    const { state } = await data.listMemories(ann, "app");
    await writeOld("beside.md", "lisbon");
    expect((await find(data, ann, "lisbon")).map((hit) => hit.path)).toEqual(["beside.md"]);
    const { entries } = await data.listMemories(ann, "app", state);
    expect(entries.map((entry) => entry.path)).toEqual(["beside.md"]);
    expect(await put(data, ann, "beside.md", "changed", "1")).toMatchObject({ kind: "done", revision: "2" });
    expect(await find(data, ann, "lisbon")).toEqual([]);
    // 0.1 starts on a database that it finds no unknown migration in.
    const { rows } = await client.query("select name from memdir_migration");
    expect(rows).toEqual([{ name: "2026-11-team" }]);
    // And this version starts beside a newer one that only added something.
    cluster.sql("insert into memdir_schema values ('2031-later', now(), false)", "old");
    expect(await data.migrate()).toEqual([]);
    cluster.sql("insert into memdir_schema values ('2032-other', now(), true)", "old");
    await expect(data.migrate()).rejects.toThrow("2032-other");
    await client.end();
    await data.close();
  });

  it.skipIf(!fs.existsSync(BOUNCER))(
    "works behind pgbouncer in transaction mode, and keeps teams apart there",
    async () => {
      await (await open("pooled")).close();
      const folder = makeTemporary("pgbouncer");
      const port = await findPort();
      const { port: behind } = new URL(cluster.url());
      const settings = [
        "[databases]",
        `pooled = host=127.0.0.1 port=${behind} dbname=pooled`,
        "[pgbouncer]",
        "listen_addr = 127.0.0.1",
        `listen_port = ${port}`,
        "unix_socket_dir =",
        "auth_type = any",
        "pool_mode = transaction",
        "default_pool_size = 3",
        "",
      ];
      settings[1] += " user=owner";
      const file = path.join(folder, "pgbouncer.ini");
      fs.writeFileSync(file, settings.join("\n"));
      fs.chmodSync(folder, 0o755);
      const child = spawn(BOUNCER, [...(process.getuid?.() === 0 ? ["-u", "postgres"] : []), file], {
        stdio: "ignore",
      });
      children.push(child);
      const data = openUrl(`postgres://owner@127.0.0.1:${port}/pooled`);
      await expect
        .poll(
          () =>
            data.ping().then(
              () => "up",
              () => "down",
            ),
          PATIENT,
        )
        .toBe("up");
      expect(await data.migrate()).toEqual([]);
      const teams = [await makeTeam(data), await makeTeam(data)] as const;
      const limits = { ...LIMITS, repositoryMemories: 1000, repositoryBytes: 1_000_000 };
      await Promise.all(
        Array.from({ length: 60 }, async (_, i) => {
          const { ann, team } = teams[i % 2] ?? teams[0];
          expect(await put(data, ann, `m${i}.md`, `zanzibar ${team}`, null, { limits })).toMatchObject({
            kind: "done",
          });
          const { entries } = await data.listMemories(ann, "app");
          expect(entries.every(({ path: name }) => Number(/\d+/.exec(name)?.[0]) % 2 === i % 2)).toBe(true);
        }),
      );
      for (const { ann } of teams) {
        expect((await data.listMemories(ann, "app")).entries).toHaveLength(30);
        expect(await find(data, ann, "zanzibar")).toHaveLength(10);
      }
      await addCaller(data, teams[0].ann, "Bob", "reader");
      await data.close();
    },
  );
});

function findPort(): Promise<number> {
  return new Promise((done) => {
    const server = net.createServer();
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as net.AddressInfo;
      server.close(() => done(port));
    });
  });
}
