/** `kill -9` while a background process adds cues, at random moments. A failure names its seed. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openMemdir } from "../../src/open.ts";
import { parseMemory } from "../../src/store/memory.ts";
import { DIST, makeStopDesk, type StopDesk } from "../hooks/stop-desk.ts";
import { type ModelServer, startModelServer } from "../model-server/model-server.ts";
import type { Answer, RecordedRequest } from "../model-server/reply.ts";
import { indexProblems, makeRandom } from "./fixtures/heavy.ts";

const SEED = Number(process.env.HEAVY_SEED ?? Math.floor(Math.random() * 1e9));
const KILLS = 12;
const MEMORIES = 30;
const BATCH = 20;
const CUES = ["a situation", "a symptom"];

let server: ModelServer;
let onCues: () => void = () => {};
beforeAll(async () => {
  server = await startModelServer();
  server.queue(...Array.from({ length: KILLS * 20 }, () => answerTo));
});
afterAll(() => server.close());

function answerTo({ body }: RecordedRequest): Answer {
  if (!JSON.stringify(body.system).includes("write cues")) return { text: "NOTHING TO KEEP" };
  onCues();
  const count = body.messages[0].content[0].text.match(/<note number=/g).length;
  return { text: JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, i) => [i + 1, CUES]))) };
}

function start(desk: StopDesk, env: Record<string, string>): ChildProcess {
  const args = [path.join(DIST, "cli.js"), "extract-hook", "--transcript", desk.transcript, "--mark", ""];
  return spawn(process.execPath, args, { env: { ...desk.env, ...env }, cwd: desk.project, stdio: "ignore" });
}

const textOf = (i: number) => `---\nname: memory ${i}\ndescription: number ${i}\ntype: project\n---\n\nText ${i}.\n`;
const fileOf = (i: number) => `project_memory_${i}.md`;
const cuesText = `when:\n${CUES.map((cue) => `  - ${cue}\n`).join("")}`;

/** How many have cues. All others, and all else of them, are as they were. */
function countCued(desk: StopDesk, where: string): number {
  let cued = 0;
  for (let i = 0; i < MEMORIES; i++) {
    const text = fs.readFileSync(path.join(desk.memory, fileOf(i)), "utf8");
    const { when } = parseMemory(fileOf(i), text);
    expect(when.length === 0 || when.length === CUES.length, `${where}: ${text}`).toBe(true);
    expect(text.replace(cuesText, ""), where).toBe(textOf(i));
    cued += Number(when.length > 0);
  }
  return cued;
}

test(`${KILLS} times: a batch is there or not, the next runs finish it, nothing is done twice, undo restores all`, async () => {
  const random = makeRandom(SEED);
  const env = { MEMDIR_MODEL: "anthropic/m", ANTHROPIC_API_KEY: "sk-x", ANTHROPIC_BASE_URL: server.url };
  const seen = { killed: 0, none: 0, some: 0 };
  for (let round = 0; round < KILLS; round++) {
    const where = `round ${round}, HEAVY_SEED=${SEED}`;
    const desk = makeStopDesk(round % 2 === 0 ? "disk" : "memory");
    for (let i = 0; i < MEMORIES; i++) fs.writeFileSync(path.join(desk.memory, fileOf(i)), textOf(i));
    desk.say("what does the build do?");
    desk.answer("It builds.");
    let child: ChildProcess | null = null;
    // While the answer arrives, or a moment after the journal begins: in the middle of the change, or behind it.
    const [early, late] = [random() * 80, random() * 150];
    const journal = path.join(desk.memory, ".memdir", "journal.jsonl");
    const hasBegun = () => fs.existsSync(journal) && fs.readFileSync(journal, "utf8").includes("cues for");
    const look = setInterval(() => void (hasBegun() && killIn(late)), 1);
    const killIn = (ms: number) => {
      clearInterval(look);
      setTimeout(() => child?.kill("SIGKILL"), ms);
    };
    onCues = () => void (round % 4 === 0 && killIn(early));
    child = start(desk, env);
    const [, signal] = await once(child, "exit");
    clearInterval(look);
    onCues = () => {};
    child = null;
    if (signal === "SIGKILL") seen.killed++;
    // Opening recovers what the killed process left half done.
    const memdir = await openMemdir({ cwd: desk.project, env: desk.env });
    await memdir.directories[0]?.change(() => {});
    const cued = countCued(desk, where);
    expect([0, BATCH], where).toContain(cued);
    seen[cued === 0 ? "none" : "some"]++;

    for (let left = 3; left > 0 && countCued(desk, where) < MEMORIES; left--)
      expect(await desk.extract(env), where).toEqual({ code: 0, signal: null });
    expect(countCued(desk, where), where).toBe(MEMORIES);
    const asked = server.requests.length;
    await desk.extract(env);
    expect(server.requests.length - asked, where).toBe(0);
    expect(indexProblems(desk.memory), where).toEqual([]);
    expect(fs.readdirSync(path.join(desk.memory, ".memdir")), where).not.toContain("cues.lock");
    await memdir.undo();
    await memdir.undo();
    expect(countCued(desk, where), where).toBe(0);
    fs.rmSync(desk.top, { recursive: true, force: true });
  }
  console.log(`${JSON.stringify(seen)}, seed ${SEED}`);
  expect(seen.killed).toBeGreaterThan(KILLS / 2);
});
