/** What became of words that are no longer in the code: deleted with their file, or removed from one that stays. */

import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { examine } from "../../src/truth/examination.ts";
import { readHistory } from "../../src/truth/history.ts";
import { openScan } from "../../src/truth/occurrences.ts";
import { searchPast } from "../../src/truth/removals.ts";
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

describe("names in capitals", () => {
  it("are variables where they are read by name or set for a program, and constants where the code defines them", async () => {
    const world = makeWorld();
    commit(world, {
      "src/a.py": 'MAX_TRIES = 3\nURL = os.environ["OLD_URL"]\n',
      "deploy.yml": "env:\n  POOL_SIZE: 4\n",
      "src/b.ts": "export const KEPT_LIMIT = 5;\n",
    });
    commit(world, { "src/a.py": "\n", "deploy.yml": "env:\n" });
    const memory = { file: "m.md", text: "`MAX_TRIES`, `OLD_URL`, `POOL_SIZE`, `KEPT_LIMIT`.\n", written: world.now };
    const { memories } = await examine({ root: world.project, env: world.env }, [memory], {
      names: new Set(),
      today: "2026-03-10",
    });
    const found = memories[0]?.findings.map(({ claim, verdict }) => `${claim.kind} ${claim.text} ${verdict}`);
    expect(found).toEqual([
      "constant MAX_TRIES gone",
      "env OLD_URL gone",
      "env POOL_SIZE gone",
      "constant KEPT_LIMIT holds",
    ]);
  });
});

describe("searchPast", () => {
  it("tells the newest removal of each word in each file", async () => {
    const world = makeWorld();
    const texts = ["first", "second", "third", "fourth"].map((word) => `export const ${word}Thing = shared;\n`);
    const hashes = texts.map((text) => commit(world, { "src/a.ts": text }));
    hashes.push(commit(world, { "src/a.ts": "" }));
    const git = { root: world.project, env: world.env };
    const { changes } = await readHistory(git, {});
    const { words, isWhole } = await searchPast(git, changes, ["firstThing", "shared", "never"]);
    expect(isWhole).toBe(true);
    expect(words.get("never")).toEqual([]);
    expect(words.get("firstThing")?.map((each) => each.commit.hash)).toEqual([hashes[1]]);
    // The same use of a name in the same file: the newest one.
    expect(words.get("shared")?.map((each) => each.commit.hash)).toEqual([hashes.at(-1)]);
  });

  it("compares versions of a long file by what differs, and counts a moved line as kept", async () => {
    const world = makeWorld();
    const filler = (from: number) => Array.from({ length: 400 }, (_, i) => `step(${from + i});`);
    const text = (...middle: string[]) =>
      ["const top = alpha();", ...filler(0), ...middle, ...filler(400), "omega();", ""].join("\n");
    commit(world, { "src/a.ts": text("const one = alpha();", "beta();", "gamma();") });
    const beta = commit(world, { "src/a.ts": text("gamma();", "const one = alpha();") });
    const gamma = commit(world, { "src/a.ts": text("const one = alpha();") });
    const one = commit(world, { "src/a.ts": text() });
    const git = { root: world.project, env: world.env };
    const { changes } = await readHistory(git, {});
    const { words } = await searchPast(git, changes, ["alpha", "beta", "gamma", "omega", "one", "a"]);
    const removed = (word: string) => words.get(word)?.map(({ commit: { hash }, usage }) => `${hash} ${usage}`);
    expect(removed("beta")).toEqual([`${beta} code`]);
    expect(removed("gamma")).toEqual([`${gamma} code`]);
    expect(removed("alpha")).toEqual([`${one} code`]);
    expect(removed("one")).toEqual([`${one} definition`]);
    expect(removed("omega")).toEqual([]);
  });

  it("says so when texts are missing, as in a partial clone", async () => {
    const world = makeWorld();
    commit(world, { "src/a.ts": "export const goneThing = 1;\n" });
    const blob = world.git("rev-parse", "HEAD:src/a.ts");
    commit(world, { "src/a.ts": "export const other = 1;\n" });
    fs.rmSync(path.join(world.project, ".git/objects", blob.slice(0, 2), blob.slice(2)));
    const git = { root: world.project, env: world.env };
    const { changes } = await readHistory(git, {});
    const { words, isWhole } = await searchPast(git, changes, ["goneThing", "other"]);
    expect([isWhole, words.get("goneThing")]).toEqual([false, []]);
  });
});

describe("openScan", () => {
  const find = (words: string[], text: string) => {
    const hits: string[] = [];
    const bytes = Buffer.from(text);
    openScan(words)(bytes, 0, bytes.length, (word, at) => void hits.push(`${word}@${at}`));
    return hits.sort((a, b) => Number(a.split("@").at(-1)) - Number(b.split("@").at(-1)));
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
