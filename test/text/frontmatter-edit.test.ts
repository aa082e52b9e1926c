import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import {
  editBody,
  editFields,
  type Field,
  findField,
  formatDocument,
  formatScalar,
  type Metadata,
  parseDocument,
} from "../../src/text/frontmatter.ts";
import { stripFrontmatter } from "../../src/text/lines.ts";

function valuesOf(fields: readonly Field[]): Record<string, unknown> {
  return Object.fromEntries(fields.map((field) => [field.key, field.value]));
}

/** The inside of the frontmatter, as other programs hand it to their YAML library. */
function inside(text: string): string {
  const document = parseDocument(text);
  return text.slice(4, document.fenceStart);
}

/** Texts that mean something else somewhere if they are written carelessly. */
const TRICKY = [
  "true,False,NULL,~,yes,No,on,OFF,y,N,.inf,-.INF,.NaN,nan,1,-1,+1,0x1F,0o17,017,1_000,1e3,.5,1:30,12:30:45,2026-01-02",
  "2026-01-02 10:00:00,--- x,...,---,- a,-,? a,?,: a,:,a:,a: b,a :b,a #b,#a,a# b,[a],[a,{a},{a,]a,}a,&a,*a,!a,!!str a",
  "|,>,|-,> a,%a,@a,`a`,\"a\",'a',\"a,'a,a\",a',it's,C:\\x,<<,=, a,a ,\ta,a\t,a\nb,a\r\nb,\n,\0,\x07,\x1b[31m,\x7f,\x85",
  "\u00a0,a\u00a0,\u2028,\u2029,\uFEFF,\uFEFFa,\ufffe,a\uffffb,\ufffd,😀,é,ﬁ,漢字,\ud800,a\udc00b,http://a.b/#c,a  b,1st,½,²,_,(a),/a,.a",
  "a --- b,a ---,---a,--- ,a\n---\nb,x ---\ty,a---",
]
  .flatMap((line) => line.split(","))
  .concat(",", "a, b", ", a");

const text = fc.oneof(
  fc.constantFrom(...TRICKY),
  fc.string({ unit: "binary", maxLength: 30 }),
  fc.string({ unit: fc.constantFrom(..."a :#-\n\r\t\"'\\[]{},|>&*!%@`~?=.0"), maxLength: 12 }),
  // Lone surrogates.
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 8 }).map((units) => String.fromCharCode(...units)),
);
const nonEmpty = text.filter((value) => value !== "");
const list = fc.array(text, { minLength: 1, maxLength: 4 });
const key = fc
  .stringMatching(/^[a-z][a-z_-]{0,8}$/)
  .filter((name) => !/^(y|n|yes|no|on|off|true|false|null)$/.test(name));
const metadata = fc.dictionary(key, fc.oneof(nonEmpty, list), { maxKeys: 5, noNullPrototype: true });

describe("formatDocument", () => {
  it("B2.11 writes the seed's fields, a blank line and the body", () => {
    expect(
      formatDocument({ name: "me", description: "Tabs: not spaces", type: "user", tags: ["a", "b: c"] }, "\nx\n\n"),
    ).toBe('---\nname: me\ndescription: "Tabs: not spaces"\ntype: user\ntags:\n  - a\n  - "b: c"\n---\n\nx\n');
  });

  it("B2.11 leaves out what is empty", () => {
    expect(formatDocument({ a: "", b: undefined, c: [], d: "x" }, " \n")).toBe("---\nd: x\n---\n");
    expect(formatDocument({}, "")).toBe("---\n---\n");
  });

  it("B2.11 round-trips any fields and any body", () => {
    fc.assert(
      fc.property(metadata, text, (fields, body) => {
        const document = parseDocument(formatDocument(fields as Metadata, body));
        expect(document.problems).toEqual([]);
        expect(valuesOf(document.fields)).toEqual(fields);
        expect(document.body).toBe(body.trim());
      }),
      { numRuns: 800 },
    );
  });

  it.each(["1.2", "1.1"] as const)("what it writes is the same to a YAML %s reader", (version) => {
    fc.assert(
      fc.property(metadata, (fields) => {
        const written = inside(formatDocument(fields as Metadata, ""));
        expect(parse(written, { version }) ?? {}, written).toEqual(fields);
      }),
      { numRuns: 800 },
    );
  });

  it.each(TRICKY)("writes %j so that all readers agree", (value) => {
    const written = formatDocument({ a: value, b: [value] }, "body");
    for (const version of ["1.1", "1.2"] as const)
      expect(parse(inside(written), { version })).toEqual({ a: value, b: [value] });
    expect(valuesOf(parseDocument(written).fields)).toEqual({ a: value, b: [value] });
  });

  it("uses no character that strict YAML readers refuse", () => {
    // YAML 1.2, 5.1, c-printable: js-yaml and PyYAML reject a whole file for one other character.
    const printable = /^[\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]*$/u;
    for (const value of TRICKY)
      expect(inside(formatDocument({ a: value }, "")), JSON.stringify(value)).toMatch(printable);
    fc.assert(fc.property(text, (value) => printable.test(formatScalar(value))));
  });

  it("Claude Code, which ends a frontmatter at any `---` before white space, sees the same body", () => {
    fc.assert(
      fc.property(metadata, text, (fields, body) => {
        const written = formatDocument(fields as Metadata, body);
        expect(stripFrontmatter(written).trim(), written).toBe(body.trim());
      }),
      { numRuns: 400 },
    );
    expect(stripFrontmatter(formatDocument({ description: "a --- b", tags: ["c ---"] }, "body"))).toBe("body\n");
  });

  it("leaves ordinary words plain, and Claude Code's timestamps", () => {
    for (const value of [
      "user",
      "prefers tabs",
      "it's so",
      "a:b",
      "C#",
      "2026-11-01T10:00:00.000Z",
      "(x)",
      "/a/b",
      "é",
    ])
      expect(formatScalar(value)).toBe(value);
  });
});

/** As Claude Code 2.1.325 leaves a memory behind, with a person's comments. */
const CLAUDE = `---
name: prefers-tabs
description: "Tabs: not spaces"   # a comment
metadata:
  node_type: memory
  type: feedback
  originSessionId: 1b2c0000-0000-4000-8000-000000000000
  # hand-written comment
  modified: 2026-11-01T10:00:00.000Z
---

Use tabs.

**Why:** they said so.
`;
const VARIANTS: [string, (text: string) => string][] = [
  ["LF", (t) => t],
  ["CRLF", (t) => t.replaceAll("\n", "\r\n")],
  ["BOM", (t) => `\uFEFF${t}`],
  ["BOM and CRLF", (t) => `\uFEFF${t.replaceAll("\n", "\r\n")}`],
  ["no last line end", (t) => t.trimEnd()],
  ["no body", (t) => t.slice(0, t.indexOf("\nUse"))],
];

describe.each(VARIANTS)("editFields in a file of Claude Code, %s", (_, vary) => {
  const before = vary(CLAUDE);

  it("C7 changes one line and no other byte", () => {
    expect(editFields(before, { modified: "2026-12-01T00:00:00.000Z" })).toBe(
      before.replace("2026-11-01T10:00:00.000Z", "2026-12-01T00:00:00.000Z"),
    );
    expect(editFields(before, { type: "user" })).toBe(before.replace("feedback", "user"));
    expect(editFields(before, { name: "x: y" })).toBe(before.replace("prefers-tabs", '"x: y"'));
  });

  it("keeps a comment behind the value, and the value is the new one", () => {
    const after = editFields(before, { description: "Spaces: not tabs" });
    expect(after).toBe(before.replace("Tabs: not spaces", "Spaces: not tabs"));
    const plain = editFields(before, { description: "Spaces now" });
    expect(findField(parseDocument(plain).fields, ["description"])?.value).toBe("Spaces now");
    expect(plain).toContain("   # a comment");
    expect(parse(inside(plain.replace("\uFEFF", ""))).description).toBe("Spaces now");
  });

  it("C7 puts new fields where the type is", () => {
    const eol = parseDocument(before).eol;
    const line = `  modified: 2026-11-01T10:00:00.000Z${eol}`;
    expect(editFields(before, { created: "2026-11-01T10:00:00.000Z" })).toBe(
      before.replace(line, `${line}  created: 2026-11-01T10:00:00.000Z${eol}`),
    );
    expect(editFields(before, { when: ["a", "b: c"] })).toBe(
      before.replace(line, `${line}  when:${eol}    - a${eol}    - "b: c"${eol}`),
    );
  });

  it("removes a field and its lines only", () => {
    const eol = parseDocument(before).eol;
    expect(editFields(before, { type: null })).toBe(before.replace(`  type: feedback${eol}`, ""));
    expect(editFields(before, { nothing: null })).toBe(before);
  });

  it("gives back the same text for the same values", () => {
    expect(editFields(before, { name: "prefers-tabs", description: "Tabs: not spaces", type: "feedback" })).toBe(
      before,
    );
    expect(editFields(before, {})).toBe(before);
  });

  it("editBody keeps everything above the body, the line ends and the blank lines", () => {
    const { eol, bodyStart } = parseDocument(before);
    const after = editBody(before, "\n\nOne\nTwo\r\n\r\nThree\n\n");
    expect(after.slice(0, bodyStart)).toBe(before.slice(0, bodyStart));
    expect(parseDocument(after).body).toBe(`One${eol}Two${eol}${eol}Three`);
    expect(editBody(after, "One\nTwo\n\nThree")).toBe(after);
    expect(after.startsWith(before.slice(0, bodyStart) + eol)).toBe(true);
    expect(editBody(before, parseDocument(before).body)).toBe(before);
  });
});

describe("editFields", () => {
  it("finds a field at the top first, and puts new ones there if the type is there", () => {
    const before = "---\ntype: user\nmetadata:\n  a: 1\n  type: x\n# end\n---\nbody\n";
    expect(editFields(before, { type: "project" })).toBe(before.replace("user", "project"));
    expect(editFields(before, { pinned: "true" })).toBe(before.replace("# end\n", '# end\npinned: "true"\n'));
  });

  it("name and description always go to the top", () => {
    const before = "---\nmetadata:\n  type: user\n---\n";
    expect(editFields(before, { name: "me" })).toBe("---\nmetadata:\n  type: user\nname: me\n---\n");
  });

  it("replaces values of every shape with all of their lines", () => {
    const before =
      '---\na: |\n  1\n\n  2\n\nb: [x,\n  y] # why\nc:\n- x\n- y\n# own\nd: one\n  two\ne: "one\n\n  two"\nf:\ng: x\n---\n';
    const after = editFields(before, { a: "A", b: ["B"], c: "C", d: ["D"], e: "E", f: "F" });
    expect(after).toBe("---\na: A\n\nb: # why\n  - B\nc: C\n# own\nd:\n  - D\ne: E\nf: F\ng: x\n---\n");
    expect(valuesOf(parseDocument(after).fields)).toEqual({
      a: "A",
      b: ["B"],
      c: "C",
      d: ["D"],
      e: "E",
      f: "F",
      g: "x",
    });
  });

  it("keeps the comment behind a key through several edits", () => {
    let text = "---\ntags: [a] # mine\ntype: # yours\nlast: x\n---\n";
    text = editFields(text, { tags: ["b"], type: "user" });
    text = editFields(text, { tags: ["c"], type: "project" });
    expect(text).toContain("# mine");
    expect(text).toContain("# yours");
    expect(valuesOf(parseDocument(text).fields)).toEqual({ tags: ["c"], type: "project", last: "x" });
  });

  it("a field in a map in braces is set at the top, where it is read first", () => {
    const before = "---\nmetadata: {type: user, pinned: true}\n---\n";
    expect(editFields(before, { type: "project" })).toBe(before.replace("}\n", "}\ntype: project\n"));
  });

  it("C7 never adds a frontmatter, nor fields to a text without one", () => {
    for (const text of ["", "just text\n", "\uFEFFtext", "---\nnever closed\n"])
      expect(editFields(text, { name: "x" })).toBe(text);
  });

  it("new lines take the line end of the frontmatter, whatever the body uses", () => {
    const before = "---\nname: a\ntype: user\n---\nfrom\r\nWindows\r\n";
    expect(editFields(before, { name: "b" })).toBe(before.replace("name: a", "name: b"));
  });

  it("removing and adding again gives the same values", () => {
    const before = CLAUDE;
    const values = valuesOf(parseDocument(before).fields);
    const again = editFields(editFields(before, { modified: null }), { modified: "2026-11-01T10:00:00.000Z" });
    expect(valuesOf(parseDocument(again).fields)).toEqual(values);
  });
});

interface Part {
  key: string;
  lines: string[];
}

const keys = ["name", "description", "type", "created", "links", "x-own", "author"];
const words = fc.stringMatching(/^[a-z][a-z #'"-]{0,15}[a-z]$/);
const values: fc.Arbitrary<(key: string, pad: string) => string[]> = fc.oneof(
  words.map((value) => (key: string, pad: string) => [`${pad}${key}: ${value}`]),
  words.map((value) => (key: string, pad: string) => [`${pad}${key}:   ${JSON.stringify(value)}  # a "comment"`]),
  words.map((value) => (key: string, pad: string) => [`${pad}${key}: '${value.replaceAll("'", "''")}'`]),
  fc
    .array(words, { minLength: 1, maxLength: 3 })
    .map((items) => (key: string, pad: string) => [
      `${pad}${key}: [${items.map((item) => JSON.stringify(item)).join(", ")}] # list`,
    ]),
  fc
    .array(words, { minLength: 1, maxLength: 3 })
    .map((items) => (key: string, pad: string) => [`${pad}${key}:`, ...items.map((item) => `${pad}  - ${item}`)]),
  fc
    .array(words, { minLength: 1, maxLength: 3 })
    .map((items) => (key: string, pad: string) => [`${pad}${key}: |-`, ...items.map((item) => `${pad}    ${item}`)]),
  fc.constant((key: string, pad: string) => [`${pad}${key}:`]),
);
const filler = fc.array(fc.constantFrom("", "# a comment", "   # indented: comment", "  ", "#"), { maxLength: 2 });

/** A valid frontmatter: fields with their lines, comments and blank lines between them, one of the fields a map. */
const parts = fc
  .tuple(
    fc.shuffledSubarray(keys, { minLength: 1 }),
    fc.shuffledSubarray(["node_type", "modified", "pinned", "verified"], { minLength: 1 }),
    fc.array(values, { minLength: 12, maxLength: 12 }),
    fc.array(filler, { minLength: 12, maxLength: 12 }),
    fc.nat(7),
    fc.boolean(),
  )
  .map(([top, nested, shapes, fillers, at, hasMap]): Part[] => {
    const all: Part[] = top.map((key, i) => ({ key, lines: shapes[i]!(key, "") }));
    const map: Part[] = [
      { key: "metadata", lines: ["metadata:"] },
      ...nested.map((key, i) => ({ key, lines: shapes[7 + i]!(key, "  ") })),
    ];
    // An empty value before a deeper line would be a map: not in the last place before it.
    const place = Math.min(at, all.length);
    if (hasMap) all.splice(place, 0, ...map);
    return all.flatMap((part, i) => (part.key === "metadata" ? [part] : [part, { key: "", lines: fillers[i]! }]));
  });

describe("whatever the frontmatter", () => {
  const newValue = fc.oneof(nonEmpty, list);
  const file = fc.record({
    parts,
    eol: fc.constantFrom("\n", "\r\n"),
    bom: fc.constantFrom("", "\uFEFF"),
    body: fc.constantFrom("", "\nbody\n", "\n# a\n\n---\nb: c\n", "x"),
  });
  const build = (f: { parts: Part[]; eol: string; bom: string; body: string }, without = -1): string => {
    const lines = f.parts.flatMap((part, i) => (i === without ? [] : part.lines));
    return f.bom + ["---", ...lines, "---", ""].join(f.eol) + f.body.replaceAll("\n", f.eol);
  };
  const flat = (text: string): Record<string, unknown> => {
    const document = parseDocument(text);
    expect(document.problems, text).toEqual([]);
    const { metadata, ...top } = valuesOf(document.fields);
    return { ...(typeof metadata === "object" ? metadata : {}), ...top };
  };

  it("an edit changes the field's own lines and nothing else", () => {
    fc.assert(
      fc.property(file, fc.nat(), newValue, (f, pick, value) => {
        const own = f.parts.map((part, i) => ({ ...part, i })).filter((p) => p.key !== "" && p.key !== "metadata");
        const target = own[pick % own.length]!;
        const before = build(f);
        const head = build({ ...f, parts: f.parts.slice(0, target.i) }).split(`---${f.eol}`)[1] as string;
        const prefix = `${f.bom}---${f.eol}${head}`;
        const suffix = before.slice(prefix.length + target.lines.join(f.eol).length + f.eol.length);
        const old = flat(before);

        const after = editFields(before, { [target.key]: value });
        expect(after.startsWith(prefix), after).toBe(true);
        expect(after.endsWith(suffix), after).toBe(true);
        expect(after.replaceAll("\r\n", "").includes("\r"), after).toBe(false);
        expect(flat(after)).toEqual({ ...old, [target.key]: value });
        expect(parseDocument(after).body).toBe(parseDocument(before).body);
        expect(editFields(after, { [target.key]: value })).toBe(after);
        expect(editFields(before, { [target.key]: old[target.key] as string })).toBe(before);

        const { [target.key]: _, ...rest } = old;
        const removed = editFields(before, { [target.key]: null });
        expect(removed).toBe(prefix + suffix);
        expect(flat(removed)).toEqual(rest);
        expect(flat(editFields(removed, { [target.key]: value }))).toEqual({ ...rest, [target.key]: value });
      }),
      { numRuns: 400 },
    );
  });

  it("a new field is one insertion", () => {
    fc.assert(
      fc.property(file, fc.constantFrom("new", "name-2"), newValue, (f, key, value) => {
        const before = build(f);
        const after = editFields(before, { [key]: value });
        let same = 0;
        while (same < before.length && after[same] === before[same]) same++;
        const rest = before.slice(same);
        expect(after.endsWith(rest) && after.startsWith(before.slice(0, same))).toBe(true);
        expect(flat(after)).toEqual({ ...flat(before), [key]: value });
        expect(editFields(after, { [key]: null })).toBe(before);
      }),
      { numRuns: 500 },
    );
  });

  it("editBody keeps everything above it and is the same when repeated", () => {
    fc.assert(
      fc.property(file, text, (f, any) => {
        const body = any.replace(/\r(?!\n)/g, "");
        const before = build(f);
        const after = editBody(before, body);
        const start = parseDocument(before).bodyStart;
        expect(after.slice(0, start)).toBe(before.slice(0, start));
        const normal = (t: string) => t.trim().replaceAll("\r\n", "\n");
        expect(normal(parseDocument(after).body)).toBe(normal(body));
        expect(editBody(after, body)).toBe(after);
        expect(editBody(before, parseDocument(before).body)).toBe(before);
      }),
      { numRuns: 400 },
    );
  });
});

describe("editBody", () => {
  it("the same body is the same text, also with mixed line ends", () => {
    const before = "---\nname: a\n---\n\none\r\ntwo\nthree\r\n";
    expect(editBody(before, parseDocument(before).body)).toBe(before);
    expect(editBody(before, "one\ntwo\nthree")).toBe(before);
  });

  it("a text without frontmatter", () => {
    expect(editBody("old\n", "new")).toBe("new\n");
    expect(editBody("", "new")).toBe("new\n");
    expect(editBody("\uFEFF\n\nold", "new")).toBe("\uFEFF\n\nnew");
  });

  it("a body that begins with a rule does not become frontmatter", () => {
    for (const before of ["old\n", ""]) {
      const document = parseDocument(editBody(before, "---\nnew\n\n---\nmore"));
      expect(document).toMatchObject({ hasFrontmatter: false, problems: [] });
      expect(document.body.trim()).toBe("---\nnew\n\n---\nmore");
    }
  });

  it("an emptied body can be filled again", () => {
    const emptied = editBody(CLAUDE, "");
    expect(parseDocument(emptied).body).toBe("");
    expect(editBody(emptied, "x")).toBe(`${CLAUDE.slice(0, CLAUDE.indexOf("\nUse"))}\nx\n`);
  });
});
