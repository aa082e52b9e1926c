import fs from "node:fs";
import { expect, it } from "vitest";

import { freshenShelf, openShelf } from "../../src/recall/shelf.ts";
import { termsOf } from "../../src/text/terms.ts";
import { hashOf } from "../../src/text/fnv.ts";
import { makeWorld } from "../world.ts";

it("a giant is found by its beginning, and never read whole", async () => {
  const world = makeWorld();
  const head = "---\nname: giant\ndescription: where zebras sleep\ntype: reference\n---\n\nOkapis graze at the gate.\n";
  world.write("giant.md", head);
  // More than can be read at once; nothing of it is on disk.
  fs.truncateSync(world.path("giant.md"), 3 * 2 ** 30);
  const shelf = openShelf((await world.open()).directories);
  await freshenShelf(shelf, 0);
  const [entry] = shelf.corpus.entries;
  expect(entry).toMatchObject({ file: "giant.md", type: "reference", size: 3 * 2 ** 30 });
  const terms = new Set(entry?.terms);
  for (const term of [...termsOf("zebras"), ...termsOf("okapis")]) expect(terms.has(hashOf(term))).toBe(true);
  expect(world.logged).toEqual([]);
});
