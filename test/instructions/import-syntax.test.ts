import fc from "fast-check";
import { Lexer, type Token } from "marked";
import { describe, expect, it } from "vitest";
import { findImports } from "../../src/instructions/imports.ts";
import { stripForClient } from "../../src/text/lines.ts";
import { endsLater } from "../hang.ts";

/** Name of the recorded case, the importing file, and the targets that explain what Claude Code 2.1.325 loaded. */
const RECORDED: [string, string, string[]][] = [
  ["import-after-comment-on-same-line", "<!-- c --> @a.md\n\ntext @b.md <!-- c -->\n", ["a.md", "b.md"]],
  ["import-at-in-name", "@a@b.md @@c.md\n", ["a@b.md", "@c.md"]],
  ["import-backslash-escape", "\\@a.md x\\ @b.md\n", ["b.md"]],
  ["import-crlf-lines", "@a.md\r\n@b.md\r\n", ["a.md", "b.md"]],
  ["import-entity-and-nbsp", "x\u00A0@a.md &#32;@b.md\n", ["a.md"]],
  ["import-escaped-space", "@a\\ b.md\n", ["a b.md"]],
  ["import-fragment", "@a.md#section\n", ["a.md"]],
  ["import-hash-only-and-double-hash", "@a.md# @b.md#x#y\n", ["a.md", "b.md"]],
  ["import-in-emphasis", "**@a.md** and *@b.md* and _@c.md_\n", ["a.md", "b.md", "c.md"]],
  ["import-in-frontmatter", '---\nsee: "@a.md"\nalso: @b.md\n---\nBODY\n', []],
  ["import-in-html-block", "<div>\n@a.md\n</div>\n\n@b.md\n", ["b.md"]],
  ["import-in-html-comment", "<!-- @a.md -->\n\ntext <!-- @b.md --> x\n", []],
  ["import-in-link-text-and-target", "[@a.md](b.md) [x](@c.md) <@d.md>\n", ["a.md"]],
  ["import-in-strikethrough-and-task-list", "- [ ] @a.md\n\n~~@b.md~~\n", ["a.md"]],
  ["import-in-unclosed-fence", "@a.md\n\n```\n@b.md\n\nmore @c.md\n", ["a.md"]],
  ["import-non-ascii-name", "@über.md @記憶.md\n", ["über.md", "記憶.md"]],
  [
    "import-outside-project-not-approved",
    "@../ext.md @/p/abs.md @~/home.md\n",
    ["../ext.md", "/p/abs.md", "~/home.md"],
  ],
  ["import-trailing-comma", "see @a.md, then\n", ["a.md,"]],
  ["import-trailing-dot", "see @a.md.\n", ["a.md."]],
  ["import-trailing-other-punctuation", "@a.md; @b.md! @c.md? @d.md)\n", ["a.md;", "b.md!", "c.md?", "d.md)"]],
  ["import-two-without-space", "@a.md@b.md\n", ["a.md@b.md"]],
];

describe("what explains the files Claude Code was seen to load", () => {
  it.each(RECORDED)("%s", async (_, file, targets) => {
    expect(await findImports(stripForClient(file))).toEqual(targets);
  });
});

describe("findImports", () => {
  it.each<[string, string, string[]]>([
    ["list, quote, heading", "- @a.md\n  - @b.md\n\n> @c.md\n\n# See @d.md\n", ["a.md", "b.md", "c.md", "d.md"]],
    ["table", "| file | why |\n|---|---|\n| @a.md | x |\n", ["a.md"]],
    ["inline HTML", "see <b>@a.md</b>\n", ["a.md"]],
    ["reference link", "see [@a.md][r]\n\n[r]: @b.md\n", ["a.md"]],
    ["code span", "run `x @a.md y` now\n", []],
    ["code span in a list item", "- run `x @a.md y` now\n", []],
    ["indented code", "text\n\n    @a.md\n", []],
    ["fence in a list item", "- one\n\n  ```\n  @a.md\n  ```\n\n@b.md\n", ["b.md"]],
    ["fence with empty lines in it", "```\nx\n\nAnd @a.md\n\n# @b.md\n```\n\n@c.md\n", ["c.md"]],
    ["mail address and brackets", "write to foo@x.md (@a.md)\n", []],
    ["emphasis marks inside a name", "@my_long_name.md\n", ["my_long_name.md"]],
    ["each once", "@a.md @b.md\n\n@a.md#x\n", ["a.md", "b.md"]],
    ["two escaped spaces", "@a\\ b\\ c.md d\n", ["a b c.md"]],
    ["other backslash", "@a\\b.md\n", ["a"]],
    ["nothing but a fragment", "@#x @ @\n", []],
    ["lone carriage returns", "@a.md\r@b.md", ["a.md", "b.md"]],
  ])("%s", async (_, text, targets) => {
    expect(await findImports(text)).toEqual(targets);
  });

  it.each([
    ["quotes", `${"> ".repeat(2 ** 19)}@a.md`],
    ["lists", Array.from({ length: 2000 }, (_, depth) => `${"  ".repeat(depth)}- @a.md\n`).join("")],
    ["brackets", `@a.md ${"[".repeat(2 ** 16)}`],
  ])("neither throws nor hangs on absurdly deep %s", async (_, text) => {
    expect((await endsLater(() => findImports(text))).length).toBeLessThanOrEqual(1);
  });

  it.each([
    ["imports", "@a "],
    ["lines", "@a\n"],
    ["paragraphs", "And @a\n\n"],
    ["one word", "@"],
    ["one path", "@a\\ "],
    ["fences", "```\n@a\n\n"],
  ])("does not hang on a megabyte of %s", async (_, unit) => {
    await endsLater(() => findImports(unit.repeat(2 ** 20 / unit.length)));
  });
});

describe("for any text", () => {
  const calm = [
    ...[
      "@a.md",
      "@b\\ c.md#d",
      "@",
      "x",
      "And",
      "`",
      "``",
      "*",
      "_",
      "[",
      "](",
      ")",
      "\\",
      "#",
      "# ",
      "- ",
      "1. ",
      "> ",
    ],
    ...["|", "---", "===", " ", "  ", "    ", "\t", "\n", "\n", "\n\n", "\n\n", "\n\nAnd ", "\n\n@c.md ", "\n\n# "],
    ...["\n```\n", "\n```\n", "\n````\n", "\n~~~\n", "\n```js\n", "```", "~~~", "\r\n", '"'],
  ];
  const wild = ["<", ">", "]: ", "<!--", "-->", "<div>", "<pre>", "</pre>", "<b>", "\u2028", "  ```\n"];
  const pieces = fc.oneof(
    fc.array(fc.constantFrom(...calm), { maxLength: 40, size: "max" }),
    fc.array(fc.constantFrom(...calm, ...wild), { maxLength: 40, size: "max" }),
  );

  it("finds what the parser finds in the whole of it", async () => {
    await fc.assert(
      fc.asyncProperty(pieces, async (list) => {
        const text = list.join("");
        expect(await findImports(text)).toEqual(importsOfWhole(text));
      }),
      { numRuns: 3000 },
    );
  });

  it("finds only what is written there, each once", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          pieces.map((list) => list.join("")),
          fc.string({ unit: "binary" }),
        ),
        async (text) => {
          const targets = await findImports(text);
          expect(new Set(targets).size).toBe(targets.length);
          for (const target of targets) {
            expect(text).toContain(`@${target.replaceAll(" ", "\\ ")}`);
            expect(target).toMatch(/^[^#]+$/);
          }
        },
      ),
    );
  });
});

/** The same question put to the parser without any short cut. */
function importsOfWhole(text: string): string[] {
  const found = new Set<string>();
  const walk = (token: Token): void => {
    const inner: Token[] | undefined =
      token.type === "list" ? token.items : "tokens" in token ? token.tokens : undefined;
    if (inner) inner.forEach(walk);
    else if (token.type === "text") for (const target of targetsIn(token.raw)) found.add(target);
  };
  Lexer.lex(text, { gfm: false }).forEach(walk);
  return [...found];
}

function targetsIn(run: string): string[] {
  const targets: string[] = [];
  for (let at = run.indexOf("@"); at >= 0; at = run.indexOf("@", at + 1)) {
    if (at > 0 && run[at - 1]?.trim() !== "") continue;
    let target = "";
    while (++at < run.length && run[at]?.trim() !== "") {
      if (run[at] !== "\\") target += run[at];
      else if (run[at + 1] === " ") target += run[at++ + 1];
      else break;
    }
    const path = target.includes("#") ? target.slice(0, target.indexOf("#")) : target;
    if (path !== "") targets.push(path);
  }
  return targets;
}
