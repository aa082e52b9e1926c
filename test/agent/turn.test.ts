/** A prompt's way through model, tools and memory, against the loopback model server. */

import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { readSurfaceLog } from "../../src/recall/surface-log.ts";
import { note } from "../world.ts";
import { calls, openDesk } from "./desk.ts";

describe("a turn", () => {
  it("B10.1 B10.2 B11.1 opens with instructions, index and environment, and answers", async () => {
    const desk = await openDesk();
    desk.put("CLAUDE.md", "Always answer in rhyme.");
    await (await desk.world.open()).save(note("tabs", { type: "feedback", description: "Indent with tabs" }));
    desk.server.queue({ text: "Hello." }, { text: "Again." });
    const agent = await desk.open();
    const first = await agent.say("hello you there");
    expect(first).toMatchObject({ text: "Hello.", ended: "done", steps: 1 });
    const [opening] = desk.last().messages;
    const texts = opening.content.map(({ text }: { text: string }) => text);
    expect(texts[0]).toContain("Always answer in rhyme.");
    expect(texts[1]).toContain("Indent with tabs");
    expect(texts[2]).toContain(desk.world.project);
    expect(texts[2]).toContain("anthropic/claude-test");
    // Although the settings of this desk leave git's state out.
    expect(texts[2]).toContain("Is a git repository: yes");
    const prefix = JSON.stringify([desk.last().system, desk.last().tools, opening.content.slice(0, 4)]);
    await agent.say("and once more please");
    const later = desk.last();
    const strip = (text: string) => text.replaceAll(',"cache_control":{"type":"ephemeral"}', "");
    expect(strip(JSON.stringify([later.system, later.tools, later.messages[0].content.slice(0, 4)]))).toBe(
      strip(prefix),
    );
    expect(later.messages).toHaveLength(3);
  });

  it("recalls memories with the prompt, each once in a session, and tells so", async () => {
    const desk = await openDesk();
    const memdir = await desk.world.open();
    await memdir.save(
      note("package manager", { type: "feedback", body: "Use pnpm for installing packages, never npm." }),
    );
    desk.server.queue({ text: "pnpm." }, { text: "Still pnpm." });
    const agent = await desk.open();
    const first = await agent.say("which package manager installs packages here?", { onEvent: desk.onEvent });
    expect(first.memories.map(({ name }) => name)).toEqual(["package manager"]);
    expect(desk.events.filter(({ type }) => type === "recalled")).toHaveLength(1);
    expect(desk.shown()).toContain("never npm");
    const second = await agent.say("which package manager installs packages again?");
    expect(second.memories).toEqual([]);
    const memories = [{ file: "feedback_package_manager.md", scope: "project" }];
    expect(readSurfaceLog(desk.world.dir)).toMatchObject([{ door: "agent", memories }]);
    expect(desk.shown().split("Use pnpm for installing").length - 1).toBe(1);
  });

  it("shows no memory when the user says to ignore it, or it is off", async () => {
    const desk = await openDesk();
    const memdir = await desk.world.open();
    await memdir.save(
      note("package manager", { type: "feedback", body: "Use pnpm for installing packages, never npm." }),
    );
    desk.server.queue({ text: "a" }, { text: "b" });
    const agent = await desk.open();
    await agent.say("ignore your memory: which package manager installs packages?");
    expect(desk.shown()).not.toContain("never npm");
    agent.memory(false);
    await agent.clear();
    agent.memory(false);
    await agent.say("which package manager installs packages?");
    expect(desk.shown()).not.toContain("package manager.md");
    expect(JSON.stringify(desk.last().system)).not.toContain("# Memory");
  });

  it("B10.6 B11.15 an edit is refused before the file was read, then accepted", async () => {
    const desk = await openDesk();
    const file = desk.put("a.txt", "one\ntwo\n");
    const edit = { name: "Edit", input: { file_path: file, old_string: "two", new_string: "three" } };
    desk.server.queue(calls(edit), calls({ name: "Read", input: { file_path: file } }), calls(edit), { text: "done" });
    const agent = await desk.open();
    const result = await agent.say("change two to three in a.txt", { onEvent: desk.onEvent });
    expect(result.ended).toBe("done");
    const ends = desk.events.flatMap((event) => (event.type === "tool-end" ? [event.result] : []));
    expect(ends.map(({ isError = false }) => isError)).toEqual([true, false, false]);
    expect(ends[0]?.content).toMatch(/read/i);
    expect(desk.text("a.txt")).toBe("one\nthree\n");
  });

  it("B10.3 instructions of a touched folder come with the result, once", async () => {
    const desk = await openDesk();
    desk.put("api/CLAUDE.md", "In api, name things in Latin.");
    const file = desk.put("api/x.ts", "let x = 1;\n");
    const read = { name: "Read", input: { file_path: file } };
    desk.server.queue(calls(read), calls(read), { text: "ok" });
    const agent = await desk.open();
    await agent.say("look at api/x.ts please");
    expect(desk.shown().split("name things in Latin").length - 1).toBe(1);
    expect(desk.last().messages[2].content.at(-1).text).toContain("<system-reminder>");
  });

  it("B11.14 every message is in the transcript before the next request goes out", async () => {
    const desk = await openDesk();
    const file = desk.put("a.txt", "one\n");
    const agent = await desk.open();
    let lines = 0;
    desk.server.queue(calls({ name: "Read", input: { file_path: file } }), () => {
      lines = fs.readFileSync(agent.transcriptPath, "utf8").trim().split("\n").length;
      return { text: "ok" };
    });
    await agent.say("read a.txt for me");
    const text = fs.readFileSync(agent.transcriptPath, "utf8");
    expect(text).toContain("read a.txt for me");
    expect(lines).toBeGreaterThanOrEqual(3);
    const session = await desk.read(agent);
    expect(session.messages).toHaveLength(4);
    expect(session.prompts.map((prompt) => prompt.text)).toEqual(["read a.txt for me"]);
  });

  it("a memory that the model writes is checked, indexed and journalled; a secret is refused", async () => {
    const desk = await openDesk();
    const good =
      "---\nname: quiet hours\ndescription: No deploys at night\ntype: feedback\n---\n\nNever deploy at night.\n";
    const token = `ghp_${"aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6"}`;
    desk.server.queue(
      calls(
        { name: "Write", input: { file_path: desk.world.path("feedback_quiet.md"), content: good } },
        { name: "Write", input: { file_path: desk.world.path("user_key.md"), content: `The token is ${token}` } },
      ),
      { text: "saved" },
    );
    const agent = await desk.open({ allow: [] });
    await agent.say("remember not to deploy at night", { onEvent: desk.onEvent });
    expect(desk.events.filter(({ type }) => type === "saved")).toHaveLength(1);
    expect(desk.world.index()).toContain("feedback_quiet.md");
    expect((await (await desk.world.open()).history()).at(-1)?.files[0]?.file).toBe("feedback_quiet.md");
    expect(desk.world.exists("user_key.md")).toBe(false);
  });

  it("without permission nothing is changed, and the model is told", async () => {
    const desk = await openDesk();
    desk.server.queue(
      calls({ name: "Write", input: { file_path: path.join(desk.world.project, "new.txt"), content: "x" } }),
      { text: "I may not." },
    );
    const agent = await desk.open({ allow: [] });
    const result = await agent.say("write a new file please");
    expect(result.text).toBe("I may not.");
    expect(fs.existsSync(path.join(desk.world.project, "new.txt"))).toBe(false);
    expect(desk.shown()).toMatch(/--allow/);
  });

  it("a result too large to show is kept beside the transcript", async () => {
    const desk = await openDesk();
    desk.server.queue(calls({ name: "Bash", input: { command: "seq 1 30000" } }), { text: "long" });
    const agent = await desk.open();
    await agent.say("count to thirty thousand", { onEvent: desk.onEvent });
    const end = desk.events.find((event) => event.type === "tool-end");
    const kept = end?.type === "tool-end" ? end.file : null;
    expect(kept).toContain("tool-results");
    expect(fs.readFileSync(kept ?? "", "utf8")).toContain("29999");
  });

  it("after a stop or a failure the conversation can go on", async () => {
    const desk = await openDesk();
    desk.server.queue({ text: ["Half", " an answer"], fault: "hang" }, { text: "There you are." });
    const agent = await desk.open();
    const stop = new AbortController();
    const stopped = await agent.say("tell me something long", {
      signal: stop.signal,
      onEvent: (event) => {
        if (event.type === "text") stop.abort();
      },
    });
    expect(stopped.ended).toBe("aborted");
    const next = await agent.say("are you there now?");
    expect(next.text).toBe("There you are.");
    const roles = desk.last().messages.map(({ role }: { role: string }) => role);
    expect(roles).toEqual(["user", "assistant", "user"]);
    expect(desk.shown()).toContain("Half");
  });

  it("answers 529 five times and goes on; a refused key ends the turn with what to do", async () => {
    const desk = await openDesk();
    const busy = { status: 529 };
    desk.server.queue(busy, busy, busy, busy, busy, { text: "At last." }, { status: 401 });
    const agent = await desk.open();
    expect(await agent.say("hello you there", { onEvent: desk.onEvent })).toMatchObject({
      text: "At last.",
      ended: "done",
    });
    expect(desk.events.filter(({ type }) => type === "retry")).toHaveLength(5);
    const refused = await agent.say("hello again there");
    expect(refused).toMatchObject({ ended: "error", error: { kind: "auth" } });
    expect(refused.error?.message).toContain("ANTHROPIC_API_KEY");
  });
});

describe("what exists beside the tools", () => {
  it("B10.3 B11.10 sub-agents are listed once, skills that fit when they fit", async () => {
    const desk = await openDesk();
    desk.put(
      ".claude/skills/release/SKILL.md",
      "---\nname: release\ndescription: cutting a release with tags\n---\n\nSteps.\n",
    );
    desk.server.queue({ text: "a" }, { text: "b" }, { text: "c" });
    const agent = await desk.open();
    await agent.say("hello you there");
    expect(desk.shown()).toContain("- Explore:");
    expect(desk.shown()).not.toContain("cutting a release");
    await agent.say("please start cutting a release");
    expect(desk.shown()).toContain("cutting a release with tags");
    await agent.say("go on cutting a release");
    expect(desk.shown().split("cutting a release with tags").length - 1).toBe(1);
    expect(desk.shown().split("- Explore:").length - 1).toBe(1);
  });
});
