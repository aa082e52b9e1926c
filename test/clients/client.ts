/** A real client as a person would start it: a home of its own, a small project, the loopback model server instead of a model. */

import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { findClient, isRequired } from "../../scripts/install-clients.mjs";
import { openSandbox, type Ran, type Sandbox } from "../cli/run.ts";
import { type ModelServer, startModelServer } from "../model-server/model-server.ts";
import type { RecordedRequest } from "../model-server/reply.ts";

export interface Desk extends Sandbox {
  server: ModelServer;
  /** Runs the client in the project until it ends; it must end with 0. */
  start(args: string[], env?: Record<string, string>): Promise<Ran>;
  /** What the model was asked in the conversation itself; titles and the like are left out. */
  asked(): RecordedRequest[];
}

/** Far more than any of them takes: the slowest, on a busy machine, took a tenth of it. */
const MAX_RUN_MS = 150_000;

const MAX_WAIT_MS = 60_000;

/** Nothing but loopback can be reached: a client that asks somewhere else is refused at once, instead of being slow or lucky. */
export const NO_NETWORK = {
  HTTP_PROXY: "http://127.0.0.1:9",
  HTTPS_PROXY: "http://127.0.0.1:9",
  http_proxy: "http://127.0.0.1:9",
  https_proxy: "http://127.0.0.1:9",
  NO_PROXY: "127.0.0.1,localhost",
  no_proxy: "127.0.0.1,localhost",
  // OpenCode wants to install a package at its start, and would try again and again.
  npm_config_offline: "true",
};

export const NOT_LEARNING = { MEMDIR_LEARN: "off" };

const ends: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** Tests of one client: skipped where it could not be installed, except where it must be there. */
export function describeClient(name: string, tests: () => void): void {
  if (findClient(name)) {
    describe(name, tests);
  } else if (isRequired()) {
    it(`${name} is installed`, () => expect.fail("it is not; `node scripts/install-clients.mjs` installs it"));
  } else {
    describe.skip(`${name} (not installed: node scripts/install-clients.mjs)`, tests);
  }
}

/**
 * `learns`: whether a turn's end starts the process that keeps what was said, which outlives client and test. `isModel`: the client is
 * the model, so that a request without tools is the question itself.
 */
export async function openDesk(name: string, { learns = false, isModel = false } = {}): Promise<Desk> {
  const sandbox = openSandbox("disk");
  // A request without tools is no part of the conversation: the client wants a title, or a word on how it went.
  const isAside = ({ body }: RecordedRequest) => !body?.tools?.length;
  const server = await startModelServer({
    aside: (request) => (isAside(request) && !isModel ? { text: "A title" } : null),
  });
  ends.push(() => server.close());
  return {
    ...sandbox,
    server,
    async start(args, more = {}) {
      const env = { ...sandbox.env, ...NO_NETWORK, ...(learns ? {} : NOT_LEARNING), ...more };
      const ran = await runClient(name, args, sandbox.cwd, env);
      expect(ran.code, `${name} said:\n${ran.out}\n${ran.err}\nand asked ${summary(server.requests)}`).toBe(0);
      return ran;
    },
    asked: () => server.requests.filter((request) => !isAside(request)),
  };
}

/** Waits for what a process does that nobody waits for. */
export async function until(holds: () => boolean | Promise<boolean>, what: () => string): Promise<void> {
  const deadline = Date.now() + MAX_WAIT_MS;
  while (!(await holds())) {
    if (Date.now() > deadline) expect.fail(`waited ${MAX_WAIT_MS} ms for ${what()}`);
    await sleep(100);
  }
}

/** Never rejects. Whatever the client started and left behind ends with it. */
function runClient(name: string, args: string[], cwd: string, env: Record<string, string>): Promise<Ran> {
  const client = findClient(name);
  if (!client) return Promise.resolve({ code: -1, out: "", err: "not installed" });
  const detached = process.platform !== "win32";
  const child = spawn(client.program, [...client.args, ...args], { cwd, env, detached, stdio: "pipe" });
  let isOver = false;
  const end = () => {
    if (isOver) return;
    isOver = true;
    try {
      if (detached && child.pid) process.kill(-child.pid, "SIGKILL");
      else child.kill("SIGKILL");
    } catch {
      // All of them are gone.
    }
  };
  ends.push(end);
  const [out, err]: [Buffer[], Buffer[]] = [[], []];
  child.stdout.on("data", (data) => out.push(data));
  child.stderr.on("data", (data) => err.push(data));
  child.stdin.on("error", () => {});
  child.stdin.end();
  const timer = setTimeout(end, MAX_RUN_MS);
  return new Promise((resolve) => {
    const settle = (code: number) => {
      clearTimeout(timer);
      end();
      resolve({ code, out: Buffer.concat(out).toString(), err: Buffer.concat(err).toString() });
    };
    child.on("error", (error) => {
      err.push(Buffer.from(error.message));
      settle(-1);
    });
    child.on("close", (code) => settle(code ?? -1));
  });
}

/** Waits for the last thing that an extraction writes: until then nothing may be removed under it. */
export async function untilExtracted(desk: Desk): Promise<void> {
  const cursors = path.join(desk.dir(), ".memdir", "cursors");
  const ledger = path.join(desk.dir(), ".memdir", "ledger.jsonl");
  const reasons = () => (fs.existsSync(ledger) ? fs.readFileSync(ledger, "utf8") : "no ledger");
  const isOver = () => fs.existsSync(cursors) && fs.readdirSync(cursors).length > 0;
  await until(isOver, () => `the end of an extraction; ${reasons()}`);
}

/** How often a request holds a text. A number, so that a failing test does not print all that the client told its model. */
export function countIn(request: RecordedRequest | undefined, text: string): number {
  return (request?.raw.split(JSON.stringify(text).slice(1, -1)).length ?? 1) - 1;
}

function summary(requests: RecordedRequest[]): string {
  return (
    requests.map(({ method, path, raw }) => `${method} ${path} (${raw.length} characters)`).join(", ") || "nothing"
  );
}
