/** A client for tests that sends exactly the bytes it is told to, over streams in memory. */

import { PassThrough } from "node:stream";
import type { McpOptions } from "../../src/mcp/server.ts";
import { serveStreams } from "../../src/mcp/server.ts";
import type { World } from "../world.ts";

// biome-ignore lint/suspicious/noExplicitAny: answers are looked at as they come
export type Json = any;

export interface Wire {
  /** Bytes as they are. */
  send(text: string | Uint8Array): void;
  /** A request; its answer, result or error. */
  ask(method: string, params?: object): Promise<Json>;
  /** `tools/call`; its result. */
  call(name: string, input?: object): Promise<Json>;
  /** The next message that is no answer to `ask`. */
  next(): Promise<Json>;
  /** Everything that came, line by line. */
  lines: string[];
  input: PassThrough;
  output: PassThrough;
  ended: Promise<void>;
}

export const CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities";
export const INFO_KEY = "io.modelcontextprotocol/clientInfo";
export const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";

export const MODERN = {
  _meta: {
    [VERSION_KEY]: "2026-07-28",
    [CAPABILITIES_KEY]: {},
    [INFO_KEY]: { name: "Modern Client", version: "1" },
  },
};

export function makeMcpOptions(world: World, more: Partial<McpOptions> = {}): McpOptions {
  return {
    open: (asked) => world.open({ ...asked }),
    cwd: world.project,
    followRoots: true,
    version: "1.2.3",
    env: world.env,
    now: () => world.now,
    log: (message) => world.logged.push(message),
    ...more,
  };
}

export function openWire(world: McpOptions): Wire {
  const input = new PassThrough();
  const output = new PassThrough();
  const lines: string[] = [];
  const others: Json[] = [];
  const waiting = new Map<unknown, (answer: Json) => void>();
  const readers: ((message: Json) => void)[] = [];
  let rest = "";
  let id = 0;
  output.setEncoding("utf8").on("data", (text: string) => {
    const parts = (rest + text).split("\n");
    rest = parts.pop() ?? "";
    for (const line of parts) {
      lines.push(line);
      const message = JSON.parse(line);
      const resolve = message.method === undefined ? waiting.get(message.id) : undefined;
      if (resolve) resolve(message);
      else if (readers.length > 0) readers.shift()?.(message);
      else others.push(message);
    }
  });
  const wire: Wire = {
    send: (text) => void input.write(text),
    ask: (method, params) => {
      const mine = `t${++id}`;
      return new Promise((resolve) => {
        waiting.set(mine, resolve);
        wire.send(`${JSON.stringify({ jsonrpc: "2.0", id: mine, method, ...(params && { params }) })}\n`);
      });
    },
    call: async (name, given = {}) => (await wire.ask("tools/call", { name, arguments: given })).result,
    next: async () => others.shift() ?? new Promise((resolve) => readers.push(resolve)),
    lines,
    input,
    output,
    ended: serveStreams(world, { input, output }),
  };
  return wire;
}

/** With the handshake of clients before 2026-07-28 done. */
export async function openLegacyWire(
  world: McpOptions,
  { name = "Test Client", capabilities = {}, version = "2025-06-18" } = {},
): Promise<Wire & { welcome: Json }> {
  const wire = openWire(world);
  const params = { protocolVersion: version, capabilities, clientInfo: { name, version: "1" } };
  const { result } = await wire.ask("initialize", params);
  wire.send('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  return { ...wire, welcome: result };
}
