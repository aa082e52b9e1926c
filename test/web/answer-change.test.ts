import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import type { ChangedAnswer, CheckAnswer, MemoryView, SavedAnswer, VerbAnswer } from "../../src/web/api.ts";
import { ROUTES } from "../../src/web/routes.ts";
import { errorOf, HOUR, makeWorld, note } from "../world.ts";
import { call, HOSTILE, makePage, makeUserWorld, type OpenPage } from "./open-page.ts";
import { startStub } from "./stub-page.ts";

const SECRET = ["ghp", "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx"].join("_");
const A = { directory: 0, file: "user_a.md" };

async function start(): Promise<OpenPage & { base: string }> {
  const made = await makePage();
  await made.memdir.save(note("a"));
  made.world.now = new Date(made.world.now.getTime() + HOUR);
  return { ...made, base: made.world.read("user_a.md") };
}

it("a check shows the difference and writes nothing", async () => {
  const { world, page, base } = await start();
  const text = base.replace("Body of a.", "Another body.");
  const check = (await call(page, "POST", "/api/check", { ...A, base, text })) as CheckAnswer;
  expect(check.diff.filter(({ kind }) => kind !== "same" && kind !== "skipped")).toEqual([
    { kind: "removed", text: "Body of a." },
    { kind: "added", text: "Another body." },
  ]);
  expect(check).toMatchObject({ problems: [], secrets: [], conflict: null });
  expect(world.read("user_a.md")).toBe(base);
});

it("saves through the journal, and undo brings back every byte", async () => {
  const { world, page, base } = await start();
  const text = base.replace("Body of a.", `Other. ${HOSTILE.script} ${HOSTILE.rtl}`);
  const saved = (await call(page, "PUT", "/api/memory", { ...A, base, text })) as SavedAnswer;
  expect(saved).toMatchObject({ ...A, entry: "2", notices: [] });
  expect(world.read("user_a.md")).toContain(HOSTILE.script);
  const undone = await call(page, "POST", "/api/undo", { id: saved.entry });
  expect(undone).toMatchObject({ undo: "3", files: [A.file] });
  expect(world.read("user_a.md")).toBe(base);
  const view = (await call(page, "GET", "/api/memory", A)) as MemoryView;
  expect(view.history.map(({ id, undone, canUndo }) => [id, undone, canUndo])).toEqual([
    ["3", false, true],
    ["2", true, false],
    ["1", false, true],
  ]);
  // And that can be undone in turn.
  await call(page, "POST", "/api/undo", { id: "3" });
  expect(world.read("user_a.md")).toContain(HOSTILE.script);
});

it("a file that changed meanwhile is not overwritten: the answer holds what is there and both differences", async () => {
  const { world, page, base } = await start();
  const theirs = base.replace("Body of a.", "Theirs.");
  world.write("user_a.md", theirs);
  const sent = { ...A, base, text: base.replace("Body of a.", "Mine.") };
  const error = await errorOf(call(page, "PUT", "/api/memory", sent));
  expect(error.code).toBe("conflict");
  const body = error.details as CheckAnswer;
  expect(body).toEqual(await call(page, "POST", "/api/check", sent));
  expect(body.conflict?.text).toBe(theirs);
  expect(body.conflict?.diff).toContainEqual({ kind: "added", text: "Theirs." });
  expect(body.diff).toContainEqual({ kind: "added", text: "Mine." });
  expect(world.read("user_a.md")).toBe(theirs);
});

it("a file that went meanwhile is a conflict with nothing, and is made anew only on the person's word", async () => {
  const { world, memdir, page, base } = await start();
  await memdir.forget("a");
  const text = base.replace("Body of a.", "Mine.");
  const { details } = await errorOf(call(page, "PUT", "/api/memory", { ...A, base, text }));
  expect((details as CheckAnswer).conflict?.text).toBe("");
  expect(world.exists("user_a.md")).toBe(false);
  await call(page, "PUT", "/api/memory", { ...A, base: "", text });
  expect(world.read("user_a.md")).toContain("Mine.");
});

it("refuses secrets by rule and line, and never says the value", async () => {
  const { world, page, base } = await start();
  const sent = { ...A, base, text: base.replace("Body of a.", `Token:\n${SECRET}`) };
  const check = (await call(page, "POST", "/api/check", sent)) as CheckAnswer;
  expect(check.secrets.length).toBe(1);
  expect(check.secrets[0]!.line).toBeGreaterThan(1);
  expect(JSON.stringify(check.secrets)).not.toContain(SECRET);
  const error = await errorOf(call(page, "PUT", "/api/memory", sent));
  expect(error.code).toBe("secret");
  expect(`${error.message}${JSON.stringify(error.details)}`).not.toContain(SECRET);
  const made = await errorOf(
    call(page, "POST", "/api/new", { type: "user", name: "t", description: "d", body: `It is ${SECRET}` }),
  );
  expect(made.code).toBe("secret");
  const renamed = await errorOf(call(page, "POST", "/api/rename", { ...A, to: SECRET }));
  expect(renamed.code).toBe("secret");
  expect(world.grep(SECRET)).toEqual([]);
});

it("frontmatter that cannot be read is pointed out by a check and refused by a save", async () => {
  const { page, base } = await start();
  const sent = { ...A, base, text: base.replace("\n---\n", "\n") };
  const check = (await call(page, "POST", "/api/check", sent)) as CheckAnswer;
  expect(check.problems[0]).toContain("no closing");
  expect((await errorOf(call(page, "PUT", "/api/memory", sent))).code).toBe("broken");
});

it("makes a new memory, and does not write over one that has its type and name", async () => {
  const { world, page } = await start();
  const request = { type: "feedback", name: "use pnpm", description: "d", body: "Use pnpm.", cues: ["installing"] };
  const made = (await call(page, "POST", "/api/new", request)) as ChangedAnswer;
  expect(made.ref).toEqual({ directory: 0, file: "feedback_use_pnpm.md" });
  expect(world.read("feedback_use_pnpm.md")).toContain("installing");
  expect((await errorOf(call(page, "POST", "/api/new", { ...request, body: "Other." }))).code).toBe("conflict");
  expect(world.read("feedback_use_pnpm.md")).toContain("Use pnpm.");
});

it("forgets and renames by place, each undone by undo", async () => {
  const { world, page, base } = await start();
  const renamed = (await call(page, "POST", "/api/rename", { ...A, to: "b" })) as VerbAnswer;
  expect(renamed.file).toBe("user_b.md");
  const forgot = (await call(page, "POST", "/api/forget", { directory: 0, file: "user_b.md" })) as VerbAnswer;
  expect(world.files()).not.toContain("user_b.md");
  await call(page, "POST", "/api/undo", { id: forgot.undo });
  await call(page, "POST", "/api/undo");
  expect(world.read("user_a.md")).toBe(base);
  expect((await errorOf(call(page, "POST", "/api/undo", { id: "999" }))).code).toBe("not-found");
});

it("of two memories with one file name the one of the given directory changes", async () => {
  const { world, memdir, page } = await makePage({ world: await makeUserWorld("a") });
  await memdir.save(note("a"));
  const at = memdir.directories.findIndex(({ scope }) => scope === "user");
  const file = `${memdir.directories[at]!.path}/user_a.md`;
  const base = fs.readFileSync(file, "utf8");
  const text = base.replace("Of the user.", "Changed.");
  const saved = (await call(page, "PUT", "/api/memory", {
    directory: at,
    file: "user_a.md",
    base,
    text,
  })) as SavedAnswer;
  expect(saved).toMatchObject({ directory: at, entry: "user:2" });
  expect(fs.readFileSync(file, "utf8")).toContain("Changed.");
  expect(world.read("user_a.md")).toContain("Body of a.");
  await call(page, "POST", "/api/undo", { id: saved.entry });
  expect(fs.readFileSync(file, "utf8")).toBe(base);
});

it("of two directories of one scope each offers what its own journal takes back", async () => {
  const world = makeWorld();
  fs.mkdirSync(path.join(world.project, ".claude", "memory"), { recursive: true });
  await (await world.open({ scope: "team" })).save(note("committed"));
  const teams = { [world.project]: "https://memory.example/acme/app" };
  fs.writeFileSync(path.join(world.home, ".claude", "memdir.json"), JSON.stringify({ teams }));
  await (await world.open({ scope: "team" })).save(note("served"));
  const { memdir, page } = await makePage({ world });
  for (const [name, id] of [
    ["committed", "team@repository:1"],
    ["served", "team:1"],
  ]) {
    const file = `user_${name}.md`;
    const directory = memdir.directories.findIndex((each) => fs.existsSync(path.join(each.path, file)));
    const { history } = (await call(page, "GET", "/api/memory", { directory, file })) as MemoryView;
    expect(history.map((entry) => [entry.id, entry.canUndo])).toEqual([[id, true]]);
    const forgot = (await call(page, "POST", "/api/forget", { directory, file })) as VerbAnswer;
    expect(fs.existsSync(path.join(memdir.directories[directory]!.path, file))).toBe(false);
    await call(page, "POST", "/api/undo", { id: forgot.undo });
    expect(fs.existsSync(path.join(memdir.directories[directory]!.path, file))).toBe(true);
  }
});

it("a page that only looks refuses every change, in words, and a check still works", async () => {
  const { world, base } = await start();
  const { call: ask } = await startStub({ world, readOnly: true, routes: ROUTES });
  const sent = { ...A, base, text: `${base}more` };
  const writes = ROUTES.filter((route) => route.writes);
  expect(writes.length).toBeGreaterThan(6);
  const verbs = ["save", "forget", "rename", "undo"].map((name) => ({
    method: "POST",
    path: `/api/${name}`,
    body: "{}",
  }));
  const stamps = ["stamp", "fix"].map((option) => ({
    method: "POST",
    path: "/api/verify",
    body: `{"${option}":true}`,
  }));
  for (const { method, path, body = "{}" } of [
    ...writes.map((each) => ({ ...each, body: "{}" })),
    ...verbs,
    ...stamps,
  ]) {
    const { status, json } = await ask({ method, path, body });
    expect([path, status, json.message]).toEqual([path, 403, expect.stringContaining("--read-only")]);
  }
  const seen = await ask({ method: "POST", path: "/api/verify", body: '{"all":true}' });
  expect([seen.status, seen.json.checked]).toEqual([200, 1]);
  const { json: check } = await ask({ method: "POST", path: "/api/check", body: JSON.stringify(sent) });
  expect((check as CheckAnswer).diff.length).toBeGreaterThan(0);
  expect(world.read("user_a.md")).toBe(base);
});

it("answers a verb that is for the page with its result, and no other verb", async () => {
  const { world } = await start();
  const { call: ask } = await startStub({ world, routes: ROUTES });
  const post = (path: string, sent: object) => ask({ method: "POST", path, body: JSON.stringify(sent) });
  expect((await post("/api/show", { name: "a" })).json).toMatchObject({ file: "user_a.md", body: "Body of a." });
  expect((await post("/api/show", A)).json).toMatchObject({ file: "user_a.md" });
  expect((await post("/api/search", { words: "body" })).json).toMatchObject([{ file: "user_a.md" }]);
  const saved = await post("/api/save", { text: "Use pnpm, never npm." });
  expect(saved.json).toMatchObject({ action: "created", type: "feedback" });
  expect((await post("/api/history", {})).json).toHaveLength(2);
  for (const [name, status] of [
    ["trust", 404],
    ["nothing", 404],
    ["review", 405],
    ["context", 405],
  ] as const)
    expect([name, (await post(`/api/${name}`, {})).status]).toEqual([name, status]);
});

it("takes only what it knows", async () => {
  const { page, base } = await start();
  const calls: [string, Record<string, unknown>][] = [
    ["/api/memory", { ...A, base }],
    ["/api/memory", { ...A, base, text: 1 }],
    ["/api/memory", { ...A, base, text: "a\ud800" }],
    ["/api/memory", { directory: 1.5, file: "a", base, text: "" }],
    ["/api/memory", { directory: {}, file: ["a"], base, text: "" }],
  ];
  for (const [path, sent] of calls) expect((await errorOf(call(page, "PUT", path, sent))).code).toBe("usage");
  const posts: [string, Record<string, unknown>][] = [
    ["/api/new", { type: "nothing", name: "a", body: "b" }],
    ["/api/new", { type: "user", name: " ", body: "b" }],
    ["/api/new", { type: "user", name: "a", body: "b", cues: [1] }],
    ["/api/new", { type: "user", name: "a", body: "b", colour: "red" }],
    ["/api/rename", { ...A, to: 7 }],
    ["/api/rename", A],
    ["/api/forget", {}],
    ["/api/save", { text: "a", file: "/etc/hostname" }],
    ["/api/inspect", { prompt: "a b", adapter: "window" }],
    ["/api/merge", { keep: A, other: null, text: "" }],
    ["/api/review/accept", {}],
    ["/api/mark", { ...A, pinned: "yes please" }],
  ];
  for (const [path, sent] of posts) expect((await errorOf(call(page, "POST", path, sent))).code).toBe("usage");
});

it("a memory of the team's mirror, which lies inside the project's directory, keeps its own journal", async () => {
  const world = makeWorld();
  const teams = { [world.project]: "https://example.invalid/team/repo" };
  fs.writeFileSync(`${world.home}/.claude/memdir.json`, JSON.stringify({ teams }));
  fs.mkdirSync(world.path("team", ".memdir"), { recursive: true });
  world.write("team/shared.md", "---\nname: shared\ntype: project\n---\n\nOurs.\n");
  const { memdir, page } = await makePage({ world });
  const at = memdir.directories.findIndex(({ scope }) => scope === "team");
  expect(memdir.directories[at]?.path).toBe(world.path("team"));
  const ref = { directory: at, file: "shared.md" };
  const base = world.read("team/shared.md");
  const saved = (await call(page, "PUT", "/api/memory", { ...ref, base, text: `${base}More.\n` })) as SavedAnswer;
  expect(saved.entry).toBe("team:1");
  await call(page, "POST", "/api/forget", ref);
  await call(page, "PUT", "/api/memory", { ...ref, base: "", text: base });
  expect(world.read("team/shared.md")).toContain("Ours.");
  expect(fs.readFileSync(world.path("team", ".memdir", "journal.jsonl"), "utf8")).toContain('"id":"3"');
  expect(world.exists(".memdir/journal.jsonl")).toBe(false);
});
