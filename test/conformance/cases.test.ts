/** What the real client was seen to load, case by case, byte for byte. */

import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { openMemdir } from "../../src/open.ts";
import { type Block, buildCase, type Recorded, sameText } from "./case.ts";

const folder = path.resolve(import.meta.dirname, "../fixtures/conformance");
const cases = fs
  .readdirSync(folder)
  .map((name) => JSON.parse(fs.readFileSync(path.join(folder, name), "utf8")) as Recorded)
  .filter((recorded) => recorded.case && recorded.expect)
  .filter(({ case: { nonRoot } }) => !nonRoot || process.getuid?.() !== 0);

describe("Claude Code 2.1.325", () => {
  it.each(cases.map((recorded) => [recorded.case.name, recorded] as const))("%s", async (_, recorded) => {
    const now = Date.now();
    const built = buildCase(recorded.case, now);
    const { expand } = built;
    try {
      const context = await openCase(built, recorded, now);
      compareBlocks(context.instructions, recorded.expect.startup, recorded.expect.startupUnordered, expand, true);
      if (recorded.case.checkNested !== false) {
        compareBlocks(context.nested, recorded.expect.nested.flat(), recorded.expect.nestedUnordered, expand, false);
        expect(context.recallAge).toEqual(
          recorded.expect.recallAge.map((each) => ({ ...each, path: expand(each.path) })),
        );
      }
      const { dir, warning, indexLoaded, indexContentLoaded } = recorded.expect.memory;
      expect(context.memory.dir).toBe(dir === null ? null : expand(dir));
      expect(sameText(indexLoaded ? indexContentLoaded : null, context.memory.index, expand)).toBe(true);
      expect(context.memory.truncated).toBe(warning !== null);
      expect(context.memory.warning?.lines ?? null).toBe(warning?.lines ?? null);
      expect(sizeOf(context.memory.warning?.chars ?? null)).toBe(warning?.size ?? null);
    } finally {
      built.remove();
    }
  });
});

async function openCase(built: ReturnType<typeof buildCase>, recorded: Recorded, now: number) {
  const values = (name: string) => built.args.flatMap((arg, i) => (built.args[i - 1] === name ? [arg] : []));
  const sources = values("--setting-sources")[0]?.split(",") as ("user" | "project" | "local")[] | undefined;
  const memdir = await openMemdir({
    cwd: built.cwd,
    env: built.env,
    now: () => new Date(now),
    ...(sources ? { settingSources: sources } : {}),
  });
  const touched = recorded.case.checkNested === false ? [] : built.touched;
  return memdir.context(touched, { addDirs: values("--add-dir") });
}

/** Positions in one group came in the order of the disk: any order within it is right. */
function compareBlocks(
  got: readonly Block[],
  want: readonly Block[],
  groups: readonly number[][],
  expand: (text: string) => string,
  withLabel: boolean,
): void {
  const groupOf = (at: number) => groups.find((group) => group.includes(at)) ?? [at];
  const key = (block: Block, at: number) => `${groupOf(at).join()} ${expand(block.path)}`;
  expect(got.map(key).sort()).toEqual(want.map(key).sort());
  for (const block of want) {
    const found = got.find((each) => each.path === expand(block.path));
    if (withLabel) expect(found?.label).toBe(block.label);
    expect(
      sameText(block.content, found?.content as string, expand),
      `${block.path}: ${JSON.stringify(found?.content)}`,
    ).toBe(true);
  }
}

function sizeOf(chars: number | null): string | null {
  return chars === null ? null : `${Math.round((chars / 1024) * 10) / 10}KB`;
}
