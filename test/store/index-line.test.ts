import fc from "fast-check";
import { marked } from "marked";
import { describe, expect, it } from "vitest";
import { formatIndexLine, parseIndexLine } from "../../src/store/index-line.ts";
import { ends } from "../hang.ts";

/** Every link that a real Markdown reader finds in the text, decoded. */
function linksOf(markdown: string): string[] {
  const found: string[] = [];
  marked.walkTokens(marked.lexer(markdown), (token) => {
    if (token.type === "link") found.push(decodeURIComponent(token.href));
  });
  return found;
}

describe("parseIndexLine", () => {
  it.each([
    ["B4.6", "- [Prefers tabs](user_tabs.md) — Tabs, not spaces", "user_tabs.md", "Prefers tabs", "Tabs, not spaces"],
    ["B4.6", "- [T](a.md) - hook", "a.md", "T", "hook"],
    ["B4.6", "- [T](a.md): hook", "a.md", "T", "hook"],
    ["B4.6", "* [T](./a.md)", "a.md", "T", ""],
    ["B4.6", "1. [T](<my file.md>) – hook", "my file.md", "T", "hook"],
    ["B4.6", "  - [T](a%20b.md#part) — h", "a b.md", "T", "h"],
    ["B4.5", "- **[name](user_a.md)** (user) — description", "user_a.md", "name", "description"],
    ["B4.7", "- [Architecture](project/architecture.md)", "project/architecture.md", "Architecture", ""],
    [
      "B4.8",
      "- Use slog, never fmt.Printf [feedback-logging.md]",
      "feedback-logging.md",
      "Use slog, never fmt.Printf",
      "Use slog, never fmt.Printf",
    ],
    ["C-1", "- [T](a.md) — hook\r\n", "a.md", "T", "hook"],
  ])("%s reads %j", (_, line, file, title, hook) => {
    expect(parseIndexLine(line)).toEqual({ file, title, hook });
  });

  it.each([
    "# Memory Index",
    "",
    "Some prose with [a link](a.md) in it",
    "- plain item",
    "- [site](https://example.com/a.md)",
    "- [up](../a.md)",
    "- [root](/a.md)",
    "- [home](~/a.md)",
    "- [other](image.png)",
    "- [enc](%2e%2e/a.md)",
    "- [enc](%2Fetc/a.md)",
    "- [mail](mailto:x@y.md)",
    "- [x] done",
  ])("C9 %j is no pointer", (line) => {
    expect(parseIndexLine(line)).toBeNull();
  });

  it("a percent sign that encodes nothing is part of the name", () => {
    expect(parseIndexLine("- [T](100%.md)")?.file).toBe("100%.md");
  });

  it("giant lines do not hang", () => {
    for (const text of [
      "[".repeat(50_000),
      "[a](".repeat(20_000),
      " ".repeat(50_000),
      "(a)".repeat(30_000),
      "[x.md".repeat(20_000),
    ])
      for (const line of [`- a${text}b`, `- [a](${text}b`, `- [${text}`]) ends(() => parseIndexLine(line));
  });
});

describe("formatIndexLine", () => {
  it("B4.6 writes 001's form", () => {
    expect(formatIndexLine({ file: "a.md", name: "Title", description: "hook" })).toBe("- [Title](a.md) — hook");
    expect(formatIndexLine({ file: "a.md", name: "Title", description: "" })).toBe("- [Title](a.md)");
  });

  it.each([
    "x](evil.md) [y",
    "two\nlines",
    "a `code` span",
    "`open",
    "<!-- comment",
    "ends in \\",
    "ends in \\\\\\",
    "a \\] b",
    "[nested](x.md)",
    "![image](x.png)",
    "](",
    "[[x]]",
    "<https://evil.example",
    '<a title="',
    "<?php",
    "<!DOCTYPE",
    "&#93;(evil.md)",
    "https://evil.example/x.md",
    "**bold",
    "~~gone",
    "$x$",
    "   ",
    "- item",
  ])("C-3 the title %j is neutralised", (name) => {
    const line = formatIndexLine({ file: "a.md", name, description: 'hook "> ?> > ` -->' });
    expect(line).not.toMatch(/[\r\n]/);
    expect(linksOf(`${line}\n- [next](next.md)\n`)).toEqual(["a.md", "next.md"]);
    expect(parseIndexLine(line)?.file).toBe("a.md");
  });

  it("C-3 exactly one link with the right target comes out, whatever name and description", () => {
    const nasty = fc.constantFrom(
      "](",
      "[",
      "]",
      "(",
      ")",
      "\n",
      "\r\n",
      "`",
      "``",
      "<!--",
      "-->",
      "\\",
      "<",
      ">",
      '<a b="',
      '">',
      "'",
      '"',
      "!",
      "<?",
      "?>",
      "<!A ",
      "&lt;",
      "&#93;",
      "*",
      "_",
      "~~",
      "|",
      "# ",
      "word",
      " ",
      "— ",
      "é",
      "\u2028",
      "\t",
    );
    // A description may hold a link of its own; here it must not, to tell them apart.
    const text = fc.array(nasty, { maxLength: 8 }).map((parts) => parts.join(""));
    fc.assert(
      fc.property(
        text,
        text.map((t) => t.replaceAll("](", "")),
        (name, description) => {
          const line = formatIndexLine({ file: "user_a.md", name, description });
          expect(line).not.toMatch(/[\r\n]/);
          expect(parseIndexLine(line)?.file).toBe("user_a.md");
          expect(linksOf(`${line}\n- [next](next.md)\n`).filter((href) => href.endsWith(".md"))).toEqual([
            "user_a.md",
            "next.md",
          ]);
        },
      ),
      { numRuns: 1000 },
    );
  });

  it.each([
    "a b.md",
    "a(b).md",
    "a[1].md",
    "100%.md",
    "100%25.md",
    "issue#12.md",
    "what?.md",
    "note: x.md",
    "c:d.md",
    "~draft.md",
    "a\u3000b.md",
    "a\u00a0b.md",
    "a<b>.md",
    "a\\b.md",
    "sub/ö.md",
    "日本語.md",
    "a&amp;b.md",
    "*star*.md",
    'a"b.md',
    "🎉.md",
  ])("the file %j is found again by us and by a Markdown reader", (file) => {
    const line = formatIndexLine({ file, name: "T", description: "h" });
    expect(parseIndexLine(line)).toEqual({ file, title: "T", hook: "h" });
    expect(linksOf(line)).toEqual([file]);
  });
});
