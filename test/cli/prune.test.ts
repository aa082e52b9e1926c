/** `memdir prune --suggest`: what could go and why, forgotten only when somebody says yes, and undoable. */

import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { runOf } from "../../src/cli/command.ts";
import { prune as verb } from "../../src/verbs/prune.ts";
import { DAY, errorOf, makeWorld, type World } from "../world.ts";
import { hearCall } from "./call.ts";

const prune = runOf(verb);

function makeOld(): World {
  const world = makeWorld();
  const put = (file: string, type: string, body: string, more = "") => {
    const name = file.replace(/\.md$/, "");
    world.write(file, `---\nname: ${name}\ndescription: about ${name}\ntype: ${type}\n${more}---\n\n${body}\n`, {
      ageMs: 40 * DAY,
    });
  };
  const reset = "The staging cluster is reset every night by a scheduled job called wipe-all.";
  put("reference_one.md", "reference", reset, "modified: 2026-02-01\n");
  put("reference_two.md", "reference", reset, "modified: 2026-01-01\n");
  put("project_freeze.md", "project", "Merge freeze until 2025-12-20.", "created: 2025-12-01\n");
  // What was over when it was written is told, and not due.
  put("project_incident.md", "project", "The outage ended on 2025-12-20.", "created: 2025-12-21\n");
  put("project_pinned.md", "project", "Merge freeze until 2025-11-20.", "created: 2025-11-01\npinned: true\n");
  put("feedback_copy.md", "feedback", `${reset}\n`, "modified: 2025-01-01\n");
  put("feedback_main.md", "feedback", "Never commit to main directly, whatever happens.");
  fs.writeFileSync(path.join(world.project, "CLAUDE.md"), "- Never commit to main directly, whatever happens.\n");
  return world;
}

test("B4.17 names what could go with the reason; nothing goes, and corrections are left to the user", async () => {
  const world = makeOld();
  const { call, printed, warned } = hearCall(world, { options: { suggest: true } });
  expect(await prune(call)).toBe(0);
  expect(printed).toEqual([
    expect.stringMatching(/^you may forget feedback_main\.md \(.*CLAUDE\.md:1 already says it\)$/),
    "would forget project_freeze.md (its deadline, 2025-12-20, was 80 days ago)",
    "would forget reference_two.md (says the same as reference_one.md)",
  ]);
  expect(warned).toEqual(["memdir: note: nothing was forgotten; --apply does it"]);
  expect(world.files()).toHaveLength(7);
});

test("B4.17 --apply forgets them as one change, and one undo brings every byte back", async () => {
  const world = makeOld();
  const before = world.files().map((file) => [file, world.read(file)]);
  const { call, answers } = hearCall(world, { options: { suggest: true, apply: true }, json: true });
  await prune(call);
  const [{ memories, undo, suggestions }] = answers;
  expect(memories.map(({ file }: { file: string }) => file)).toEqual(["project_freeze.md", "reference_two.md"]);
  expect(suggestions).toHaveLength(3);
  expect(world.exists("project_freeze.md")).toBe(false);
  expect(world.exists("feedback_main.md")).toBe(true);
  const memdir = await world.open();
  const [entry] = (await memdir.history()).slice(-1);
  expect(entry).toMatchObject({ action: "prune", reason: expect.stringContaining("its deadline, 2025-12-20") });
  await memdir.undo(undo);
  const after = world.files().map((file) => [file, world.read(file)]);
  expect(after.filter(([file]) => file !== "MEMORY.md")).toEqual(before.filter(([file]) => file !== "MEMORY.md"));
});

test("on a terminal it asks: no changes nothing, yes does it", async () => {
  const world = makeOld();
  const asked: string[] = [];
  for (const yes of [false, true]) {
    const ask = async (question: string) => asked.push(question) > 0 && yes;
    const { call, printed } = hearCall(world, { options: { suggest: true }, ask });
    await prune(call);
    expect(world.exists("project_freeze.md")).toBe(!yes);
    if (yes) expect(printed.slice(-2)).toEqual(["forgot 2 memories", expect.stringMatching(/^memdir undo \S+ brings/)]);
  }
  expect(asked).toEqual(["Forget 2 memories?", "Forget 2 memories?"]);
});

test("what is merely old is suggested too, by the type and the days that are given", async () => {
  const world = makeOld();
  world.write("reference_wiki.md", "---\nname: wiki\ndescription: d\ntype: reference\n---\n\nThe wiki.\n", {
    ageMs: 37 * DAY,
  });
  const { call, printed } = hearCall(world, { options: { suggest: true, type: "reference", "older-than": "5" } });
  await prune(call);
  expect(printed).toContain("would forget reference_wiki.md (37 days old)");
  // Its copy goes: then it stays, old as it is.
  expect(printed.join()).not.toContain("forget reference_one.md");
});

test("two copies never both go, however old they are of another kind", async () => {
  const world = makeWorld();
  const body = "The staging cluster is reset every night by a scheduled job called wipe-all.";
  for (const [at, file] of ["user_a.md", "user_b.md", "user_c.md"].entries())
    world.write(
      file,
      `---\nname: ${file}\ndescription: d\ntype: user\nmodified: 2026-02-0${at + 1}\n---\n\n${body}\n`,
      {
        ageMs: 60 * DAY,
      },
    );
  const { call, answers } = hearCall(world, { options: { suggest: true, apply: true }, json: true });
  await prune(call);
  expect(answers[0].memories).toHaveLength(2);
  expect(world.exists("user_c.md")).toBe(true);
});

test("an empty directory needs nothing; --apply alone is an error", async () => {
  const world = makeWorld();
  const { call, printed } = hearCall(world, { options: { suggest: true } });
  await prune(call);
  expect(printed).toEqual(["Nothing needs to go."]);
  const alone = hearCall(world, { options: { apply: true } });
  expect(await errorOf(prune(alone.call))).toMatchObject({ code: "usage" });
});

test("named files are checked again: feedback, pinned and unreadable ones stay", async () => {
  const world = makeOld();
  world.write("user_broken.md", "---\nname: x\n");
  const memdir = await world.open();
  const files = ["feedback_main.md", "project_pinned.md", "user_broken.md", "gone.md", "../x.md"];
  const result = await memdir.prune({ files: files.map((file) => ({ file, reason: "r" })), dryRun: false });
  expect(result).toEqual({ memories: [], undo: null });
});

test("on a terminal old memories are shown, and forgotten only after a yes; --yes and scripts are not asked", async () => {
  const made = () => {
    const world = makeWorld();
    const text = "---\nname: old\ndescription: d\ntype: project\n---\n\nOld.\n";
    world.write("project_old.md", text, { ageMs: 200 * DAY });
    world.write("user_new.md", "---\nname: new\ndescription: d\ntype: user\n---\n\nNew.\n");
    return world;
  };
  const no = made();
  const declined = hearCall(no, { ask: async () => false });
  await prune(declined.call);
  expect(declined.printed).toEqual(["would forget project_old.md (200 days old)", "Nothing was forgotten."]);
  expect(no.exists("project_old.md")).toBe(true);
  for (const asked of [{ ask: async () => true }, { options: { yes: true }, ask: async () => false }, {}]) {
    const world = made();
    await prune(hearCall(world, asked).call);
    expect(world.exists("project_old.md")).toBe(false);
  }
});
