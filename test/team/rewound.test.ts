/** Stores that went backwards: a restored backup, a rewound branch, a failover that lost its last writes. */

import fs from "node:fs";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { forgetMemory } from "../../src/memory/forget.ts";
import { syncDirectory } from "../../src/team/sync.ts";
import { makeTemporary } from "../temporary.ts";
import { makePlace, type Place, type PlaceKind } from "./places.ts";
import { directoryAt } from "./sync-world.ts";

const text = (a: string, b: string) =>
  `---\nname: plan\ndescription: the plan\ntype: project\n---\n\n# One\n\n${a}\n\n# Two\n\n${b}\n`;

const places: Place[] = [];
afterEach(() => {
  for (const place of places.splice(0)) place.cleanup();
});

async function makeTeam(kind: PlaceKind) {
  const top = makeTemporary("rewound", "memory");
  const clock = { now: new Date("2026-03-10T12:00:00.000Z") };
  const place = await makePlace(kind, top, () => clock.now);
  places.push(place);
  const client = (name: string) => {
    const directory = directoryAt(path.join(top, name), clock);
    const remote = place.open(name);
    const at = path.join(directory.path, "plan.md");
    return {
      directory,
      write(words: string): void {
        fs.mkdirSync(directory.path, { recursive: true });
        fs.writeFileSync(at, words);
      },
      read: () => fs.readFileSync(at, "utf8"),
      /** All memories here, by their texts. */
      texts: () =>
        fs
          .readdirSync(directory.path)
          .filter((name) => name.endsWith(".md") && name !== "MEMORY.md")
          .map((name) => fs.readFileSync(path.join(directory.path, name), "utf8"))
          .join("\n"),
      sync: () => syncDirectory({ directory, remote, who: name, findSecrets: () => [] }),
    };
  };
  const [ann, bob] = [client("ann"), client("bob")];
  ann.write(text("a", "b"));
  await ann.sync();
  await bob.sync();
  const forget = async () => {
    await forgetMemory(ann.directory, "plan.md");
    await ann.sync();
    await bob.sync();
  };
  return { ann, bob, backUp: place.backUp, forget };
}

const TOLD = expect.stringContaining("had accepted");

describe.each(["memory", "disk", "server", "git"] as const)("a store that went backwards: %s", (kind) => {
  it("gets the newer text again, and the person is told", async () => {
    const { ann, bob, backUp } = await makeTeam(kind);
    const restore = backUp();
    ann.write(text("newer", "b"));
    expect((await ann.sync()).pushed).toEqual(["plan.md"]);
    expect((await bob.sync()).pulled).toEqual(["plan.md"]);
    restore();
    const result = await ann.sync();
    expect(result).toMatchObject({ pulled: [], merged: ["plan.md"], conflicts: [], notices: [TOLD] });
    expect(ann.read()).toBe(text("newer", "b"));
    await bob.sync();
    expect(bob.read()).toBe(text("newer", "b"));
    expect((await ann.sync()).notices).toEqual([]);
  });

  it("and took other changes since: both are kept", async () => {
    const { ann, bob, backUp } = await makeTeam(kind);
    const restore = backUp();
    ann.write(text("ann's", "b"));
    await ann.sync();
    restore();
    bob.write(text("a", "bob's"));
    await bob.sync();
    // Its number may be the one that ann's text had.
    const result = await ann.sync();
    expect(result).toMatchObject({ merged: ["plan.md"], conflicts: [], notices: [TOLD] });
    expect(ann.read()).toBe(text("ann's", "bob's"));
  });

  it("and took another change of the same lines: ours is kept as a copy", async () => {
    const { ann, bob, backUp } = await makeTeam(kind);
    const restore = backUp();
    for (const words of ["one", "two", "three"]) {
      ann.write(text(words, "b"));
      await ann.sync();
    }
    restore();
    bob.write(text("bob's", "b"));
    await bob.sync();
    const result = await ann.sync();
    expect(result.conflicts).toHaveLength(1);
    expect(result.notices).toContainEqual(TOLD);
    expect(ann.read()).toBe(text("bob's", "b"));
    expect(ann.texts()).toContain("three");
    await bob.sync();
    expect(bob.texts()).toContain("three");
  });

  it("loses no line that was agreed on to a merge", async () => {
    const { ann, backUp } = await makeTeam(kind);
    const restore = backUp();
    ann.write(text("agreed", "b"));
    await ann.sync();
    restore();
    ann.write(text("agreed", "and more"));
    await ann.sync();
    expect(ann.read()).toBe(text("agreed", "and more"));
  });

  it("to before a text that was there twice", async () => {
    const { ann, backUp } = await makeTeam(kind);
    ann.write(text("other", "b"));
    await ann.sync();
    const restore = backUp();
    ann.write(text("a", "b"));
    await ann.sync();
    restore();
    expect((await ann.sync()).notices).toEqual([TOLD]);
    expect(ann.read()).toBe(text("a", "b"));
  });

  it("to where the memory was removed", async () => {
    const { ann, bob, backUp, forget } = await makeTeam(kind);
    await forget();
    const restore = backUp();
    ann.write(text("written again", "b"));
    await ann.sync();
    await bob.sync();
    restore();
    const result = await bob.sync();
    expect(result).toMatchObject({ pushed: ["plan.md"], removed: { here: [], there: [] } });
    expect(bob.read()).toBe(text("written again", "b"));
    await ann.sync();
    expect(ann.read()).toBe(text("written again", "b"));
  });

  it("does not keep a colleague from going back to an earlier text", async () => {
    const { ann, bob } = await makeTeam(kind);
    ann.write(text("other", "b"));
    await ann.sync();
    await bob.sync();
    bob.write(text("a", "b"));
    await bob.sync();
    expect(await ann.sync()).toMatchObject({ pulled: ["plan.md"], notices: [] });
    expect(ann.read()).toBe(text("a", "b"));
  });
});
