import http from "node:http";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterEach, describe, expect, it } from "vitest";
import { type HttpServer, serveHttp } from "../../src/mcp/http.ts";
import { until } from "../until.ts";
import { errorOf, makeWorld, note, type World } from "../world.ts";
import { type Json, MODERN, makeMcpOptions } from "./wire.ts";

const TOKEN = "a-token-for-tests";
const running: { close(): Promise<unknown> }[] = [];

afterEach(async () => {
  for (const one of running.splice(0).reverse()) await one.close();
});

async function start(world: World = makeWorld()): Promise<{ world: World; server: HttpServer }> {
  let id = 0;
  const server = await serveHttp(makeMcpOptions(world), { port: 0, token: TOKEN, newId: () => `session-${++id}` });
  running.push(server);
  return { world, server };
}

interface Answer {
  status: number;
  headers: http.IncomingHttpHeaders;
  body: Json;
}

/** By hand, since fetch does not let a test lie about its host. */
function post(url: string, body: unknown, headers: Record<string, string> = {}, method = "POST"): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const all = {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      authorization: `Bearer ${TOKEN}`,
      ...headers,
    };
    const kept = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ""));
    const request = http.request(url, { method, headers: kept }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part) => {
        text += part;
      });
      response.on("end", () => {
        const isJson = response.headers["content-type"]?.includes("json") && text !== "";
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: isJson ? JSON.parse(text) : text,
        });
      });
    });
    request.on("error", reject);
    request.end(typeof body === "string" || body === undefined ? body : JSON.stringify(body));
  });
}

const HELLO = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "Web Client", version: "1" } },
};
const LIST = { jsonrpc: "2.0", id: 2, method: "tools/list" };

async function connect(server: HttpServer, mode: "legacy" | "auto"): Promise<Client> {
  const client = new Client({ name: "official", version: "1" }, { versionNegotiation: { mode } });
  const headers = { authorization: `Bearer ${TOKEN}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(server.url), { requestInit: { headers } }));
  running.push(client);
  return client;
}

describe("the official client over HTTP", () => {
  it("hears of changes on a stream", async () => {
    const { world, server } = await start();
    const client = await connect(server, "auto");
    const heard: string[] = [];
    client.setNotificationHandler("notifications/resources/list_changed", () => void heard.push("list"));
    client.setNotificationHandler("notifications/resources/updated", ({ params }) => void heard.push(params.uri));
    const uri = "memory://project/user_my_role.md";
    const stream = await client.listen({ resourcesListChanged: true, resourceSubscriptions: [uri] });
    await (await world.open()).save(note("my role"));
    await until(() => heard.length >= 2);
    expect(heard.sort()).toEqual(["list", uri]);
    await stream.close();
  });

  it.each(["legacy", "auto"] as const)("lists, saves, recalls and reads (%s)", async (mode) => {
    const { world, server } = await start();
    const client = await connect(server, mode);
    expect((await client.listTools()).tools).toHaveLength(7);
    const memory = { type: "user", name: "role", description: "what they do", body: "Runs databases.", when: ["sql"] };
    const saved = await client.callTool({ name: "save", arguments: memory });
    expect(saved.structuredContent).toMatchObject({ action: "created" });
    expect(world.read("user_role.md")).toContain("source: mcp:official");
    const found = await client.callTool({ name: "recall", arguments: { prompt: "who runs the databases?" } });
    expect(JSON.stringify(found.content)).toContain("Runs databases.");
    const { contents } = await client.readResource({ uri: "memory://project/user_role.md" });
    expect(JSON.stringify(contents)).toContain("Runs databases.");
    expect((await client.listPrompts()).prompts).toHaveLength(6);
    await expect(client.callTool({ name: "eat", arguments: {} })).rejects.toThrow(/there is no tool "eat"/);
    expect((await client.callTool({ name: "read", arguments: { name: "nobody" } })).isError).toBe(true);
  });

  it("serves two clients at once", async () => {
    const { world, server } = await start();
    const clients = await Promise.all([connect(server, "legacy"), connect(server, "auto")]);
    const saves = clients.flatMap((client, c) =>
      Array.from({ length: 5 }, (_, i) => {
        const memory = { type: "project", name: `from ${c} number ${i}`, description: "d", body: "b", when: ["w"] };
        return client.callTool({ name: "save", arguments: memory });
      }),
    );
    for (const saved of await Promise.all(saves)) expect(saved.structuredContent).toMatchObject({ action: "created" });
    expect(world.files().filter((file) => file !== "MEMORY.md")).toHaveLength(10);
  });
});

describe("who is let in", () => {
  it.each([
    ["no token", { authorization: "" }, 401],
    ["another token", { authorization: "Bearer other" }, 401],
    ["another way", { authorization: `Basic ${TOKEN}` }, 401],
    ["more than the token", { authorization: `Bearer ${TOKEN}x` }, 401],
    ["another host, as after DNS rebinding", { host: "evil.invalid" }, 403],
    ["a page of another origin", { origin: "https://evil.invalid" }, 403],
    ["an origin that is none", { origin: "null" }, 403],
    ["a form", { "content-type": "text/plain" }, 415],
    ["nothing about its content", { "content-type": "" }, 415],
  ])("%s", async (_, headers, status) => {
    const { server } = await start();
    const answer = await post(server.url, HELLO, headers as Record<string, string>);
    expect(answer.status).toBe(status);
    expect(JSON.stringify(answer)).not.toContain(TOKEN);
    expect(answer.headers["mcp-session-id"]).toBeUndefined();
  });

  it("its own origin may come", async () => {
    const { server } = await start();
    expect((await post(server.url, HELLO, { origin: "http://localhost:3000" })).status).toBe(200);
  });

  it("other paths and methods are not there", async () => {
    const { server } = await start();
    expect((await post(server.url.replace("/mcp", "/"), HELLO)).status).toBe(404);
    for (const method of ["GET", "PUT", "OPTIONS"]) {
      const answer = await post(server.url, undefined, {}, method);
      expect(answer.status).toBe(405);
      expect(answer.headers.allow).toBe("POST, DELETE");
    }
  });

  it("listens on loopback only", async () => {
    const { server } = await start();
    expect(new URL(server.url).hostname).toBe("127.0.0.1");
  });
});

describe("messages", () => {
  it("a session lasts from initialize to DELETE", async () => {
    const { server } = await start();
    const hello = await post(server.url, HELLO);
    expect(hello.body.result.serverInfo.name).toBe("memdir");
    const session = { "mcp-session-id": String(hello.headers["mcp-session-id"]) };
    expect((await post(server.url, { jsonrpc: "2.0", method: "notifications/initialized" }, session)).status).toBe(202);
    expect((await post(server.url, LIST, session)).body.result.tools).toHaveLength(7);
    expect((await post(server.url, undefined, session, "DELETE")).status).toBe(200);
    expect((await post(server.url, LIST, session)).status).toBe(404);
    expect((await post(server.url, LIST, { "mcp-session-id": "guessed" })).status).toBe(404);
    expect((await post(server.url, undefined, {}, "DELETE")).status).toBe(400);
  });

  it("without a session there is nothing to ask for, except in the modern way", async () => {
    const { server } = await start();
    expect((await post(server.url, LIST)).status).toBe(400);
    const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list" };
    const answer = await post(server.url, { ...LIST, params: MODERN }, headers);
    expect(answer.body.result.tools).toHaveLength(7);
  });

  it("a later client's headers say what its message says", async () => {
    const { world, server } = await start();
    const read = {
      jsonrpc: "2.0",
      id: 3,
      method: "resources/read",
      params: { ...MODERN, uri: "memory://project/ä.md" },
    };
    world.write("ä.md", "---\nname: a\ntype: user\n---\n\nUmlaut.\n");
    const uri = encodeURI("memory://project/ä.md");
    const message = { ...read, params: { ...MODERN, uri } };
    const good = { "mcp-protocol-version": "2026-07-28", "mcp-method": "resources/read", "mcp-name": uri };
    expect((await post(server.url, message, good)).body.result.contents[0].text).toContain("Umlaut.");
    const encoded = `=?base64?${Buffer.from(uri).toString("base64")}?=`;
    expect((await post(server.url, message, { ...good, "mcp-name": encoded })).status).toBe(200);
    for (const wrong of [
      { "mcp-method": "tools/call" },
      { "mcp-method": "" },
      { "mcp-name": "memory://index" },
      { "mcp-name": "" },
      { "mcp-protocol-version": "2025-11-25" },
      { "mcp-protocol-version": "" },
    ]) {
      const answer = await post(server.url, message, { ...good, ...wrong });
      expect(answer).toMatchObject({ status: 400, body: { id: 3, error: { code: -32020 } } });
    }
    const silent = { ...LIST, params: {} };
    const named = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list" };
    expect(await post(server.url, silent, named)).toMatchObject({ status: 400, body: { error: { code: -32602 } } });
    const unknown = { jsonrpc: "2.0", id: 4, method: "no/such", params: MODERN };
    expect(await post(server.url, unknown, { ...named, "mcp-method": "no/such" })).toMatchObject({ status: 404 });
    expect((await post(server.url, [message], good)).status).toBe(400);
    const told = { jsonrpc: "2.0", method: "notifications/cancelled", params: { ...MODERN, requestId: 1 } };
    expect((await post(server.url, told, named)).status).toBe(202);
  });

  it("an earlier client may send batches, and names a version that there is", async () => {
    const { server } = await start();
    const session = { "mcp-session-id": String((await post(server.url, HELLO)).headers["mcp-session-id"]) };
    const { body } = await post(server.url, [LIST, { jsonrpc: "2.0", id: 9, method: "ping" }], session);
    expect(body.map(({ id }: Json) => id)).toEqual([2, 9]);
    const quiet = [{ jsonrpc: "2.0", method: "notifications/x" }];
    expect((await post(server.url, quiet, session)).status).toBe(202);
    for (const [version, status] of [
      ["2025-06-18", 200],
      ["1999-01-01", 400],
      ["x", 400],
    ] as const) {
      expect((await post(server.url, LIST, { ...session, "mcp-protocol-version": version })).status).toBe(status);
    }
  });

  it("the session that was idle longest gives way", async () => {
    const { server } = await start();
    const first = String((await post(server.url, HELLO)).headers["mcp-session-id"]);
    for (let i = 0; i < 64; i++) await post(server.url, HELLO);
    expect((await post(server.url, LIST, { "mcp-session-id": first })).status).toBe(404);
    expect((await post(server.url, LIST, { "mcp-session-id": "session-65" })).status).toBe(200);
  });

  it("what is no message is refused, and the server goes on", async () => {
    const { server } = await start();
    expect(await post(server.url, "{")).toMatchObject({ status: 400, body: { error: { code: -32700 } } });
    for (const body of ["", "7", "[]", "{}", '"x"', "null"]) {
      expect((await post(server.url, body)).status).toBe(400);
    }
    const huge = await post(server.url, `"${"x".repeat(5 * 1024 * 1024)}"`).catch(() => ({ status: 413 }));
    expect(huge.status).toBe(413);
    expect((await post(server.url, HELLO)).status).toBe(200);
  });

  it("a port that is taken is said with what to do", async () => {
    const { world, server } = await start();
    const port = Number(new URL(server.url).port);
    const error = await errorOf(serveHttp(makeMcpOptions(world), { port, token: TOKEN, newId: () => "x" }));
    expect(error.message).toMatch(/EADDRINUSE.*--port/);
  });
});
