/** `memdir extract --since` through the binary: sessions of Claude Code and Codex, by rules and by a model on loopback. */

import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { BINARY, expectError, openSandbox, type Sandbox } from "../cli/run.ts";
import { type ModelServer, startModelServer } from "../model-server/model-server.ts";
import { answered, opening, putRollout, textOfLines, typed } from "../session/rollouts.ts";
import { uuid } from "../session/transcripts.ts";

const HOUR = 3_600_000;

/** As Claude Code leaves it, in the project's folder; times are by the clock, as the binary's are. */
function putClaude(box: Sandbox, number: number, ageHours: number, ...turns: [string, string][]): string {
  let parentUuid: string | null = null;
  const lines = turns.flatMap(([said, answer], i) => {
    const more = { sessionId: uuid(number), cwd: box.cwd, timestamp: `2026-03-10T12:0${i}:00.000Z` };
    const [one, two] = [`u${i}`, `a${i}`];
    const user = { type: "user", uuid: one, parentUuid, ...more, message: { role: "user", content: said } };
    parentUuid = two;
    const message = { id: `m${i}`, role: "assistant", content: [{ type: "text", text: answer }] };
    return [user, { type: "assistant", uuid: two, parentUuid: one, ...more, message }];
  });
  return putRollout(path.join(box.dir(), "..", `${uuid(number)}.jsonl`), lines, hoursAgo(ageHours));
}

function putCodex(box: Sandbox, number: number, ageHours: number, cwd: string, ...turns: [string, string][]): string {
  const file = path.join(box.home, ".codex", "sessions", "2026", "03", "10", `rollout-${uuid(number)}.jsonl`);
  const lines = turns.flatMap(([said, answer]) => [...typed(said), answered(answer)]);
  return putRollout(file, [...opening(cwd, { id: uuid(number) }), ...lines], hoursAgo(ageHours));
}

function hoursAgo(hours: number): Date {
  return new Date(Date.now() - hours * HOUR);
}

const PNPM: [string, string] = ["remember: don't use npm here, use pnpm instead", "Understood."];
const FREEZE: [string, string] = ["remember that the freeze starts on 2026-04-01", "Noted."];
const TASK: [string, string] = ["fix the failing test please", "Done."];

/** Which session, and what became of it. */
const rowsOf = ({ sessions }: { sessions: { id: string; agent: string; messages: number; saved: unknown[] }[] }) =>
  sessions.map(({ id, agent, messages, saved }) => [agent, id.slice(-1), messages, saved.length]);

describe("without a model", () => {
  it("looks through both agents' sessions of this project, oldest first, each message once", async () => {
    const box = openSandbox();
    putClaude(box, 1, 50, TASK, PNPM);
    const rollout = putCodex(box, 2, 30, box.cwd, FREEZE);
    putClaude(box, 3, 24 * 30, ["remember that the demo is on 2026-05-01", "Noted."]);
    for (const [i, cwd] of [
      box.at("elsewhere"),
      "C:\\work",
      ".",
      "",
      "/\0",
      box.repository("project/vendor"),
    ].entries()) {
      putCodex(box, 10 + i, 1, cwd, ["remember that the audit is on 2026-06-01", "Noted."]);
    }
    const first = await box.json(["extract", "--since", "7d"]);
    expect(rowsOf(first)).toEqual([
      ["claude", "1", 4, 1],
      ["codex", "2", 3, 1],
    ]);
    expect(first).toMatchObject({ saved: 2, left: 0, usage: { input: 0 } });
    const rows = await box.json(["list"]);
    expect(rows.map(({ type }: { type: string }) => type).sort()).toEqual(["feedback", "project"]);
    const memory = await box.json(["show", rows.find(({ type }: { type: string }) => type === "project").file]);
    expect(JSON.stringify(memory.metadata.source)).toContain(uuid(2));

    const again = await box.run(["extract", "--since", "7d"]);
    expect(again).toEqual({ code: 0, err: "", out: "Nothing new in 2 sessions.\n" });
    fs.appendFileSync(rollout, textOfLines([...typed("remember that the demo is on 2026-05-01"), answered("Noted.")]));
    expect(rowsOf(await box.json(["extract", "--since", "2w", "--agent", "codex"]))).toEqual([["codex", "2", 2, 1]]);
    const older = await box.run(["extract", "--since", "2020-01-01", "--agent", "claude"]);
    expect(older.out).toContain("1 session with something new; 0 memories kept.");
  });

  it("says what it would look at, and writes nothing", async () => {
    const box = openSandbox();
    putClaude(box, 1, 2, PNPM, TASK);
    const codex = putCodex(box, 2, 1, box.cwd, FREEZE);
    const before = box.tree();
    const trial = await box.json(["extract", "--since", "24h", "--dry-run"]);
    expect(rowsOf(trial)).toEqual([
      ["claude", "1", 4, 0],
      ["codex", "2", 3, 0],
    ]);
    expect(trial).toMatchObject({ saved: 0, left: 2 });
    const said = await box.run(["extract", "--since", "24h", "--dry-run"]);
    expect(said.out).toMatch(/^claude +00000000 +4 new messages\n.*2 sessions would be read\.\n$/s);
    expect(await box.json(["extract", "--transcript", codex, "--dry-run"])).toMatchObject({
      agent: "codex",
      messages: 3,
    });
    expect(box.tree()).toEqual(before);
    expect((await box.run(["extract", "--since", "1h", "--agent", "claude"])).out).toMatch(/^No sessions .* 1h\.\n$/);
  });

  it("CODEX_HOME moves Codex's sessions; --transcript takes one of them", async () => {
    const box = openSandbox();
    const file = putCodex(box, 1, 1, path.join(box.cwd, "packages", "api"), FREEZE);
    fs.renameSync(path.join(box.home, ".codex"), box.at("codex home"));
    const env = { CODEX_HOME: box.at("codex home") };
    expect(rowsOf(await box.json(["extract", "--since", "24h"]))).toEqual([]);
    expect(rowsOf(await box.json(["extract", "--since", "24h", "--dry-run"], { env }))).toEqual([["codex", "1", 3, 0]]);
    const moved = file.replace(path.join(box.home, ".codex"), box.at("codex home"));
    const done = await box.json(["extract", "--transcript", moved]);
    expect(done).toMatchObject({ saved: [{ action: "saved" }], skipped: null });
    expect(rowsOf(await box.json(["extract", "--since", "24h"], { env }))).toEqual([["codex", "1", 0, 0]]);
  });

  it("off means off: no session is looked through, nothing is written", async () => {
    const box = openSandbox();
    putClaude(box, 1, 1, FREEZE);
    for (const mode of ["off", "read-only"]) {
      const ran = await box.run(["extract", "--since", "7d"], { env: { MEMDIR_LEARN: mode } });
      const err = `memdir: warning: nothing was done: learning is ${mode} here (learn.mode)\n`;
      expect(ran).toEqual({ code: 0, out: "", err });
    }
    expect(fs.existsSync(box.dir())).toBe(false);
  });

  it("AGENTS.md in a rollout is not what the user said", async () => {
    const box = openSandbox();
    putCodex(box, 1, 1, box.cwd, TASK);
    expect(await box.json(["extract", "--since", "24h"])).toMatchObject({ saved: 0, left: 0 });
  });

  it("a broken transcript is a warning, and the others are looked through", async () => {
    const box = openSandbox();
    putRollout(path.join(box.dir(), "..", `${uuid(1)}.jsonl`), ["garbage", '{"type":'], hoursAgo(3));
    const unreadable = putClaude(box, 2, 2, PNPM);
    putClaude(box, 3, 1, FREEZE);
    fs.chmodSync(unreadable, 0);
    const ran = await box.run(["extract", "--since", "24h", "--json"]);
    expect(ran.code).toBe(0);
    expect(ran.err).toMatch(/^memdir: warning: .*0001\.jsonl: 2 lines cannot be read; left out\n/);
    // Root reads everything.
    const isRoot = process.getuid?.() === 0 || process.platform === "win32";
    if (!isRoot) expect(ran.err).toMatch(/0002\.jsonl is skipped: cannot read/);
    expect(JSON.parse(ran.out)).toMatchObject({ saved: isRoot ? 2 : 1, left: 0 });
  });

  it("says how it is called", async () => {
    const box = openSandbox();
    const call = (...args: string[]) => box.run(["extract", ...args]);
    for (const since of ["soon", "7", "7y", "2026-02-30", "", "-1d"]) {
      expectError(await call(`--since=${since}`), 2, /24h, 7d, 2w or 2026-11-01/);
    }
    expectError(await call("--since", "7d", "--agent", "cursor"), 2, /claude, codex, gemini, not "cursor"/);
    expectError(await call("--since", "7d", "--transcript", "x"), 2, /--transcript FILE, or --since/);
  });
});

describe("with a model", () => {
  async function open(): Promise<{ box: Sandbox; server: ModelServer; env: Record<string, string> }> {
    const box = openSandbox();
    const server = await startModelServer();
    onTestFinished(() => server.close());
    return {
      box,
      server,
      env: { MEMDIR_MODEL: "anthropic/m", ANTHROPIC_API_KEY: "sk-x", ANTHROPIC_BASE_URL: server.url },
    };
  }

  const nothing = { text: "NOTHING TO KEEP", usage: { input: 90, output: 10 } };

  function keep(box: Sandbox, name: string, body: string) {
    const content = `---\nname: ${name}\ndescription: About ${name}\ntype: feedback\nsource: m1\n---\n\n${body}\n`;
    return {
      tools: [{ name: "Write", input: { file_path: path.join(box.dir(), `feedback_${name}.md`), content } }],
      usage: { input: 90, output: 10 },
    };
  }

  it("each session is asked about on its own, and nobody is said to have asked for it", async () => {
    const { box, server, env } = await open();
    putClaude(box, 1, 2, PNPM);
    putCodex(box, 2, 1, box.cwd, ["we deploy from release, never from main", "I will."]);
    server.queue(nothing, keep(box, "deploy", "Deploy from release, never from main."), { text: "Kept one." });
    const done = await box.json(["extract", "--since", "24h"], { env });
    expect(rowsOf(done)).toEqual([
      ["claude", "1", 2, 0],
      ["codex", "2", 3, 1],
    ]);
    expect(done).toMatchObject({ saved: 1, left: 0, usage: { input: expect.any(Number) } });
    expect(done.usage.input).toBeGreaterThanOrEqual(180);
    expect(server.requests[0]!.raw).not.toContain("asked for something to be remembered");
    expect(server.requests[1]!.raw).not.toContain("AGENTS.md");
    const { entries } = await box.json(["ledger"]);
    expect(entries.map(({ session }: { session: string }) => session)).toEqual([uuid(1), uuid(2)]);
    expect(rowsOf(await box.json(["extract", "--since", "24h"], { env }))).toEqual([
      ["claude", "1", 0, 0],
      ["codex", "2", 0, 0],
    ]);
    expect(server.requests).toHaveLength(3);
  });

  it("stops when the day's budget is used up, and goes on where it stopped", async () => {
    const { box, server, env } = await open();
    for (const number of [1, 2, 3]) putClaude(box, number, 4 - number, PNPM);
    const limit = (tokensPerDay: number) => box.put("home/.claude/memdir.json", { learn: { tokensPerDay } });
    limit(150);
    server.queue(nothing, nothing);
    const ran = await box.run(["extract", "--since", "24h", "--json"], { env });
    expect(ran.code).toBe(0);
    expect(ran.err).toMatch(
      /^memdir: warning: the daily budget is used up: 200 of 150 .*; 1 session left; run the same again tomorrow\n$/,
    );
    expect(JSON.parse(ran.out)).toMatchObject({ left: 1, saved: 0, usage: { input: 180 } });
    limit(1000);
    server.queue(nothing);
    const next = await box.json(["extract", "--since", "24h"], { env });
    expect(next).toMatchObject({ left: 0 });
    expect(rowsOf(next).map(([, , messages]) => messages)).toEqual([0, 0, 2]);
    expect(server.requests).toHaveLength(3);
  });

  it("the limit per session holds for each", async () => {
    const { box, server, env } = await open();
    box.put("home/.claude/memdir.json", { learn: { tokensPerSession: 50 } });
    const file = putClaude(box, 1, 2, PNPM);
    putClaude(box, 2, 1, PNPM);
    server.queue(nothing, nothing);
    expect(await box.json(["extract", "--since", "24h"], { env })).toMatchObject({ left: 0 });
    putClaude(box, 1, 0, PNPM, FREEZE);
    fs.utimesSync(file, new Date(), new Date());
    const again = await box.json(["extract", "--since", "24h"], { env });
    expect(again.sessions.at(-1).skipped).toMatch(/^the session's budget is used up/);
    expect(server.requests).toHaveLength(2);
  });

  it("a model that does not work is not asked for every session", async () => {
    const { box, server, env } = await open();
    for (const number of [1, 2, 3, 4, 5]) putClaude(box, number, 6 - number, PNPM);
    const refused = { status: 401, message: "no" };
    server.queue(refused, refused, refused, refused, refused);
    const ran = await box.run(["extract", "--since", "24h", "--json"], { env });
    expect(ran.err).toMatch(/it failed 3 times in a row; 5 sessions left/);
    expect(JSON.parse(ran.out)).toMatchObject({ left: 5 });
    expect(server.requests).toHaveLength(3);
  });

  it("a session that failed is tried again the next time, and the others are done", async () => {
    const { box, server, env } = await open();
    for (const number of [1, 2]) putClaude(box, number, 3 - number, PNPM);
    server.queue({ text: "I have kept everything." }, nothing);
    const ran = await box.run(["extract", "--since", "24h"], { env });
    expect(ran.err).toMatch(/0001\.jsonl: it called no tool .*\n.*not all could be done; 1 session left; run the same/);
    server.queue(nothing);
    expect(rowsOf(await box.json(["extract", "--since", "24h"], { env })).map(([, , messages]) => messages)).toEqual([
      2, 0,
    ]);
  });

  it.skipIf(process.platform === "win32")("Ctrl-C leaves what is done, and the same again goes on", async () => {
    const { box, server, env } = await open();
    putClaude(box, 1, 2, PNPM);
    putClaude(box, 2, 1, PNPM);
    const args = [BINARY, "extract", "--since", "24h"];
    const child = spawn(process.execPath, args, { cwd: box.cwd, env: { ...box.env, ...env } });
    let err = "";
    child.stderr.on("data", (data) => {
      err += data;
    });
    server.queue(nothing, () => {
      child.kill("SIGINT");
      return { before: "hang" };
    });
    expect(await new Promise((resolve) => child.on("exit", resolve))).toBe(130);
    expect(err).toMatch(/interrupted; 1 session left; run the same again to go on\n$/);
    server.queue(nothing);
    const next = await box.json(["extract", "--since", "24h"], { env });
    expect(rowsOf(next).map(([, , messages]) => messages)).toEqual([0, 2]);
    expect(next.left).toBe(0);
  });
});
