import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { describe, expect, test } from "vitest";
import type { Message } from "../../src/model/ask.ts";
import { CUT_OFF } from "../../src/session/conversation.ts";
import { openLines } from "../../src/session/line-stream.ts";
import { readSession } from "../../src/session/session-reader.ts";
import { errorOf } from "../world.ts";
import { answered, call, makeFolder, result, said, uuid, whyNotSendable, writeLines } from "./transcripts.ts";

const SESSION = "11111111-2222-4333-8444-555555555555";

function write(lines: readonly unknown[], folder = makeFolder()): string {
  return writeLines(path.join(folder, `${SESSION}.jsonl`), lines);
}

/** A line as Claude Code writes it: keys in its order, its own extra fields. */
function line(type: string, id: number, parent: number | null, more: object) {
  return {
    parentUuid: parent === null ? null : uuid(parent),
    isSidechain: false,
    userType: "external",
    cwd: "/work/app",
    sessionId: SESSION,
    version: "2.1.325",
    gitBranch: "main",
    type,
    ...more,
    uuid: uuid(id),
    timestamp: `2026-11-01T10:00:${String(id % 60).padStart(2, "0")}.000Z`,
  };
}

function user(id: number, parent: number | null, content: unknown, more: object = {}) {
  return line("user", id, parent, { message: { role: "user", content }, ...more });
}

function assistant(id: number, parent: number | null, messageId: string, content: unknown[], more: object = {}) {
  const usage = { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 100, cache_creation_input_tokens: 7 };
  const message = {
    id: messageId,
    type: "message",
    role: "assistant",
    model: "claude-x",
    content,
    stop_reason: null,
    usage,
  };
  return line("assistant", id, parent, { message, requestId: "req", ...more });
}

const text = (words: string) => ({ type: "text", text: words });
const use = (id: string) => ({ type: "tool_use", id, name: "Read", input: {} });
const done = (id: string, content: unknown = "done") => ({ type: "tool_result", tool_use_id: id, content });
const results = (...ids: string[]): Message => ({ role: "user", content: ids.map((id) => result(id)) });

describe("a transcript of Claude Code", () => {
  test("B1.13 C26 is read with all its bookkeeping, reminders, sub-agents and titles passed over or used", async () => {
    const file = write([
      { type: "queue-operation", operation: "enqueue", sessionId: SESSION, timestamp: "2026-11-01T09:59:59.000Z" },
      { type: "mode", mode: "default", sessionId: SESSION },
      {
        type: "file-history-snapshot",
        messageId: uuid(1),
        snapshot: { trackedFileBackups: {} },
        isSnapshotUpdate: false,
      },
      line("attachment", 90, null, { attachment: { type: "instructions", files: [{ path: "/a", content: "x" }] } }),
      user(1, 90, "Please look at the pool"),
      line("attachment", 2, 1, { attachment: { type: "environment", content: "not ours" } }),
      line("system", 3, 2, { subtype: "informational", content: "a notice" }),
      user(50, null, "a sub-agent's task", { isSidechain: true }),
      assistant(51, 50, "msg_side", [text("aside")], { isSidechain: true }),
      { type: "api-request-start", id: 1 },
      assistant(4, 3, "msg_1", [{ type: "thinking", thinking: "hm", signature: "s" }]),
      assistant(5, 4, "msg_1", [text("I look.")]),
      assistant(6, 5, "msg_1", [use("t1")]),
      user(7, 6, [done("t1", [text("content")])], { toolUseResult: { file: { content: "content" } } }),
      line("progress", 8, 7, { data: {} }),
      assistant(9, 8, "msg_2", [text("It has ten connections.")]),
      { type: "ai-title", aiTitle: "Pool size", sessionId: SESSION },
      { type: "last-prompt", lastPrompt: "Please look at the pool", leafUuid: uuid(9), sessionId: SESSION },
      { type: "cost-state", cost: 1 },
      { type: "file-history-delta", messageId: uuid(1) },
      {
        type: "file-history-snapshot",
        messageId: uuid(1),
        snapshot: { trackedFileBackups: { a: {} } },
        isSnapshotUpdate: true,
      },
      { type: "something-new", uuid: 7, message: { role: "user", content: "not said" } },
    ]);
    const session = await readSession(file);
    expect(session).toEqual({
      id: SESSION,
      path: file,
      leaf: uuid(9),
      messages: [
        said("Please look at the pool"),
        answered(
          { type: "opaque", provider: "anthropic", value: { type: "thinking", thinking: "hm", signature: "s" } },
          "I look.",
          call("t1"),
        ),
        { role: "user", content: [result("t1", "content")] },
        answered("It has ten connections."),
      ],
      prompts: [
        {
          uuid: uuid(1),
          text: "Please look at the pool",
          at: "2026-11-01T10:00:01.000Z",
          index: 0,
          parent: uuid(90),
        },
      ],
      notes: [
        expect.objectContaining({ isSnapshotUpdate: false }),
        expect.objectContaining({ isSnapshotUpdate: true }),
      ],
      title: "Pool size",
      model: "claude-x",
      // Each message once, although each of its lines tells; the sub-agent's was paid too.
      usage: { input: 30, output: 15, cacheRead: 300, cacheWrite: 21 },
      cwd: "/work/app",
      problems: [],
    });
  });

  test("results of parallel calls come together, whether they hang beside the chain or between the calls", async () => {
    const beside = write([
      user(1, null, "go"),
      assistant(2, 1, "m1", [use("a")]),
      assistant(3, 2, "m1", [use("b")]),
      user(4, 2, [done("a")]),
      user(5, 3, [done("b")]),
      assistant(6, 5, "m2", [text("ready")]),
    ]);
    const between = write([
      user(1, null, "go"),
      assistant(2, 1, "m1", [use("a")]),
      user(4, 2, [done("a")]),
      assistant(3, 4, "m1", [use("b")]),
      user(5, 3, [done("b")]),
      assistant(6, 5, "m2", [text("ready")]),
    ]);
    for (const file of [beside, between]) {
      const { messages } = await readSession(file);
      expect(messages).toEqual([said("go"), answered(call("a"), call("b")), results("a", "b"), answered("ready")]);
    }
  });

  test("B1.13 only the last branch counts", async () => {
    const file = write([
      user(1, null, "start"),
      assistant(2, 1, "m1", [text("first try")]),
      user(3, 2, "no, otherwise"),
      assistant(4, 1, "m2", [text("second try")]),
      user(5, 4, "good"),
    ]);
    expect((await readSession(file)).messages).toEqual([said("start"), answered("second try"), said("good")]);
  });

  test("B1.13 what was compacted is not sent again", async () => {
    const boundary = (id: number, before: number) =>
      line("system", id, null, {
        subtype: "compact_boundary",
        content: "Conversation compacted",
        logicalParentUuid: uuid(before),
        compactMetadata: { trigger: "manual", preTokens: 9 },
      });
    const file = write([
      user(1, null, "start"),
      assistant(2, 1, "m1", [text("one")]),
      boundary(3, 2),
      user(4, 3, "summary", { isCompactSummary: true, isVisibleInTranscriptOnly: true }),
      assistant(5, 4, "m2", [text("two")]),
      boundary(6, 5),
      user(7, 6, "summary of all", { isCompactSummary: true }),
      user(8, 7, "next"),
      { type: "summary", summary: "About pools", leafUuid: uuid(5) },
    ]);
    const session = await readSession(file);
    expect(session.messages).toEqual([said("summary of all"), said("next")]);
    expect(session.prompts).toMatchObject([{ text: "next", index: 1 }]);
    expect(session.title).toBe("About pools");
    expect(session.usage.input).toBe(20);
  });

  test("a boundary ends the way back even if it names a line before it, and a sub-agent's line is never the last", async () => {
    const file = write([
      user(1, null, "start"),
      line("system", 2, 1, { subtype: "compact_boundary" }),
      user(3, 2, "summary", { isCompactSummary: true }),
      user(4, null, "a sub-agent's task", { isSidechain: true }),
    ]);
    expect(await readSession(file)).toMatchObject({ messages: [said("summary")], leaf: uuid(3) });
  });

  test("the client's own errors and remarks are not taken for the model's or the user's", async () => {
    const file = write([
      user(1, null, "a caveat", { isMeta: true }),
      user(2, 1, "start"),
      assistant(3, 2, "m1", [text("API Error")], { isApiErrorMessage: true }),
      user(4, 3, "again"),
    ]);
    const { messages, prompts } = await readSession(file);
    expect(messages).toEqual([said("a caveat"), said("start"), said("again")]);
    expect(prompts.map(({ text, index }) => [text, index])).toEqual([
      ["start", 1],
      ["again", 2],
    ]);
  });
});

describe("what is read can always be sent", () => {
  test.each<[string, unknown[], Message[]]>([
    [
      "a call without its result",
      [user(1, null, "go"), assistant(2, 1, "m", [use("a"), use("b")]), user(3, 2, [done("b")]), user(4, 3, "and?")],
      [
        said("go"),
        answered(call("a"), call("b")),
        { role: "user", content: [result("b"), { ...result("a", CUT_OFF), isError: true }] },
        said("and?"),
      ],
    ],
    [
      "calls with nothing behind them",
      [user(1, null, "go"), assistant(2, 1, "m", [use("a")])],
      [said("go"), answered(call("a")), { role: "user", content: [{ ...result("a", CUT_OFF), isError: true }] }],
    ],
    [
      "an answer right behind calls",
      [user(1, null, "go"), assistant(2, 1, "m", [use("a")]), assistant(3, 2, "n", [text("ok")])],
      [
        said("go"),
        answered(call("a")),
        { role: "user", content: [{ ...result("a", CUT_OFF), isError: true }] },
        answered("ok"),
      ],
    ],
    [
      "results without a call, twice, and too late",
      [
        user(1, null, [done("x"), text("go")]),
        assistant(2, 1, "m", [use("a")]),
        user(3, 2, [done("a"), done("a", "again"), done("y")]),
        assistant(4, 3, "n", [text("ok")]),
        user(5, 4, [done("a")]),
      ],
      [said("go"), answered(call("a")), results("a"), answered("ok")],
    ],
    [
      "text before results",
      [user(1, null, "go"), assistant(2, 1, "m", [use("a")]), user(3, 2, [text("by the way"), done("a")])],
      [said("go"), answered(call("a")), { role: "user", content: [result("a"), { type: "text", text: "by the way" }] }],
    ],
    [
      "a start with the assistant, thinking alone, an empty message",
      [
        assistant(1, null, "m", [text("hello")]),
        user(2, 1, []),
        user(3, 2, "go"),
        assistant(4, 3, "n", [{ type: "redacted_thinking", data: "d" }]),
      ],
      [said("go")],
    ],
  ])("%s", async (_, lines, expected) => {
    const { messages } = await readSession(write(lines));
    expect(messages).toEqual(expected);
    expect(whyNotSendable(messages)).toBeNull();
  });
});

describe("damage", () => {
  test("lines that are no JSON are passed over, and the chain is mended by the order of the file", async () => {
    const file = write([]);
    const good = [user(1, null, "one"), assistant(2, 1, "m", [text("two")]), assistant(4, 3, "n", [text("four")])];
    const rows = good.map((row) => JSON.stringify(row));
    fs.writeFileSync(file, `${rows[0]}\r\n\n  \n${rows[1]}\nrubbish\n\0\0\0\n[]\n${rows[2]}\n{"type":"us`);
    const { messages, problems, leaf } = await readSession(file);
    expect(messages).toEqual([said("one"), answered("two"), answered("four")]);
    expect(leaf).toBe(uuid(4));
    expect(problems).toEqual([
      "the last line is only half written; it is left out",
      "3 lines cannot be read; left out",
      "1 line missing in the chain; the order of the file is taken there",
    ]);
  });

  test("a byte order mark, bytes that are no UTF-8 and lone surrogates do no harm", async () => {
    const file = write([]);
    const second = Buffer.from(JSON.stringify(user(2, 1, "broken \u00e9")), "latin1");
    fs.writeFileSync(file, `\ufeff${JSON.stringify(user(1, null, "a\ud800"))}\n`);
    fs.appendFileSync(file, second);
    expect((await readSession(file)).messages).toEqual([said("a\ud800"), said("broken \ufffd")]);
  });

  test("a circle of lines ends", async () => {
    const file = write([user(1, 3, "one"), user(2, 1, "two"), user(3, 2, "three")]);
    expect((await readSession(file)).messages).toEqual([said("one"), said("two"), said("three")]);
    const self = write([user(1, 1, "alone")]);
    expect((await readSession(self)).messages).toEqual([said("alone")]);
  });

  test("a rewind to a line that is not there is passed over", async () => {
    const file = write([user(1, null, "one"), { type: "rewind", leafUuid: "gone" }]);
    expect((await readSession(file)).messages).toEqual([said("one")]);
  });

  test("an empty file is an empty session", async () => {
    expect(await readSession(write([]))).toMatchObject({ leaf: null, messages: [], prompts: [], problems: [] });
  });

  test("what is no file says so", async () => {
    const folder = makeFolder();
    expect((await errorOf(readSession(path.join(folder, "none.jsonl")))).code).toBe("not-found");
    expect((await errorOf(readSession(folder))).code).toBe("not-found");
  });

  test.skipIf(process.platform === "win32")("a fifo does not hold us up, and a link is not followed", async () => {
    const folder = makeFolder();
    execFileSync("mkfifo", [path.join(folder, "fifo")]);
    expect((await errorOf(readSession(path.join(folder, "fifo")))).code).toBe("not-found");
    fs.symlinkSync(write([user(1, null, "one")]), path.join(folder, "link"));
    expect((await errorOf(readSession(path.join(folder, "link")))).code).toBe("not-found");
  });
});

test("C26 a file that is larger than memory is streamed", async () => {
  const folder = makeFolder();
  const file = path.join(folder, `${SESSION}.jsonl`);
  const fd = fs.openSync(file, "w");
  const big = "a line of output\n".repeat(60_000);
  for (let id = 1; id <= 120; id += 3) {
    for (const row of [
      user(id, id - 1, `prompt ${id}`),
      assistant(id + 1, id, `m${id}`, [text("ok"), use(`t${id}`)]),
      user(id + 2, id + 1, [done(`t${id}`, big)]),
    ]) {
      fs.writeSync(fd, `${JSON.stringify(row)}\n`);
    }
  }
  const boundary = { subtype: "compact_boundary", logicalParentUuid: uuid(120) };
  for (const row of [line("system", 121, null, boundary), user(122, 121, "after")])
    fs.writeSync(fd, `${JSON.stringify(row)}\n`);
  fs.closeSync(fd);
  const here = path.dirname(fileURLToPath(import.meta.url));
  const outfile = path.join(folder, "program.mjs");
  const contents = `
import { readSession } from "./session-reader.ts";
import { listSessions, searchSessions } from "./sessions.ts";
const places = { dirs: [process.argv[2]], older: null };
const [{ messages }] = await listSessions(places);
const [{ line }] = await searchSessions(places, '"prompt 61"');
const session = await readSession(process.argv[3]);
process.stdout.write(JSON.stringify({ messages, line, sent: session.messages }));`;
  const stdin = { contents, resolveDir: path.resolve(here, "../../src/session") };
  await build({ stdin, outfile, bundle: true, platform: "node", format: "esm", logLevel: "error" });
  const out = execFileSync(process.execPath, ["--max-old-space-size=24", outfile, folder, file], { encoding: "utf8" });
  expect(fs.statSync(file).size).toBeGreaterThan(40_000_000);
  expect(JSON.parse(out)).toEqual({ messages: 81, line: "prompt 61", sent: [said("after")] });
});

test("C26 seed 001's transcripts are read in the order of the file, and gone on from", async () => {
  const file = writeLines(path.join(makeFolder(), "sessions", "abc", "transcript.jsonl"), [
    { role: "user", content: "hello" },
    { role: "assistant", content: [text("hi")] },
    { type: "user", content: "bye" },
  ]);
  const session = await readSession(file);
  expect(session.id).toBe("abc");
  expect(session.messages).toEqual([said("hello"), answered("hi"), said("bye")]);
  fs.appendFileSync(
    file,
    `${JSON.stringify({ ...assistant(9, 0, "m", [text("see you")]), parentUuid: session.leaf })}\n`,
  );
  expect((await readSession(file)).messages.at(-1)).toEqual(answered("see you"));
  expect((await readSession(file)).messages).toHaveLength(4);
});

describe("lines of a file", () => {
  async function linesOf(file: string, maxLineBytes?: number) {
    const lines = openLines(file)!;
    const seen: [string | null, number, boolean][] = [];
    await lines.each(({ bytes, offset, ended }) => seen.push([bytes?.toString() ?? null, offset, ended]), {
      maxLineBytes,
    });
    lines.close();
    return seen;
  }

  test("longer than one read, with their places, the last without an end", async () => {
    const file = path.join(makeFolder(), "lines");
    const long = "x".repeat(1_700_000);
    fs.writeFileSync(file, `a\n\n${long}\nb\n${long}\nc`);
    expect(await linesOf(file)).toEqual([
      ["a", 0, true],
      [long, 3, true],
      ["b", 3 + long.length + 1, true],
      [long, 3 + long.length + 3, true],
      ["c", 3 + 2 * long.length + 4, false],
    ]);
  });

  test("too long for memory they are passed over", async () => {
    const file = path.join(makeFolder(), "lines");
    fs.writeFileSync(file, `a\n${"x".repeat(1_200_000)}\nb\n${"y".repeat(600_000)}`);
    expect(await linesOf(file, 500_000)).toEqual([
      ["a", 0, true],
      [null, 2, true],
      ["b", 1_200_003, true],
      [null, 1_200_005, false],
    ]);
  });
});
