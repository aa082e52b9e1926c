import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type HeaderChange,
  hiddenLines,
  type Left,
  mentionPattern,
  type ReconcileOptions,
  reconcile,
} from "../../src/store/index.ts";
import {
  formatIndexLine,
  isOver,
  linkedFiles,
  measureIndex,
  openListing,
  parseIndexLine,
  readReferences,
} from "../../src/store/index-line.ts";
import type { MemoryType } from "../../src/store/memory.ts";
import { type Header, parseHeader } from "../../src/store/memory.ts";
import { splitLines } from "../../src/text/lines.ts";
import { makeWorld, note, type World } from "../world.ts";

function header(file: string, name = file, description = "d", type: MemoryType = "user", more = ""): Header {
  const quote = JSON.stringify;
  return parseHeader(
    file,
    `---\nname: ${quote(name)}\ndescription: ${quote(description)}\ntype: ${type}\n${more}---\n`,
  );
}

const LIMITS = { maxLines: 200, maxChars: 25_000 };
const NOTHING: Left = { text: null, sameMore: true, retired: [], hidden: [] };

interface Asked extends Partial<ReconcileOptions> {
  more?: string;
  left?: Partial<Left>;
  /** What is on disk besides the changes. */
  there?: readonly Header[];
}

/** One step, and a second one with its result: that must change nothing. */
function run(index: string | null, changes: readonly HeaderChange[], asked: Asked = {}) {
  const { more = "", left, there = [], ...rest } = asked;
  const files = new Map<string, Header | null>(there.map((each) => [each.file, each]));
  for (const { file, before, after } of changes) {
    files.set(file, null);
    if (before) files.set(before.file, null);
    if (after) files.set(after.file, after);
  }
  const find = (file: string) => files.get(file.normalize("NFC")) ?? null;
  const all = () => [...files.values()].filter((each) => each !== null);
  const options: ReconcileOptions = { limits: LIMITS, find, ageDays: () => 0, all, ...rest };
  const first = reconcile({ index, more }, { ...NOTHING, text: index, ...left }, changes, options);
  if (!rest.plan) {
    const again = reconcile(first.pages, { ...NOTHING, text: first.pages.index }, changes, options);
    expect(again.pages).toEqual(first.pages);
  }
  return first;
}

const put = (after: Header, before: Header | null = null): HeaderChange => ({ file: after.file, before, after });
const drop = (before: Header): HeaderChange => ({ file: before.file, before, after: null });
const move = (before: Header, after: Header): HeaderChange => ({ file: before.file, before, after });
const indexOf = (...args: Parameters<typeof run>) => run(...args).pages.index;

describe("a save", () => {
  it("appends to an index without sections", () => {
    expect(indexOf("", [put(header("a.md"))])).toBe("- [a.md](a.md) — d\n");
    expect(indexOf("# Memory Index\n\n- [x](x.md)\n", [put(header("a.md"))])).toBe(
      "# Memory Index\n\n- [x](x.md)\n- [a.md](a.md) — d\n",
    );
  });

  it("adds one line to a text whose last line has no break, and no more", () => {
    expect(indexOf("# T", [put(header("a.md"))])).toBe("# T\n- [a.md](a.md) — d");
  });

  it("C-1 an index with CRLF gets lines with CRLF", () => {
    const text = "# T\r\n- [b](b.md)\r\n";
    const added = indexOf(text, [put(header("a.md"))]);
    expect(added).toBe(`${text}- [a.md](a.md) — d\r\n`);
    expect(indexOf(added, [put(header("a.md", "new"), header("a.md"))])).toBe(`${text}- [new](a.md) — d\r\n`);
  });

  it("rewords memdir's own line in its place", () => {
    const text = "top\n- [a.md](a.md) — d\nbottom\n";
    expect(indexOf(text, [put(header("a.md", "a.md", "new"), header("a.md"))])).toBe(
      "top\n- [a.md](a.md) — new\nbottom\n",
    );
  });

  it("C10 leaves a line in other words alone", () => {
    const text = "- [My words](a.md) — chosen with care\n";
    expect(indexOf(text, [put(header("a.md", "a.md", "new"), header("a.md"))])).toBe(text);
  });

  it("keeps one of several own lines, as after a merge", () => {
    const own = "- [a.md](a.md) — d\n";
    expect(indexOf(`x\n${own}y\n${own}`, [put(header("a.md", "a.md", "n"), header("a.md"))])).toBe(
      "x\n- [a.md](a.md) — n\ny\n",
    );
  });

  it("a wiki link by name follows a new name", () => {
    const text = "- [[Old Name|Title]] and [[other]]\n";
    expect(indexOf(text, [put(header("x1.md", "New name"), header("x1.md", "old-name"))])).toBe(
      "- [[New name|Title]] and [[other]]\n",
    );
  });

  it("makes a missing index from all memories", () => {
    const there = [header("b.md", "b"), header("c.md", "c")];
    expect(indexOf(null, [put(header("a.md", "a"))], { there })).toBe(
      "- [a](a.md) — d\n- [b](b.md) — d\n- [c](c.md) — d\n",
    );
    expect(indexOf(null, [], { there })).toBeNull();
  });

  const sections =
    "# Project Memory\n\n## User\n- A [u.md]\n\n## Feedback\n- B [f.md]\n\n## Project\n- C [p.md]\n\n## Reference\n";
  it.each([
    ["user", "- A [u.md]\n"],
    ["feedback", "- B [f.md]\n"],
    ["project", "- C [p.md]\n"],
    ["reference", "## Reference\n"],
  ] as const)("B4.8 a %s memory goes behind the last line of its section", (type, before) => {
    expect(indexOf(sections, [put(header("n.md", "n", "d", type))])).toBe(
      sections.replace(before, `${before}- [n](n.md) — d\n`),
    );
  });

  it("B4.8 a section with more words in its heading", () => {
    expect(indexOf("## User preferences\n- x\n\n## Other\n", [put(header("n.md", "n"))])).toBe(
      "## User preferences\n- x\n- [n](n.md) — d\n\n## Other\n",
    );
  });
});

describe("what is in a comment", () => {
  const other = header("b.md");

  it.each(["<!-- [a](a.md) -->\n", "<!--\n- [a](a.md) — old\n-->\n", "- [b](b.md) <!-- once a.md, [[a]] -->\n"])(
    "lists no memory and stays as it is: %j",
    (text) => {
      expect(openListing(text)(header("a.md"))).toBe(false);
      expect(indexOf(text, [put(header("a.md"))], { there: [other] })).toBe(`${text}- [a.md](a.md) — d\n`);
      expect(indexOf(text, [drop(header("a.md"))], { there: [other] })).toBe(text);
      const listed = `${text}- [b.md](b.md) — d\n`;
      expect(indexOf(text, [], { there: [other], rebuild: true })).toBe(text.includes("(b.md)") ? text : listed);
    },
  );

  it("does not come back when somebody deletes it", () => {
    const before = "<!--\n- [a](a.md) — old\n-->\n- [b](b.md)\n";
    const { pages } = run("- [b](b.md)\n", [], { left: { text: before }, there: [header("a.md"), other] });
    expect(pages.index).toBe("- [b](b.md)\n");
  });

  it("ends only where it is closed", () => {
    expect(openListing("<!-- [a](a.md)\n")(header("a.md"))).toBe(true);
  });
});

describe("forgetting", () => {
  it("takes out every line that is there for the memory alone, in whatever shape", () => {
    const text =
      "# T\n- [a.md](a.md) — d\n- ★ [x](./a.md)\n| [A](a.md) | row |\n- [[a]]\n[A](a.md): alone\n- `a.md` — code\n- Last [a.md]\nend\n";
    expect(indexOf(text, [drop(header("a.md"))])).toBe("# T\nend\n");
  });

  it("leaves lines with other memories or other words, and reports them", () => {
    const text = "- [b](b.md) see [a](a.md)\nprose (a.md)\n- [[a]] and [[c]]\n- read a.md first\n";
    const { pages, notices } = run(text, [drop(header("a.md"))], { there: [header("b.md")] });
    expect(pages.index).toBe(text);
    expect(notices).toHaveLength(4);
    expect(notices[0]).toBe("line 1 of MEMORY.md still names a.md among other words: edit it by hand");
  });

  it("what a description mentions is no other memory, if there is none", () => {
    expect(indexOf("- [A](a.md) — as docs/RELEASE.md says\n", [drop(header("a.md"))])).toBe("");
  });

  it("finds a file by NFC and NFD alike, and without case", () => {
    expect(indexOf("- [x](caf\u00e9.md)\n", [drop(header("cafe\u0301.md"))])).toBe("");
    expect(indexOf("- [x](cafe\u0301.md)\n", [drop(header("caf\u00e9.md"))])).toBe("");
    expect(indexOf("- [x](Notes.md)\n", [drop(header("notes.md"))])).toBe("");
  });
});

describe("renaming", () => {
  it("an own line gets the new name, a line in other words only the new target", () => {
    const text = "- [old](old.md) — d\n- [My words](./old.md#part) — mine\n- Short [old.md]\n- [other](other.md)\n";
    expect(indexOf(text, [move(header("old.md", "old"), header("user_new.md", "new"))])).toBe(
      "- [new](user_new.md) — d\n- [My words](./user_new.md#part) — mine\n- Short [user_new.md]\n- [other](other.md)\n",
    );
  });

  it.each([
    ["- [a (b) \\] c](old.md) see [x](y)\n", "- [a (b) \\] c](n.md) see [x](y)\n"],
    ["- [mine](<old.md>) — x\n", "- [mine](n.md) — x\n"],
    ["- [D](d.md) · [E](old.md) · `old.md`\n", "- [D](d.md) · [E](n.md) · `n.md`\n"],
    ["- [[old]], [[OLD|Title]], [[old.md#part]]\n", "- [[n]], [[n|Title]], [[n.md#part]]\n"],
    ["Prose about old.md.\n", "Prose about n.md.\n"],
    ["| x | [old](old.md) |\n", "| x | [old](n.md) |\n"],
  ])("%j", (before, after) => {
    expect(indexOf(before, [move(header("old.md"), header("n.md"))])).toBe(after);
  });

  it("a memory without a line gets one", () => {
    expect(indexOf("# T\n", [move(header("old.md"), header("n.md", "n"))])).toBe("# T\n- [n](n.md) — d\n");
  });
});

describe("what an editor with an older text wrote", () => {
  const there = ["a", "b"].map((name) => header(`${name}.md`, name, "new"));
  const restored = (index: string, left: Partial<Left>, more = "") =>
    indexOf(index, [], { there, more, left: { sameMore: more === "", ...left } });

  it("gets our line back in its place", () => {
    const text = "# Mine\n- [a](a.md) — new\n- [b](b.md) — new\n";
    expect(restored("# Mine\nnew by hand\n- [b](b.md) — new\n", { text })).toBe(
      "# Mine\n- [a](a.md) — new\nnew by hand\n- [b](b.md) — new\n",
    );
  });

  it("does not get back the line of a memory that is gone, or that is on the overflow page", () => {
    expect(restored("", { text: "- [c](c.md)\n" })).toBe("");
    expect(restored("", { text: "- [a](a.md)\n" }, "- [a](a.md)\n")).not.toContain("(a.md)");
  });

  it("does not get back a line whose memory it names in other words", () => {
    expect(restored("See [[a]].\n", { text: "- [a](a.md) — new\n" })).toBe("See [[a]].\n");
  });

  it("a line that we had replaced gets its new words, one that we had removed goes", () => {
    const retired = ["- [a](a.md) — old", "- [c](c.md) — forgotten"];
    const text = "- [a](a.md) — old\n- [c](c.md) — forgotten\n- [b](b.md) — my own words\n";
    expect(restored(text, { text: "", retired })).toBe("- [a](a.md) — new\n- [b](b.md) — my own words\n");
  });

  it("shows hidden lines again, once", () => {
    const hidden = hiddenLines("top\nby hand\n", "top\n");
    expect(restored("top\nbottom\n", { text: "", hidden })).toBe("top\nby hand\nbottom\n");
    expect(restored("by hand\n", { text: "", hidden })).toBe("by hand\n");
  });

  it("lines that memdir takes out are remembered, but not the link to the overflow page", () => {
    const index = "# Mine\n- [a](a.md) — old\n- [More memories](MEMORY.more.md) — 3 further memories\nby hand\n";
    const { retired } = run(index, [put(header("a.md", "a", "new"), header("a.md", "a", "old"))]);
    expect(retired).toEqual(["- [a](a.md) — old"]);
  });

  it("a person may go back to words of an earlier day", () => {
    const [first, second] = ["- [My words](a.md)\n", "- [Other words](a.md)\n"];
    const { retired } = run(second, [], { there, left: { text: first } });
    expect(restored(first, { text: second, retired })).toBe(first);
  });
});

describe("rebuilding", () => {
  it("adds what no line names, takes out pointers to nothing, and says so", () => {
    const there = [header("a.md", "a"), header("b.md", "b")];
    const { pages, notices } = run("- [[b]]\n- [gone](gone.md)\n- read docs/x.md\n", [], { there, rebuild: true });
    expect(pages.index).toBe("- [[b]]\n- read docs/x.md\n- [a](a.md) — d\n");
    expect(notices).toEqual(["added a.md", "removed lines that point to nothing or are there twice: gone.md"]);
  });
});

describe("the cap", () => {
  const CAP = { maxLines: 20, maxChars: 25_000 };
  const numbered = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}${i}`);

  function fitted(
    names: readonly string[],
    values: (name: string) => { type?: MemoryType; pinned?: boolean; age?: number },
    saved?: string,
  ) {
    const there = names.map((name) => {
      const { type = "user", pinned = false } = values(name);
      return header(`${name}.md`, name, "", type, pinned ? "pinned: true\n" : "");
    });
    const index = there.map((each) => `${formatIndexLine(each)}\n`).join("");
    const ageDays = ({ name }: Header) => values(name).age ?? 0;
    return run(index, [], { there, limits: CAP, ageDays, saved });
  }

  it("an index under it is left alone", () => {
    expect(fitted(numbered("a", 20), () => ({}))).toMatchObject({ moved: [], pages: { more: "" } });
  });

  it("C13 stale project goes first, then reference, fresh project, user; feedback and pinned last", () => {
    const values: Record<string, { type: MemoryType; age?: number; pinned?: boolean }> = {
      stale: { type: "project", age: 60 },
      ref: { type: "reference" },
      fresh: { type: "project", age: 1 },
      user: { type: "user" },
      feedback: { type: "feedback" },
      pinned: { type: "project", age: 90, pinned: true },
    };
    const order = ["pinned", "feedback", "user", "fresh", "ref", "stale"];
    // 21 lines: five go, one of them makes room for the link.
    const value = (name: string) => values[name] ?? { type: "feedback" as MemoryType, pinned: true };
    expect(fitted([...numbered("x", 15), ...order], value).moved).toEqual(
      ["stale", "ref", "fresh", "user", "feedback"].map((name) => `${name}.md`),
    );
  });

  it("C13 of a kind the oldest goes first, a line in other words later than an own one", () => {
    const there = numbered("a", 21).map((name) => header(`${name}.md`, name, ""));
    const lines = there.map((each, at) => (at < 19 ? formatIndexLine(each) : `- [My ${each.name}](${each.file})`));
    const ageDays = ({ name }: Header) => Number(name.slice(1));
    const { moved } = run(`${lines.join("\n")}\n`, [], { there, limits: CAP, ageDays });
    expect(moved).toEqual(["a18.md", "a17.md", "a16.md", "a15.md", "a14.md"]);
  });

  it("C13 the memory just saved stays in the index", () => {
    const value = (name: string) =>
      name === "a20" ? { type: "project" as const, age: 99 } : { type: "feedback" as const };
    const { moved } = fitted(numbered("a", 21), value, "a20.md");
    expect(moved).not.toContain("a20.md");
    expect(moved).toHaveLength(5);
  });

  it("C13 no more is moved than is of use when hand-written text fills the index", () => {
    const there = [
      header("p.md", "p", "", "project"),
      header("q.md", "q", "", "feedback"),
      header("r.md", "r", "", "feedback", "pinned: true\n"),
    ];
    const index = "hand-written\n".repeat(18) + there.map((each) => `${formatIndexLine(each)}\n`).join("");
    const { pages, moved } = run(index, [], { there, limits: CAP, ageDays: () => 50 });
    expect(isOver(measureIndex(pages.index ?? ""), CAP)).toBe(false);
    // 18 by hand, the link: one more line fits, and it is the pinned one.
    expect(moved).toEqual(["p.md", "q.md"]);
  });

  it("what others brought over it stays where it is, until rebuilding is asked for", () => {
    const there = numbered("a", 25).map((name) => header(`${name}.md`, name, ""));
    const index = there.map(({ name, file }) => `- [My ${name}](${file})\n`).join("");
    const saved = header("user_new.md", "new");
    const { pages, moved, notices } = run(index, [put(saved)], { there, limits: CAP, saved: saved.file });
    expect({ moved, index: pages.index }).toEqual({ moved: [], index: `${index}${formatIndexLine(saved)}\n` });
    expect(notices.join()).toMatch(/over the client's limit, as it was before.*index --rebuild/);
    const rebuilt = run(index, [], { there, limits: CAP, rebuild: true });
    expect(isOver(measureIndex(rebuilt.pages.index ?? ""), CAP)).toBe(false);
    expect(rebuilt.pages.more).toContain("- [My a0](a0.md)");
  });

  it("lines that point to no memory, to several, or have others below them are not moved", () => {
    const there = [header("a.md"), header("b.md")];
    const index = `${"- [x](x.md)\n".repeat(30)}- [A](a.md), [B](b.md)\n- [A](a.md)\n  more about it\n`;
    const { pages, moved, notices } = run(index, [], { there, limits: CAP });
    expect({ moved, index: pages.index }).toEqual({ moved: [], index });
    expect(notices.join()).toMatch(/over the client's limit/);
  });
});

/** Every shape in which real indexes name a memory. */
const SHAPES: readonly ((file: string, name: string) => string)[] = [
  (file) => `- [Title](${file}) — a hook`,
  (file) => `- [Title](./${file})`,
  (file) => `* ★ [Title](${file}): hook`,
  (file) => `- **[Title](${file})** (user) — hook`,
  (file) => `1. [Title](${file}#part)`,
  (file) => `  - [ ] [Title](${file})`,
  (file) => `- [Title](${file.replace("m", "%6D")})`,
  (file) => `| [Title](${file}) | hook |`,
  (file) => `| topic | \`${file}\` |`,
  (file) => `- [[${file.replace(/\.md$/, "")}]] — hook`,
  (file) => `- 🔥 [[${file.replace(/\.md$/, "").toUpperCase()}|Title]]`,
  (file) => `- [[${file}]]`,
  (_, name) => `- [[${name.replaceAll(" ", "-")}]]`,
  (file) => `- \`${file}\` — hook`,
  (file) => `- ${file}: hook`,
  (file) => `- Some words [${file}]`,
  (file) => `Prose that mentions ${file} among other words.`,
];
const HAND = ["# Memory Index", "", "Some prose, **bold**.", "<!-- a comment -->", "## Notes", "- a plain item"].concat(
  ["- [site](https://example.com/m1.md)", "\ttabs and trailing blanks   ", "---", "| a | table |", "- [up](../m1.md)"],
);
const FILES = ["m1.md", "sub/m2.md", "project_m3.md"];
const NEW = header("user_fresh.md", "Fresh one", "new here", "reference");
const memory = (file: string, description = "d") => header(file, `Name of ${file.replace(/\W/g, " ")}`, description);

interface Sample {
  text: string;
  /** The line of each memory; several may be on one. */
  lines: string[];
}

const sample: fc.Arbitrary<Sample> = fc
  .record({
    hand: fc.array(fc.constantFrom(...HAND), { maxLength: 8 }),
    shapes: fc.tuple(...FILES.map(() => fc.constantFrom(...SHAPES))),
    joined: fc.boolean(),
    order: fc.infiniteStream(fc.nat()),
    eol: fc.constantFrom("\n", "\r\n"),
    end: fc.boolean(),
  })
  .map(({ hand, shapes, joined, order, eol, end }) => {
    const named = shapes.map((shape, i) => shape(FILES[i] as string, memory(FILES[i] as string).name));
    const lines = joined ? [named[0] as string, `- [A](${FILES[1]}) · [B](./${FILES[2]})`] : named;
    const all = [...hand, ...lines]
      .map((line) => ({ line, at: order.next().value as number }))
      .sort((a, b) => a.at - b.at)
      .map(({ line }) => line);
    return { text: all.join(eol) + (end ? eol : ""), lines };
  });

describe("any index in the shapes that real ones have", () => {
  const there = FILES.map((file) => memory(file));

  it.each(SHAPES.map((shape) => [shape("m1.md", "Name of m1 md")]))("%j names m1.md", (line) => {
    expect(openListing(line)(memory("m1.md"))).toBe(true);
    expect(openListing(line)(memory("m11.md"))).toBe(false);
  });

  it("whatever names a memory holds what is searched for, as text and as bytes", () => {
    const part = fc.constantFrom(
      "café",
      "Ölpreis",
      "İstanbul",
      "\u212aelvin",
      "a b",
      "m1",
      "测试",
      "🔥",
      "x-y_z",
      "%25",
      "100",
    );
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 3 }), fc.constantFrom(...SHAPES), (parts, shape) => {
        const named = header(`user_${parts.join("_")}.md`, parts.join(" "));
        const line = shape(named.file, named.name);
        for (const text of [line, line.normalize("NFD"), line.toUpperCase(), encodeURI(line)]) {
          const pattern = mentionPattern([put(named)]);
          if (!pattern || !openListing(text)(named)) continue;
          expect(pattern.test(text)).toBe(true);
          expect(pattern.test(Buffer.from(text).toString("latin1"))).toBe(true);
        }
      }),
      { numRuns: 1000 },
    );
  });

  it("a listed memory gets no second line, and its words stay", () => {
    fc.assert(
      fc.property(sample, fc.constantFrom(...FILES), ({ text }, file) => {
        expect(indexOf(text, [put(memory(file, "new words"), memory(file))], { there })).toBe(text);
        expect(indexOf(text, [put(memory(file))], { there })).toBe(text);
        expect(indexOf(text, [], { there, rebuild: true })).toBe(text);
      }),
    );
  });

  it("a new memory adds exactly one line", () => {
    fc.assert(
      fc.property(sample, ({ text }) => {
        const before = text.split("\n");
        const after = (indexOf(text, [put(NEW)], { there }) ?? "").split("\n");
        const at = after.findIndex((line) => line.trimEnd() === formatIndexLine(NEW));
        expect(after.toSpliced(at, 1).map((line) => line.trimEnd())).toEqual(before.map((line) => line.trimEnd()));
      }),
    );
  });

  it("forgetting takes lines of that memory only", () => {
    fc.assert(
      fc.property(sample, fc.constantFrom(...FILES), ({ text }, file) => {
        const { pages, notices } = run(text, [drop(memory(file))], { there });
        const kept = splitLines(pages.index ?? "");
        const gone = splitLines(text).filter((line) => !kept.includes(line));
        for (const line of gone) expect(openListing(line)(memory(file))).toBe(true);
        const others = there.filter((each) => each.file !== file);
        for (const other of others) expect(openListing(pages.index ?? "")(other)).toBe(true);
        expect(openListing(pages.index ?? "")(memory(file))).toBe(notices.length > 0);
      }),
    );
  });

  it("a rename changes the target and nothing else", () => {
    fc.assert(
      fc.property(sample, fc.constantFrom(...FILES), ({ text }, file) => {
        const next = header("user_renamed.md", "Renamed memory");
        const renamed = indexOf(text, [move(memory(file), next)], { there }) ?? "";
        expect(renamed.split("\n")).toHaveLength(text.split("\n").length);
        expect(openListing(renamed)(next)).toBe(true);
        expect(openListing(renamed)(memory(file))).toBe(false);
        const back = indexOf(renamed, [move(next, memory(file))], { there }) ?? "";
        expect(linkedFiles(back).size).toBe(linkedFiles(text).size);
      }),
    );
  });

  it("through any adds, updates and removes, what others wrote stays byte for byte", () => {
    const files = ["a.md", "b.md", "c.md"];
    const action = fc.record({
      file: fc.constantFrom(...files),
      verb: fc.constantFrom("put", "remove"),
      name: fc.constantFrom("one", "two `x`", "](x.md)", "<b>"),
      type: fc.constantFrom<MemoryType>("user", "feedback", "project", "reference"),
    });
    fc.assert(
      fc.property(sample, fc.array(action, { maxLength: 12 }), ({ text }, actions) => {
        let index = text;
        const current = new Map<string, Header>();
        for (const { file, verb, name, type } of actions) {
          const next = header(file, `${name} of ${file}`, "d", type);
          const before = current.get(file) ?? null;
          if (verb === "put") current.set(file, next);
          else current.delete(file);
          if (verb === "remove" && !before) continue;
          const change = verb === "put" ? put(next, before) : drop(before as Header);
          index = indexOf(index, [change], { there: [...there, ...current.values()] }) ?? "";
        }
        const own = new Set([...current.values()].map((each) => formatIndexLine(each)));
        const bare = index.split("\n").map((line) => line.trimEnd());
        expect(bare.filter((line) => own.has(line)).sort()).toEqual([...own].sort());
        const rest = splitLines(index).filter((line) => !own.has(line.trimEnd()));
        expect(rest.join("").trimEnd()).toBe(text.trimEnd());
      }),
    );
  });

  it("giant lines are read at once", () => {
    for (const text of [
      "[".repeat(50_000),
      "[a](".repeat(20_000),
      "[x.md".repeat(20_000),
      "[[a".repeat(20_000),
      ".md".repeat(30_000),
    ])
      for (const line of [`- a${text}b`, `- [a](${text}b`, `- [${text}.md`]) {
        readReferences(line);
        parseIndexLine(line);
      }
  });
});

/** All that a person sees: memories, index and overflow page. */
function state(world: World): Record<string, string> {
  return Object.fromEntries(world.files().map((file) => [file, world.read(file)]));
}

describe("undo", () => {
  async function start(text: string) {
    const world = makeWorld();
    for (const file of FILES) world.write(file, `---\nname: Name of ${file.replace(/\W/g, " ")}\ntype: user\n---\n`);
    world.write("MEMORY.md", text);
    return { world, memdir: await world.open() };
  }

  it("of any change gives every byte back, and undoing that the change", async () => {
    const verbs = fc.constantFrom("save", "update", "forget", "rename", "rebuild", "prune", "put");
    await fc.assert(
      fc.asyncProperty(sample, verbs, async ({ text }, verb) => {
        const { world, memdir } = await start(text);
        const before = state(world);
        const { undo } = await {
          save: () => memdir.save(note("Fresh one")),
          update: () => memdir.save({ type: "user", name: "Name of m1 md", description: "new", body: "New." }),
          forget: () => memdir.forget("project_m3.md"),
          rename: () => memdir.rename("m2", "other"),
          rebuild: () => memdir.rebuildIndex(),
          prune: () => memdir.prune({ files: FILES.map((file) => ({ file, reason: "x" })), dryRun: false }),
          put: () => memdir.put(world.path("MEMORY.md"), `${text}\nMy own line.\n`, text),
        }[verb]();
        if (undo === null) return;
        const after = state(world);
        const undone = await memdir.undo(undo);
        expect(state(world)).toEqual(before);
        await memdir.undo(undone.undo);
        expect(state(world)).toEqual(after);
      }),
      { numRuns: 40 },
    );
  });

  it("after somebody edited the index keeps both", async () => {
    await fc.assert(
      fc.asyncProperty(sample, fc.constantFrom("save", "forget", "rename"), async ({ text }, verb) => {
        const { world, memdir } = await start(text);
        const { undo } = await {
          save: () => memdir.save(note("Fresh one")),
          forget: () => memdir.forget("project_m3.md"),
          rename: () => memdir.rename("m2", "other"),
        }[verb]();
        world.write("MEMORY.md", `A line by hand.\n\n\n\n${world.index()}`);
        await memdir.undo(undo ?? "");
        // Where blank lines meet, a merge cannot tell which of them are whose.
        const written = (page: string) => page.split("\n").filter((line) => line.trim() !== "");
        expect(written(world.index())).toEqual(["A line by hand.", ...written(text)]);
      }),
      { numRuns: 30 },
    );
  });
});
