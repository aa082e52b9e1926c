/** Every event as a host sends it, to the hook as a process, on a good day and on bad ones. */

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { readFaults } from "../../src/hooks/faults.ts";
import { slugOf } from "../../src/project/locate.ts";
import { DIST, HOOK, makeStopDesk, SESSION, type StopDesk, type Wire } from "../hooks/stop-desk.ts";
import { startModelServer } from "../model-server/model-server.ts";
import { PATIENCE_MS } from "../until.ts";

const PROMPT = "how do we deploy with kubectl to staging?";
const DEPLOY = "---\nname: Deploy kubectl staging\ntype: project\n---\n\nDeploy with kubectl on staging.\n";
const RULE =
  "---\nname: No force push\ntype: feedback\nenforce:\n  tool: Bash\n  pattern: git push -f\n  message: Ask first.\n---\n\nAsk.\n";

const EVENTS: Readonly<Record<string, Wire>> = {
  SessionStart: { source: "startup" },
  UserPromptSubmit: { prompt: PROMPT },
  PreToolUse: { tool_name: "Bash", tool_input: { command: "git push -f" } },
  PostToolUse: { tool_name: "Bash", tool_input: { command: "ls" }, tool_response: {} },
  Stop: { stop_hook_active: false },
  PreCompact: { trigger: "auto" },
  SessionEnd: { reason: "exit" },
};
const NAMES = Object.keys(EVENTS);

interface Ran {
  code: number | null;
  signal: string | null;
  out: string;
  err: string;
}

function makeDesk(settings: object = {}): StopDesk {
  const desk = makeStopDesk();
  fs.writeFileSync(path.join(desk.memory, "deploy.md"), DEPLOY);
  fs.writeFileSync(path.join(desk.memory, "rule.md"), RULE);
  fs.mkdirSync(desk.at("home", ".claude", "memory"), { recursive: true });
  fs.writeFileSync(desk.at("home", ".claude", "memory", "MEMORY.md"), "- [tabs](tabs.md) — prefers tabs\n");
  const hooks = { deadlineMs: PATIENCE_MS, ...settings };
  fs.writeFileSync(desk.at("home", ".claude", "memdir.json"), JSON.stringify({ hooks }));
  // Nothing in it for rules: no test here wants a process that goes on.
  desk.say("thanks");
  desk.answer("You are welcome.");
  return desk;
}

async function send(desk: StopDesk, input: string | Wire, env: Record<string, string> = {}, hook = HOOK): Promise<Ran> {
  const child = spawn(process.execPath, [hook], { env: { ...desk.env, ...env }, cwd: desk.project });
  const timer = setTimeout(() => child.kill("SIGKILL"), PATIENCE_MS);
  const ran = { out: "", err: "" };
  child.stdout.setEncoding("utf8").on("data", (text) => {
    ran.out += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text) => {
    ran.err += text;
  });
  child.stdin.on("error", () => {});
  child.stdin.end(typeof input === "string" ? input : JSON.stringify(input));
  const [code, signal] = await once(child, "close");
  clearTimeout(timer);
  return { code, signal, ...ran };
}

const inputOf = (desk: StopDesk, name: string, more: Wire = {}) =>
  desk.input({ hook_event_name: name, ...EVENTS[name], ...more });

const GOOD = { code: 0, signal: null, err: "" };

/** It ended well, and said nothing or what a host understands. */
function expectGood(ran: Ran): Wire | null {
  expect(ran).toMatchObject(GOOD);
  expect(ran.out.length).toBeLessThanOrEqual(10_000);
  return ran.out === "" ? null : JSON.parse(ran.out);
}

describe("an event", () => {
  it("is answered as its host wants it", async () => {
    const desk = makeDesk();
    const answers = Object.fromEntries(
      await Promise.all(NAMES.map(async (name) => [name, expectGood(await send(desk, inputOf(desk, name)))])),
    );
    expect(answers).toEqual({
      SessionStart: {
        hookSpecificOutput: {
          hookEventName: "SessionStart",
          additionalContext: expect.stringContaining("prefers tabs"),
        },
      },
      UserPromptSubmit: {
        hookSpecificOutput: {
          hookEventName: "UserPromptSubmit",
          additionalContext: expect.stringContaining("kubectl"),
        },
      },
      PreToolUse: {
        hookSpecificOutput: {
          hookEventName: "PreToolUse",
          permissionDecision: "deny",
          permissionDecisionReason: expect.stringMatching(/^Ask first\. \(memory No force push, .*rule\.md; enforced/),
        },
      },
      PostToolUse: null,
      Stop: null,
      PreCompact: null,
      SessionEnd: null,
    });
    expect(readFaults(desk.env)).toEqual([]);
  });

  it("of Gemini CLI is answered under its own name", async () => {
    const desk = makeDesk();
    const ask = async (name: string, more: Wire) =>
      expectGood(await send(desk, desk.input({ hook_event_name: name, ...more })));
    expect(await ask("BeforeAgent", { prompt: PROMPT })).toMatchObject({
      hookSpecificOutput: { hookEventName: "BeforeAgent" },
    });
    const context = "<hook_context>deploy with kubectl to staging</hook_context>\n\n";
    expect(await ask("BeforeAgent", { prompt: `${context}what is the weather on the moon?` })).toBeNull();
    const call = { tool_name: "run_shell_command", tool_input: { command: "git push -f" } };
    expect(await ask("BeforeTool", call)).toEqual({ decision: "deny", reason: expect.stringContaining("Ask first.") });
    expect(await ask("AfterTool", call)).toBeNull();
    expect(await ask("AfterAgent", { prompt: PROMPT, prompt_response: "x" })).toBeNull();
    expect(await ask("PreCompress", { trigger: "auto" })).toBeNull();
  });

  it("that is not ours is left alone, and is no fault", async () => {
    const desk = makeDesk();
    for (const name of ["Notification", "SubagentStop", "toString", "__proto__", ""]) {
      expect(await send(desk, desk.input({ hook_event_name: name, prompt: PROMPT }))).toEqual({ ...GOOD, out: "" });
    }
    expect(readFaults(desk.env)).toEqual([]);
    expect(fs.existsSync(path.join(desk.memory, ".memdir"))).toBe(false);
  });

  it("that cannot be read is noted without its words, and said once when a session starts", async () => {
    const desk = makeDesk();
    for (const input of ["", "garbage sk-secret", '{"hook_event_name":"Stop",', "null", "5", "[1]"]) {
      expect(await send(desk, input)).toEqual({ ...GOOD, out: "" });
    }
    const faults = readFaults(desk.env);
    expect(faults.map(({ message }) => message)).toEqual([
      ...Array(2).fill("SyntaxError: the input is not JSON"),
      ...Array(3).fill("TypeError: the event is not a JSON object"),
    ]);
    const said = async () =>
      (expectGood(await send(desk, inputOf(desk, "SessionStart"))) as { hookSpecificOutput: Wire }).hookSpecificOutput
        .additionalContext as string;
    expect(await said()).toMatch(
      /memdir's hook failed 5 times since \d{4}-\d\d-\d\d \d\d:\d\d; the user can run `memdir doctor`/,
    );
    expect(await said()).not.toContain("failed");
    expect(readFaults(desk.env)).toHaveLength(5);
  });
});

describe.each(NAMES)("%s", (name) => {
  const ask = async (desk: StopDesk, more: Wire = {}, env = {}) =>
    expectGood(await send(desk, inputOf(desk, name, more), env));
  const files = (desk: StopDesk) =>
    ["deploy.md", "rule.md"].map((file) => fs.readFileSync(path.join(desk.memory, file), "utf8"));

  it("where there is no directory makes none", async () => {
    const desk = makeDesk();
    fs.rmSync(desk.memory, { recursive: true });
    fs.rmSync(desk.at("home", ".claude"), { recursive: true });
    expect(await ask(desk)).toBeNull();
    expect(await ask(desk, { cwd: desk.at("nowhere"), transcript_path: desk.at("nowhere", "x.jsonl") })).toBeNull();
    expect(fs.existsSync(desk.memory)).toBe(false);
    expect(readFaults(desk.env)).toEqual([]);
  });

  it("with garbage in the place of everything that is kept is answered as without it", async () => {
    const [desk, fresh] = [makeDesk(), makeDesk()];
    await ask(desk);
    const state = path.join(desk.memory, ".memdir");
    for (const folder of [state, desk.at("home", ".cache", "memdir")]) {
      for (const entry of fs.existsSync(folder)
        ? (fs.readdirSync(folder, { recursive: true, withFileTypes: true }) as fs.Dirent[])
        : []) {
        if (entry.isFile()) fs.writeFileSync(path.join(entry.parentPath, entry.name), "\0garbage{");
      }
    }
    fs.mkdirSync(state, { recursive: true });
    for (const file of ["rows.bin", "ledger.jsonl", "cursors", "surfaced", "prefetch", "inbox"]) {
      if (!fs.existsSync(path.join(state, file))) fs.writeFileSync(path.join(state, file), "\0garbage{");
    }
    const shorten = (answer: Wire | null) => JSON.stringify(answer)?.replaceAll(desk.top, "").replaceAll(fresh.top, "");
    expect(shorten(await ask(desk))).toBe(shorten(await ask(fresh)));
    expect(files(desk)).toEqual([DEPLOY, RULE]);
  });

  it("writes through no link in the place of its state", async () => {
    const desk = makeDesk({ archive: true });
    fs.mkdirSync(desk.at("elsewhere"));
    fs.symlinkSync(desk.at("elsewhere"), path.join(desk.memory, ".memdir"));
    fs.symlinkSync(desk.at("elsewhere"), desk.at("home", ".claude", "memdir-archive"));
    fs.mkdirSync(desk.at("home", ".cache", "memdir"), { recursive: true });
    fs.symlinkSync(desk.at("elsewhere", "faults"), desk.at("home", ".cache", "memdir", "faults.jsonl"));
    await ask(desk);
    expect(fs.readdirSync(desk.at("elsewhere"))).toEqual([]);
  });

  it("goes on in a home that is none, and where nothing can be written", async () => {
    const desk = makeDesk();
    const file = desk.at("file");
    fs.writeFileSync(file, "");
    for (const HOME of ["/proc/home", file, desk.at("absent")]) await ask(desk, {}, { HOME, USERPROFILE: HOME });
    expect(fs.existsSync(desk.at("absent"))).toBe(false);
    expect(files(desk)).toEqual([DEPLOY, RULE]);
  });

  it.skipIf(process.getuid?.() === 0)("goes on where the home may only be read", async () => {
    const desk = makeDesk();
    for (const folder of [desk.at("home"), desk.memory]) fs.chmodSync(folder, 0o500);
    await ask(desk);
    for (const folder of [desk.at("home"), desk.memory]) fs.chmodSync(folder, 0o700);
  });

  it("survives a host that does not listen", async () => {
    const desk = makeDesk();
    const child = spawn(process.execPath, [HOOK], { env: desk.env, cwd: desk.project });
    child.stdout.destroy();
    child.stderr.destroy();
    child.stdin.end(JSON.stringify(inputOf(desk, name)));
    expect((await once(child, "close"))[0]).toBe(0);
    expect(readFaults(desk.env)).toEqual([]);
  });

  it("twice at once is answered twice", async () => {
    const desk = makeDesk();
    const answers = await Promise.all([ask(desk), ask(desk)]);
    const whole = await ask(desk, { session_id: "another" });
    // A memory that the session was shown just now is not shown again.
    for (const answer of answers) expect(name === "UserPromptSubmit" ? (answer ?? whole) : answer).toEqual(whole);
    expect(readFaults(desk.env)).toEqual([]);
  });

  it("killed half-way leaves nothing that harms the next", async () => {
    const [desk, fresh] = [makeDesk(), makeDesk()];
    for (const ms of [15, 25, 35, 45]) {
      const child = spawn(process.execPath, [HOOK], {
        env: desk.env,
        cwd: desk.project,
        stdio: ["pipe", "ignore", "ignore"],
      });
      child.stdin.on("error", () => {});
      child.stdin.end(JSON.stringify(inputOf(desk, name, { session_id: "killed" })));
      const timer = setTimeout(() => child.kill("SIGKILL"), ms);
      await once(child, "close");
      clearTimeout(timer);
    }
    const shorten = (answer: Wire | null) => JSON.stringify(answer)?.replaceAll(desk.top, "").replaceAll(fresh.top, "");
    expect(shorten(await ask(desk))).toBe(shorten(await ask(fresh)));
    expect(files(desk)).toEqual([DEPLOY, RULE]);
  });

  it("waits for no fifo where a file should be", async () => {
    const desk = makeDesk();
    fs.mkdirSync(path.join(desk.memory, ".memdir"));
    for (const file of ["rows.bin", "ledger.jsonl"]) {
      execFileSync("mkfifo", [path.join(desk.memory, ".memdir", file)]);
    }
    fs.rmSync(desk.transcript);
    execFileSync("mkfifo", [desk.transcript, path.join(desk.memory, "pipe.md")]);
    await ask(desk);
  });

  it("of half an installation is noted", async () => {
    const desk = makeDesk();
    fs.mkdirSync(desk.at("dist"));
    for (const file of ["hook.cjs", "hook-faults.cjs"]) fs.copyFileSync(path.join(DIST, file), desk.at("dist", file));
    expect(await send(desk, inputOf(desk, name), {}, desk.at("dist", "hook.cjs"))).toEqual({ ...GOOD, out: "" });
    expect(readFaults(desk.env)).toMatchObject([
      { event: name, message: expect.stringMatching(/Cannot find module.*hook-\w+\.cjs/) },
    ]);
  });
});

describe("the deadline", () => {
  it("ends what takes time, is noted, and costs nobody the prompt or the session", async () => {
    const desk = makeDesk({ deadlineMs: 1 });
    expect(expectGood(await send(desk, inputOf(desk, "UserPromptSubmit")))).toBeNull();
    expect(expectGood(await send(desk, inputOf(desk, "SessionStart", { source: "resume" })))).toMatchObject({
      hookSpecificOutput: { additionalContext: expect.stringContaining("failed once") },
    });
    expect(readFaults(desk.env)).toMatchObject([
      { event: "UserPromptSubmit", message: "time was up before all memories were read" },
    ]);
    expect(expectGood(await send(desk, inputOf(desk, "PreToolUse")))).toBeNull();
    expect(readFaults(desk.env).at(-1)).toMatchObject({ message: "time was up before all rules were read" });
    // What is kept is quick enough for any deadline.
    fs.writeFileSync(desk.at("home", ".claude", "memdir.json"), `{"hooks":{"deadlineMs":${PATIENCE_MS}}}`);
    expect(expectGood(await send(desk, inputOf(desk, "PreToolUse")))).not.toBeNull();
    fs.writeFileSync(desk.at("home", ".claude", "memdir.json"), '{"hooks":{"deadlineMs":1}}');
    expect(expectGood(await send(desk, inputOf(desk, "PreToolUse")))).not.toBeNull();
  });
});

describe("the end of a session", () => {
  const archived = (desk: StopDesk) =>
    desk.at("home", ".claude", "memdir-archive", slugOf(desk.project), `${SESSION}.jsonl`);

  it.each(["PreCompact", "SessionEnd"])("at %s a transcript of 50 MB is kept, if the user wants it", async (name) => {
    const desk = makeDesk({ archive: true });
    const filler = JSON.stringify({ type: "progress", text: "x".repeat(1000) });
    fs.appendFileSync(desk.transcript, `${filler}\n`.repeat(50_000));
    expectGood(await send(desk, inputOf(desk, name)));
    expect(fs.readFileSync(archived(desk)).equals(fs.readFileSync(desk.transcript))).toBe(true);
    expect(fs.statSync(archived(desk)).mode & 0o777).toBe(0o600);
    const plain = makeDesk();
    expectGood(await send(plain, inputOf(plain, name)));
    expect(fs.existsSync(plain.at("home", ".claude", "memdir-archive"))).toBe(false);
  });

  it("at Stop nothing is copied", async () => {
    const desk = makeDesk({ archive: true });
    expectGood(await send(desk, inputOf(desk, "Stop")));
    expect(fs.existsSync(archived(desk))).toBe(false);
  });

  it.each(["PreCompact", "SessionEnd"])("at %s what was said is learnt from as at Stop", async (name) => {
    const desk = makeDesk();
    // Without the sentence model, only what is asked for is kept.
    desk.say("remember: never use npm here, use pnpm instead");
    desk.answer("Understood.");
    expectGood(await send(desk, inputOf(desk, name)));
    await desk.until(() => desk.cursor() !== null && desk.children().length === 0, "the process works and ends");
    expect(desk.memories().length).toBeGreaterThan(2);
  });
});

describe("recall beside a turn", () => {
  it("is begun by a prompt, waited for by nobody, and added after a later call", async () => {
    const desk = makeDesk({ prefetch: true });
    const server = await startModelServer();
    onTestFinished(() => server.close());
    fs.writeFileSync(
      path.join(desk.memory, "pool.md"),
      "---\nname: Pool\ndescription: twenty\ntype: project\n---\n\nTwenty.\n",
    );
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    server.queue(async () => {
      await held;
      return { text: JSON.stringify({ selected_memories: ["pool.md"] }) };
    });
    const env = { MEMDIR_MODEL: "anthropic/claude-test", ANTHROPIC_API_KEY: "sk-test", ANTHROPIC_BASE_URL: server.url };
    const shown = async (name: string, more: Wire = {}) =>
      JSON.stringify(expectGood(await send(desk, inputOf(desk, name, more), env)));
    expect(await shown("UserPromptSubmit")).toContain("deploy.md");
    expect(await shown("PostToolUse")).toBe("null");
    release();
    const folder = path.join(desk.memory, ".memdir", "prefetch");
    await desk.until(() => {
      const [file = ".", ...more] = fs.readdirSync(folder);
      if (file.startsWith(".") || more.length > 0) return false;
      return fs.readFileSync(path.join(folder, file), "utf8").includes("pool.md");
    }, "the answer is there under its own name, and nothing beside it");
    expect(await shown("PostToolUse")).toContain("Twenty.");
    expect(await shown("PostToolUse")).toBe("null");
    expect(fs.readdirSync(folder)).toEqual([]);
    expect(server.requests).toHaveLength(1);
    expect(readFaults(desk.env)).toEqual([]);
  });
});
