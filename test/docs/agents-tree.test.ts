/** AGENTS.md lists every file of src/ with a line that says what it is. */
import { describe, expect, it } from "vitest";
import { build, files, read } from "../../scripts/agents-tree.mjs";

const REMEDY = "give the file an opening comment if it has none, then run: node scripts/agents-tree.mjs";

describe("the tree in AGENTS.md", () => {
  const lines = read().split("\n").filter(Boolean);
  const listed = lines.map((line) => line.split(/\s+/)[0]);

  it("lists every file of src/", () => {
    expect(
      files().filter((file) => !listed.includes(file)),
      REMEDY,
    ).toEqual([]);
  });

  it("lists nothing that does not exist", () => {
    expect(
      listed.filter((file) => !files().includes(file ?? "")),
      REMEDY,
    ).toEqual([]);
  });

  it("says what each file is", () => {
    expect(
      lines.filter((line) => !/^\S+ {2,}\S/.test(line)),
      REMEDY,
    ).toEqual([]);
  });

  it("says what the files themselves say", () => {
    expect(read(), REMEDY).toBe(build());
  });
});
