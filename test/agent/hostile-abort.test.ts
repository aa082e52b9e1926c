/** Stops at every stage, and calls that come at once: nothing said is lost, nothing is left running, and the next prompt works. */

import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { calls, openDesk } from "./desk.ts";
import { expectWhole, resultsOf, until } from "./hostile.ts";

const SUMMARY = { text: "<summary>What we did so far.</summary>" };

describe("a stop", () => {
  it("before anything was sent", async () => {
    const desk = await openDesk();
    const agent = await desk.open();
    const result = await agent.say("words that were stopped", { signal: AbortSignal.abort() });
    expect(result).toMatchObject({ ended: "aborted", steps: 0 });
    expect(desk.server.requests).toHaveLength(0);
    await expectWhole(desk, agent, ["words that were stopped"]);
  });

  it("before the first byte, and twice", async () => {
    const desk = await openDesk();
    desk.server.queue({ before: "hang" });
    const agent = await desk.open();
    const stop = new AbortController();
    const turn = agent.say("words that were stopped", { signal: stop.signal });
    await until(() => desk.server.requests.length > 0);
    stop.abort();
    stop.abort();
    expect(await turn).toMatchObject({ ended: "aborted" });
    await until(() => desk.server.requests[0]?.aborted === true);
    await expectWhole(desk, agent, ["words that were stopped"]);
  });

  it("while it waits to try again", async () => {
    const desk = await openDesk();
    desk.server.queue({ text: ["Half a thought"], fault: "drop" }, { text: "too late" });
    const agent = await desk.open();
    const stop = new AbortController();
    const result = await agent.say("words that were stopped", {
      signal: stop.signal,
      onEvent: (event) => event.type === "retry" && stop.abort(),
    });
    expect(result).toMatchObject({ ended: "aborted", text: "Half a thought" });
    const resumed = await desk.read(agent);
    expect(JSON.stringify(resumed.messages)).toContain("Half a thought");
  });

  it.runIf(process.platform !== "win32")("while commands run, two at once: their groups are gone", async () => {
    const desk = await openDesk();
    const pids = path.join(desk.world.top, "pids");
    const command = (trap: string) => `${trap} echo $$ >> ${pids}; sleep 300 & echo $! >> ${pids}; wait; sleep 300`;
    desk.server.queue({
      text: "I run them.",
      ...calls(
        { name: "Bash", input: { command: command("") } },
        { name: "Bash", input: { command: command("trap '' TERM;") } },
      ),
    });
    const agent = await desk.open();
    const stop = new AbortController();
    const turn = agent.say("run two long commands", { signal: stop.signal, onEvent: desk.onEvent });
    const started = () => (fs.existsSync(pids) ? fs.readFileSync(pids, "utf8").trim().split("\n") : []);
    await until(() => started().length === 4);
    stop.abort();
    expect(await turn).toMatchObject({ ended: "aborted" });
    expect(resultsOf(desk.events)).toMatchObject([{ isError: true }, { isError: true }]);
    await until(() => started().every((pid) => !isAlive(Number(pid))));
    await expectWhole(desk, agent, ["run two long commands", "I run them."]);
  });

  it("while somebody is asked for permission: nothing is done, and it is asked again", async () => {
    const desk = await openDesk();
    const file = path.join(desk.world.project, "new.txt");
    const write = calls({ name: "Write", input: { file_path: file, content: "x" } });
    desk.server.queue(write);
    let asked = 0;
    const stop = new AbortController();
    const agent = await desk.open({
      allow: [],
      ask: () => {
        if (++asked > 1) return Promise.resolve("allow" as const);
        stop.abort();
        return new Promise(() => {});
      },
    });
    expect(await agent.say("write a new file", { signal: stop.signal })).toMatchObject({ ended: "aborted" });
    expect(fs.existsSync(file)).toBe(false);
    desk.server.queue(write, { text: "written" });
    expect(await agent.say("write it after all")).toMatchObject({ text: "written" });
    expect(asked).toBe(2);
    expect(fs.readFileSync(file, "utf8")).toBe("x");
    await expectWhole(desk, agent, ["write a new file", "write it after all"]);
  });

  // A fault that is known: it holds with 02-compaction.patch.
  it("while it compacts: the conversation is as it was, and that counts as no failure", async () => {
    const desk = await openDesk();
    desk.server.queue({ text: "one" });
    const agent = await desk.open();
    await agent.say("first words here");
    for (let i = 0; i < 3; i++) {
      const stop = new AbortController();
      desk.server.queue({ text: ["<summary>Half"], fault: "hang" });
      const before = desk.server.requests.length;
      const compacting = agent.compact({ signal: stop.signal, onEvent: desk.onEvent });
      await until(() => desk.server.requests.length > before);
      stop.abort();
      expect(await compacting).toMatchObject({ ok: false });
    }
    expect(desk.events.filter((event) => event.type === "problem" && /only runs on/.test(event.message))).toEqual([]);
    await expectWhole(desk, agent, ["first words here"]);
  });

  it("while it compacts by itself before a prompt: the prompt's words are kept", async () => {
    const desk = await openDesk();
    desk.server.queue({ text: "one", usage: { input: 95_000 } }, { before: "hang" });
    const agent = await desk.open({ windowTokens: 100_000 });
    await agent.say("first words here");
    const stop = new AbortController();
    const turn = agent.say("words that were stopped", { signal: stop.signal });
    await until(() => desk.server.requests.length === 2);
    stop.abort();
    expect(await turn).toMatchObject({ ended: "aborted" });
    desk.server.queue(SUMMARY);
    const next = await agent.compact();
    expect(next).toMatchObject({ ok: true });
    const session = fs.readFileSync(agent.transcriptPath, "utf8");
    expect(session).toContain("words that were stopped");
  });

  it("while a sub-agent works: it ends too, and its words come to nobody else", async () => {
    const desk = await openDesk();
    desk.server.queue(calls({ name: "Task", input: { prompt: "look", subagent_type: "Explore" } }), {
      text: ["Half a report"],
      fault: "hang",
    });
    const agent = await desk.open();
    const stop = new AbortController();
    const turn = agent.say("send somebody to look", { signal: stop.signal, onEvent: desk.onEvent });
    await until(() => desk.server.requests.length === 2);
    stop.abort();
    expect(await turn).toMatchObject({ ended: "aborted" });
    await until(() => desk.server.requests[1]?.aborted === true);
    await expectWhole(desk, agent, ["send somebody to look"]);
  });

  // A fault that is known: it holds with 01-turn.patch.
  it("says nothing twice: the text beside a call is not repeated behind it", async () => {
    const desk = await openDesk();
    const stop = new AbortController();
    desk.server.queue({ text: "I run it now.", ...calls({ name: "Bash", input: { command: "sleep 30" } }) });
    const agent = await desk.open();
    await agent.say("run something long", {
      signal: stop.signal,
      onEvent: (event) => event.type === "tool-start" && setTimeout(() => stop.abort(), 10),
    });
    await expectWhole(desk, agent, ["I run it now."]);
    expect(desk.shown().split("I run it now.").length - 1).toBe(1);
  });
});

describe("calls that come at once", () => {
  it("two prompts: one after the other, both kept", async () => {
    const desk = await openDesk();
    desk.server.queue({ text: "one", delayMs: 5 }, { text: "two" });
    const agent = await desk.open();
    const [first, second] = await Promise.all([agent.say("first words here"), agent.say("second words here")]);
    expect([first.text, second.text]).toEqual(["one", "two"]);
    await expectWhole(desk, agent, ["first words here", "one", "second words here", "two"]);
  });

  it("compact, rewind, clear and window during a prompt wait for it", async () => {
    const desk = await openDesk();
    desk.server.queue({ text: "one", delayMs: 5 }, SUMMARY, { text: "two", delayMs: 5 });
    const agent = await desk.open();
    const first = agent.say("first words here");
    const compacted = agent.compact();
    const second = agent.say("second words here");
    const view = agent.window();
    expect(await first).toMatchObject({ text: "one" });
    expect(await compacted).toMatchObject({ ok: true });
    expect(await second).toMatchObject({ text: "two" });
    expect((await view).parts.length).toBeGreaterThan(3);
    const id = agent.prompts()[0]?.id ?? "";
    desk.server.queue({ text: "three", delayMs: 5 });
    const third = agent.say("third words here");
    const rewound = agent.rewind(id, "both");
    expect(await third).toMatchObject({ text: "three" });
    expect((await rewound).prompt).toBe("second words here");
    const old = agent.transcriptPath;
    desk.server.queue({ text: "four", delayMs: 5 }, { text: "five" });
    const fourth = agent.say("fourth words here");
    const cleared = agent.clear();
    const fifth = agent.say("fifth words here");
    expect(await fourth).toMatchObject({ text: "four" });
    await cleared;
    expect(await fifth).toMatchObject({ text: "five" });
    expect(desk.last().messages).toHaveLength(1);
    expect(fs.readFileSync(old, "utf8")).toContain("fourth words here");
    expect(fs.readFileSync(old, "utf8")).not.toContain("fifth words here");
  });

  it("a rewind that is refused does not hold up what waits behind it", async () => {
    const desk = await openDesk();
    desk.server.queue({ text: "one" });
    const agent = await desk.open();
    const refused = agent.rewind("nowhere", "both").catch((error: Error) => error.message);
    expect(await agent.say("first words here")).toMatchObject({ text: "one" });
    expect(await refused).toContain("cannot be rewound");
  });
});

describe("a listener that throws", () => {
  // A fault that is known: it holds with 01-turn.patch.
  it("hurts no turn, no tool, no compaction and no sub-agent", async () => {
    const desk = await openDesk();
    desk.put("api/CLAUDE.md", "In api, be terse.");
    const file = desk.put("api/x.ts", "let x = 1;\n");
    const memory = "---\nname: x\ndescription: the value of x\ntype: project\n---\n\nThe value of x in api decides.\n";
    desk.world.write("project_x.md", memory);
    desk.server.queue(
      calls(
        { name: "Read", input: { file_path: file } },
        { name: "Write", input: { file_path: desk.world.path("project_y.md"), content: memory.replaceAll("x", "y") } },
        { name: "Task", input: { prompt: "look", subagent_type: "Explore" } },
      ),
      { text: "a report of the sub-agent" },
      { text: "one" },
      SUMMARY,
      { text: "two" },
    );
    const agent = await desk.open();
    const onEvent = () => {
      throw new Error("a bad listener");
    };
    expect(await agent.say("what is the value of x in api?", { onEvent })).toMatchObject({
      text: "one",
      ended: "done",
    });
    expect(desk.shown()).toContain("In api, be terse.");
    expect(desk.shown()).toContain("a report of the sub-agent");
    expect(desk.shown()).not.toContain("a bad listener");
    expect(await agent.compact({ onEvent })).toMatchObject({ ok: true });
    expect(await agent.say("second words here", { onEvent })).toMatchObject({ text: "two" });
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
