/** What became of words that are no longer in the code: deleted with their file, or removed from one that stays. */

import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { examine } from "../../src/truth/examination.ts";
import { findReach, type Reach } from "../../src/truth/history.ts";
import { openScan } from "../../src/truth/occurrences.ts";
import { beginChanges } from "../../src/truth/removals.ts";
import { makeWorld, type World } from "../world.ts";

function commit(world: World, files: Record<string, string | Buffer | null>): string {
  for (const [file, content] of Object.entries(files)) {
    const at = path.join(world.project, file);
    fs.mkdirSync(path.dirname(at), { recursive: true });
    if (content === null) fs.rmSync(at);
    else fs.writeFileSync(at, content);
  }
  world.git("add", "-A");
  world.git("commit", "-q", "-m", "change");
  return world.git("rev-parse", "--short=10", "HEAD");
}

async function verdicts(world: World, text: string): Promise<string[]> {
  const memory = { file: "m.md", text, written: world.now };
  const { memories } = await examine({ root: world.project, env: world.env }, [memory], {
    names: new Set(),
    today: "2026-03-10",
  });
  return (memories[0]?.findings ?? []).map(
    ({ claim, verdict, evidence }) => `${claim.text} ${verdict}: ${evidence.replace(/ on \d{4}.*$/, "")}`,
  );
}

describe("removals", () => {
  it("tells what went with a deleted file and what was removed from one that stays", async () => {
    const world = makeWorld();
    const rest = "export const kept = 1;\n";
    commit(world, {
      "src/a.ts": "export function goneWithFile() {}\n",
      "src/b.ts": `export function goneByEdit() {}\n${rest}`,
      "src/cli.ts": `parse("--old-flag");\nparse("--dead-flag");\n`,
      "src/use.ts": "goneByEdit();\nlibraryThing();\n",
    });
    const edited = commit(world, { "src/b.ts": rest, "src/cli.ts": `parse("--old-flag");\n` });
    const deleted = commit(world, { "src/a.ts": null, "src/cli.ts": null });
    commit(world, { "src/use.ts": "" });
    const said =
      "`goneWithFile`, `goneByEdit`, `libraryThing`, `neverThing`. Run it with `--old-flag` or `--dead-flag`.";
    const found = await verdicts(world, said);
    expect(found).toContain(`goneWithFile gone: no longer in the code: removed from src/a.ts by ${deleted}`);
    expect(found).toContain(`--old-flag gone: no longer an option: removed from src/cli.ts by ${deleted}`);
    expect(found).toContain(`--dead-flag gone: no longer an option: removed from src/cli.ts by ${edited}`);
    expect(found.find((line) => line.startsWith("goneByEdit"))).toMatch(/^goneByEdit gone: .*src\/b\.ts by /);
    expect(found.filter((line) => /^(?:libraryThing|neverThing)/.test(line))).toEqual([
      "libraryThing unknown: it was never in the code",
      "neverThing unknown: it was never in the code",
    ]);
  });

  it("is not held up by deleted files that are binary, empty, links, giants, or oddly named", async () => {
    const world = makeWorld();
    const code = "export function thing() {}\n";
    const odd = process.platform === "win32" ? "src/odd name.ts" : "src/odd\n:100644 name.ts";
    commit(world, {
      "src/binary.ts": Buffer.from(`export function thing() {}\0\n`),
      "src/empty.ts": "",
      "src/long.ts": `export function thing() {} ${"x".repeat(5_000)}\n`,
      "src/large.ts": "// data\n".repeat(1 << 18),
      [odd]: "export function oddThing() {}\n",
    });
    fs.symlinkSync("empty.ts", path.join(world.project, "src/link.ts"));
    commit(world, { "src/last.ts": code });
    const gone = ["src/binary.ts", "src/empty.ts", "src/long.ts", "src/large.ts", "src/link.ts", odd];
    const deleted = commit(world, Object.fromEntries(gone.map((file) => [file, null])));
    expect(await verdicts(world, "`oddThing()` and `thing()`.")).toEqual([
      expect.stringMatching(`^oddThing.* gone: no longer in the code: removed from src/odd[^]* by ${deleted}$`),
      "thing holds: defined in src/last.ts:1",
    ]);
  });
});

describe("beginChanges", () => {
  it("finds the same whether what was begun ahead is kept or too much, newest first, and can be dropped", async () => {
    const world = makeWorld();
    const texts = ["first", "second", "third", "fourth"].map((word) => `export const ${word}Thing = shared;\n`);
    const hashes = texts.map((text) => commit(world, { "src/a.ts": text }));
    hashes.push(commit(world, { "src/a.ts": "" }));
    const git = { root: world.project, env: world.env };
    const reach = (await findReach(git)) as Reach;
    for (const kept of [undefined, { timeoutMs: 60_000, maxBytes: 10 }]) {
      const { words, isWhole } = await beginChanges(git, reach, kept).search(["firstThing", "shared", "never"]);
      expect(isWhole).toBe(true);
      expect(words.get("never")).toEqual([]);
      expect(words.get("firstThing")?.map((each) => each.commit.hash)).toEqual([hashes[1]]);
      expect(words.get("shared")?.map((each) => each.commit.hash)).toEqual(hashes.slice(1).reverse());
      await beginChanges(git, reach, kept).drop();
    }
  });
});

describe("openScan", () => {
  const find = (words: string[], text: string) => {
    const hits: string[] = [];
    const bytes = Buffer.from(text);
    openScan(words).scan(bytes, 0, bytes.length, (word, at) => void hits.push(`${word}@${at}`));
    return hits;
  };

  it("finds whole words, also such with signs in them, and only those", () => {
    expect(find(["run"], "run dry-run rerun run2 run")).toEqual(["run@0", "run@8", "run@23"]);
    expect(find(["dry-run"], "dry-run run --dry-run dry-run-all sundry-run")).toEqual(["dry-run@0", "dry-run@14"]);
    expect(find(["option-17"], "17 (17) option-17 option-171 x-17")).toEqual(["option-17@8"]);
    expect(find(["option-17", "17"], "17 option-17")).toEqual(["17@0", "option-17@3", "17@10"]);
    expect(find(["@a/b", "x.y"], "b @a/b a/b x.y y")).toEqual(["@a/b@2", "x.y@11"]);
    expect(find(["größe"], "größe Xgröße")).toEqual(["größe@0"]);
    expect(find(["-"], "a - b")).toEqual([]);
  });
});
