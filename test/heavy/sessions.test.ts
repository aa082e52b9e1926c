/** A session of a gigabyte, as long-running agents leave them: listed, searched and resumed with little memory. */

import { execFile } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, it } from "vitest";
import { BINARY, openSandbox, type Sandbox } from "../cli/run.ts";
import { startModelServer } from "../model-server/model-server.ts";

const GIGABYTE = 1024 ** 3;
const ID = "11111111-0000-4000-8000-000000000000";
/** What a process may take besides what Node itself needs. */
const HEAP_MB = 96;

let box: Sandbox;
beforeAll(() => {
  box = openSandbox("disk");
  const folder = path.dirname(box.dir());
  fs.mkdirSync(folder, { recursive: true });
  writeSession(path.join(folder, `${ID}.jsonl`));
});

it("C26 B1.13 lists and searches a transcript of 1 GB in a small heap", async () => {
  const [listed, found] = [
    JSON.parse(await run(["sessions", "--json"])),
    JSON.parse(await run(["sessions", "search", "needle", "--json"])),
  ];
  expect(listed).toMatchObject([{ id: ID, title: "begin the long work" }]);
  expect(listed[0].bytes).toBeGreaterThan(GIGABYTE);
  expect(found).toMatchObject([{ id: ID, line: expect.stringContaining("the needle is here") }]);
});

it("B1.13 goes on with it", async () => {
  const server = await startModelServer();
  server.queue({ text: "Going on." });
  const env = {
    MEMDIR_MODEL: "anthropic/x",
    ANTHROPIC_API_KEY: "sk-x",
    ANTHROPIC_BASE_URL: server.url,
    MEMDIR_LEARN: "off",
  };
  expect(await run(["chat", "--resume", "1111", "-p", "where were we?"], env)).toBe("Going on.\n");
  expect(JSON.stringify(server.requests[0]?.body.messages)).toContain("the needle is here");
  await server.close();
});

async function run(args: string[], env: Record<string, string> = {}): Promise<string> {
  const all = [`--max-old-space-size=${HEAP_MB}`, BINARY, ...args];
  const { stdout } = await promisify(execFile)(process.execPath, all, { cwd: box.cwd, env: { ...box.env, ...env } });
  return stdout;
}

/** A first part that was compacted away, with results of a megabyte each; then a short conversation. */
function writeSession(file: string): void {
  const fd = fs.openSync(file, "w");
  let number = 0;
  let parent: string | null = null;
  const put = (line: Record<string, unknown>) => {
    const uuid = `22222222-0000-4000-8000-${String(++number).padStart(12, "0")}`;
    const timestamp = new Date(Date.UTC(2026, 0, 1) + number * 1000).toISOString();
    fs.writeSync(
      fd,
      `${JSON.stringify({ parentUuid: parent, sessionId: ID, uuid, timestamp, cwd: box.cwd, ...line })}\n`,
    );
    parent = uuid;
  };
  const user = (content: unknown) => put({ type: "user", message: { role: "user", content } });
  const answer = (content: unknown) =>
    put({ type: "assistant", message: { id: `m${number}`, role: "assistant", content } });
  user("begin the long work");
  const filler = "0123456789abcdef ".repeat(61_681);
  for (let written = 0, i = 0; written <= GIGABYTE; written += filler.length, i++) {
    answer([{ type: "tool_use", id: `t${i}`, name: "Bash", input: { command: "cat log" } }]);
    user([{ type: "tool_result", tool_use_id: `t${i}`, content: filler }]);
  }
  parent = null;
  put({ type: "system", subtype: "compact_boundary", compactMetadata: { trigger: "auto", preTokens: 1 } });
  user("after the summary the needle is here");
  answer([{ type: "text", text: "found it" }]);
  fs.closeSync(fd);
}
