import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { isIdle, mayAskToKeep } from "../../src/hooks/stop.ts";
import { hasMemoryWrite, lastMarks, lastMessageId, markOf, readTurnTail } from "../../src/hooks/turn-tail.ts";
import { understandSaid } from "../../src/learn/said.ts";
import { hearMessages } from "../../src/session/heard.ts";
import { readSession } from "../../src/session/session-reader.ts";
import { DIST, HOOK, makeStopDesk, NOW, type StopDesk } from "../hooks/stop-desk.ts";
import { type ModelServer, startModelServer } from "../model-server/model-server.ts";
import type { RecordedRequest, Reply } from "../model-server/reply.ts";

const MODEL = { MEMDIR_MODEL: "anthropic/claude-test", ANTHROPIC_API_KEY: "sk-test" };
const RULE = "no, never use npm here, use pnpm instead";

const SILENT = { status: 0, stdout: "", stderr: "" };
const STARTS = { start: expect.anything() };
const skips = (reason: string | RegExp) => ({ skipped: expect.stringMatching(reason) });

/** A session in which something was said that the rules keep. */
function talk(desk = makeStopDesk()): StopDesk {
  desk.say("please fix the failing test in the parser");
  desk.answer("I ran npm test.");
  desk.say(RULE);
  desk.answer("Understood.");
  return desk;
}

async function withServer(): Promise<{ server: ModelServer; env: Record<string, string> }> {
  const server = await startModelServer();
  onTestFinished(() => server.close());
  return { server, env: { ...MODEL, ANTHROPIC_BASE_URL: server.url } };
}

const noteOf = (name: string) =>
  `---\nname: ${name}\ndescription: About ${name}\ntype: project\nwhen: [later]\nsource: m1\n---\n\nAbout ${name}: never use npm, use pnpm.\n`;
const writeOf = (desk: StopDesk, name: string) => ({
  tools: [{ name: "Write", input: { file_path: path.join(desk.memory, `${name}.md`), content: noteOf(name) } }],
});

describe("the gates at the end of a turn", () => {
  it("B8.1 open when somebody said something", () => {
    const desk = talk();
    expect(desk.decide()).toEqual({ start: { transcript: desk.transcript, cwd: desk.project, mark: "" } });
    expect(desk.decide({}, MODEL)).toMatchObject(STARTS);
    expect(desk.decide({ last_assistant_message: "Under\nstood." })).toEqual({
      start: { transcript: desk.transcript, cwd: desk.project, mark: markOf("Understood.") },
    });
    expect(desk.ledger()).toEqual([]);
  });

  it("B8.7 stay closed for a reason that the ledger shows", () => {
    const desk = talk();
    expect(desk.decide({ agent_id: "a1" })).toEqual(skips("sub-agent"));
    expect(desk.decide({}, { MEMDIR_LEARN: "off" })).toEqual(skips("off"));
    expect(desk.decide({}, { MEMDIR_LEARN: "read-only" })).toEqual(skips("read-only"));
    expect(desk.skips()).toEqual([
      expect.stringContaining("sub-agent"),
      expect.stringContaining("off"),
      expect.stringContaining("read-only"),
    ]);
    expect(desk.ledger()[0]).toMatchObject({ kind: "extraction", session: path.parse(desk.transcript).name });
    expect(desk.cursor()).toBeNull();
  });

  it("leave no trace where memory is off, and where there is no directory", () => {
    const desk = talk();
    expect(desk.decide({}, { CLAUDE_CODE_DISABLE_AUTO_MEMORY: "1" })).toEqual(skips("memory is off"));
    expect(fs.readdirSync(desk.memory)).toEqual([]);
    fs.rmdirSync(desk.memory);
    expect(desk.decide({}, { MEMDIR_LEARN: "off" })).toEqual(skips("off"));
    expect(fs.existsSync(desk.memory)).toBe(false);
  });

  it("close when nothing was said since the cursor, wherever in the turn it stands", () => {
    const desk = makeStopDesk();
    const first = desk.say("please fix the failing test in the parser");
    desk.answer("Done.");
    const last = desk.say(RULE);
    desk.answer("Understood.");
    for (const cursor of [last, `${last}.1`, `${last}.7`]) {
      desk.setCursor(cursor);
      expect(desk.decide({}, MODEL)).toEqual(skips("nothing is new"));
    }
    for (const cursor of [first, `${first}.1`, "unknown", `${last}9`]) {
      desk.setCursor(cursor);
      expect(desk.decide({}, MODEL)).toMatchObject(STARTS);
    }
  });

  it("stay open when the host is ahead of its transcript: the turn is not written down yet", () => {
    const desk = makeStopDesk();
    const last = desk.say(RULE);
    desk.answer("Understood.");
    desk.setCursor(`${last}.1`);
    expect(desk.decide({ last_assistant_message: "Understood." }, MODEL)).toEqual(skips("nothing is new"));
    expect(desk.decide({ last_assistant_message: "Another answer." }, MODEL)).toMatchObject(STARTS);
    const transcript_path = desk.at("not-there-yet.jsonl");
    expect(desk.decide({ transcript_path, last_assistant_message: "Hi." }, MODEL)).toMatchObject(STARTS);
  });

  it("B8.6 close when a memory was written in the turn, and what was said counts as handled", async () => {
    const desk = talk();
    desk.call("Write", { file_path: path.join(desk.memory, "feedback_pnpm.md"), content: "x" });
    desk.answer("Saved.");
    expect(desk.decide({}, MODEL)).toEqual(skips("a memory was written"));
    const session = await readSession(desk.transcript);
    expect(desk.cursor()).toBe(hearMessages(session.messages, session.prompts).at(-1)?.id);
    expect(desk.decide({}, MODEL)).toEqual(skips("nothing is new"));
    desk.say("and another thing that I wanted to say");
    expect(desk.decide({}, MODEL)).toMatchObject(STARTS);
  });

  it("B3.10 everyTurns is waited for, unless the user asks to remember", () => {
    const desk = makeStopDesk();
    fs.mkdirSync(desk.at("home", ".claude"));
    fs.writeFileSync(desk.at("home", ".claude", "memdir.json"), JSON.stringify({ learn: { everyTurns: 3 } }));
    desk.say("please fix the failing test in the parser");
    desk.answer("Done.");
    expect(desk.decide({}, MODEL)).toEqual(skips("turn 1 of 3"));
    desk.say("and please tidy up the imports as well");
    desk.answer("Done.");
    expect(desk.decide({}, MODEL)).toEqual(skips("turn 2 of 3"));
    desk.say("Thanks a lot. Please remember that we deploy on Tuesdays!");
    desk.answer("I will.");
    desk.setCursor("5a0c1111-0000-4000-8000-000000000004");
    expect(desk.decide({}, MODEL)).toMatchObject(STARTS);
  });

  it("close at the day's limit, but not for rules and for what the user asks to keep", () => {
    const desk = talk();
    fs.mkdirSync(desk.at("home", ".claude"));
    fs.writeFileSync(desk.at("home", ".claude", "memdir.json"), JSON.stringify({ learn: { tokensPerDay: 5 } }));
    fs.mkdirSync(path.join(desk.memory, ".memdir"));
    const usage = { input: 9, output: 9, cacheRead: 0, cacheWrite: 0 };
    const call = { at: NOW.toISOString(), kind: "extraction", session: null, model: "m", usage, produced: "" };
    fs.writeFileSync(
      path.join(desk.memory, ".memdir", "ledger.jsonl"),
      `${JSON.stringify({ ...call, skipped: null })}\n`,
    );
    expect(desk.decide({}, MODEL)).toEqual(skips("budget is used up"));
    expect(desk.decide()).toMatchObject(STARTS);
    desk.say("remember that we deploy on Tuesdays");
    expect(desk.decide({}, MODEL)).toMatchObject(STARTS);
  });

  it("close without a model when there is nothing for the rules", () => {
    const desk = makeStopDesk();
    for (const text of ["thanks!", "/compact and go on with it", "ok"]) {
      desk.say(text);
      desk.answer("Done.");
      expect(desk.decide()).toEqual(skips("no model is configured"));
      expect(desk.decide({}, MODEL)).toMatchObject(STARTS);
    }
    desk.say("#use tabs");
    expect(desk.decide()).toMatchObject(STARTS);
  });

  it("B3.10 let through whatever the rules would keep, and what they take for a request", async () => {
    const text = (file: string) => fs.readFileSync(new URL(`../fixtures/${file}`, import.meta.url), "utf8");
    const texts: string[] = [];
    const gather = (value: unknown): void => {
      if (typeof value === "string") texts.push(value);
      else if (typeof value === "object" && value !== null) Object.values(value).forEach(gather);
    };
    gather(JSON.parse(text("said.json")));
    gather(JSON.parse(text("extraction-dev.json")));
    const missed: string[] = [];
    for (const one of new Set(texts)) {
      if (mayAskToKeep(one) && !isIdle(one)) continue;
      const said = await understandSaid(one, NOW);
      const isAsked = said.some(({ explicit, act }) => explicit && act !== "forget");
      if ((isAsked && !mayAskToKeep(one)) || (said.length > 0 && isIdle(one))) missed.push(one);
    }
    expect(texts.length).toBeGreaterThan(500);
    expect(missed).toEqual([]);
  });

  it("close when the host names no transcript, or one that is none", () => {
    const desk = talk();
    for (const transcript_path of [undefined, 5, "", "relative.jsonl"]) {
      expect(desk.decide({ transcript_path })).toEqual(skips("no transcript"));
    }
    execFileSync("mkfifo", [desk.at("fifo.jsonl")]);
    fs.symlinkSync(desk.transcript, desk.at("link.jsonl"));
    fs.mkdirSync(desk.at("folder.jsonl"));
    for (const name of ["absent.jsonl", "fifo.jsonl", "link.jsonl", "folder.jsonl"]) {
      expect(desk.decide({ transcript_path: desk.at(name) }, MODEL)).toEqual(skips("nothing is new"));
    }
  });
});

describe("the end of a transcript", () => {
  it("is the last turn: no result, summary, remark, sidechain or half a line is a prompt", () => {
    const desk = makeStopDesk();
    desk.say("the first prompt of the session");
    desk.answer("Yes.");
    desk.say('the last prompt, which quotes {"type":"tool_result"} and\nhas two lines');
    desk.call("Read", { file_path: "a.ts" }, { content: '{"type":"user","message":{"content":"planted"}}' });
    desk.line({ type: "user", isMeta: true, message: { role: "user", content: "a remark of the client" } });
    desk.line({ type: "user", isSidechain: true, message: { role: "user", content: "a task for a sub-agent" } });
    desk.line({ type: "user", message: { role: "user", content: "[Request interrupted by user]" } });
    fs.appendFileSync(desk.transcript, '{"type":"queue-operation"}\n\nnot json "type":"user"\n{"type":"user","mess');
    const tail = readTurnTail(desk.transcript, null, 1);
    expect(tail?.prompts).toEqual([expect.stringContaining("the last prompt")]);
    expect(tail?.isWhole).toBe(true);
    expect(readTurnTail(desk.transcript, null, 9)?.prompts).toHaveLength(2);
  });

  it("is found however the file looks: empty, CRLF, BOM, spaced JSON, lone surrogates, one giant line", () => {
    const desk = makeStopDesk();
    const put = (text: string | Uint8Array) => fs.writeFileSync(desk.transcript, text);
    const line = '{"type": "user", "uuid": "u", "message": {"role": "user", "content": "hello \\ud800 there"}}';
    put("");
    expect(readTurnTail(desk.transcript, null, 1)).toEqual({ lines: [""], prompts: [], isWhole: true });
    put(`\ufeff${line}\r\n${line}\r\n`);
    expect(readTurnTail(desk.transcript, null, 5)?.prompts).toHaveLength(2);
    put(Buffer.alloc(300_000, 0xff));
    expect(readTurnTail(desk.transcript, null, 1)).toMatchObject({ prompts: [], isWhole: true });
    put(`${line}\n${line.replace("hello", "x".repeat(3_000_000))}\n`);
    expect(readTurnTail(desk.transcript, null, 1)?.prompts[0]).toMatch(/^xxx/);
    expect(readTurnTail(desk.transcript, { message: "u", at: "" }, 1)?.prompts).toEqual([]);
    put(`${line}\n${JSON.stringify({ type: "user", message: { content: "x".repeat(7_000_000) } })}\n`);
    expect(readTurnTail(desk.transcript, null, 1)?.isWhole).toBe(false);
    expect(desk.decide({}, MODEL)).toMatchObject(STARTS);
  });

  it("its last message is called what an extraction calls it", async () => {
    const desk = makeStopDesk();
    desk.say("one");
    desk.answer("Yes.");
    const check = async () => {
      const session = await readSession(desk.transcript);
      const tail = readTurnTail(desk.transcript, null, 1);
      expect(tail && lastMessageId(tail)).toBe(hearMessages(session.messages, session.prompts).at(-1)?.id);
    };
    await check();
    desk.say("two");
    await check();
    desk.call("Read", { file_path: "a.ts" });
    desk.call("Read", { file_path: "b.ts" }, { is_error: true });
    await check();
    const block = (id: string) => ({ type: "tool_use", id, name: "Read", input: {} });
    for (const id of ["p1", "p2"])
      desk.line({ type: "assistant", message: { id: "same", role: "assistant", content: [block(id)] } });
    for (const id of ["p1", "p2"])
      desk.line({ type: "user", message: { role: "user", content: [{ type: "tool_result", tool_use_id: id }] } });
    desk.line({ type: "system", subtype: "informational", content: "x" });
    await check();
    desk.answer("Done.");
    await check();
  });

  it("B8.6 holds a memory that was written: by a tool, a command or our own tool, and not refused", () => {
    const desk = makeStopDesk();
    fs.symlinkSync(desk.memory, desk.at("link"));
    const wrote = (name: string, input: object, result = {}) => {
      const other = makeStopDesk();
      other.say("do it");
      other.call(name, input as Record<string, unknown>, result);
      const { lines } = readTurnTail(other.transcript, null, 1) ?? { lines: [] };
      return hasMemoryWrite(lines, { dir: desk.at("link"), cwd: desk.project });
    };
    const inside = path.join(desk.memory, "a.md");
    expect(wrote("Write", { file_path: inside })).toBe(true);
    expect(wrote("Edit", { file_path: path.join(desk.at("link"), "sub", "b.md") })).toBe(true);
    expect(wrote("Write", { file_path: "../memory/a.md" })).toBe(true);
    expect(wrote("Bash", { command: "echo x | npx memdir save --name y" })).toBe(true);
    expect(wrote("mcp__plugin_memdir_memdir__save", { name: "x" })).toBe(true);
    expect(wrote("Write", { file_path: inside }, { is_error: true })).toBe(false);
    expect(wrote("Read", { file_path: inside })).toBe(false);
    expect(wrote("Write", { file_path: `${desk.memory}2/a.md` })).toBe(false);
    expect(wrote("Write", { file_path: path.join(desk.memory, "..", "a.md") })).toBe(false);
    expect(wrote("Write", { file_path: path.join(desk.memory, "logs", "2026", "x.md") })).toBe(false);
    expect(wrote("Write", { file_path: path.join(desk.memory, "a.txt") })).toBe(false);
    expect(wrote("Bash", { command: "memdir list; cat memdir.md" })).toBe(false);
    expect(wrote("Write", { file_path: 5 })).toBe(false);
  });

  it("marks of the last message are those of its last text and of all of it", () => {
    const lineOf = (id: string, ...texts: string[]) =>
      JSON.stringify({ type: "assistant", message: { id, content: texts.map((text) => ({ type: "text", text })) } });
    const lines = [lineOf("a", "one"), lineOf("b", "two "), "half", lineOf("b", "three")];
    expect(lastMarks(lines)).toEqual([markOf("three"), markOf("two\nthree")]);
    expect(lastMarks([])).toEqual([markOf(""), markOf("")]);
  });
});

describe("the hook", () => {
  it("B8.1 starts a process that extracts by rules, outlives it, and ends by itself", async () => {
    const desk = talk();
    desk.say("remember that releases are cut on Tuesdays");
    desk.answer("Understood.");
    expect(desk.stop({ last_assistant_message: "Understood." })).toMatchObject(SILENT);
    await desk.until(() => desk.cursor() !== null, "cursor");
    expect(desk.memories()).toHaveLength(1);
    await desk.until(() => desk.children().length === 0, "end");
    expect(fs.readdirSync(path.join(desk.memory, ".memdir")).filter((name) => name.startsWith("extract-"))).toEqual([]);
    expect(desk.stop()).toMatchObject(SILENT);
    expect(desk.skips().at(-1)).toContain("nothing is new");
    expect(desk.memories()).toHaveLength(1);
  });

  it("B8.2 with a model asks it, once", async () => {
    const desk = talk();
    const { server, env } = await withServer();
    server.queue(writeOf(desk, "pnpm"), { text: "Kept one." });
    expect(desk.stop({}, env)).toMatchObject(SILENT);
    await desk.until(() => desk.cursor() !== null && desk.children().length === 0, "cursor");
    expect(desk.memories()).toHaveLength(1);
    expect(server.requests).toHaveLength(2);
    expect(desk.ledger()).toMatchObject([{ produced: "1 saved", skipped: null }]);
  });

  it("answers nothing to what it cannot use, and says why when it is asked to", () => {
    const desk = talk();
    const run = (input: string, env = {}) =>
      spawnSync(process.execPath, [HOOK], { input, env: { ...desk.env, ...env }, cwd: desk.project, encoding: "utf8" });
    for (const input of ["", "garbage", "null", "[]", "5", '{"hook_event_name":"Stop"}', '{"hook_event_name":"Stop"']) {
      expect(run(input)).toMatchObject(SILENT);
    }
    for (const broken of [
      { cwd: 5 },
      { cwd: "/absent" },
      { cwd: "a\0b" },
      { transcript_path: "/a\0b" },
      { agent_id: 5 },
    ]) {
      const input = JSON.stringify({ ...desk.input(), transcript_path: "/absent.jsonl", ...broken });
      expect(run(input)).toMatchObject(SILENT);
    }
    expect(run("garbage", { MEMDIR_DEBUG: "1" }).stderr).toMatch(/^memdir: SyntaxError/);
    expect(desk.stop({}, { MEMDIR_LEARN: "off", MEMDIR_DEBUG: "1" })).toMatchObject({
      stderr: "memdir: extraction skipped: learning is off in this scope\n",
    });
  });

  it("B8.7 what it skipped is in memdir ledger", () => {
    const desk = talk();
    desk.stop({}, { MEMDIR_LEARN: "off" });
    const ran = spawnSync(process.execPath, [path.join(DIST, "cli.js"), "ledger"], {
      env: desk.env,
      cwd: desk.project,
      encoding: "utf8",
    });
    expect(ran.stdout).toContain("skipped: learning is off in this scope");
  });

  it("fits a transcript of 50 MB", () => {
    const desk = makeStopDesk();
    desk.say("please fix the failing test in the parser");
    const filler = `${JSON.stringify({ type: "attachment", uuid: "x", attachment: { content: "y".repeat(99_900) } })}\n`;
    const fd = fs.openSync(desk.transcript, "a");
    for (let i = 0; i < 502; i++) fs.writeSync(fd, filler);
    fs.closeSync(fd);
    const last = desk.say(RULE);
    desk.setCursor(last);
    expect(fs.statSync(desk.transcript).size).toBeGreaterThan(50e6);
    // Reading all of it would take several times the memory that it may have.
    const ran = spawnSync(process.execPath, ["--max-old-space-size=40", HOOK], {
      input: JSON.stringify(desk.input()),
      env: { ...desk.env, ...MODEL },
      encoding: "utf8",
    });
    expect(ran).toMatchObject(SILENT);
    expect(desk.skips()).toEqual([expect.stringContaining("nothing is new")]);
    fs.rmSync(desk.transcript);
  });

  it("does not mind a closed standard output, or standard error", async () => {
    const desk = talk();
    const child = spawn(process.execPath, [HOOK], { env: { ...desk.env, MEMDIR_DEBUG: "1", MEMDIR_LEARN: "off" } });
    child.stdout.destroy();
    child.stderr.destroy();
    child.stdin.end(JSON.stringify(desk.input()));
    expect((await once(child, "exit"))[0]).toBe(0);
  });

  it.skipIf(process.platform === "win32")("writes through no link in the place of its state", () => {
    const secret = "precious\n";
    for (const name of [[".memdir"], [".memdir", "ledger.jsonl"], [".memdir", "cursors"]]) {
      const desk = talk();
      desk.call("Write", { file_path: path.join(desk.memory, "a.md"), content: "x" });
      fs.mkdirSync(desk.at("elsewhere"));
      fs.writeFileSync(desk.at("elsewhere", "file"), secret);
      fs.mkdirSync(path.dirname(path.join(desk.memory, ...name)), { recursive: true });
      const isFile = name.at(-1) === "ledger.jsonl";
      fs.symlinkSync(desk.at("elsewhere", isFile ? "file" : ""), path.join(desk.memory, ...name));
      expect(desk.stop({}, MODEL)).toMatchObject(SILENT);
      expect(fs.readdirSync(desk.at("elsewhere"))).toEqual(["file"]);
      expect(fs.readFileSync(desk.at("elsewhere", "file"), "utf8")).toBe(secret);
    }
  });

  it("goes on where nothing can be written", async () => {
    const desk = talk();
    for (const MEMDIR_LEARN of ["off", "auto"]) {
      const home = { HOME: "/proc/home", USERPROFILE: "/proc/home", MEMDIR_MEMORY_DIR: desk.at("memory", "a.md", "x") };
      fs.writeFileSync(path.join(desk.memory, "a.md"), "");
      expect(desk.stop({}, { ...home, MEMDIR_LEARN })).toMatchObject(SILENT);
    }
    fs.writeFileSync(desk.at("file"), "");
    expect(desk.stop({}, { MEMDIR_MEMORY_DIR: desk.at("file", "memory") })).toMatchObject(SILENT);
    await desk.until(() => desk.children().length === 0, "end");
    expect(desk.memories()).toEqual(["a.md"]);
  });

  it("loads no network, no streams, no cryptography, and no processes unless it starts one", () => {
    const desk = talk();
    const preload = desk.at("preload.cjs");
    fs.writeFileSync(
      preload,
      'process.on("exit", () => require("fs").writeFileSync("loaded.txt", process.moduleLoadList.join("\\n")));',
    );
    desk.call("Write", { file_path: path.join(desk.memory, "a.md"), content: "x" });
    const env = { ...desk.env, ...MODEL };
    const input = JSON.stringify(desk.input());
    spawnSync(process.execPath, ["-r", preload, HOOK], { input, env, cwd: desk.project });
    expect(desk.skips()).toEqual(["a memory was written in this turn"]);
    const loaded = fs.readFileSync(path.join(desk.project, "loaded.txt"), "utf8").split("\n");
    const heavy = ["net", "http", "https", "tls", "dns", "crypto", "child_process", "worker_threads", "tty"];
    expect(heavy.filter((name) => loaded.includes(`NativeModule ${name}`))).toEqual([]);
  });

  it("lets the host go on when half of it is missing", () => {
    const desk = talk();
    for (const name of ["hook.cjs", "hook-prompt.cjs"]) fs.copyFileSync(path.join(DIST, name), desk.at(name));
    const ran = spawnSync(process.execPath, [desk.at("hook.cjs")], {
      input: JSON.stringify(desk.input()),
      env: desk.env,
      encoding: "utf8",
    });
    expect(ran).toMatchObject(SILENT);
  });
});

describe("the process that is started", () => {
  it("two at once: one works, the other one leaves it to it, nothing is kept twice", async () => {
    const desk = talk();
    const { server, env } = await withServer();
    server.queue({ ...writeOf(desk, "pnpm"), delayMs: 40 }, { text: "Kept one.", delayMs: 20 });
    for (const ran of [desk.stop({}, env), desk.stop({}, env)]) expect(ran).toMatchObject(SILENT);
    await desk.until(() => desk.cursor() !== null && desk.children().length === 0, "both end");
    expect(desk.memories()).toHaveLength(1);
    expect(server.requests).toHaveLength(2);
    expect(desk.ledger().filter(({ skipped }) => skipped === null)).toHaveLength(1);
    expect(desk.skips()).toContain("another process is extracting from this session");
  });

  it("looks at what was said while it worked", async () => {
    const desk = talk();
    const { server, env } = await withServer();
    server.queue(
      () => {
        // The next turn ends while this one is looked at; its own process finds the lock held.
        desk.say("and we always deploy from the release branch");
        desk.answer("I will.");
        return { text: "NOTHING TO KEEP" };
      },
      writeOf(desk, "deploy"),
      { text: "Kept one." },
    );
    await desk.extract(env);
    expect(desk.memories()).toHaveLength(1);
    expect(server.requests).toHaveLength(3);
    const { messages, prompts } = await readSession(desk.transcript);
    expect(desk.cursor()).toBe(hearMessages(messages, prompts).at(-1)?.id);
  });

  it("waits for the transcript to catch up, and not for ever", async () => {
    const desk = makeStopDesk();
    desk.say(`remember: ${RULE}`);
    const done = desk.extract({}, markOf("Understood,\nall of it."));
    await new Promise((resolve) => setTimeout(resolve, 40));
    desk.answer("Understood, all of it.");
    await done;
    expect(desk.cursor()).toMatch(/\.1$/);
    desk.say("we always deploy from the release branch, never from main");
    expect(await desk.extract({}, "never")).toEqual({ code: 0, signal: null });
    expect(desk.memories().length).toBeGreaterThan(0);
    expect(desk.cursor()).toMatch(/3$/);
  });

  it("ends within its time when the model hangs, keeps the cursor and gives the lock back", async () => {
    const desk = talk();
    const { server, env } = await withServer();
    let hangs = true;
    const reply = ({ body }: RecordedRequest): Reply => {
      if (hangs) return { before: "hang" };
      return body.messages.length === 1 ? writeOf(desk, "pnpm") : { text: "Kept one." };
    };
    server.queue(reply, reply, reply, reply);
    const ended = await desk.extract({ ...env, MEMDIR_EXTRACT_SECONDS: "0.5" });
    expect(ended).toEqual({ code: 0, signal: null });
    expect(desk.cursor()).toBeNull();
    hangs = false;
    await desk.extract(env);
    expect(desk.memories()).toHaveLength(1);
  });

  it("ends within its time also when a call never returns", async () => {
    const desk = talk();
    // The first call after the process has arranged for its end.
    const stuck = encodeURIComponent("AbortSignal.timeout = () => { for (;;); };");
    const ended = await desk.extract({
      NODE_OPTIONS: `--import=data:text/javascript,${stuck}`,
      MEMDIR_EXTRACT_SECONDS: "0.1",
    });
    expect(ended).toEqual({ code: null, signal: "SIGKILL" });
  });

  it("B8.6 skips a turn in which a memory was written meanwhile", async () => {
    const desk = talk();
    const { server, env } = await withServer();
    desk.call("Write", { file_path: path.join(desk.memory, "a.md"), content: "x" });
    await desk.extract(env);
    expect(server.requests).toEqual([]);
    expect(desk.skips()).toEqual(["a memory was written in this turn"]);
    expect(desk.cursor()).not.toBeNull();
  });

  it("B3.10 keeps by rules what the user asked for when the budget is used up", async () => {
    const desk = makeStopDesk();
    desk.say("remember that we deploy on Tuesdays");
    desk.answer("I will.");
    const { server, env } = await withServer();
    fs.mkdirSync(desk.at("home", ".claude"));
    fs.writeFileSync(desk.at("home", ".claude", "memdir.json"), JSON.stringify({ learn: { tokensPerDay: 1 } }));
    fs.mkdirSync(path.join(desk.memory, ".memdir"));
    const usage = { input: 9, output: 9, cacheRead: 0, cacheWrite: 0 };
    const at = new Date().toISOString();
    const call = { at, kind: "extraction", session: null, model: "m", usage, produced: "", skipped: null };
    fs.writeFileSync(path.join(desk.memory, ".memdir", "ledger.jsonl"), `${JSON.stringify(call)}\n`);
    await desk.extract(env);
    expect(server.requests).toEqual([]);
    expect(desk.memories()).toHaveLength(1);
    expect(desk.cursor()).toBeNull();
  });

  it("notes in the ledger why it could not work", async () => {
    const desk = talk();
    await desk.extract({ MEMDIR_MODEL: "nonsense" });
    expect(desk.skips()).toEqual([expect.stringContaining("MEMDIR_MODEL")]);
    fs.rmSync(desk.transcript);
    expect(await desk.extract()).toEqual({ code: 0, signal: null });
    expect(desk.skips().at(-1)).toContain("no session");
  });
});
