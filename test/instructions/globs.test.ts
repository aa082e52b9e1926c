import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canMatch, expandPatterns, matchesPaths } from "../../src/instructions/rule-paths.ts";
import { ends } from "../hang.ts";

/** Name of the recorded case, the patterns, the file relative to their base, and whether Claude Code 2.1.325 loaded the rule. */
const RECORDED: [string, string[], string, boolean][] = [
  ["nested-rules-paths-relative-to", ["src/**"], "src/a.ts", true],
  ["nested-rules-paths-relative-to", ["sub/src/**"], "src/a.ts", false],
  ["parent-rules-paths-load-on-read", ["repo/src/**"], "repo/src/a.ts", true],
  ["parent-rules-paths-load-on-read", ["src/**"], "repo/src/a.ts", true],
  ["rules-paths-absolute", ["/tmp/root/repo/src/**"], "src/a.ts", false],
  ["rules-paths-bare-name-any-depth", ["package.json"], "pkg/one/package.json", true],
  ["rules-paths-base-of-parent-rule-anchored", ["/src/a.ts"], "repo/src/a.ts", false],
  ["rules-paths-base-of-parent-rule-anchored", ["/repo/src/a.ts"], "repo/src/a.ts", true],
  ["rules-paths-brace-glob-loads-on-read", ["src/**/*.{ts,tsx}"], "src/a.js", false],
  ["rules-paths-brace-glob-loads-on-read", ["src/**/*.{ts,tsx}"], "src/a.tsx", true],
  ["rules-paths-braces-with-comma-in-string", ["{src,lib}/**/*.{js,mjs}"], "lib/x/a.mjs", true],
  ["rules-paths-case", ["SRC/*.TS"], "src/a.ts", true],
  ["rules-paths-comma-string", ["lib/*.py", "docs/*.md"], "x/a.py", false],
  ["rules-paths-comma-string", ["lib/*.py", "docs/*.md"], "docs/a.md", true],
  ["rules-paths-dot-slash", ["./src/a.ts"], "src/a.ts", false],
  ["rules-paths-double-star-slash-name", ["**/test/**"], "a/test/b.ts", true],
  ["rules-paths-file-outside-project", ["**/*.ts"], "../elsewhere/a.ts", false],
  ["rules-paths-leading-slash", ["/src/a.ts"], "src/a.ts", true],
  ["rules-paths-match-all-in-list", ["**", "src/*.ts"], "lib/a.ts", true],
  ["rules-paths-match-all-slash-star", ["**/*"], "src/a.ts", true],
  ["rules-paths-multi-line-string", ["lib/*.py\ndocs/*.md"], "docs/a.md", false],
  ["rules-paths-negation", ["src/**", "!src/gen/**"], "src/gen/a.ts", true],
  ["rules-paths-nested-braces", ["src/{a,b{c,d}}/*.ts"], "src/bd/a.ts", false],
  ["rules-paths-not-loaded-at-start", ["src/**"], "other.ts", false],
  ["rules-paths-numeric-range-braces", ["v{1..3}/*.ts"], "v2/a.ts", false],
  ["rules-paths-question-mark-and-class", ["a?.ts", "b[0-9].ts"], "b7.ts", true],
  ["rules-paths-string-loads-on-read", ["src/**/*.ts"], "lib/b.ts", false],
  ["rules-paths-string-loads-on-read", ["src/**/*.ts"], "src/a/b.ts", true],
  ["rules-paths-yaml-list", ["lib/**/*.py", "docs/*.md"], "z.md", false],
  ["rules-paths-yaml-list", ["lib/**/*.py", "docs/*.md"], "lib/q/a.py", true],
  ["user-rules-paths-base-repo-root", ["sub/src/*.ts"], "src/b.ts", false],
];

describe("what Claude Code was seen to match", () => {
  it.each(RECORDED)("%s: %j and %s: %s", (_, patterns, file, matched) => {
    expect(matchesPaths(patterns, file)).toBe(matched);
  });
});

describe("the same rules elsewhere", () => {
  it.each<[string[], string, boolean]>([
    [["src"], "a/SRC/b/c.ts", true],
    [["src/"], "a/src/c.ts", true],
    [["src/"], "a/src", false],
    [["src/*"], "src/a/b.ts", true],
    [["src/*.ts"], "x/src/a.ts", false],
    [["src/*.ts"], "src/x/a.ts", false],
    [["src/**/**"], "src/a/b.ts", true],
    [["src/**/**"], "x/src/a.ts", false],
    [["a/**/b"], "a/b", true],
    [["a/**/b"], "a/x/y/b/z", true],
    [["a/**/b"], "x/a/b", false],
    [["*.ts"], ".hidden.ts", true],
    [["a**b"], "axxb", true],
    [["a*b/c"], "ax/b/c", false],
    [["a?c"], "a/c", false],
    [["[!a]b"], "cb", true],
    [["[!a]b"], "ab", false],
    [["[A-C]x"], "bX", true],
    [["[z-a]"], "m", false],
    [["[open"], "[open", false],
    [["[]x"], "x", false],
    [["a\\*"], "a*", true],
    [["a\\*"], "ab", false],
    [["\\!a"], "!a", true],
    [["#a"], "#a", false],
    [["\\#a"], "#a", true],
    [["src/*.ts", "!src/gen.ts"], "src/gen.ts", false],
    [["src/*.ts", "!src/gen.ts", "gen.ts"], "src/gen.ts", true],
    [["!src/gen.ts", "src/*.ts"], "src/gen.ts", true],
    [["!a"], "b", false],
    [["@(a|b).ts"], "a.ts", false],
    [["a{,.test}.ts"], "a.ts", true],
    [["*.{ts, tsx}"], "a.tsx", true],
    [["*.{ts}"], "a.ts", true],
    [["{a,b"], "a", false],
    [["{}/{a,b}"], "{}/a", false],
    [["../a"], "a", false],
    [["a//b"], "a/b", false],
    [["/"], "a", false],
    [["!"], "a", false],
    [["*"], "", false],
    [["*"], "/a", false],
    [["*"], "./a", false],
  ])("%j and %s: %s", (patterns, file, matched) => {
    expect(matchesPaths(patterns, file)).toBe(matched);
  });
});

describe("canMatch", () => {
  it.each(["./a", "../a", "a/./b", "[a", "#a", "a\\", "!a", "/", ""])("no file can match %j", (pattern) => {
    expect(canMatch(pattern)).toBe(false);
  });
});

describe("budget", () => {
  it("takes a thousand alternatives and refuses one more", () => {
    const group = (count: number) => `{${Array.from({ length: count }, (_, i) => `n${i}`).join(",")}}`;
    expect(matchesPaths([group(1_000)], "n999")).toBe(true);
    expect(matchesPaths([group(1_001)], "n0")).toBe(false);
    expect(matchesPaths([group(50) + group(50)], "n1n1")).toBe(false);
  });

  it("refuses one pattern and keeps the others", () => {
    const hostile = "{a,b}".repeat(20);
    expect(expandPatterns([hostile, "src/{a,b}/**"])).toEqual({ patterns: ["src/a", "src/b"], refused: [hostile] });
  });
});

const HOSTILE: [string, string][] = [
  ["stars", "*a".repeat(5_000)],
  ["globstars", "**/a/".repeat(2_000)],
  ["globstars and stars", "**/*a*/".repeat(1_400)],
  ["one long literal behind a star", `*${"a".repeat(120)}b,`.repeat(80)],
  ["groups", "{a,b}".repeat(2_000)],
  ["groups of one", "{a}".repeat(3_333)],
  ["open braces", "{".repeat(10_000)],
  ["nested braces", `${"{a,".repeat(2_500)}${"}".repeat(2_500)}`],
  ["commas", `{${",".repeat(10_000)}}`],
  ["open classes", "[".repeat(10_000)],
  ["classes", "[a-z]".repeat(2_000)],
  ["backslashes", "\\".repeat(9_999)],
  ["question marks", "?".repeat(10_000)],
];

describe("hostile patterns of 10 KB do not hang", () => {
  const deep = Array.from({ length: 2_000 }, () => "a").join("/");
  const long = Array.from({ length: 16 }, () => "a".repeat(255)).join("/");
  it.each(HOSTILE)("%s", (_, pattern) => {
    for (const file of [deep, long]) {
      ends(() => matchesPaths([pattern, `${pattern}b`, `x/${pattern}`], file));
      ends(() => matchesPaths(pattern.split(","), file));
    }
  });
});

describe("any patterns and files", () => {
  const piece = fc.constantFrom("a", "B", "*", "**", "/", "?", "[", "]", "!", "{", "}", ",", "\\", "-", ".", "#", " ");
  const glob = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(""));
  const file = fc.array(fc.constantFrom("a", "b", "ab", "A.b"), { minLength: 1, maxLength: 6 }).map((p) => p.join("/"));

  it("never throw", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(glob, fc.string())), fc.oneof(file, fc.string()), (patterns, path) => {
        expect(typeof matchesPaths(patterns, path)).toBe("boolean");
      }),
    );
  });

  it("match alike in capitals, and below what they match", () => {
    fc.assert(
      fc.property(fc.array(glob), file, (patterns, path) => {
        const matched = matchesPaths(patterns, path);
        expect(matchesPaths(patterns, path.toUpperCase())).toBe(matched);
        // `!a/` takes back the folder, and not the file of that name.
        const takesBack = patterns.some((pattern) => pattern.includes("!"));
        if (matched && !takesBack) expect(matchesPaths(patterns, `${path}/below`)).toBe(true);
      }),
    );
  });

  it("match nothing when no pattern can", () => {
    fc.assert(
      fc.property(fc.array(glob), file, (patterns, path) => {
        if (!expandPatterns(patterns).patterns.some(canMatch)) expect(matchesPaths(patterns, path)).toBe(false);
      }),
    );
  });

  it("a name matches itself, at any depth", () => {
    fc.assert(
      fc.property(file, file, (folder, name) => {
        expect(matchesPaths([`**/${name}`], `${folder}/${name}`)).toBe(true);
      }),
    );
  });
});
