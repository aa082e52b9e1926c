/** `memdir health`: one screen, narrow or wide, and the whole as JSON. */

import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { runOf } from "../../src/cli/command.ts";
import { logSurfaced } from "../../src/recall/surface-log.ts";
import { health } from "../../src/verbs/health.ts";
import { makeMess } from "../learn/dream-mess.ts";
import { DAY, makeWorld, note } from "../world.ts";
import { hearCall } from "./call.ts";

const run = runOf(health);

test("an empty directory has no score; memories at the top of the repository are offered", async () => {
  const world = makeWorld();
  const { call, printed } = hearCall(world, { columns: 80 });
  expect(await run(call)).toBe(0);
  expect(printed.join("\n")).not.toContain("of 100");
  expect(printed.join("\n")).toContain("There are no memories here yet.");
  const { call: asProgram, answers } = hearCall(world, { json: true });
  await run(asProgram);
  expect(answers[0]).toMatchObject({ score: null, memories: 0 });
  const top = path.join(world.project, "memory");
  fs.mkdirSync(top);
  fs.writeFileSync(path.join(top, "MEMORY.md"), "- [Tea](tea.md)\n");
  fs.writeFileSync(path.join(top, "tea.md"), "---\nname: tea\ndescription: d\ntype: project\n---\n\nGreen.\n");
  await run(call);
  expect(printed.join("\n").replace(/\s+/g, " ")).toContain("This repository keeps memories in");
});

test("the score, bars, and three things to do first; no line is too long", async () => {
  const world = makeWorld();
  makeMess(world);
  for (const columns of [undefined, 200, 80, 48, 30, 20, 0]) {
    const { call, printed } = hearCall(world, columns === undefined ? {} : { columns });
    await run(call);
    const lines = printed.join("\n").split("\n");
    expect(lines.join("\n")).toMatch(/\d+ of 100: in\s+good/);
    expect(lines.join("\n")).toContain("What to do first");
    expect(lines.filter((line) => /^ {2}[123]\. /.test(line))).toHaveLength(3);
    expect(lines.some((line) => line.includes("█"))).toBe(true);
    if (columns && columns >= 48) for (const line of lines) expect([...line].length, line).toBeLessThanOrEqual(columns);
  }
});

test("a missing index is named, with what to do", async () => {
  const world = makeWorld();
  world.write("tea.md", "---\nname: tea\ndescription: d\ntype: project\n---\n\nGreen.\n");
  const { call, printed } = hearCall(world, {});
  await run(call);
  const text = printed.join("\n");
  expect(text).toContain("project: MEMORY.md is missing or empty");
  expect(text).toContain("memdir index --rebuild");
  expect(text).not.toContain("Nothing to fix");
  await (await world.open()).rebuildIndex();
  printed.length = 0;
  await run(call);
  expect(printed.join("\n")).not.toContain("MEMORY.md");
});

test("says how many memories have cues, and what they are good for", async () => {
  const world = makeWorld();
  const memdir = await world.open();
  await memdir.save(note("tea", { when: ["what to drink"] }));
  await memdir.save(note("coffee"));
  const { call, printed } = hearCall(world, {});
  await run(call);
  expect(printed.join("\n")).toContain("Cues: 1 of 2 memories (50 %). A prompt in other words finds its memory 74 %");
  const recall = fs.readFileSync(path.resolve("docs/recall.md"), "utf8");
  expect(recall.replace(/\s+/g, " ")).toContain("the first five 74 % of the time with cues, and 50 % without");
  const { call: asked, answers } = hearCall(world, { json: true });
  await run(asked);
  expect(answers[0]).toMatchObject({ memories: 2, cued: 1 });
});

test("--all names every finding, on harmless lines", async () => {
  const world = makeWorld();
  await (await world.open()).save(note("tea"));
  world.write("user_\x1b[2Jx.md", "---\nname: x\n");
  const { call, printed } = hearCall(world, { options: { all: true }, columns: 80 });
  await run(call);
  expect(printed.join("\n")).toContain("Everything");
  expect(printed.join("\n")).not.toContain("\x1b");
});

test("--json: score, counts, findings, what to do first; instructions and the surface log take part", async () => {
  const world = makeWorld();
  fs.writeFileSync(
    path.join(world.project, "CLAUDE.md"),
    "# Rules\n\nAlways run the linter before a commit is made.\n",
  );
  const memdir = await world.open();
  await memdir.save(note("lint", { type: "feedback", body: "Always run the linter before a commit is made." }));
  await memdir.save(note("tea", { when: ["drinks"] }));
  logSurfaced(world.dir, {
    at: new Date(world.now.getTime() - 60 * DAY),
    session: null,
    door: "cli",
    prompt: "p",
    memories: [{ file: "feedback_lint.md", scope: "project", why: [] }],
  });
  world.age("user_tea.md", 50 * DAY);
  world.write("user_tea.md", world.read("user_tea.md").replace(/^(created|modified):.*\n/gm, ""), { ageMs: 50 * DAY });
  const { call, answers } = hearCall(world, { json: true });
  await run(call);
  expect(answers[0]).toMatchObject({ memories: 2, scope: "project", dir: world.dir, others: [] });
  expect(answers[0].counts).toMatchObject({ restated: 1, "never-recalled": 1 });
  // 0.4 and 0.2 of one of two memories.
  expect(answers[0]).toMatchObject({ points: { restated: 20, "never-recalled": 10 }, score: 70 });
  expect(answers[0].findings[0]).toMatchObject({ kind: "restated", file: "feedback_lint.md" });
  expect(answers[0].first[0].command).toBe("memdir prune --suggest");
});

test("the headline is that of the scope with most memories, also where only the team has some", async () => {
  const world = makeWorld();
  const team = path.join(world.project, ".claude", "memory");
  fs.mkdirSync(team, { recursive: true });
  const put = (name: string, body: string) =>
    fs.writeFileSync(
      path.join(team, `${name}.md`),
      `---\nname: ${name}\ndescription: about ${name}\ntype: user\n---\n\n${body}\n`,
    );
  put("tea", "Likes green tea in the morning.");
  const only = hearCall(world, {});
  await run(only.call);
  expect(only.printed.join("\n")).toMatch(/^100 of 100: in good health {2}1 memory, team, /);
  await (await world.open()).save(note("one"));
  const both = hearCall(world, {});
  await run(both.call);
  expect(both.printed.join("\n")).toContain("1 memory, project, ");
  put("long", "word ".repeat(2000));
  put("long-too", "word ".repeat(2000));
  await (await world.open()).save(note("two"));
  await (await world.open()).save(note("three"));
  await (await world.open()).save(note("four"));
  const all = hearCall(world, { options: { all: true } });
  await run(all.call);
  const [own = "", others = ""] = all.printed.join("\n").split(/^(?=.*memories, team, )/m);
  expect(own).toMatch(/^100 of 100: .* 4 memories, project, /);
  expect(others).toMatch(/^\d+ of 100: .*\n +duplicates +1 +-\d+ +█+[\s\S]*duplicates: long\.md: /);
  for (const name of ["two", "three", "four"]) await (await world.open()).forget(name);
  for (const name of ["long", "long-too"]) fs.rmSync(path.join(team, `${name}.md`));
  put("coffee", "Drinks no coffee at all.");
  const most = hearCall(world, { json: true });
  await run(most.call);
  expect(most.answers[0]).toMatchObject({ scope: "team", memories: 2, others: [{ scope: "project", memories: 1 }] });
});

test("what each kind costs stands beside it", async () => {
  const world = makeWorld();
  for (const name of ["one", "two"])
    world.write(
      `${name}.md`,
      `---\nname: ${name}\ndescription: d\ntype: user\n---\n\n${name === "one" ? "word ".repeat(2000) : "Tea."}\n`,
    );
  const { call, printed } = hearCall(world, { columns: 80 });
  await run(call);
  expect(printed.join("\n")).toMatch(/85 of 100[\s\S]*oversized +1 +-15 +█+/);
});
