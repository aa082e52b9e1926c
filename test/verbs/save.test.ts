/** `memdir save` with a sentence: what is derived, and what is kept as it was given. */

import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { runOf } from "../../src/cli/command.ts";
import { SGR } from "../../src/text/wrap.ts";
import { openPaint } from "../../src/verb.ts";
import { edit, save } from "../../src/verbs/save.ts";
import { type CallOptions, hearCall } from "../cli/call.ts";
import { errorOf, makeWorld, type World } from "../world.ts";

async function run(world: World, text: string, options: CallOptions["options"] = {}) {
  const heard = hearCall(world, { args: text === "" ? [] : [text], options, json: true });
  await runOf(save)(heard.call);
  const { file } = heard.answers[0];
  return { ...heard.answers[0], body: (await (await world.open()).show(file)).body.trim() };
}

describe("a sentence", () => {
  it.each([
    ["https://grafana.internal/d/abc", "reference"],
    ["export function users() {}", "project"],
    ["To build, run make first", "feedback"],
    ["Use four spaces in Python files", "feedback"],
    ["Run make lint before pushing", "feedback"],
    ["Be concise", "feedback"],
    ["Deploys go out on Tuesdays.", "project"],
    ["Build is green since 2026-11-01", "project"],
    ["I prefer tabs", "user"],
  ])("%j is kept as it is, as %s", async (text, type) => {
    expect(await run(makeWorld(), text)).toMatchObject({ type, body: text });
  });

  it("is called by its first clause, and a name that says it all needs no description", async () => {
    const world = makeWorld();
    expect((await run(world, "Use pnpm, never npm: the lockfile is pnpm's.")).name).toBe("Use pnpm, never npm");
    expect((await run(world, "first line\nsecond line")).name).toBe("first line");
    const [row] = (await (await world.open()).list()).filter(({ name }) => name === "Use pnpm, never npm");
    expect(row?.description).toBe("Use pnpm, never npm: the lockfile is pnpm's.");
  });

  it.each([
    [
      "We are freezing all non-critical merges for the mobile team from Thursday on",
      "We are freezing all non-critical merges",
    ],
    ["We are freezing merges on Thursday, then the mobile team cuts its release", "We are freezing merges on Thursday"],
    ["Wir frieren alle Merges ab Donnerstag für die mobile App ein", "Wir frieren alle Merges ab Donnerstag"],
    ["The build takes four minutes", "The build takes four minutes"],
  ])("%j has a name without gaps", async (text, name) => {
    expect((await run(makeWorld(), text)).name).toBe(name);
  });

  it("is described also when its type and name are given, and again when it changes", async () => {
    const world = makeWorld();
    const memory = async () => (await world.open()).show("runbook");
    const given = { type: "reference", name: "runbook" };
    await run(world, "Restore from the nightly dump first.", given);
    expect(await memory()).toMatchObject({ ...given, description: "Restore from the nightly dump first." });
    await run(world, "Restore from the hourly dump.", given);
    expect(await memory()).toMatchObject({ description: "Restore from the hourly dump." });
    expect(world.read("MEMORY.md")).not.toContain("nightly");
  });

  it("leaves a description that somebody wrote, and says so", async () => {
    const world = makeWorld();
    await run(world, "Restore from the nightly dump first.", { name: "runbook", description: "Databases" });
    const updated = await run(world, "Restore from the hourly dump.", { name: "runbook" });
    expect(updated.notices).toEqual(['the description is still "Databases"; change it with --description']);
    expect((await (await world.open()).show("runbook")).description).toBe("Databases");
    expect((await run(world, "Restore from the hourly dump.", { name: "runbook" })).notices).toEqual([]);
  });

  it("a heading or a title is the name without its marks, and what follows the description", async () => {
    const world = makeWorld();
    const saved = await run(world, "# Release process\n\n- Cut the branch, then tag.");
    expect(saved.name).toBe("Release process");
    const { description } = await (await world.open()).show(saved.file);
    expect(description).toBe("Cut the branch, then tag.");
  });

  it("days get their dates, and it says which", async () => {
    const saved = await run(makeWorld(), "we ship the beta on Friday");
    expect(saved).toMatchObject({ body: "we ship the beta on Friday (2026-03-13)" });
    expect(saved.notices).toEqual(["added to the text: 2026-03-13"]);
    const routine = "Cut the branch on Tuesday after QA, tag on Thursday.";
    expect(await run(makeWorld(), routine)).toMatchObject({ body: routine, notices: [] });
    const code = "due\n```\non Friday\n```";
    expect(await run(makeWorld(), code)).toMatchObject({ body: code });
  });

  it("passes memdir's own lint", async () => {
    const world = makeWorld();
    for (const text of [
      "The nightly importer reads the tariff tables of all twelve regions in one transaction, so that a failed region rolls back the others too, and it has to be started again by the people on call.",
      `The ${"internationalisation ".repeat(12)}service is deployed by hand`,
      "we ship the beta on Friday",
      "Use pnpm, never npm: the lockfile is pnpm's.",
      "Never mock the database because it hid a bug.",
      "I prefer tabs",
    ])
      await run(world, text);
    expect(await (await world.open()).lint()).toEqual([]);
  });

  it("with nothing in it is refused", async () => {
    for (const text of ["?", "...", "  "]) {
      const { call } = hearCall(makeWorld(), { args: [text] });
      expect(await errorOf(runOf(save)(call))).toMatchObject({
        code: "usage",
        message: expect.stringMatching(/nothing to save/),
      });
    }
  });

  it("never replaces a memory that happens to have its derived name", async () => {
    const world = makeWorld();
    await run(world, "Deploys are slow: the cache is cold.");
    const { call } = hearCall(world, { args: ["Deploys are slow: the runner is small."] });
    expect(await errorOf(runOf(save)(call))).toMatchObject({ code: "conflict" });
    await run(world, "Slow to review.", { name: "Deploys are slow", type: "user" });
    expect(await errorOf(runOf(save)(call))).toMatchObject({ code: "conflict" });
  });
});

it("--name of a memory that exists updates it, and its type stays", async () => {
  const world = makeWorld();
  await run(world, "Deployed with kubectl, never helm.", { name: "deploy" });
  const updated = await run(world, "Moved to fly.io", { name: "deploy" });
  expect(updated).toMatchObject({ action: "updated", type: "feedback", file: "feedback_deploy.md" });
  expect(world.files()).toEqual(["MEMORY.md", "feedback_deploy.md"]);
});

it("--file in the form of a memory is read as one", async () => {
  const world = makeWorld();
  const text = "---\nname: on call\ndescription: who to wake\ntype: reference\nwhen:\n  - an outage\n---\n\nAlice.\n";
  fs.writeFileSync(path.join(world.project, "a.md"), text);
  expect(await run(world, "", { file: "a.md" })).toMatchObject({ name: "on call", type: "reference", body: "Alice." });
  expect((await (await world.open()).show("on call")).when).toEqual(["an outage"]);
});

it("--redact never shows the secret", async () => {
  const world = makeWorld();
  const secret = `ghp_${"16C7e42F292c6912E7710c838347Ae178B4a"}`;
  const { call, printed, warned } = hearCall(world, { args: [`token ${secret} ok`], options: { redact: true } });
  expect(await runOf(save)(call)).toBe(0);
  expect([...printed, ...warned].join("\n")).not.toContain(secret);
  expect(world.grep(secret)).toEqual([]);
});

it("the hints name the store that was written to", async () => {
  const { call, printed } = hearCall(makeWorld(), { args: ["A team fact"], options: { scope: "team" } });
  await runOf(save)(call);
  expect(printed.join("\n")).toContain("memdir --scope team undo 1");
});

it("a hint that is wrapped keeps its margin, painted or not", async () => {
  const lines = await Promise.all(
    [false, true].map(async (isPainted) => {
      const { call, printed } = hearCall(makeWorld(), { args: ["Use pnpm, never npm: it is faster."], columns: 80 });
      await runOf(save)({ ...call, terminal: { ...call.terminal, color: openPaint(isPainted) } });
      return printed.join("\n").replace(SGR, "").split("\n").slice(-2);
    }),
  );
  expect(lines[0]?.map((line) => /^ */.exec(line)?.[0])).toEqual(["    ", "    "]);
  expect(lines[1]).toEqual(lines[0]);
});

const WHOLE =
  "---\nname: freeze\ndescription: no merges\ntype: feedback\nexpires: 2026-12-31 # then it is over\npinned: true\nlinks: [release]\n" +
  "created: 2026-01-01\nowner: ann\ntags: [a, b]\nempty:\nenforce:\n  tool: Bash\n  pattern: git merge\nmetadata:\n  team: core\n---\n\nNo merges.\n";

it.each(["file", "text"])("a head keeps what a save takes, and the other fields are named: from a %s", async (from) => {
  const world = makeWorld();
  fs.writeFileSync(path.join(world.project, "a.md"), WHOLE);
  const saved = from === "file" ? await run(world, "", { file: "a.md" }) : await run(world, WHOLE);
  expect(saved.notices).toEqual([
    'no memory here is called "release": the reference to it counts once there is one',
    "not kept: owner, tags, enforce, team",
    "to add the rule (`enforce`): memdir edit feedback_freeze.md",
  ]);
  const { metadata } = await (await world.open()).show(saved.file);
  expect(metadata).toMatchObject({ expires: "2026-12-31", pinned: "true", links: ["release"] });
});

it("what is given beside a head counts more, and a date that cannot be read is named", async () => {
  const world = makeWorld();
  const late = await run(world, WHOLE, { expires: "2027-01-31" });
  expect((await (await world.open()).show(late.file)).metadata.expires).toBe("2027-01-31");
  const odd = await run(world, "---\nname: odd\ntype: project\nexpires: some day\n---\nA text.\n");
  expect(odd.notices).toEqual(["not kept: expires"]);
});

it("a last day that has passed is pointed out", async () => {
  const world = makeWorld();
  const past = "2020-01-01 has passed: recall does not show this memory";
  expect((await run(world, "Merges are frozen.", { expires: "2020-01-01" })).notices).toEqual([past]);
  const today = world.now.toISOString().slice(0, 10);
  expect((await run(world, "The office is closed.", { expires: today })).notices).toEqual([]);
});

it("an editor of spaces alone is none", async () => {
  const world = makeWorld({ env: { VISUAL: " ", EDITOR: "\t" } });
  await run(world, "Deployed with kubectl, never helm.", { name: "deploy" });
  const { call } = hearCall(world, { args: ["deploy"] });
  expect(await errorOf(runOf(edit)(call))).toMatchObject({
    code: "usage",
    message: expect.stringMatching(/no editor/),
  });
});

it("an editor that empties the file changes nothing", async () => {
  const EDITOR = `${process.execPath} -e 'require("fs").writeFileSync(process.argv[1],"")'`;
  const world = makeWorld({ env: { EDITOR } });
  await run(world, "Deployed with kubectl, never helm.", { name: "deploy" });
  const before = world.read("feedback_deploy.md");
  const { call } = hearCall(world, { args: ["deploy"] });
  expect(await errorOf(runOf(edit)(call))).toMatchObject({ code: "usage", message: expect.stringMatching(/empty/) });
  expect(world.read("feedback_deploy.md")).toBe(before);
});
