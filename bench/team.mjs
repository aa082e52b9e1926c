#!/usr/bin/env node
// The team server on a PostgreSQL of its own, as an ordinary owner of its database: team.mjs [--check] [--quick]. Needs dist/, the
// packages for tests and PostgreSQL. Polls, lists and writes of 100 and 300 clients against a bare hono + pg endpoint in the same
// run (team-bare.mjs), the server's memory, and search as the owner against search as a superuser. With --check it ends with 1 when a
// target is missed. --model SECONDS instead runs a tenth of the model in docs/operations.md: 500 people who watch 50 repositories.
// --soak MINUTES instead keeps 100 clients listing and writing, and ends with 1 when the server's memory grows, it uses more
// connections than its pool has, or a request fails or takes longer than a client waits.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import http from "node:http";
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
  options: {
    check: { type: "boolean", default: false },
    quick: { type: "boolean", default: false },
    model: { type: "string" },
    soak: { type: "string" },
  },
});
const MODEL = { people: 500, repositories: 50, memories: 300, pollMs: 15_000, writesPerSecond: 3.5 };
/** As `memdir serve` says and its clients: ten connections and two for search; the client gives up after 30 seconds. */
const SOAK = { connections: 12, requestMs: 30_000, growth: 1.2, samples: 30 };
const [FEW, MANY] = options.model ? [0, MODEL.people] : [100, options.soak ? 100 : 300];
const REPOSITORIES = options.model ? MODEL.repositories : 10;
/** In each repository, as a project has after some months. */
const MEMORIES = options.model ? MODEL.memories : 200;
const SHARED = options.quick ? 5_000 : 100_000;
const SHARED_REPOSITORIES = options.quick ? 5 : 50;
const ROUNDS = options.quick ? 41 : 101;
/** Loads run in short turns, so that a busy moment of the machine hits all of them. */
const SECONDS = 1;
const TURNS = options.quick ? 4 : 8;
const TARGETS = { poll: 1.5, write: 1 / 3, p99: 1000, search: 1.5 };
const NETWORK = { fetch, now: () => new Date(), random: Math.random, sleep, log: () => {} };
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
  const children = [];
  const begin = async (...args) => {
    const started = await start(...args);
    children.push(started.child);
    return started;
  };
  try {
    cluster.sql("create role owner login");
    cluster.sql("create database plain owner owner");
    cluster.sql("create database bare");
    const plain = cluster.url({ user: "owner", database: "plain" });
    const bare = await begin(path.join(root, "bench/team-bare.mjs"), cluster.url({ database: "bare" }));
    let server = await begin(...serverAt(plain));
    const clients = await makeTeam(sources, server);
    if (options.model) return await runModel(server, clients, cluster);
    if (options.soak) return await soak(server, clients, cluster);
    const loads = await measureLoads(bare, server, clients);
    const busy = residentMegabytes(server);
    await end(server.child);
    const { words, indexMegabytes } = await fillSearch(sources, cluster, clients);
    // The same rows under a superuser, whom row-level security does not bind.
    cluster.sql("create database super template plain");
    server = await begin(...serverAt(plain));
    const other = await begin(...serverAt(cluster.url({ database: "super" })));
    const search = await measureSearch(server, other, clients, words);
    const cpu = os.cpus();
    print(formatTable([...loads, search]));
    print(
      `\nClients, server and database on one machine, ${REPOSITORIES} repositories of ${MEMORIES} memories; the server's memory was ${busy} MB after these. ` +
        `${SHARED} shared memories in ${SHARED_REPOSITORIES} repositories: the index takes ${indexMegabytes} MB. ` +
        `Node ${process.version}, ${cluster.sql("show server_version")}, ${cpu[0]?.model.trim() ?? "unknown CPU"} × ${cpu.length}, load ${os.loadavg()[0].toFixed(1)}, ${new Date().toISOString().slice(0, 10)}.`,
    );
    if (options.check && [...loads, search].some(({ isMissed }) => isMissed)) process.exitCode = 1;
  } finally {
    await Promise.all(children.map(end));
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
          from("src/team/server-remote.ts", "openAdministration", "openServerRemote"),
          from("src/team/server/data-search.ts", "formatTerms"),
          from("src/text/terms.ts", "termsOf"),
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

function serverAt(database) {
  const data = [
    "--data",
    path.join(top, `server-${new URL(database).pathname.slice(1)}`),
    "--log",
    path.join(top, "log"),
  ];
  return [
    path.join(root, "dist/cli.js"),
    "serve",
    "--json",
    "--port",
    "0",
    "--admin",
    "ann",
    "--database",
    database,
    ...data,
  ];
}

/** A process that says where it listens, as JSON. */
async function start(...args) {
  const env = { PATH: process.env.PATH ?? "", HOME: top };
  const child = spawn(process.execPath, args, { cwd: top, env });
  let said = "";
  let failed = "";
  child.stderr.on("data", (chunk) => (failed += chunk));
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    said += chunk;
    if (said.endsWith("}\n")) break;
  }
  if (!said.endsWith("}\n")) throw new Error(`${args[0]} did not start: ${failed}`);
  const { url, tokenFile } = JSON.parse(said);
  return { child, url, token: tokenFile ? fs.readFileSync(tokenFile, "utf8").trim() : null };
}

async function end(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGTERM");
  await once(child, "exit");
}

/** People with a token each, in repositories that hold memories. */
async function makeTeam({ openAdministration, openServerRemote }, { url, token }) {
  const at = { server: url, team: "default", timeoutMs: 60_000 };
  const admin = openAdministration(NETWORK, { ...at, token });
  for (let i = 0; i < REPOSITORIES; i++) await admin.addRepository(`project-${i}`);
  const clients = [];
  for (let i = 0; i < MANY; i++) {
    await admin.addPerson(`person-${i}`, "writer");
    const { token: own } = await admin.addToken(`person-${i}`, { label: "", days: 1 });
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    clients.push({
      token: own,
      agent,
      id: i,
      repository: `project-${i % REPOSITORIES}`,
      etag: "",
      state: "",
      revision: null,
    });
  }
  // Each by a person of its own, as one token may send 50 a second.
  const fill = async (i) => {
    const store = openServerRemote(NETWORK, { ...at, token: clients[i].token, repository: `project-${i}` });
    const changes = [...inventMemories(MEMORIES, { seed: 100 + i })].map((memory) => ({
      kind: "put",
      path: memory.file,
      text: format(memory),
      expected: null,
    }));
    for (const outcome of await store.apply(changes))
      if (outcome.kind !== "done") throw new Error(`a memory was not taken: ${outcome.reason}`);
  };
  for (let i = 0; i < REPOSITORIES; i += 5)
    await Promise.all(Array.from({ length: Math.min(5, REPOSITORIES - i) }, (_, next) => fill(i + next)));
  return clients;
}

/** As little as a client can do, so that what is measured is the server. */
function ask(url, { agent, token }, { method = "GET", path: target, headers = {}, body }) {
  return new Promise((done, fail) => {
    const all = { ...(token && { authorization: `Bearer ${token}`, "memdir-protocol": "1" }), ...headers };
    if (body !== undefined) all["content-length"] = Buffer.byteLength(body);
    const request = http.request(`${url}${target}`, { method, agent, headers: all }, (response) => {
      const chunks = [];
      response.on("data", (chunk) => chunks.push(chunk));
      response.on("end", () =>
        done({ status: response.statusCode, headers: response.headers, text: Buffer.concat(chunks).toString("utf8") }),
      );
      response.on("error", fail);
    });
    // A server ends a connection that was idle, maybe at this very moment.
    request.on("error", (error) =>
      request.reusedSocket ? done(ask(url, { agent, token }, { method, path: target, headers, body })) : fail(error),
    );
    request.end(body);
  });
}

/** What clients of a server do: a poll, and a poll with a write. */
function makeWork(server) {
  let counter = 0;
  const list = async (client, status) => {
    const since = client.state ? `?since=${client.state}` : "";
    const headers = client.etag ? { "if-none-match": client.etag } : {};
    const place = `/v1/teams/default/repositories/${client.repository}/memories${since}`;
    const answer = await ask(server.url, client, { path: place, headers }).then(expect(200, 304));
    if (status !== undefined && answer.status !== status) throw new Error(`a list was answered with ${answer.status}`);
    if (answer.status === 200)
      Object.assign(client, { etag: answer.headers.etag, state: JSON.parse(answer.text).state });
    return answer;
  };
  const change = async (client) => {
    await list(client);
    const { revision } = client;
    const text = `---\nname: own ${client.id}\ndescription: counts\ntype: project\n---\n\nThis is change ${++counter}.\n`;
    const headers = {
      "content-type": "text/markdown",
      ...(revision ? { "if-match": `"${revision}"` } : { "if-none-match": "*" }),
    };
    const place = `/v1/teams/default/repositories/${client.repository}/memories/own-${client.id}.md`;
    const answer = await ask(server.url, client, { method: "PUT", path: place, headers, body: text }).then(expect(200));
    client.revision = JSON.parse(answer.text).revision;
  };
  return { list, change };
}

/** Everybody polls as `sync --watch` does, and now and then somebody writes. */
async function runModel(server, clients, cluster) {
  const { list, change } = makeWork(server);
  const seconds = Number(options.model);
  const until = performance.now() + seconds * 1000;
  const found = { 200: [], 304: [], write: [] };
  let bytes = 0;
  const before = readWork(server, cluster);
  const watch = async (client) => {
    await sleep(Math.random() * MODEL.pollMs);
    while (performance.now() < until) {
      const began = performance.now();
      const { status, text } = await list(client);
      found[status].push(performance.now() - began);
      bytes += text.length;
      await sleep(MODEL.pollMs);
    }
  };
  const write = async () => {
    const free = [...clients];
    while (performance.now() < until) {
      const client = free[Math.floor(Math.random() * free.length)];
      found.write.push(await timed(() => change(client)));
      await sleep(1000 / MODEL.writesPerSecond);
    }
  };
  await Promise.all([...clients.map(watch), write()]);
  for (const [what, times] of Object.entries(found)) {
    times.sort((a, b) => a - b);
    const at = (part) => times[Math.floor(times.length * part)]?.toFixed(0);
    print(`${what}: ${times.length}, median ${at(0.5)} ms, 99 % ${at(0.99)} ms`);
  }
  const used = Number(cluster.sql("select count(*) from pg_stat_activity where datname = 'plain'"));
  // What a connection did is counted when it has been quiet for a moment.
  await sleep(2_000);
  const after = readWork(server, cluster);
  const grown = (key) => after[key] - before[key];
  print(
    `${MODEL.people} people, ${MODEL.repositories} repositories of ${MODEL.memories}, ${seconds} s: lists ${(bytes / 1e6).toFixed(1)} MB, ` +
      `connections ${used}, server ${residentMegabytes(server)} MB and ${grown("serverSeconds").toFixed(1)} s of CPU, ` +
      `database ${grown("transactions")} transactions, ${grown("rows")} rows added, ${(before.bytes / 1e6).toFixed(0)} MB + ${(grown("bytes") / 1e6).toFixed(1)} MB, load ${os.loadavg()[0].toFixed(1)}`,
  );
}

/** What server and database have done so far. */
function readWork({ child }, cluster) {
  const counted = cluster.sql(
    "select xact_commit, tup_inserted, pg_database_size('plain') from pg_stat_database where datname = 'plain'",
  );
  const [transactions, rows, bytes] = counted.split("|").map(Number);
  const { stdout } = spawnSync("ps", ["-o", "cputimes=", "-p", String(child.pid)], { encoding: "utf8" });
  return { transactions, rows, bytes, serverSeconds: Number(stdout) };
}

/** 100 clients without a pause. Every request has to succeed; a sample of memory and connections every few seconds. */
async function soak(server, clients, cluster) {
  const { change } = makeWork(server);
  const seconds = Number(options.soak) * 60;
  const until = performance.now() + seconds * 1000;
  const times = [];
  const failures = new Map();
  const samples = [];
  const run = async (client) => {
    while (performance.now() < until) {
      await timed(() => change(client)).then(
        (time) => times.push(time),
        (error) => failures.set(error.message.slice(0, 80), (failures.get(error.message.slice(0, 80)) ?? 0) + 1),
      );
    }
  };
  const sample = async () => {
    while (performance.now() < until) {
      await sleep((seconds * 1000) / SOAK.samples);
      const connections = Number(cluster.sql("select count(*) from pg_stat_activity where datname = 'plain'"));
      samples.push({ megabytes: residentMegabytes(server), connections });
    }
  };
  await Promise.all([...clients.map(run), sample()]);
  times.sort((a, b) => a - b);
  const median = (part) => part.map(({ megabytes }) => megabytes).sort((a, b) => a - b)[part.length >> 1];
  // The first third is for warming up.
  const third = Math.floor(samples.length / 3);
  const [middle, last] = [median(samples.slice(third, 2 * third)), median(samples.slice(2 * third))];
  const connections = Math.max(...samples.map((one) => one.connections));
  const longest = times.at(-1);
  print(
    `${clients.length} clients, ${options.soak} min: ${times.length} changes (${(times.length / seconds).toFixed(0)}/s), median ${times[times.length >> 1].toFixed(0)} ms, ` +
      `99 % ${times[Math.floor(times.length * 0.99)].toFixed(0)} ms, longest ${longest.toFixed(0)} ms; failed ${[...failures].map(([what, count]) => `${count} × ${what}`).join("; ") || 0}; ` +
      `server ${samples.map(({ megabytes }) => megabytes).join(" ")} MB (median of the second third ${middle}, of the last ${last}); connections at most ${connections}; load ${os.loadavg()[0].toFixed(1)}`,
  );
  const isGood = failures.size === 0 && longest < SOAK.requestMs && connections <= SOAK.connections;
  if (!isGood || last > middle * SOAK.growth) process.exitCode = 1;
}

async function measureLoads(bare, server, clients) {
  const { list, change } = makeWork(server);
  const upsert = (client) =>
    ask(bare.url, { agent: client.agent }, { method: "POST", path: `/${client.id}` }).then(expect(200));
  const rows = [];
  for (const count of [FEW, MANY]) {
    const some = clients.slice(0, count);
    const found = { bare: [], poll: [], change: [] };
    for (let round = 0; round < TURNS; round++) {
      found.bare.push(...(await loadWith(some, upsert)));
      for (const client of some) await list(client);
      found.poll.push(...(await loadWith(some, (client) => list(client, 304))));
      found.change.push(...(await loadWith(some, change)));
    }
    const perSecond = (times) => times.length / (TURNS * SECONDS);
    const p99 = (times) => times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)];
    const against = `bare hono + pg, ${perSecond(found.bare).toFixed(0)}/s`;
    if (count === FEW) {
      const what = `poll without changes, ${count} clients, ${perSecond(found.poll).toFixed(0)}/s`;
      rows.push(timeRow(what, found.poll, against, found.bare, TARGETS.poll));
    }
    const part = perSecond(found.change) / perSecond(found.bare);
    rows.push({
      what: `list + put, ${count} clients`,
      value: `${perSecond(found.change).toFixed(0)}/s`,
      against: "bare hono + pg",
      other: `${perSecond(found.bare).toFixed(0)}/s`,
      found: `${part.toFixed(2)}×`,
      target: count === FEW ? "≥ 0.33×" : "",
      isMissed: count === FEW && part < TARGETS.write,
    });
    for (const [what, times] of [
      ["poll", found.poll],
      ["list + put", found.change],
    ])
      rows.push({
        what: `${what}, ${count} clients, 99 %`,
        value: `${p99(times).toFixed(0)} ms`,
        against: "bare hono + pg",
        other: `${p99(found.bare).toFixed(0)} ms`,
        found: `${(p99(times) / p99(found.bare)).toFixed(2)}×`,
        target: count === MANY ? `≤ ${TARGETS.p99} ms` : "",
        isMissed: count === MANY && p99(times) > TARGETS.p99,
      });
  }
  return rows;
}

function expect(...statuses) {
  return (answer) => {
    if (statuses.includes(answer.status)) return answer;
    throw new Error(`a request was answered with ${answer.status}: ${answer.text.slice(0, 200)}`);
  };
}

/** Every client one request after the other; how long each took. */
async function loadWith(clients, work) {
  const times = [];
  const until = performance.now() + SECONDS * 1000;
  const run = async (client) => {
    while (performance.now() < until) times.push(await timed(() => work(client)));
  };
  await Promise.all(clients.map(run));
  return times;
}

async function measureSearch(plain, superuser, clients, words) {
  const search =
    ({ url }, token) =>
    async (round) => {
      const target = `/v1/teams/default/search?q=${encodeURIComponent(words[round + 2])}`;
      const client = { ...clients[(round + FEW) % FEW], ...(token && { token }) };
      return timed(async () => {
        const { text } = await ask(url, client, { path: target }).then(expect(200));
        if (JSON.parse(text).hits.length === 0) throw new Error("a search found nothing");
      });
    };
  const times = await takeTurns(ROUNDS, { plain: search(plain), superuser: search(superuser) });
  const what = `search over ${SHARED} memories, ordinary owner`;
  return timeRow(what, times.plain, "superuser", times.superuser, TARGETS.search);
}

/** Straight into the tables, with the words that the server itself would write: a hundred thousand requests take an hour. */
async function fillSearch({ formatTerms, termsOf }, cluster) {
  const memories = [...inventMemories(SHARED)];
  const client = new pg.Client({ connectionString: cluster.url({ database: "plain" }) });
  await client.connect();
  await client.query("set synchronous_commit = off");
  await client.query("drop index memdir_words_terms");
  const each = SHARED / SHARED_REPOSITORIES;
  for (let i = 0; i < SHARED_REPOSITORIES; i++) {
    const repository = `shared-${i}`;
    const some = memories.slice(i * each, (i + 1) * each);
    const terms = some.map((memory) => {
      const all = termsOf([memory.name, memory.description, ...memory.when, memory.body].join("\n"));
      return formatTerms("default", { ...memory, terms: all });
    });
    await client.query("insert into memdir_repository (team, name, id, memories) values ('default', $1, $1, $2)", [
      repository,
      each,
    ]);
    await client.query(
      `with added as (
         insert into memdir_memory (team, repository, path, folded, revision, hash, deleted, bytes, author, at, name, description, changed)
         select 'default', $1, path, path, 1, 'h', false, 500, 'ann', now(), name, description, 1
         from unnest($2::text[], $3::text[], $4::text[]) as m (path, name, description) returning id, path
       ) insert into memdir_words (memory, repository_id, terms) select added.id, $1, w.terms::tsvector
         from added join unnest($2::text[], $5::text[]) as w (path, terms) using (path)`,
      [repository, ...["file", "name", "description"].map((field) => some.map((memory) => memory[field])), terms],
    );
  }
  await client.query("create index memdir_words_terms on memdir_words using gin (terms)");
  await client.query("alter index memdir_words_terms owner to owner").catch(() => {});
  await client.query("vacuum analyze");
  const { rows } = await client.query("select pg_relation_size('memdir_words_terms') / 1000000 as megabytes");
  await client.end();
  const random = makeRandom(11);
  const words = Array.from({ length: ROUNDS + 2 }, () => memories[Math.floor(random() * SHARED)].name);
  return { words, indexMegabytes: rows[0].megabytes };
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
