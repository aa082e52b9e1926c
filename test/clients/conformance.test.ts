/** The protocol's own conformance suite over HTTP: the checks that do not ask for the suite's own tools, resources and prompts. */

import { spawn } from "node:child_process";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import { findClient } from "../../scripts/install-clients.mjs";
import { serveHttp } from "../../src/mcp/http.ts";
import { makeMcpOptions } from "../mcp/wire.ts";
import { makeWorld } from "../world.ts";
import { describeClient } from "./client.ts";

const TOKEN = "a-token-for-tests";
const CHECKS = [
  ...["server-initialize", "ping", "logging-set-level", "completion-complete", "tools-list", "resources-list"],
  ...["prompts-list", "server-sse-multiple-streams"],
];
const ends: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** The suite knows no tokens. */
async function openProxy(): Promise<string> {
  const server = await serveHttp(makeMcpOptions(makeWorld()), { port: 0, token: TOKEN, newId: () => "session" });
  ends.push(() => server.close());
  const proxy = http.createServer((incoming, outgoing) => {
    const { host, port, pathname: path } = new URL(server.url);
    const headers = { ...incoming.headers, host, authorization: `Bearer ${TOKEN}` };
    const asked = http.request({ host: "127.0.0.1", port, path, method: incoming.method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    asked.on("error", () => outgoing.destroy());
    incoming.pipe(asked);
  });
  await new Promise<void>((done) => proxy.listen(0, "127.0.0.1", done));
  ends.push(
    () => proxy.closeAllConnections(),
    () => proxy.close(),
  );
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/mcp`;
}

describeClient("conformance", () => {
  it("passes what applies to a server of memories", async () => {
    const { program, args } = findClient("conformance") as NonNullable<ReturnType<typeof findClient>>;
    const child = spawn(program, [...args, "server", "--url", await openProxy(), "--suite", "all"], {
      cwd: makeWorld().project,
    });
    let out = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => {
        out += text;
      });
    await new Promise((done) => child.on("close", done));
    const passed = [...out.matchAll(/^✓ ([\w-]+): [1-9]\d* passed, 0 failed$/gm)].map(([, name]) => name);
    expect(passed).toEqual(expect.arrayContaining(CHECKS));
  });
});
