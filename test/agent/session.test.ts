/** Sessions of an agent: resume, clear, rewind, sub-agents, the window. */

import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { note } from "../world.ts";
import { calls, openDesk } from "./desk.ts";

describe("resume", () => {
  it("B1.13 C26 sends the same bytes again, and shows nothing twice", async () => {
    const desk = await openDesk();
    desk.put("CLAUDE.md", "Be kind.");
    desk.put("api/CLAUDE.md", "In api, be terse.");
    const file = desk.put("api/x.ts", "let x = 1;\n");
    await (await desk.world.open()).save(note("x", { body: "The value of x in api decides everything." }));
    desk.server.queue(calls({ name: "Read", input: { file_path: file } }), { text: "one" });
    const agent = await desk.open();
    await agent.say("what is the value of x in api?");
    const before = desk.last();
    const resumed = await desk.open({ from: await desk.read(agent) });
    expect(resumed.sessionId).toBe(agent.sessionId);
    desk.server.queue(calls({ name: "Read", input: { file_path: file } }), { text: "two" });
    await resumed.say("and what is the value of x in api now?");
    const strip = (value: unknown) => JSON.stringify(value).replaceAll(',"cache_control":{"type":"ephemeral"}', "");
    const after = desk.server.requests.at(-2)?.body;
    expect(strip(after.messages.slice(0, before.messages.length))).toBe(strip(before.messages));
    expect(strip(after.system)).toBe(strip(before.system));
    expect(desk.shown().split("In api, be terse").length - 1).toBe(1);
    expect(desk.shown().split("decides everything").length - 1).toBe(1);
    const session = await desk.read(resumed);
    expect(session.prompts).toHaveLength(2);
  });

  it("a file changed meanwhile: the opening says what the disk says now", async () => {
    const desk = await openDesk();
    desk.put("CLAUDE.md", "Old rule.");
    desk.server.queue({ text: "one" }, { text: "two" });
    const agent = await desk.open();
    await agent.say("hello you there");
    desk.put("CLAUDE.md", "New rule.");
    const resumed = await desk.open({ from: await desk.read(agent) });
    await resumed.say("hello again there");
    expect(desk.shown()).toContain("New rule.");
    expect(desk.shown()).not.toContain("Old rule.");
  });

  it("what was killed in the middle of a tool call can be gone on with", async () => {
    const desk = await openDesk();
    const agent = await desk.open();
    desk.server.queue(calls({ name: "Bash", input: { command: "echo hi" } }), { text: "ok" });
    await agent.say("run echo for me");
    const lines = fs.readFileSync(agent.transcriptPath, "utf8").trimEnd().split("\n");
    const call = lines.findIndex((line) => line.includes('"tool_use"'));
    fs.writeFileSync(agent.transcriptPath, `${lines.slice(0, call + 1).join("\n")}\n{"type":"user","mess`);
    const resumed = await desk.open({ from: await desk.read(agent) });
    desk.server.queue({ text: "going on" });
    expect(await resumed.say("go on please")).toMatchObject({ text: "going on", ended: "done" });
    expect(desk.shown()).toContain("cut off");
  });
});

describe("clear", () => {
  it("B11.18 begins a new session in which everything may be shown again", async () => {
    const desk = await openDesk();
    await (await desk.world.open()).save(note("x", { body: "The value of x in api decides everything." }));
    desk.server.queue({ text: "one" }, { text: "two" });
    const agent = await desk.open();
    await agent.say("what is the value of x in api?");
    const old = agent.sessionId;
    await agent.clear();
    expect(agent.sessionId).not.toBe(old);
    await agent.say("what is the value of x in api?");
    expect(desk.last().messages).toHaveLength(1);
    expect(desk.shown()).toContain("decides everything");
  });
});

describe("rewind", () => {
  it("B10.4 B11.12 restores files and conversation, also after a resume, and can be taken back", async () => {
    const desk = await openDesk();
    const file = desk.put("a.txt", "one\n");
    const made = path.join(desk.world.project, "made.txt");
    desk.server.queue(
      { text: "hi" },
      calls({ name: "Read", input: { file_path: file } }),
      calls(
        { name: "Edit", input: { file_path: file, old_string: "one", new_string: "two" } },
        { name: "Write", input: { file_path: made, content: "new" } },
      ),
      { text: "changed" },
    );
    const agent = await desk.open();
    await agent.say("hello you there");
    await agent.say("change the file please");
    expect(desk.text("a.txt")).toBe("two\n");
    const resumed = await desk.open({ from: await desk.read(agent) });
    const [, second] = resumed.checkpoints();
    expect(second).toMatchObject({ label: "change the file please", files: 2 });
    const { files, prompt } = await resumed.rewind(second?.id ?? "", "both");
    expect(prompt).toBe("change the file please");
    expect(desk.text("a.txt")).toBe("one\n");
    expect(fs.existsSync(made)).toBe(false);
    desk.server.queue({ text: "again" });
    await resumed.say("something else then");
    expect(desk.shown()).not.toContain("change the file please");
    expect(desk.shown()).toContain("hello you there");
    expect(JSON.stringify(desk.last())).not.toContain("@v1");

    await resumed.rewind(files?.undo ?? "", "code");
    expect(desk.text("a.txt")).toBe("two\n");
    const third = await desk.open({ from: await desk.read(resumed) });
    desk.server.queue({ text: "yes" });
    await third.say("where were we then?");
    expect(desk.shown()).toContain("something else then");
    expect(desk.shown()).not.toContain("change the file please");
  });
});

describe("sub-agents", () => {
  it("Explore reads with its own conversation and without instructions; its answer comes back", async () => {
    const desk = await openDesk();
    desk.put("CLAUDE.md", "Write tests first.");
    desk.server.queue(
      calls({ name: "Task", input: { description: "find it", prompt: "find the port", subagent_type: "Explore" } }),
      (request) => {
        expect(JSON.stringify(request.body)).not.toContain("Write tests first.");
        expect(request.body.tools.map(({ name }: { name: string }) => name)).toEqual(["Read", "Glob", "Grep"]);
        return { text: "The port is 8080." };
      },
      { text: "It is 8080." },
    );
    const agent = await desk.open();
    const result = await agent.say("where is the port set?", { onEvent: desk.onEvent });
    expect(result.text).toBe("It is 8080.");
    expect(desk.shown()).toContain("The port is 8080.");
    expect(desk.events.some((event) => event.type === "sub-agent" && event.name === "Explore")).toBe(true);
    const folder = path.join(path.dirname(agent.transcriptPath), agent.sessionId, "subagents");
    expect(fs.readdirSync(folder)).toHaveLength(1);
  });

  it("B9.6 a user-defined agent has its own memory, and instructions", async () => {
    const desk = await openDesk();
    desk.put("CLAUDE.md", "Write tests first.");
    desk.put(
      ".claude/agents/reviewer.md",
      "---\nname: reviewer\ndescription: reviews changes\ntools: Grep\nmemory: project\n---\n\nYou review changes.\n",
    );
    const memories = path.join(desk.world.project, ".claude/agent-memory/reviewer");
    desk.server.queue(
      calls({ name: "Task", input: { prompt: "review it", subagent_type: "reviewer" } }),
      (request) => {
        const text = JSON.stringify(request.body);
        expect(text).toContain("You review changes.");
        expect(text).toContain("Write tests first.");
        expect(text).toContain(memories);
        const file_path = path.join(memories, "feedback_style.md");
        const content = "---\nname: style\ndescription: Short names\ntype: feedback\n---\n\nPrefer short names.\n";
        return calls({ name: "Write", input: { file_path, content } });
      },
      { text: "Looks fine." },
      { text: "Reviewed." },
    );
    const agent = await desk.open({ allow: [] });
    expect((await agent.say("have it reviewed please")).text).toBe("Reviewed.");
    expect(fs.readFileSync(path.join(memories, "feedback_style.md"), "utf8")).toContain("Prefer short names.");
    expect(fs.readFileSync(path.join(memories, "MEMORY.md"), "utf8")).toContain("feedback_style.md");
  });

  it("B10.8 what a sub-agent has read does not count as read by the parent", async () => {
    const desk = await openDesk();
    const file = desk.put("a.txt", "one\n");
    desk.put(".claude/agents/reader.md", "---\nname: reader\ndescription: reads\n---\n\nRead.\n");
    const edit = { name: "Edit", input: { file_path: file, old_string: "one", new_string: "two" } };
    desk.server.queue(
      calls({ name: "Task", input: { prompt: "read a.txt", subagent_type: "reader" } }),
      calls({ name: "Read", input: { file_path: file } }),
      { text: "read" },
      calls(edit),
      { text: "refused" },
    );
    const agent = await desk.open();
    await agent.say("let it read and then edit", { onEvent: desk.onEvent });
    expect(desk.text("a.txt")).toBe("one\n");
  });

  it("an unknown one is refused with the names there are", async () => {
    const desk = await openDesk();
    desk.server.queue(calls({ name: "Task", input: { prompt: "x", subagent_type: "nobody" } }), { text: "ok" });
    const agent = await desk.open();
    await agent.say("use a sub-agent please");
    expect(desk.shown()).toMatch(/use one of: Explore, Plan/);
  });
});

describe("the window", () => {
  it("is shown part by part, before and after the first prompt", async () => {
    const desk = await openDesk();
    desk.put("CLAUDE.md", "Be kind.");
    desk.server.queue({ text: "hi", usage: { input: 5_000 } });
    const agent = await desk.open();
    const before = await agent.window();
    const names = before.parts.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining(["system prompt", "memory section", "tools", "instructions", "environment"]),
    );
    expect(before.isCounted).toBe(false);
    await agent.say("hello you there");
    const after = await agent.window();
    expect(after.isCounted).toBe(true);
    expect(after.parts.some(({ name }) => name === "what was said")).toBe(true);
  });
});
