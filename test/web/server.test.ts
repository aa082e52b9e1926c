import { EventEmitter } from "node:events";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import { expect, it } from "vitest";
import { MemdirError } from "../../src/errors.ts";
import type { Route } from "../../src/web/answer.ts";
import { ROUTES } from "../../src/web/routes.ts";
import { until } from "../until.ts";
import { errorOf, makeWorld, note } from "../world.ts";
import { makeAssets, startStub, tell } from "./stub-page.ts";

const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

it("listens on loopback only, and sends strict headers with every answer", async () => {
  const { page, call, ask } = await startStub();
  expect(page.url).toBe(`http://127.0.0.1:${page.port}`);
  const answers = await Promise.all([
    call({ path: "/" }),
    call({ path: "/page.js" }),
    call({ path: "/api/thing" }),
    call({ path: "/api/nothing" }),
    ask({ path: "/" }),
    ask({ path: "/", headers: { host: "evil.example" } }),
    ask({ path: page.newAddress().slice(page.url.length) }),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 404, 401, 403, 303]);
  for (const { headers } of answers) {
    expect(headers).toMatchObject({
      "content-security-policy": CSP,
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
      "cache-control": expect.stringMatching(/no-store|private, no-cache/),
      "referrer-policy": expect.any(String),
    });
    expect(headers["x-powered-by"]).toBeUndefined();
  }
});

it("answers routes with JSON, HEAD without a body, and says which methods there are", async () => {
  const { call, asked } = await startStub();
  const got = await call({ path: "/api/thing?a=%C3%A4" });
  expect(got).toMatchObject({ status: 200, json: { ok: true }, headers: { "cache-control": "no-store" } });
  expect(await call({ path: "/api/thing", method: "HEAD" })).toMatchObject({ status: 200, text: "" });
  expect(asked).toEqual(['GET {"a":"ä"}', "GET {}"]);
  const wrong = await call({ path: "/api/thing", method: "POST", body: "{}" });
  expect(wrong).toMatchObject({ status: 405, headers: { allow: "GET, HEAD, PUT, DELETE" } });
  expect(await call({ path: "/api/live", method: "HEAD" })).toMatchObject({ status: 200, text: "" });
  expect((await call({ path: "/", method: "POST", body: "{}" })).status).toBe(405);
  for (const lost of ["/../package.json", "/%2e%2e/package.json", "/page.css", "//page.js/"]) {
    expect([lost, (await call({ path: lost })).status]).toEqual([lost, 404]);
  }
});

it("packs long answers for who can unpack them", async () => {
  const rows = Array.from({ length: 5_000 }, (_, at) => ({ file: `memory_${at}.md` }));
  const routes: Route[] = [{ method: "GET", path: "/api/long", writes: false, answer: async () => ({ rows }) }];
  const { page, enter, call } = await startStub({ routes });
  const plain = await call({ path: "/api/long" });
  expect(plain.headers["content-encoding"]).toBeUndefined();
  expect(plain.json).toEqual({ rows });
  const answer = await fetch(`${page.url}/api/long`, { headers: { cookie: await enter(), "accept-encoding": "gzip" } });
  expect(answer.headers.get("content-encoding")).toBe("gzip");
  expect(answer.headers.get("content-security-policy")).toBe(CSP);
  expect(await answer.json()).toEqual({ rows });
});

it("takes bodies up to a megabyte, in UTF-8, that are objects", async () => {
  const { call, asked } = await startStub();
  const put = (body: string | Uint8Array, headers = {}) => call({ path: "/api/thing", method: "PUT", body, headers });
  const filled = (bytes: number) => JSON.stringify({ a: "x".repeat(bytes - '{"a":""}'.length) });
  expect((await put(filled(1 << 20))).status).toBe(200);
  expect((await put(filled((1 << 20) + 1))).json).toMatchObject({ problem: "size" });
  for (const body of ["[1]", "null", "7", "{", '"x"', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])]) {
    expect((await put(body)).json).toMatchObject({ problem: "form" });
  }
  const chunked = { "transfer-encoding": "chunked", "content-length": null };
  expect((await put(filled((1 << 20) + 1), chunked)).status).toBe(413);
  expect((await put('{"b":2}', chunked)).status).toBe(200);
  expect(asked.map((line) => line.slice(0, 8))).toEqual(['PUT {"a"', 'PUT {"b"']);
});

it("lets nothing be changed where it only looks", async () => {
  const { call, asked } = await startStub({ readOnly: true });
  for (const [method, where] of [
    ["PUT", "/api/thing"],
    ["DELETE", "/api/thing"],
    ["POST", "/api/jobs"],
  ] as const) {
    const told = await call({ method, path: where, body: '{"kind":"verify"}' });
    expect([told.status, told.json.problem]).toEqual([403, "read-only"]);
  }
  expect((await call({ path: "/api/look", method: "POST", body: "{}" })).status).toBe(200);
  expect((await call({ path: "/api/thing" })).status).toBe(200);
  expect(asked).toEqual(["LOOK {}", "GET {}"]);
});

it("does nothing for a tab that shows another project, and tells it so", async () => {
  const world = makeWorld();
  await (await world.open()).save(note("deploys"));
  const other = path.join(world.top, "other");
  fs.mkdirSync(other);
  const there = await world.open({ cwd: other });
  const { file, undo } = await there.save(note("deploys"));
  const { page, enter, call } = await startStub({ world, routes: ROUTES });
  const live = await fetch(`${page.url}/api/live`, { headers: { cookie: await enter() } });
  let told = "";
  void live.body?.pipeThrough(new TextDecoderStream()).pipeTo(
    new WritableStream({
      write: (text) => {
        told += text;
      },
    }),
  );
  const post = (name: string, sent: object, project: string | null) => {
    const headers = { "x-memdir-project": project };
    return call({ method: "POST", path: `/api/${name}`, body: JSON.stringify(sent), headers });
  };
  const first = (await call({ path: "/api/start" })).json;
  expect((await post("project", { root: other }, String(first.generation))).status).toBe(200);
  const { generation } = (await call({ path: "/api/start" })).json;
  expect(generation).not.toBe(first.generation);
  await until(() => told.includes(JSON.stringify({ kind: "hello", jobs: [], generation })));

  for (const project of [String(first.generation), "none", null]) {
    for (const [name, sent] of [
      ["forget", { directory: 0, file }],
      ["undo", { id: undo }],
      ["jobs", { kind: "verify" }],
    ] as const) {
      const { status, json } = await post(name, sent, project);
      expect([status, json.message]).toEqual([409, "the page shows another project now: reload it"]);
    }
  }
  expect((await post("history", {}, null)).status).toBe(200);
  expect((await there.list()).map(({ name }) => name)).toEqual(["deploys"]);
  expect((await post("forget", { directory: 0, file }, String(generation))).status).toBe(200);
  expect(await there.list()).toEqual([]);
});

it("asks no model where it only looks", async () => {
  const { call } = await startStub({ readOnly: true, routes: ROUTES });
  const told = await call({ method: "POST", path: "/api/doctor", body: '{"model":true}' });
  expect([told.status, told.json.problem]).toEqual([403, "read-only"]);
});

it("tells our own errors in words and with a fitting status, and nothing of others", async () => {
  const codes = { usage: 400, secret: 400, "not-found": 404, conflict: 409, outside: 403, disk: 500 } as const;
  const details = { diff: [], conflict: { text: "theirs" } };
  const routes: Route[] = Object.keys(codes).map((code) => ({
    method: "GET",
    path: `/api/${code}`,
    writes: false,
    answer: async () => {
      throw new MemdirError(code as keyof typeof codes, `it is ${code}`, code === "conflict" ? { details } : {});
    },
  }));
  routes.push({
    method: "GET",
    path: "/api/crash",
    writes: false,
    answer: async () => {
      throw new TypeError("secret-path is undefined");
    },
  });
  const { call, logged } = await startStub({ routes });
  for (const [code, status] of Object.entries(codes)) {
    const told = await call({ path: `/api/${code}` });
    expect(told).toMatchObject({ status, json: { problem: code, message: `it is ${code}` } });
  }
  expect((await call({ path: "/api/conflict" })).json).toMatchObject(details);
  const crash = await call({ path: "/api/crash" });
  expect([crash.status, crash.json.problem]).toEqual([500, "internal"]);
  expect(crash.text).not.toContain("secret-path");
  expect(logged.join()).toContain("secret-path is undefined");
});

it("sends its files packed as the browser takes them, and what is known only once", async () => {
  const { folder, code } = makeAssets();
  const { call } = await startStub({ assets: folder });
  const etag = String((await call({ path: "/page.js" })).headers.etag);
  expect(etag).toMatch(/^"[\w-]{22,}"$/);
  expect((await call({ path: "/page.js", headers: { "if-none-match": etag } })).status).toBe(304);
  const page = await call({ path: "/" });
  expect([page.headers["content-type"], page.headers["cache-control"]]).toEqual([
    "text/html; charset=utf-8",
    "private, no-cache",
  ]);
  for (const [accepted, ending] of [
    ["gzip, deflate, br", ".br"],
    ["gzip", ".gz"],
    ["", ""],
  ] as const) {
    const { headers } = await call({ path: "/page.js", headers: { "accept-encoding": accepted } });
    const { size } = fs.statSync(path.join(folder, `page.js${ending}`));
    expect(headers["content-length"]).toBe(String(size));
    expect(headers["content-encoding"]).toBe(ending === "" ? undefined : accepted.split(", ").at(-1));
    expect(headers["content-type"]).toMatch(/^text\/javascript/);
  }
  expect((await call({ path: "/page.js" })).text).toBe(code);
});

it("says clearly that a port is taken", async () => {
  const { page } = await startStub();
  const error = await errorOf(startStub({ port: page.port }));
  expect(error.code).toBe("usage");
  expect(error.message).toContain(`port ${page.port} cannot be used (EADDRINUSE): it is already in use`);
});

it("answers what is no request with 400, and goes on", async () => {
  const { page, call } = await startStub();
  for (const text of ["GET / HTTP/1.1\r\n\r\n", "nonsense\r\n\r\n", "GET http://[ HTTP/1.1\r\nHost: x\r\n\r\n"]) {
    expect(await sendRaw(page.port, text)).toMatch(/^HTTP\/1\.1 (400|403)/);
  }
  const host = `Host: 127.0.0.1:${page.port}\r\n`;
  expect(await sendRaw(page.port, `GET http://evil.example/api/thing HTTP/1.1\r\n${host}\r\n`)).toMatch(
    /^HTTP\/1\.1 40/,
  );
  expect((await call({ path: "/api/thing" })).status).toBe(200);
});

it("ends within a second with everything it holds: streams, slow requests, jobs, watchers", async () => {
  const world = makeWorld();
  world.write("a.md", "x");
  const before = process.getActiveResourcesInfo().length;
  const heard = new EventEmitter();
  let signal: AbortSignal | null = null;
  let isHung = false;
  const { page, enter, call } = await startStub({
    world,
    routes: [
      {
        method: "GET",
        path: "/api/never",
        writes: false,
        answer: () => {
          isHung = true;
          return new Promise(() => {});
        },
      },
    ],
    works: {
      warm: (_, at) => {
        signal = at.signal;
        return new Promise(() => {});
      },
    },
  });
  const cookie = await enter();
  const hung = tell(page.port, { path: "/api/never", headers: { cookie } }).catch(() => "cut");
  const stream = await fetch(`${page.url}/api/live`, { headers: { cookie } });
  const reader = stream.body?.getReader();
  await reader?.read();
  const half = net.connect(page.port, "127.0.0.1", () => half.write("PUT /api/thing HTTP/1.1\r\n"));
  half.on("error", () => {});
  half.on("close", () => heard.emit("closed"));
  await call({ path: "/api/jobs", method: "POST", body: '{"kind":"warm"}' });
  await until(() => isHung && signal && half.readyState === "open");
  const closed = new Promise((resolve) => heard.once("closed", resolve));
  await Promise.all([page.close(), page.close()]);
  expect(signal).toMatchObject({ aborted: true });
  expect(await hung).toBe("cut");
  await closed;
  await reader?.read().catch(() => {});
  await expect(tell(page.port, {})).rejects.toThrow(/ECONNREFUSED/);
  await until(() => process.getActiveResourcesInfo().length <= before);
});

function sendRaw(port: number, text: string): Promise<string> {
  return new Promise((resolve) => {
    let answer = "";
    const socket = net.connect(port, "127.0.0.1", () => socket.end(text));
    socket.on("data", (chunk) => {
      answer += chunk;
    });
    socket.on("error", () => resolve(answer));
    socket.on("close", () => resolve(answer));
  });
}
