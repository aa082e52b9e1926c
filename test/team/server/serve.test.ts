import fs from "node:fs";
import https from "node:https";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { openServerData } from "../../../src/team/server/data.ts";
import { findEngine, loadEngine, prepareEngine } from "../../../src/team/server/pglite.ts";
import {
  issueToken,
  prepareTeam,
  type RunningServer,
  type ServerOptions,
  startServer,
} from "../../../src/team/server/serve.ts";
import { makeTemporary } from "../../temporary.ts";
import { until } from "../../until.ts";
import { errorOf, START } from "../../world.ts";
import { callerOf } from "./caller.ts";
import { makeCertificate } from "./certificate.ts";
import { openMemoryData } from "./memory-data.ts";
import { askRaw, talk } from "./raw.ts";

const running: RunningServer[] = [];
const now = () => new Date(START);

afterEach(async () => {
  for (const server of running.splice(0)) await server.close();
});

async function start(options: Partial<ServerOptions> = {}) {
  const data = openMemoryData(now);
  const server = await startServer({ data, now, log: () => {}, port: 0, ...options });
  running.push(server);
  return { server, data };
}

describe("the port", () => {
  it("is on loopback unless told", async () => {
    const { server } = await start();
    expect(server.url).toBe(`http://127.0.0.1:${server.port}`);
    expect((await askRaw(server.port, { method: "GET", path: "/health" })).status).toBe(200);
  });

  it("is open to other machines only with TLS, by us or by a proxy that is named", async () => {
    for (const host of ["0.0.0.0", "::", "192.0.2.1", "example.invalid", "127.evil.example"]) {
      const error = await errorOf(start({ host }));
      expect([error.code, error.message]).toEqual(["usage", expect.stringMatching(/--tls-cert.*--behind-tls/)]);
    }
    const { server } = await start({ host: "0.0.0.0", behindTls: true });
    expect((await askRaw(server.port, { method: "GET", path: "/health" })).status).toBe(200);
  });

  it("speaks TLS with a certificate", async () => {
    const { cert, key } = makeCertificate();
    const { server } = await start({ host: "0.0.0.0", tls: { cert, key } });
    expect(server.url).toMatch(/^https:/);
    const status = await new Promise((resolve, reject) => {
      https
        .get({ host: "127.0.0.1", port: server.port, path: "/health", ca: cert, agent: false }, (response) => {
          response.resume();
          resolve(response.statusCode);
        })
        .on("error", reject);
    });
    expect(status).toBe(200);
    expect(
      await talk(server.port, (socket) => void socket.write("GET /health HTTP/1.1\r\nhost: x\r\n\r\n")),
    ).not.toContain("200");
  });

  it("says which one is taken", async () => {
    const { server } = await start();
    const error = await errorOf(start({ port: server.port }));
    expect([error.code, error.message]).toEqual(["usage", expect.stringContaining("--port")]);
  });

  it("answers what is no request at all, in JSON where it can", async () => {
    const { server } = await start();
    const send = (text: string) => talk(server.port, (socket) => void socket.end(text));
    expect(await send("GET /a\\b HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")).toMatch(
      /^HTTP\/1.1 400 .*"problem":"form"/s,
    );
    expect(await send("GET / HTTP/1.1\r\nconnection: close\r\n\r\n")).toMatch(/^HTTP\/1.1 400 /);
    const smuggled =
      "POST /health HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n";
    expect(await send(smuggled)).toMatch(/^HTTP\/1.1 400 /);
    const long = `GET /health HTTP/1.1\r\nhost: x\r\nx: ${"y".repeat(20_000)}\r\n\r\n`;
    expect(await send(long)).toMatch(/^HTTP\/1.1 431 /);
    expect((await askRaw(server.port, { method: "GET", path: "/health" })).status).toBe(200);
  });
});

describe("the end", () => {
  it("finishes what is under way, takes nothing new, and closes the database last", async () => {
    const { server, data } = await start();
    let release = () => {};
    data.hold = new Promise((resolve) => {
      release = resolve;
    });
    const slow = askRaw(server.port, { method: "GET", path: "/ready" });
    await until(() => data.calls.includes("ping"));
    const closing = server.close();
    expect(server.close()).toBe(closing);
    await expect(askRaw(server.port, { method: "GET", path: "/health" })).rejects.toThrow();
    expect(data.closed).toBe(false);
    release();
    expect((await slow).status).toBe(200);
    await closing;
    expect(data.closed).toBe(true);
  });

  it("does not wait for ever", async () => {
    const { server, data } = await start({ timeouts: { shutdownMs: 30 } });
    data.hold = new Promise(() => {});
    const stuck = askRaw(server.port, { method: "GET", path: "/ready" }).catch((error) => error);
    await until(() => data.calls.includes("ping"));
    data.hold = null;
    await server.close();
    expect(await stuck).toBeInstanceOf(Error);
    expect(data.closed).toBe(true);
  });
});

describe("the first start", () => {
  const mode = (file: string) => fs.statSync(file).mode & 0o777;

  it("makes a team, and leaves the token in a file of the operator's", async () => {
    const data = openMemoryData(now);
    const folder = path.join(makeTemporary("serve"), "data");
    const first = await prepareTeam(data, { team: undefined, admin: "ann", folder });
    expect(first).toEqual({ team: "default", tokenFile: path.join(folder, "admin-token") });
    const token = fs.readFileSync(first.tokenFile as string, "utf8");
    expect(await callerOf(data, token.trim())).toMatchObject({ team: "default", person: "ann" });
    if (process.platform !== "win32") expect([mode(folder), mode(first.tokenFile as string)]).toEqual([0o700, 0o600]);
    expect(await prepareTeam(data, { team: undefined, admin: "eve", folder })).toEqual({
      team: "default",
      tokenFile: null,
    });
    const second = await prepareTeam(data, { team: "acme", admin: "bob", folder });
    expect(second.tokenFile).toBe(path.join(folder, "admin-token-acme"));
    expect(fs.readFileSync(first.tokenFile as string, "utf8")).toBe(token);
  });

  it("takes the only team there is when none is named", async () => {
    const data = openMemoryData(now);
    await data.createTeam("acme", "ann");
    const start = await prepareTeam(data, { team: undefined, admin: "x", folder: makeTemporary("serve") });
    expect(start).toEqual({ team: "acme", tokenFile: null });
  });

  it("overwrites no token, and leaves no file behind when it fails", async () => {
    const folder = makeTemporary("serve");
    fs.writeFileSync(path.join(folder, "admin-token"), "of another server");
    const start = await prepareTeam(openMemoryData(now), { team: undefined, admin: "ann", folder });
    expect(start.tokenFile).toBe(path.join(folder, "admin-token-2"));
    expect(fs.readFileSync(path.join(folder, "admin-token"), "utf8")).toBe("of another server");

    const failing = openMemoryData(now);
    const other = makeTemporary("serve");
    failing.createTeam = async () => {
      throw new Error("no");
    };
    await expect(prepareTeam(failing, { team: "a", admin: "ann", folder: other })).rejects.toThrow("no");
    expect(fs.readdirSync(other)).toEqual([]);
    for (const [team, admin] of [
      ["../x", "ann"],
      ["a", "x\ny"],
    ] as const) {
      expect((await errorOf(prepareTeam(openMemoryData(now), { team, admin, folder: other }))).code).toBe("usage");
    }
  });

  it("gives way to another server that was faster", async () => {
    const data = openMemoryData(now);
    const folder = makeTemporary("serve");
    const { createTeam } = data;
    data.createTeam = async (team, admin) => {
      await createTeam(team, "other");
      return createTeam(team, admin);
    };
    expect(await prepareTeam(data, { team: "a", admin: "ann", folder })).toEqual({ team: "a", tokenFile: null });
    expect(fs.readdirSync(folder)).toEqual([]);
  });

  it("issues another token on the server's own machine", async () => {
    const data = openMemoryData(now);
    await data.createTeam("acme", "ann");
    const folder = makeTemporary("serve");
    const file = path.join(folder, "token");
    const options = { team: "acme", person: "ann", file, isNamed: true };
    expect(await issueToken(data, options)).toBe(file);
    expect(await callerOf(data, fs.readFileSync(file, "utf8").trim())).toMatchObject({ person: "ann" });
    expect((await errorOf(issueToken(data, options))).code).toBe("conflict");
    expect(await issueToken(data, { ...options, isNamed: false })).toBe(`${file}-2`);
    const more = { file: path.join(folder, "more"), isNamed: true };
    expect((await errorOf(issueToken(data, { team: "acme", person: "eve", ...more }))).message).toContain(
      'has no "eve"',
    );
    expect((await errorOf(issueToken(data, { team: "none", person: "ann", ...more }))).message).toContain("acme");
    expect(fs.existsSync(more.file)).toBe(false);
    const only = { ...options, team: undefined, file: path.join(folder, "only") };
    expect(await issueToken(data, only)).toBe(only.file);
    await data.createTeam("other", "ann");
    const several = await errorOf(issueToken(data, { ...only, file: path.join(folder, "several") }));
    expect(several.message).toContain("--team with one of acme, other");
  });
});

describe("the embedded database's program", () => {
  const desk = (more: object = {}) => ({ runNpm: async () => {}, ask: null, say: () => {}, isShared: false, ...more });

  /** What npm would leave behind. */
  function install(folder: string): void {
    const place = path.join(folder, "engine", "node_modules", "@electric-sql", "pglite");
    fs.mkdirSync(place, { recursive: true });
    fs.writeFileSync(path.join(place, "package.json"), JSON.stringify({ name: "@electric-sql/pglite", main: "x.cjs" }));
    fs.writeFileSync(path.join(place, "x.cjs"), "exports.PGlite = { create() {} };");
  }

  it("is found where our own packages are, and can be loaded", async () => {
    const file = findEngine(makeTemporary("engine"));
    expect(file).toContain("pglite");
    expect((await loadEngine(file as string)).PGlite.create).toBeTypeOf("function");
  });

  it("is fetched after a yes, and then found", async () => {
    const folder = makeTemporary("engine");
    const ran: string[][] = [];
    const asked: string[] = [];
    const file = await prepareEngine(
      folder,
      desk({
        ask: async (question: string) => asked.push(question) > 0,
        runNpm: async (args: string[]) => {
          ran.push(args);
          install(folder);
        },
      }),
    );
    expect(asked[0]).toContain("27 MB");
    expect(ran).toEqual([
      [
        "install",
        "--prefix",
        path.join(folder, "engine"),
        "--no-save",
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
        "@electric-sql/pglite@0.5.14",
      ],
    ]);
    expect((await loadEngine(file)).PGlite.create).toBeTypeOf("function");
    expect(await prepareEngine(folder, desk())).toBe(file);
  });

  it("is not fetched without a yes: the command is named", async () => {
    const folder = makeTemporary("engine");
    for (const ask of [null, async () => false]) {
      const error = await errorOf(prepareEngine(folder, desk({ ask })));
      expect(error.message).toMatch(/npm install --prefix .*@electric-sql\/pglite@0\.5\.14.*--database/);
    }
    expect(fs.readdirSync(folder)).toEqual([]);
  });

  it("says when npm fails or leaves nothing", async () => {
    const ask = async () => true;
    const failing = { ask, runNpm: () => Promise.reject(new Error("offline")) };
    expect((await errorOf(prepareEngine(makeTemporary("engine"), desk(failing)))).code).toBe("network");
    expect((await errorOf(prepareEngine(makeTemporary("engine"), desk({ ask })))).message).toContain("left no");
  });

  it("is refused when it is something else", async () => {
    const file = path.join(makeTemporary("engine"), "x.cjs");
    fs.writeFileSync(file, "exports.other = 1;");
    expect((await errorOf(loadEngine(file))).code).toBe("broken");
  });
});

it("never repeats the URL of a database that it cannot use", async () => {
  for (const database of ["mysql://u:hunter2@h/d", "hunter2", "postgres//u:hunter2@h"]) {
    const error = await errorOf(openServerData({ database }, now));
    expect([error.code, error.message.includes("hunter2")]).toEqual(["usage", false]);
  }
});

it("says which database does not answer, without its user and password", async () => {
  const error = await errorOf(openServerData({ database: "postgres://u:hunter2@127.0.0.1:1/d" }, now));
  expect(error.message).toBe(
    "postgres://127.0.0.1:1/d: the database is not answering (ECONNREFUSED): try again shortly",
  );
});
