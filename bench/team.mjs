#!/usr/bin/env node
// The team server on a PostgreSQL of its own: team.mjs [--check] [--quick]. Needs dist/, the packages for tests and PostgreSQL.
// What a sync without changes costs against a bare round trip, syncs per second with 100 clients, the server's memory, and search
// over 100,000 memories against a bare tsvector query. With --check it ends with 1 when a target is missed.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import * as esbuild from "esbuild";
import pg from "pg";
import { inventMemories, makeRandom } from "./recall-invented.mjs";
import { formatTable, takeTurns, timed, timeRow } from "./recall-timing.mjs";

const { values: options } = parseArgs({
  options: { check: { type: "boolean", default: false }, quick: { type: "boolean", default: false } },
});
const CLIENTS = 100;
const REPOSITORIES = 10;
/** In each repository, as a project has after some months. */
const MEMORIES = 200;
const SHARED = options.quick ? 5_000 : 100_000;
const SHARED_REPOSITORIES = options.quick ? 5 : 50;
const ROUNDS = options.quick ? 41 : 201;
const SECONDS = options.quick ? 3 : 10;
const TARGETS = { unchanged: 5, search: 3 };
const root = path.resolve(import.meta.dirname, "..");
const top = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "memdir-bench-team-")));

try {
  await main();
} catch (error) {
  process.stderr.write(`bench: ${error instanceof Error ? error.stack : error}\n`);
  process.exitCode = 3;
} finally {
  fs.rmSync(top, { recursive: true, force: true });
}

async function main() {
  const sources = await load();
  if (!sources.findPostgres()) throw new Error("no PostgreSQL server is installed: install the package `postgresql`");
  const cluster = await sources.startPostgres();
  const client = new pg.Client({ connectionString: cluster.url() });
  let server = null;
  try {
    server = await serve(cluster.url());
    await client.connect();
    const team = await makeTeam(sources, server);
    const unchanged = await measureUnchanged(sources, server, team);
    const idle = residentMegabytes(server);
    const rates = await measureRates(team);
    const busy = residentMegabytes(server);
    const search = await measureSearch(sources, server, team, client);
    const rows = [...unchanged, ...search.rows];
    const cpu = os.cpus();
    print(formatTable(rows));
    print(
      `\nWith ${CLIENTS} clients in ${REPOSITORIES} repositories of ${MEMORIES} memories, clients, server and database on one machine: ` +
        `${rates.unchanged.toFixed(0)} syncs without changes and ${rates.changed.toFixed(0)} with one change each per second.\n` +
        `The server's memory: ${idle} MB after the first clients, ${busy} MB after the hundred, ${residentMegabytes(server)} MB after the searches.\n` +
        `${SHARED} shared memories in ${SHARED_REPOSITORIES} repositories: the index takes ${search.indexMegabytes} MB.\n` +
        `Medians, in brackets the 10 % quantile; ${ROUNDS} rounds, in turn. ${search.version}. ` +
        `Node ${process.version}, ${cpu[0]?.model.trim() ?? "unknown CPU"} × ${cpu.length}, ${process.platform}, ${new Date().toISOString().slice(0, 10)}.`,
    );
    if (options.check && rows.some(({ isMissed }) => isMissed)) process.exitCode = 1;
  } finally {
    await client.end();
    server?.child.kill("SIGTERM");
    if (server) await once(server.child, "exit");
    await cluster.stop();
  }
}

/** Sources of client and tests as one file that Node can run. */
async function load() {
  const outfile = path.join(root, "node_modules", `.memdir-bench-team-${process.pid}.mjs`);
  const from = (file, ...names) => `export { ${names.join(", ")} } from "./${file}";`;
  try {
    await esbuild.build({
      stdin: {
        resolveDir: root,
        contents: [
          from("test/team/server/postgres-cluster.ts", "findPostgres", "startPostgres"),
          from("test/team/sync-world.ts", "directoryAt"),
          from("src/team/server-remote.ts", "openServerRemote"),
          from("src/team/server-remote.ts", "openAdministration"),
          from("src/team/sync.ts", "syncDirectory"),
          from("src/team/server/data-search.ts", "putIntoSearch"),
          from("src/text/terms.ts", "termsOf"),
          from("src/text/secrets.ts", "findSecrets"),
        ].join("\n"),
      },
      outfile,
      bundle: true,
      platform: "node",
      format: "esm",
      packages: "external",
      logLevel: "error",
    });
    return await import(pathToFileURL(outfile).href);
  } finally {
    fs.rmSync(outfile, { force: true });
  }
}

async function serve(database) {
  const args = ["serve", "--json", "--port", "0", "--admin", "ann", "--database", database];
  const data = ["--data", path.join(top, "server"), "--log", path.join(top, "log")];
  const env = { PATH: process.env.PATH ?? "", HOME: top };
  const child = spawn(process.execPath, [path.join(root, "dist/cli.js"), ...args, ...data], { cwd: top, env });
  let said = "";
  let failed = "";
  child.stderr.on("data", (chunk) => (failed += chunk));
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    said += chunk;
    if (said.endsWith("}\n")) break;
  }
  if (!said.endsWith("}\n")) throw new Error(`the server did not start: ${failed}`);
  const { url, tokenFile } = JSON.parse(said);
  return { child, url, token: fs.readFileSync(tokenFile, "utf8").trim() };
}

const NETWORK = { fetch, now: () => new Date(), random: Math.random, sleep, log: () => {} };

/** People with a token and a store each, in repositories that hold memories. */
async function makeTeam({ openAdministration, openServerRemote }, { url, token }) {
  const at = { server: url, team: "default", timeoutMs: 60_000 };
  const admin = openAdministration(NETWORK, { ...at, token });
  const open = (own, repository) => openServerRemote(NETWORK, { ...at, token: own, repository });
  for (let i = 0; i < REPOSITORIES; i++) {
    await admin.addRepository(`project-${i}`);
    const changes = [...inventMemories(MEMORIES, { seed: 100 + i })].map((memory) => ({
      kind: "put",
      path: memory.file,
      text: format(memory),
      expected: null,
    }));
    for (const outcome of await open(token, `project-${i}`).apply(changes))
      if (outcome.kind !== "done") throw new Error(`a memory was not taken: ${outcome.reason}`);
  }
  const clients = [];
  for (let i = 0; i < CLIENTS; i++) {
    await admin.addPerson(`person-${i}`, "writer");
    const { token: own } = await admin.addToken(`person-${i}`, { label: "", days: null });
    clients.push({ token: own, store: open(own, `project-${i % REPOSITORIES}`), file: `own-${i}.md`, revision: null });
  }
  return clients;
}

/** Turns of the clients, as each may only ask so often. */
async function measureUnchanged({ syncDirectory, directoryAt, findSecrets }, { url }, clients) {
  const [first] = clients;
  const clock = { now: new Date() };
  const directory = directoryAt(path.join(top, "mine"), clock);
  const sync = () =>
    syncDirectory({ directory, store: first.store, who: "me", now: () => clock.now, log: () => {}, findSecrets });
  const { pulled } = await sync();
  if (pulled.length !== MEMORIES) throw new Error(`${pulled.length} memories were pulled`);
  for (const { store } of clients) await store.list();
  const times = await takeTurns(ROUNDS, {
    health: () => timed(async () => (await fetch(`${url}/health`)).text()),
    list: (round) => timed(() => clients[(round + CLIENTS) % CLIENTS].store.list()),
    sync: () => timed(sync),
  });
  return [
    timeRow("list without changes (304)", times.list, "GET /health", times.health, TARGETS.unchanged),
    timeRow(`whole sync without changes, ${MEMORIES} memories here`, times.sync, "GET /health", times.health),
  ];
}

/** Syncs per second, all clients at once, each one after the other. */
async function measureRates(clients) {
  const rate = async (sync) => {
    let done = 0;
    const began = performance.now();
    const until = began + SECONDS * 1000;
    const work = async (client) => {
      for (; performance.now() < until; done++) await sync(client);
    };
    await Promise.all(clients.map(work));
    return done / ((performance.now() - began) / 1000);
  };
  const unchanged = await rate(({ store }) => store.list());
  let counter = 0;
  const changed = await rate(async (client) => {
    // The list tells whether others changed something; then this client's own change goes out.
    await client.store.list();
    const text = `---\nname: own\ndescription: counts\ntype: project\n---\n\nThis is change ${++counter}.\n`;
    const change = { kind: "put", path: client.file, text, expected: client.revision };
    const [outcome] = await client.store.apply([change]);
    if (outcome.kind !== "done") throw new Error(`a change was ${outcome.kind}: ${outcome.reason ?? ""}`);
    client.revision = outcome.revision;
  });
  return { unchanged, changed };
}

async function measureSearch(sources, { url }, clients, client) {
  const memories = [...inventMemories(SHARED)];
  await fillSearch(sources, client, memories);
  const random = makeRandom(11);
  const words = Array.from({ length: ROUNDS + 2 }, () => memories[Math.floor(random() * SHARED)].name);
  const lexemes = words.map((text) => [...new Set(sources.termsOf(text))].map((term) => `'default ${term}'`));
  const bare = (sign, round) =>
    timed(async () => {
      const query = lexemes[round + 2].join(` ${sign} `);
      const { rows } = await client.query(
        "select repository, path, ts_rank(terms, $1::tsquery) from memdir_search where terms @@ $1::tsquery order by 3 desc limit 10",
        [query],
      );
      if (rows.length === 0) throw new Error("the bare query found nothing");
    });
  const times = await takeTurns(ROUNDS, {
    any: (round) => bare("|", round),
    all: (round) => bare("&", round),
    search: (round) =>
      timed(async () => {
        const { token } = clients[(round + CLIENTS) % CLIENTS];
        const headers = { authorization: `Bearer ${token}`, "memdir-protocol": "1" };
        const answer = await fetch(`${url}/v1/teams/default/search?q=${encodeURIComponent(words[round + 2])}`, {
          headers,
        });
        const { hits } = await answer.json();
        if (!hits?.length) throw new Error(`the search answered ${answer.status} without hits`);
      }),
  });
  const { rows } = await client.query(
    "select version(), pg_relation_size('memdir_search_terms') / 1000000 as megabytes",
  );
  const what = `search over ${SHARED} memories, three words`;
  return {
    rows: [
      timeRow(what, times.search, "bare tsvector query, any word", times.any, TARGETS.search),
      timeRow(what, times.search, "bare tsvector query, all words", times.all),
    ],
    version: rows[0].version.split(" (")[0],
    indexMegabytes: rows[0].megabytes,
  };
}

/** Straight into the tables, with the terms that the server itself would write: a hundred thousand requests take an hour. */
async function fillSearch({ putIntoSearch, termsOf }, client, memories) {
  await client.query("set synchronous_commit = off");
  await client.query("select set_config('memdir.team', 'default', false)");
  const { rows: index } = await client.query("select pg_get_indexdef('memdir_search_terms'::regclass) as made");
  await client.query("drop index memdir_search_terms");
  const each = SHARED / SHARED_REPOSITORIES;
  for (let i = 0; i < SHARED_REPOSITORIES; i++) {
    const repository = `shared-${i}`;
    const some = memories.slice(i * each, (i + 1) * each);
    const terms = [];
    const keep = async (_, values) => {
      if (values.length === 4) terms.push(values[3]);
      return [];
    };
    for (const memory of some) {
      const all = termsOf([memory.name, memory.description, ...memory.when, memory.body].join("\n"));
      await putIntoSearch(null, keep, ["default", repository, memory.file], { ...memory, terms: all, vector: null });
    }
    await client.query("insert into memdir_repository (team, name, id, memories) values ('default', $1, $1, $2)", [
      repository,
      some.length,
    ]);
    await client.query(
      `insert into memdir_memory select 'default', $1, path, path, 1, 'h', false, 500, 'ann', now(), name, description
       from unnest($2::text[], $3::text[], $4::text[]) as m (path, name, description)`,
      [repository, ...["file", "name", "description"].map((field) => some.map((memory) => memory[field]))],
    );
    await client.query(
      "insert into memdir_search select 'default', $1, path, terms::tsvector from unnest($2::text[], $3::text[]) as m (path, terms)",
      [repository, some.map(({ file }) => file), terms],
    );
  }
  await client.query(index[0].made);
  await client.query("vacuum analyze");
}

function format({ name, description, body, when }) {
  const cues = when.map((cue) => `  - ${cue}`).join("\n");
  return `---\nname: ${name}\ndescription: ${description}\ntype: project\nwhen:\n${cues}\n---\n\n${body}\n`;
}

function residentMegabytes({ child }) {
  const { stdout } = spawnSync("ps", ["-o", "rss=", "-p", String(child.pid)], { encoding: "utf8" });
  return Math.round(Number(stdout) / 1000);
}

function print(text) {
  process.stdout.write(`${text}\n`);
}
