import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatSource, MEMORY_TYPES, parseHeader, parseMemory, stemOf } from "../../src/store/memory.ts";
import { formatDocument } from "../../src/text/frontmatter.ts";

function file(...lines: string[]): string {
  return `---\n${lines.join("\n")}\n---\n\nBody.\n`;
}

describe("parseMemory", () => {
  it.each(MEMORY_TYPES)("B2.1 takes the type %s", (type) => {
    expect(parseMemory("a.md", file("name: a", "description: d", `type: ${type}`))).toMatchObject({
      type,
      typeExplicit: true,
      problems: [],
    });
  });

  it("B2.1 C8 another type is read as user, not explicit, with a problem that names the four", () => {
    const memory = parseMemory("a.md", file("name: a", "type: opinion"));
    expect(memory).toMatchObject({ type: "user", typeExplicit: false, broken: false });
    expect(memory.problems).toEqual(['"opinion" is not a type: use one of user, feedback, project, reference']);
  });

  it("B2.2 C8 an empty file has every default", () => {
    expect(parseMemory("a.md", "")).toMatchObject({
      name: "a",
      description: "",
      type: "user",
      typeExplicit: false,
      body: "",
      created: null,
      modified: null,
      verified: null,
      pinned: false,
      links: [],
      when: [],
      source: null,
      metadata: {},
      broken: false,
    });
  });

  it("B2.3 the name defaults to the stem", () => {
    expect(parseMemory("project/architecture.md", file("type: project")).name).toBe("architecture");
    expect(stemOf("a/b.c.md")).toBe("b.c");
  });

  it("B2.12 003's fields: created is read, age is kept as written and not taken for an age", () => {
    const memory = parseMemory("project/x.md", file("type: project", "created: 2026-01-15", "age: fresh"));
    expect(memory).toMatchObject({ type: "project", created: "2026-01-15T00:00:00.000Z", problems: [] });
    expect(memory.metadata.age).toBe("fresh");
  });

  it("C7 a file without frontmatter is degraded, never dropped", () => {
    const memory = parseMemory("notes.md", "Just a text.\n");
    expect(memory).toMatchObject({ name: "notes", body: "Just a text.\n", broken: false, typeExplicit: false });
    expect(memory.problems).toEqual(["no frontmatter: name, description and type are unknown"]);
  });

  it.each([
    ["user/a.md", "user"],
    ["feedback/deep/a.md", "feedback"],
    ["auto/a.md", "user"],
    ["a.md", "user"],
    ["project", "user"],
  ])("B1.11 C5 %s: the folder is a hint", (path, type) => {
    expect(parseMemory(path, file("name: a"))).toMatchObject({ type, typeExplicit: false });
  });

  it("C5 the file's own type outranks its folder", () => {
    expect(parseMemory("project/a.md", file("name: a", "type: feedback"))).toMatchObject({
      type: "feedback",
      typeExplicit: true,
    });
  });

  const optional = [
    ["created", "2026-01-02T03:04:05.000Z", { created: "2026-01-02T03:04:05.000Z" }],
    ["modified", '"2026-01-02"', { modified: "2026-01-02T00:00:00.000Z" }],
    ["modified", "2026-01-02 # by hand", { modified: "2026-01-02T00:00:00.000Z" }],
    ["modified", "last week", { modified: null }],
    ["verified", "2026-01-02T03:04:05+02:00", { verified: "2026-01-02T01:04:05.000Z" }],
    ["pinned", "true", { pinned: true }],
    ["pinned", '"true"', { pinned: true }],
    ["pinned", "Yes # keep", { pinned: true }],
    ["pinned", "false", { pinned: false }],
    ["pinned", "maybe", { pinned: false }],
    ["links", "[a, b]", { links: ["a", "b"] }],
    ["links", "one", { links: ["one"] }],
    ["when", "[writing tests, 'naming: things']", { when: ["writing tests", "naming: things"] }],
    ["when", '"before a release"', { when: ["before a release"] }],
    ["source", "user", { source: { by: "user", session: null, message: null } }],
    ["source", "inferred session=s1 message=m2", { source: { by: "inferred", session: "s1", message: "m2" } }],
    ["source", "{ by: tool, session: s1 }", { source: { by: "tool", session: "s1", message: null } }],
    ["source", "[user]", { source: null }],
    ["type", "feedback # a correction", { type: "feedback", typeExplicit: true }],
  ] as const;

  it.each(optional)("C7 %s: %s at the top level", (key, value, expected) => {
    expect(parseMemory("a.md", file("name: a", `${key}: ${value}`))).toMatchObject(expected);
  });

  it.each(optional)("C7 %s: %s under metadata", (key, value, expected) => {
    const text = file("name: a", "metadata:", "  node_type: memory", `  ${key}: ${value}`);
    expect(parseMemory("a.md", text)).toMatchObject(expected);
  });

  it("C7 lists and maps over several lines, at the top and under metadata", () => {
    const lines = ["when:", "  - writing tests", "  - naming", "source:", "  by: document", "  message: m1"];
    const expected = { when: ["writing tests", "naming"], source: { by: "document", session: null, message: "m1" } };
    expect(parseMemory("a.md", file("name: a", ...lines))).toMatchObject(expected);
    const nested = file("name: a", "metadata:", ...lines.map((line) => `  ${line}`));
    expect(parseMemory("a.md", nested)).toMatchObject(expected);
  });

  it("C7 metadata as a map in braces", () => {
    expect(parseMemory("a.md", file("name: a", "metadata: { type: project, pinned: true }"))).toMatchObject({
      type: "project",
      typeExplicit: true,
      pinned: true,
    });
  });

  it("C7 the top level outranks metadata", () => {
    expect(parseMemory("a.md", file("type: user", "metadata:", "  type: project")).type).toBe("user");
  });

  it("C39 # and : stay in values, a BOM and CRLF do not matter", () => {
    const text = "\uFEFF---\r\nname: a\r\ndescription: fix: see #12\r\ntype: user\r\n---\r\n\r\nBody.\r\n";
    expect(parseMemory("a.md", text)).toMatchObject({ description: "fix: see #12", body: "Body.", problems: [] });
  });

  it.each([
    ["an unclosed frontmatter", "---\nname: a\n\nBody.\n", /no closing/],
    ["a line that is no field", file("name: a", "what is this"), /line 3 is not "key: value"/],
    ["a field twice", file("name: a", "name: b"), /second time/],
    ["an unclosed quote", file('name: "a'), /quote is never closed/],
  ])("C7 %s makes the file broken and is said", (_, text, reason) => {
    const memory = parseMemory("a.md", text);
    expect(memory.broken).toBe(true);
    expect(memory.problems.join("\n")).toMatch(reason);
  });

  it("C7 what can be read of a broken file is read", () => {
    expect(parseMemory("a.md", file("name: the name", "???", "type: project"))).toMatchObject({
      name: "the name",
      type: "project",
      broken: true,
    });
  });

  it("C7 invalid UTF-8 is read with replacement characters and never rewritten", () => {
    const data = Buffer.concat([Buffer.from("---\nname: a\ntype: user\n---\n\n"), Buffer.from([0xff, 0xfe])]);
    const memory = parseMemory("a.md", data);
    expect(memory).toMatchObject({ name: "a", type: "user", broken: true });
    expect(memory.problems[0]).toMatch(/^not valid UTF-8: .*save it as UTF-8.*iconv -f latin1 -t utf-8/);
  });

  it("a number or a list where text belongs is no name", () => {
    expect(parseMemory("a.md", file("name: [x, y]")).name).toBe("a");
    expect(parseMemory("a.md", file("name: 42")).name).toBe("42");
  });

  it("never throws, and header and memory agree, whatever the text", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("---", "name: a", "type: user", "  x: [", "- ", "metadata:", '"', "\r", "")),
        (l) => {
          const text = l.join("\n");
          const { body: _, metadata: __, ...header } = parseMemory("a.md", text);
          expect(parseHeader("a.md", text)).toEqual(header);
        },
      ),
    );
  });

  it("C7 what the strict writer writes is read back without problems", () => {
    fc.assert(
      fc.property(
        fc.record({
          name: fc.string({ minLength: 1, unit: "grapheme" }).filter((s) => s.trim() === s && !/[\p{Cc}\s]/u.test(s)),
          when: fc.array(
            fc
              .string({ minLength: 1 })
              .map((s) => s.trim())
              .filter((s) => s !== ""),
            { minLength: 1 },
          ),
          body: fc.string().map((s) => s.trim()),
        }),
        ({ name, when, body }) => {
          const text = formatDocument({ name, description: "d", type: "user", when }, body);
          expect(parseMemory("a.md", text)).toMatchObject({ name, when, body, type: "user", problems: [] });
        },
      ),
    );
  });

  it("formatSource writes what parseMemory reads", () => {
    for (const source of [
      { by: "user", session: null, message: null },
      { by: "tool", session: "s", message: "m" },
      { by: "document", session: null, message: "m" },
    ]) {
      expect(parseMemory("a.md", file(`source: ${formatSource(source)}`)).source).toEqual(source);
    }
  });
});
