import fc from "fast-check";
import { lexer } from "marked";
import { describe, expect, it } from "vitest";
import { type MarkdownOptions, openMarkdown } from "../../../src/cli/console/markdown.ts";
import { SGR, widthOf } from "../../../src/text/wrap.ts";

/** A whole text at once; no break at its end. */
function renderMarkdown(text: string, options: MarkdownOptions): string {
  const stream = openMarkdown(options);
  return (stream.push(text) + stream.end()).replace(/\n$/, "");
}
const show = (text: string, columns = 40, color = false) => renderMarkdown(text, { columns, color, lexer }).split("\n");
const words = (text: string) => text.replace(SGR, "").match(/[\p{L}\d]+/gu) ?? [];
/** Whether all of `wanted` are in `given`, in order; words that a narrow line broke are joined first. */
const holdsInOrder = (given: string, wanted: string[]) => {
  const flat = words(given).join("");
  let at = 0;
  return wanted.every((word) => {
    const found = flat.indexOf(word, at);
    at = found + word.length;
    return found >= 0;
  });
};

describe("markdown", () => {
  it("renders paragraphs, headings, rules and what stands in a line", () => {
    expect(
      show(
        "# Title\nSome *words* and **more** `code` ~~gone~~ &amp; \\*this\\*.\n\nNext one that is long enough to wrap\n\n---",
      ),
    ).toEqual([
      "# Title",
      "",
      "Some words and more `code` gone &",
      "*this*.",
      "",
      "Next one that is long enough to wrap",
      "",
      "─".repeat(40),
    ]);
    expect(show("# T\n\n**b** *i* `c` ~~s~~", 40, true)).toEqual([
      "\x1b[1m\x1b[4mT\x1b[24m\x1b[22m",
      "",
      "\x1b[1mb\x1b[22m \x1b[3mi\x1b[23m \x1b[36mc\x1b[39m \x1b[9ms\x1b[29m",
    ]);
    expect(show("Set\n===\ntext")).toEqual(["# Set", "", "text"]);
  });

  it("shows links with their address and HTML as text", () => {
    expect(show('[docs](https://e.org/x "T") <https://a.org> ![pic](p.png)', 90)).toEqual([
      'docs (https://e.org/x "T") https://a.org [image: pic] (p.png)',
    ]);
    expect(show("<script>alert(1)</script>\n\na <b>bold</b> word <!-- note -->")).toEqual([
      "<script>alert(1)</script>",
      "",
      "a <b>bold</b> word <!-- note -->",
    ]);
    expect(show("[a][ref]\n\n[ref]: https://e.org 'Title'")).toEqual(["[a][ref]", "", "[ref]: https://e.org 'Title'"]);
  });

  it("renders lists in lists, tight and loose, with tasks and code", () => {
    expect(
      show("- one\n- two\n  - inner\n    - deep\n- three words that are long enough to wrap here\n\nafter"),
    ).toEqual([
      "- one",
      "- two",
      "  - inner",
      "    - deep",
      "- three words that are long enough to",
      "  wrap here",
      "",
      "after",
    ]);
    expect(show("3. a\n4. b\n\n   more of b\n5. c")).toEqual(["3. a", "", "4. b", "", "   more of b", "", "5. c"]);
    expect(show("- [ ] open\n- [x] done")).toEqual(["- [ ] open", "- [x] done"]);
    expect(show("1. run\n   ```sh\n   npm test\n\n   npm start\n   ```\n2. look")).toEqual([
      "1. run",
      "     sh",
      "     npm test",
      "",
      "     npm start",
      "2. look",
    ]);
    expect(show("- \n- x")).toEqual(["- ", "- x"]);
  });

  it("renders quotes", () => {
    expect(show("> a quote that is long enough to be wrapped\n>\n> - item\n>> inner")).toEqual([
      "│ a quote that is long enough to be",
      "│ wrapped",
      "│",
      "│ - item",
      "│",
      "│ │ inner",
    ]);
  });

  it("fits tables to the width", () => {
    const table =
      "| Name | What it does | N |\n|:--|---|--:|\n| a | a short one | 1 |\n| bb | one with many more words in it | 22 |";
    expect(show(table, 60)).toEqual([
      "Name │ What it does                   │  N",
      "─────┼────────────────────────────────┼───",
      "a    │ a short one                    │  1",
      "bb   │ one with many more words in it │ 22",
    ]);
    expect(show(table, 30)).toEqual([
      "Name │ What it does       │  N",
      "─────┼────────────────────┼───",
      "a    │ a short one        │  1",
      "bb   │ one with many more │ 22",
      "     │ words in it        │",
    ]);
    expect(show(table, 15)).toEqual([
      "Name: a",
      "What it does: a",
      "short one",
      "N: 1",
      "",
      "Name: bb",
      "What it does:",
      "one with many",
      "more words in",
      "it",
      "N: 22",
    ]);
    expect(show("| 你好 | b |\n|---|---|\n| c | 世界 |")).toEqual(["你好 │ b", "─────┼─────", "c    │ 世界"]);
  });

  it("prints code as it comes, line by line, with its language, unwrapped", () => {
    const stream = openMarkdown({ columns: 20, color: false, lexer });
    expect(stream.push("Look:\n\n``")).toBe("Look:\n");
    expect(stream.push("`ts\ncon")).toBe("\n  ts\n");
    expect(stream.push(`st a = "${"x".repeat(40)}";\n\n# not a heading`)).toBe(`  const a = "${"x".repeat(40)}";\n\n`);
    expect(stream.push("\n```\nend")).toBe("  # not a heading\n");
    expect(stream.end()).toBe("\nend\n");
    expect(show("~~~\na ``` b\n~~~~\nx")).toEqual(["  a ``` b", "", "x"]);
    expect(show("```\nnever closed")).toEqual(["  never closed"]);
    expect(show("    indented\n\ntext")).toEqual(["  indented", "", "text"]);
  });

  it("prints a block once it is complete and not before", () => {
    const stream = openMarkdown({ columns: 40, color: false, lexer });
    expect(stream.push("# He")).toBe("");
    expect(stream.push("ad\nA para")).toBe("# Head\n");
    expect(stream.push("graph **bo")).toBe("");
    expect(stream.push("ld** here\n\n- a\n")).toBe("\nA paragraph bold here\n");
    expect(stream.push("\n- b\n\n")).toBe("");
    expect(stream.push("text\n")).toBe("\n- a\n\n- b\n");
    expect(stream.end()).toBe("\ntext\n");
    expect(stream.end()).toBe("");
  });

  it("says the same however the text is cut", () => {
    const text =
      "# T\n\nA *para* with `x`.\n\n1. a\n\n   b\n2. c\n\n```js\nlet x;\n\n```\n| a | b |\n|--|--|\n| 1 | 2 |\n\n> q\n\n你好 👩‍👩‍👧";
    const whole = renderMarkdown(text, { columns: 30, color: true, lexer });
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 60 }), (cuts) => {
        const stream = openMarkdown({ columns: 30, color: true, lexer });
        let out = "";
        let at = 0;
        for (const size of [...cuts, text.length]) {
          out += stream.push(text.slice(at, at + size));
          at += size;
        }
        expect((out + stream.end()).replace(/\n$/, "")).toBe(whole);
      }),
    );
  });

  it("removes control sequences, also when they come in pieces", () => {
    const stream = openMarkdown({ columns: 40, color: false, lexer });
    const out =
      stream.push("a\x1b[3") +
      stream.push("1mred\x1b]0;t") +
      stream.push("\x07 b\r\n\r\n```\x1b[2J\nx\x1b[H\n") +
      stream.end();
    expect(out).toBe("ared b\n\n  x\n");
  });

  it("does not fail on absurd nesting, endless lines and hostile input", () => {
    for (const text of [
      "> ".repeat(5000),
      "- ".repeat(5000),
      "1. ".repeat(5000),
      "*".repeat(20_000),
      "[".repeat(20_000),
      "`".repeat(9999),
      "|".repeat(5000),
    ]) {
      const out = renderMarkdown(`${text}word`, { columns: 40, color: true, lexer });
      expect(out.replace(/\s/g, "")).toContain("word");
    }
    const endless = renderMarkdown("word ".repeat(100_000), { columns: 80, color: false, lexer });
    expect(words(endless).length).toBe(100_000);
    const list = renderMarkdown("- item\n".repeat(20_000), { columns: 80, color: false, lexer });
    expect(words(list).length).toBe(20_000);
    const failing = () => {
      throw new RangeError("Maximum call stack size exceeded");
    };
    expect(renderMarkdown("**plain** words", { columns: 40, color: true, lexer: failing })).toBe("**plain** words");
    expect(renderMarkdown("", { columns: 0, color: true, lexer })).toBe("");
  });

  it("holds all the words of the input in order, within the columns", () => {
    const word = fc.constantFrom("alpha", "beta", "gamma", "你好", "delta", "été", "x");
    const inline = fc
      .array(
        fc.oneof(
          word,
          word.map((w) => `**${w}**`),
          word.map((w) => `*${w}*`),
          word.map((w) => `\`${w}\``),
          word.map((w) => `[${w}](http://link/y)`),
          word.map((w) => `<${w}>`),
        ),
        { minLength: 1, maxLength: 8 },
      )
      .map((all) => all.join(" "));
    const block = fc.oneof(
      inline,
      inline.map((text) => `## ${text}`),
      fc
        .array(inline, { minLength: 1, maxLength: 4 })
        .map((items) => items.map((item, i) => `${"  ".repeat(i % 3)}- ${item}`).join("\n")),
      fc.array(inline, { minLength: 1, maxLength: 3 }).map((items) =>
        items
          .map((item) => `1. ${item}`)
          .join("\n\n")
          .replaceAll("1. ", "- "),
      ),
      inline.map((text) => `> ${text}\n> ${text}`),
      inline.map((text) => `\`\`\`ts\n${text}\n\`\`\``),
      word.map((text) => `[${text}]: http://link/z`),
      word.map((text) => `<div>\n${text}\n</div>`),
      inline.map((text) => `    ${text}`),
    );
    fc.assert(
      fc.property(
        fc.array(block, { maxLength: 6 }),
        fc.integer({ min: 10, max: 90 }),
        fc.boolean(),
        (blocks, columns, color) => {
          const text = blocks.join("\n\n");
          const out = renderMarkdown(text, { columns, color, lexer });
          expect(holdsInOrder(out, words(text)), out).toBe(true);
          for (const line of out.split("\n"))
            if (!line.replace(SGR, "").startsWith("  "))
              expect(widthOf(line)).toBeLessThanOrEqual(Math.max(columns, 20));
        },
      ),
      { numRuns: 300 },
    );
  });

  it("holds all the words of any text, whatever it is", () => {
    const unit = fc.constantFrom(
      "a",
      "b",
      " ",
      "\n",
      "\n\n",
      "- ",
      "> ",
      "#",
      "*",
      "_",
      "`",
      "```",
      "|",
      "~~",
      "[",
      "](",
      ")",
      "<",
      "&",
      "\\",
      "    ",
      "===",
      "---",
      "!",
      "\t",
    );
    fc.assert(
      fc.property(
        fc.array(unit, { maxLength: 60 }).map((all) => all.join("")),
        (text) => {
          const out = renderMarkdown(text, { columns: 200, color: false, lexer });
          expect(holdsInOrder(out, [...words(text).join("")]), out).toBe(true);
        },
      ),
      { numRuns: 500 },
    );
  });
});
