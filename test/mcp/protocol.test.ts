/** What goes over the wire, in both eras: hand-made bytes in, exact answers out. */
import { once } from "node:events";
import { PassThrough, Writable } from "node:stream";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { serveStreams } from "../../src/mcp/server.ts";
import { until } from "../until.ts";
import { makeWorld, note } from "../world.ts";
import { type Json, MODERN, makeMcpOptions, openLegacyWire, openWire, VERSION_KEY } from "./wire.ts";

const start = () => openLegacyWire(makeMcpOptions(makeWorld()));

describe("before 2026-07-28", () => {
  it.each(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])("shakes hands in %s", async (version) => {
    const { welcome, ask } = await openLegacyWire(makeMcpOptions(makeWorld()), { version });
    expect(welcome).toMatchObject({
      protocolVersion: version,
      serverInfo: { name: "memdir", version: "1.2.3" },
      capabilities: { tools: {}, resources: { subscribe: true, listChanged: true }, prompts: {}, logging: {} },
    });
    expect(welcome.instructions).toContain("recall");
    expect((await ask("tools/list")).result.tools).toHaveLength(7);
  });

  it("offers its own version to a client that asks for one that nobody knows", async () => {
    const { welcome } = await openLegacyWire(makeMcpOptions(makeWorld()), { version: "1999-01-01" });
    expect(welcome.protocolVersion).toBe("2025-11-25");
  });

  it("answers ping and setLevel, and unknown methods with -32601", async () => {
    const { ask } = await start();
    expect((await ask("ping")).result).toEqual({});
    expect((await ask("logging/setLevel", { level: "debug" })).result).toEqual({});
    for (const method of ["sampling/createMessage", "no/such", ""]) {
      expect((await ask(method, { uri: "memory://index" })).error.code).toBe(-32601);
    }
  });

  it("unknown tools and prompts, and params without what they need, are -32602", async () => {
    const { ask } = await start();
    expect((await ask("tools/call", { name: "eat", arguments: {} })).error).toMatchObject({
      code: -32602,
      message: 'there is no tool "eat"; there are: recall, save, read, list, forget, undo, verify',
    });
    expect((await ask("prompts/get", { name: "eat" })).error.code).toBe(-32602);
    expect((await ask("tools/call", {})).error.code).toBe(-32602);
    expect((await ask("tools/call")).error.code).toBe(-32602);
    expect((await ask("tools/call", { name: "list", arguments: [1] })).error.code).toBe(-32602);
    expect((await ask("resources/read", { uri: 7 })).error.code).toBe(-32602);
    expect((await ask("resources/list", { cursor: "none of yours" })).error.code).toBe(-32602);
  });

  it("a notification is never answered, known or not", async () => {
    const wire = await start();
    wire.send('{"jsonrpc":"2.0","method":"notifications/whatever","params":{}}\n');
    wire.send('{"jsonrpc":"2.0","method":"tools/list"}\n');
    const before = wire.lines.length;
    await wire.ask("ping");
    expect(wire.lines.length).toBe(before + 1);
  });

  it("a request that was cancelled is not answered, and the rest goes on", async () => {
    const world = makeWorld();
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const open = async (asked: object) => {
      await held;
      return world.open(asked);
    };
    const wire = await openLegacyWire(makeMcpOptions(world, { open }));
    wire.send('{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{"name":"list"}}\n');
    wire.send('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}}\n');
    await wire.ask("ping");
    release();
    await wire.call("list");
    expect(wire.lines.filter((line) => JSON.parse(line).id === 77)).toEqual([]);
  });

  it("takes the project from the client's first root that is a folder, and asks again when they change", async () => {
    const world = makeWorld();
    const other = makeWorld();
    await (await other.open()).save(note("of the other one"));
    const cwds: string[] = [];
    const open = (asked: { cwd: string }) => {
      cwds.push(asked.cwd);
      return other.open(asked);
    };
    const wire = await openLegacyWire(makeMcpOptions(world, { open }), {
      capabilities: { roots: { listChanged: true } },
    });
    const answerRoots = async (uris: string[]) => {
      const { id, method } = await wire.next();
      expect(method).toBe("roots/list");
      wire.send(`${JSON.stringify({ jsonrpc: "2.0", id, result: { roots: uris.map((uri) => ({ uri })) } })}\n`);
    };
    const asking = wire.call("list");
    await answerRoots(["file:///no/such/folder", `file://${other.project}`]);
    expect((await asking).structuredContent.total).toBe(1);
    await wire.call("list");
    wire.send('{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}\n');
    const again = wire.call("list");
    await answerRoots([]);
    await again;
    expect(cwds).toEqual([other.project, world.project]);
  });

  it("a client that does not tell its roots is served where the process is", async () => {
    const world = makeWorld();
    const wire = await openLegacyWire(makeMcpOptions(world), { capabilities: { roots: {} } });
    const asking = wire.call("list");
    const { id } = await wire.next();
    wire.send(`${JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32603, message: "no" } })}\n`);
    expect((await asking).structuredContent.total).toBe(0);
    const named = await openLegacyWire(makeMcpOptions(world, { followRoots: false }), { capabilities: { roots: {} } });
    expect((await named.call("list")).structuredContent.total).toBe(0);
  });
});

describe("from 2026-07-28 on", () => {
  it("answers server/discover and every request for itself", async () => {
    const world = makeWorld();
    const wire = openWire(makeMcpOptions(world));
    const { result } = await wire.ask("server/discover", MODERN);
    expect(result).toMatchObject({
      supportedVersions: ["2026-07-28"],
      capabilities: { tools: {}, resources: {}, prompts: {} },
      resultType: "complete",
    });
    expect(result.instructions).toContain("recall");
    expect((await wire.ask("tools/list", MODERN)).result.tools).toHaveLength(7);
    const memory = { type: "user", name: "me", description: "d", body: "b", when: ["c"] };
    const saved = (await wire.ask("tools/call", { ...MODERN, name: "save", arguments: memory })).result;
    expect(saved.structuredContent.action).toBe("created");
    expect(world.read("user_me.md")).toContain("source: mcp:modern-client");
    expect((await wire.ask("tools/call", { ...MODERN, name: "eat" })).error.code).toBe(-32602);
    expect((await wire.ask("no/such", MODERN)).error.code).toBe(-32601);
    expect((await wire.ask("resources/read", { ...MODERN, uri: "memory://index" })).result.contents[0].text).toContain(
      "user_me.md",
    );
  });

  it("a client that discovers and then shakes hands is served as before", async () => {
    const wire = openWire(makeMcpOptions(makeWorld()));
    expect((await wire.ask("server/discover", MODERN)).result).toBeDefined();
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "c", version: "1" } };
    expect((await wire.ask("initialize", params)).result.protocolVersion).toBe("2025-11-25");
    expect((await wire.ask("tools/list")).result.tools).toHaveLength(7);
  });

  it("refuses a revision that it does not know, and names those it does", async () => {
    const wire = openWire(makeMcpOptions(makeWorld()));
    const later = { _meta: { ...MODERN._meta, [VERSION_KEY]: "2030-01-01" } };
    const { error } = await wire.ask("tools/list", later);
    expect(error.code).toBe(-32022);
    expect(JSON.stringify(error.data)).toContain("2026-07-28");
  });
});

describe("bytes", () => {
  it("what is no message is answered, and the next one is read", async () => {
    const wire = await start();
    for (const [text, code, id] of [
      ["{", -32700, null],
      ["\u0000\ufffd", -32700, null],
      ["7", -32600, null],
      ["null", -32600, null],
      ["[]", -32600, null],
      ["{}", -32600, null],
      ['{"jsonrpc":"1.0","id":5,"method":"ping"}', -32600, 5],
      ['{"jsonrpc":"2.0","id":6,"method":7}', -32600, 6],
      ['{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600, null],
      ['{"jsonrpc":"2.0","id":8,"method":"ping","params":[]}', -32600, 8],
    ] as const) {
      wire.send(`${text}\n`);
      expect(await wire.next()).toMatchObject({ id, error: { code } });
    }
    wire.send(Buffer.from([0xff, 0xfe, 0x0a]));
    expect((await wire.next()).error.code).toBe(-32700);
    expect((await wire.ask("ping")).result).toEqual({});
  });

  it("lines may come in pieces, with CRLF, empty, or without a break at the end", async () => {
    const wire = await start();
    const ping = Buffer.from('{"jsonrpc":"2.0","id":"ä","method":"ping"}\r\n\r\n\n');
    for (const byte of ping) wire.send(Buffer.from([byte]));
    expect(await wire.next()).toEqual({ jsonrpc: "2.0", id: "ä", result: {} });
    wire.send('{"jsonrpc":"2.0","id":2,"method":"ping"}');
    wire.input.end();
    expect(await wire.next()).toMatchObject({ id: 2, result: {} });
    await wire.ended;
  });

  it("a line without end is passed over", async () => {
    const wire = await start();
    const chunk = Buffer.alloc(1024 * 1024, "x");
    for (let i = 0; i < 18; i++) wire.send(chunk);
    wire.send("\n");
    expect((await wire.next()).error).toMatchObject({ code: -32700 });
    expect((await wire.ask("ping")).result).toEqual({});
  });

  it("a batch is answered as one, without what needs no answer", async () => {
    const wire = await start();
    const ping = (id: number) => ({ jsonrpc: "2.0", id, method: "ping" });
    wire.send(`${JSON.stringify([ping(1), { jsonrpc: "2.0", method: "notifications/x" }, ping(2)])}\n`);
    const answers = await wire.next();
    expect(answers.map(({ id }: Json) => id).sort()).toEqual([1, 2]);
    wire.send(`${JSON.stringify([{ jsonrpc: "2.0", method: "notifications/x" }])}\n`);
    wire.send(`${JSON.stringify([ping(3), 7])}\n`);
    expect(await wire.next()).toMatchObject([
      { id: 3, result: {} },
      { id: null, error: { code: -32600 } },
    ]);
  });

  it("whatever else comes, every request is answered once and the server goes on", async () => {
    const method = fc.constantFrom("tools/call", "resources/read", "prompts/get", "initialize", "server/discover", "x");
    const params = fc.oneof(
      fc.object({ maxDepth: 2 }),
      fc.record({ name: fc.constantFrom("recall", "save", "list", "verify", "dream"), arguments: fc.object() }),
      fc.record({ _meta: fc.object(), uri: fc.string() }),
    );
    const request = fc.record({ jsonrpc: fc.constant("2.0"), id: fc.integer(), method, params });
    const wire = await start();
    let asked = 0;
    await fc.assert(
      fc.asyncProperty(fc.record({ method, params }), fc.oneof(fc.jsonValue(), fc.array(request)), async (one, any) => {
        wire.send(`${JSON.stringify(any)}\n`);
        const answer = await wire.ask(one.method, one.params);
        expect("result" in answer).toBe(!("error" in answer));
        expect((await wire.ask("ping")).result).toEqual({});
        asked += 2;
      }),
      { numRuns: 100 },
    );
    const answered = wire.lines.filter((line) => /"id":"t\d+"/.test(line));
    // The handshake too.
    expect(answered).toHaveLength(asked + 1);
  });

  it("half a character in a memory's name does not break the answer", async () => {
    const wire = await start();
    const result = await wire.call("read", { name: "a\ud800" });
    expect(result.isError).toBe(true);
  });
});

describe("the end", () => {
  it("what was asked for before the input ended is answered", async () => {
    const world = makeWorld();
    const wire = await openLegacyWire(makeMcpOptions(world));
    const saving = wire.call("save", { type: "user", name: "last", description: "d", body: "b" });
    wire.input.end();
    expect((await saving).structuredContent.action).toBe("created");
    await wire.ended;
    expect(world.exists("user_last.md")).toBe(true);
  });

  it("ends at once with nothing asked, with a broken input, and with nobody to read", async () => {
    for (const how of ["end", "destroy", "broken pipe"]) {
      const wire = openWire(makeMcpOptions(makeWorld()));
      if (how === "end") wire.input.end();
      else if (how === "destroy") wire.input.destroy();
      else wire.output.destroy(new Error("EPIPE"));
      await wire.ended;
    }
  });

  it("answers no more while the answers are not read, and still sees the end of its input", async () => {
    const input = new PassThrough();
    const written: string[] = [];
    let read = () => {};
    const write = (chunk: Buffer, _: string, done: () => void) => {
      written.push(chunk.toString());
      read = done;
    };
    const output = new Writable({ highWaterMark: 1, write });
    const ended = serveStreams(makeMcpOptions(makeWorld()), { input, output });
    const ping = (id: number) => input.write(`{"jsonrpc":"2.0","id":${id},"method":"ping"}\n`);
    ping(1);
    await until(() => output.writableNeedDrain);
    for (let id = 2; id < 10; id++) ping(id);
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    // The one that is being written.
    expect(output.writableLength).toBe(written[0]?.length);
    input.end();
    await once(input, "end");
    await until(() => {
      read();
      return written.length === 9;
    });
    const finish = setInterval(() => read());
    await ended;
    clearInterval(finish);
  });
});
