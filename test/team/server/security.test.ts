import { gzipSync } from "node:zlib";
import { PGlite } from "@electric-sql/pglite";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { TeamData } from "../../../src/team/server/data.ts";
import { openTeamData } from "../../../src/team/server/data.ts";
import { openPglite } from "../../../src/team/server/pglite.ts";
import { type Route, SERVER_LIMITS } from "../../../src/team/server/route.ts";
import { ROUTES } from "../../../src/team/server/routes.ts";
import { type RunningServer, startServer } from "../../../src/team/server/serve.ts";
import { DAY, START } from "../../world.ts";
import { mustCall } from "./caller.ts";
import { APP, note, populate, requestOf, type Told } from "./desk.ts";
import { askRaw, talk } from "./raw.ts";

/** All of it over a real socket on a real database: one for the whole file, as starting it takes a second. */
let server: RunningServer;
let data: TeamData;
let tokens: Record<string, string>;
const clock = { now: new Date(START) };
const logged: string[] = [];

beforeAll(async () => {
  let seed = 0;
  const now = () => clock.now;
  const database = await openPglite(null, { now, load: async () => ({ PGlite }) as never });
  data = openTeamData(database, { now, randomBytes: (n) => Uint8Array.from({ length: n }, () => (seed++ * 97) % 251) });
  await data.migrate();
  tokens = await populate(data);
  server = await startServer({
    data,
    now,
    log: (line) => void logged.push(line),
    port: 0,
    limits: { ...SERVER_LIMITS, rate: RATE },
    timeouts: { headersMs: 200, requestMs: 400 },
  });
  const told = await ask("PUT", `${APP}/memories/kept.md`, { body: note("Kept."), headers: NEW });
  expect(told.status).toBe(200);
});

afterAll(async () => {
  await server?.close();
});

beforeEach(() => {
  clock.now = new Date(clock.now.getTime() + 60_000);
  logged.length = 0;
});

/** More than any test here sends within one window. */
const RATE = { requests: 150, seconds: 10 };
const NEW = { "if-none-match": "*" };

function ask(method: string, path: string, asking: Parameters<typeof requestOf>[0] = {}): Promise<Told> {
  return askRaw(server.port, { method, path, ...requestOf(asking, tokens["acme ann"] ?? "") });
}

const MEMBERS = ROUTES.filter(({ access }) => access.to !== "open");

function fill(route: Route, values: Record<string, string>): string {
  return route.path.replace(/:(\w+)(\{[^}]*\})?/g, (_, name: string) => encodeURIComponent(values[name] ?? ""));
}

const VALUES: Record<string, string> = {
  team: "acme",
  repository: "app",
  path: "kept.md",
  person: "will",
  id: "0123456789abcdef",
};

/** A body that each route would take. */
function bodyOf(route: Route): Parameters<typeof requestOf>[0] {
  if (route.method === "PUT" && route.path.includes("memories")) return { body: note("New."), headers: NEW };
  if (route.method === "DELETE" && route.path.includes("memories")) return { headers: { "if-match": '"1"' } };
  const bodies: Record<string, object> = {
    fetch: { paths: ["kept.md"] },
    people: { name: "eve", role: "admin" },
    role: { role: "admin" },
    tokens: { person: "ann" },
    repositories: { name: "stolen" },
    redact: { path: "kept.md", revision: "1" },
  };
  const body = bodies[route.path.split("/").at(-1) ?? ""];
  return body && route.method !== "GET" ? { body } : {};
}

/** Nothing that was tried has changed anything. */
async function expectUnharmed(): Promise<void> {
  const { body } = await ask("POST", `${APP}/fetch`, { body: { paths: ["kept.md"] } });
  expect(body.memories.map(({ text }: { text: string }) => text)).toEqual([note("Kept.")]);
  const team = await ask("GET", "/v1/teams/acme");
  expect(team.body.repositories.map(({ name }: { name: string }) => name)).toEqual(["app", "side"]);
  const { people } = (await ask("GET", "/v1/teams/acme/people")).body;
  expect(people.map(({ name, role }: { name: string; role: string }) => `${name} ${role}`)).toEqual([
    "ann admin",
    "rita reader",
    "una null",
    "will writer",
  ]);
}

describe("another tenant", () => {
  it.each(MEMBERS.map((route) => [`${route.method} ${route.path}`, route]))("is not there for %s", async (_, route) => {
    const asking = bodyOf(route as Route);
    // Otto is admin of his own team: his token against ours, then ours against his.
    const theirs = await ask((route as Route).method, fill(route as Route, VALUES), {
      ...asking,
      token: tokens["other otto"],
    });
    expect([theirs.status, theirs.body.problem]).toEqual([404, "not-found"]);
    const ours = await ask((route as Route).method, fill(route as Route, { ...VALUES, team: "other" }), asking);
    expect([ours.status, ours.body.problem]).toEqual([404, "not-found"]);
    // The same words as for a team that does not exist.
    const none = await ask((route as Route).method, fill(route as Route, { ...VALUES, team: "nobody" }), asking);
    expect(none.body).toEqual(ours.body);
  });

  it("cannot be named in any other parameter either", async () => {
    for (const route of MEMBERS.filter(({ access }) => access.to === "repository")) {
      const foreign = await ask(route.method, fill(route, { ...VALUES, repository: "secret-plans" }), bodyOf(route));
      const none = await ask(route.method, fill(route, { ...VALUES, repository: "nowhere" }), bodyOf(route));
      expect([route.path, foreign.status, foreign.body]).toEqual([route.path, 404, none.body]);
    }
    const role = (person: string, body: object) => ask("PUT", `/v1/teams/acme/people/${person}/role`, { body });
    expect((await role("otto", { role: "reader" })).status).toBe(404);
    expect((await role("will", { role: "admin", repository: "secret-plans" })).status).toBe(404);
    expect((await ask("POST", "/v1/teams/acme/tokens", { body: { person: "otto" } })).status).toBe(404);
    const { body } = await ask("GET", "/v1/teams/other/tokens", { token: tokens["other otto"] });
    expect((await ask("DELETE", `/v1/teams/acme/tokens/${body.tokens[0].id}`)).status).toBe(404);
    expect((await ask("GET", "/v1/teams/other", { token: tokens["other otto"] })).status).toBe(200);
    await expectUnharmed();
  });

  it("leaves a line in the audit log of the team whose token was used", async () => {
    await ask("GET", "/v1/teams/acme/people", { token: tokens["other otto"] });
    const { rows } = (await ask("GET", "/v1/teams/other/audit?limit=1", { token: tokens["other otto"] })).body;
    expect(rows[0]).toMatchObject({ person: "otto", action: "admin:people", outcome: "denied" });
  });

  it("finds nothing of ours by search", async () => {
    const { body } = await ask("GET", "/v1/teams/other/search?q=releases", { token: tokens["other otto"] });
    expect(body.hits).toEqual([]);
    const una = await ask("GET", "/v1/teams/acme/search?q=releases", { token: tokens["acme una"] });
    expect(una.body.hits).toEqual([]);
    expect((await ask("GET", "/v1/teams/acme/search?q=releases")).body.hits.length).toBe(1);
  });
});

describe("tokens", () => {
  it("are needed everywhere below /v1, and only as a bearer", async () => {
    const token = tokens["acme ann"] as string;
    for (const route of MEMBERS) {
      const told = await ask(route.method, fill(route, VALUES), { ...bodyOf(route), token: null });
      expect([route.path, told.status]).toEqual([route.path, 401]);
      expect(told.headers.get("www-authenticate")).toBe("Bearer");
    }
    for (const authorization of [token, `Basic ${token}`, `Bearer ${token} x`, `Bearer ${token},${token}`, "Bearer "]) {
      const told = await ask("GET", "/v1/teams/acme", { token: null, headers: { authorization } });
      expect(told.status).toBe(401);
    }
    for (const query of [`token=${token}`, `access_token=${token}`, `q=x&accessToken=${token}`]) {
      expect((await ask("GET", `/v1/teams/acme/search?${query}`)).body.problem).toBe("token");
    }
    expect(logged.join()).not.toContain(token);
  });

  it("end when they expire or are revoked", async () => {
    const { id, token } = (await ask("POST", "/v1/teams/acme/tokens", { body: { person: "rita", days: 1 } })).body;
    const other = (await ask("POST", "/v1/teams/acme/tokens", { body: { person: "rita" } })).body;
    expect((await ask("GET", `${APP}/memories`, { token })).status).toBe(200);
    expect((await ask("DELETE", `/v1/teams/acme/tokens/${other.id}`)).status).toBe(200);
    clock.now = new Date(clock.now.getTime() + DAY + 1);
    for (const route of MEMBERS) {
      for (const dead of [token, other.token]) {
        // Wrong tokens are only looked up so often.
        clock.now = new Date(clock.now.getTime() + 1000);
        const told = await ask(route.method, fill(route, VALUES), { ...bodyOf(route), token: dead });
        expect([route.path, told.status]).toEqual([route.path, 401]);
        expect(told.text).not.toContain(dead);
      }
    }
    const listed = (await ask("GET", "/v1/teams/acme/tokens")).body.tokens;
    expect(listed.find((row: { id: string }) => row.id === id).expires).not.toBeNull();
  });

  it("are one's own to see and to revoke, and nobody else's", async () => {
    const mine = (await ask("GET", "/v1/teams/acme/tokens", { token: tokens["acme una"] })).body.tokens;
    expect(new Set(mine.map(({ person }: { person: string }) => person))).toEqual(new Set(["una"]));
    const all = (await ask("GET", "/v1/teams/acme/tokens")).body.tokens;
    const { id } = all.find(({ person }: { person: string }) => person === "will");
    const told = await ask("DELETE", `/v1/teams/acme/tokens/${id}`, { token: tokens["acme una"] });
    expect(told.status).toBe(404);
    expect((await ask("GET", `${APP}/memories`, { token: tokens["acme will"] })).status).toBe(200);
  });
});

describe("roles", () => {
  it("let a reader read and nothing else", async () => {
    for (const route of MEMBERS) {
      const needs = "role" in route.access ? route.access.role : "reader";
      if (/\/(tokens\/:id|role)$/.test(route.path)) continue;
      const told = await ask(route.method, fill(route, VALUES), { ...bodyOf(route), token: tokens["acme rita"] });
      if (needs !== "reader") expect([route.path, told.status, told.body.problem]).toEqual([route.path, 403, "role"]);
      else expect([route.path, told.status]).not.toEqual([route.path, 403]);
    }
    const { rows } = (await ask("GET", "/v1/teams/acme/audit?limit=200")).body;
    const denied = rows.filter((row: { outcome: string; person: string }) => row.outcome === "denied");
    expect(denied.map(({ action }: { action: string }) => action)).toEqual(expect.arrayContaining(["write", "remove"]));
    await expectUnharmed();
  });

  it("let a writer write and not administer", async () => {
    const token = tokens["acme will"];
    for (const route of MEMBERS.filter(({ access }) => "role" in access && access.role === "admin")) {
      const told = await ask(route.method, fill(route, VALUES), { ...bodyOf(route), token });
      expect([route.path, told.status]).toEqual([route.path, 403]);
    }
    await expectUnharmed();
  });

  it("are given by admins of the team, and in a repository by its own", async () => {
    const give = (token: string | undefined, person: string, body: object) =>
      ask("PUT", `/v1/teams/acme/people/${person}/role`, { token, body });
    const { "acme will": will, "acme una": una, "acme rita": rita } = tokens;
    for (const token of [will, una, rita]) {
      expect((await give(token, "rita", { role: "admin" })).status).toBe(403);
    }
    expect((await give(will, "will", { role: "admin", repository: "app" })).status).toBe(403);
    expect((await give(una, "una", { role: "admin", repository: "app" })).status).toBe(404);
    expect((await give(undefined, "una", { role: "admin", repository: "side" })).status).toBe(200);
    expect((await give(una, "rita", { role: "writer", repository: "side" })).status).toBe(200);
    expect((await give(una, "rita", { role: null, repository: "side" })).status).toBe(200);
    expect((await give(undefined, "una", { role: "writer", repository: "side" })).status).toBe(200);
    await expectUnharmed();
  });

  it("hide a repository from whoever has no right in it", async () => {
    const token = tokens["acme una"];
    expect((await ask("GET", `${APP}/memories`, { token })).status).toBe(404);
    expect((await ask("GET", "/v1/teams/acme/repositories/side/memories", { token })).status).toBe(200);
  });
});

describe("names of memories", () => {
  const HOSTILE = [
    "../x.md",
    "..%2fx.md",
    "%2e%2e/x.md",
    "%2e%2e%2fx.md",
    "%252e%252e%252fx.md",
    "a/%2e%2e/%2e%2e/x.md",
    "..%5cx.md",
    "a%5cb.md",
    "a%00.md",
    "%ef%bc%8e%ef%bc%8e/x.md",
    "%ef%bc%8e%ef%bc%8e%ef%bc%8fx.md",
    "%2fetc/x.md",
    "C:/x.md",
    ".memdir/x.md",
    ".git/x.md",
    "MEMORY.md",
    "x.txt",
    "con.md",
    "a%0ab.md",
    "a%1b[31m.md",
    "u%cc%88.md",
    `${"x".repeat(300)}.md`,
    "1/2/3/4/5.md",
    "a//b.md",
    "a/./b.md",
  ];
  it.each(HOSTILE)("are refused: %s", async (path) => {
    const put = await ask("PUT", `${APP}/memories/${path}`, { body: note(), headers: NEW });
    expect(put.status).toBeGreaterThanOrEqual(400);
    expect(put.status).toBeLessThan(500);
    const gone = await ask("DELETE", `${APP}/memories/${path}`, { headers: { "if-match": '"1"' } });
    expect([400, 404, 405, 422]).toContain(gone.status);
    expect([400, 404]).toContain((await ask("GET", `${APP}/versions/${path}`)).status);
    const fetched = await ask("POST", `${APP}/fetch`, { body: { paths: [safeDecode(path)] } });
    expect([fetched.status, fetched.body.problem]).toEqual([422, "path"]);
    expect((await ask("GET", `${APP}/memories`)).body.entries.length).toBe(1);
  });

  it("that are no UTF-8 are refused before anybody is asked", async () => {
    for (const path of ["%ff.md", "%", "%e0%80%ae.md", "%zz.md"]) {
      expect((await ask("GET", `${APP}/versions/${path}`)).status).toBe(400);
    }
    expect((await ask("GET", `${APP}\\memories`)).status).toBe(400);
  });

  it("cannot leave their repository by dots in the path", async () => {
    const climbs = `/v1/teams/acme/repositories/app/memories/../../side/memories/x.md`;
    const told = await ask("PUT", climbs, { body: note(), headers: NEW, token: tokens["acme will"] });
    expect([told.status, told.body.problem]).toEqual([400, "form"]);
    for (const path of ["/v1/teams/other/../acme", "/v1/teams/other/%2e%2E/acme", "/v1/teams/./acme"]) {
      expect([path, (await ask("GET", path)).status]).toEqual([path, 400]);
    }
    expect((await ask("GET", "/v1/teams/acme/search?q=..%2F../")).status).toBe(200);
  });
});

describe("injection", () => {
  const SQL = [
    "'; drop table memdir_memory; --",
    "' or '1'='1",
    "\\'; select pg_sleep(9);--",
    "$1",
    "%27%3b",
    "a'b\"c",
  ];
  it("of SQL into any text finds only text", async () => {
    for (const text of SQL) {
      const part = encodeURIComponent(text);
      const statuses = await Promise.all([
        ask("GET", `/v1/teams/${part}`),
        ask("GET", `/v1/teams/acme/repositories/${part}/memories`),
        ask("GET", `${APP}/versions/${part}.md`),
        ask("DELETE", `${APP}/memories/kept.md`, { headers: { "if-match": `"${text.replaceAll('"', "")}"` } }),
        ask("DELETE", `/v1/teams/acme/tokens/${part}`),
        ask("PUT", `/v1/teams/acme/people/${part}/role`, { body: { role: "admin" } }),
        ask("PUT", "/v1/teams/acme/people/will/role", { body: { role: "admin", repository: text } }),
        ask("POST", "/v1/teams/acme/tokens", { body: { person: text } }),
        ask("POST", `${APP}/redact`, { body: { path: "kept.md", revision: text } }),
        ask("POST", `${APP}/fetch`, { body: { paths: [`${text.replace(/[\\"%]/g, "")}.md`] } }),
        ask("GET", `/v1/teams/acme/audit?before=${part}`),
        ask("GET", "/v1/teams/acme", { token: text.replace(/[^!-~]/g, "") }),
      ]).then((all) => all.map(({ status }) => status));
      expect([text, Math.max(...statuses) < 500]).toEqual([text, true]);
      const found = await ask("GET", `/v1/teams/acme/search?q=${part}`);
      expect([text, found.status]).toEqual([text, 200]);
      const listed = await ask("GET", `${APP}/memories`, { headers: { "if-none-match": text } });
      expect(listed.body.entries.length).toBe(1);
    }
    await expectUnharmed();
    const person = await ask("POST", "/v1/teams/acme/people", { body: { name: "Robert'); drop table x;--" } });
    expect(person.status).toBe(201);
    await data.people(await mustCall(data, tokens["acme ann"] as string));
  });

  it("of lines or colours into the log changes nothing in it", async () => {
    const evil = '\r\n{"status":200,"forged":true}\x1b[2J\u2028\u0085';
    await ask("PUT", `${APP}/memories/${encodeURIComponent(evil)}.md`, { body: note(), headers: NEW });
    await ask("GET", `/v1/teams/${encodeURIComponent(evil)}`);
    await ask("GET", `/v1/teams/acme/search?q=${encodeURIComponent(evil)}`);
    await ask("GET", `/${encodeURIComponent(evil)}`);
    await ask("POST", "/v1/teams/acme/people", { body: { name: evil } });
    expect(logged.length).toBe(5);
    for (const line of logged) {
      expect(line).toMatch(/^[\x20-\x7e]+$/);
      expect(line).not.toContain("forged");
      expect(Object.keys(JSON.parse(line))).toEqual([
        "time",
        "id",
        "method",
        "route",
        "status",
        "ms",
        "team",
        "person",
      ]);
    }
  });
});

describe("what is too much", () => {
  it("is refused by its length before a token is looked at", async () => {
    const told = await askRaw(server.port, {
      method: "PUT",
      path: `${APP}/memories/a.md`,
      headers: { ...NEW, "content-type": "text/markdown", "content-length": "2000000" },
    }).catch(() => null);
    expect(told === null || told.status === 413).toBe(true);
  });

  it("is not read to its end when it is sent in chunks", async () => {
    const token = tokens["acme ann"];
    let sent = 0;
    const heard = await talk(server.port, (socket) => {
      socket.write(
        `PUT ${APP}/memories/a.md HTTP/1.1\r\nhost: x\r\nmemdir-protocol: 1\r\nauthorization: Bearer ${token}\r\nif-none-match: *\r\ncontent-type: text/markdown\r\ntransfer-encoding: chunked\r\n\r\n`,
      );
      const chunk = `10000\r\n${"x".repeat(0x10000)}\r\n`;
      const more = () => {
        while (!socket.destroyed && sent < 500_000_000) {
          sent += 0x10000;
          if (!socket.write(chunk)) return;
        }
      };
      socket.on("drain", more);
      more();
    });
    expect(heard).toMatch(/^HTTP\/1.1 413 /);
    // Half a gigabyte was on offer; buffers of sockets take a few megabytes.
    expect(sent).toBeLessThan(100_000_000);
  });

  it("is not unpacked: no encoding is taken", async () => {
    const bomb = gzipSync(Buffer.alloc(10_000_000, "x"));
    for (const encoding of ["gzip", "br", "deflate", "identity, gzip", "zstd"]) {
      const told = await ask("PUT", `${APP}/memories/a.md`, {
        body: bomb,
        headers: { ...NEW, "content-encoding": encoding },
      });
      expect([encoding, told.status, told.body.problem]).toEqual([encoding, 415, "encoding"]);
    }
  });

  it("is told to wait, with the seconds", async () => {
    const token = (await ask("POST", "/v1/teams/acme/tokens", { body: { person: "rita" } })).body.token;
    for (let i = 0; i < RATE.requests; i++) await ask("GET", "/v1/teams/acme", { token });
    const told = await ask("GET", `${APP}/memories`, { token });
    expect([told.status, told.body.problem]).toEqual([429, "rate"]);
    const wait = Number(told.headers.get("retry-after"));
    expect(wait >= 1 && wait <= 10).toBe(true);
    // Others are not slowed down, and the next window is open.
    expect((await ask("GET", `${APP}/memories`)).status).toBe(200);
    clock.now = new Date(clock.now.getTime() + wait * 1000);
    expect((await ask("GET", `${APP}/memories`, { token })).status).toBe(200);
  });

  it("takes no longer than it may: a client that sends a byte at a time is cut off", async () => {
    const slowHead = talk(server.port, (socket) => void socket.write("GET /health HTTP/1.1\r\nhost: x\r\nx-slow: "));
    const slowBody = talk(server.port, (socket) => {
      const head = `PUT ${APP}/memories/a.md HTTP/1.1\r\nhost: x\r\nmemdir-protocol: 1\r\nauthorization: Bearer ${tokens["acme ann"]}\r\nif-none-match: *\r\ncontent-type: text/markdown\r\ncontent-length: 1000\r\n\r\n`;
      socket.write(`${head}only the beginning`);
    });
    for (const heard of await Promise.all([slowHead, slowBody])) expect(heard).not.toContain(" 200 ");
    expect((await ask("GET", "/health")).status).toBe(200);
    expect((await ask("GET", `${APP}/memories`)).body.entries.length).toBe(1);
  });
});

describe("the protocol", () => {
  it("must be named, and is told to whoever speaks another", async () => {
    for (const protocol of ["0", "2", "1, 2", ""]) {
      const told = await ask("GET", "/v1/teams/acme", { headers: { "memdir-protocol": protocol } });
      expect([told.status, told.body.problem]).toEqual([400, "protocol"]);
      expect(told.body.message).toContain("Memdir-Protocol: 1");
    }
  });

  it("knows HEAD, and says which methods a path has", async () => {
    const head = await ask("HEAD", `${APP}/memories`);
    expect([head.status, head.text, head.headers.get("etag") !== null]).toEqual([200, "", true]);
    for (const [method, path, allow] of [
      ["OPTIONS", `${APP}/memories`, "GET, HEAD"],
      ["PATCH", `${APP}/memories/a.md`, "PUT, DELETE"],
      ["GET", `${APP}/fetch`, "POST"],
      ["POST", "/health", "GET, HEAD"],
    ] as const) {
      const told = await ask(method, path);
      expect([path, told.status, told.headers.get("allow")]).toEqual([path, 405, allow]);
    }
    expect((await ask("TRACE", "/health")).status).toBeGreaterThanOrEqual(400);
    expect((await ask("GET", "/v2/teams")).body.problem).toBe("not-found");
  });

  it("gives pages of other origins nothing", async () => {
    const headers = { origin: "https://evil.example", "access-control-request-method": "PUT" };
    for (const [method, path] of [
      ["OPTIONS", `${APP}/memories/a.md`],
      ["GET", "/health"],
      ["GET", `${APP}/memories`],
    ] as const) {
      const told = await ask(method, path, { headers });
      expect([...told.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
      expect(told.headers.get("cache-control")).toBe("no-store");
      expect(told.headers.get("x-content-type-options")).toBe("nosniff");
    }
  });
});

function safeDecode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
