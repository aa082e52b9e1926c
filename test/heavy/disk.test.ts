/** A disk that is full, read-only, gone or turned against us: a clear error, nothing lost, nothing written outside. */

import { execFileSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import {
  dist,
  fingerprint,
  type HeavyWorld,
  indexProblems,
  leftovers,
  makeWorld,
  memdir,
  type Ran,
  removeWorlds,
  run,
  save,
  sleep,
  start,
  visible,
} from "./fixtures/heavy.ts";

const mounted: string[] = [];

afterEach(() => {
  for (const dir of mounted.splice(0).reverse()) {
    try {
      execFileSync("umount", ["-l", dir], { stdio: "ignore" });
    } catch {
      // Was not mounted any more.
    }
  }
  removeWorlds();
});

function mountTmpfs(dir: string, options: string): void {
  mkdirSync(dir, { recursive: true });
  execFileSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", dir], { stdio: "ignore" });
  mounted.push(dir);
}

function canMount(): boolean {
  const world = makeWorld();
  try {
    mountTmpfs(world.memory, "size=64k");
    execFileSync("umount", [world.memory]);
    mounted.pop();
    return true;
  } catch {
    console.log("skipped: mounting a tmpfs is not permitted here");
    return false;
  } finally {
    removeWorlds();
  }
}

const mountable = canMount();

/** One line that names what happened, beside warnings; not a stack and not "unexpected failure". */
function expectClear(ran: Ran, codes: readonly number[]): void {
  expect(codes, `${ran.out}${ran.err}`).toContain(ran.code);
  const lines = ran.err
    .trimEnd()
    .split("\n")
    .filter((line) => !line.startsWith("memdir: warning: "));
  expect(lines, ran.err).toHaveLength(1);
  expect(ran.err).toMatch(/^memdir: /);
  expect(ran.err).not.toContain("unexpected failure");
}

const bodyOf = (name: string, lines = 3) => `${`line of ${name}\n`.repeat(lines)}END ${name} 1`;

async function fillWith(world: HeavyWorld, count: number): Promise<void> {
  const program = start(world, "saver.mjs", [dist, world.memory, { id: 0, count, shared: 0 }]);
  expect((await program.ended).code, program.err()).toBe(0);
}

describe.skipIf(!mountable)("disk full", () => {
  /** Fills the disk to the last block and gives `leave` bytes back. */
  function fillDisk(dir: string, leave: number): void {
    const { bavail, bsize } = statfsSync(dir);
    if (leave > 0) writeFileSync(path.join(dir, ".ballast-give"), Buffer.alloc(Math.min(leave, bavail * bsize)));
    try {
      writeFileSync(path.join(dir, ".ballast"), Buffer.alloc(bavail * bsize + 1));
    } catch {
      // Full: that is what it is for.
    }
    if (leave > 0) unlinkSync(path.join(dir, ".ballast-give"));
  }

  function freeDisk(dir: string): void {
    rmSync(path.join(dir, ".ballast"), { force: true });
    rmSync(path.join(dir, ".ballast-give"), { force: true });
  }

  /** A memory whose line is on the overflow page, or any when there is none. */
  function overflowed(dir: string): [name: string, type: string] {
    const page = path.join(dir, "MEMORY.more.md");
    const found = existsSync(page) ? /^- \[(writer [^\]]*)\]\(([a-z]+)_/m.exec(readFileSync(page, "utf8")) : null;
    return found ? [found[1] as string, found[2] as string] : ["writer 0 memory 0", "project"];
  }

  /** Memories and index, without the ballast and memdir's own state. */
  const content = (dir: string) => fingerprint(dir, (name) => name === ".memdir" || name.startsWith(".ballast"));

  // With few memories the index only grows. With 200 every new one makes it overflow. With 231 some are on the overflow page,
  // and an update brings such a line back.
  for (const [settled, lines] of [
    [5, 400],
    [5, 1],
    [200, 1],
    [231, 1],
    [231, 400],
  ] as const) {
    test(`a save that fails changes nothing, at any step (${settled} memories, ${lines} lines)`, async () => {
      const world = makeWorld();
      mountTmpfs(world.memory, "size=8m");
      await fillWith(world, settled);
      let failed = 0;
      let passed = 0;
      const wrong: string[] = [];
      for (const kilobytes of [0, 4, 8, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80]) {
        // With the index at its cap an update would only make room.
        for (const what of settled === 200 ? (["create"] as const) : (["update", "create"] as const)) {
          const [name, type] = what === "create" ? [`new ${kilobytes}`, "project"] : overflowed(world.memory);
          const before = content(world.memory);
          fillDisk(world.memory, kilobytes * 1024);
          const body = bodyOf(`${name} at ${kilobytes}`, lines);
          const ran = await memdir(
            world,
            ["save", "--type", type, "--name", name, "--description", `${name} at ${kilobytes} end.`],
            { input: body },
          );
          const after = content(world.memory);
          const reading = await memdir(world, ["list"]);
          freeDisk(world.memory);
          const at = `${what} with ${kilobytes} KB free`;
          if (reading.code !== 0) wrong.push(`${at}: list ends with ${reading.code}: ${reading.err}`);
          if (ran.code === 0) {
            passed++;
            if (!JSON.stringify(after).includes("new") && what === "create")
              wrong.push(`${at}: acknowledged, not there`);
          } else {
            failed++;
            if (ran.code !== 3) wrong.push(`${at}: exit code ${ran.code}: ${ran.err}`);
            if (!/^memdir: [^\n]*full[^\n]*\n$/.test(ran.err) || ran.err.includes("unexpected"))
              wrong.push(`${at}: not clear: ${ran.err}`);
            for (const file of new Set([...Object.keys(before), ...Object.keys(after)])) {
              if (before[file] !== after[file])
                wrong.push(
                  `${at}: failed, but ${file} ${before[file] ? (after[file] ? "changed" : "is gone") : "appeared"}`,
                );
            }
          }
          // Space again: opening mends what there is to mend.
          const opened = await memdir(world, ["index"]);
          if (opened.code !== 0) wrong.push(`${at}: index ends with ${opened.code}`);
          wrong.push(
            ...indexProblems(world.memory).map(
              (p) => `${at} (${ran.code === 0 ? "saved" : "failed"}), then freed and opened: ${p}`,
            ),
          );
        }
      }
      const again = await save(world, "after all", bodyOf("after all"));
      if (again.code !== 0) wrong.push(`space again: ${again.err}`);
      wrong.push(...indexProblems(world.memory).map((p) => `at the end: ${p}`));
      wrong.push(...leftovers(world.memory).map((f) => `left behind: ${f}`));
      console.log(`${failed} saves failed for want of space, ${passed} had enough`);
      expect(wrong.slice(0, 40)).toEqual([]);
      expect(failed).toBeGreaterThan(2);
      expect(passed).toBeGreaterThan(0);
    });
  }

  test("the very first save on a full disk", async () => {
    const wrong: string[] = [];
    for (const kilobytes of [0, 4, 8, 12, 16, 20, 24, 28, 32]) {
      const world = makeWorld();
      mountTmpfs(world.memory, "size=256k");
      fillDisk(world.memory, kilobytes * 1024);
      const ran = await save(world, "first", bodyOf("first"));
      const there = existsSync(path.join(world.memory, "project_first.md"));
      if (
        ran.code === 0
          ? !there
          : ran.code !== 3 || there || !/^memdir: [^\n]*full[^\n]*\n$/.test(ran.err) || ran.err.includes("unexpected")
      )
        wrong.push(`${kilobytes} KB: exit ${ran.code}, ${there ? "there" : "not there"}: ${ran.err}`);
      freeDisk(world.memory);
      const again = await save(world, "second", bodyOf("second"));
      if (again.code !== 0) wrong.push(`${kilobytes} KB, freed: ${again.err}`);
      wrong.push(...indexProblems(world.memory).map((p) => `${kilobytes} KB, freed: ${p}`));
      const ignore = readFileSync(path.join(world.memory, ".memdir", ".gitignore"), "utf8");
      if (ignore !== "*\n") wrong.push(`${kilobytes} KB: .memdir/.gitignore is ${JSON.stringify(ignore)}`);
    }
    expect(wrong).toEqual([]);
  });
});

test("a limit on the size of files (ulimit -f) is an error like a full disk", async () => {
  const world = makeWorld();
  await fillWith(world, 5);
  const before = visible(world.memory);
  const wrong: string[] = [];
  for (const blocks of [0, 1, 2, 4, 8]) {
    const ran = await memdir(world, ["save", "--type", "project", "--name", `big ${blocks}`], {
      input: bodyOf("big", 3000),
      // Node ignores SIGXFSZ, so that the call fails instead.
      shell: `ulimit -f ${blocks}`,
    });
    if (ran.code !== 3 || !/^memdir: [^\n]+\n$/.test(ran.err) || ran.err.includes("unexpected"))
      wrong.push(`${blocks} blocks: exit ${ran.code}: ${ran.err}`);
    expect(visible(world.memory)).toEqual(before);
  }
  expect(wrong).toEqual([]);
  expect((await save(world, "after", bodyOf("after"))).code).toBe(0);
  expect(indexProblems(world.memory)).toEqual([]);
  expect(leftovers(world.memory)).toEqual([]);
});

describe.skipIf(!mountable)("read-only", () => {
  test("writing ends with code 3, reading works", async () => {
    const world = makeWorld();
    mountTmpfs(world.memory, "size=4m");
    await fillWith(world, 30);
    const before = fingerprint(world.memory);
    execFileSync("mount", ["-o", "remount,ro", world.memory]);
    for (const args of [
      ["save", "--type", "project", "--name", "more", "--description", "x"],
      ["forget", "writer 0 memory 0"],
      ["rename", "writer 0 memory 0", "other"],
      ["undo"],
      ["index", "--rebuild"],
    ]) {
      const ran = await memdir(world, args);
      expectClear(ran, [3]);
      expect(ran.err).toContain("read-only");
    }
    for (const args of [
      ["list"],
      ["show", "writer 0 memory 0"],
      ["search", "memory"],
      ["index"],
      ["history"],
      ["doctor"],
      ["context"],
    ]) {
      const ran = await memdir(world, args);
      expect([0, 1], `${args[0]}: ${ran.err}`).toContain(ran.code);
      expect(ran.err).not.toContain("unexpected");
    }
    expect(fingerprint(world.memory)).toEqual(before);
    // A directory that would have to be made there.
    expectClear(
      await memdir(world, ["save", "--type", "user", "--name", "n", "--description", "d"], {
        memory: path.join(world.memory, "sub"),
      }),
      [3],
    );
    execFileSync("mount", ["-o", "remount,rw", world.memory]);
    expect((await save(world, "more", bodyOf("more"))).code).toBe(0);
    expect(indexProblems(world.memory)).toEqual([]);
  });

  test("an interrupted change in a read-only directory does not keep it from being read", async () => {
    const world = makeWorld();
    mountTmpfs(world.memory, "size=4m");
    await fillWith(world, 3);
    const journal = path.join(world.memory, ".memdir", "journal.jsonl");
    writeFileSync(journal, `${readFileSync(journal, "utf8").trimEnd().split("\n").slice(0, -1).join("\n")}\n`);
    writeFileSync(path.join(world.memory, ".memdir", "tmp", "index-999999999-a-0"), "x\n");
    execFileSync("mount", ["-o", "remount,ro", world.memory]);
    for (const args of [["list"], ["show", "writer 0 memory 0"], ["index"]]) {
      const ran = await memdir(world, args);
      expect(ran.code, ran.err).toBe(0);
    }
    execFileSync("mount", ["-o", "remount,rw", world.memory]);
  });
});

const canChangeUser = (() => {
  try {
    execFileSync("setpriv", ["--reuid=65534", "--clear-groups", "true"], { stdio: "ignore" });
    return true;
  } catch {
    console.log("skipped: cannot run as another user here");
    return false;
  }
})();

test.skipIf(!canChangeUser)("files and folders without permission, as an ordinary user", async () => {
  const world = makeWorld();
  await fillWith(world, 6);
  const as = (args: string[], input = "") =>
    run(
      "setpriv",
      [
        "--reuid=65534",
        "--regid=65534",
        "--clear-groups",
        process.execPath,
        path.join(dist, "cli.js"),
        ...args,
        "--memory-dir",
        world.memory,
      ],
      {
        env: world.env,
        cwd: world.project,
        input,
      },
    );
  execFileSync("chown", ["-R", "65534:65534", world.root]);
  chmodSync(world.root, 0o755);
  const locked = path.join(world.memory, "project_writer_0_memory_0.md");
  chmodSync(locked, 0);
  mkdirSync(path.join(world.memory, "closed"), { mode: 0 });
  const before = visible(world.memory);
  const list = await as(["list"]);
  expect(list.code, list.err).toBe(0);
  expect(list.out).toContain("project_writer_0_memory_0.md: cannot be read (EACCES)");
  expect(list.err).toContain("closed is skipped: cannot be read (EACCES)");
  expectClear(await as(["show", "project_writer_0_memory_0"]), [3]);
  const search = await as(["search", "memory"]);
  expect(search.code, search.err).toBe(0);
  const doctor = await as(["doctor"]);
  expect([0, 1], doctor.err).toContain(doctor.code);
  expect(doctor.out).toContain("closed");
  expect((await as(["index"])).code).toBe(0);
  expect(visible(world.memory)).toEqual(before);
  const other = await as(
    ["save", "--type", "project", "--name", "another", "--description", "another end."],
    "END another 1",
  );
  expect(other.code, other.err).toBe(0);
  // Its content cannot be kept as a before-image, so it is not overwritten; the name gets another file or an error.
  const same = await as(
    ["save", "--type", "project", "--name", "writer 0 memory 0", "--description", "x end."],
    "END x 1",
  );
  expect([0, 3], same.err).toContain(same.code);
  expect(same.err).not.toContain("unexpected");
  chmodSync(locked, 0o600);
  expect(readFileSync(locked, "utf8")).toContain("END writer 0 memory 0 0.0");
  // A directory that may only be read.
  chmodSync(world.memory, 0o500);
  expectClear(await as(["save", "--type", "user", "--name", "n", "--description", "d"]), [3]);
  expect((await as(["list"])).code).toBe(0);
  // A directory that may not even be read.
  chmodSync(world.memory, 0);
  const blind = await as(["list"]);
  expect(blind.err).not.toContain("unexpected");
  expect(blind.err).toMatch(/EACCES|permission/);
  expectClear(await as(["save", "--type", "user", "--name", "n", "--description", "d"]), [3]);
  chmodSync(world.memory, 0o700);
  chmodSync(path.join(world.memory, "closed"), 0o700);
});

describe("vanished directory", () => {
  test("removed while a writer waits for the lock", async () => {
    const world = makeWorld();
    await fillWith(world, 3);
    const native = createRequire(path.join(dist, "index.js")).resolve("fs-native-extensions");
    const holder = start(world, "holder.mjs", [native, path.join(world.memory, ".memdir", "lock")]);
    while (holder.lines.length === 0) await sleep(5);
    expect(holder.lines[0]).toBe("held");
    const waiting = save(world, "patient", bodyOf("patient"));
    await sleep(600);
    rmSync(world.memory, { recursive: true });
    const ran = await waiting;
    holder.child.kill("SIGKILL");
    await holder.ended;
    // Either it says that the directory is gone, or it made it anew and the memory is there with its line.
    if (ran.code === 0) {
      expect(readFileSync(path.join(world.memory, "project_patient.md"), "utf8")).toContain("END patient 1");
      expect(indexProblems(world.memory)).toEqual([]);
    } else {
      expectClear(ran, [3]);
    }
    expect((await save(world, "later", bodyOf("later"))).code).toBe(0);
    expect(indexProblems(world.memory)).toEqual([]);
  });

  test("replaced by another directory while a writer waits for the lock", async () => {
    const world = makeWorld();
    await fillWith(world, 3);
    const native = createRequire(path.join(dist, "index.js")).resolve("fs-native-extensions");
    const holder = start(world, "holder.mjs", [native, path.join(world.memory, ".memdir", "lock")]);
    while (holder.lines.length === 0) await sleep(5);
    const waiting = save(world, "patient", bodyOf("patient"));
    await sleep(600);
    renameSync(world.memory, `${world.memory}.old`);
    const old = visible(`${world.memory}.old`);
    cpSync(`${world.memory}.old`, world.memory, { recursive: true });
    const ran = await waiting;
    holder.child.kill("SIGKILL");
    await holder.ended;
    // For a moment there was none: then it says so and wrote nothing; else it wrote into the new one.
    if (ran.code !== 0) expectClear(ran, [3]);
    expect(existsSync(path.join(world.memory, "project_patient.md"))).toBe(ran.code === 0);
    expect(visible(`${world.memory}.old`)).toEqual(old);
    expect(indexProblems(world.memory)).toEqual([]);
  });

  test("removed again and again while processes save", async () => {
    const world = makeWorld();
    const programs = [0, 1, 2].map((i) => start(world, "trier.mjs", [dist, world.memory, "60", `try ${i}`]));
    let running = true;
    const all = Promise.all(programs.map((p) => p.ended)).then(() => {
      running = false;
    });
    while (running) {
      await sleep(40);
      try {
        renameSync(world.memory, `${world.memory}.gone`);
        rmSync(`${world.memory}.gone`, { recursive: true, force: true });
      } catch {
        // Not there yet, or a writer put something into it while it was being removed.
      }
    }
    await all;
    for (const p of programs) {
      expect(p.err()).toBe("");
      const said = p.lines.slice(1).map((line) => JSON.parse(line));
      expect(said).toHaveLength(60);
      expect(said.filter((s) => !s.ok && s.kind !== "MemdirError").map((s) => s.message)).toEqual([]);
    }
    expect((await save(world, "later", bodyOf("later"))).code).toBe(0);
    await memdir(world, ["index", "--rebuild"]);
    expect(indexProblems(world.memory)).toEqual([]);
  });
});

describe("a symbolic link swapped in", () => {
  /** A folder that looks like a state folder and holds things that somebody would miss. */
  function makeOutside(world: HeavyWorld): string {
    const outside = path.join(world.root, "outside");
    mkdirSync(path.join(outside, "tmp"), { recursive: true });
    writeFileSync(path.join(outside, "precious.md"), "precious\n");
    writeFileSync(path.join(outside, "tmp", "file-999999999-a-0"), "looks like a leftover, is not ours\n");
    writeFileSync(path.join(outside, "tmp", "index-999999999-a-0"), "a line from outside\n");
    writeFileSync(path.join(outside, "journal.jsonl"), '{"precious":true}\n');
    mkdirSync(path.join(outside, "empty"));
    return outside;
  }

  const places: readonly [string, string][] = [
    [".memdir", ""],
    [".memdir", "empty"],
    [".memdir", "missing"],
    [".memdir/tmp", "tmp"],
    [".memdir/tmp", "missing"],
    [".memdir/images", "empty"],
    [".memdir/journal.jsonl", "journal.jsonl"],
    [".memdir/journal.jsonl", "missing"],
    [".memdir/lock", "precious.md"],
    [".memdir/lock", "missing"],
    [".memdir/lock.pid", "precious.md"],
    [".memdir/lock.pid", "missing"],
    [".memdir/index.base", "precious.md"],
    [".memdir/rows.bin", "precious.md"],
    [".memdir/.gitignore", "missing"],
    ["project_writer_0_memory_0.md", "precious.md"],
    ["project_writer_0_memory_0.md", "missing"],
    ["MEMORY.md", "precious.md"],
    ["MEMORY.md", "missing"],
    ["MEMORY.more.md", "precious.md"],
    ["MEMORY.more.md", "missing"],
    ["folder", ""],
  ];
  for (const [place, target] of places) {
    test(`${place} -> outside/${target}`, async () => {
      const world = makeWorld();
      await fillWith(world, 30);
      mkdirSync(path.join(world.memory, "folder"));
      cpSync(path.join(world.memory, "project_writer_0_memory_4.md"), path.join(world.memory, "folder", "inner.md"));
      const outside = makeOutside(world);
      const untouched = fingerprint(outside);
      const link = path.join(world.memory, place);
      const had = existsSync(link);
      if (had) renameSync(link, `${link}.aside`);
      const kept = fingerprint(world.memory, (name) => name.startsWith(".memdir") || name.startsWith("MEMORY."));
      symlinkSync(path.join(outside, target), link);
      const wrong: string[] = [];
      for (const args of [
        ["list"],
        ["index"],
        ["doctor"],
        ["search", "memory"],
        ["history"],
        ["save", "--type", "project", "--name", "brand new", "--description", "brand new end."],
        ["save", "--type", "project", "--name", "writer 0 memory 0", "--description", "changed end."],
        ["save", "--type", "project", "--name", "writer 0 memory 8", "--description", "changed end."],
        ["rename", "folder/inner.md", "inner moved"],
        ["forget", "writer 0 memory 12"],
        ["undo"],
        ["index", "--rebuild"],
      ]) {
        const ran = await memdir(world, args, { input: args[0] === "save" ? "END x 1.1" : "" });
        if (![0, 1, 2, 3].includes(ran.code as number) || ran.err.includes("unexpected"))
          wrong.push(`${args.join(" ")}: exit ${ran.code}: ${ran.err}`);
        if ((ran.code as number) >= 2 && !/^memdir: [^\n]+\n$/.test(ran.err))
          wrong.push(`${args.join(" ")}: not one line: ${ran.err}`);
        const now = fingerprint(outside);
        if (JSON.stringify(now) !== JSON.stringify(untouched)) {
          wrong.push(
            `${args.join(" ")} (exit ${ran.code}) changed the outside: ${Object.keys({ ...untouched, ...now })
              .filter((f) => now[f] !== untouched[f])
              .join(", ")}`,
          );
          break;
        }
      }
      if (place.startsWith(".memdir") && !place.includes(".", 8)) {
        // Nothing could be written, so nothing of the memories changed.
        const after = fingerprint(world.memory, (name) => name.startsWith(".memdir") || name.startsWith("MEMORY."));
        if (/^\.memdir(\/tmp|\/images|\/journal|\/lock)?$/.test(place)) expect.soft(after).toEqual(kept);
      }
      expect(wrong).toEqual([]);
      rmSync(link, { force: true, recursive: true });
      if (had) renameSync(`${link}.aside`, link);
      const again = await save(world, "all well", bodyOf("all well"));
      expect(again.code, again.err).toBe(0);
      expect((await memdir(world, ["index", "--rebuild"])).code).toBe(0);
      expect(indexProblems(world.memory).filter((p) => !p.includes("folder/"))).toEqual([]);
    });
  }

  for (const place of [
    ".memdir",
    ".memdir/tmp",
    ".memdir/images",
    ".memdir/journal.jsonl",
    ".memdir/lock",
    "MEMORY.md",
    "project_try_0.md",
  ]) {
    test(`${place}, by a racing process during 200 saves`, async () => {
      const world = makeWorld();
      await fillWith(world, 10);
      expect((await save(world, "try 0", "END try 0 0")).code).toBe(0);
      const outside = makeOutside(world);
      mkdirSync(path.join(outside, "images"));
      const target =
        { ".memdir": "", ".memdir/tmp": "tmp", ".memdir/images": "images" }[place] ??
        (place.includes("journal") ? "journal.jsonl" : "precious.md");
      const untouched = fingerprint(outside);
      const stop = path.join(world.root, "stop");
      const linker = start(world, "linker.mjs", [path.join(world.memory, place), path.join(outside, target), stop]);
      const trier = start(world, "trier.mjs", [dist, world.memory, "200", "try"]);
      await trier.ended;
      writeFileSync(stop, "");
      await linker.ended;
      const said = trier.lines.slice(1).map((line) => JSON.parse(line));
      const { swaps } = JSON.parse(linker.lines.at(-1) as string);
      console.log(
        `${place}: ${swaps} swaps, ${said.filter((s) => s.ok).length} saves, ${said.filter((s) => !s.ok).length} refused`,
      );
      const now = fingerprint(outside);
      expect(trier.err()).toBe("");
      expect(said.filter((s) => !s.ok && s.kind !== "MemdirError").map((s) => s.message)).toEqual([]);
      expect(Object.keys({ ...untouched, ...now }).filter((f) => now[f] !== untouched[f])).toEqual([]);
      const again = await save(world, "all well", bodyOf("all well"));
      expect(again.code, again.err).toBe(0);
      // What was acknowledged last under each name is there, unless the racing process itself took the file away.
      if (place !== "project_try_0.md") {
        const last = new Map(said.filter((s) => s.ok).map((s) => [s.file, s.body]));
        for (const [file, body] of last)
          expect(readFileSync(path.join(world.memory, file), "utf8"), file).toContain(body);
      }
    });
  }
});
