import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatIndexLine, parseIndexLine } from "../../src/store/index-line.ts";
import { moveLine, putLine, removeLines, splitLines } from "../../src/store/index-text.ts";
import { type Header, type MemoryType, parseHeader } from "../../src/store/memory.ts";

function header(file: string, name = file, description = "d", type: MemoryType = "user"): Header {
  return parseHeader(
    file,
    `---\nname: ${JSON.stringify(name)}\ndescription: ${JSON.stringify(description)}\ntype: ${type}\n---\n`,
  );
}

const HAND = [
  "# Memory Index\n",
  "\n",
  "Some prose, **bold**.\n",
  "<!-- a comment -->\n",
  "## Notes\n",
  "- a plain item\n",
  "- [site](https://example.com)\n",
  "- [mine](other.md) in my own words\n",
  "\ttabs and trailing blanks   \n",
  "---\n",
];

describe("putLine", () => {
  it("appends to an index without sections", () => {
    expect(putLine("", header("a.md"), null)).toBe("- [a.md](a.md) — d\n");
    expect(putLine("# Memory Index\n\n- [x](x.md)\n", header("a.md"), null)).toBe(
      "# Memory Index\n\n- [x](x.md)\n- [a.md](a.md) — d\n",
    );
  });

  it("ends a last line that has no break first", () => {
    expect(putLine("# T", header("a.md"), null)).toBe("# T\n- [a.md](a.md) — d\n");
  });

  it("C-1 an index with CRLF gets lines with CRLF", () => {
    const text = "# T\r\n- [b](b.md)\r\n";
    const put = putLine(text, header("a.md"), null);
    expect(put).toBe(`${text}- [a.md](a.md) — d\r\n`);
    expect(putLine(put, header("a.md", "new"), header("a.md"))).toBe(`${text}- [new](a.md) — d\r\n`);
  });

  it("replaces memdir's own line in its place", () => {
    const text = "top\n- [a.md](a.md) — d\nbottom\n";
    expect(putLine(text, header("a.md", "a.md", "new"), header("a.md"))).toBe("top\n- [a.md](a.md) — new\nbottom\n");
  });

  it("C10 leaves a hand-worded pointer alone", () => {
    const text = "- [My words](a.md) — chosen with care\n";
    expect(putLine(text, header("a.md", "a.md", "new"), header("a.md"))).toBe(text);
  });

  it.each(["- **[a](a.md)** (user) — d\n", "- Something short [a.md]\n", "* [x](./a.md)\n"])(
    "C9 %j points to a.md already",
    (text) => {
      expect(putLine(text, header("a.md"), null)).toBe(text);
    },
  );

  it("keeps one of several own lines, as after a merge", () => {
    const own = "- [a.md](a.md) — d\n";
    expect(putLine(`x\n${own}y\n${own}`, header("a.md"), header("a.md"))).toBe(`x\n${own}y\n`);
    expect(putLine(`x\n${own}y\n${own}`, header("a.md", "a.md", "n"), header("a.md"))).toBe(
      "x\n- [a.md](a.md) — n\ny\n",
    );
  });

  it("applied twice is applied once", () => {
    const once = putLine("# T\n", header("a.md", "n"), header("a.md"));
    expect(putLine(once, header("a.md", "n"), header("a.md"))).toBe(once);
  });

  describe("sections", () => {
    const sections =
      "# Project Memory\n\n## User\n- A [u.md]\n\n## Feedback\n- B [f.md]\n\n## Project\n- C [p.md]\n\n## Reference\n";
    it.each([
      ["user", "- A [u.md]\n"],
      ["feedback", "- B [f.md]\n"],
      ["project", "- C [p.md]\n"],
      ["reference", "## Reference\n"],
    ] as const)("B4.8 a %s memory goes behind the last line of its section", (type, before) => {
      const put = putLine(sections, header("n.md", "n", "d", type), null);
      expect(put).toBe(sections.replace(before, `${before}- [n](n.md) — d\n`));
    });

    it("B4.8 a section with more words in its heading", () => {
      const text = "## User preferences\n- x\n\n## Other\n";
      expect(putLine(text, header("n.md", "n"), null)).toBe("## User preferences\n- x\n- [n](n.md) — d\n\n## Other\n");
    });
  });
});

describe("removeLines", () => {
  it("takes every line that points to the file, in whatever form, and no other", () => {
    const text = "# T\n- [a.md](a.md) — d\n- Another thing [a.md]\n- [b](b.md) see [a](a.md)\nprose (a.md)\n";
    expect(removeLines(text, "a.md").text).toBe("# T\n- [b](b.md) see [a](a.md)\nprose (a.md)\n");
    expect(removeLines("# T\n", "a.md").text).toBe("# T\n");
  });

  it("finds a file by NFC and NFD alike", () => {
    expect(removeLines("- [x](caf\u00e9.md)\n", "cafe\u0301.md").text).toBe("");
    expect(removeLines("- [x](cafe\u0301.md)\n", "caf\u00e9.md").text).toBe("");
  });
});

describe("moveLine", () => {
  it("an own line gets the new name, a hand-worded one only the new target", () => {
    const text = "- [old](old.md) — d\n- [My words](old.md) — mine\n- Short [old.md]\n- [other](other.md)\n";
    expect(moveLine(text, header("old.md", "old"), header("user_new.md", "new"))).toBe(
      "- [new](user_new.md) — d\n- [My words](user_new.md) — mine\n- Short [user_new.md]\n- [other](other.md)\n",
    );
  });

  it("a hand-worded title with brackets keeps them", () => {
    expect(moveLine("- [a (b) \\] c](old.md) see [x](y)\n", header("old.md"), header("n.md"))).toBe(
      "- [a (b) \\] c](n.md) see [x](y)\n",
    );
  });

  it("a target with encoded characters", () => {
    expect(moveLine("- [mine](<old name.md>) — x\n", header("old name.md"), header("n.md"))).toBe(
      "- [mine](n.md) — x\n",
    );
    expect(moveLine("- [mine](old(1).md) — x\n", header("old(1).md"), header("n.md"))).toBe("- [mine](n.md) — x\n");
  });
});

describe("C10 what others wrote stays byte for byte", () => {
  const files = ["a.md", "b.md", "c.md"];
  const action = fc.record({
    file: fc.constantFrom(...files),
    verb: fc.constantFrom("put", "remove"),
    name: fc.constantFrom("one", "two `x`", "](x.md)", "<b>"),
    type: fc.constantFrom<MemoryType>("user", "feedback", "project", "reference"),
  });
  const lines = fc.array(fc.constantFrom(...HAND, ...HAND.map((l) => l.replace("\n", "\r\n"))), { maxLength: 12 });

  it("through any adds, updates and removes", () => {
    fc.assert(
      fc.property(lines, fc.array(action, { maxLength: 15 }), (hand, actions) => {
        let text = hand.join("");
        const current = new Map<string, Header>();
        for (const { file, verb, name, type } of actions) {
          if (verb === "put") {
            const next = header(file, name, "d", type);
            text = putLine(text, next, current.get(file) ?? null);
            current.set(file, next);
          } else {
            text = removeLines(text, file).text;
            current.delete(file);
          }
        }
        const own = splitLines(text).filter((line) => files.includes(parseIndexLine(line)?.file ?? ""));
        expect(
          splitLines(text)
            .filter((line) => !own.includes(line))
            .join(""),
        ).toBe(hand.join(""));
        expect(own.map((line) => line.trimEnd()).sort()).toEqual(
          [...current.values()].map((h) => formatIndexLine(h)).sort(),
        );
      }),
      { numRuns: 300 },
    );
  });
});
