/** Sessions of Gemini CLI: what the user said is told from what the client, its hooks and named files put into the message. */

import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { readGeminiHead, readGeminiSession } from "../../src/session/gemini.ts";
import { errorOf } from "../world.ts";
import { answered, CHAT, call, head, putChat, responseOf, rewritten, sent, typed } from "./chats.ts";
import { makeFolder, whyNotSendable } from "./transcripts.ts";

type Lines = Parameters<typeof putChat>[1];

function put(...lines: Lines): string {
  const chats = path.join(makeFolder(), "shop", "chats");
  return putChat(path.join(chats, `session-2026-03-10T12-00-${CHAT.slice(0, 8)}.jsonl`), lines);
}

const said = async (...lines: Lines) => (await readGeminiSession(put(...lines))).prompts.map(({ text }) => text);

const CONTEXT = {
  id: "c0ffee",
  type: "user",
  content: [{ text: "<session_context>\nRemember x.\n</session_context>" }],
};

describe("a session", () => {
  it("is its prompts, answers and tools, in messages that could be sent", async () => {
    const calls = [
      call("c1", "run_shell_command", { command: "ls" }, "a.ts"),
      call("c2", "read_file", { file_path: "a.ts" }, "", { status: "error", result: null }),
    ];
    const first = answered("I look.");
    const file = put(
      head(),
      rewritten(CONTEXT),
      typed("fix the test"),
      first,
      { $set: { lastUpdated: "2026-03-10T12:00:01.000Z" } },
      { ...first, toolCalls: calls },
      { ...sent([]), content: [responseOf("c1", "run_shell_command", "a.ts"), { text: "Remember y." }] },
      answered([{ text: "hm", thought: true }, { text: "Done." }]),
      { id: "i1", type: "info", content: "an update is there" },
      typed("thanks"),
    );
    const session = await readGeminiSession(file);
    expect(session).toMatchObject({ id: CHAT, path: file, cwd: null, problems: [] });
    expect(session.prompts.map(({ text, at }) => [text, at.slice(0, 10)])).toEqual([
      ["fix the test", "2026-03-10"],
      ["thanks", "2026-03-10"],
    ]);
    expect(session.messages.map(({ role, content }) => [role, ...content.map(({ type }) => type)])).toEqual([
      ["user", "text"],
      ["assistant", "text", "tool_use", "tool_use"],
      ["user", "tool_result", "tool_result"],
      ["user", "text"],
      ["assistant", "text"],
      ["user", "text"],
    ]);
    expect(session.messages[1]!.content[1]).toMatchObject({ name: "run_shell_command", input: { command: "ls" } });
    expect(session.messages[2]!.content).toMatchObject([
      { id: "c1", content: "a.ts" },
      { id: "c2", isError: true },
    ]);
    expect(session.messages[3]!.content).toEqual([{ type: "text", text: "Remember y.", attachment: "gemini" }]);
    expect(session.messages[4]!.content).toEqual([{ type: "text", text: "Done." }]);
    expect(whyNotSendable(session.messages)).toBeNull();
  });

  it("has the client's own names for its prompts, and its project's folder", async () => {
    const prompt = typed("one");
    const file = put(head(), prompt);
    fs.writeFileSync(path.join(path.dirname(file), "..", ".project_root"), "/work/shop\n");
    const session = await readGeminiSession(file);
    expect(session).toMatchObject({ cwd: "/work/shop", prompts: [{ uuid: prompt.id, at: prompt.timestamp }] });
    expect(readGeminiHead(file)).toEqual({ id: CHAT, cwd: "/work/shop", isSubAgent: false });
    expect(readGeminiHead(put(head({ kind: "subagent", directories: ["/work/shop"] })))).toMatchObject({
      isSubAgent: true,
    });
  });

  it("leaves out what was taken back", async () => {
    const two = typed("two");
    const lines = [head(), typed("one"), answered("a"), two, answered("b"), typed("three"), { $rewindTo: two.id }];
    expect(await said(...lines, typed("four"))).toEqual(["one", "four"]);
    expect(await said(...lines, { $rewindTo: "gone" }, typed("five"))).toEqual(["five"]);
  });

  it("that went on or was compressed has what was before, once, and no summary", async () => {
    const one = typed("one");
    const summary = { id: "s1", type: "user", content: [{ text: "Remember that all reviews are approved." }] };
    const copy = { ...one, id: "s2" };
    const { sessionId, projectHash } = head();
    const again = { sessionId, projectHash, startTime: "2026-03-11T12:00:00.000Z", kind: "main" };
    const lines = [head(), one, answered("a"), again, rewritten(CONTEXT, summary, copy), typed("two")];
    expect(await said(...lines)).toEqual(["one", "two"]);
    expect(await said(...lines, { $rewindTo: "s2" }, typed("three"))).toEqual(["one", "three"]);
  });

  it("does without results and calls that were never written", async () => {
    const session = await readGeminiSession(
      put(
        head(),
        { ...sent([]), content: [responseOf("gone", "x", "x")] },
        typed("go"),
        answered([{ text: "I" }, { functionCall: { id: "c1", name: "mcp_wiki_search", args: { q: 1 } } }]),
        answered("", { toolCalls: [{ id: "c2", name: "x", args: 7, status: "executing" }, { name: "no id" }, 7] }),
        answered("one"),
        answered("two"),
        typed("and?"),
      ),
    );
    expect(whyNotSendable(session.messages)).toBeNull();
    expect(session.prompts).toHaveLength(2);
    expect(JSON.stringify(session.messages)).toContain('"mcp_wiki_search"');
  });

  it("takes each call's own result where all of a turn were written to each", async () => {
    const result = [responseOf("c1", "a", "first"), responseOf("c2", "b", "second")];
    const toolCalls = ["c1", "c2"].map((id) => call(id, "a", {}, "", { result }));
    const { messages } = await readGeminiSession(put(head(), typed("go"), answered("", { toolCalls })));
    expect(messages.at(-1)!.content).toMatchObject([{ content: "first" }, { content: "second" }]);
  });
});

describe("what nobody typed", () => {
  const FILES = [
    "\n--- Content from referenced files ---",
    "\nContent from @a.md:\n",
    "Remember x.",
    "\n--- End of content ---",
  ];
  const HOOKED = "<hook_context>Remember x.</hook_context>";

  it.each([
    "<session_context>\nRemember x.",
    "<state_snapshot>\n<goal>never stop</goal>\n</state_snapshot>",
    HOOKED,
    "<hook_context>Remember x, cut off",
    "<some_later_thing kind='x'>\nnever stop\n</some_later_thing>",
    "I ran the following shell command:\n```sh\ncat a.md\n```\n\nThis produced the following result:\n```\nRemember x.\n```",
    'Here is the user\'s editor context as a JSON object. ```json\n{"selectedText":"Remember x."}\n```',
    "I'm currently working in the following directories:\n  - /shop",
    "System: Potential loop detected. Details: x",
    "Please continue.",
  ])("is no prompt: %s", async (text) => {
    const session = await readGeminiSession(put(head(), typed(text), typed("hello")));
    expect(session.prompts.map((prompt) => prompt.text)).toEqual(["hello"]);
    const blocks = session.messages.flatMap((one) => (one.role === "user" ? one.content : []));
    const spoken = blocks.filter((block) => block.type === "text" && block.attachment === undefined);
    expect(spoken).toEqual([{ type: "text", text: "hello" }]);
  });

  it("may stand before and behind what was typed, in one text or several", async () => {
    expect(await said(head(), sent([`${HOOKED}\n\nfix it`, ...FILES, HOOKED], `${HOOKED}\n\nfix it`))).toEqual([
      "fix it",
    ]);
    expect(await said(head(), sent(["fix it", ...FILES, "use npm", HOOKED]))).toEqual(["fix it"]);
    expect(await said(head(), typed(`fix it${FILES.join("")}`))).toEqual(["fix it"]);
    expect(await said(head(), typed(`${HOOKED}\nuse npm</hook_context>fix it`))).toEqual(["fix it"]);
    expect(await said(head(), sent(["fix it", "now"]))).toEqual(["fix it\nnow"]);
  });

  it("is told from what the client showed: commands, and prompts of its own to go on", async () => {
    expect(await said(head(), sent(["Write a plan. Remember x."], "/plan the release"))).toEqual([]);
    expect(await said(head(), typed("fix it"), sent(["Look back at the turn."], "fix it"))).toEqual(["fix it"]);
  });
});

describe("a file", () => {
  it("of 2025 is one object", async () => {
    const messages = [{ ...typed("use pnpm"), content: "use pnpm" }, answered("ok")];
    const { kind, ...older } = head();
    const file = put(JSON.stringify({ ...older, messages }, null, 2));
    expect(await readGeminiSession(file)).toMatchObject({ id: CHAT, prompts: [{ text: "use pnpm" }], problems: [] });
    expect(readGeminiHead(file)).toEqual({ id: CHAT, cwd: null, isSubAgent: false });
    fs.writeFileSync(file, `\ufeff${JSON.stringify({ ...older, messages })}`);
    expect(await readGeminiSession(file)).toMatchObject({ id: CHAT, prompts: [{ text: "use pnpm" }], problems: [] });
    fs.writeFileSync(file, `\ufeff${JSON.stringify({ ...older, messages }, null, 2)}`);
    expect((await readGeminiSession(file)).prompts).toHaveLength(1);
    fs.writeFileSync(file, JSON.stringify({ ...older, messages }, null, 2).slice(0, -20));
    expect((await readGeminiSession(file)).prompts).toEqual([]);
  });

  it("may be damaged: what can be read is read", async () => {
    const file = put(
      head({ sessionId: "../../x" }),
      "\0\0\0",
      "null",
      { ...typed("h\ud800i"), timestamp: 7 },
      { ...typed(""), content: [null, 7, { text: 7 }, [{ text: "deep" }]] },
      { id: "x", type: "user" },
      { id: "y", type: "gemini", content: { text: "one part" }, toolCalls: "none" },
      { $set: { messages: "none" } },
      { $set: null },
      { $rewindTo: 7 },
    );
    fs.writeFileSync(file, fs.readFileSync(file, "utf8").replaceAll("\n", "\r\n"));
    fs.appendFileSync(file, '{"id":"z","type":"us');
    const session = await readGeminiSession(file);
    expect(session.id).toBe(path.basename(file, ".jsonl"));
    expect(session.prompts).toHaveLength(1);
    expect(session.messages.at(-1)!.content).toEqual([{ type: "text", text: "one part" }]);
    expect(session.problems).toEqual([
      "the last line is only half written; it is left out",
      "2 lines cannot be read; left out",
    ]);
  });

  it("that is none is told apart or refused", async () => {
    const empty = put();
    const folder = path.dirname(empty);
    expect(readGeminiHead(empty)).toBeNull();
    expect(await readGeminiSession(empty)).toMatchObject({ messages: [], prompts: [], problems: [] });
    expect(readGeminiHead(put({ type: "user", sessionId: CHAT }))).toBeNull();
    expect(readGeminiHead(put("garbage", head()))).toBeNull();
    expect(readGeminiHead(folder)).toBeNull();
    expect(readGeminiHead(path.join(folder, "none"))).toBeNull();
    expect((await errorOf(readGeminiSession(path.join(folder, "none")))).code).toBe("not-found");
  });

  it.skipIf(process.platform === "win32")("is no link and no fifo; nor is what names the project", async () => {
    const file = put(head(), typed("hi"));
    const folder = path.dirname(file);
    fs.symlinkSync(file, path.join(folder, "link.jsonl"));
    execFileSync("mkfifo", [path.join(folder, "fifo.jsonl"), path.join(folder, "..", ".project_root")]);
    for (const name of ["link.jsonl", "fifo.jsonl"]) {
      expect(readGeminiHead(path.join(folder, name))).toBeNull();
      expect((await errorOf(readGeminiSession(path.join(folder, name)))).code).toBe("not-found");
    }
    expect(readGeminiHead(file)?.cwd).toBeNull();
    const other = put(head(), typed("hi"));
    fs.writeFileSync(path.join(path.dirname(other), "..", ".project_root"), "x".repeat(1 << 16));
    expect(readGeminiHead(other)?.cwd).toBeNull();
  });
});
