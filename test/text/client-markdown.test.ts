import fc from "fast-check";
import { Lexer } from "marked";
import { describe, expect, it } from "vitest";
import { stripBlockComments, stripForClient, stripFrontmatter } from "../../src/text/lines.ts";
import { ends } from "../hang.ts";

/** Name of the recorded case, the file, and what Claude Code 2.1.325 showed of it. */
const RECORDED: [string, string, string][] = [
  ["bom-before-frontmatter", "\uFEFF---\ntitle: x\n---\nBODY\n", "BODY"],
  ["crlf-file", "one\r\ntwo\r\n\r\nthree\r\n", "one\r\ntwo\r\n\r\nthree"],
  ["crlf-with-comment-normalises", "a\r\nb\r\n<!-- x -->\r\nc\r\n", "a\nb\nc"],
  ["frontmatter-closing-with-spaces", "---  \ntitle: x\n---  \nBODY\n", "BODY"],
  ["frontmatter-dashes-inside-value", "---\ntitle: a --- b\n--- \nBODY\n---\nEND\n", "b\n--- \nBODY\n---\nEND"],
  ["frontmatter-empty", "---\n---\nBODY\n", "BODY"],
  ["frontmatter-horizontal-rules", "---\n\nSome prose: here\n\n---\n\nBODY\n", "BODY"],
  ["frontmatter-in-claude-md", "---\ntitle: hello\n---\n\nBODY\n", "BODY"],
  ["frontmatter-malformed-in-claude-md", "---\ntitle: [unclosed\n---\nBODY\n", "BODY"],
  ["frontmatter-second-block-kept", "---\na: 1\n---\n---\nb: 2\n---\nBODY\n", "---\nb: 2\n---\nBODY"],
  ["frontmatter-unclosed-in-claude-md", "---\ntitle: x\nBODY\n", "---\ntitle: x\nBODY"],
  ["html-comment-crlf", "a\r\n\r\n<!-- hidden -->\r\n\r\nb\r\n", "a\n\nb"],
  ["html-comment-dashes-inside", "a\n\n<!-- one -- two --- three -->\n\nb\n", "a\n\nb"],
  ["html-comment-empty-and-short", "a\n\n<!---->\n\n<!-->\n\n<!-- x -->\n\nb\n", "a\n\n<!-->\n\nb"],
  ["html-comment-in-blockquote", "> a\n> <!-- hidden -->\n> b\n\nc\n", "> a\n> <!-- hidden -->\n> b\n\nc"],
  ["html-comment-in-code-fence-kept", "a\n```\n<!-- in fence -->\n```\nb\n", "a\n```\n<!-- in fence -->\n```\nb"],
  ["html-comment-indented-four-spaces", "a\n\n    <!-- code -->\n\nb\n", "a\n\n    <!-- code -->\n\nb"],
  ["html-comment-indented-three-spaces", "a\n\n   <!-- hidden -->\n\nb\n", "a\n\nb"],
  ["html-comment-line-start-with-trailing-text", "a\n\n<!-- c --> trailing text\n\nb\n", "a\n\n trailing text\n\nb"],
  ["html-comment-list-item-first", "- <!-- hidden --> one\n- two\n", "- <!-- hidden --> one\n- two"],
  ["html-comment-many-blank-lines-around", "a\n\n\n\n<!-- hidden -->\n\n\n\nb\n", "a\n\n\n\nb"],
  ["html-comment-multi-line-with-trailing-text", "a\n\n<!-- one\ntwo --> tail\nnext\n", "a\n\n tail\nnext"],
  ["html-comment-multi-line", "before\n<!--\nhidden\n\nhidden two\n-->\nafter\n", "before\nafter"],
  ["html-comment-only-file", "<!-- all hidden -->\n", ""],
  ["html-comment-unclosed", "a\n\n<!-- never closed\n\nb\n", "a\n\n<!-- never closed\n\nb"],
  [
    "html-comment-with-arrow-then-code",
    "```\n<!-- kept -->\n```\n\n<!-- gone -->\n\n`<!-- span -->` end\n",
    "```\n<!-- kept -->\n```\n\n`<!-- span -->` end",
  ],
  [
    "html-tag-block-kept",
    "a\n\n<div>\n<!-- inner -->\nkept\n</div>\n\nb\n",
    "a\n\n<div>\n<!-- inner -->\nkept\n</div>\n\nb",
  ],
  // From memory-frontmatter-in-index: the index goes through the same.
  ["memory-frontmatter-in-index", "---\nname: idx\ndescription: d\n---\n\n- [A](a.md) - x\n", "- [A](a.md) - x"],
];

describe("what Claude Code was seen to show", () => {
  it.each(RECORDED)("%s", (_, file, shown) => {
    expect(stripForClient(file).trim()).toBe(shown.trim());
  });
});

describe("stripFrontmatter", () => {
  it.each([
    ["---\na: b\n---\nx", "x"],
    ["---\r\na: b\r\n---\r\n\r\nx\r\n", "x\r\n"],
    ["---\na: b\n---", ""],
    ["---\na: b\n---x\n", "---\na: b\n---x\n"],
    ["\n---\na: b\n---\nx", "\n---\na: b\n---\nx"],
    [" ---\na: b\n---\nx", " ---\na: b\n---\nx"],
  ])("%j", (text, rest) => {
    expect(stripFrontmatter(text)).toBe(rest);
  });
});

describe("stripBlockComments", () => {
  it("leaves a text without a block comment as it is, line ends too", () => {
    for (const text of ["a\r\nb <!-- c -->\r\n", "", "\r\n", "a <!-- b", "```\r\n<!-- c -->\r\n```\r\n"])
      expect(stripBlockComments(text)).toBe(text);
  });

  it("keeps a comment that belongs to a list item by its indentation", () => {
    for (const text of [
      "- [A](a.md)\n  <!-- about A -->\n- [B](b.md)\n",
      "- a\n\n  <!-- more -->\n",
      "1. a\n   <!-- b -->\n",
    ]) {
      expect(stripByTokens(text)).toBe(text);
      expect(stripBlockComments(text)).toBe(text);
    }
    expect(stripBlockComments("- a\n<!-- c -->\n- b\n")).toBe("- a\n- b\n");
    expect(stripBlockComments("- a\n\nb\n\n  <!-- c -->\n\nd\n")).toBe("- a\n\nb\n\nd\n");
  });

  it("passes over code, whatever closes it", () => {
    for (const text of [
      "~~~\n<!-- a -->\n~~~\n",
      "````\n```\n<!-- a -->\n````\n",
      "```js\n<!-- a -->\n",
      "<pre>\n\n<!-- a -->\n</pre>\n",
      "<script>\n<!-- a -->\n\n<!-- b -->\n</script>\n",
    ])
      expect(stripBlockComments(text)).toBe(text);
  });
});

/** The client takes block comments out of Markdown tokens; this is the same with the library at hand. */
function stripByTokens(text: string): string {
  if (!text.includes("<!--")) return text;
  let removed = false;
  const out = new Lexer({ gfm: false }).lex(text).map((token) => {
    const start = token.raw.trimStart();
    if (token.type !== "html" || !start.startsWith("<!--") || !start.includes("-->")) return token.raw;
    removed = true;
    const rest = token.raw.replace(/<!--[\s\S]*?-->/g, "");
    return rest.trim() === "" ? "" : rest;
  });
  return removed ? out.join("") : text;
}

describe("whatever the text", () => {
  const line = fc.constantFrom(
    "",
    "text",
    "<!-- c -->",
    "  <!-- c -->",
    "<!-- c --> tail",
    "<!-- open",
    "close -->",
    "a <!-- mid --> b",
    "```",
    "~~~",
    "# head",
    "<div>",
    "</div>",
    "- item",
    "> quote",
    "`<!-- code -->`",
  );

  it("agrees with a Markdown lexer on comments between paragraphs, headings and code", () => {
    const block = fc.constantFrom(
      "text\n",
      "two\nlines\n",
      "# head\n",
      "<!-- c -->\n",
      "<!-- two\n\nlines -->\n",
      "<!-- c --> tail\n",
      "a <!-- mid --> b\n",
      "```\n<!-- code -->\n```\n",
      "~~~\n\n<!-- code -->\n~~~\n",
      "    <!-- code -->\n",
      "> <!-- quote -->\n",
      "- <!-- item -->\n",
      "<div>\n<!-- inner -->\n</div>\n",
    );
    fc.assert(
      fc.property(fc.array(block, { maxLength: 6 }), (blocks) => {
        const text = blocks.join("\n");
        // Lexers differ in whether blank lines belong to the comment; the recorded cases say.
        const normal = (t: string) => t.trim().replace(/\n{2,}/g, "\n\n");
        expect(normal(stripBlockComments(text))).toBe(normal(stripByTokens(text)));
      }),
      { numRuns: 1000 },
    );
  });

  it("never throws, never adds a character, and leaves texts without comments alone", () => {
    const anyText = fc.oneof(
      fc.array(line, { maxLength: 12 }).map((lines) => lines.join("\n")),
      fc.array(line, { maxLength: 12 }).map((lines) => lines.join("\r\n")),
      fc.string({ unit: "binary", maxLength: 100 }),
      fc.string({ unit: fc.constantFrom(..."<!->-`~ \n\r\t\uFEFFadiv/"), maxLength: 60 }),
    );
    fc.assert(
      fc.property(anyText, (text) => {
        const shown = stripForClient(text);
        let at = 0;
        for (const unit of shown) at = at < 0 ? at : text.indexOf(unit, at) + 1 || -1;
        expect(at).toBeGreaterThanOrEqual(0);
        if (!text.includes("<!--")) expect(text.endsWith(shown)).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  it.each(["<!-- a\n", "<!-- a -->\n", "```\n", "<div>\n", "<pre></pre>\n", "---\n", "\n", "<!-->\n", "- <!--\n"])(
    "100 KB of %j do not hang",
    (unit) => {
      const text = unit.repeat(100_000 / unit.length);
      for (const head of ["", "<!-- x -->\n", "---\n"]) ends(() => stripForClient(head + text));
    },
  );
});
