import { beforeEach, describe, expect, it } from "vitest";
import { MemdirError } from "../../../src/errors.ts";
import { describedPath } from "../../../src/team/server/openapi.ts";
import { SERVER_LIMITS } from "../../../src/team/server/route.ts";
import { ROUTES } from "../../../src/team/server/routes.ts";
import { START, sha256 } from "../../world.ts";
import { APP, type Desk, note, openDesk } from "./desk.ts";
import { type MemoryData, openMemoryData } from "./memory-data.ts";

let desk: Desk;
let data: MemoryData;
const clock = { now: new Date(START) };

beforeEach(async () => {
  clock.now = new Date(START);
  data = openMemoryData(() => clock.now);
  desk = await openDesk(data, clock);
});

const NEW = { "if-none-match": "*" };
const based = (revision: string) => ({ "if-match": `"${revision}"` });

async function put(path: string, text = note(), headers: Record<string, string> = NEW) {
  return desk.ask("PUT", `${APP}/memories/${path}`, { body: text, headers });
}

describe("memories over HTTP", () => {
  it("writes, lists, fetches, changes, removes and keeps every version", async () => {
    const made = await put("deploys.md", note("One."));
    expect(made.status).toBe(200);
    expect(made.body).toEqual({ path: "deploys.md", revision: expect.any(String), hash: sha256(note("One.")) });
    expect(made.headers.get("etag")).toBe(`"${made.body.revision}"`);

    const changed = await put("deploys.md", note("Two."), based(made.body.revision));
    const listed = await desk.ask("GET", `${APP}/memories`);
    expect(listed.body.entries).toEqual([
      expect.objectContaining({ path: "deploys.md", revision: changed.body.revision, deleted: false, author: "ann" }),
    ]);
    const fetched = await desk.ask("POST", `${APP}/fetch`, {
      body: { paths: ["deploys.md", "none.md", "deploys.md"] },
    });
    expect(fetched.body.memories).toEqual([
      { path: "deploys.md", revision: changed.body.revision, hash: sha256(note("Two.")), text: note("Two.") },
    ]);
    const removed = await desk.ask("DELETE", `${APP}/memories/deploys.md`, { headers: based(changed.body.revision) });
    expect(removed.body).toEqual({ path: "deploys.md", revision: expect.any(String), hash: "" });
    const versions = await desk.ask("GET", `${APP}/versions/deploys.md`);
    expect(versions.body.versions.map(({ text }: { text: string }) => text)).toEqual([
      note("One."),
      note("Two."),
      null,
    ]);
  });

  it("keeps names with slashes, spaces, percent signs and other scripts", async () => {
    for (const path of ["a/b/c.md", "with space.md", "a%20b.md", "größe/日本.md", "a+b&c=d#e.md"]) {
      const told = await put(path.split("/").map(encodeURIComponent).join("/"));
      expect([told.status, told.body.path]).toEqual([200, path]);
    }
  });

  it("answers 304 to whoever has the list, without a line in the audit log", async () => {
    await put("a.md");
    const { headers } = await desk.ask("GET", `${APP}/memories`);
    const etag = headers.get("etag") as string;
    const rows = async () => {
      const all: { action: string }[] = (await desk.ask("GET", "/v1/teams/acme/audit")).body.rows;
      return all.filter(({ action }) => action !== "admin:audit").length;
    };
    const before = await rows();
    for (const tag of [etag, `W/${etag}`, `"x", ${etag}`]) {
      const again = await desk.ask("GET", `${APP}/memories`, { headers: { "if-none-match": tag } });
      expect([again.status, again.text]).toEqual([304, ""]);
    }
    expect(await rows()).toBe(before);
    await put("b.md");
    const other = await desk.ask("GET", `${APP}/memories`, { headers: { "if-none-match": etag } });
    expect([other.status, other.body.entries.length]).toEqual([200, 2]);
  });

  it("answers 412 with what is there now", async () => {
    const made = await put("a.md", note("1"));
    const stale = await put("a.md", note("2"), based("other"));
    expect(stale.status).toBe(412);
    expect(stale.body).toMatchObject({ problem: "stale", current: { revision: made.body.revision } });
    expect((await put("b.md", note(), based("other"))).body.current).toBeNull();
    const gone = await desk.ask("DELETE", `${APP}/memories/a.md`, { headers: based("other") });
    expect(gone.status).toBe(412);
  });

  it.each([
    [428, {}],
    [400, { "if-match": 'W/"r1"' }],
    [400, { "if-match": "r1" }],
    [400, { "if-match": '"r1", "r2"' }],
    [400, { "if-match": "*" }],
    [400, { "if-match": '""' }],
    [400, { "if-none-match": '"r1"' }],
    [400, { "if-match": '"r1"', "if-none-match": "*" }],
  ])("answers %i to the precondition %j and writes nothing", async (status, headers) => {
    const told = await put("a.md", note(), headers as Record<string, string>);
    expect([told.status, told.body.problem]).toEqual([status, "precondition"]);
    expect(
      (await desk.ask("DELETE", `${APP}/memories/a.md`, { headers: headers as Record<string, string> })).status,
    ).toBe(status);
    expect(data.calls).not.toContain("write");
  });

  it("takes no write for another team, a role that was taken or a token that was revoked, though it knew them", async () => {
    const put = (path: string, token: string | undefined, body = note()) =>
      desk.ask("PUT", path, { token: token ?? "", body, headers: NEW });
    const will = desk.tokens["acme will"];
    expect((await put(`${APP}/memories/a.md`, will)).status).toBe(200);
    expect((await put("/v1/teams/other/repositories/app/memories/b.md", will)).status).toBe(404);
    await desk.ask("PUT", "/v1/teams/acme/people/will/role", { body: { repository: null, role: "reader" } });
    for (const body of [note(), "no frontmatter: \0"])
      expect((await put(`${APP}/memories/c.md`, will, body)).status).toBe(403);
    const { body } = await desk.ask("GET", "/v1/teams/acme/tokens");
    const { id } = body.tokens.find((one: { person: string }) => one.person === "will");
    await desk.ask("DELETE", `/v1/teams/acme/tokens/${id}`);
    expect((await put(`${APP}/memories/d.md`, will)).status).toBe(401);
    const { body: list } = await desk.ask("GET", `${APP}/memories`);
    expect(list.entries.map((entry: { path: string }) => entry.path)).toEqual(["a.md"]);
  });

  it("refuses a secret with rule and line and never with its value", async () => {
    const secret = `ghp_${"aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0iL3oR6"}`;
    const told = await put("a.md", note(`The token is ${secret}`));
    expect(told.status).toBe(422);
    expect(told.body).toMatchObject({ problem: "secret", secrets: [{ rule: "github-token", line: 7 }] });
    expect(told.text + desk.logged.join()).not.toContain(secret);
    const { rows } = (await desk.ask("GET", "/v1/teams/acme/audit")).body;
    expect(rows[0]).toMatchObject({ action: "write", path: "a.md", outcome: "refused: secret" });
  });

  it("refuses what is private, and takes it when it says that it may be shared", async () => {
    const refused = ["type: user", "type: user\nshare: false", "type: project\nshare: no", "metadata:\n  type: user"];
    for (const fields of refused) {
      const told = await put("a.md", note("Likes tea.", fields));
      expect([fields, told.status, told.body.problem]).toEqual([fields, 422, "private"]);
    }
    expect((await put("user/b.md", "No frontmatter at all.\n")).body.problem).toBe("private");
    expect((await put("c.md", "---\ntype: user\nnever closed\n")).body.problem).toBe("form");
    for (const [i, fields] of ["type: user\nshare: true", "metadata:\n  type: user\n  share: true"].entries()) {
      expect((await put(`${i}.md`, note("Likes tea.", fields))).status).toBe(200);
    }
    expect((await put("plain.md", "No frontmatter at all.\n")).status).toBe(200);
  });

  it("takes only UTF-8 without NUL, byte for byte", async () => {
    const send = (body: Uint8Array, headers = {}) =>
      desk.ask("PUT", `${APP}/memories/x.md`, { body, headers: { ...NEW, ...headers } });
    expect((await send(Uint8Array.of(0x61, 0xff, 0x62))).body.problem).toBe("form");
    expect((await send(Uint8Array.of(0xed, 0xa0, 0x80))).body.problem).toBe("form");
    expect((await send(Uint8Array.of(0x61, 0, 0x62))).body.problem).toBe("form");
    expect((await send(Buffer.from("a"), { "content-type": "application/octet-stream" })).status).toBe(415);
    expect((await send(Buffer.from("a"), { "content-type": "text/markdown; charset=latin1" })).status).toBe(415);
    const odd = "\ufeffone\r\ntwo\u2028three";
    const told = await send(Buffer.from(odd), { "content-type": "text/markdown; charset=UTF-8" });
    expect([told.status, told.body.hash]).toEqual([200, sha256(odd)]);
  });

  it("gives search the words of name, description, cues and body", async () => {
    await put("a.md", note("The pipeline rebuilds everything.", "type: project\nwhen: [rolling back a deployment]"));
    for (const q of ["releases", "rollback rolling", "pipeline", "DEPLOYS"]) {
      const { body } = await desk.ask("GET", `/v1/teams/acme/search?q=${encodeURIComponent(q)}`);
      expect([q, body.hits.map(({ path }: { path: string }) => path)]).toEqual([q, ["a.md"]]);
    }
    for (const query of ["", "q=", `q=${"x".repeat(1001)}`, "q=a&limit=0", "q=a&limit=51", "q=a&limit=1e1"]) {
      expect((await desk.ask("GET", `/v1/teams/acme/search?${query}`)).status).toBe(400);
    }
  });

  it("tells what is over a limit", async () => {
    const told = await put("a.md", "x".repeat(250_001));
    expect([told.status, told.body.problem]).toEqual([413, "too-large"]);
    expect((await put("a.md", "x".repeat(250_000))).status).toBe(200);
    const paths = Array.from({ length: 65 }, (_, i) => `${i}.md`);
    expect((await desk.ask("POST", `${APP}/fetch`, { body: { paths } })).status).toBe(400);
    const small = { ...SERVER_LIMITS, memory: { ...SERVER_LIMITS.memory, repositoryMemories: 0 } };
    const full = await openDesk(
      openMemoryData(() => clock.now),
      clock,
      small,
    );
    const refused = await full.ask("PUT", `${APP}/memories/a.md`, { body: note(), headers: NEW });
    expect([refused.status, refused.body.problem]).toEqual([422, "refused"]);
  });
});

describe("the team over HTTP", () => {
  it("tells everybody who they are, and which repositories they have", async () => {
    const { body } = await desk.ask("GET", "/v1/teams/acme", { token: desk.tokens["acme una"] });
    expect(body).toMatchObject({ team: "acme", person: "una", role: null, limits: { memoryBytes: 250_000 } });
    expect(body.repositories).toEqual([{ name: "side", memories: 0, bytes: 0, role: "writer" }]);
    expect((await desk.ask("GET", "/v1/teams/acme")).body).toMatchObject({ person: "ann", role: "admin" });
  });

  it("lets an admin take people in, give roles and tokens, and revoke them", async () => {
    const added = await desk.ask("POST", "/v1/teams/acme/people", { body: { name: "Zoë Ω", role: "reader" } });
    expect([added.status, added.body.name]).toEqual([201, "Zoë Ω"]);
    expect((await desk.ask("POST", "/v1/teams/acme/people", { body: { name: "Zoë Ω" } })).status).toBe(409);
    const made = await desk.ask("POST", "/v1/teams/acme/tokens", {
      body: { person: "Zoë Ω", label: "laptop", days: 30 },
    });
    expect(made.status).toBe(201);
    const { id, token } = made.body;
    expect((await desk.ask("GET", `${APP}/memories`, { token })).status).toBe(200);
    const role = `/v1/teams/acme/people/${encodeURIComponent("Zoë Ω")}/role`;
    expect((await desk.ask("PUT", role, { body: { repository: "app", role: "writer" } })).body).toEqual({ done: true });
    expect((await desk.ask("PUT", `${APP}/memories/z.md`, { token, body: note(), headers: NEW })).status).toBe(200);
    const people = (await desk.ask("GET", "/v1/teams/acme/people")).body.people;
    expect(people.at(-1)).toMatchObject({ name: "Zoë Ω", repositories: [{ repository: "app", role: "writer" }] });
    const listed = await desk.ask("GET", "/v1/teams/acme/tokens");
    expect(listed.text).not.toContain(token);
    expect((await desk.ask("DELETE", `/v1/teams/acme/tokens/${id}`)).status).toBe(200);
    expect((await desk.ask("GET", `${APP}/memories`, { token })).status).toBe(401);
    expect((await desk.ask("DELETE", "/v1/teams/acme/tokens/none")).status).toBe(404);
  });

  it("makes repositories, and redacts a version for an admin", async () => {
    expect((await desk.ask("POST", "/v1/teams/acme/repositories", { body: { name: "new" } })).status).toBe(201);
    expect((await desk.ask("POST", "/v1/teams/acme/repositories", { body: { name: "new" } })).status).toBe(409);
    const { body } = await put("a.md");
    const redacted = { body: { path: "a.md", revision: body.revision } };
    expect((await desk.ask("POST", `${APP}/redact`, { ...redacted, token: desk.tokens["acme will"] })).status).toBe(
      403,
    );
    expect((await desk.ask("POST", `${APP}/redact`, redacted)).body).toEqual({ done: true });
    const { versions } = (await desk.ask("GET", `${APP}/versions/a.md`)).body;
    expect(versions).toMatchObject([{ redacted: true, text: null }]);
    expect((await desk.ask("POST", `${APP}/redact`, { body: { path: "a.md", revision: "none" } })).status).toBe(404);
  });

  it("does not leave a team without an admin", async () => {
    const told = await desk.ask("PUT", "/v1/teams/acme/people/ann/role", { body: { role: "reader" } });
    expect(told.status).toBe(409);
  });

  it.each([
    ["POST", "/v1/teams/acme/people", { name: "a\nb" }],
    ["POST", "/v1/teams/acme/people", { name: "" }],
    ["POST", "/v1/teams/acme/people", { name: 7 }],
    ["POST", "/v1/teams/acme/people", { name: "eve", role: "root" }],
    ["POST", "/v1/teams/acme/people", { name: "eve", role: "constructor" }],
    ["PUT", "/v1/teams/acme/people/will/role", { role: "owner" }],
    ["PUT", "/v1/teams/acme/people/will/role", {}],
    ["PUT", "/v1/teams/acme/people/will/role", { role: "reader", repository: 3 }],
    ["POST", "/v1/teams/acme/tokens", { person: "will", days: 0 }],
    ["POST", "/v1/teams/acme/tokens", { person: "will", days: 1.5 }],
    ["POST", "/v1/teams/acme/tokens", { person: "will", label: "\x1b[31m" }],
    ["POST", "/v1/teams/acme/tokens", {}],
    ["POST", "/v1/teams/acme/repositories", { name: "../x" }],
    ["POST", "/v1/teams/acme/repositories", { name: ".git" }],
    ["POST", `${APP}/fetch`, { paths: [1] }],
    ["POST", `${APP}/fetch`, { paths: "a.md" }],
    ["POST", `${APP}/redact`, { path: "a.md" }],
  ])("refuses %s %s with %j", async (method, path, body) => {
    expect((await desk.ask(method, path, { body })).status).toBe(400);
  });

  it.each([
    ["POST", "/v1/teams/acme/people", {}, "`name`: it is missing"],
    ["POST", "/v1/teams/acme/people", { name: ["s3cret"] }, "`name`: expected string"],
    ["POST", "/v1/teams/acme/people", { name: "s3cret\n" }, "`name`: it must not begin or end with a space"],
    [
      "POST",
      "/v1/teams/acme/people",
      { name: "eve", role: "s3cret" },
      "`role`: it must be one of reader, writer, admin",
    ],
    ["POST", "/v1/teams/acme/people", [], "`name`: it is missing"],
    ["POST", "/v1/teams/acme/people", JSON.parse('{"__proto__": {"name": "eve"}}'), "`name`: it is missing"],
    [
      "POST",
      "/v1/teams/acme/tokens",
      { person: "will", days: 9999 },
      "`days`: it must be a whole number from 1 to 3650",
    ],
    ["POST", `${APP}/fetch`, { paths: ["a.md", { s3cret: 1 }] }, "`paths.1`: expected string"],
    ["POST", `${APP}/fetch`, { paths: Array(65).fill("a.md") }, "`paths`: it may name at most 64 memories"],
    [
      "GET",
      "/v1/teams/acme/search?q=s3cret&limit=s3cret",
      undefined,
      "`limit`: it must be a whole number from 1 to 50",
    ],
  ])("%s %s with %j is told which field, and what is expected", async (method, path, body, words) => {
    const told = await desk.ask(method, path, body === undefined ? {} : { body });
    expect([told.status, told.body.problem]).toEqual([400, "form"]);
    expect(told.body.message).toContain(words);
    expect(told.text).not.toContain("s3cret");
  });

  it("takes neither what is no JSON, nor what is deep without end", async () => {
    const headers = { "content-type": "application/json" };
    for (const body of [
      "",
      "{",
      "null",
      '"name"',
      "[".repeat(400_000),
      `{"name":${"[".repeat(9000)}${"]".repeat(9000)}}`,
    ]) {
      expect((await desk.ask("POST", "/v1/teams/acme/people", { body, headers })).status).toBe(400);
    }
  });

  it("pages through the audit log", async () => {
    for (let i = 0; i < 3; i++) {
      clock.now = new Date(clock.now.getTime() + 1000);
      await put(`${i}.md`);
    }
    const first = (await desk.ask("GET", "/v1/teams/acme/audit?limit=2")).body.rows;
    expect(first.map(({ path }: { path: string }) => path)).toEqual(["2.md", "1.md"]);
    const second = (await desk.ask("GET", `/v1/teams/acme/audit?limit=2&before=${first[1].at}`)).body.rows;
    expect(second[0].path).toBe("0.md");
    for (const query of ["limit=0", "limit=1001", "limit=x", "before=yesterday", "before=2026-01-01T00:00:00Z';--"]) {
      expect((await desk.ask("GET", `/v1/teams/acme/audit?${encodeURI(query)}`)).status).toBe(400);
    }
  });
});

describe("what watches the server", () => {
  it("answers health, readiness, and figures without names", async () => {
    await put("very-secret-name.md");
    expect((await desk.ask("GET", "/health", { token: null })).body).toEqual({ status: "ok", version: "1.2.3" });
    expect((await desk.ask("GET", "/ready", { token: null })).status).toBe(200);
    const { text, headers } = await desk.ask("GET", "/metrics", { token: null });
    expect(headers.get("content-type")).toContain("text/plain");
    expect(text).toContain(
      'method="PUT",route="/v1/teams/:team/repositories/:repository/memories/:path{.+}",status="200"',
    );
    expect(text).toContain("memdir_teams 2");
    expect(text).toMatch(/^memdir_request_seconds_count\{.*\} 1$/m);
    for (const line of text.trimEnd().split("\n"))
      expect(line).toMatch(/^(# (HELP|TYPE) \S+ .+|\w+(\{[^\n]*\})? [\d.e+-]+)$/);
    expect(text).not.toMatch(/very-secret-name|acme|ann|will/);
  });

  it("says when the database is away, and counts it at most every ten seconds", async () => {
    await desk.ask("GET", "/metrics");
    await desk.ask("GET", "/metrics");
    expect(data.calls.filter((name) => name === "counts").length).toBe(1);
    data.fail = new MemdirError("network", "the database does not answer");
    clock.now = new Date(clock.now.getTime() + 20_000);
    expect((await desk.ask("GET", "/ready")).status).toBe(503);
    expect((await desk.ask("GET", "/metrics")).text).toContain("memdir_database_up 0");
    const told = await desk.ask("GET", `${APP}/memories`);
    expect([told.status, told.headers.get("retry-after")]).toEqual([503, "1"]);
    expect((await desk.ask("GET", "/health")).status).toBe(200);
    const refused = "the database refuses us (SQLSTATE 3D000): there is no database with this name";
    data.fail = new MemdirError("network", refused, { details: { sqlState: "3D000" } });
    expect((await desk.ask("GET", "/ready")).body.message).toBe(refused);
    const lines = desk.logged.map((line) => JSON.parse(line));
    await desk.ask("GET", `${APP}/memories`);
    expect(desk.logged.slice(lines.length).map((line) => JSON.parse(line).reason)).toEqual([refused, undefined]);
  });

  it("hides what failed and logs where, under one id", async () => {
    data.fail = Object.assign(new Error('duplicate key: select * from x where text = "the contents"'), {
      code: "23505",
    });
    const told = await desk.ask("GET", `${APP}/memories`);
    const id = told.headers.get("memdir-request") as string;
    expect([told.status, told.body.problem]).toEqual([500, "internal"]);
    expect(told.body.message).toContain(id);
    expect(told.text + desk.logged.join()).not.toMatch(/contents|select/);
    const lines = desk.logged.map((line) => JSON.parse(line)).filter((line) => line.id === id);
    expect(lines).toMatchObject([{ failure: "Error", code: "23505" }, { status: 500 }]);
    expect(lines[0].at[0]).toMatch(/^at /);
  });

  it("logs one line for each request, with patterns and ids only", async () => {
    desk.logged.length = 0;
    clock.now = new Date(START);
    await desk.ask("GET", "/v1/teams/acme/search?q=some%20private%20words");
    await put("name-of-a-memory.md");
    await desk.ask("GET", "/nowhere/at/all");
    expect(desk.logged.map((line) => JSON.parse(line))).toMatchObject([
      { method: "GET", route: "/v1/teams/:team/search", status: 200, team: "acme", person: expect.any(String), ms: 0 },
      { method: "PUT", status: 200, time: START },
      { method: "GET", route: "none", status: 404, team: null, person: null },
    ]);
    expect(desk.logged.join()).not.toMatch(/private|name-of-a-memory|nowhere|ann|Bearer/);
  });
});

describe("the description", () => {
  it("describes every route and nothing else", async () => {
    const { body } = await desk.ask("GET", "/openapi.json", { token: null });
    const described = Object.entries(body.paths as Record<string, object>).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const real = ROUTES.map(({ method, path }) => `${method} ${describedPath(path)}`);
    expect(described.sort()).toEqual(real.sort());
    const ids = Object.values(body.paths as Record<string, Record<string, { operationId: string }>>).flatMap(
      (methods) => Object.values(methods).map(({ operationId }) => operationId),
    );
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("describes what is answered: every schema is used, and real answers fit theirs", async () => {
    const { text, body } = await desk.ask("GET", "/openapi.json", { token: null });
    for (const name of Object.keys(body.components.schemas)) expect(text).toContain(`"#/components/schemas/${name}"`);
    await put("a.md");
    const real: Record<string, string> = {
      TeamAnswer: "/v1/teams/acme",
      ListAnswer: `${APP}/memories`,
      VersionsAnswer: `${APP}/versions/a.md`,
      SearchAnswer: "/v1/teams/acme/search?q=releases",
      PeopleAnswer: "/v1/teams/acme/people",
      TokensAnswer: "/v1/teams/acme/tokens",
      AuditAnswer: "/v1/teams/acme/audit",
      ProblemAnswer: "/v1/teams/nobody",
      HealthAnswer: "/health",
    };
    for (const [name, path] of Object.entries(real)) {
      expect([
        name,
        misfits(body.components.schemas, { $ref: `/${name}` }, (await desk.ask("GET", path)).body, name),
      ]).toEqual([name, []]);
    }
  });
});

// biome-ignore lint/suspicious/noExplicitAny: schemas are taken as they come
function misfits(schemas: any, schema: any, value: any, at: string): string[] {
  if (schema.$ref) return misfits(schemas, schemas[schema.$ref.split("/").at(-1)], value, at);
  if (schema.anyOf) {
    // biome-ignore lint/suspicious/noExplicitAny: schemas are taken as they come
    const tried = schema.anyOf.map((one: any) => misfits(schemas, one, value, at));
    return tried.some((found: string[]) => found.length === 0) ? [] : tried[0];
  }
  if (schema.type === "object") {
    if (typeof value !== "object" || value === null) return [`${at} is no object`];
    const known = Object.keys(schema.properties);
    const wrong = Object.keys(value)
      .filter((key) => !known.includes(key))
      .map((key) => `${at}.${key} is not described`);
    for (const key of known) {
      if (key in value) wrong.push(...misfits(schemas, schema.properties[key], value[key], `${at}.${key}`));
      else if (schema.required.includes(key)) wrong.push(`${at}.${key} is missing`);
    }
    return wrong;
  }
  if (schema.type === "array") {
    return Array.isArray(value)
      ? value.flatMap((one, i) => misfits(schemas, schema.items, one, `${at}[${i}]`))
      : [`${at} is no list`];
  }
  if ("const" in schema) return value === schema.const ? [] : [`${at} is not ${schema.const}`];
  if (schema.enum) return schema.enum.includes(value) ? [] : [`${at} is not one of ${schema.enum}`];
  const type =
    value === null ? "null" : Number.isInteger(value) && schema.type === "integer" ? "integer" : typeof value;
  return type === schema.type ? [] : [`${at} is ${type}, not ${schema.type}`];
}
