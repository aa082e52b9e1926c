/** What rules the work, before and after a compaction: instruction files, rules, index lines and recalled memories. */

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { note } from "../world.ts";
import { calls, openDesk } from "./desk.ts";
import { typesOf } from "./hostile.ts";

const SUMMARY = { text: "<summary>What we did so far.</summary>" };

describe("what rules the work", () => {
  it("C34 every instruction file, rule and index line is shown after a compaction as before it, whatever they are", async () => {
    const word = fc.stringMatching(/^[a-z]{3,8}$/);
    const scene = fc.record({
      root: fc.boolean(),
      local: fc.boolean(),
      dot: fc.boolean(),
      rules: fc.array(fc.record({ name: word, scoped: fc.boolean() }), { maxLength: 4 }),
      nested: fc.uniqueArray(word, { maxLength: 3 }),
      memories: fc.uniqueArray(word, { maxLength: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(scene, async ({ root, local, dot, rules, nested, memories }) => {
        const desk = await openDesk();
        const marks: string[] = [];
        const put = (file: string, text: string, mark: string) => {
          desk.put(file, text);
          marks.push(mark);
        };
        if (root) put("CLAUDE.md", "MARK-root is a rule.", "MARK-root");
        if (local) put("CLAUDE.local.md", "MARK-local is a rule.", "MARK-local");
        if (dot) put(".claude/CLAUDE.md", "MARK-dot is a rule.", "MARK-dot");
        for (const [i, { name, scoped }] of rules.entries()) {
          const head = scoped ? '---\npaths:\n  - "src/**/*.ts"\n---\n' : "";
          put(`.claude/rules/${name}-${i}.md`, `${head}MARK-rule-${i} is a rule.`, `MARK-rule-${i}`);
        }
        const files = [desk.put("src/main.ts", "let main = 1;\n")];
        for (const name of nested) {
          put(`src/${name}/CLAUDE.md`, `MARK-nested-${name} is a rule.`, `MARK-nested-${name}`);
          files.push(desk.put(`src/${name}/x.ts`, "let x = 1;\n"));
        }
        const memdir = await desk.world.open();
        for (const name of memories) {
          await memdir.save(note(name, { description: `MARK-memory-${name} about it` }));
          marks.push(`MARK-memory-${name}`);
        }
        desk.server.queue(
          calls(...files.map((file_path) => ({ name: "Read", input: { file_path } }))),
          { text: "read" },
          SUMMARY,
          { text: "two" },
        );
        const agent = await desk.open();
        await agent.say("read all of the files");
        for (const mark of marks) expect(desk.shown(), `before: ${mark}`).toContain(mark);
        expect(await agent.compact()).toMatchObject({ ok: true });
        await agent.say("second words here");
        for (const mark of marks) expect(desk.shown(), `after: ${mark}`).toContain(mark);
        const resumed = await desk.open({ from: await desk.read(agent) });
        desk.server.queue({ text: "three" });
        await resumed.say("third words here");
        for (const mark of marks) expect(desk.shown(), `resumed: ${mark}`).toContain(mark);
        await desk.server.close();
      }),
      { numRuns: 12 },
    );
  });

  it("rules of more files than are shown again come back when such a file is touched", async () => {
    const desk = await openDesk();
    desk.put(".claude/rules/ts.md", '---\npaths:\n  - "**/*.ts"\n---\nMARK-ts is a rule.');
    const ts = desk.put("a.ts", "let a = 1;\n");
    const texts = Array.from({ length: 6 }, (_, i) => desk.put(`${i}.txt`, `${i}\n`));
    const read = (file_path: string) => ({ name: "Read", input: { file_path } });
    desk.server.queue(calls(read(ts)), calls(...texts.map(read)), { text: "read" }, SUMMARY, calls(read(ts)), {
      text: "two",
    });
    const agent = await desk.open();
    await agent.say("read all of the files");
    await agent.compact();
    await agent.say("read the first again");
    expect(desk.shown()).toContain("MARK-ts is a rule.");
  });

  // A fault that is known: it holds with 07-recall-again.patch.
  it("B11.18 memories that were shown come again with the prompt that a compaction happens before", async () => {
    const desk = await openDesk();
    await (await desk.world.open()).save(
      note("manager", { type: "feedback", body: "Install packages with pnpm, never npm." }),
    );
    desk.server.queue({ text: "one", usage: { input: 95_000 } }, SUMMARY, { text: "two" });
    const agent = await desk.open({ windowTokens: 100_000 });
    await agent.say("how do I install packages here?");
    expect(desk.shown()).toContain("never npm");
    await agent.say("and how do I install more packages?", { onEvent: desk.onEvent });
    expect(typesOf(desk.events, "compacted")).toHaveLength(1);
    expect(desk.shown()).toContain("never npm");
  });

  // A fault that is known: it holds with 07-recall-again.patch.
  it("B11.18 memories that a turn was shown are still shown when it is compacted in its middle, and so are the sub-agents", async () => {
    const desk = await openDesk();
    await (await desk.world.open()).save(
      note("manager", { type: "feedback", body: "Install packages with pnpm, never npm." }),
    );
    const file = desk.put("a.txt", "found\n");
    const read = calls({ name: "Read", input: { file_path: file } });
    desk.server.queue({ ...read, usage: { input: 95_000 } }, SUMMARY, read, { text: "done" });
    const agent = await desk.open({ windowTokens: 100_000 });
    await agent.say("how do I install packages here?", { onEvent: desk.onEvent });
    expect(typesOf(desk.events, "compacted")).toHaveLength(1);
    expect(desk.shown().split("never npm").length - 1).toBe(1);
    expect(desk.shown()).toContain("- Explore:");
  });

  it("memories stay away from a turn whose words say so, also when it is compacted", async () => {
    const desk = await openDesk();
    await (await desk.world.open()).save(
      note("manager", { type: "feedback", body: "Install packages with pnpm, never npm." }),
    );
    const file = desk.put("a.txt", "found\n");
    desk.server.queue({ ...calls({ name: "Read", input: { file_path: file } }), usage: { input: 95_000 } }, SUMMARY, {
      text: "done",
    });
    const agent = await desk.open({ windowTokens: 100_000 });
    await agent.say("ignore your memory: how do I install packages here?");
    expect(desk.shown()).not.toContain("never npm");
  });
});
