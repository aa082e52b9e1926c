import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { matchesPaths, readRulePaths } from "../../src/instructions/rule-paths.ts";
import { ends } from "../hang.ts";

const rule = (frontmatter: string) => `---\n${frontmatter}\n---\nRULE\n`;

/** "always", "never", or the patterns. */
function summary(text: string): string | string[] {
  const read = readRulePaths(text);
  return read.kind === "when" ? read.patterns : read.kind;
}

/** Name of the recorded case, the file, and when Claude Code 2.1.325 loaded it. */
const RECORDED: [string, string, string | string[]][] = [
  ["rules-plain", "RULE A\n", "always"],
  ["rules-globs-key-ignored", rule("globs: src/**"), "always"],
  ["rules-malformed-frontmatter", rule("paths: [unclosed"), "never"],
  ["rules-malformed-frontmatter-without-paths", rule('title: "unclosed'), "always"],
  ["rules-other-frontmatter-stripped", "---\ndescription: d\nalwaysApply: true\n---\n\nRULE\n", "always"],
  ["rules-paths-braces-with-comma-in-string", rule('paths: "{src,lib}/**/*.{js,mjs}"'), ["{src,lib}/**/*.{js,mjs}"]],
  ["rules-paths-comma-string", rule('paths: "lib/*.py, docs/*.md"'), ["lib/*.py", "docs/*.md"]],
  ["rules-paths-crlf-frontmatter", "---\npaths: src/**\r\ntitle: x\r\n---\nRULE\n", ["src/**"]],
  ["rules-paths-dot-slash", rule("paths: ./src/a.ts"), "never"],
  ["rules-paths-list-of-braces-unquoted", rule("paths:\n  - {src,lib}/**"), "always"],
  ["rules-paths-list-with-comma-items", rule('paths:\n  - "lib/*.py, docs/*.md"'), ["lib/*.py", "docs/*.md"]],
  ["rules-paths-match-all", rule('paths: "**"'), "always"],
  ["rules-paths-match-all-in-list", rule('paths:\n  - "**"\n  - src/*.ts'), ["**", "src/*.ts"]],
  ["rules-paths-match-all-slash-star", rule('paths: "**/*"'), ["**/*"]],
  ["rules-paths-multi-line-string", rule("paths: |\n  lib/*.py\n  docs/*.md"), ["lib/*.py\ndocs/*.md"]],
  ["rules-paths-negation", rule('paths:\n  - "src/**"\n  - "!src/gen/**"'), ["src/**", "!src/gen/**"]],
  ["rules-paths-number-value", rule("paths: 42"), "always"],
  ["rules-paths-question-mark-and-class", rule('paths: ["a?.ts", "b[0-9].ts"]'), ["a?.ts", "b[0-9].ts"]],
  ["rules-paths-string-loads-on-read", rule("paths: src/**/*.ts"), ["src/**/*.ts"]],
  ["rules-paths-unquoted-star", rule("paths: **/*.ts"), ["**/*.ts"]],
  ["rules-paths-upper-key", rule("Paths: src/**"), "always"],
  ["rules-paths-yaml-list", rule('paths:\n  - lib/**/*.py\n  - "docs/*.md"'), ["lib/**/*.py", "docs/*.md"]],
];

describe("what Claude Code was seen to load", () => {
  it.each(RECORDED)("%s", (_, text, expected) => {
    expect(summary(text)).toEqual(expected);
  });
});

describe("the same rules elsewhere", () => {
  it.each<[string, string | string[]]>([
    ["paths:", "always"],
    ['paths: ""', "always"],
    ["paths: []", "always"],
    ["paths: ','", "always"],
    ["paths: true", "always"],
    ["paths: ~", "always"],
    ["paths: {a: b}", "always"],
    ["paths:\n  a: b", "always"],
    ["paths: [42, null]", "always"],
    ['paths: "42"', ["42"]],
    ["paths: /**", "always"],
    ['paths: ["**", "**/**"]', "always"],
    ["paths: src/** # the sources", ["src/**"]],
    ["paths: # the sources\n  - src/**", ["src/**"]],
    ["paths:\n- src/**\n- 'lib/**' # mine", ["src/**", "lib/**"]],
    ["paths: [src/**, 'lib/**']", ["src/**", "lib/**"]],
    ["paths: [\n  src/**,\n  lib/**,\n]", ["src/**", "lib/**"]],
    ["paths: >\n  src/**,\n  lib/**", ["src/**", "lib/**"]],
    ["paths: src/*.{ts,tsx}, lib", ["src/*.{ts,tsx}", "lib"]],
    ["paths: {src,lib}/**", ["{src,lib}/**"]],
    ["paths:\n  - src/**\n  - a: b\n  - 7", ["src/**"]],
    // Mended line by line: quotes around the values with special characters are enough here …
    ["description: API: use it\npaths:\n  - src/**", ["src/**"]],
    ["description: @team\npaths: src/**", ["src/**"]],
    // … and here they are not, so nothing of the frontmatter counts.
    ['title: "unclosed\npaths: src/**', "always"],
    ["paths:\n  - **/*.ts", "always"],
    ["no key here\npaths: src/**", "always"],
    ["paths:src/**", "always"],
    // A list in brackets becomes a text once quotes are put around it.
    ["description: @team\npaths: [src/**]", "never"],
    ['paths: "!src/**"', "never"],
    ['paths: "../a, ./b"', "never"],
    ['paths: "./a, b"', ["./a", "b"]],
  ])("%j", (frontmatter, expected) => {
    expect(summary(rule(frontmatter))).toEqual(expected);
    expect(summary(rule(frontmatter).replaceAll("\n", "\r\n"))).toEqual(expected);
  });

  it("ends the frontmatter where the client ends it", () => {
    expect(summary("---\npaths: src/** --- x\n---\n")).toEqual(["src/**"]);
    expect(summary("\uFEFF---\npaths: src/**\n---")).toEqual(["src/**"]);
    expect(summary("\n---\npaths: src/**\n---\n")).toBe("always");
    expect(summary("---\npaths: src/**\n")).toBe("always");
  });
});

describe("problems", () => {
  it("has none for a sound file", () => {
    for (const text of ["", "RULE", rule("paths: src/**"), rule('paths: ["a", "!b"]'), rule("title: x")]) {
      expect(readRulePaths(text).problems).toEqual([]);
    }
  });

  it.each([
    [rule("paths: [unclosed"), /never closed/],
    [rule("paths:\n  - **/*.ts"), /loaded at start/],
    [rule("paths: ./src"), /write "src"/],
    [rule("paths: ../src"), /above the rule's own directory/],
    [rule("paths: |\n  a\n  b"), /spans lines/],
    [rule(`paths: "${"{a,b}".repeat(20)}"`), /too many alternatives/],
    [rule('paths: "!a"'), /names none/],
    ["---\npaths: src/**\n", /no closing/],
  ])("%j", (text, expected) => {
    expect(readRulePaths(text).problems.join("\n")).toMatch(expected);
  });

  it("stay few and short for hostile patterns", () => {
    const { problems } = readRulePaths(rule(`paths: "./{${Array.from({ length: 900 }, (_, i) => i).join(",")}}"`));
    expect(problems.join("").length).toBeLessThan(1_000);
  });
});

describe("any text", () => {
  const piece = fc.constantFrom(
    "paths",
    ":",
    " ",
    "\n",
    "\r\n",
    "  ",
    "- ",
    "[",
    "]",
    "{",
    "}",
    '"',
    "'",
    "*",
    "a",
    ",",
    "#",
    "!",
    "|",
    "---",
  );

  it("never throws, and what applies sometimes can match", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(piece).map((p) => rule(`paths: ${p.join("")}`)),
        ),
        (text) => {
          const read = readRulePaths(text);
          if (read.kind === "never") expect(read.problems).toContain(read.problem);
          if (read.kind === "when") expect(typeof matchesPaths(read.patterns, "a/b")).toBe("boolean");
        },
      ),
    );
  });

  it("reads back any plain names", () => {
    const name = fc.stringMatching(/^[a-z][a-z0-9/._*-]{0,20}[a-z]$/).filter((n) => !/^(true|false|null)$/.test(n));
    fc.assert(
      fc.property(fc.array(name, { minLength: 1 }), (names) => {
        const patterns = names.map((n) => n.replaceAll(/\/[./]*/g, "/x"));
        for (const text of [
          patterns.join(", "),
          `[${patterns.join(", ")}]`,
          patterns.map((p) => `\n  - ${p}`).join(""),
        ]) {
          expect(summary(rule(`paths: ${text}`))).toEqual(patterns);
        }
      }),
    );
  });

  it.each([
    ["blanks in a list", `paths: ["a"${" ".repeat(100_000)}b]`],
    ["an open quote", `paths: ["${"\\a".repeat(50_000)}`],
    ["open brackets", `paths: ${"[".repeat(100_000)}`],
    ["items", `paths:${"\n  - a".repeat(20_000)}`],
    ["blank lines", `paths:${"\n".repeat(100_000)}`],
    ["commas", `paths: "${",".repeat(100_000)}"`],
    ["colons", `paths: ${": ".repeat(50_000)}`],
    ["hashes", `paths:\n  - a${" #".repeat(50_000)}`],
    ["dashes", `paths: ${"---x".repeat(25_000)}`],
  ])("100 KB of %s do not hang", (_, frontmatter) => {
    ends(() => readRulePaths(rule(frontmatter)));
  });
});
