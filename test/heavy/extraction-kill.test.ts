/** `kill -9` of an extraction that a Stop hook started, at random moments. A failure names its seed. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseMemory } from "../../src/store/memory.ts";
import { DIST, makeStopDesk, type StopDesk } from "../hooks/stop-desk.ts";
import { type ModelServer, startModelServer } from "../model-server/model-server.ts";
import type { Answer, RecordedRequest } from "../model-server/reply.ts";
import { indexProblems, makeRandom } from "./fixtures/heavy.ts";

const SEED = Number(process.env.HEAVY_SEED ?? Math.floor(Math.random() * 1e9));
const KILLS = 60;
const FILES = ["project_one.md", "project_two.md"];

let server: ModelServer;
/** Of the round that is on. */
let current: (request: RecordedRequest) => Answer = () => ({ text: "Done." });
beforeAll(async () => {
  server = await startModelServer();
  server.queue(...Array.from({ length: KILLS * 20 }, () => (request: RecordedRequest) => current(request)));
});
afterAll(() => server.close());

const bodyOf = (file: string) => `${`A line about ${file}.\n`.repeat(400)}END ${file}`;
const noteOf = (file: string) =>
  `---\nname: ${file}\ndescription: About ${file}\ntype: project\nwhen: [later]\nsource: m1\n---\n\n${bodyOf(file)}\n`;

/** A model that sees what is there and reads it first, then writes one memory per turn; the same whatever was before. */
function answerTo(desk: StopDesk, request: RecordedRequest): Answer {
  const { messages } = request.body;
  const [first] = messages;
  const shown = JSON.stringify(first.content);
  const there = FILES.filter((file) => shown.includes(file));
  const tool = (name: string, file: string) => {
    const file_path = path.join(desk.memory, file);
    return { name, input: name === "Read" ? { file_path } : { file_path, content: noteOf(file) } };
  };
  const steps: Answer[] = [
    ...(there.length > 0 ? [{ tools: there.map((file) => tool("Read", file)) }] : []),
    ...FILES.map((file) => ({ tools: [tool("Write", file)] })),
    { text: "Kept two memories." },
  ];
  return { ...(steps[(messages.length - 1) / 2] ?? { text: "Done." }), delayMs: 2 };
}

function start(desk: StopDesk, env: Record<string, string>): ChildProcess {
  const args = [path.join(DIST, "cli.js"), "extract-hook", "--transcript", desk.transcript, "--mark", ""];
  return spawn(process.execPath, args, { env: { ...desk.env, ...env }, cwd: desk.project, stdio: "ignore" });
}

/** What is there, and what is wrong with it. */
function look(desk: StopDesk): { files: string[]; problems: string[] } {
  const files = desk.memories();
  const problems = files.flatMap((file) => {
    const memory = parseMemory(file, fs.readFileSync(path.join(desk.memory, file)));
    const isWhole = memory.problems.length === 0 && memory.body.trim() === bodyOf(memory.name);
    return isWhole ? [] : [`${file} is not whole: ${memory.body.slice(-60)}`];
  });
  return { files, problems };
}

describe("kill -9 of an extraction", () => {
  test(`${KILLS} times: memories are whole, the cursor is before or after, and a second run finishes`, async () => {
    const random = makeRandom(SEED);
    const env = { MEMDIR_MODEL: "anthropic/m", ANTHROPIC_API_KEY: "sk-x", ANTHROPIC_BASE_URL: server.url };
    const seen = { killed: 0, none: 0, some: 0, all: 0, moved: 0 };
    for (let round = 0; round < KILLS; round++) {
      const where = `round ${round}, HEAVY_SEED=${SEED}`;
      const desk = makeStopDesk(round % 2 === 0 ? "disk" : "memory");
      desk.say("no, never use npm here, use pnpm instead, and always deploy from the release branch");
      desk.answer("Understood.");
      // The moment of death: a while after one of the requests, or before any.
      const deadly = Math.floor(random() * 4);
      const delay = random() * (deadly === 0 ? 400 : 60);
      let requests = 0;
      let child: ChildProcess | null = null;
      const killLater = () => setTimeout(() => child?.kill("SIGKILL"), delay);
      current = (request) => {
        if (++requests === deadly) killLater();
        return answerTo(desk, request);
      };
      child = start(desk, env);
      if (deadly === 0) killLater();
      const [, signal] = await once(child, "exit");
      child = null;
      if (signal === "SIGKILL") seen.killed++;

      const after = look(desk);
      expect(after.problems, where).toEqual([]);
      const cursor = desk.cursor();
      if (cursor !== null) expect([after.files.length, cursor.endsWith(".1")], where).toEqual([2, true]);
      seen[after.files.length === 0 ? "none" : after.files.length === 1 ? "some" : "all"]++;
      if (cursor !== null) seen.moved++;

      expect(await desk.extract(env), where).toEqual({ code: 0, signal: null });
      const finished = look(desk);
      expect([finished.files.length, finished.problems], where).toEqual([2, []]);
      expect(desk.cursor(), where).toMatch(/\.1$/);
      expect(indexProblems(desk.memory), where).toEqual([]);
      const asked = server.requests.length;
      await desk.extract(env);
      expect(server.requests.length - asked, where).toBe(0);
      expect(desk.skips().at(-1), where).toContain("nothing is new");
      const left = fs.readdirSync(path.join(desk.memory, ".memdir")).filter((name) => name.startsWith("extract-"));
      expect(left, where).toEqual([]);
      fs.rmSync(desk.top, { recursive: true, force: true });
    }
    console.log(`${JSON.stringify(seen)}, seed ${SEED}`);
    expect(seen.killed).toBeGreaterThan(KILLS / 2);
    expect(Math.min(seen.none, seen.some, seen.all)).toBeGreaterThan(0);
  });
});
