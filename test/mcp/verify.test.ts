import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { MODEL_TOOLS } from "../../src/mcp/tools.ts";
import type { Memdir } from "../../src/memdir.ts";
import { DAY, makeWorld, note, type World } from "../world.ts";

async function verify(memdir: Memdir, signal = new AbortController().signal) {
  const tool = MODEL_TOOLS.find(({ spec }) => spec.name === "verify");
  const call = {
    ...{ cwd: memdir.location.project.cwd, env: {}, now: () => new Date(), log: () => {} },
    ...{ open: async () => memdir, renew: () => {}, by: "mcp", signal },
  };
  const result = await tool?.run(call, {});
  // biome-ignore lint/suspicious/noExplicitAny: looked at as a client would
  return { ...(result?.structured as any), text: result?.text };
}

function put(world: World, file: string, text: string): void {
  const full = path.join(world.project, file);
  fs.mkdirSync(path.dirname(full), { recursive: true });
  fs.writeFileSync(full, text);
}

function commit(world: World): void {
  world.git("add", "-A");
  world.git("commit", "-q", "-m", "change");
}

describe("B9.10 looking at the code", () => {
  it("finds what went after it was written, and nothing where it cannot know", async () => {
    const world = makeWorld();
    for (const file of ["pool", "gone", "gone2"]) put(world, `src/${file}.ts`, `export function ${file}Pool() {}\n`);
    commit(world);
    const memdir = await world.open();
    const body = [
      "`poolPool` is in `src/pool.ts`; `drainPool` was too.",
      "Look: `src/gone.ts`, `src/never.ts` and `src/deep/gone`.",
      "Elsewhere: `feature/gone`, `text/markdown`, `owner/repo.js`, `../x/y.ts`, `/etc/passwd`.",
      `Whole: \`${world.project}/src/pool.ts\`, \`${world.project}/src/gone2.ts\`.`,
    ].join("\n");
    await memdir.save(note("pools", { type: "project", body }));
    world.now = new Date(world.now.getTime() + DAY);
    for (const file of ["gone", "gone2"]) fs.rmSync(path.join(world.project, "src", `${file}.ts`));
    commit(world);
    const { checked, problems, text } = await verify(memdir);
    expect(checked).toBe(1);
    expect(
      problems.map(({ claim, kind }: { claim: string; kind: string }) => `${kind} ${claim.replace(world.project, "")}`),
    ).toEqual(["path src/gone.ts", "path src/gone2.ts"]);
    expect(text).toContain("; also `src/gone2.ts`");
    const before = world.read("project_pools.md");
    expect(before).not.toContain("verified");
  });

  it("leaves the user's own memories alone, which speak of all projects", async () => {
    const world = makeWorld();
    put(world, "src/a.ts", "");
    put(world, "src/gone.ts", "");
    commit(world);
    await (await world.open({ scope: "user" })).save(note("everywhere", { body: "`src/gone.ts`" }));
    world.now = new Date(world.now.getTime() + DAY);
    fs.rmSync(path.join(world.project, "src", "gone.ts"));
    commit(world);
    expect(await verify(await world.open())).toMatchObject({ problems: [] });
  });

  it("names memories that are old, and counts what is too much to show", async () => {
    const world = makeWorld();
    put(world, "src/a.ts", "");
    const names = Array.from({ length: 60 }, (_, i) => `src/gone${i}.ts`);
    for (const name of names) put(world, name, `${name}\n`);
    commit(world);
    for (const name of names) fs.rmSync(path.join(world.project, name));
    world.git("add", "-A");
    world.git("commit", "-q", "--allow-empty", "-m", "gone");
    const lines = names.map((name) => `# ${name}\n\nSee \`${name}\`.`).join("\n\n");
    world.write("project_old.md", `---\nname: old\ntype: project\n---\n\n${lines}\n`, { ageMs: 400 * DAY });
    const verification = await verify(await world.open());
    expect(verification.aged).toEqual([{ file: "project_old.md", ageDays: 400 }]);
    expect(verification.text).toContain("- and 10 more");
    expect(verification.text).toContain("project_old.md (400 days ago)");
  });

  it("reads no link, no fifo and nothing huge", async () => {
    const world = makeWorld();
    put(world, "src/a.ts", "");
    fs.symlinkSync("/etc/passwd", path.join(world.project, "src", "link.ts"));
    if (process.platform !== "win32") execFileSync("mkfifo", [path.join(world.project, "src", "pipe.ts")]);
    fs.writeFileSync(path.join(world.project, "src", "huge.ts"), Buffer.alloc(3 * 1024 * 1024, "x"));
    const body = "`someName` is in `src/link.ts`.\n`someName` is in `src/pipe.ts`.\n`someName` is in `src/huge.ts`.";
    const memdir = await world.open();
    await memdir.save(note("odd", { type: "project", body }));
    world.write("project_bytes.md", Buffer.from([0xff, 0xfe]));
    world.write("project_empty.md", "");
    expect((await verify(memdir)).problems).toEqual([]);
  });

  it("stops when it is told to", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    await memdir.save(note("one", { type: "project" }));
    await expect(verify(memdir, AbortSignal.abort())).rejects.toThrow("nothing was written");
  });
});
