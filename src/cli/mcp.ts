/** `memdir mcp`: the MCP server, on the standard streams or over HTTP on loopback. */

import { randomBytes, randomUUID } from "node:crypto";
import { statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { lazily, MemdirError } from "../errors.ts";
import type { Hooks } from "../hooks/hooks.ts";
import { type McpOptions, serveStreams } from "../mcp/server.ts";
import { block } from "../verb.ts";
import { findInstallation } from "../wiring/machine.ts";
import { answer, type Call, portOf, type Run, untilSignal } from "./command.ts";

declare const __MEMDIR_VERSION__: string;

export const start: Run = async (call) => {
  if (call.value("port") !== undefined && !call.flag("http")) {
    throw new MemdirError("usage", "--port goes with --http; without it the server speaks on the standard streams");
  }
  const options = makeOptions(call);
  if (call.flag("http")) return runHttp(call, options);
  // Many clients send no events.
  const hooks = lazily(async () => {
    const { openHooks } = await import("../hooks/hooks.ts");
    const dist = findInstallation(fileURLToPath(import.meta.url));
    return openHooks({ env: options.env, dist, startedIn: () => options.cwd });
  });
  const answerEvent: Hooks = async (input) => (await hooks())(input);
  // Nothing else may be written there: a warning goes to standard error, where hosts keep it.
  await serveStreams({ ...options, hooks: answerEvent }, { input: process.stdin, output: process.stdout });
  // Nobody waits for vectors, or for what is being prepared. What is written to caches is written at once: the next process goes on with it.
  process.exit(0);
};

async function runHttp(call: Call, options: McpOptions): Promise<number> {
  const given = call.env.MEMDIR_MCP_TOKEN;
  if (given && !/^[!-~]{16,}$/.test(given)) {
    throw new MemdirError(
      "usage",
      "MEMDIR_MCP_TOKEN needs at least 16 characters and no spaces; leave it out for a random one",
    );
  }
  const token = given || randomBytes(32).toString("base64url");
  // Only the standard streams have a host that waits.
  const { serveHttp } = await import("../mcp/http.ts");
  const server = await serveHttp(options, { port: portOf(call) ?? 0, token, newId: randomUUID });
  // Shown once, to whoever started it; one that was given is known.
  const header = given ? [] : [`Authorization: Bearer ${token}`];
  answer(call, { url: server.url, ...(given ? {} : { token }) }, [`memdir mcp: ${server.url}`, ...header].map(block));
  await untilSignal();
  await server.close();
  return 0;
}

function makeOptions(call: Call): McpOptions {
  const { env, now, log } = call;
  const named = call.value("cwd");
  return {
    open: ({ cwd, by, scope = call.value("scope") }) => call.open({ cwd, by, scope }),
    // Hosts start a server wherever they happen to be.
    cwd: named ?? findFolder(env.CLAUDE_PROJECT_DIR) ?? call.cwd,
    followRoots: named === undefined,
    version: __MEMDIR_VERSION__,
    env,
    now,
    log,
  };
}

function findFolder(path: string | undefined): string | null {
  return path && statSync(path, { throwIfNoEntry: false })?.isDirectory() ? path : null;
}
