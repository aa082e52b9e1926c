/** A client as a model, with a program of our own in its place: what it is given, how it ends, and what is left of it. */

import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import type { AskAnswer, AskRequest } from "../../src/model/ask.ts";
import { chooseModel } from "../../src/model/choose.ts";
import { openClient } from "../../src/model/client.ts";
import { type ClientName, MODEL_CLIENTS } from "../../src/model/clients.ts";
import { makeTemporary } from "../temporary.ts";
import { until } from "../until.ts";
import { putFakeClient } from "./fake-client.ts";

const SCHEMA = { type: "object", properties: { word: { type: "string" } }, required: ["word"] };

/** `script`: see putFakeClient. */
function desk(script: string, client: ClientName = "claude-code") {
  const top = makeTemporary("client");
  for (const name of ["tmp", "home"]) fs.mkdirSync(path.join(top, name));
  const { PATH, told } = putFakeClient(top, MODEL_CLIENTS[client].program, script);
  const env = { PATH, HOME: path.join(top, "home"), TMPDIR: path.join(top, "tmp"), MARK: "kept" };
  const read = (name: string) => JSON.parse(fs.readFileSync(path.join(told, name), "utf8"));
  const isTold = (name: string) => fs.existsSync(path.join(told, name));
  const ask = async (more: Partial<AskRequest> = {}, model: string = client): Promise<AskAnswer> => {
    const choice = chooseModel({ ...env, MEMDIR_MODEL: model });
    if (!choice || "problem" in choice) throw new Error(`no model: ${choice?.problem}`);
    return (await choice.open())(request(more));
  };
  const left = () => fs.readdirSync(path.join(top, "tmp"));
  return { top, env, ask, read, isTold, left };
}

function request(more: Partial<AskRequest>): AskRequest {
  const messages = [{ role: "user", content: [{ type: "text", text: "What is the word?" }] }] as const;
  return { system: [{ text: "You know words." }], messages, maxTokens: 100, ...more };
}

function problemOf(answer: AskAnswer) {
  if (answer.ok) throw new Error("it answered");
  return answer.error;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A zombie has ended: only nobody has asked for its code.
    const stat = fs.readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2, stat.lastIndexOf(")") + 3) !== "Z";
  } catch {
    return false;
  }
}

describe("what a client is given", () => {
  it("is the question on standard input, in an empty folder, marked as memdir's child, and nothing stays", async () => {
    const { ask, read, left } = desk(`
      const system = fs.readFileSync(args[args.indexOf("--system-prompt-file") + 1], "utf8");
      seen({ args, system, input: input(), files: fs.readdirSync("."), cwd: process.cwd(), env: process.env });
      answer({ result: "blue" });`);
    const answer = await ask();
    expect(answer).toEqual({
      ok: true,
      content: [{ type: "text", text: "blue" }],
      stop: "end",
      usage: { input: 7, output: 2, cacheRead: 0, cacheWrite: 0 },
    });
    const { args, system, input, files, cwd, env } = read("run1");
    expect({ system, input, files }).toEqual({ system: "You know words.", input: "What is the word?", files: [] });
    expect(env).toMatchObject({ MEMDIR_CHILD: "1", MARK: "kept", PWD: cwd });
    expect(args.join(" ")).toContain("-p --output-format json --model haiku");
    expect(args.join(" ")).not.toContain("word");
    expect(left()).toEqual([]);
  });

  it("is the model that the user named", async () => {
    const { ask, read } = desk(`seen(args); answer({ result: "x" });`);
    await ask({}, "claude-code/sonnet");
    expect(read("run1").join(" ")).toContain("--model sonnet");
  });

  it("never holds tools", async () => {
    const { ask, isTold } = desk(`seen(1); answer({ result: "x" });`);
    const error = problemOf(await ask({ tools: [{ name: "t", description: "", schema: {} }] }));
    expect(error).toMatchObject({ kind: "bad-request", retriable: false });
    expect(isTold("run1")).toBe(false);
  });

  it("of Codex is a strict schema, and each server is switched off by name", async () => {
    const { ask, read } = desk(
      `if (args[0] === "mcp") { console.log(JSON.stringify([{ name: "memdir" }, { name: "other" }])); process.exit(0); }
       seen({ args, schema: JSON.parse(fs.readFileSync(args[args.indexOf("--output-schema") + 1], "utf8")) });
       console.log(JSON.stringify({ type: "item.completed", item: { type: "agent_message", text: '{"word":"a","n":null}' } }));
       console.log(JSON.stringify({ type: "turn.completed", usage: { input_tokens: 10, cached_input_tokens: 4, output_tokens: 3 } }));`,
      "codex",
    );
    const schema = { ...SCHEMA, properties: { ...SCHEMA.properties, n: { type: "number" } } };
    expect(await ask({ schema })).toMatchObject({
      ok: true,
      content: [{ text: '{"word":"a"}' }],
      usage: { input: 6, cacheRead: 4, output: 3 },
    });
    const { args, schema: given } = read("run1");
    expect(given).toMatchObject({ required: ["word", "n"], additionalProperties: false });
    expect(given.properties.n.type).toEqual(["number", "null"]);
    expect(args).toContain("mcp_servers.memdir.enabled=false");
    expect(args).toContain("mcp_servers.other.enabled=false");
  });
});

describe("which program", () => {
  it("is only one of an absolute folder of PATH, and its absence says what to do", async () => {
    const { env, top } = desk(`answer({ result: "planted" });`);
    const client = MODEL_CLIENTS["claude-code"];
    const relative = path.relative(process.cwd(), path.join(top, "bin"));
    for (const PATH of [relative, ".", ""]) {
      const error = problemOf(await openClient({ client, model: "", env: { ...env, PATH } })(request({})));
      expect(error).toMatchObject({ kind: "bad-request" });
      expect(error.message).toMatch(/`claude` was not found on your PATH, outside this project; install Claude Code/);
    }
  });

  it("is never one of the project that memdir runs in", async () => {
    const { ask, isTold, top } = desk(`seen({}); answer({ result: "planted" });`);
    const before = process.cwd();
    process.chdir(path.join(top, "bin"));
    try {
      expect(problemOf(await ask()).message).toContain("outside this project");
    } finally {
      process.chdir(before);
    }
    expect(isTold("run1")).toBe(false);
  });

  it("is not named by what looks like an option", () => {
    expect(chooseModel({ MEMDIR_MODEL: "codex/--yolo" })).toMatchObject({ problem: expect.stringContaining("--yolo") });
    expect(chooseModel({ MEMDIR_MODEL: "opencode" })).toMatchObject({ problem: expect.stringContaining("opencode/<") });
  });
});

describe("an answer with a schema", () => {
  it("is the client's own structured output", async () => {
    const { ask, read } = desk(`seen(args); answer({ structured_output: { word: "blue" } });`);
    expect(await ask({ schema: SCHEMA })).toMatchObject({ ok: true, content: [{ text: '{"word":"blue"}' }] });
    const args: string[] = read("run1");
    expect(JSON.parse(args[args.indexOf("--json-schema") + 1]!)).toEqual(SCHEMA);
  });

  it("that does not fit is asked for once more, with what was wrong, and both are paid for", async () => {
    const { ask, read } = desk(
      `seen(input()); answer({ result: run === 1 ? '{"word": 3}' : 'Sure:\\n{"word":"red"}' });`,
    );
    const answer = await ask({ schema: SCHEMA });
    expect(answer).toMatchObject({ ok: true, content: [{ text: '{"word":"red"}' }], usage: { input: 14, output: 4 } });
    expect(read("run2")).toContain("the answer.word must be string");
  });

  it("that never fits is a bad answer after two", async () => {
    const { ask, isTold } = desk(`seen(1); answer({ result: "I would rather not." });`);
    const answer = await ask({ schema: SCHEMA });
    expect(problemOf(answer)).toMatchObject({ kind: "bad-answer", retriable: false });
    expect(answer).toMatchObject({ partial: { usage: { input: 14, output: 4 } } });
    expect([isTold("run2"), isTold("run3")]).toEqual([true, false]);
  });

  it("that the client itself gave up on is not asked for again", async () => {
    const { ask, isTold } = desk(
      `seen(1); answer({ is_error: true, subtype: "error_max_structured_output_retries" });`,
    );
    expect(problemOf(await ask({ schema: SCHEMA })).kind).toBe("bad-answer");
    expect(isTold("run2")).toBe(false);
  });
});

describe("a client that fails", () => {
  const FAILURES: [string, string, string, RegExp][] = [
    [
      "is logged out",
      `answer({ is_error: true, result: "Not logged in · Please run /login" })`,
      "auth",
      /not logged in; run `claude`/,
    ],
    [
      "is refused",
      `answer({ is_error: true, result: "API Error: 401", api_error_status: 401 })`,
      "auth",
      /not logged in/,
    ],
    [
      "has reached a limit",
      `answer({ is_error: true, result: "You've hit your session limit · resets 3pm" })`,
      "rate",
      /limit of your account.*resets 3pm/,
    ],
    ["is told to wait", `answer({ is_error: true, result: "no", api_error_status: 429 })`, "rate", /limit/],
    [
      "has no server",
      `answer({ is_error: true, result: "API Error: 529 Overloaded", api_error_status: 529 })`,
      "overloaded",
      /try again later/,
    ],
    ["prints garbage", `console.log("\\u0000\\u001b[31m<html>")`, "bad-answer", /gave no answer \(exit code 0\)/],
    ["prints nothing", `process.exit(3)`, "bad-answer", /exit code 3/],
    ["prints half an answer", `process.stdout.write('{"type":"result","is_err')`, "bad-answer", /gave no answer/],
    ["tells a key", `answer({ is_error: true, result: "bad key sk-verysecretkey123" })`, "bad-answer", /\[key\]/],
  ];
  it.each(FAILURES)("%s", async (_name, script, kind, says) => {
    const { ask, left } = desk(script);
    const error = problemOf(await ask());
    expect(error).toMatchObject({ kind, retriable: false });
    expect(error.message).toMatch(says);
    expect(error.message).not.toContain("verysecret");
    expect(left()).toEqual([]);
  });

  it("by waiting longer than it may is ended", async () => {
    const { env, left } = desk(`setInterval(() => {}, 1000);`);
    const client = MODEL_CLIENTS["claude-code"];
    const answer = await openClient({ client, model: "haiku", env, limitMs: 200 })(request({}));
    expect(problemOf(answer)).toMatchObject({
      kind: "timeout",
      message: expect.stringMatching(/did not answer within/),
    });
    expect(left()).toEqual([]);
  });

  it("by waiting for a limit to pass is ended, and that is the reason", async () => {
    const { ask, left } = desk(
      `for (const n of [1, 2, 3]) console.error("Attempt " + n + " failed with status 429");
       setInterval(() => {}, 1000);`,
    );
    expect(problemOf(await ask())).toMatchObject({ kind: "rate" });
    expect(left()).toEqual([]);
  });

  it("to end when it is stopped is killed with everything it started", async () => {
    const { ask, read, isTold, left } = desk(`
      process.on("SIGTERM", () => {});
      const child = spawn(process.execPath, ["-e", "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)"], { stdio: "inherit" });
      seen([process.pid, child.pid], "pids");
      setInterval(() => {}, 1000);`);
    const stop = new AbortController();
    const answering = ask({ signal: stop.signal });
    await until(() => isTold("pids"));
    const pids: number[] = read("pids");
    stop.abort();
    expect(problemOf(await answering).kind).toBe("aborted");
    for (const pid of pids) await until(() => !isAlive(pid), `the end of ${pid}`);
    expect(left()).toEqual([]);
  });

  it("to wait for what it started does not keep it: the answer comes, and the rest ends", async () => {
    const { ask, read } = desk(`
      const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "inherit" });
      seen(child.pid, "pid");
      child.unref();
      answer({ result: "blue" });
      process.exitCode = 0;
      setTimeout(() => process.exit(0), 0);`);
    expect(await ask()).toMatchObject({ ok: true, content: [{ text: "blue" }] });
    const pid: number = read("pid");
    await until(() => !isAlive(pid), `the end of ${pid}`);
  });
});

it("what Gemini CLI writes about the session is removed, and nothing else", async () => {
  const { ask, env } = desk(
    `const home = path.join(process.env.HOME, ".gemini");
     const id = args[args.indexOf("--session-id") + 1];
     const chats = path.join(home, "tmp", "x1", "chats");
     fs.mkdirSync(chats, { recursive: true });
     fs.writeFileSync(path.join(home, "projects.json"), JSON.stringify({ projects: { [process.cwd()]: "x1" } }));
     fs.writeFileSync(path.join(chats, "session-2026-" + id.slice(0, 8) + ".jsonl"), JSON.stringify({ sessionId: id }));
     fs.writeFileSync(path.join(chats, "session-2026-" + id.slice(0, 7) + "z.jsonl"), "another's");
     seen(fs.readdirSync(".gemini"));
     console.log(JSON.stringify({ response: "blue", stats: { models: { m: { tokens: { prompt: 9, candidates: 2, cached: 4, thoughts: 1 } } } } }));`,
    "gemini-cli",
  );
  expect(await ask()).toMatchObject({ ok: true, usage: { input: 5, output: 3, cacheRead: 4 } });
  const chats = path.join(env.HOME, ".gemini", "tmp", "x1", "chats");
  expect(fs.readdirSync(chats)).toEqual([expect.stringMatching(/z\.jsonl$/)]);
  expect(fs.readdirSync(path.join(env.HOME, ".cache", "memdir", "gemini-model"))).toEqual([".gemini"]);
});
