/** `memdir mcp`: the MCP server, on the standard streams or over HTTP on loopback. */

import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { statSync } from "node:fs";
import { processEnv } from "../config.ts";
import { MemdirError } from "../errors.ts";
import type { McpOptions } from "../mcp/server.ts";
import { serveStreams } from "../mcp/stdio.ts";
import type { Call, Run } from "./command.ts";

declare const __MEMDIR_VERSION__: string;

export const run: Run = async (call) => {
  if (call.value("port") !== undefined && !call.flag("http")) {
    throw new MemdirError("usage", "--port goes with --http; without it the server speaks on the standard streams");
  }
  const options = makeOptions(call);
  if (call.flag("http")) return runHttp(call, options);
  // Nothing else may be written there: a warning goes to standard error, where hosts keep it.
  await serveStreams(options, { input: process.stdin, output: process.stdout });
  process.stdin.destroy();
  return 0;
};

async function runHttp(call: Call, options: McpOptions): Promise<number> {
  const given = processEnv().MEMDIR_MCP_TOKEN;
  if (given && !/^[!-~]{16,}$/.test(given)) {
    throw new MemdirError(
      "usage",
      "MEMDIR_MCP_TOKEN needs at least 16 characters and no spaces; leave it out for a random one",
    );
  }
  const token = given || randomBytes(32).toString("base64url");
  // Only the standard streams have a host that waits.
  const { serveHttp } = await import("../mcp/http.ts");
  const server = await serveHttp(options, { port: readPort(call.value("port")), token, newId: randomUUID });
  // Shown once, to whoever started it; one that was given is known.
  if (call.json) call.terminal.json({ url: server.url, ...(given ? {} : { token }) });
  else call.terminal.print(`memdir mcp: ${server.url}${given ? "" : `\nAuthorization: Bearer ${token}`}`);
  await Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
  await server.close();
  return 0;
}

function makeOptions(call: Call): McpOptions {
  const env = processEnv();
  const log = (message: string) => {
    if (env.MEMDIR_DEBUG) call.terminal.warn(`memdir: debug: ${message}`);
  };
  const named = call.value("cwd");
  const told = new Set<string>();
  return {
    async open({ cwd, by, scope = call.value("scope") }) {
      // After the greeting, for which the host waits.
      const { openMemdir } = await import("../open.ts");
      const memdir = await openMemdir({ cwd, env, by, scope, memoryDir: call.value("memory-dir"), log });
      for (const warning of memdir.warnings) {
        if (!told.has(warning)) call.terminal.warn(`memdir: warning: ${warning}`);
        told.add(warning);
      }
      return memdir;
    },
    // Hosts start a server wherever they happen to be.
    cwd: named ?? findFolder(env.CLAUDE_PROJECT_DIR) ?? call.cwd,
    followRoots: named === undefined,
    version: __MEMDIR_VERSION__,
    now: () => new Date(),
    log,
  };
}

function findFolder(path: string | undefined): string | null {
  return path && statSync(path, { throwIfNoEntry: false })?.isDirectory() ? path : null;
}

function readPort(text: string | undefined): number {
  if (text === undefined) return 0;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port >= 0 && port <= 65_535) return port;
  throw new MemdirError("usage", `--port ${JSON.stringify(text)}: a port is a number from 0 to 65535`);
}
