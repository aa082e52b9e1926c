import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { parseMembership, parseServer } from "../../src/team/membership.ts";
import { openServerRemote } from "../../src/team/server-remote.ts";
import { sha256 } from "../../src/text/hash.ts";
import { errorOf } from "../world.ts";
import {
  drop,
  dropLate,
  endless,
  json,
  patientNetwork,
  type Reply,
  type RudeServer,
  repositoryAt,
  silent,
  startRudeServer,
  TOKEN,
} from "./rude-server.ts";
import { makeCertificate } from "./server/certificate.ts";

let server: RudeServer;
beforeAll(async () => {
  server = await startRudeServer();
});
afterAll(() => server.close());
beforeEach(() => {
  server.requests.length = 0;
  server.replies.length = 0;
});

function open(...replies: Reply[]) {
  server.replies.push(...replies);
  const world = patientNetwork();
  return { world, remote: openServerRemote(world, repositoryAt(server.url)) };
}

function entry(path: string, text: string, more: object = {}) {
  const at = "2026-03-10T12:00:00.000Z";
  return { path, hash: sha256(text), revision: "r1", deleted: false, author: "ann", at, ...more };
}

const NEW = { kind: "put", path: "a.md", text: "x", expected: null } as const;

describe("the address of a server", () => {
  it("is https, or http on this machine", () => {
    for (const url of [
      "https://h.example",
      "http://localhost:1",
      "http://127.0.0.1:80/x/",
      "http://[::1]:1",
      "http://127.1",
    ]) {
      expect(parseServer(url)).not.toMatch(/\/$/);
    }
    const refused = [
      ["http://h.example", "https"],
      ["http://localhost.example", "https"],
      ["http://127.0.0.1.example", "https"],
      ["http://0.0.0.0", "https"],
      ["http://192.168.1.2", "https"],
      ["ftp://h.example", "only https"],
      ["file:///etc", "only https"],
      ["https://ann:word@h.example", "token"],
      ["https://h.example?x=1", "end after the path"],
      ["h.example", "not a URL"],
    ] as const;
    for (const [url, reason] of refused) {
      expect(() => parseServer(url)).toThrow(reason);
      expect(() => openServerRemote(patientNetwork(), repositoryAt(url))).toThrow(reason);
    }
    expect(() => parseServer("https://ann:hunter2@h.example")).not.toThrow("hunter2");
  });

  it("names a team and a repository in its last two parts", () => {
    expect(parseMembership("https://h.example/acme/app")).toEqual({
      server: "https://h.example",
      team: "acme",
      repository: "app",
    });
    expect(parseMembership("https://h.example:8443/memory/acme/app.js/")).toEqual({
      server: "https://h.example:8443/memory",
      team: "acme",
      repository: "app.js",
    });
    for (const url of [
      "https://h.example",
      "https://h.example/acme",
      "https://h.example/a%2fb/c",
      "https://h.example/../x",
    ]) {
      expect(() => parseMembership(url)).toThrow("HOST/TEAM/REPOSITORY");
    }
  });
});

describe("list", () => {
  it("takes what changed since a state into the list that it has, and everything where the server gives everything", async () => {
    const [a, b] = [entry("a.md", "x"), entry("b.md", "x")];
    const gone = { ...a, deleted: true, hash: "", revision: "r2" };
    const { remote } = open(
      json(200, { id: "1", entries: [a, b], state: "s-1" }, { etag: '"e1"' }),
      json(200, { id: "1", entries: [gone, entry("c.md", "x")], state: "s-2", since: "s-1" }, { etag: '"e2"' }),
      json(200, { id: "1", entries: [b], state: "s-9" }, { etag: '"e3"' }),
    );
    await remote.list();
    const second = await remote.list();
    expect(second.entries.map(({ path, deleted }) => [path, deleted])).toEqual([
      ["a.md", true],
      ["b.md", false],
      ["c.md", false],
    ]);
    expect((await remote.list()).entries.map(({ path }) => path)).toEqual(["b.md"]);
    expect(server.requests.map(({ path }) => path.split("?")[1])).toEqual([undefined, "since=s-1", "since=s-2"]);
  });

  it("asks again only for what changed", async () => {
    const listing = { id: "1", entries: [entry("a.md", "x")] };
    const { remote } = open(json(200, listing, { etag: '"e1"' }), json(304, ""), json(200, { id: "1", entries: [] }));
    expect(remote.name).toBe(`${server.url}/acme/app`);
    const first = await remote.list();
    expect(first.id).toBe(`${server.url}/acme/app#1`);
    expect(await remote.list()).toBe(first);
    expect((await remote.list()).entries).toEqual([]);
    expect(server.requests.map(({ path }) => path)).toEqual(Array(3).fill("/v1/teams/acme/repositories/app/memories"));
    expect(server.requests.map(({ headers }) => headers["if-none-match"])).toEqual([undefined, '"e1"', '"e1"']);
    expect(server.requests[0]?.headers).toMatchObject({ authorization: `Bearer ${TOKEN}`, "memdir-protocol": "1" });
  });

  it("leaves out what cannot be a memory, and twins", async () => {
    const wrong = [
      entry("../x.md", "x"),
      entry(".memdir/x.md", "x"),
      entry("a.txt", "x"),
      entry("nul.md", "x"),
      entry("b.md", "x", { hash: "abc" }),
      entry("b.md", "x", { revision: 'a"b' }),
      entry("b.md", "x", { revision: "a\r\nx: y" }),
      entry("b.md", "x", { revision: "" }),
      entry("b.md", "x", { deleted: "yes" }),
      entry("b.md", "x", { deleted: true }),
      null,
      7,
      {},
      entry("a.md", "another"),
    ];
    const author = "ann\u001b[31m\u202e\nroot";
    const { remote } = open(json(200, { id: "1", entries: [...wrong, entry("a.md", "x", { author, at: "soon" })] }));
    const { entries } = await remote.list();
    expect(entries).toEqual([entry("a.md", "x", { author: "ann root", at: "" })]);
  });

  it.each([
    ["no JSON", json(200, "<html>")],
    ["no list", json(200, { id: "1" })],
    ["no id", json(200, { entries: [] })],
    ["an array", json(200, [])],
    ["a 304 that was not asked for", json(304, "")],
    ["a teapot", json(418, { message: "I am\u001b[2J one" })],
    ["a redirect", json(302, "", { location: "https://other.example/" })],
    ["a lasting redirect", json(308, "", { location: "/v2" })],
  ])("%s is no answer", async (_, reply) => {
    const { remote } = open(reply);
    const error = await errorOf(remote.list());
    expect(error.code).toBe("network");
    expect(error.message).not.toContain("\u001b");
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    ["404", json(404, { problem: "not-found", message: "there is no such repository" }), "there is no such repository"],
    ["403", json(403, {}), "ask an admin"],
    ["401", json(401, { message: `Bearer ${TOKEN}` }), "expired, revoked or unknown"],
    ["401 of a sign-in", json(401, {}), "memdir join URL --login"],
    ["503", json(503, { problem: "database", message: "the database takes no writes" }), "503 (the database takes no"],
    ["503 that repeats the token", json(503, { message: `Bearer ${TOKEN}` }), "it answered 503 (tried"],
    ["protocol", json(400, { problem: "protocol", message: "this server speaks 2" }), "this server speaks 2"],
  ])("%s says what to do", async (_, reply, words) => {
    const error = await errorOf(open(reply).remote.list());
    expect(error).toMatchObject({ code: "network" });
    expect(error.message).toContain(words);
    expect(error.message).not.toContain(TOKEN);
  });
});

describe("a server in trouble", () => {
  it("is asked again, later each time", async () => {
    const { remote, world } = open(json(500, ""), drop, json(503, ""), json(200, { id: "1", entries: [] }));
    expect((await remote.list()).entries).toEqual([]);
    expect(world.waits).toEqual([300, 600, 1200]);
    expect(world.logged.join()).not.toContain(TOKEN);
  });

  it("is waited for as long as it says, within bounds", async () => {
    const { remote, world } = open(json(429, "", { "retry-after": "2" }), json(200, { id: "1", entries: [] }));
    await remote.list();
    expect(world.waits).toEqual([2_000]);
    server.replies.splice(0, 2, json(503, "", { "retry-after": "Thu, 01 Jan 1970 00:00:09 GMT" }), json(304, ""));
    await errorOf(remote.list());
    expect(world.waits).toEqual([2_000, 9_000]);
    server.replies.splice(0, 2, json(429, "", { "retry-after": "3600" }));
    const error = await errorOf(remote.list());
    expect(error.message).toContain("wait 3600 s");
    expect(world.waits).toHaveLength(2);
  });

  it.each([
    ["drops", drop],
    ["drops late", dropLate],
    ["fails", json(500, "secret stack")],
  ])("that %s for ever is given up", async (_, reply) => {
    const { remote } = open(reply);
    const error = await errorOf(remote.apply([NEW]));
    expect(error.code).toBe("network");
    expect(error.message).toMatch(/tried 4 times.*memdir sync/);
    expect(error.message).not.toContain("stack");
    expect(server.requests).toHaveLength(4);
  });

  it("that is silent is not waited for", async () => {
    server.replies.push(silent);
    const remote = openServerRemote(patientNetwork(), repositoryAt(server.url, { timeoutMs: 20 }));
    expect((await errorOf(remote.list())).message).toContain("no answer within 1 s");
  });

  it("that talks without end is cut off", async () => {
    const { remote } = open(endless);
    expect((await errorOf(remote.apply([NEW]))).message).toContain("too large");
    expect(server.requests.filter(({ method }) => method === "PUT")).toHaveLength(1);
  });

  it("that is not there is named", async () => {
    const remote = openServerRemote(patientNetwork(), repositoryAt("http://127.0.0.1:1"));
    expect((await errorOf(remote.list())).message).toMatch(/127\.0\.0\.1:1/);
  });

  it("with a certificate that nobody here knows is asked once, and what to do is said", async () => {
    const secure = createServer(makeCertificate());
    await new Promise<void>((done) => secure.listen(0, "127.0.0.1", done));
    const { port } = secure.address() as AddressInfo;
    const world = patientNetwork();
    const remote = openServerRemote(world, repositoryAt(`https://127.0.0.1:${port}`));
    expect((await errorOf(remote.list())).message).toMatch(/SELF_SIGNED_CERT.*NODE_EXTRA_CA_CERTS/);
    expect(world.waits).toEqual([]);
    secure.close();
  });

  it("is left at once when told to stop", async () => {
    const { remote, world } = open(drop);
    const stop = new AbortController();
    world.waits.push = () => {
      stop.abort();
      return 0;
    };
    expect((await errorOf(remote.list(stop.signal))).message).toContain("stopped");
    expect(server.requests).toHaveLength(1);
    await errorOf(remote.list(AbortSignal.abort()));
    expect(server.requests).toHaveLength(1);
  });
});

describe("fetch", () => {
  const given = (memories: unknown[]) => json(200, { memories });

  it("takes only texts that are those that were listed", async () => {
    const listed = ["a", "b", "c", "d"].map((name) => entry(`${name}.md`, name));
    const memories = [
      { path: "a.md", revision: "r1", hash: sha256("a"), text: "a" },
      { path: "b.md", revision: "r1", hash: sha256("b"), text: "tampered" },
      { path: "c.md", revision: "r2", hash: sha256("c"), text: "c" },
      { path: "e.md", revision: "r1", hash: sha256("e"), text: "e" },
      { path: "../x.md", revision: "r1", hash: sha256("e"), text: "e" },
      { path: "d.md", revision: "r1", hash: sha256("d"), text: 7 },
      null,
      "a.md",
    ];
    const { remote, world } = open(given(memories));
    expect(await remote.fetch(listed)).toEqual(new Map([["a.md", "a"]]));
    expect(world.logged).toEqual([expect.stringContaining("b.md is not the one that was listed")]);
  });

  it("asks for 64 at a time, and not for tombstones", async () => {
    const { remote } = open(given([]));
    const listed = Array.from({ length: 130 }, (_, i) => entry(`${i}.md`, "x"));
    await remote.fetch([...listed, entry("gone.md", "", { hash: "", deleted: true })]);
    expect(server.requests.map(({ body }) => JSON.parse(body).paths.length)).toEqual([64, 64, 2]);
    expect(server.requests[0]).toMatchObject({ method: "POST", path: "/v1/teams/acme/repositories/app/fetch" });
  });

  it("asks for halves of what is too large", async () => {
    const { remote } = open((response, request) => {
      const { paths } = JSON.parse(request.body) as { paths: string[] };
      if (paths.includes("1.md")) endless(response, request);
      else given(paths.map((path) => ({ path, revision: "r1", hash: sha256("x"), text: "x" })))(response, request);
    });
    const texts = await remote.fetch([0, 1, 2, 3].map((i) => entry(`${i}.md`, "x")));
    expect([...texts.keys()].sort()).toEqual(["0.md", "2.md", "3.md"]);
  });
});

describe("apply", () => {
  const done = (text: string) => json(200, { path: "a.md", revision: "r2", hash: sha256(text) });

  it("names what a change is based on", async () => {
    const { remote } = open(done("x"));
    const outcomes = await remote.apply([
      { kind: "put", path: "ä b/1%.md", text: "x", expected: null },
      { kind: "put", path: "ä b/1%.md", text: "x", expected: "r1" },
      { kind: "remove", path: "ä b/1%.md", expected: "r2" },
    ]);
    expect(outcomes.map(({ kind }) => kind)).toEqual(["done", "done", "done"]);
    expect(server.requests.map(({ method }) => method)).toEqual(["PUT", "PUT", "DELETE"]);
    expect(server.requests[0]?.path).toBe("/v1/teams/acme/repositories/app/memories/%C3%A4%20b/1%25.md");
    expect(server.requests.map(({ headers }) => [headers["if-none-match"], headers["if-match"]])).toEqual([
      ["*", undefined],
      [undefined, '"r1"'],
      [undefined, '"r2"'],
    ]);
    expect(server.requests[0]).toMatchObject({ body: "x", headers: { "content-type": "text/markdown" } });
  });

  it("sends at most eight at once", async () => {
    let [came, most] = [0, 0];
    const waiting: (() => void)[] = [];
    const { remote } = open((response, request) => {
      waiting.push(() => done("x")(response, request));
      most = Math.max(most, waiting.length);
      // Nobody is answered before as many as may come are there, and any more had time to.
      const answerAll = () => {
        for (const answer of waiting.splice(0)) answer();
      };
      if (++came === 30 || waiting.length === 8) setTimeout(answerAll, 20);
    });
    await remote.apply(Array.from({ length: 30 }, (_, i) => ({ ...NEW, path: `${i}.md` })));
    expect(most).toBe(8);
  });

  it("says that another change was faster", async () => {
    const current = entry("a.md", "theirs", { revision: "r9" });
    const { remote } = open(json(412, { problem: "stale", current }), json(409, { current: null }));
    expect(await remote.apply([NEW])).toEqual([{ kind: "stale", path: "a.md" }]);
    expect(await remote.apply([NEW])).toEqual([{ kind: "stale", path: "a.md" }]);
  });

  it.each([
    [413, { message: "too large" }, "too large"],
    [413, "", "too large for the server"],
    [403, { message: "readers do not write" }, "readers do not write"],
    [
      422,
      { message: "it holds a secret", secrets: [{ rule: "aws\u001b", line: 3 }] },
      "it holds a secret (aws in line 3)",
    ],
    [422, { message: "it holds a secret", secrets: [{ rule: "aws", line: 3 }, null] }, "it holds a secret"],
    [422, { message: `x\u0007\u009b2J${"y".repeat(5000)}` }, `x${"y".repeat(298)}…`],
    [400, { message: { deep: 1 } }, "the server answered 400"],
  ])("a refusal with %i is shown and harmless", async (status, value, reason) => {
    const { remote } = open(json(status, value));
    expect(await remote.apply([NEW])).toEqual([
      { kind: "refused", path: "a.md", reason: expect.stringContaining(reason), isPassing: status === 403 },
    ]);
  });

  it.each([
    [403, "role", true],
    [404, "not-found", true],
    [422, "refused", true],
    [422, "secret", false],
    [413, "too-large", false],
  ])("a refusal with %i %s may pass: %s", async (status, problem, isPassing) => {
    const { remote } = open(json(status, { problem, message: "no" }));
    expect(await remote.apply([NEW])).toMatchObject([{ kind: "refused", isPassing }]);
  });

  it("refuses what cannot be sent without asking", async () => {
    const { remote } = open(done("x"));
    const outcomes = await remote.apply([
      { ...NEW, path: "../a.md" },
      { ...NEW, text: "lone \ud800" },
      { ...NEW, path: "b.md", text: "x".repeat(1_000_001) },
      { kind: "remove", path: "MEMORY.md", expected: "r1" },
    ]);
    expect(outcomes.map(({ kind }) => kind)).toEqual(Array(4).fill("refused"));
    expect(server.requests).toEqual([]);
  });

  it.each([
    ["without a revision", json(200, { path: "a.md", hash: sha256("x") })],
    ["of another text", done("y")],
  ])("does not believe an acknowledgement %s", async (_, reply) => {
    expect((await errorOf(open(reply).remote.apply([NEW]))).code).toBe("network");
  });

  it("starts nothing more once one has failed", async () => {
    const { remote } = open(json(401, ""));
    await errorOf(remote.apply(Array.from({ length: 50 }, (_, i) => ({ ...NEW, path: `${i}.md` }))));
    expect(server.requests.length).toBeLessThanOrEqual(8);
  });
});

it("versions are read with care", async () => {
  const versions = [
    { revision: "r1", author: "ann\n", at: "x", deleted: false, redacted: false, text: "x" },
    { revision: "r2", author: "bob", at: "2026-03-10T12:00:00Z", deleted: true, redacted: false, text: null },
    { revision: 3 },
    null,
  ];
  const { remote } = open(json(200, { versions }), json(404, ""), json(200, {}));
  expect(await remote.versions("a/b.md")).toEqual([
    { revision: "r1", author: "ann", at: "", text: "x" },
    { revision: "r2", author: "bob", at: "2026-03-10T12:00:00Z", text: null },
  ]);
  expect(server.requests[0]?.path).toBe("/v1/teams/acme/repositories/app/versions/a/b.md?limit=200");
  expect(await remote.versions("a.md")).toEqual([]);
  expect((await errorOf(remote.versions("a.md"))).code).toBe("network");
});

it("versions come in pages, newest first, until there are no more or one repeats itself", async () => {
  const page = (revisions: string[], more: boolean) =>
    json(200, {
      versions: revisions.map((revision) => ({
        revision,
        author: "",
        at: "",
        deleted: false,
        redacted: false,
        text: "x",
      })),
      more,
    });
  const { remote } = open(page(["5", "6"], true), page(["3", "4"], true), page(["1", "2"], false));
  expect((await remote.versions("a.md")).map(({ revision }) => revision)).toEqual(["1", "2", "3", "4", "5", "6"]);
  expect(server.requests.map(({ path }) => /before=(\d)/.exec(path)?.[1])).toEqual([undefined, "5", "3"]);
  const again = open(page(["5"], true), page(["5"], true), page(["5"], true));
  expect(await again.remote.versions("a.md", undefined, "0".repeat(64))).toHaveLength(2);
  expect(server.requests.at(-1)?.path).toContain(`hash=${"0".repeat(64)}`);
});
