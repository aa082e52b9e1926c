import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { applyPlan } from "../../src/learn/dream-check.ts";
import { dreamOffline } from "../../src/learn/dream-offline.ts";
import { makePlan, type Op, takeSnapshot } from "../../src/learn/dream-plan.ts";
import { parseIndexLine } from "../../src/store/index-line.ts";
import { readJournal } from "../../src/store/journal.ts";
import { parseHeader } from "../../src/store/memory.ts";
import { undoEntry } from "../../src/store/undo.ts";
import { splitLines } from "../../src/text/lines.ts";
import { bundleWorker, type Worker } from "../disk/worker.ts";
import { errorOf, HOUR, mainOf, makeWorld, note, type World } from "../world.ts";
import { makeMess, memoryText } from "./dream-mess.ts";

/** Every byte below the directory but our own state. */
function bytesOf(world: World): Record<string, string> {
  return Object.fromEntries(world.files().map((file) => [file, fs.readFileSync(world.path(file)).toString("latin1")]));
}

describe("a plan is applied", () => {
  it("B9.4 as one journal entry, which one undo takes back, and another undo brings again", async () => {
    const world = makeWorld();
    makeMess(world);
    const memdir = await world.open();
    const directory = mainOf(memdir);
    const before = bytesOf(world);
    const plan = await dreamOffline(directory);
    const entry = await applyPlan(directory, plan);
    const after = bytesOf(world);
    expect(readJournal(directory).map(({ action }) => action)).toEqual(["dream"]);
    expect(readJournal(directory)[0]?.reason).toContain(
      "retire project_billing_freeze.md: its deadline, 2025-01-20, was",
    );
    const { undone, undo } = await undoEntry(directory);
    expect(undone).toBe(entry);
    expect(bytesOf(world)).toEqual(before);
    await undoEntry(directory, undo);
    expect(bytesOf(world)).toEqual(after);
  });

  it("keeps lines that others wrote into the index before the undo", async () => {
    const world = makeWorld();
    makeMess(world);
    const directory = mainOf(await world.open());
    await applyPlan(directory, await dreamOffline(directory));
    fs.appendFileSync(world.path("MEMORY.md"), "By hand, later.\n");
    await undoEntry(directory);
    expect(world.index()).toContain("By hand, later.\n");
    expect(world.index()).toContain("- [Freeze!](project_mail_freeze.md) read this before merging\n");
  });

  it("leaves lines by hand that undo brought back in their words, also after a foreign edit", async () => {
    const world = makeWorld();
    makeMess(world);
    const memdir = await world.open();
    const directory = mainOf(memdir);
    await memdir.save(note("first"));
    await applyPlan(directory, await dreamOffline(directory));
    await undoEntry(directory);
    fs.appendFileSync(world.path("MEMORY.md"), "By hand, later.\n");
    await memdir.save(note("another"));
    expect(world.index()).toContain("- [Freeze!](project_mail_freeze.md) read this before merging\n");
    expect(world.index()).toContain("By hand, later.\n");
  });

  it("stops and says so when a file changed meanwhile, and writes nothing", async () => {
    const world = makeWorld();
    makeMess(world);
    const directory = mainOf(await world.open());
    const plan = await dreamOffline(directory);
    world.write("project_mail_freeze.md", memoryText("project", "mail freeze", "Prolonged until 2026-12-01."));
    const before = bytesOf(world);
    const error = await errorOf(applyPlan(directory, plan));
    expect(error.code).toBe("conflict");
    expect(error.message).toContain("project_mail_freeze.md changed since the plan was made");
    expect(bytesOf(world)).toEqual(before);
    expect(readJournal(directory)).toEqual([]);
  });

  it("does nothing for an empty plan, not even a journal entry", async () => {
    const world = makeWorld();
    const directory = mainOf(await world.open());
    expect(await applyPlan(directory, { ops: [], base: {} })).toBeNull();
    expect(fs.existsSync(world.dir)).toBe(false);
  });

  it("follows no link that takes a file's place after the check", async () => {
    const world = makeWorld();
    world.write("project_a.md", memoryText("project", "a", "Until 2025-01-01.", "created: 2024-12-01\n"));
    const directory = mainOf(await world.open());
    const plan = await dreamOffline(directory);
    fs.renameSync(world.path("project_a.md"), path.join(world.top, "elsewhere.md"));
    fs.symlinkSync(path.join(world.top, "elsewhere.md"), world.path("project_a.md"));
    expect((await errorOf(applyPlan(directory, plan))).code).toBe("conflict");
    expect(fs.existsSync(path.join(world.top, "elsewhere.md"))).toBe(true);
  });
});

const FILES = ["project_a.md", "project_b.md", "reference_c.md", "reference_d.md", "feedback_e.md", "topics/f.md"];
const typeOf = (file: string) => /^(project|reference|feedback)/.exec(file)?.[1] ?? "reference";

/** The index in any shape: our lines, lines by hand, lines that lead nowhere, prose, any line end, or none at the end. */
const indexText = fc
  .tuple(
    fc.array(
      fc.oneof(
        fc.constantFrom(...FILES).map((file) => `- [${file}](${file}) — about ${file}`),
        fc.constantFrom(...FILES).map((file) => `* **[By hand](${file})** - see there`),
        fc.constantFrom("- [x](gone.md) — gone", "# Title", "", "Prose.", "- an item", "---", "  "),
      ),
      { maxLength: 12 },
    ),
    fc.constantFrom("\n", "\r\n"),
    fc.boolean(),
  )
  .map(([lines, eol, ended]) => lines.join(eol) + (ended ? eol : ""));

const fates = fc.record(
  Object.fromEntries(FILES.map((file) => [file, fc.constantFrom("keep", "rewrite", "retire", "rename", "merge")])),
);

function opsFor(world: World, chosen: Record<string, string>, reindex: boolean): Op[] {
  const ops: Op[] = reindex ? [{ kind: "reindex", dead: ["gone.md"], reason: "order" }] : [];
  const body = (file: string) => parseHeader(file, world.read(file)) && `Rule of ${file}.`;
  for (const file of FILES) {
    const fate = chosen[file];
    const isRule = typeOf(file) === "feedback";
    if (fate === "rewrite")
      ops.push({ kind: "rewrite", file, text: memoryText(typeOf(file), `new ${file}`, body(file)), reason: "r" });
    if (fate === "retire" && !isRule) ops.push({ kind: "retire", file, successor: null, reason: "r" });
    if (fate === "rename" || (fate === "merge" && isRule)) {
      const into = `sub/new_${file.replaceAll("/", "_")}`;
      const text = memoryText(typeOf(file), `renamed ${file}`, body(file));
      ops.push({ kind: "merge", files: [file], into, text, reason: "r" });
    }
  }
  for (const type of ["project", "reference"]) {
    const files = FILES.filter((file) => typeOf(file) === type && chosen[file] === "merge");
    const into = files[0];
    if (into && files.length > 1)
      ops.push({ kind: "merge", files, into, text: memoryText(type, `merged ${into}`, "All of it."), reason: "r" });
  }
  return ops;
}

describe("apply and undo", () => {
  it("B9.4 restore every byte, whatever the plan and the index", async () => {
    await fc.assert(
      fc.asyncProperty(indexText, fates, fc.boolean(), fc.boolean(), async (index, chosen, reindex, tight) => {
        const world = makeWorld({ settings: tight ? { index: { maxLines: 6 } } : {} });
        for (const file of FILES)
          world.write(file, memoryText(typeOf(file), file, `Rule of ${file}.`), { ageMs: HOUR });
        world.write("MEMORY.md", index);
        const directory = mainOf(await world.open());
        const before = bytesOf(world);
        const plan = makePlan(opsFor(world, chosen, reindex), takeSnapshot(directory));
        const entry = await applyPlan(directory, plan);
        if (entry === null) return;
        await undoEntry(directory, entry);
        expect(bytesOf(world)).toEqual(before);
      }),
      { numRuns: 60 },
    );
  });
});

describe("a dream that is killed", () => {
  let worker: Worker;
  beforeAll(async () => {
    worker = await bundleWorker("../../learn/dream-killed.ts");
  });
  afterAll(() => worker.close());

  const setUp = () => {
    const world = makeWorld();
    for (const name of ["a", "b", "c"])
      world.write(
        `project_${name}.md`,
        memoryText("project", name, `Freeze of ${name} until 2025-01-01.`, "created: 2024-12-01\n"),
        {
          ageMs: HOUR,
        },
      );
    world.write("user_d.md", memoryText("user", "d", "Works in the office of the Berlin team."), { ageMs: HOUR });
    world.write("user_e.md", memoryText("user", "d too", "Works in the office of the Berlin team."), { ageMs: HOUR });
    world.write(
      "MEMORY.md",
      "# Memory\n\n- [x](gone.md) — gone\n- [Mine](project_a.md) my words\n- [d](user_d.md) — about d\n",
    );
    return world;
  };
  const memories = (world: World) => {
    const { "MEMORY.md": _, ...rest } = bytesOf(world);
    return rest;
  };

  it("B9.4 leaves what was before or what comes after, at every step", async () => {
    const whole = setUp();
    const before = memories(whole);
    const calls = Number(await worker.run(whole.dir, 0));
    const after = memories(whole);
    expect(Object.keys(after)).toHaveLength(1);
    expect(calls).toBeGreaterThan(10);
    const seen = new Set<string>();
    for (let nth = 2; nth <= calls; nth += 3) {
      const world = setUp();
      const [, signal] = await once(worker.start(world.dir, nth), "exit");
      expect(signal).toBe("SIGKILL");
      world.now = new Date(world.now.getTime() + HOUR);
      const memdir = await world.open();
      await memdir.list();
      const state = memories(world);
      const isBefore = JSON.stringify(state) === JSON.stringify(before);
      expect(state).toEqual(isBefore ? before : after);
      seen.add(isBefore ? "before" : "after");
      const files = splitLines(world.index()).flatMap((line) => parseIndexLine(line)?.file ?? []);
      const there = files.filter((file) => file !== "gone.md");
      expect(there.filter((file) => state[file] === undefined)).toEqual([]);
    }
    expect([...seen].sort()).toEqual(["after", "before"]);
  });
});
