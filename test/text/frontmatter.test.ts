import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { type Field, findField, parseDocument } from "../../src/text/frontmatter.ts";
import { ends } from "../hang.ts";

/** Fields as a plain object; the text is the inside of a frontmatter. */
function read(inside: string): Record<string, unknown> {
  return valuesOf(parseDocument(`---\n${inside}\n---\nbody\n`).fields);
}

function valuesOf(fields: readonly Field[]): Record<string, unknown> {
  return Object.fromEntries(fields.map((field) => [field.key, field.value]));
}

describe("the rules of the plain reader", () => {
  it("B2.4 the seed's example gives exactly its three keys", () => {
    const document = parseDocument(`---
name: test-rules
description: Testing conventions
type: project
---

Always run pytest with -x flag for fail-fast.
`);
    expect(valuesOf(document.fields)).toEqual({
      name: "test-rules",
      description: "Testing conventions",
      type: "project",
    });
    expect(document.body).toBe("Always run pytest with -x flag for fail-fast.");
    expect(document.problems).toEqual([]);
  });

  it.each(["---\na: b\n---\nx", "  ---\t\na: b\n ---  \nx", "---\r\na: b\r\n---\r\nx", "\uFEFF---\na: b\n---\nx"])(
    "B2.6 the first line is `---` after trimming: %j",
    (text) => {
      const document = parseDocument(text);
      expect(valuesOf(document.fields)).toEqual({ a: "b" });
      expect(document.body).toBe("x");
    },
  );

  it.each(["", "\n---\na: b\n---\n", "a: b\n---\n", "----\na: b\n----\n", "--- a\na: b\n---\n", "text ---\n---\n"])(
    "B2.6 without it everything is body: %j",
    (text) => {
      expect(parseDocument(text)).toMatchObject({ hasFrontmatter: false, fields: [], body: text, problems: [] });
    },
  );

  it.each(["---", "---\n", "---\na: b", "---\na: b\n\ntext\n----\n-- -\n"])(
    "B2.7 a missing end makes everything body, and is told: %j",
    (text) => {
      const document = parseDocument(text);
      expect(document).toMatchObject({ hasFrontmatter: false, fields: [], body: text });
      expect(document.problems).toHaveLength(1);
      expect(document.problems[0]).toContain("closing `---`");
    },
  );

  it("B2.8 lines without a colon are skipped and told by number", () => {
    const document = parseDocument("---\na: 1\njust words\nb: 2\n---\n");
    expect(valuesOf(document.fields)).toEqual({ a: "1", b: "2" });
    expect(document.problems).toEqual(['line 3 is not "key: value"']);
  });

  it("B2.8 the split is at the first colon, both sides trimmed", () => {
    expect(read("url: http://a\ntime:10:30\n  wide  :   x y  \nfix: a: b: c")).toEqual({
      url: "http://a",
      time: "10:30",
      wide: "x y",
      fix: "a: b: c",
    });
  });

  it("B2.8 an empty key is skipped", () => {
    const document = parseDocument("---\n: x\n  : y\na: 1\n---\n");
    expect(valuesOf(document.fields)).toEqual({ a: "1" });
    expect(document.problems).toHaveLength(2);
  });

  it.each([
    ["---\na: b\n---", ""],
    ["---\na: b\n---\n\n\n  text \n\nmore\n\n", "text \n\nmore"],
    ["---\na: b\n---\n---\nb: c\n---\n", "---\nb: c\n---"],
    ["---\na: b\n---\r\n\r\nx\r\ny\r\n", "x\r\ny"],
  ])("B2.9 the body is the rest, trimmed: %j", (text, body) => {
    expect(parseDocument(text).body).toBe(body);
  });

  it("an empty frontmatter is one", () => {
    expect(parseDocument("---\n---\nx\n")).toMatchObject({ hasFrontmatter: true, fields: [], body: "x", problems: [] });
    expect(parseDocument("---\n\n# only a comment\n\n---")).toMatchObject({ hasFrontmatter: true, problems: [] });
  });
});

describe("C39 values", () => {
  it("keep `#` and colons when plain", () => {
    expect(read("a: fix #12: see # 3 #x\nb: #12\nc: C#")).toEqual({ a: "fix #12: see # 3 #x", b: "", c: "C#" });
  });

  it("lose their quotes and a comment behind them", () => {
    expect(read(`a: "Tabs: not spaces"   # why\nb: 'x'\t# y\nc: ""\nd: ''`)).toEqual({
      a: "Tabs: not spaces",
      b: "x",
      c: "",
      d: "",
    });
  });

  it("know the escapes of double quotes", () => {
    expect(read(String.raw`a: "\"q\" \\ \/ \n\t\r\b\f\0\e\a\v \x41 \u00e9 \uD83D\uDE00 \U0001F600 \N\_\L\P"`).a).toBe(
      '"q" \\ / \n\t\r\b\f\0\x1b\x07\v A é 😀 😀 \x85\xa0\u2028\u2029',
    );
  });

  it("know only '' in single quotes", () => {
    expect(read(String.raw`a: 'it''s \n "so"'`).a).toBe(String.raw`it's \n "so"`);
  });

  it("keep quotes in the middle and apostrophes", () => {
    expect(read(`a: don't "do" it\nb: 5'9" tall`)).toEqual({ a: `don't "do" it`, b: `5'9" tall` });
  });

  it.each([
    ["tags: [a, b c, \"d, e\", 'f]']", ["a", "b c", "d, e", "f]"]],
    ["tags: []", []],
    ["tags: [ ]  # none", []],
    ["tags: [a,\n  b,\n  c\n]", ["a", "b", "c"]],
    ["tags:\n  - a\n  - b: c\n  - \"d # e\"\n  - 'f'", ["a", "b: c", "d # e", "f"]],
    ["tags:\n- a\n- b", ["a", "b"]],
    ["tags:\n\n  # why\n  - a\n\n  - b\n", ["a", "b"]],
    ["tags:\n\t- a\n\t- b", ["a", "b"]],
    ["tags:\n  - a\n    goes on\n  -\n  - b", ["a goes on", "", "b"]],
  ])("lists: %j", (inside, tags) => {
    expect(read(`${inside}\nlast: x`)).toEqual({ tags, last: "x" });
  });

  it("text in brackets is text when more text follows", () => {
    expect(read("a: [x] done: yes\nb: [link](http://c) d\nc: {x} y")).toEqual({
      a: "[x] done: yes",
      b: "[link](http://c) d",
      c: "{x} y",
    });
  });

  it("one nested map", () => {
    const document = parseDocument(
      "---\nname: n\nmetadata:\n  node_type: memory\n  type: feedback\n\n  # why\n  tags:\n  - a\nlast: x\n---\n",
    );
    expect(valuesOf(document.fields)).toEqual({
      name: "n",
      metadata: { node_type: "memory", type: "feedback", tags: ["a"] },
      last: "x",
    });
    expect(findField(document.fields, ["metadata", "type"])?.value).toBe("feedback");
    expect(findField(document.fields, ["metadata", "nothing"])).toBeNull();
    expect(findField(document.fields, ["name", "type"])).toBeNull();
  });

  it("a map in braces, keys quoted or not", () => {
    expect(read(`metadata: { type: user, "pinned": "true", 'a:b': c }`).metadata).toEqual({
      type: "user",
      pinned: "true",
      "a:b": "c",
    });
  });

  it("block texts", () => {
    expect(
      read("a: |\n  one\n    two\n\n  three\nb: >-\n  one\n  two\n\n  three\nc: |\nd: > # why\n  x: y\n  # z"),
    ).toEqual({ a: "one\n  two\n\nthree", b: "one two\nthree", c: "", d: "x: y # z" });
  });

  it("lines that look like comments belong to a block or quoted text, also at the end of a map", () => {
    expect(read("m:\n  a: |\n    x\n    # y\nlast: z").m).toEqual({ a: "x\n# y" });
    expect(read('m:\n  a: "x\n    # y"\nlast: z').m).toEqual({ a: "x # y" });
    expect(read("a: |\n    x\n  # a comment, not as deep\nlast: z")).toEqual({ a: "x", last: "z" });
  });

  it("plain text over several lines", () => {
    expect(read("a: one\n  two\n  three\nb: x\nc:\n  one\n  two")).toEqual({
      a: "one two three",
      b: "x",
      c: "one two",
    });
  });

  it("plain text below its key may hold addresses and times", () => {
    expect(read("a:\n  see http://a.b/c at 10:30\n  or later\nb: x")).toEqual({
      a: "see http://a.b/c at 10:30 or later",
      b: "x",
    });
  });

  it("quoted text below its key", () => {
    expect(read(`a:\n  "x: y"\nb:\n  'it''s'`)).toEqual({ a: "x: y", b: "it's" });
  });

  it("quoted text over several lines: a break is a space, a blank line a break", () => {
    expect(read('a: "one\n  two\n\n  three\\\n  four \\\\\n  five"\nb: x')).toEqual({
      a: "one two\nthreefour \\ five",
      b: "x",
    });
  });

  it("quoted keys", () => {
    expect(read(`"a: b": 1\n'c': 2`)).toEqual({ "a: b": "1", c: "2" });
  });

  it("tabs around keys and values", () => {
    expect(read("a:\tb\t\nc\t:\td")).toEqual({ a: "b", c: "d" });
  });

  it("comments and blank lines", () => {
    expect(parseDocument("---\n# a: b\n\n   # c\nd: e\n---\n")).toMatchObject({
      fields: [{ key: "d", value: "e" }],
      problems: [],
    });
  });

  it("names that are special to JavaScript are ordinary keys", () => {
    const values = read("__proto__: a\nconstructor: b\nmetadata:\n  __proto__: c");
    expect(Object.keys(values)).toEqual(["__proto__", "constructor", "metadata"]);
    expect(Object.keys(values.metadata as object)).toEqual(["__proto__"]);
  });
});

describe("problems are told and the rest is read", () => {
  it.each([
    ['a: "never closed', '"never closed', "quote"],
    ["a: 'never closed", "'never closed", "quote"],
    ['a: "x" y', '"x" y', "after the closing quote"],
    ["a: [x, y", "[x, y", '"["'],
    ["a: {x: y", "{x: y", '"{"'],
  ])("%j", (line, value, problem) => {
    const document = parseDocument(`---\nfirst: 1\n${line}\nlast: 2\n---\nbody\n`);
    expect(valuesOf(document.fields)).toEqual({ first: "1", a: value, last: "2" });
    expect(document.problems).toHaveLength(1);
    expect(document.problems[0]).toContain("line 3");
    expect(document.problems[0]).toContain(problem);
    expect(document.body).toBe("body");
  });

  it("a key that stands twice", () => {
    const document = parseDocument("---\na: 1\nb: 2\na: 3\nmetadata:\n  c: 1\n  c: 2\n---\n");
    expect(document.fields.map((field) => field.key)).toEqual(["a", "b", "a", "metadata"]);
    expect(document.problems).toHaveLength(2);
    expect(document.problems[0]).toContain('line 4: "a"');
    expect(document.problems[1]).toContain('"c"');
  });

  it("an unclosed quote in a list", () => {
    const document = parseDocument('---\ntags:\n  - "a\n  - b\nc: d\n---\n');
    expect(valuesOf(document.fields)).toEqual({ tags: ['"a', "b"], c: "d" });
    expect(document.problems).toHaveLength(1);
  });
});

describe("line ends", () => {
  it("CRLF gives the same values as LF", () => {
    const text = '---\na: b\nq: "x\n  y"\ntags:\n  - c\nm:\n  t: |\n    1\n    2\n---\n\nbody\n';
    const crlf = parseDocument(text.replaceAll("\n", "\r\n"));
    expect(valuesOf(crlf.fields)).toEqual(valuesOf(parseDocument(text).fields));
    expect(crlf.eol).toBe("\r\n");
    expect(crlf.problems).toEqual([]);
  });

  it("spans are whole lines", () => {
    const text = "\uFEFF---\r\n# c\r\na: 1\r\nb:\r\n  - x\r\n  # y\r\nc: 3\r\n---\r\n";
    const spans = parseDocument(text).fields.map((field) => text.slice(field.start, field.end));
    expect(spans).toEqual(["a: 1\r\n", "b:\r\n  - x\r\n", "c: 3\r\n"]);
  });
});

/** Pieces that the reader gives a meaning to, in any order. */
const piece = fc.constantFrom(
  ..."---|\n|\r\n|: |:|a|b: |metadata:\n|  |\t|- |# |\"|'|\\|[|]|{|}|, |> |\\|\n|\n\n|\uFEFF|é|😀|\ud800|\0|key: value\n|x: |-\n".split(
    "|",
  ),
  "|",
  "|\n",
);
const soup = fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join(""));
const anyText = fc.oneof(
  soup,
  soup.map((text) => `---\n${text}\n---\nbody\n`),
  fc.string({ unit: "binary", maxLength: 200 }),
);

function checkConsistent(text: string): void {
  const document = parseDocument(text);
  expect(document.text).toBe(text);
  const start = text.startsWith("\uFEFF") ? 1 : 0;
  if (!document.hasFrontmatter) {
    expect(document.fields).toEqual([]);
    expect(document.body).toBe(text.slice(start));
    return;
  }
  expect(document.body).toBe(text.slice(document.bodyStart).trim());
  expect(text.slice(document.fenceStart, document.bodyStart).trim()).toBe("---");
  checkSpans(text, document.fields, start, document.fenceStart);
}

/** Fields lie inside their parent, in order, on whole lines, without overlap. */
function checkSpans(text: string, fields: readonly Field[], from: number, to: number): void {
  let at = from;
  for (const field of fields) {
    expect(field.start).toBeGreaterThanOrEqual(at);
    expect(field.end).toBeGreaterThan(field.start);
    expect(field.end).toBeLessThanOrEqual(to);
    expect(text[field.start - 1]).toBe("\n");
    expect(text[field.end - 1]).toBe("\n");
    expect(field.key).not.toBe("");
    checkSpans(text, field.fields, field.start, field.end);
    at = field.end;
  }
}

describe("whatever the text", () => {
  it("never throws, and what it says fits together", () => {
    fc.assert(fc.property(anyText, checkConsistent), { numRuns: 1000 });
  });

  it.each([
    ["one line", "x"],
    ["colons", "a: b\n"],
    ["lists", "- - - \n"],
    ["open brackets", "[{"],
    ["keys with open brackets", "a: [\n"],
    ["keys with open quotes", 'a: "x\n'],
    ["blank lines", "\n"],
    ["spaces", " "],
    ["text of a block", "  x\n"],
    ["escapes", '\\"'],
  ])("100 KB of %s do not hang", (_, unit) => {
    for (const head of ["", "a: ", "a:\n", "a: |\n", 'a: "', "a: '", "a: [", "a: {"]) {
      const text = `---\n${head}${unit.repeat(100_000 / unit.length)}\n---\nbody\n`;
      ends(() => checkConsistentQuickly(text));
    }
  });

  it("a quote or bracket that 100 KB of short lines never close does not hang", () => {
    for (const head of ['a: "', "a: '", "a: [", "a: {"]) {
      const text = `---\n${head}\n${"x\n".repeat(10_000)}---\nbody\n`;
      const document = ends(() => parseDocument(text));
      expect(document.problems.some((problem) => problem.includes("never closed"))).toBe(true);
    }
  });

  it("a megabyte of block text", () => {
    const document = parseDocument(`---\na: |\n${"  x\n".repeat(250_000)}---\n`);
    expect(String(document.fields[0]?.value)).toHaveLength(499_999);
  });

  it("deep nesting", () => {
    const steps = Array.from({ length: 450 }, (_, depth) => `${" ".repeat(depth)}k:\n`).join("");
    const document = parseDocument(`---\n${steps}---\n`);
    expect(document.fields[0]?.key).toBe("k");
    const flow = parseDocument(`---\na: ${"[".repeat(50_000)}${"]".repeat(50_000)}\n---\n`);
    expect(flow.fields[0]?.style).toBe("list");
  });
});

function checkConsistentQuickly(text: string): void {
  const document = parseDocument(text);
  expect(document.hasFrontmatter).toBe(true);
  expect(document.body).toBe("body");
}

describe("what other programs write with a YAML library is read as they mean it", () => {
  const word = fc.oneof(
    { weight: 6, arbitrary: fc.stringMatching(/^[a-z]{1,9}$/) },
    {
      weight: 3,
      arbitrary: fc.constantFrom("https://a.b/c", "10:30", "note:", "#12", "it's", '"so"', "-", "C:\\x", "—"),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom("\n", "\n\n", "\\", "\t", "é", "😀", "[x]", "{y}", "yes", "42", "%", "@a", "&b"),
    },
  );
  const sentence = fc.array(word, { minLength: 1, maxLength: 30 }).map((words) =>
    words
      .join(" ")
      .replace(/ *(\n+) */g, "$1")
      .trim(),
  );
  const options = fc.constantFrom<Parameters<typeof stringify>[2]>(
    {},
    { lineWidth: 30 },
    { lineWidth: 0 },
    { defaultStringType: "QUOTE_DOUBLE", lineWidth: 40 },
    { defaultStringType: "QUOTE_SINGLE", lineWidth: 40 },
    { indentSeq: false },
    { version: "1.1" },
  );

  it("C39 a quoted text below its key may begin with an escaped quote and hold colons", () => {
    const inside = 'description:\n  "\\"so\\" https://a.b/c: it\'s\n  a"\nlast: x';
    expect(read(inside)).toEqual({ description: '"so" https://a.b/c: it\'s a', last: "x" });
  });

  it("C39 a folded text keeps the breaks around lines that are indented further", () => {
    const inside = "description: >-\n  run this:\n    npm ci\n  \tnpm test\n\n  and then\n  that\nlast: x";
    expect(read(inside)).toEqual({ description: "run this:\n  npm ci\n\tnpm test\n\nand then that", last: "x" });
  });

  it("C39 texts, lists and one nested map", () => {
    fc.assert(
      fc.property(sentence, sentence, fc.array(sentence, { maxLength: 3 }), options, (name, description, tags, how) => {
        const text = `---\n${stringify({ name, metadata: { type: "user", description }, last: "x", tags }, null, how)}---\nbody\n`;
        const document = parseDocument(text);
        const values = valuesOf(document.fields);
        expect({ ...values, tags: undefined }, text).toEqual({
          name,
          metadata: { type: "user", description },
          last: "x",
          tags: undefined,
        });
        if (tags.every((tag) => !/[\n"'\\]|: |.{20}/.test(tag))) expect(values.tags, text).toEqual(tags);
      }),
      { numRuns: 400 },
    );
  });
});

describe("B2.10", () => {
  it("needs no YAML library: the reader imports nothing but its own parts", () => {
    const folder = path.resolve(import.meta.dirname, "../../src/text");
    const imports = readdirSync(folder)
      .filter((name) => name.startsWith("frontmatter"))
      .flatMap((name) =>
        [...readFileSync(path.join(folder, name), "utf8").matchAll(/from "([^"]+)"/g)].map((m) => m[1]),
      );
    expect(imports.filter((name) => !name?.startsWith("./frontmatter") && name !== "../errors.ts")).toEqual([]);
  });
});
