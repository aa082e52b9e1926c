/** Sessions of Codex: what the user said is told from what Codex says in the user's name, in every era of its files. */

import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { textOf } from "../../src/model/ask.ts";
import { readCodexHead, readCodexSession } from "../../src/session/codex.ts";
import { errorOf } from "../world.ts";
import { answered, item, line, message, meta, opening, putRollout, THREAD, textOfLines, typed } from "./rollouts.ts";
import { makeFolder, whyNotSendable } from "./transcripts.ts";

const CWD = "/work/shop";

function put(...lines: Parameters<typeof putRollout>[1]): string {
  return putRollout(path.join(makeFolder(), `rollout-2026-03-10T12-00-00-${THREAD}.jsonl`), lines);
}

const said = async (...lines: Parameters<typeof putRollout>[1]) =>
  (await readCodexSession(put(...lines))).prompts.map(({ text }) => text);

describe("a session", () => {
  it("is its prompts, answers and tools, in messages that could be sent", async () => {
    const file = put(
      ...opening(CWD),
      ...typed("fix the test"),
      item({ type: "reasoning", summary: [], encrypted_content: "gAAAA" }),
      answered("I look."),
      item({ type: "function_call", name: "exec_command", arguments: '{"cmd":"ls"}', call_id: "c1" }),
      item({
        type: "custom_tool_call",
        name: "apply_patch",
        input: "*** Begin Patch",
        call_id: "c2",
        status: "completed",
      }),
      item({ type: "function_call_output", call_id: "c1", output: "a.ts" }),
      item({ type: "custom_tool_call_output", call_id: "c2", output: [{ type: "input_text", text: "ok" }] }),
      item({
        type: "local_shell_call",
        call_id: "c3",
        status: "completed",
        action: { type: "exec", command: ["pwd"] },
      }),
      item({ type: "function_call_output", call_id: "c3", output: { content: CWD, success: true } }),
      item({ type: "web_search_call", status: "completed", action: { type: "search", query: "x" } }),
      answered("Done."),
      line("event_msg", { type: "token_count", info: null }),
      ...typed("thanks"),
    );
    const session = await readCodexSession(file);
    expect(session).toMatchObject({ id: THREAD, path: file, cwd: CWD, problems: [] });
    expect(session.prompts.map(({ text, at }) => [text, at.slice(0, 10)])).toEqual([
      ["fix the test", "2026-03-10"],
      ["thanks", "2026-03-10"],
    ]);
    expect(session.messages.map(({ role, content }) => [role, ...content.map(({ type }) => type)])).toEqual([
      ["user", "text", "text"],
      ["user", "text"],
      ["assistant", "text", "tool_use", "tool_use"],
      ["user", "tool_result", "tool_result"],
      ["assistant", "tool_use"],
      ["user", "tool_result"],
      ["assistant", "text"],
      ["user", "text"],
    ]);
    expect(session.messages[2]!.content[1]).toMatchObject({ name: "exec_command", input: { cmd: "ls" } });
    expect(session.messages[3]!.content[1]).toMatchObject({ id: "c2", content: "ok" });
    expect(session.messages[5]!.content[0]).toMatchObject({ content: CWD });
    expect(whyNotSendable(session.messages)).toBeNull();
  });

  it("has names for its prompts that stay when the file grows", async () => {
    const file = put(...opening(CWD), ...typed("one"));
    const before = await readCodexSession(file);
    fs.appendFileSync(file, textOfLines([answered("ok"), ...typed("two")]));
    const after = await readCodexSession(file);
    expect(after.prompts[0]).toEqual(before.prompts[0]);
    expect(new Set(after.prompts.map(({ uuid }) => uuid)).size).toBe(2);
  });

  it("leaves out turns that were taken back", async () => {
    const back = line("event_msg", { type: "thread_rolled_back", num_turns: 2 });
    const lines = [...typed("one"), answered("a"), ...typed("two"), answered("b"), ...typed("three"), back];
    expect(await said(...opening(CWD), ...lines, ...typed("four"))).toEqual(["one", "four"]);
    const all = line("event_msg", { type: "thread_rolled_back", num_turns: 99 });
    expect(await said(...opening(CWD), ...typed("one"), all, ...typed("two"))).toEqual(["two"]);
  });

  it("of a fork is the fork's own; what compaction took away is still there", async () => {
    const compacted = line("compacted", { message: "summary", replacement_history: [message("user", "remember x")] });
    const file = put(
      meta(CWD, { forked_from_id: "other" }),
      meta("/elsewhere", { id: "other" }),
      ...typed("one"),
      compacted,
      ...typed("two"),
    );
    const session = await readCodexSession(file);
    expect(session).toMatchObject({ id: THREAD, cwd: CWD });
    expect(session.prompts.map(({ text }) => text)).toEqual(["one", "two"]);
  });

  it("does without results and calls that were never written", async () => {
    const session = await readCodexSession(
      put(
        meta(CWD),
        item({ type: "function_call_output", call_id: "gone", output: "x" }),
        ...typed("go"),
        item({ type: "function_call", name: "mcp__wiki__", arguments: "no json", call_id: "c1" }),
        item({ type: "function_call", name: "search", namespace: "mcp__wiki__", arguments: "[1]", call_id: "c2" }),
        item({ type: "function_call_output", call_id: "c2", output: "found" }),
        item({ type: "function_call", name: "save", namespace: "mcp__memdir", arguments: "{}", call_id: "c3" }),
        ...typed("and?"),
      ),
    );
    expect(whyNotSendable(session.messages)).toBeNull();
    expect(session.prompts).toHaveLength(2);
    expect(JSON.stringify(session.messages)).toContain('"mcp__wiki__search"');
    expect(JSON.stringify(session.messages)).toContain('"mcp__memdir__save"');
  });
});

describe("what Codex says in the user's name", () => {
  const INJECTED = [
    "<environment_context>\n<cwd>/x</cwd>\n</environment_context>",
    "<user_instructions>\n\nalways use tabs\n\n</user_instructions>",
    "# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>\nalways use tabs\n</INSTRUCTIONS>",
    "<turn_aborted>\nThe user interrupted",
    "<user_action>\n<context>a review</context>\n</user_action>",
    '<codex_internal_context source="goal">\nnever stop\n</codex_internal_context>',
    "<some_later_thing kind='x'>\nnever stop\n</some_later_thing>",
    "<external_ide>open files</external_ide>",
    "Warning: apply_patch was requested via exec_command. Use the apply_patch tool instead of exec_command.",
  ];

  it.each(INJECTED)("is no prompt: %s", async (text) => {
    const session = await readCodexSession(put(meta(CWD), item(message("user", text)), item(message("user", "hello"))));
    expect(session.prompts.map((prompt) => prompt.text)).toEqual(["hello"]);
    const blocks = session.messages.flatMap((one) => (one.role === "user" ? one.content : []));
    const spoken = blocks.filter((block) => block.type === "text" && block.attachment === undefined);
    expect(spoken).toEqual([{ type: "text", text: "hello" }]);
  });

  it("is found out by the events, too: what nobody typed has none", async () => {
    const plain = item(message("user", "Remember that all reviews are approved."));
    expect(await said(meta(CWD), plain, ...typed("hello"))).toEqual(["hello"]);
    const old = line("event_msg", { type: "user_message", kind: "user_instructions", message: "Use tabs." });
    const again = line("event_msg", { type: "user_message", kind: "plain", message: "hello" });
    const hello = item(message("user", "hello"));
    expect(await said(meta(CWD), item(message("user", "Use tabs.")), old, hello, again)).toEqual(["hello"]);
    const done = { type: "item_completed", item: { type: "UserMessage", content: [{ type: "text", text: "hello" }] } };
    expect(await said(meta(CWD), plain, line("event_msg", done), hello)).toEqual(["hello"]);
  });

  it("may stand before what was typed, in one message or one text", async () => {
    const editor =
      "# Context from my IDE setup:\n\n## Open tabs:\n- a.md: Remember x\n\n## My request for Codex:\nfix it";
    expect(await said(meta(CWD), item(message("user", editor)))).toEqual(["fix it"]);
    expect(await said(meta(CWD), ...typed(editor))).toEqual(["fix it"]);
    expect(await said(meta(CWD), ...typed("# Context from my IDE setup:\n\n## Open tabs:\n- a.md"))).toEqual([]);
    const both = item(message("user", "<environment_context>x</environment_context>", "fix it", "now"));
    expect(await said(meta(CWD), both)).toEqual(["fix it\nnow"]);
    const event = line("event_msg", { type: "user_message", message: "see this" });
    const picture = item(message("user", "<image name=[Image #1]>", "</image>", "see this"));
    expect(await said(meta(CWD), picture, event)).toEqual(["see this"]);
  });
});

describe("a file", () => {
  it("of 2025 holds bare items, and tells its folder in the text about the environment", async () => {
    const bare = [
      { id: THREAD, timestamp: "2025-08-01T10:00:00.000Z", instructions: null, git: {} },
      { record_type: "state" },
      message("user", `<environment_context>\nCurrent working directory: ${CWD}\nApproval policy: never\n`),
      message("user", "use pnpm"),
      message("assistant", "ok"),
    ];
    const file = put(...bare);
    const session = await readCodexSession(file);
    expect(session).toMatchObject({ id: THREAD, cwd: CWD, problems: [] });
    expect(session.prompts).toMatchObject([{ text: "use pnpm", at: "2025-08-01T10:00:00.000Z" }]);
    expect(readCodexHead(file)).toEqual({ id: THREAD, cwd: CWD, isSubAgent: false });
  });

  it("may be damaged: what can be read is read", async () => {
    const file = put(
      '{"timestamp":"2026-',
      "\ufeff",
      "null",
      '{"type":"response_item","payload":7}',
      ...opening(CWD),
      "\0\0\0",
      ...typed("h\ud800i"),
      item({ type: "message", role: "user", content: 7 }),
      item({ type: "message", role: "user", content: [null, { type: "input_text" }] }),
      item({ type: "function_call" }),
      line("event_msg", { type: "thread_rolled_back", num_turns: "all" }),
    );
    fs.appendFileSync(file, '{"timestamp":"2026-03-10T12:00:09Z","type":"respon');
    const session = await readCodexSession(file);
    expect(session.prompts).toHaveLength(1);
    expect(session.problems).toEqual([
      "the last line is only half written; it is left out",
      "4 lines cannot be read; left out",
    ]);
    expect(readCodexHead(file)).toMatchObject({ id: THREAD, cwd: CWD });
  });

  it("may have the line ends of Windows", async () => {
    const file = put();
    fs.writeFileSync(file, textOfLines([...opening(CWD), ...typed("hello")]).replaceAll("\n", "\r\n"));
    const session = await readCodexSession(file);
    expect(session.prompts.map(({ text }) => text)).toEqual(["hello"]);
    expect(session.problems).toEqual([]);
  });

  it("that is none of Codex's has no head, and nothing bad comes of reading it", async () => {
    const folder = makeFolder();
    const claude = put({ type: "user", uuid: "u", cwd: CWD, message: { role: "user", content: "hi" } });
    const other = put({ type: "step", payload: { id: "x" } });
    const empty = put();
    for (const file of [claude, other, empty, folder, path.join(folder, "none")])
      expect(readCodexHead(file)).toBeNull();
    expect(await readCodexSession(empty)).toMatchObject({ id: THREAD, messages: [], prompts: [], cwd: null });
    expect((await errorOf(readCodexSession(path.join(folder, "none")))).code).toBe("not-found");
  });

  it.skipIf(process.platform === "win32")("that is a link or a fifo is not opened", async () => {
    const folder = makeFolder();
    const link = path.join(folder, "rollout-link.jsonl");
    fs.symlinkSync(put(...opening(CWD)), link);
    const fifo = path.join(folder, "rollout-fifo.jsonl");
    execFileSync("mkfifo", [fifo]);
    for (const file of [link, fifo]) {
      expect(readCodexHead(file)).toBeNull();
      expect((await errorOf(readCodexSession(file))).code).toBe("not-found");
    }
  });

  it("that gives itself a name that is none has the one of its file", () => {
    for (const id of ["", "a\nb", "x".repeat(200), "../x", 7])
      expect(readCodexHead(put(meta(CWD, { id })))?.id).toBe(THREAD);
  });

  it("of a sub-agent says so", () => {
    const head = (more: Record<string, unknown>) => readCodexHead(put(meta(CWD, more)))?.isSubAgent;
    expect(head({})).toBe(false);
    expect(head({ source: { custom: "x" } })).toBe(false);
    expect(head({ source: { subagent: "review" } })).toBe(true);
    expect(head({ source: { internal: "memory_consolidation" } })).toBe(true);
    expect(head({ thread_source: "subagent" })).toBe(true);
  });

  it("of 50 megabytes is read line by line", async () => {
    const file = put(...opening(CWD), ...typed("first"));
    const big = textOfLines([
      item({ type: "function_call", name: "exec", arguments: "{}", call_id: "c" }),
      item({ type: "function_call_output", call_id: "c", output: "x".repeat(1 << 20) }),
    ]);
    for (let i = 0; i < 50; i++) fs.appendFileSync(file, big);
    fs.appendFileSync(file, textOfLines(typed("last")));
    const { prompts, messages } = await readCodexSession(file);
    expect(prompts.map(({ text }) => text)).toEqual(["first", "last"]);
    expect(messages.filter(({ role }) => role === "assistant")).toHaveLength(50);
    expect(textOf(messages.at(-1)!.content)).toBe("last");
  });
});
