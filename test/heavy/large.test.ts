/** Large and odd directories: every command ends, and says what it passed over and why. */

import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import path from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import {
  type HeavyWorld,
  indexProblems,
  makeWorld,
  memdir,
  type Ran,
  readIndex,
  removeWorlds,
  save,
} from "./fixtures/heavy.ts";

afterEach(removeWorlds);

const COMMANDS: readonly (readonly string[])[] = [
  ["list"],
  ["list", "--json"],
  ["search", "needle"],
  ["index"],
  ["doctor"],
  ["lint"],
  ["history"],
  ["context"],
  ["save", "--type", "user", "--name", "one more", "--description", "one more end."],
  ["index", "--rebuild"],
  ["forget", "one more"],
  ["undo"],
];

/** Every command to its end; null as a code means that it hung. */
async function runAll(world: HeavyWorld, timeoutMs: number): Promise<Map<string, Ran>> {
  const all = new Map<string, Ran>();
  for (const args of COMMANDS) {
    const ran = await memdir(world, args, { input: args[0] === "save" ? "needle\nEND one more 1" : "", timeoutMs });
    all.set(args.join(" "), ran);
  }
  console.log([...all].map(([name, { code, ms }]) => `${name.slice(0, 20)}: ${code}, ${ms.toFixed(0)} ms`).join("\n"));
  return all;
}

function expectNoCrash(all: Map<string, Ran>): void {
  const bad = [...all]
    .filter(([, { code, err }]) => (code !== 0 && code !== 1) || /unexpected|\n\s+at .*:\d+/.test(err))
    .map(([name, { code, err }]) => `${name}: ${code}: ${err.slice(0, 300)}`);
  expect(bad).toEqual([]);
}

const memory = (name: string, body: string) =>
  `---\nname: ${name}\ndescription: ${name} end.\ntype: reference\n---\n\n${body}\n`;

describe("large", () => {
  test("a memory of 10 MB is not saved; one that another program wrote is read", async () => {
    const world = makeWorld();
    const line = "All work and no play makes this a long memory, with a needle at its very end.\n";
    const body = `${line.repeat(Math.ceil((10 * 1024 * 1024) / line.length))}END big 1`;
    const file = path.join(world.root, "body.txt");
    writeFileSync(file, body);
    const named = ["--type", "project", "--name", "big", "--description", "big end."];
    const saved = await memdir(world, ["save", ...named, "--file", file], { timeoutMs: 120_000 });
    expect(saved.code, saved.err).toBe(2);
    expect(saved.err).toContain("the limit is 256 KB");
    // One giant line, as a pasted log or a minified file has.
    const input = `${"abc needle ".repeat(900_000)}END`;
    const oneLine = await memdir(world, ["save", ...named], { input, timeoutMs: 120_000 });
    expect(oneLine.code, oneLine.err).toBe(2);
    mkdirSync(world.memory, { recursive: true });
    writeFileSync(path.join(world.memory, "project_big.md"), memory("big", body));
    writeFileSync(path.join(world.memory, "project_line.md"), memory("one line", input));
    const shown = await memdir(world, ["show", "big"]);
    expect(shown.code, shown.err).toBe(0);
    expect(shown.out.trimEnd().endsWith("END big 1")).toBe(true);
    const all = await runAll(world, 120_000);
    expectNoCrash(all);
    expect(all.get("search needle")?.out).toContain("big");
  });

  test("frontmatter and a description of 10 MB", async () => {
    const world = makeWorld();
    mkdirSync(world.memory);
    writeFileSync(path.join(world.memory, "wide.md"), memory(`wide ${"x".repeat(10_000_000)}`, "needle"));
    writeFileSync(
      path.join(world.memory, "tall.md"),
      `---\nname: tall\n${"key: value\n".repeat(1_000_000)}---\nneedle\n`,
    );
    writeFileSync(path.join(world.memory, "open.md"), `---\nname: open\n${"key: value\n".repeat(1_000_000)}`);
    writeFileSync(path.join(world.memory, "zeros.md"), Buffer.alloc(10_000_000));
    writeFileSync(path.join(world.memory, "bytes.md"), Buffer.alloc(1_000_000, 0xff));
    const all = await runAll(world, 120_000);
    expectNoCrash(all);
    const { index } = readIndex(world.memory);
    expect(index.join("\n").length).toBeLessThanOrEqual(25_000);
  });

  test("20,000 files", async () => {
    const world = makeWorld();
    mkdirSync(world.memory);
    for (let i = 0; i < 20_000; i++) {
      writeFileSync(path.join(world.memory, `note_${i}.md`), memory(`note ${i}`, i === 12_345 ? "needle" : "hay"));
    }
    const all = await runAll(world, 180_000);
    expectNoCrash(all);
    expect(JSON.parse((all.get("list --json") as Ran).out)).toHaveLength(20_000);
    expect(all.get("search needle")?.out).toContain("note 12345");
    const shown = await memdir(world, ["show", "note 19999"]);
    expect(shown.code, shown.err).toBe(0);
    expect(indexProblems(world.memory).slice(0, 10)).toEqual([]);
  });
});

describe("odd", () => {
  test("deep folders, a directory called x.md, links, fifos and sockets are listed or passed over with a reason", async () => {
    const world = makeWorld();
    await save(world, "plain", "END plain 1");
    const at = (...names: string[]) => path.join(world.memory, ...names);
    mkdirSync(at("x.md"));
    writeFileSync(at("x.md", "inside.md"), memory("inside", "needle"));
    const deep = at(...Array.from({ length: 30 }, (_, i) => `level${i}`));
    mkdirSync(deep, { recursive: true });
    writeFileSync(path.join(deep, "deep.md"), memory("deep", "needle"));
    symlinkSync("/nowhere/at/all", at("dangling.md"));
    symlinkSync("loop.md", at("loop.md"));
    symlinkSync("/etc/passwd", at("passwd.md"));
    symlinkSync(world.memory, at("again"));
    symlinkSync("/etc", at("etc.md"));
    execFileSync("mkfifo", [at("a.md")]);
    const server = createServer();
    await new Promise<void>((done) => server.listen(at("socket.md"), done));
    try {
      const all = await runAll(world, 300_000);
      expectNoCrash(all);
      const list = all.get("list") as Ran;
      const said = `${list.out}\n${list.err}`;
      expect.soft(said).toMatch(/x\.md is skipped: a directory/);
      expect.soft(said).toMatch(/a\.md is skipped: not a regular file/);
      expect.soft(said).toMatch(/socket\.md is skipped: not a regular file/);
      expect.soft(said).toMatch(/dangling\.md: a symbolic link/);
      expect.soft(said).toMatch(/loop\.md: a symbolic link/);
      expect.soft(said).toMatch(/passwd\.md: a symbolic link/);
      // Deeper than memdir looks: said, not silent.
      expect.soft(said).toMatch(/level\S* is skipped: /);
      expect.soft(said).toMatch(/again is skipped: /);
      for (const ran of all.values()) expect(`${ran.out}${ran.err}`).not.toContain("root:x:0");
      for (const name of ["a.md", "socket.md", "x.md", "dangling.md", "passwd.md"]) {
        const shown = await memdir(world, ["show", name]);
        expect.soft([2, 3], `show ${name}: ${shown.out}${shown.err}`).toContain(shown.code);
        expect.soft(shown.err, name).toMatch(/^memdir: (?!unexpected)[^\n]+\n$/);
      }
      const forgotten = await memdir(world, ["forget", "dangling.md"]);
      expect.soft(forgotten.code, forgotten.err).toBe(0);
    } finally {
      server.close();
    }
  });

  for (const [what, make] of [
    ["a fifo", (file: string) => execFileSync("mkfifo", [file])],
    ["a directory", (file: string) => mkdirSync(file)],
    [
      "a link to a fifo",
      (file: string) => {
        execFileSync("mkfifo", [`${file}.fifo`]);
        symlinkSync(`${file}.fifo`, file);
      },
    ],
    ["bytes that are no text", (file: string) => writeFileSync(file, Buffer.from([0xff, 0xfe, 0, 10, 0x80, 10]))],
  ] as const) {
    for (const name of [
      "MEMORY.md",
      "MEMORY.more.md",
      ".memdir/journal.jsonl",
      ".memdir/index.base",
      ".memdir/rows.bin",
      "project_taken.md",
    ]) {
      test(`${name} is ${what}: no command hangs or crashes`, async () => {
        const world = makeWorld();
        await save(world, "plain", "END plain 1");
        const file = path.join(world.memory, name);
        execFileSync("rm", ["-rf", file]);
        make(file);
        const all = new Map<string, Ran>();
        for (const args of [
          ["list"],
          ["index"],
          ["doctor"],
          ["history"],
          ["save", "--type", "project", "--name", "taken", "--description", "d"],
          ["list"],
        ]) {
          all.set(args[0] as string, await memdir(world, args));
        }
        const bad = [...all]
          .filter(([, { code, err }]) => ![0, 1, 2, 3].includes(code as number) || err.includes("unexpected"))
          .map(([command, { code, err }]) => `${command}: ${code === null ? "hangs" : code} ${err.slice(0, 200)}`);
        expect(bad).toEqual([]);
        expect(readFileSync(path.join(world.memory, "project_plain.md"), "utf8")).toContain("END plain 1");
      });
    }
  }
});
