/** Compaction: what the model is shown before and after, and what happens when it fails. */

import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { note } from "../world.ts";
import { type AgentDesk, calls, openDesk } from "./desk.ts";

const SUMMARY = { text: '<summary>We changed the port to 8080. The user said: "never use port 80".</summary>' };

/** Texts of the last request, by what they begin with. */
function blockOf(desk: AgentDesk, words: string): string | undefined {
  const contents = desk.last().messages.flatMap(({ content }: { content: { text?: string }[] }) => content);
  return contents.map(({ text = "" }: { text?: string }) => text).find((text: string) => text.includes(words));
}

describe("compaction", () => {
  it("B10.7 B11.18 C34 rules, index and files are there before and after, read afresh", async () => {
    const desk = await openDesk();
    desk.put("CLAUDE.md", "Rule one: never use port 80.");
    desk.put(".claude/rules/style.md", "Rule two: tabs.");
    desk.put("src/CLAUDE.md", "Rule three: in src, no classes.");
    const file = desk.put("src/server.ts", "listen(80);\n");
    const memdir = await desk.world.open();
    await memdir.save(
      note("ports", {
        type: "feedback",
        description: "Ports above 1024",
        body: "Use ports above 1024 for the server.",
      }),
    );
    desk.server.queue(calls({ name: "Read", input: { file_path: file } }), { text: "read" });
    const agent = await desk.open();
    await agent.say("which ports does the server use?");
    const before = ["Rule one", "Rule two", "Rule three", "Ports above 1024", "Use ports above 1024", "listen(80)"];
    for (const words of before) expect(desk.shown(), words).toContain(words);
    const rules = blockOf(desk, "Rule one");

    desk.server.queue(SUMMARY);
    const result = await agent.compact({ onEvent: desk.onEvent });
    expect(result).toMatchObject({ ok: true, from: "model", files: [file] });
    desk.server.queue({ text: "going on" });
    await agent.say("and which ports does the server use now?");
    for (const words of before) expect(desk.shown(), words).toContain(words);
    expect(desk.shown()).toContain("never use port 80");
    expect(desk.shown()).toContain("We changed the port to 8080");
    expect(blockOf(desk, "Rule one")).toBe(rules);
    expect(desk.last().messages.length).toBeLessThanOrEqual(2);

    desk.put("CLAUDE.md", "Rule one: always use port 443.");
    desk.server.queue(SUMMARY, { text: "ok" });
    await agent.compact();
    await agent.say("go on then please");
    expect(desk.shown()).toContain("always use port 443");
  });

  it("shares the provider's prefix: the summary is asked for with the same system, tools and messages", async () => {
    const desk = await openDesk();
    desk.server.queue({ text: "hi" }, SUMMARY);
    const agent = await desk.open();
    await agent.say("hello you there");
    const first = desk.last();
    await agent.compact({ instructions: "keep the ports" });
    const second = desk.last();
    expect(second.tools).toEqual(first.tools);
    expect(second.system).toEqual(first.system);
    expect(second.messages.slice(0, 1).map(({ role }: { role: string }) => role)).toEqual(["user"]);
    expect(desk.shown()).toContain("keep the ports");
  });

  it("files that were seen may be edited afterwards only as far as they are shown again", async () => {
    const desk = await openDesk();
    const small = desk.put("small.txt", "one\n");
    const large = desk.put("large.txt", `${"a line that is long enough to count for something\n".repeat(3000)}`);
    desk.server.queue(
      calls({ name: "Read", input: { file_path: large } }, { name: "Read", input: { file_path: small } }),
      { text: "read" },
      SUMMARY,
    );
    const agent = await desk.open();
    await agent.say("read both files please");
    const result = await agent.compact();
    expect(result).toMatchObject({ ok: true, files: [small, large] });
    desk.server.queue(
      calls(
        { name: "Edit", input: { file_path: small, old_string: "one", new_string: "two" } },
        { name: "Write", input: { file_path: large, content: "gone" } },
      ),
      { text: "done" },
    );
    await agent.say("now edit both files", { onEvent: desk.onEvent });
    const failed = desk.events.flatMap((event) =>
      event.type === "tool-end" && event.result.isError ? [event.call.name] : [],
    );
    expect(failed).toEqual(["Write"]);
    expect(desk.text("small.txt")).toBe("two\n");
  });

  it("happens by itself near the window's end, also in the middle of a turn", async () => {
    const desk = await openDesk();
    const file = desk.put("a.txt", "some text\n");
    const read = calls({ name: "Read", input: { file_path: file } });
    desk.server.queue({ ...read, usage: { input: 90_000 } }, SUMMARY, { text: "finished", usage: { input: 5_000 } });
    const agent = await desk.open({ windowTokens: 100_000 });
    const result = await agent.say("a long piece of work", { onEvent: desk.onEvent });
    expect(result).toMatchObject({ text: "finished", ended: "done" });
    expect(desk.events.some((event) => event.type === "compacted" && event.trigger === "auto")).toBe(true);
    expect(desk.shown()).toContain("We changed the port");
  });

  it("happens when the provider says that the prompt is too long, once", async () => {
    const desk = await openDesk();
    const tooLong = { status: 400, message: "prompt is too long: 210000 tokens > 200000 maximum" };
    desk.server.queue({ text: "hi" });
    const agent = await desk.open();
    await agent.say("hello you there");
    desk.server.queue(tooLong, SUMMARY, { text: "it fits now" });
    const result = await agent.say("and now something long", { onEvent: desk.onEvent });
    expect(result).toMatchObject({ text: "it fits now", ended: "done" });
    expect(desk.shown()).toContain("and now something long");
    expect(desk.shown()).not.toContain("hello you there");
    desk.server.queue(tooLong, SUMMARY, tooLong);
    expect(await agent.say("and once more please")).toMatchObject({ ended: "error", error: { kind: "bad-request" } });
    desk.server.queue({ text: "still here" });
    expect((await agent.say("are you there now?")).text).toBe("still here");
  });

  it("three failures stop the automatic kind, and the conversation is whole", async () => {
    const desk = await openDesk();
    const full = { text: "answer", usage: { input: 95_000 } };
    const fails = { status: 400, message: "no" };
    desk.server.queue(full);
    const agent = await desk.open({ windowTokens: 100_000 });
    await agent.say("first words here", { onEvent: desk.onEvent });
    for (let i = 0; i < 3; i++) {
      desk.server.queue(fails, fails, full);
      await agent.say(`more words ${i}`, { onEvent: desk.onEvent });
    }
    expect(desk.events.filter(({ type }) => type === "compacting")).toHaveLength(3);
    desk.server.queue(full);
    await agent.say("and the last words", { onEvent: desk.onEvent });
    expect(desk.events.filter(({ type }) => type === "compacting")).toHaveLength(3);
    expect(desk.shown()).toContain("first words here");
    expect(desk.events.filter((event) => event.type === "problem" && event.message.includes("/compact"))).toHaveLength(
      1,
    );
  });

  it("uses session notes when there are any, and keeps the newest messages", async () => {
    const desk = await openDesk();
    desk.server.queue({ text: "hi" }, { text: "there" });
    const agent = await desk.open();
    await agent.say("hello you there");
    await agent.say("second thing to say");
    const folder = path.join(path.dirname(agent.transcriptPath), agent.sessionId, "session-memory");
    fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(path.join(folder, "summary.md"), "# Current State\nGreeting each other.\n");
    const requests = desk.server.requests.length;
    expect(await agent.compact()).toMatchObject({ ok: true, from: "notes" });
    expect(desk.server.requests).toHaveLength(requests);
    desk.server.queue({ text: "ok" });
    await agent.say("third thing to say");
    expect(desk.shown()).toContain("Greeting each other.");
    expect(desk.shown()).toContain("second thing to say");
    expect(desk.shown()).not.toContain("hello you there");
  });

  it("a compacted session resumes with its summary", async () => {
    const desk = await openDesk();
    desk.server.queue({ text: "hi" }, SUMMARY, { text: "ok" });
    const agent = await desk.open();
    await agent.say("hello you there");
    await agent.compact();
    await agent.say("after the summary");
    const resumed = await desk.open({ from: await desk.read(agent) });
    desk.server.queue({ text: "still here" });
    await resumed.say("and after a resume");
    expect(desk.shown()).toContain("We changed the port to 8080");
    expect(desk.shown()).toContain("after the summary");
    expect(desk.shown()).not.toContain("hello you there");
  });
});
