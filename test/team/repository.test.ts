/** `memdir init --team`: what it sets up in a checkout, what it warns of, and that all of it can be taken back. */

import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import {
  addAttributes,
  checkTeam,
  hasAttributes,
  prepareTeam,
  removeAttributes,
  removeTeam,
  type TeamCheckout,
  wantedSettings,
} from "../../src/team/repository.ts";
import { errorOf, mainOf, makeWorld, note, type World } from "../world.ts";

async function openTeam(world: World): Promise<TeamCheckout> {
  const team = mainOf(await world.open({ scope: "team" }));
  return { team, root: world.project, env: world.env, command: ["/usr/bin/node", "/a b/dist/cli.js"] };
}

const attributes = (world: World) => path.join(world.project, ".gitattributes");
const read = (file: string) => fs.readFileSync(file, "utf8");

test("makes folder, index, attributes and settings; again it changes nothing", async () => {
  const world = makeWorld();
  const team = await openTeam(world);
  const plan = await prepareTeam(team, { dryRun: true });
  expect(plan.changes.map(({ kind }) => kind)).toEqual(["folder", "attributes", ...Array(6).fill("driver")]);
  expect(fs.existsSync(attributes(world))).toBe(false);
  expect(fs.existsSync(team.team.path)).toBe(false);

  expect(await prepareTeam(team)).toEqual(plan);
  expect(read(path.join(team.team.path, "MEMORY.md"))).toBe("# Team memory\n");
  expect(world.git("check-attr", "merge", ".claude/memory/MEMORY.md", ".claude/memory/a/b.md", "README.md")).toBe(
    ".claude/memory/MEMORY.md: merge: memdir-index\n.claude/memory/a/b.md: merge: memdir\nREADME.md: merge: unspecified",
  );
  expect(world.git("config", "--local", "merge.memdir.driver")).toBe(
    "/usr/bin/node '/a b/dist/cli.js' merge-driver memory %O %A %B %P",
  );
  world.git("add", "-A");
  expect(world.git("ls-files").split("\n")).toEqual([".claude/memory/MEMORY.md", ".gitattributes"]);
  const before = read(attributes(world));
  expect((await prepareTeam(team)).changes).toEqual([]);
  expect(read(attributes(world))).toBe(before);
});

test("a team that has memories already keeps its index", async () => {
  const world = makeWorld();
  await (await world.open({ scope: "team" })).save(note("one", { type: "project" }));
  const team = await openTeam(world);
  const index = read(path.join(team.team.path, "MEMORY.md"));
  await prepareTeam(team);
  expect(read(path.join(team.team.path, "MEMORY.md"))).toBe(index);
});

test.each([
  ["*.png binary", "no line break at its end"],
  ["*.png binary\r\n*.md text\r\n", "CRLF"],
  ["# caf\xe9\n*.txt merge=union\n", "another encoding"],
  ["", "empty"],
])("everything else in .gitattributes stays, and comes back byte for byte: %j (%s)", async (text) => {
  const world = makeWorld();
  const bytes = Buffer.from(text, "latin1");
  fs.writeFileSync(attributes(world), bytes, { mode: 0o640 });
  const team = await openTeam(world);
  await prepareTeam(team);
  const after = fs.readFileSync(attributes(world));
  expect(after.subarray(0, bytes.length).equals(bytes)).toBe(true);
  if (text.includes("\r\n")) expect(after.toString("latin1").replaceAll("\r\n", "")).not.toContain("\n");
  expect(fs.statSync(attributes(world)).mode & 0o777).toBe(0o640);
  const { changes } = await removeTeam(team);
  expect(changes).toHaveLength(7);
  expect(fs.readFileSync(attributes(world)).equals(bytes)).toBe(true);
  expect((await removeTeam(team)).changes).toEqual([]);
});

test("taken back after somebody edited the file: only our lines go; a file that was ours goes whole", async () => {
  const world = makeWorld();
  const team = await openTeam(world);
  await prepareTeam(team);
  fs.appendFileSync(attributes(world), "*.jpg binary\n");
  await removeTeam(team);
  expect(read(attributes(world))).toBe("*.jpg binary\n");
  fs.rmSync(attributes(world));
  await prepareTeam(team);
  expect(hasAttributes(read(attributes(world)))).toBe(true);
  await removeTeam(team);
  expect(world.git("config", "--local", "--list")).not.toContain("memdir");
  expect(fs.existsSync(attributes(world))).toBe(false);
  expect(fs.existsSync(path.join(team.team.path, "MEMORY.md"))).toBe(true);
});

test("lines in another order are put right; removing leaves nothing of ours", () => {
  const wanted = addAttributes(null);
  const turned = `${wanted.split("\n").filter(Boolean).reverse().join("\n")}\n*.a b\n`;
  expect(hasAttributes(turned)).toBe(false);
  expect(addAttributes(turned)).toBe(`*.a b\n${wanted}`);
  expect(removeAttributes(turned)).toBe("*.a b\n");
});

test.each([
  [".claude/\n", ".gitignore", ".gitignore:1: .claude/"],
  ["x\n.claude\n", ".gitignore", ".gitignore:2: .claude"],
  ["*.md\n", ".gitignore", ".gitignore:1: *.md"],
  ["memory/\n", ".gitignore", ".gitignore:1: memory/"],
  ["/.claude/*\n!/.claude/settings.json\n", ".gitignore", ".gitignore:1: /.claude/*"],
  [".claude/\n", ".git/info/exclude", ".git/info/exclude:1: .claude/"],
])("an ignored folder is warned of with the exact rule, and the advice works: %j in %s", async (text, file, rule) => {
  const world = makeWorld();
  const ignore = path.join(world.project, file);
  fs.mkdirSync(path.dirname(ignore), { recursive: true });
  fs.writeFileSync(ignore, text);
  const team = await openTeam(world);
  const { warnings } = await prepareTeam(team);
  expect(warnings).toEqual([expect.stringContaining(`(${rule})`)]);
  const ignored = async () => (await checkTeam(team)).find(({ name }) => name === "team-ignored");
  expect(await ignored()).toMatchObject({ ok: false });
  // Added by force, others see it; the next one is named.
  fs.writeFileSync(path.join(team.team.path, "one.md"), "---\nname: one\n---\n\nOne.\n");
  world.git("add", "-f", ".claude/memory");
  expect(await ignored()).toBeUndefined();
  fs.writeFileSync(path.join(team.team.path, "two.md"), "---\nname: two\n---\n\nTwo.\n");
  expect(await ignored()).toMatchObject({ ok: false, detail: expect.stringMatching(/^git ignores two\.md of/) });
  for (const file of ["one.md", "two.md"]) fs.rmSync(path.join(team.team.path, file));
  world.git("rm", "-rq", "--cached", ".claude/memory");
  const advice = [...(warnings[0]?.split("end of .gitignore:")[1] ?? "").matchAll(/`([^`]+)`/g)].map((m) => m[1]);
  expect(advice.length).toBeGreaterThan(1);
  fs.appendFileSync(path.join(world.project, ".gitignore"), `${advice.join("\n")}\n`);
  fs.writeFileSync(path.join(world.project, ".claude", "private.json"), "{}");
  world.git("add", "-A");
  const beside = advice.includes("/.claude/*") ? [] : [".claude/private.json"];
  expect(world.git("ls-files", ".claude").split("\n")).toEqual([".claude/memory/MEMORY.md", ...beside]);
  expect((await prepareTeam(team)).warnings).toEqual([]);
});

test("a rule inside .claude is named; one that takes it back in is none", async () => {
  const world = makeWorld();
  const team = await openTeam(world);
  await prepareTeam(team);
  fs.writeFileSync(path.join(world.project, ".claude", ".gitignore"), "*\n");
  expect((await prepareTeam(team)).warnings).toEqual([
    expect.stringContaining("take line 1 out of .claude/.gitignore"),
  ]);
  fs.writeFileSync(path.join(world.project, ".claude", ".gitignore"), "*\n!memory\n!memory/**\n");
  expect((await prepareTeam(team)).warnings).toEqual([]);
});

test("doctor: nothing without a team, quiet with one, and each problem with its remedy", async () => {
  const world = makeWorld();
  const team = await openTeam(world);
  expect(await checkTeam(team)).toEqual([]);
  await (await world.open({ scope: "team" })).save(note("one", { type: "project" }));
  expect(await checkTeam(team)).toEqual([expect.objectContaining({ name: "team-merge", ok: true })]);
  await prepareTeam(team);
  expect(await checkTeam(team)).toEqual([
    { name: "team-merge", ok: true, detail: "team memories are merged by section", fix: null },
  ]);

  world.git("config", "--local", "--unset", "merge.memdir.driver");
  const [missing] = await checkTeam(team);
  expect(missing).toMatchObject({
    ok: false,
    fix: "memdir init --team",
    detail: expect.stringContaining("merge.memdir.driver"),
  });
  await missing?.mend?.();
  expect((await checkTeam(team)).every(({ ok }) => ok)).toBe(true);

  const moved = await checkTeam({ ...team, command: ["/elsewhere/node", "cli.js"] });
  expect(moved[0]).toMatchObject({ ok: false, detail: expect.stringContaining("another installation") });

  fs.appendFileSync(attributes(world), "*.md merge=union\n");
  expect((await checkTeam(team))[0]).toMatchObject({ ok: false, detail: expect.stringContaining("merge=union") });

  const put = (file: string, text: string) => fs.writeFileSync(path.join(team.team.path, file), text);
  put("marked.md", "---\nname: m\n---\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> side\n");
  put("about-git.md", "A line of <<<<<<< marks, and\n=======\n");
  put("one-conflict-0123abcd.md", "copy");
  const checks = await checkTeam(team);
  expect(checks.find(({ name }) => name === "team-markers")?.detail).toContain("are in marked.md:");
  expect(checks.find(({ name }) => name === "team-conflict")?.detail).toContain("one-conflict-0123abcd.md");
});

test("refused where there is no checkout, and where a link stands", async () => {
  const world = makeWorld();
  const team = await openTeam(world);
  expect((await errorOf(prepareTeam({ ...team, root: world.home }))).message).toContain("not a git checkout");
  expect((await errorOf(prepareTeam({ ...team, env: { PATH: "/nowhere" } }))).code).toBe("usage");
  if (process.platform === "win32") return;
  const target = path.join(world.top, "theirs");
  fs.writeFileSync(target, "mine\n");
  fs.symlinkSync(target, attributes(world));
  expect((await errorOf(prepareTeam(team))).code).toBe("broken");
  expect(read(target)).toBe("mine\n");
  fs.rmSync(attributes(world));
  fs.rmSync(path.join(world.project, ".claude"), { recursive: true, force: true });
  fs.symlinkSync(world.home, path.join(world.project, ".claude"));
  expect((await errorOf(prepareTeam(team))).code).toBe("outside");
});

test("the command is quoted for the shell that git starts", () => {
  const driver = wantedSettings(["/it's/100%/node", "memdir"])["merge.memdir-index.driver"];
  expect(driver).toBe("'/it'\\''s/100%%/node' memdir merge-driver index %O %A %B %P");
});
