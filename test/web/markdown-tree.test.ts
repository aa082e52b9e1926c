import { expect, it } from "vitest";
import type { MarkdownNode } from "../../src/web/api.ts";
import { buildMarkdownTree } from "../../src/web/markdown-tree.ts";

const KINDS = new Set(
  "p h1 h2 h3 h4 h5 h6 ul ol li blockquote pre code strong em del a hr br table thead tbody tr th td text memory-link task labelled".split(
    " ",
  ),
);
const KEYS = new Set(["kind", "text", "href", "ref", "checked", "children"]);

const find = (name: string) =>
  name.replace(/\.md$/, "") === "use-pnpm" ? { directory: 0, file: "use-pnpm.md" } : null;

const build = (text: string) => buildMarkdownTree(text, find);

function all(nodes: readonly MarkdownNode[]): MarkdownNode[] {
  return nodes.flatMap((node) => [node, ...all(node.children ?? [])]);
}

function plain(nodes: readonly MarkdownNode[]): string {
  return all(nodes)
    .map(({ text }) => text ?? "")
    .join("");
}

it("gives headings, lists, tasks, tables, code and rules their kinds", async () => {
  const tree = await build(
    "# One\n\n- a\n- [x] done\n- [ ] open\n\n1. first\n\n| a | b |\n|---|---|\n| 1 | **2** |\n\n```js\nlet a;\n```\n\n---\n\n> quote `c` ~~d~~ *e*",
  );
  expect(tree.map(({ kind }) => kind)).toEqual(["h1", "ul", "ol", "table", "pre", "hr", "blockquote"]);
  const nodes = all(tree);
  expect(nodes.filter(({ kind }) => kind === "task").map(({ checked }) => checked)).toEqual([true, false]);
  expect(nodes.filter(({ kind }) => kind === "td").length).toBe(2);
  expect(nodes.find(({ kind }) => kind === "pre")?.text).toBe("let a;");
  expect(nodes.some(({ kind }) => kind === "del") && nodes.some(({ kind }) => kind === "em")).toBe(true);
});

it("makes links of http, https and mailto, and text of every other protocol", async () => {
  const tree = await build(
    "[a](https://example.invalid/x) [b](javascript:alert(1)) [c](data:text/html,x) [d](mailto:a@example.invalid) [e](JaVaScRiPt:alert(1)) [f](vbscript:x) <https://example.invalid> [g](/etc/passwd) [h](//example.invalid/z)",
  );
  const links = all(tree).filter(({ kind }) => kind === "a");
  expect(links.map(({ href }) => href)).toEqual([
    "https://example.invalid/x",
    "mailto:a@example.invalid",
    "https://example.invalid/",
  ]);
  expect(plain(tree)).toContain("b");
  expect(JSON.stringify(tree)).not.toMatch(/javascript:|vbscript:|data:text/i);
});

it("makes memory links of [[names]] and of links to files, with their place where they exist", async () => {
  const tree = await build("see [[use-pnpm]] and [[gone]], [this](use-pnpm.md) and [that](./other.md#part)");
  const links = all(tree).filter(({ kind }) => kind === "memory-link");
  expect(links).toEqual([
    { kind: "memory-link", text: "use-pnpm", href: "use-pnpm", ref: { directory: 0, file: "use-pnpm.md" } },
    { kind: "memory-link", text: "gone", href: "gone", ref: null },
    { kind: "memory-link", text: "this", href: "use-pnpm.md", ref: { directory: 0, file: "use-pnpm.md" } },
    { kind: "memory-link", text: "that", href: "other.md", ref: null },
  ]);
});

it("keeps raw HTML as text, in a line and as a block", async () => {
  const tree = await build(
    "a <b onclick=x>b</b>\n\n<script>alert(1)</script>\n\n<img src=x onerror=alert(1)>\n\n![alt](javascript:x)",
  );
  expect(all(tree).every(({ kind }) => KINDS.has(kind))).toBe(true);
  expect(plain(tree)).toContain("<script>alert(1)</script>");
  expect(plain(tree)).toContain("<b onclick=x>");
});

it("a picture is a link to it, and entities are their characters", async () => {
  const tree = await build("![a](https://example.invalid/p.png) &lt;b&gt; &amp; &#x41; &unknown;");
  expect(all(tree).find(({ kind }) => kind === "a")?.href).toBe("https://example.invalid/p.png");
  expect(plain(tree)).toContain("<b> & A &unknown;");
});

it.each([
  ["empty", ""],
  ["quotes without end", "> ".repeat(20_000)],
  ["lists without end", Array.from({ length: 3_000 }, (_, i) => `${" ".repeat(i * 2)}- a`).join("\n")],
  ["brackets", "[".repeat(30_000)],
  ["stars", "*a **b ".repeat(8_000)],
  ["backticks", "`a``b```".repeat(8_000)],
  ["a table of marks", `|${"a|".repeat(3_000)}\n|${"-|".repeat(3_000)}\n|${"b|".repeat(3_000)}`],
  ["huge", "word ".repeat(100_000)],
  ["half characters", "a\ud800b [[\udfff]]"],
  ["direction and control", "\u202eabc\u0000\u001b[31m"],
])("never throws and knows only its kinds: %s", async (_, text) => {
  const tree = await build(text);
  const nodes = all(tree);
  expect(nodes.every(({ kind }) => KINDS.has(kind))).toBe(true);
  expect(nodes.every((node) => Object.keys(node).every((key) => KEYS.has(key)))).toBe(true);
  expect(JSON.stringify(tree).length).toBeLessThan(2_000_000);
});

it("keeps line breaks as written, tells Why and How to apply apart, and aligns cells", async () => {
  const feedback = await buildMarkdownTree(
    "Rule.\n**Why:** a reason\nover two lines\n**How to apply:** so.",
    () => null,
  );
  expect(feedback).toEqual([
    { kind: "p", children: [{ kind: "text", text: "Rule." }] },
    {
      kind: "labelled",
      text: "Why",
      children: [{ kind: "text", text: "a reason" }, { kind: "br" }, { kind: "text", text: "over two lines" }],
    },
    { kind: "labelled", text: "How to apply", children: [{ kind: "text", text: "so." }] },
  ]);
  const [table] = await buildMarkdownTree("| a | b |\n| --- | ---: |\n| 1 | 2 |", () => null);
  const cells = table?.children?.[1]?.children?.[0]?.children ?? [];
  expect(cells.map(({ align }) => align)).toEqual([undefined, "right"]);
});
