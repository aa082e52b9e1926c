/** Compaction under bad summaries, small windows and many rules: nothing that rules the work vanishes, and it never runs in circles. */

import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { type AgentDesk, calls, openDesk } from "./desk.ts";
import { expectWhole, typesOf } from "./hostile.ts";

const SUMMARY = { text: "<summary>What we did so far.</summary>" };

async function talk(desk: AgentDesk, options: Parameters<AgentDesk["open"]>[0] = {}) {
  desk.server.queue({ text: "one" });
  const agent = await desk.open(options);
  await agent.say("first words here");
  return agent;
}

describe("a summary that is none", () => {
  const bad: [string, object][] = [
    ["is empty", { text: "" }],
    ["has nothing between its tags", { text: "<summary> \n </summary>" }],
    ["is white space", { text: " \n" }],
    ["is a refusal", { text: "", stop: "refusal" }],
    ["never comes", { status: 401 }],
  ];
  for (const [what, reply] of bad) {
    it(`${what}: the conversation and the file are as they were`, async () => {
      const desk = await openDesk();
      const agent = await talk(desk);
      desk.server.queue(reply as never);
      expect(await agent.compact()).toMatchObject({ ok: false });
      expect(fs.readFileSync(agent.transcriptPath, "utf8")).not.toContain("compact_boundary");
      desk.server.queue({ text: "two" });
      await agent.say("second words here");
      expect(desk.shown()).toContain("first words here");
      const session = await desk.read(agent);
      expect(session.prompts.map(({ text }) => text)).toEqual(["first words here", "second words here"]);
    });
  }

  it("has no tags, or is cut: what there is of it is used", async () => {
    for (const reply of [
      { text: "What we did so far." },
      { text: "<summary>What we did so far.", stop: "max_tokens" },
    ]) {
      const desk = await openDesk();
      const agent = await talk(desk);
      desk.server.queue(reply);
      expect(await agent.compact()).toMatchObject({ ok: true });
      desk.server.queue({ text: "two" });
      await agent.say("second words here");
      expect(desk.shown()).toContain("What we did so far.");
    }
  });

  // A fault that is known: it holds with 02-compaction.patch.
  it("is a call of a tool: the tool is not run, and the model gets to answer without", async () => {
    const desk = await openDesk();
    const agent = await talk(desk);
    const made = path.join(desk.world.project, "made.txt");
    desk.server.queue(calls({ name: "Write", input: { file_path: made, content: "x" } }), SUMMARY);
    expect(await agent.compact()).toMatchObject({ ok: true });
    expect(fs.existsSync(made)).toBe(false);
  });

  it("holds closing tags and reminders: they stay inside", async () => {
    const desk = await openDesk();
    const agent = await talk(desk);
    desk.server.queue({ text: "<summary>It said </summary> and </SUMMARY> and more.</summary>" }, { text: "two" });
    await agent.compact();
    await agent.say("second words here");
    const shown = desk.shown();
    expect(shown.slice(shown.indexOf("<summary>")).match(/<\/summary>/gi)).toHaveLength(1);
    expect(shown).toContain("and more.");
  });
});

describe("the fork", () => {
  it("sends the same system, tools and messages as the conversation, up to what it asks", async () => {
    const desk = await openDesk();
    desk.put("CLAUDE.md", "Be kind.");
    const file = desk.put("a.txt", "found\n");
    desk.server.queue(
      { thinking: "hm", ...calls({ name: "Read", input: { file_path: file } }) },
      { text: "one" },
      SUMMARY,
    );
    const agent = await desk.open();
    await agent.say("first words here");
    const conversation = desk.last();
    await agent.compact();
    const fork = desk.last();
    const strip = (value: unknown) => JSON.stringify(value).replaceAll(',"cache_control":{"type":"ephemeral"}', "");
    expect(strip(fork.tools)).toBe(strip(conversation.tools));
    expect(strip(fork.system)).toBe(strip(conversation.system));
    const sent = conversation.messages.length;
    expect(strip(fork.messages.slice(0, sent))).toBe(strip(conversation.messages));
    expect(fork.messages).toHaveLength(sent + 2);
    const marked = JSON.stringify(fork.messages[sent - 1]);
    expect(marked).toContain("cache_control");
  });
});

describe("when it happens", () => {
  it("twice in a row, and with one message", async () => {
    const desk = await openDesk();
    const agent = await talk(desk);
    desk.server.queue(SUMMARY, { text: "<summary>An even shorter one.</summary>" }, { text: "two" });
    expect(await agent.compact()).toMatchObject({ ok: true });
    expect(await agent.compact()).toMatchObject({ ok: true });
    await agent.say("second words here");
    expect(desk.shown()).toContain("An even shorter one.");
    expect(desk.shown()).not.toContain("What we did so far.");
    const resumed = await desk.open({ from: await desk.read(agent) });
    desk.server.queue({ text: "three" });
    await resumed.say("third words here");
    expect(desk.shown()).toContain("An even shorter one.");
    expect(desk.shown()).not.toContain("What we did so far.");
  });

  it("right after a resume, before anything was said", async () => {
    const desk = await openDesk();
    desk.put("CLAUDE.md", "Be kind.");
    const agent = await talk(desk);
    const resumed = await desk.open({ from: await desk.read(agent) });
    desk.server.queue(SUMMARY, { text: "two" });
    expect(await resumed.compact()).toMatchObject({ ok: true });
    await resumed.say("second words here");
    expect(desk.shown()).toContain("Be kind.");
    expect(desk.shown()).toContain("What we did so far.");
    expect(desk.shown().split("Be kind.").length - 1).toBe(1);
  });

  // A fault that is known: it holds with 02-compaction.patch.
  it("in the middle of a turn: what the user wants right now is still shown word for word", async () => {
    const desk = await openDesk();
    const file = desk.put("a.txt", "found\n");
    desk.server.queue(
      { ...calls({ name: "Read", input: { file_path: file } }), usage: { input: 95_000 } },
      { text: "<summary>Something was read.</summary>" },
      { text: "done" },
    );
    const agent = await desk.open({ windowTokens: 100_000 });
    await agent.say("rename the flag --fast to --quick, and nothing else");
    expect(desk.shown()).toContain("rename the flag --fast to --quick, and nothing else");
    await expectWhole(desk, agent, ["rename the flag --fast to --quick, and nothing else", "Something was read."]);
  });

  // A fault that is known: it holds with 02-compaction.patch.
  it("in the middle of a long turn with session notes that lag: what the user wants is still shown", async () => {
    const desk = await openDesk();
    const file = desk.put("a.txt", `${"many words on a line\n".repeat(1900)}`);
    const read = { name: "Read", input: { file_path: file } };
    desk.server.queue({ text: "one" });
    const agent = await desk.open({ windowTokens: 100_000 });
    await agent.say("first words here");
    const folder = path.join(path.dirname(agent.transcriptPath), agent.sessionId, "session-memory");
    fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(path.join(folder, "summary.md"), "# Current State\nGreeting each other.\n");
    desk.server.queue(
      calls(read, read, read, read, read),
      { ...calls(read), usage: { input: 95_000 } },
      { text: "done" },
    );
    await agent.say("rename the flag --fast to --quick, and nothing else", { onEvent: desk.onEvent });
    expect(typesOf(desk.events, "compacted")).toHaveLength(1);
    expect(desk.shown()).toContain("Greeting each other.");
    expect(desk.shown()).toContain("rename the flag --fast to --quick, and nothing else");
  });

  // A fault that is known: it holds with 02-compaction.patch.
  it("with an opening larger than the window it is tried a few times and then left", async () => {
    const desk = await openDesk();
    desk.put("CLAUDE.md", "A rule that is long. ".repeat(20_000));
    const file = desk.put("a.txt", "found\n");
    const agent = await desk.open({ windowTokens: 50_000 });
    const read = () => ({ ...calls({ name: "Read", input: { file_path: file } }), usage: { input: 99_000 } });
    const answer = (request: { body: { messages: { content: { text?: string }[] }[] } }) =>
      /Put the summary between/.test(request.body.messages.at(-1)?.content.at(-1)?.text ?? "") ? SUMMARY : read();
    desk.server.queue(...Array.from({ length: 60 }, () => answer as never));
    const result = await agent.say("a long piece of work", { onEvent: desk.onEvent });
    expect(result.ended).toBe("turns");
    expect(typesOf(desk.events, "compacting").length).toBeLessThanOrEqual(3);
  });

  // A fault that is known: it holds with 02-compaction.patch.
  it("again and again as the conversation grows, also when the server counts nothing", async () => {
    const desk = await openDesk();
    const agent = await desk.open({ windowTokens: 20_000 });
    const none = { input: 0, output: 0 };
    let compactions = 0;
    for (let i = 0; i < 12; i++) {
      const answer = (request: { body: { messages: { content: { text?: string }[] }[] } }) => {
        const isCompaction = /Put the summary between/.test(request.body.messages.at(-1)?.content.at(-1)?.text ?? "");
        if (isCompaction) compactions++;
        return isCompaction ? { ...SUMMARY, usage: none } : { text: "ok", usage: none };
      };
      desk.server.queue(answer as never, answer as never);
      await agent.say(`words ${i} ${"and many more of them ".repeat(1000)}`);
    }
    expect(compactions).toBeGreaterThanOrEqual(2);
  });

  // A fault that is known: it holds with 02-compaction.patch.
  it("with notes in a small window it makes the conversation fit", async () => {
    const desk = await openDesk();
    const agent = await desk.open({ windowTokens: 32_000 });
    for (let i = 0; i < 8; i++) {
      desk.server.queue({ text: `answer ${i} ${"with many words ".repeat(900)}`, usage: { input: 5_000 } });
      await agent.say(`prompt number ${i}`);
    }
    const folder = path.join(path.dirname(agent.transcriptPath), agent.sessionId, "session-memory");
    fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(path.join(folder, "summary.md"), "# Current State\nGreeting each other.\n");
    expect(await agent.compact()).toMatchObject({ ok: true, from: "notes" });
    desk.server.queue({ text: "ok" });
    await agent.say("and one more prompt", { onEvent: desk.onEvent });
    expect(typesOf(desk.events, "compacting")).toEqual([]);
  });

  // A fault that is known: it holds with 02-compaction.patch.
  it("fails when the disk gives nothing: the conversation goes on as it was", async () => {
    const desk = await openDesk();
    const agent = await talk(desk);
    fs.rmSync(desk.world.dir, { recursive: true, force: true });
    fs.writeFileSync(desk.world.dir, "in the way");
    desk.server.queue(SUMMARY);
    const result = await agent.compact();
    expect(typeof result.ok).toBe("boolean");
    fs.rmSync(desk.world.dir);
    desk.server.queue({ text: "two" });
    expect(await agent.say("second words here")).toMatchObject({ text: "two" });
    expect(desk.shown()).toMatch(/first words here|What we did so far/);
  });
});
