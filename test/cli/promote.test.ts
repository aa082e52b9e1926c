/** `memdir promote`, `demote` and `init --team` as commands: shown whole, asked about, told. */

import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { runOf } from "../../src/cli/command.ts";
import { makeInit, makeUninstall } from "../../src/verbs/init.ts";
import * as verbs from "../../src/verbs/promote.ts";
import { makeMachine } from "../wiring/machine.ts";
import { errorOf, makeWorld, note, type World } from "../world.ts";
import { hearCall } from "./call.ts";

const promote = runOf(verbs.promote);
const demote = runOf(verbs.demote);
const shared = (world: World, file: string) => path.join(world.project, ".claude", "memory", file);

async function makeOne(): Promise<World> {
  const world = makeWorld();
  await (await world.open()).save(
    note("release day", { type: "project", body: "On Tuesdays.\n\nNever on \x1b[31mFridays." }),
  );
  return world;
}

test("promote shows the whole memory, where it goes and who sees it, then asks", async () => {
  const world = await makeOne();
  const asked: string[] = [];
  for (const yes of [false, true]) {
    const ask = async (question: string) => asked.push(question) > 0 && yes;
    const { call, printed } = hearCall(world, { args: ["release day"], ask });
    expect(await promote(call)).toBe(0);
    const text = printed.join("\n");
    expect(printed[0]).toBe(`project_release_day.md (project) -> ${shared(world, "project_release_day.md")}`);
    expect(text).toContain("  On Tuesdays.\n  \n  Never on Fridays.");
    expect(text).toContain("Everyone with this repository will see it once it is committed.");
    expect(fs.existsSync(shared(world, "project_release_day.md"))).toBe(yes);
    expect(world.exists("project_release_day.md")).toBe(!yes);
    expect(printed.at(-1)).toMatch(
      yes ? /^memdir demote makes it private again; or memdir undo 2, then memdir undo team:1$/ : /nothing was changed/,
    );
  }
  expect(asked).toEqual(["Share it?", "Share it?"]);
});

test("the ids it prints undo it", async () => {
  const world = await makeOne();
  const { call, answers } = hearCall(world, { args: ["release day"], options: { yes: true }, json: true });
  await promote(call);
  const [{ undo }] = answers;
  const memdir = await world.open();
  await memdir.undo(undo.removed);
  await memdir.undo(undo.written);
  expect(world.exists("project_release_day.md")).toBe(true);
  expect(fs.existsSync(shared(world, "project_release_day.md"))).toBe(false);
});

test("without a terminal it needs --yes; --dry-run only shows", async () => {
  const world = await makeOne();
  expect(await errorOf(promote(hearCall(world, { args: ["release day"] }).call))).toMatchObject({
    code: "usage",
    message: expect.stringContaining("--yes"),
  });
  const { call, answers } = hearCall(world, { args: ["release day"], options: { "dry-run": true }, json: true });
  await promote(call);
  expect(answers[0]).toMatchObject({ kind: "promote", isThere: false, text: expect.stringContaining("On Tuesdays.") });
  expect(world.exists("project_release_day.md")).toBe(true);
});

test("where git ignores the folder it says so before it asks", async () => {
  const world = await makeOne();
  fs.writeFileSync(path.join(world.project, ".gitignore"), ".claude/\n");
  const { call, answers } = hearCall(world, { args: ["release day"], options: { yes: true }, json: true });
  await promote(call);
  expect(answers[0].notices).toEqual([expect.stringContaining("git ignores .claude/memory (.gitignore:1: .claude/)")]);
});

test("demote brings it back, also from the name that both have", async () => {
  const world = await makeOne();
  await promote(hearCall(world, { args: ["release day"], options: { yes: true } }).call);
  await (await world.open()).save(note("release day", { type: "reference" }));
  const { call, printed } = hearCall(world, { args: ["project_release_day.md"], options: { yes: true } });
  expect(await demote(call)).toBe(0);
  expect(printed.join("\n")).toContain("everyone else loses it with your next commit");
  expect(world.exists("project_release_day.md")).toBe(true);
  expect((await errorOf(demote(hearCall(world, { args: ["release day"] }).call))).code).toBe("not-found");
});

test("a memory of the user is refused, one of the team is not promoted again", async () => {
  const world = await makeOne();
  await (await world.open()).save(note("who", { type: "user" }));
  const refused = promote(hearCall(world, { args: ["who"], options: { yes: true } }).call);
  expect((await errorOf(refused)).message).toContain("share: true");
  await promote(hearCall(world, { args: ["release day"], options: { yes: true } }).call);
  const again = promote(hearCall(world, { args: ["release day"], options: { yes: true } }).call);
  expect((await errorOf(again)).code).toBe("not-found");
});

test("init --team shows, asks, prepares, and uninstall undoes it", async () => {
  const world = makeWorld();
  const find = () => makeMachine({}, { env: world.env, node: "/n/node", dist: "/m/dist" });
  const open = (options: Record<string, boolean> = {}) => hearCall(world, { options: { team: true, ...options } });
  const init = runOf(makeInit(find));
  const blind = open();
  expect((await errorOf(init(blind.call))).message).toContain("--yes");
  expect(blind.printed).toHaveLength(9);
  fs.writeFileSync(path.join(world.project, ".gitignore"), ".claude/\n");
  const { call, printed, warned } = open({ yes: true });
  await init(call);
  expect(printed.join("\n")).toContain("commit .gitattributes and .claude/memory");
  expect(warned).toEqual([expect.stringContaining("(.gitignore:1: .claude/)")]);
  expect(world.git("config", "merge.memdir-index.driver")).toMatch(/^\/n\/node \/m\/dist\/cli.js merge-driver index/);
  const again = open();
  await init(again.call);
  expect(again.printed).toEqual([expect.stringContaining("prepared already")]);
  expect((await errorOf(runOf(makeUninstall(find))(open().call))).message).toContain("--yes");
  const left = open({ yes: true });
  expect(await runOf(makeUninstall(find))(left.call)).toBe(0);
  expect(left.printed).toHaveLength(7);
  expect(fs.existsSync(path.join(world.project, ".gitattributes"))).toBe(false);
});
