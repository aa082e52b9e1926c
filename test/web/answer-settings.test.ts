import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import type { MemoryList, Project, SettingsView, Start, VerbForm } from "../../src/web/api.ts";
import { errorOf, makeWorld, note } from "../world.ts";
import { call, makePage, makeUserWorld } from "./open-page.ts";

it("settings go to the user's file, count at once, and refuse what is no value", async () => {
  const { page } = await makePage();
  const read = async () => ((await call(page, "GET", "/api/settings")) as SettingsView).learn;
  expect(await read()).toMatchObject({ mode: "auto", tokensPerDay: 200_000, model: null });
  await call(page, "POST", "/api/settings", { name: "mode", value: "inbox" });
  await call(page, "POST", "/api/settings", { name: "tokensPerDay", value: "1000" });
  expect(await read()).toMatchObject({ mode: "inbox", tokensPerDay: 1_000 });
  expect(JSON.parse(fs.readFileSync(page.memdir.config.userFile, "utf8")).learn).toEqual({
    mode: "inbox",
    tokensPerDay: 1_000,
  });
  await call(page, "POST", "/api/settings", { name: "tokensPerDay", value: "" });
  expect((await read()).tokensPerDay).toBe(200_000);
  expect((await errorOf(call(page, "POST", "/api/settings", { name: "tokensPerDay", value: "many" }))).code).toBe(
    "usage",
  );
  expect((await errorOf(call(page, "POST", "/api/settings", { name: "keying", value: "x" }))).code).toBe("usage");
});

it("what a setting cannot be is refused before anything is written", async () => {
  const { page } = await makePage({ settings: { learn: { mode: "inbox" } } });
  const { userFile } = page.memdir.config;
  const before = fs.readFileSync(userFile, "utf8");
  const key = `sk-ant-api03-${"Ab1Cd2Ef3Gh4Jk5".repeat(6)}-AA`;
  for (const [name, value, code] of [
    ["mode", "sometimes", "usage"],
    ["tokensPerDay", "Infinity", "usage"],
    ["tokensPerDay", "-1", "usage"],
    ["tokensPerSession", "1.5", "usage"],
    ["costPerDay", "1e999", "usage"],
    ["model", key, "secret"],
  ]) {
    const refused = await errorOf(call(page, "POST", "/api/settings", { name, value }));
    expect([name, value, refused.code]).toEqual([name, value, code]);
    expect(refused.message).not.toContain(key);
    expect(fs.readFileSync(userFile, "utf8")).toBe(before);
  }
});

it("a setting leaves the page on the store that it was opened with; only another project has its own", async () => {
  const world = makeWorld();
  await (await world.open()).save(note("the project's"));
  const memoryDir = path.join(world.top, "elsewhere");
  const { memdir, page } = await makePage({ world, store: { memoryDir } });
  await memdir.save(note("the chosen one's"));
  const measured: string[] = [];
  page.measureApart = async (shown) => {
    measured.push(`${shown.memdir.location.dir} ${shown.store?.memoryDir}`);
    return [];
  };
  const names = async () => ((await call(page, "GET", "/api/memories")) as MemoryList).rows.map(({ name }) => name);
  await call(page, "POST", "/api/settings", { name: "mode", value: "inbox" });
  expect(await names()).toEqual(["the chosen one's"]);
  expect(((await call(page, "GET", "/api/start")) as Start).generation).toBe(0);
  await call(page, "POST", "/api/new", { name: "new", type: "project", body: "Of the page.", scope: "project" });
  expect((await names()).sort()).toEqual(["new", "the chosen one's"]);
  await call(page, "GET", "/api/health");
  await call(page, "POST", "/api/project", { root: world.project });
  expect(await names()).toEqual(["the project's"]);
  await call(page, "GET", "/api/health");
  expect(measured).toEqual([`${memoryDir} ${memoryDir}`, `${world.dir} undefined`]);
  expect(((await call(page, "GET", "/api/start")) as Start).generation).toBe(1);
});

it("a setting leaves the page on the one scope that it was opened with", async () => {
  const world = await makeUserWorld("mine");
  await (await world.open()).save(note("the project's"));
  const { page } = await makePage({ world, store: { scope: "user" } });
  await call(page, "POST", "/api/settings", { name: "mode", value: "inbox" });
  expect(page.memdir.directories.map(({ scope }) => scope)).toEqual(["user"]);
});

it("an agent is found, connected, and says so", async () => {
  const { world, page } = await makePage();
  fs.mkdirSync(path.join(world.home, ".claude"), { recursive: true });
  const agents = async () => ((await call(page, "GET", "/api/settings")) as SettingsView).agents;
  expect((await agents()).map(({ name }) => name)).toContain("claude-code");
  expect((await agents()).every(({ isFound, isWired }) => isFound || !isWired)).toBe(true);
  expect((await errorOf(call(page, "POST", "/api/agents", { name: "nobody" }))).code).toBe("usage");
});

it("another project is shown only if it was listed", async () => {
  const { world, memdir, page } = await makePage();
  await memdir.save(note("here"));
  const other = path.join(path.dirname(world.project), "other");
  fs.mkdirSync(other);
  await (await world.open({ cwd: other })).save(note("there"));
  const projects = (await call(page, "GET", "/api/projects")) as Project[];
  expect(projects.map(({ name }) => name).sort()).toEqual(["other", "project"]);
  expect((await errorOf(call(page, "POST", "/api/project", { root: "/etc" }))).code).toBe("not-found");
  await call(page, "POST", "/api/project", { root: other });
  expect(((await call(page, "GET", "/api/start")) as Start).project).toBe("other");
  expect(await call(page, "GET", "/api/memories")).toMatchObject({ total: 1, rows: [{ name: "there" }] });
});

it("every verb of the page has a form and says its result in words", async () => {
  const { memdir, page } = await makePage();
  await memdir.save(note("deploys"));
  const { verbs } = (await call(page, "GET", "/api/start")) as Start;
  for (const { name } of verbs) {
    const form = (await call(page, "GET", "/api/verb", { name })) as VerbForm;
    expect(Object.keys(form.properties)).toEqual(expect.arrayContaining(form.required));
  }
  expect(await call(page, "POST", "/api/history", { say: true })).toMatchObject({
    text: expect.stringContaining("save"),
  });
  expect(await call(page, "POST", "/api/health", { say: true })).toMatchObject({
    text: expect.stringContaining("100"),
  });
  expect((await errorOf(call(page, "GET", "/api/verb", { name: "trust" }))).code).toBe("not-found");
});
