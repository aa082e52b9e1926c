/** Any order of changes, ours and others', keeps what the directory promises. */

import fs from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { measureIndex, parseIndexLine } from "../../src/store/index-line.ts";
import { MEMORY_TYPES } from "../../src/store/memory.ts";
import { splitLines } from "../../src/text/lines.ts";
import { HOUR, makeWorld, note, type World } from "../world.ts";

const NAMES = ["a", "A", "b c", "b-c", "日本", "café", "x](y.md)", "p <q>"];
const HAND = ["# Title\n", "\n", "Prose by hand.\n", "## Notes\n", "- an item\n"];

const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("save" as const),
      name: fc.constantFrom(...NAMES),
      type: fc.constantFrom(...MEMORY_TYPES),
      text: fc.constantFrom("one", "two", "three"),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("forget" as const), at: fc.nat() }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("rename" as const), at: fc.nat(), name: fc.constantFrom(...NAMES, "new") }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("undo" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("rebuild" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("stale" as const), how: fc.constantFrom("rename", "write") }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("reword" as const), at: fc.nat() }) },
);

/** How often the two pages point to each file. */
function pointers(world: World): Record<string, number> {
  const count: Record<string, number> = {};
  const more = world.exists("MEMORY.more.md") ? world.read("MEMORY.more.md") : "";
  for (const line of [...splitLines(world.index()), ...splitLines(more)]) {
    const file = parseIndexLine(line)?.file;
    if (file && file !== "MEMORY.more.md") count[file] = (count[file] ?? 0) + 1;
  }
  return count;
}

function byHand(text: string): string[] {
  return splitLines(text).filter((line) => parseIndexLine(line) === null);
}

describe("any order of changes", () => {
  it("B4.4 C10 C13 every memory has one line, text by hand stays, the cap holds", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
        const world = makeWorld({ settings: { index: { maxLines: 12 } } });
        world.write("MEMORY.md", HAND.join(""));
        const memdir = await world.open();
        let stale = world.index();
        for (const now of steps) {
          world.now = new Date(world.now.getTime() + HOUR);
          const rows = await memdir.list();
          const row = "at" in now ? rows[now.at % Math.max(1, rows.length)] : undefined;
          if (now.do === "save") await memdir.save(note(now.name, { type: now.type, description: now.text }));
          else if (now.do === "rebuild") await memdir.rebuildIndex();
          else if (now.do === "undo") await memdir.undo().catch(expectRefusal);
          else if (now.do === "stale") {
            const target = world.path(now.how === "rename" ? "x.tmp" : "MEMORY.md");
            fs.writeFileSync(target, stale);
            if (now.how === "rename") fs.renameSync(target, world.path("MEMORY.md"));
            await world.open();
          } else if (row && now.do === "forget") await memdir.forget(row.file);
          else if (row && now.do === "rename") await memdir.rename(row.file, now.name).catch(expectRefusal);
          else if (row && now.do === "reword") {
            const line = splitLines(world.index()).find((l) => parseIndexLine(l)?.file === row.file);
            if (line) {
              world.write("MEMORY.md", world.index().replace(line, `- [Mine](${row.file}) — in my words\n`));
              await world.open();
            }
          }
          const files = (await memdir.list()).map(({ file }) => file);
          expect(pointers(world)).toEqual(Object.fromEntries(files.map((file) => [file, 1])));
          expect(byHand(world.index())).toEqual(HAND);
          expect(measureIndex(world.index()).lines).toBeLessThanOrEqual(12);
          if (now.do === "save") stale = world.index();
        }
        if (world.exists(".memdir")) expect(fs.readdirSync(world.path(".memdir/tmp"))).toEqual([]);
      }),
      { numRuns: 25 },
    );
  });

  it("undo, step by step, leads back to the beginning byte for byte", async () => {
    const own = step.filter(({ do: what }) => what === "save" || what === "forget" || what === "rename");
    await fc.assert(
      fc.asyncProperty(fc.array(own, { minLength: 2, maxLength: 10 }), async (steps) => {
        const world = makeWorld();
        world.write("first.md", "---\nname: first\ndescription: d\ntype: user\n---\n");
        world.write("MEMORY.md", `${HAND.join("")}- [By hand](first.md) — mine\n\n## User\n\nend\n`);
        const state = () => Object.fromEntries(world.files().map((file) => [file, world.read(file)]));
        const memdir = await world.open();
        const states = [state()];
        for (const now of steps) {
          world.now = new Date(world.now.getTime() + HOUR);
          const rows = await memdir.list();
          const row = "at" in now ? rows[now.at % Math.max(1, rows.length)] : undefined;
          const before = (await memdir.history()).length;
          if (now.do === "save") await memdir.save(note(now.name, { type: now.type, description: now.text }));
          else if (row && now.do === "forget") await memdir.forget(row.file);
          else if (row && now.do === "rename") await memdir.rename(row.file, now.name).catch(expectRefusal);
          if ((await memdir.history()).length > before) states.push(state());
        }
        expect(state()).toEqual(states.pop());
        while (states.length > 0) {
          await memdir.undo();
          expect(state()).toEqual(states.pop());
        }
      }),
      { numRuns: 25 },
    );
  });
});

function expectRefusal(error: { code?: string }): void {
  expect(["conflict", "not-found"]).toContain(error.code);
}
