/** Two processes of `memdir serve` on one PostgreSQL: equal, losing nothing when the database or one of them dies, ending in order. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MemdirError } from "../../src/errors.ts";
import type { Network } from "../../src/team/http.ts";
import type { Remote, RemoteOutcome } from "../../src/team/remote.ts";
import { openAdministration, openServerRemote } from "../../src/team/server-remote.ts";
import { findPostgres, type PostgresCluster, startPostgres } from "../team/server/postgres-cluster.ts";
import { makeTemporary } from "../temporary.ts";
import { PATIENT } from "../until.ts";

const WRITERS = 50;
const PATHS = Array.from({ length: 20 }, (_, at) => `memory-${at}.md`);
const PROGRAM = path.resolve(import.meta.dirname, "../../dist/cli.js");
const installed = findPostgres() !== null;

if (!installed) it.skip("no PostgreSQL server is installed: install the package `postgresql` to run these tests");

interface Served {
  url: string;
  /** The file with the first admin's token, for the process that made the team. */
  tokenFile: string | null;
  child: ChildProcess;
  exit: Promise<number | string | null>;
}

describe.skipIf(!installed)("two servers on one PostgreSQL", () => {
  let cluster: PostgresCluster;
  let folder: string;
  const running: Served[] = [];
  /** Requests that the client's own patience sent again. */
  let retried = 0;

  beforeAll(async () => {
    cluster = await startPostgres();
    folder = makeTemporary("team-servers");
  });
  afterAll(async () => {
    for (const { child } of running) child.kill("SIGKILL");
    await Promise.all(running.map(({ exit }) => exit));
    await cluster?.stop();
  });

  /** A process of the program as it is installed, until it says where it listens. */
  const serve = async (database: string): Promise<Served> => {
    const args = ["serve", "--json", "--port", "0", "--admin", "ann", "--database", cluster.url({ database })];
    const log = path.join(folder, `${database}.log`);
    const child = spawn(process.execPath, [PROGRAM, ...args, "--data", path.join(folder, database), "--log", log], {
      stdio: ["ignore", "pipe", "pipe"],
      cwd: folder,
    });
    const said: Buffer[] = [];
    child.stderr.on("data", (chunk: Buffer) => said.push(chunk));
    const exit = once(child, "exit").then(([code, signal]) => code ?? signal);
    const served: Served = { url: "", tokenFile: null, child, exit };
    running.push(served);
    const early = exit.then((code) => expect.fail(`memdir serve ended with ${code}: ${Buffer.concat(said)}`));
    return { ...served, ...(await Promise.race([readGreeting(child.stdout), early])) };
  };

  const network: Network = {
    fetch: globalThis.fetch,
    now: () => new Date(),
    random: Math.random,
    sleep: (ms) => sleep(ms),
    log: () => void retried++,
  };
  const optionsOf = (server: string, token: string) => ({ server, token, timeoutMs: 20_000, team: "default" });
  const open = (url: string, token: string) =>
    openServerRemote(network, { ...optionsOf(url, token), repository: "app" });

  /** Two servers started at the same moment on an empty database, the repository app, and the admin's token. */
  const begin = async (database: string) => {
    cluster.sql(`create database ${database}`);
    const servers = await Promise.all([serve(database), serve(database)]);
    const files = servers.flatMap(({ tokenFile }) => tokenFile ?? []);
    expect(files).toHaveLength(1);
    const token = fs.readFileSync(files[0] ?? "", "utf8").trim();
    const admin = openAdministration(network, optionsOf(servers[0].url, token));
    await admin.addRepository("app");
    return { servers: servers as [Served, Served], admin, token };
  };

  it("loses no acknowledged update of 50 writers to 20 memories while the database restarts and one server is killed", async () => {
    const { servers, admin, token } = await begin("busy");
    const [first, second] = servers;
    const tokens: string[] = [];
    for (let i = 0; i < WRITERS; i++) {
      await admin.addPerson(`writer-${i}`, "writer");
      tokens.push((await admin.addToken(`writer-${i}`, { label: "", days: null })).token);
    }
    const acknowledged: { path: string; line: string; server: string }[] = [];
    let [stale, failures, stop] = [0, 0, false];

    const write = async (number: number) => {
      // Half of them at each server; who gets no answer from one turns to the other.
      const remotes = servers.map(({ url }) => ({ url, remote: open(url, tokens[number] ?? "") }));
      let at = number % 2;
      for (let round = 0; !stop || round < 4; round++) {
        const file = PATHS[(number * 7 + round * 3) % PATHS.length] ?? "";
        const line = `writer ${number} was here in round ${round}`;
        for (let done = false; !done; ) {
          const { url, remote } = remotes[at] ?? remotes[0] ?? expect.fail();
          try {
            const outcome = await addLine(remote, file, line);
            if (outcome.kind === "refused") expect.fail(outcome.reason);
            done = outcome.kind === "done";
            if (done) acknowledged.push({ path: file, line, server: url });
            else stale++;
          } catch (error) {
            if (!(error instanceof MemdirError && error.code === "network")) throw error;
            failures++;
            at = 1 - at;
          }
        }
      }
    };
    const writers = Promise.all(Array.from({ length: WRITERS }, (_, number) => write(number)));
    /** Until this many more were acknowledged by each of these. */
    const more = async (count: number, ...from: Served[]) => {
      const counts = () => from.map(({ url }) => acknowledged.filter(({ server }) => server === url).length);
      const before = counts();
      const enough = async () => {
        while (!stop && counts().some((now, i) => now < (before[i] ?? 0) + count)) await sleep(20);
      };
      await Promise.race([enough(), writers]);
    };

    try {
      await more(50, first, second);
      await cluster.restart();
      await more(50, first, second);
      // The database was away: the servers found it again, the clients asked again.
      expect(retried).toBeGreaterThan(0);
      second.child.kill("SIGKILL");
      expect(await second.exit).toBe("SIGKILL");
      await more(100, first);
    } finally {
      stop = true;
      await writers;
    }
    const third = await serve("busy");
    expect(third.tokenFile).toBeNull();

    const texts = await allTexts(open(first.url, token));
    expect(await allTexts(open(third.url, token))).toEqual(texts);
    const lost = acknowledged.filter(({ path: file, line }) => !texts.get(file)?.includes(line));
    expect(lost).toEqual([]);
    for (const [file, lines] of texts) {
      const wanted = acknowledged.filter((each) => each.path === file).map(({ line }) => line);
      // Each text exactly once, nothing that nobody wrote, and one version for each, each with one line more.
      expect([...lines].sort()).toEqual(wanted.sort());
      const versions = await open(third.url, token).versions(file);
      expect(versions.map(({ revision }) => revision)).toEqual(lines.map((_, i) => String(i + 1)));
      expect(versions.map(({ text }) => text?.split("\n"))).toEqual(lines.map((_, i) => lines.slice(0, i + 1)));
      expect(versions.map(({ author }) => author)).toEqual(lines.map((line) => `writer-${line.split(" ")[1]}`));
    }
    expect(stale).toBeGreaterThan(0);
    expect(failures).toBeGreaterThan(0);
    console.info(
      `two servers, ${WRITERS} writers, ${PATHS.length} memories: ${acknowledged.length} writes acknowledged, ${stale} stale, ` +
        `${retried} requests sent again by the client, ${failures} given up, ${lost.length} lost`,
    );
  });

  it("ends with 0 at SIGTERM, after answering what it was asked before", async () => {
    const { servers, token } = await begin("ending");
    const [first, second] = servers;
    const remote = open(first.url, token);
    await remote.apply([{ kind: "put", path: "a.md", text: "one", expected: null }]);
    // Whoever holds the repository's row makes every write wait.
    const holder = new pg.Client({ connectionString: cluster.url({ database: "ending" }) });
    await holder.connect();
    await holder.query("begin");
    await holder.query("select from memdir_repository for update");
    let answer: RemoteOutcome[] | null = null;
    const writing = remote.apply([{ kind: "put", path: "a.md", text: "two", expected: "1" }]).then((outcomes) => {
      answer = outcomes;
    });
    const isWaiting = "select count(*) from pg_stat_activity where wait_event_type = 'Lock'";
    await expect.poll(() => cluster.sql(isWaiting, "ending"), PATIENT).toBe("1");

    first.child.kill("SIGTERM");
    // It listens no more, and still waits for the request.
    const isOpen = () =>
      fetch(`${first.url}/health`).then(
        () => true,
        () => false,
      );
    await expect.poll(isOpen, PATIENT).toBe(false);
    expect([answer, first.child.exitCode]).toEqual([null, null]);

    await holder.query("rollback");
    await holder.end();
    await writing;
    expect(answer).toEqual([{ kind: "done", path: "a.md", revision: "2" }]);
    expect(await first.exit).toBe(0);
    expect(await allTexts(open(second.url, token))).toEqual(new Map([["a.md", ["two"]]]));
    second.child.kill("SIGTERM");
    expect(await second.exit).toBe(0);
  });
});

/** The one JSON value that it prints when it listens. */
async function readGreeting(output: Readable): Promise<Pick<Served, "url" | "tokenFile">> {
  let text = "";
  for await (const chunk of output.iterator({ destroyOnReturn: false })) {
    text += chunk;
    if (text.endsWith("}\n")) break;
  }
  return JSON.parse(text);
}

/** Adds a line to what is there; one that is there already came with an answer that was lost on its way. */
async function addLine(remote: Remote, file: string, line: string): Promise<RemoteOutcome> {
  const { entries } = await remote.list();
  const entry = entries.find(({ path: known }) => known === file);
  const text = entry ? (await remote.fetch([entry])).get(file) : undefined;
  // Changed between the two questions.
  if (entry && text === undefined) return { kind: "stale", path: file };
  if (entry && text?.split("\n").includes(line)) return { kind: "done", path: file, revision: entry.revision };
  const change = { kind: "put", path: file, text: text === undefined ? line : `${text}\n${line}` } as const;
  const [outcome] = await remote.apply([{ ...change, expected: entry?.revision ?? null }]);
  return outcome ?? expect.fail("no outcome");
}

async function allTexts(remote: Remote): Promise<Map<string, string[]>> {
  const { entries } = await remote.list();
  const texts = await remote.fetch(entries);
  expect([...texts.keys()].sort()).toEqual(entries.map(({ path: file }) => file).sort());
  return new Map([...texts].map(([file, text]) => [file, text.split("\n")]));
}
