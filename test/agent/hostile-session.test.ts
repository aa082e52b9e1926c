/** A session that is killed at any byte, results that collide, and rules that must reach whoever does the work. */

import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { note } from "../world.ts";
import { calls, openDesk } from "./desk.ts";
import { expectWhole, resultsOf } from "./hostile.ts";

const SUMMARY = { text: "<summary>What we did so far.</summary>" };
const read = (file_path: string) => ({ name: "Read", input: { file_path } });

describe("a session that is killed", () => {
  it("at any line, or in the middle of one, can be gone on with", async () => {
    const desk = await openDesk();
    desk.put("CLAUDE.md", "Be kind.");
    desk.put("api/CLAUDE.md", "In api, be terse.");
    const file = desk.put("api/x.ts", "let x = 1;\n");
    await (await desk.world.open()).save(note("x", { body: "The value of x in api decides everything." }));
    const agent = await desk.open();
    desk.server.queue(
      { thinking: "hm", text: "Let me look.", ...calls(read(file), { name: "Bash", input: { command: "echo hi" } }) },
      calls({ name: "Edit", input: { file_path: file, old_string: "1", new_string: "2" } }),
      { text: "one" },
      { text: "two" },
      SUMMARY,
      calls(read(file)),
      { text: "three" },
    );
    await agent.say("what is the value of x in api?");
    await agent.say("second words here");
    await agent.rewind(agent.prompts()[1]?.id ?? "", "both");
    await agent.compact();
    await agent.say("third words here");
    const whole = fs.readFileSync(agent.transcriptPath);
    const ends = [...whole.entries()].flatMap(([at, byte]) => (byte === 10 ? [at + 1] : []));
    const cuts = ends.flatMap((end) => [end, Math.max(1, end - 40)]);
    for (const cut of cuts) {
      fs.writeFileSync(agent.transcriptPath, whole.subarray(0, cut));
      const session = await desk.read(agent);
      const resumed = await desk.open({ from: session });
      desk.server.queue({ text: "going on" });
      const result = await resumed.say("going on after the end");
      expect(result, `cut at ${cut}: ${result.error?.message}`).toMatchObject({ text: "going on", ended: "done" });
      expect(desk.shown()).toContain("Be kind.");
      const again = await desk.read(resumed);
      expect(again.prompts.at(-1)?.text).toBe("going on after the end");
    }
  });
});

describe("tools in one turn", () => {
  it("two edits of one file that come together are both made", async () => {
    const desk = await openDesk();
    const file = desk.put("a.txt", "one\ntwo\nthree\n");
    const edit = (old_string: string, new_string: string) => ({
      name: "Edit",
      input: { file_path: file, old_string, new_string },
    });
    desk.server.queue(calls(read(file)), calls(edit("one", "1"), edit("three", "3"), edit("two", "2")), { text: "ok" });
    const agent = await desk.open();
    await agent.say("number the lines please");
    expect(desk.text("a.txt")).toBe("1\n2\n3\n");
  });

  // A fault that is known: it holds with 06-reach.patch.
  it("results too large to show never overwrite one another, whatever ids the server gives", async () => {
    const desk = await openDesk();
    const call = (command: string) => ({ tools: [{ id: "call_0", name: "Bash", input: { command } }] });
    desk.server.queue(call("seq 1 30000"), call("seq 100000 130000"), { text: "ok" });
    const agent = await desk.open();
    await agent.say("count twice please", { onEvent: desk.onEvent });
    const files = desk.events.flatMap((event) => (event.type === "tool-end" && event.file ? [event.file] : []));
    expect(files).toHaveLength(2);
    expect(fs.readFileSync(files[0] ?? "", "utf8")).toMatch(/^1\n2\n/);
    expect(fs.readFileSync(files[1] ?? "", "utf8")).toMatch(/^100000\n/);
  });

  it("a result that cannot be kept is cut, and the turn goes on", async () => {
    const desk = await openDesk();
    const agent = await desk.open();
    fs.mkdirSync(path.dirname(agent.transcriptPath), { recursive: true });
    fs.writeFileSync(path.join(path.dirname(agent.transcriptPath), agent.sessionId), "in the way");
    desk.server.queue(calls({ name: "Bash", input: { command: "seq 1 30000" } }), { text: "ok" });
    expect(await agent.say("count far please", { onEvent: desk.onEvent })).toMatchObject({ text: "ok" });
    expect(resultsOf(desk.events)[0]?.content).toContain("could not be kept");
  });

  it("too many steps end a turn and leave it whole", async () => {
    const desk = await openDesk();
    const file = desk.put("a.txt", "found\n");
    desk.server.queue({ text: "step 1", ...calls(read(file)) }, { text: "step 2", ...calls(read(file)) });
    const agent = await desk.open({ maxSteps: 2 });
    expect(await agent.say("go on for ever")).toMatchObject({ ended: "turns", steps: 2 });
    await expectWhole(desk, agent, ["go on for ever", "step 1", "step 2"]);
  });
});

describe("rules", () => {
  // A fault that is known: it holds with 06-reach.patch.
  it("of a folder reach a sub-agent that works there", async () => {
    const desk = await openDesk();
    desk.put("CLAUDE.md", "Be kind.");
    desk.put("api/CLAUDE.md", "In api, be terse.");
    desk.put(".claude/rules/ts.md", '---\npaths:\n  - "**/*.ts"\n---\nA rule for ts.');
    desk.put(".claude/agents/worker.md", "---\nname: worker\ndescription: works\n---\n\nWork.\n");
    const file = desk.put("api/x.ts", "let x = 1;\n");
    let shown = "";
    desk.server.queue(
      calls({ name: "Task", input: { prompt: "look into api", subagent_type: "worker" } }),
      calls(read(file)),
      (request) => {
        shown = JSON.stringify(request.body.messages);
        return { text: "a report" };
      },
      calls(read(file)),
      { text: "ok" },
    );
    const agent = await desk.open();
    await agent.say("let the worker look");
    expect(shown).toContain("Be kind.");
    expect(shown).toContain("In api, be terse.");
    expect(shown).toContain("A rule for ts.");
    // And the parent, which has not been shown them, is when it looks itself.
    expect(desk.shown().split("In api, be terse.").length - 1).toBe(1);
  });

  // A fault that is known: it holds with 06-reach.patch.
  it("do not come with a touched folder either when instruction files are switched off", async () => {
    const desk = await openDesk();
    Object.assign(desk.world.env, { CLAUDE_CODE_DISABLE_CLAUDE_MDS: "1" });
    desk.put("CLAUDE.md", "Be kind.");
    desk.put("api/CLAUDE.md", "In api, be terse.");
    const file = desk.put("api/x.ts", "let x = 1;\n");
    desk.server.queue(calls(read(file)), { text: "ok" });
    const agent = await desk.open();
    await agent.say("look into api please");
    expect(desk.shown()).not.toContain("Be kind.");
    expect(desk.shown()).not.toContain("In api, be terse.");
  });
});

describe("memory that is switched off", () => {
  // A fault that is known: it holds with 06-reach.patch.
  it("is not written without permission", async () => {
    const desk = await openDesk();
    const content =
      "---\nname: quiet\ndescription: No deploys at night\ntype: feedback\n---\n\nNever deploy at night.\n";
    desk.server.queue(calls({ name: "Write", input: { file_path: desk.world.path("feedback_quiet.md"), content } }), {
      text: "ok",
    });
    const agent = await desk.open({ allow: [] });
    agent.memory(false);
    await agent.say("remember not to deploy at night", { onEvent: desk.onEvent });
    expect(resultsOf(desk.events)).toMatchObject([{ isError: true }]);
    expect(desk.world.exists("feedback_quiet.md")).toBe(false);
  });
});

describe("a disk that takes nothing", () => {
  // A fault that is known: it holds with 06-reach.patch.
  it("keeps what waits, also when the session is left for a new one", async () => {
    const desk = await openDesk();
    const agent = await desk.open();
    const old = agent.transcriptPath;
    fs.mkdirSync(old, { recursive: true });
    desk.server.queue({ text: "one" }, { text: "two" });
    await agent.say("first words here");
    await agent.clear();
    fs.rmdirSync(old);
    await agent.say("second words here");
    agent.close();
    expect(fs.existsSync(old) && fs.readFileSync(old, "utf8")).toContain("first words here");
  });

  it("more prompts than checkpoints: an old one is refused with the reason, and nothing is half done", async () => {
    const desk = await openDesk();
    const agent = await desk.open({ windowTokens: 10_000_000 });
    for (let i = 0; i < 102; i++) {
      desk.server.queue({ text: "ok" });
      await agent.say(`prompt number ${i}`);
    }
    const first = agent.prompts()[0]?.id ?? "";
    await expect(agent.rewind(first, "both")).rejects.toThrow(/only the newest are kept/);
    expect(agent.prompts()).toHaveLength(102);
    expect((await agent.rewind(first, "conversation")).prompt).toBe("prompt number 0");
  });
});
