/** Going back and going on, with files, links and other processes in the way. */

import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { readSession } from "../../src/session/session-reader.ts";
import { calls, openDesk } from "./desk.ts";
import { expectWhole, plainMessages, resultsOf } from "./hostile.ts";

const SUMMARY = { text: "<summary>What we did so far.</summary>" };
const read = (file_path: string) => ({ name: "Read", input: { file_path } });
const edit = (file_path: string, old_string: string, new_string: string) => ({
  name: "Edit",
  input: { file_path, old_string, new_string },
});

/** Two prompts: in the second, a.txt becomes "two" and made.txt is made. */
async function change() {
  const desk = await openDesk();
  const file = desk.put("a.txt", "one\n");
  const made = path.join(desk.world.project, "made.txt");
  desk.server.queue(
    { text: "hi" },
    calls(read(file)),
    calls(edit(file, "one", "two"), { name: "Write", input: { file_path: made, content: "new" } }),
    { text: "changed" },
  );
  const agent = await desk.open();
  await agent.say("hello you there");
  await agent.say("change the file please");
  const [first = "", second = ""] = agent.prompts().map(({ id }) => id);
  return { desk, agent, file, made, first, second };
}

describe("rewind", () => {
  it("of the conversation alone leaves the files; of the code alone leaves the conversation", async () => {
    const { desk, agent, made, second } = await change();
    await agent.rewind(second, "conversation");
    expect(desk.text("a.txt")).toBe("two\n");
    expect(fs.existsSync(made)).toBe(true);
    desk.server.queue({ text: "ok" });
    await agent.say("something else then");
    expect(desk.shown()).not.toContain("change the file please");

    const other = await change();
    await other.agent.rewind(other.second, "code");
    expect(other.desk.text("a.txt")).toBe("one\n");
    expect(fs.existsSync(other.made)).toBe(false);
    await expectWhole(other.desk, other.agent, ["hello you there", "change the file please", "changed"]);
  });

  it("twice, then a resume: the conversation is what it was there", async () => {
    const { desk, agent, first, second } = await change();
    await agent.rewind(second, "both");
    await agent.rewind(first, "both");
    expect(agent.prompts()).toEqual([]);
    await expect(agent.rewind(second, "both")).rejects.toThrow(/cannot be rewound/);
    const empty = await desk.open({ from: await desk.read(agent) });
    desk.server.queue({ text: "ok" });
    await empty.say("after the empty resume");
    expect(desk.shown()).not.toContain("hello you there");
    desk.server.queue({ text: "ok" });
    await agent.say("something else then");
    expect(desk.last().messages).toHaveLength(1);
    expect(fs.readFileSync(agent.transcriptPath, "utf8")).toContain("change the file please");
  });

  it("to a prompt before a compaction: the code goes back, the conversation is refused with the reason", async () => {
    const { desk, agent, second } = await change();
    desk.server.queue(SUMMARY);
    await agent.compact();
    await expect(agent.rewind(second, "both")).rejects.toThrow(/compaction/);
    expect(desk.text("a.txt")).toBe("two\n");
    expect((await agent.rewind(second, "code")).files?.steps).toHaveLength(2);
    expect(desk.text("a.txt")).toBe("one\n");
    const resumed = await desk.open({ from: await desk.read(agent) });
    await expect(resumed.rewind(second, "conversation")).rejects.toThrow(/compaction/);
  });

  it("keeps what somebody edited meanwhile, so that it can be brought back", async () => {
    const { desk, agent, file, second } = await change();
    fs.writeFileSync(file, "by hand\n");
    const { files } = await agent.rewind(second, "both");
    expect(files?.steps.find((step) => step.path === file)).toMatchObject({ action: "restore", outside: true });
    expect(desk.text("a.txt")).toBe("one\n");
    await agent.rewind(files?.undo ?? "", "code");
    expect(desk.text("a.txt")).toBe("by hand\n");
  });

  it("brings back what was deleted, and goes through no link", async () => {
    const { desk, agent, file, made, second } = await change();
    const outside = path.join(desk.world.top, "outside.txt");
    fs.writeFileSync(outside, "not ours\n");
    fs.unlinkSync(file);
    fs.unlinkSync(made);
    fs.symlinkSync(outside, made);
    const { files } = await agent.rewind(second, "both");
    expect(desk.text("a.txt")).toBe("one\n");
    expect(fs.readFileSync(outside, "utf8")).toBe("not ours\n");
    expect(files?.steps.find((step) => step.path === made)).toMatchObject({ action: "refused" });
  });

  // A fault that is known: it holds with 04-rewind.patch.
  it("B10.6 what was read in the part that is gone must be read again before it is changed", async () => {
    const { desk, agent, file, second } = await change();
    await agent.rewind(second, "both");
    desk.server.queue(calls(edit(file, "one", "three")), { text: "refused" });
    await agent.say("change it again please", { onEvent: desk.onEvent });
    expect(resultsOf(desk.events)).toMatchObject([{ isError: true }]);
    // Also where the content is the same: the model of this conversation has never seen it.
    const other = await change();
    const kept = other.desk.put("kept.txt", "as it was\n");
    other.desk.server.queue(calls(read(kept)), { text: "read" });
    await other.agent.say("read the other file");
    await other.agent.rewind(other.agent.prompts().at(-1)?.id ?? "", "conversation");
    other.desk.server.queue(calls({ name: "Write", input: { file_path: kept, content: "gone" } }), { text: "ok" });
    await other.agent.say("write the other file", { onEvent: other.desk.onEvent });
    expect(other.desk.text("kept.txt")).toBe("as it was\n");
  });

  it("shows again what the part that is gone had shown", async () => {
    const desk = await openDesk();
    desk.put("api/CLAUDE.md", "In api, be terse.");
    const file = desk.put("api/x.ts", "let x = 1;\n");
    desk.server.queue({ text: "hi" }, calls(read(file)), { text: "one" });
    const agent = await desk.open();
    await agent.say("hello you there");
    await agent.say("read the file in api");
    await agent.rewind(agent.prompts()[1]?.id ?? "", "conversation");
    const resumed = await desk.open({ from: await desk.read(agent) });
    for (const one of [agent, resumed]) {
      desk.server.queue(calls(read(file)), { text: "two" });
      await one.say("read the file in api");
      expect(desk.shown().split("In api, be terse.").length - 1).toBe(1);
    }
  });
});

describe("one session, several hands", () => {
  it("two agents on one file: every line is whole, and whoever spoke last is gone on from", async () => {
    const desk = await openDesk();
    desk.server.queue({ text: "one" });
    const first = await desk.open();
    await first.say("first words here");
    const second = await desk.open({ from: await desk.read(first) });
    for (let i = 0; i < 5; i++) {
      desk.server.queue({ text: `a${i}` }, { text: `b${i}` });
      await Promise.all([first.say(`left hand says ${i}`), second.say(`right hand says ${i}`)]);
    }
    const file = fs.readFileSync(first.transcriptPath, "utf8");
    for (const line of file.trimEnd().split("\n")) expect(() => JSON.parse(line)).not.toThrow();
    for (let i = 0; i < 5; i++) {
      expect(file).toContain(`left hand says ${i}`);
      expect(file).toContain(`right hand says ${i}`);
    }
    const session = await desk.read(first);
    const texts = session.prompts.map(({ text }) => text);
    expect(texts[0]).toBe("first words here");
    expect(texts).toHaveLength(6);
    await expectWhole(desk, second, ["first words here", "right hand says 4"]);
  });

  it("is read while somebody appends: half a line at the end is left out and not glued to", async () => {
    const desk = await openDesk();
    desk.server.queue({ text: "one" });
    const agent = await desk.open();
    await agent.say("first words here");
    fs.appendFileSync(agent.transcriptPath, '{"type":"user","uuid":"x","mess');
    const session = await desk.read(agent);
    expect(session.problems).toHaveLength(1);
    const resumed = await desk.open({ from: session });
    desk.server.queue({ text: "two" });
    await resumed.say("second words here");
    const again = await desk.read(resumed);
    expect(again.prompts.map(({ text }) => text)).toEqual(["first words here", "second words here"]);
  });

  it("5,000 messages resume and go on", async () => {
    const desk = await openDesk();
    desk.server.queue({ text: "one" });
    const agent = await desk.open();
    await agent.say("first words here");
    const lines = fs
      .readFileSync(agent.transcriptPath, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    const user = lines.find(({ type }) => type === "user");
    const assistant = lines.find(({ type }) => type === "assistant");
    let parent = assistant.uuid;
    const more: string[] = [];
    for (let i = 0; i < 5_000; i++) {
      const from = i % 2 === 0 ? user : assistant;
      const message = { ...from.message, ...(i % 2 === 1 && { id: `msg_${i}` }) };
      more.push(JSON.stringify({ ...from, uuid: `u-${i}`, parentUuid: parent, message }));
      parent = `u-${i}`;
    }
    fs.appendFileSync(agent.transcriptPath, `${more.join("\n")}\n`);
    const session = await readSession(agent.transcriptPath);
    expect(session.messages).toHaveLength(5_002);
    const resumed = await desk.open({ from: session, windowTokens: 1_000_000 });
    desk.server.queue({ text: "two" });
    expect(await resumed.say("second words here")).toMatchObject({ text: "two" });
    expect(plainMessages(desk.last())).toHaveLength(5_003);
  });
});
