/** A model server that misbehaves and a disk that takes nothing: the conversation stays whole and is written in the end. */

import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { Reply } from "../model-server/reply.ts";
import { until } from "../until.ts";
import { calls, openDesk } from "./desk.ts";
import { expectWhole, resultsOf, typesOf } from "./hostile.ts";

const SIX = <T>(reply: T): T[] => Array.from({ length: 6 }, () => reply);

describe("the server fails", () => {
  const faults: [string, Reply[], string][] = [
    ["drops in the middle of the stream, every time", SIX({ text: ["Half a", " thought"], fault: "drop" }), "network"],
    ["ends the stream too early, every time", SIX({ text: ["Half a", " thought"], fault: "close" }), "network"],
    ["sends malformed JSON, every time", SIX({ text: ["Half a", " thought"], fault: "malformed" }), "bad-answer"],
    ["reports overload inside the stream", SIX({ text: ["Half a", " thought"], fault: "overloaded" }), "overloaded"],
    ["sends a web page", [{ before: "page" }], "bad-answer"],
    ["closes the door", SIX({ before: "drop" }), "network"],
    ["says 529 more often than the budget", SIX({ status: 529 }), "overloaded"],
    ["says the prompt is too long", [{ status: 400, message: "prompt is too long: 214000 tokens" }], "bad-request"],
    ["says 413", [{ status: 413 }], "bad-request"],
    ["knows no such model", [{ status: 404 }], "bad-request"],
    ["refuses the key", [{ status: 403 }], "auth"],
  ];
  for (const [what, replies, kind] of faults) {
    it(`${what}: the turn ends with a reason, and all is whole`, async () => {
      const desk = await openDesk();
      desk.server.queue({ text: "first answer" }, ...replies);
      const agent = await desk.open();
      await agent.say("the first thing said");
      const failed = await agent.say("the words that failed");
      expect(failed).toMatchObject({ ended: "error", error: { kind } });
      expect(failed.error?.message).not.toContain("sk-test-key");
      const shown = JSON.stringify(replies).includes("Half") ? ["Half a thought"] : [];
      await expectWhole(desk, agent, ["the first thing said", "first answer", "the words that failed", ...shown]);
    });
  }

  it("hangs before and in the middle of an answer: silence ends it", async () => {
    const desk = await openDesk();
    desk.server.queue({ before: "hang" }, ...SIX({ text: ["Half a thought"], fault: "hang" as const }).slice(1));
    const agent = await desk.open({ maxSilenceMs: 60 });
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const saying = agent.say("the words that failed", { onEvent: desk.onEvent });
    // Each time is up when all that is said has arrived.
    for (let tries = 1; tries <= 6; tries++) {
      await until(() => desk.server.requests.length === tries && typesOf(desk.events, "text").length === tries - 1);
      vi.advanceTimersByTime(60);
    }
    const failed = await saying;
    expect(failed).toMatchObject({ ended: "error", error: { kind: "timeout" }, text: "Half a thought" });
    expect(typesOf(desk.events, "retry")).toHaveLength(5);
    await expectWhole(desk, agent, ["the words that failed", "Half a thought"]);
  });

  it("fails in the middle of a tool loop: what the tools found stays", async () => {
    for (const last of [
      { status: 400, message: "no" },
      { text: "I will not.", stop: "refusal" },
      { text: "", stop: "refusal" },
    ]) {
      const desk = await openDesk();
      const file = desk.put("a.txt", "a line that was found\n");
      desk.server.queue({ text: "Let me look.", ...calls({ name: "Read", input: { file_path: file } }) }, last);
      const agent = await desk.open();
      const result = await agent.say("look into a.txt please");
      expect(["error", "refused"]).toContain(result.ended);
      await expectWhole(desk, agent, ["look into a.txt please", "Let me look.", "a line that was found"]);
    }
  });

  it("cuts an answer at the length limit in the middle of a call", async () => {
    const desk = await openDesk();
    const half = { name: "Write", rawInput: '{"file_path": "x.txt", "content": "aaa' };
    desk.server.queue(
      { text: "I write it.", tools: [half], stop: "max_tokens" },
      { tools: [half], stop: "max_tokens" },
    );
    const agent = await desk.open();
    expect(await agent.say("write a very long file")).toMatchObject({ ended: "length" });
    expect(await agent.say("write it once more")).toMatchObject({ ended: "length" });
    expect(fs.existsSync(path.join(desk.world.project, "x.txt"))).toBe(false);
    await expectWhole(desk, agent, ["write a very long file", "I write it.", "write it once more"]);
  });

  it("a call whose input is no JSON is answered, not run", async () => {
    const desk = await openDesk();
    const broken = { name: "Bash", rawInput: '{"command": "touch made' };
    desk.server.queue({ tools: [broken], stop: "tool_use" }, { text: "sorry" });
    const agent = await desk.open();
    await agent.say("make a file please", { onEvent: desk.onEvent });
    expect(resultsOf(desk.events)).toMatchObject([{ isError: true }]);
    await expectWhole(desk, agent, ["make a file please", "sorry"]);
  });

  it("gives an empty answer: the next prompt works", async () => {
    const desk = await openDesk();
    desk.server.queue({}, { text: "" }, { thinking: "hm" });
    const agent = await desk.open();
    for (const words of ["first words here", "second words here", "third words here"]) await agent.say(words);
    await expectWhole(desk, agent, ["first words here", "second words here", "third words here"]);
  });

  // A fault that is known: it holds with 03-wire.patch.
  it("answers with white space alone: no such text is sent back, which the API would refuse for ever", async () => {
    const desk = await openDesk();
    desk.server.queue(
      { text: "\n" },
      { text: " ", ...calls({ name: "Bash", input: { command: "true" } }) },
      { text: "ok" },
    );
    const agent = await desk.open();
    await agent.say("first words here");
    await agent.say("second words here");
    await expectWhole(desk, agent, ["first words here", "second words here"]);
    const texts = desk.server.requests.flatMap(({ body }) =>
      body.messages.flatMap(({ content }: { content: { type: string; text?: string }[] }) => content),
    );
    expect(texts.filter(({ type, text }) => type === "text" && text?.trim() === "")).toEqual([]);
  });

  // A fault that is known: it holds with 03-wire.patch.
  it("half a character, from the user or the model, is never sent: the API would refuse the body for ever", async () => {
    const desk = await openDesk();
    const broken = { name: "Bash", rawInput: '{"command": "echo \\ud83d"}' };
    desk.server.queue({ text: ["cut \ud83d"], tools: [broken] }, { text: "ok" });
    const agent = await desk.open();
    await agent.say("half of it: \ude00 and more");
    await expectWhole(desk, agent, ["and more"]);
    for (const { raw } of desk.server.requests) expect(raw).not.toMatch(/\\ud[89a-f][0-9a-f]{2}/i);
  });

  // A fault that is known: it holds with 01-turn.patch.
  it("an empty prompt does no harm", async () => {
    const desk = await openDesk();
    desk.server.queue({ text: "one" });
    const agent = await desk.open();
    await agent.say("first words here");
    await agent.say("");
    expect(desk.last().messages.at(-1).role).toBe("user");
    await agent.say(" \n ");
    expect(desk.last().messages.at(-1).role).toBe("user");
    await expectWhole(desk, agent, ["first words here"]);
  });
});

describe("the disk fails", () => {
  // A fault that is known: it holds with 01-turn.patch.
  it("the projects folder is a file: the turn goes on, the user is told once per turn, and all is written later", async () => {
    const desk = await openDesk();
    const agent = await desk.open();
    const projects = path.dirname(path.dirname(agent.transcriptPath));
    fs.rmSync(projects, { recursive: true, force: true });
    fs.writeFileSync(projects, "in the way");
    const told = () => desk.events.filter((event) => event.type === "problem" && event.message.includes("transcript"));
    const file = desk.put("a.txt", "found\n");
    desk.server.queue(calls({ name: "Read", input: { file_path: file } }), { text: "one" }, { text: "two" });
    expect(await agent.say("first words here", { onEvent: desk.onEvent })).toMatchObject({ text: "one" });
    expect(told()).toHaveLength(1);
    expect(await agent.say("second words here", { onEvent: desk.onEvent })).toMatchObject({ text: "two" });
    expect(told()).toHaveLength(2);
    fs.rmSync(projects);
    await expectWhole(desk, agent, ["first words here", "found", "one", "second words here", "two"]);
  });

  it("the session's folder vanishes while it runs: what is said from then on is kept", async () => {
    const desk = await openDesk();
    const agent = await desk.open();
    desk.server.queue({ text: "one" }, { text: "two" }, { text: "three" });
    await agent.say("first words here");
    fs.rmSync(path.dirname(agent.transcriptPath), { recursive: true });
    expect(await agent.say("second words here", { onEvent: desk.onEvent })).toMatchObject({ text: "two" });
    fs.mkdirSync(path.dirname(agent.transcriptPath), { recursive: true });
    expect(await agent.say("third words here", { onEvent: desk.onEvent })).toMatchObject({ text: "three" });
    const session = await desk.read(agent);
    expect(session.prompts.map(({ text }) => text)).toEqual(["second words here", "third words here"]);
    const resumed = await desk.open({ from: session });
    desk.server.queue({ text: "four" });
    expect(await resumed.say("and after a resume")).toMatchObject({ ended: "done" });
  });

  it("a link in the transcript's place is not followed", async () => {
    const desk = await openDesk();
    const agent = await desk.open();
    const outside = path.join(desk.world.top, "outside.jsonl");
    fs.writeFileSync(outside, "");
    fs.mkdirSync(path.dirname(agent.transcriptPath), { recursive: true });
    fs.symlinkSync(outside, agent.transcriptPath);
    desk.server.queue({ text: "one" });
    expect(await agent.say("first words here", { onEvent: desk.onEvent })).toMatchObject({ text: "one" });
    expect(typesOf(desk.events, "problem")).toHaveLength(1);
    expect(fs.readFileSync(outside, "utf8")).toBe("");
    fs.unlinkSync(agent.transcriptPath);
    await expectWhole(desk, agent, ["first words here", "one"]);
  });

  it.runIf(canMount())(
    "the disk is full: nothing throws, nothing is half written, and all of it is there when there is room",
    async () => {
      const desk = await openDesk();
      const file = desk.put("a.txt", "one\n");
      const agent = await desk.open();
      const folder = path.dirname(agent.transcriptPath);
      fs.mkdirSync(folder, { recursive: true });
      const history = path.join(desk.world.home, ".claude", "file-history");
      fs.mkdirSync(history, { recursive: true });
      for (const tiny of [folder, history]) mount(tiny);
      try {
        desk.server.queue({ text: "one" }, calls({ name: "Read", input: { file_path: file } }));
        await agent.say("first words here");
        for (const tiny of [folder, history]) fill(tiny);
        desk.server.queue(
          calls({ name: "Edit", input: { file_path: file, old_string: "one", new_string: "two" } }),
          { text: `two ${"and much more ".repeat(2_000)}` },
          { text: "three" },
        );
        expect(await agent.say("second words here", { onEvent: desk.onEvent })).toMatchObject({ ended: "done" });
        // No copy of what was there could be kept, so nothing was changed.
        expect(resultsOf(desk.events).map(({ isError }) => isError)).toEqual([false, true]);
        expect(desk.text("a.txt")).toBe("one\n");
        expect(await agent.say("third words here", { onEvent: desk.onEvent })).toMatchObject({ text: "three" });
        expect(typesOf(desk.events, "problem").length).toBeGreaterThanOrEqual(2);
        for (const line of fs.readFileSync(agent.transcriptPath, "utf8").trimEnd().split("\n")) JSON.parse(line);
        for (const tiny of [folder, history]) fs.rmSync(path.join(tiny, "filler"));
        await expectWhole(desk, agent, ["first words here", "second words here", "and much more", "third words here"]);
      } finally {
        for (const tiny of [folder, history]) execFileSync("umount", ["-l", tiny]);
      }
    },
  );
});

/** Only root may, and not in every container. */
function canMount(): boolean {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return false;
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "memdir-mount-"));
  try {
    mount(folder);
    execFileSync("umount", ["-l", folder]);
    return true;
  } catch {
    return false;
  } finally {
    fs.rmdirSync(folder);
  }
}

function mount(folder: string): void {
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=512k", "tmpfs", folder], { stdio: "ignore" });
}

function fill(folder: string): void {
  const fd = fs.openSync(path.join(folder, "filler"), "w");
  try {
    for (;;) fs.writeSync(fd, Buffer.alloc(4096));
  } catch {
    // Full.
  } finally {
    fs.closeSync(fd);
  }
}
