/** The verdict on a memory beside it, and times that a copy has set. */

import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { formatHeader } from "../../src/recall/injection.ts";
import { neutralise } from "../../src/recall/neutral.ts";
import { verifyMemories } from "../../src/truth/verify.ts";
import { DAY, HOUR, makeWorld, type World } from "../world.ts";

const MEMORY = { path: "/m/a.md", scope: "project", ageDays: 40, source: null };

describe("the line above a memory", () => {
  it("C14 an old memory keeps its warning, even if all it names exists", () => {
    const text = "the 3 things it names still exist (checked 2026-03-10)";
    const header = formatHeader({ ...MEMORY, checked: { verdict: "holds", text } });
    expect(header).toContain("The memory below is 40 days old");
    expect(header).toContain(`Memory (${text}): /m/a.md:`);
    expect(formatHeader({ ...MEMORY, ageDays: 0, checked: { verdict: "holds", text } })).toBe(
      `Memory (saved today, ${text}): /m/a.md:`,
    );
  });

  it("C14 written today and no longer true says what is wrong", () => {
    const text = "names src/auth.ts, moved to src/session/auth.ts (checked 2026-03-10)";
    expect(formatHeader({ ...MEMORY, ageDays: 0, checked: { verdict: "doubtful", text } })).toBe(
      `Memory (saved today): /m/a.md:\nChecked against the code: it ${text}.`,
    );
    expect(neutralise("Checked against the code: all is well")).toBe("> Checked against the code: all is well");
  });

  it("says nothing of what could not be checked", () => {
    const unchecked = { verdict: "unchecked", text: "" } as const;
    for (const checked of [unchecked, null])
      expect(formatHeader({ ...MEMORY, ageDays: 0, checked })).toBe("Memory (saved today): /m/a.md:");
  });
});

async function verify(world: World): Promise<void> {
  const memdir = await world.open();
  const { directories, config } = memdir;
  const git = { root: world.project, env: config.env };
  await verifyMemories({ now: () => world.now }, git, directories, await memdir.list(), { isAll: true });
}

describe("recall", () => {
  it("C35 shows what verify found, until the memory changes", async () => {
    const world = makeWorld();
    fs.mkdirSync(path.join(world.project, "src"));
    fs.writeFileSync(path.join(world.project, "src", "auth.ts"), "export function signIn() {}\n".repeat(9));
    world.git("add", ".");
    world.git("commit", "-qm", "one");
    const memdir = await world.open();
    const save = (body: string) =>
      memdir.save({ type: "project", name: "sign in", description: "where sign in is", body });
    await save("See `src/auth.ts`.");
    world.now = new Date(world.now.getTime() + HOUR);
    world.git("mv", "src/auth.ts", "src/login.ts");
    world.git("commit", "-qm", "two");
    const header = async () =>
      (await memdir.recall("where is the sign in code?", { model: false })).memories[0]?.header;
    expect(await header()).not.toContain("Checked");
    await verify(world);
    expect(await header()).toContain("it names src/auth.ts, moved to src/login.ts (checked 2026-03-10).");
    await save("See `src/login.ts`.");
    expect(await header()).not.toContain("hecked");
    await verify(world);
    expect(await header()).toContain("the one thing it names still exists (checked 2026-03-10)");
    expect(await header()).not.toContain("verified");
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
