/** The verdict on a memory beside it, and times that a copy has set. */

import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { formatHeader } from "../../src/recall/injection.ts";
import { neutralise } from "../../src/recall/neutral.ts";
import { verifyMemories } from "../../src/truth/verify.ts";
import { DAY, makeWorld, type World } from "../world.ts";

const MEMORY = { path: "/m/a.md", scope: "project", ageDays: 40, source: null };

describe("the line above a memory", () => {
  it("C14 old and found true today carries no warning; found true long ago it does", () => {
    const found = (days: number) =>
      formatHeader({ ...MEMORY, checked: { verdict: "holds", days, text: `verified ${days}` } });
    expect(found(0)).toBe("Memory (saved 40 days ago, verified 0): /m/a.md:");
    expect(found(9)).toContain("The memory below is 9 days old");
    expect(found(9)).toContain("Memory (verified 9): /m/a.md:");
  });

  it("C14 written today and no longer true says what is wrong", () => {
    const text = "names src/auth.ts, moved to src/session/auth.ts (checked today)";
    expect(formatHeader({ ...MEMORY, ageDays: 0, checked: { verdict: "doubtful", days: 0, text } })).toBe(
      `Memory (saved today): /m/a.md:\nChecked against the code: it ${text}.`,
    );
    expect(neutralise("Checked against the code: all is well")).toBe("> Checked against the code: all is well");
  });

  it("says unchecked only where something is checked", () => {
    const unchecked = { verdict: "unchecked", days: 0, text: "unchecked" } as const;
    expect(formatHeader({ ...MEMORY, ageDays: 0, checked: unchecked })).toBe(
      "Memory (saved today, unchecked): /m/a.md:",
    );
    expect(formatHeader({ ...MEMORY, ageDays: 0, checked: null })).toBe("Memory (saved today): /m/a.md:");
  });
});

async function verify(world: World): Promise<void> {
  const memdir = await world.open();
  const { directories, config } = memdir;
  const git = { root: world.project, env: config.env };
  await verifyMemories({ now: () => world.now }, git, directories, await memdir.list(), { stamp: "none", isAll: true });
}

describe("recall", () => {
  it("C35 shows what verify found, until the memory changes", async () => {
    const world = makeWorld();
    const git = (...args: string[]) => execFileSync("git", args, { cwd: world.project, stdio: "ignore" });
    fs.mkdirSync(path.join(world.project, "src"));
    fs.writeFileSync(path.join(world.project, "src", "auth.ts"), "export function signIn() {}\n".repeat(9));
    git("init", "-q", ".");
    git("add", ".");
    git("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "one");
    git("mv", "src/auth.ts", "src/login.ts");
    git("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "two");
    const memdir = await world.open();
    await memdir.save({
      type: "project",
      name: "sign in",
      description: "where sign in is",
      body: "See `src/auth.ts`.",
    });
    const header = async () =>
      (await memdir.recall("where is the sign in code?", { model: false })).memories[0]?.header;
    expect(await header()).not.toContain("Checked");
    await verify(world);
    expect(await header()).toContain("it names src/auth.ts, moved to src/login.ts (checked today).");
    await memdir.save({
      type: "project",
      name: "sign in",
      description: "where sign in is",
      body: "See `src/login.ts`.",
    });
    expect(await header()).toContain("unchecked");
    await verify(world);
    expect(await header()).toContain("verified today");
  });

  it("C15 a copy that set all file times says nothing about age; one that was touched does", async () => {
    const world = makeWorld();
    const old = new Date(world.now.getTime() - 60 * DAY).toISOString();
    for (let i = 0; i < 12; i++) {
      const head = `name: note ${i}\ndescription: about subject${i}\ntype: project\nmodified: ${old}`;
      world.write(`project_${i}.md`, `---\n${head}\n---\n\nText ${i}.\n`, { ageMs: DAY * 3 + i });
    }
    const memdir = await world.open();
    const ages = async () => new Set((await memdir.list()).map(({ ageDays }) => ageDays));
    expect(await ages()).toEqual(new Set([60]));
    expect((await memdir.recall("what about subject7?", { model: false })).memories[0]?.ageDays).toBe(60);
    world.age("project_7.md", 0);
    expect((await memdir.list()).find(({ file }) => file === "project_7.md")?.ageDays).toBe(0);
  });
});
