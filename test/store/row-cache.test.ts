/** Writing a row cache anew while others go on: it takes many turns, and loses nothing that came in between. */

import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import type { Directory } from "../../src/store/directory.ts";
import { appendEntries, readRowCache, writeInPieces } from "../../src/store/row-cache.ts";
import type { RowEntry } from "../../src/store/row-entry.ts";
import { rewriteInPieces } from "../../src/store/rows.ts";
import { directoryAt, entryOf, writeEntries } from "../recall/store.ts";
import { makeWorld } from "../world.ts";

const { top } = makeWorld();
const NOTES = { folders: [], commits: "" };

let stores = 0;
/** So many memories, files and cache. */
function filled(count: number): { directory: Directory; entries: RowEntry[] } {
  const directory = directoryAt(path.join(top, `rows-${++stores}`));
  fs.mkdirSync(path.join(directory.path, ".memdir"), { recursive: true, mode: 0o700 });
  const entries = Array.from({ length: count }, (_, i) => entryOf(`m${i}.md`, { name: `Memory ${i}` }));
  for (const { file } of [...entries, { file: "late.md" }]) fs.writeFileSync(path.join(directory.path, file), "text\n");
  expect(writeEntries(directory, entries, NOTES)).toBe(true);
  return { directory, entries };
}

const cached = (directory: Directory) => [...readRowCache(directory, "all").entries.keys()].sort();
const left = ({ path: folder }: Directory) => fs.readdirSync(path.join(folder, ".memdir", "tmp"));

/** Runs all steps, `between` at one of them; how many there were. */
function count(steps: Generator<void, unknown>, between: { at: number; work: () => void } | null = null) {
  for (let turns = 0; ; turns++) {
    if (turns === between?.at) between.work();
    const step = steps.next();
    if (step.done) return { turns, value: step.value };
  }
}

describe("a cache that is written anew", () => {
  it("takes several turns for each memory, with an index and without", () => {
    const { directory, entries } = filled(40);
    expect(count(rewriteInPieces(directory, [], null)).turns).toBeGreaterThan(4 * entries.length);
    const plain = count(writeInPieces(directory, entries, NOTES, null, 1000)).turns;
    const indexed = count(writeInPieces(directory, entries, NOTES, null, 1)).turns;
    expect(indexed - plain).toBeGreaterThan(4 * entries.length);
    expect(cached(directory)).toHaveLength(40);
  });

  it.each([1, 30, 60, 90])("keeps what was appended meanwhile, at turn %i", (at) => {
    const { directory } = filled(20);
    const late = entryOf("late.md", { name: "Late" });
    const work = () => expect(appendEntries(directory, [late])).toBeGreaterThan(0);
    expect(count(rewriteInPieces(directory, [], null), { at, work }).value).toBe(true);
    expect(cached(directory)).toHaveLength(21);
    expect(readRowCache(directory, "all").entries.get("late.md")?.name).toBe("Late");
  });

  it("begins again where another process has written a new one, and both count", () => {
    const { directory, entries } = filled(20);
    const [late, gone] = [entryOf("late.md", {}), entries[3] as RowEntry];
    const work = () => {
      fs.rmSync(path.join(directory.path, gone.file));
      writeEntries(directory, [...entries, late], NOTES);
    };
    const changed = entryOf("m1.md", { name: "Changed" });
    expect(count(rewriteInPieces(directory, [changed], null), { at: 90, work }).value).toBe(true);
    expect(cached(directory)).toHaveLength(20);
    expect(cached(directory)).toContain("late.md");
    expect(cached(directory)).not.toContain(gone.file);
    expect(readRowCache(directory, "all").entries.get("m1.md")?.name).toBe("Changed");
    expect(left(directory)).toEqual([]);
  });

  it("leaves nothing behind when it is given up", () => {
    const { directory } = filled(20);
    const steps = rewriteInPieces(directory, [], null);
    for (let i = 0; i < 90; i++) steps.next();
    expect(left(directory)).toHaveLength(1);
    steps.return(false);
    expect(left(directory)).toEqual([]);
    expect(cached(directory)).toHaveLength(20);
  });
});
