import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseMemory } from "../../src/store/memory.ts";
import { isConflictPath, makeConflictCopy, mergeMemory } from "../../src/team/merge.ts";
import { findEntryProblem } from "../../src/team/protocol.ts";

const BASE = `---
name: deploy
description: how we deploy
type: project
modified: 2026-01-01T00:00:00.000Z
when:
  - deploying
  - rollback
---

Deploy with make.

## Steps

1. build
2. test
3. push

## Notes

Nothing yet.
`;

/** Theirs where both changes cannot hold. */
function merge(base: string, ours: string, theirs: string): { text: string; clean: boolean } {
  const merged = mergeMemory(base, ours, theirs);
  return { text: merged ?? theirs, clean: merged !== null };
}

describe("mergeMemory", () => {
  it("joins changes of different fields and sections", () => {
    const ours = BASE.replace("how we deploy", "how we deploy since March").replace("1. build", "1. build twice");
    const theirs = BASE.replace("type: project", "type: project\npinned: true").replace("Nothing yet.", "Ask Ann.");
    const { text, clean } = merge(BASE, ours, theirs);
    expect(clean).toBe(true);
    expect(text).toContain("since March");
    expect(text).toContain("pinned: true");
    expect(text).toContain("build twice");
    expect(text).toContain("Ask Ann.");
    expect(parseMemory("a.md", text).problems).toEqual([]);
  });

  it("keeps two sections that were added at the same place", () => {
    const { text, clean } = merge(BASE, `${BASE}\n## Ours\n\nA.\n`, `${BASE}\n## Theirs\n\nB.\n`);
    expect(clean).toBe(true);
    expect(text).toContain("\n\n## Ours\n\nA.\n");
    expect(text).toContain("\n\n## Theirs\n\nB.\n");
  });

  it("takes the later of two stamps and the union of two lists", () => {
    const ours = BASE.replace("2026-01-01", "2026-03-01").replace("  - rollback\n", "  - rollback\n  - hotfix\n");
    const theirs = BASE.replace("2026-01-01", "2026-02-01").replace("  - deploying\n", "  - release\n");
    const { text, clean } = merge(BASE, ours, theirs);
    expect(clean).toBe(true);
    const memory = parseMemory("a.md", text);
    expect(memory.modified).toBe("2026-03-01T00:00:00.000Z");
    expect([...memory.when].sort()).toEqual(["hotfix", "release", "rollback"]);
  });

  it("merges fields under metadata one by one", () => {
    const nested = (a: string, b: string) =>
      `---\nname: x\nmetadata:\n  type: project\n  a: ${a}\n  b: ${b}\n---\n\nBody.\n`;
    const { text, clean } = merge(nested("1", "1"), nested("2", "1"), nested("1", "2"));
    expect({ text, clean }).toEqual({ text: nested("2", "2"), clean: true });
  });

  it.each([
    ["one field twice", (s: string) => s.replace("how we", "why we"), (s: string) => s.replace("how we", "when we")],
    ["one line twice", (s: string) => s.replace("2. test", "2. check"), (s: string) => s.replace("2. test", "2. skip")],
    [
      "a section that the other removed",
      (s: string) => s.replace("Nothing yet.", "Much."),
      (s: string) => s.replace("\n## Notes\n\nNothing yet.\n", ""),
    ],
    ["the same new section", (s: string) => `${s}\n## New\n\nA\n`, (s: string) => `${s}\n## New\n\nB\n`],
  ])("is not clean for %s, and theirs stays without markers", (_, ours, theirs) => {
    expect(merge(BASE, ours(BASE), theirs(BASE))).toEqual({ text: theirs(BASE), clean: false });
    expect(merge(BASE, theirs(BASE), ours(BASE)).clean).toBe(false);
  });

  it("removes what one side removed and the other left alone", () => {
    const ours = BASE.replace("\n## Notes\n\nNothing yet.\n", "").replace("description: how we deploy\n", "");
    const theirs = BASE.replace("3. push", "3. pull").replace("name: deploy", "name: deployment");
    const { text, clean } = merge(BASE, ours, theirs);
    expect(clean).toBe(true);
    expect(text).not.toContain("Notes");
    expect(text).not.toContain("description");
    expect(text).toContain("3. pull");
  });

  it("does not take a # in a code block for a heading", () => {
    const code = (a: string, b: string) => `Text ${a}.\n\n\`\`\`sh\n# comment\nrun\n\`\`\`\n\n# comment\n\nEnd ${b}.\n`;
    expect(merge(code("1", "1"), code("2", "1"), code("1", "2"))).toEqual({ text: code("2", "2"), clean: true });
  });

  it("survives broken, empty, CRLF and marked texts", () => {
    for (const odd of [
      "",
      "\uFEFF---\nname: x\n---\n",
      "---\nname: x\n",
      "---\nname x\n---\n",
      "a\r\nb\r\n",
      "\0",
      "# \n#\n",
    ]) {
      const { clean } = merge(BASE, `${BASE}more\n`, odd);
      expect(typeof clean).toBe("boolean");
      expect(merge(odd, BASE, `${BASE}x`).text).not.toContain("<<<<");
    }
    const crlf = (s: string) => s.replaceAll("\n", "\r\n");
    const merged = merge(crlf(BASE), crlf(`${BASE}\n## A\n\na\n`), crlf(BASE.replace("1. build", "1. b")));
    expect(merged.clean).toBe(true);
    expect(merged.text.replaceAll("\r\n", "")).not.toContain("\n");
  });
});

const line = fc.constantFrom("a", "b", "c", "d", "", "# A", "## B", "## C", "- x", "```", "constructor", "e f");
const body = fc.array(line, { maxLength: 9 }).map((lines) => lines.map((one) => `${one}\n`).join(""));
const header = fc.record({
  name: fc.constantFrom("one", "two", "three"),
  modified: fc.constantFrom("", "2026-01-01", "2026-02-01", "2026-03-01"),
  when: fc.subarray(["p", "q", "r", "s"]),
});
const memory = fc.tuple(fc.option(header, { nil: null }), body).map(([fields, text]) => {
  if (!fields) return text;
  const modified = fields.modified === "" ? "" : `modified: ${fields.modified}\n`;
  const when = fields.when.length === 0 ? "" : `when:\n${fields.when.map((item) => `  - ${item}\n`).join("")}`;
  return `---\nname: ${fields.name}\n${modified}${when}---\n\n${text}`;
});

/** Two descendants of one text, so that merges are often clean. */
const family = fc
  .tuple(
    memory,
    fc.array(fc.tuple(fc.nat(), fc.boolean(), fc.constantFrom("ours 1", "ours 2", "## O", "")), { maxLength: 3 }),
    fc.array(fc.tuple(fc.nat(), fc.boolean(), fc.constantFrom("theirs 1", "## T", "theirs 2", "")), { maxLength: 3 }),
  )
  .map(([base, our, their]) => ({ base, ours: edit(base, our), theirs: edit(base, their) }));

function edit(text: string, edits: [number, boolean, string][]): string {
  const head = /^---\n[\s\S]*?\n---\n/.exec(text)?.[0] ?? "";
  const lines = text.slice(head.length).split("\n");
  for (const [at, insert, words] of edits) lines.splice(at % lines.length, insert ? 0 : 1, words);
  return head + lines.join("\n");
}

describe("mergeMemory, for all texts", () => {
  it("is the other side when one did not change, and either when both agree", () => {
    fc.assert(
      fc.property(memory, memory, (b, t) => {
        expect(merge(b, b, t)).toEqual({ text: t, clean: true });
        expect(merge(b, t, b)).toEqual({ text: t, clean: true });
        expect(merge(b, t, t)).toEqual({ text: t, clean: true });
      }),
    );
  });

  it("is clean both ways round or not at all", () => {
    fc.assert(
      fc.property(
        fc.oneof(family, fc.record({ base: memory, ours: memory, theirs: memory })),
        ({ base, ours, theirs }) => {
          expect(merge(base, ours, theirs).clean).toBe(merge(base, theirs, ours).clean);
        },
      ),
      { numRuns: 500 },
    );
  });

  it("loses no line of a clean merge that the other side did not remove, and invents none", () => {
    fc.assert(
      fc.property(
        fc.oneof(family, fc.record({ base: memory, ours: memory, theirs: memory })),
        ({ base, ours, theirs }) => {
          const { text, clean } = merge(base, ours, theirs);
          if (!clean) return;
          const [b, o, t, m] = [base, ours, theirs, text].map(countLines) as [Lines, Lines, Lines, Lines];
          const removedBy = (side: Lines, one: string) => (side.get(one) ?? 0) < (b.get(one) ?? 0);
          for (const one of o.keys()) if (!removedBy(t, one)) expect([...m.keys()]).toContain(one);
          for (const one of t.keys()) if (!removedBy(o, one)) expect([...m.keys()]).toContain(one);
          for (const one of m.keys()) expect(o.has(one) || t.has(one)).toBe(true);
        },
      ),
      { numRuns: 800 },
    );
  });

  it("goes on being clean when the merged text meets the side that it was made of", () => {
    fc.assert(
      fc.property(family, ({ base, ours, theirs }) => {
        const { text, clean } = merge(base, ours, theirs);
        fc.pre(clean);
        const again = merge(base, ours, text);
        if (again.clean) for (const l of ours.split("\n")) if (l.startsWith("ours")) expect(again.text).toContain(l);
      }),
    );
  });
});

type Lines = Map<string, number>;

/** Stamps are one field, whatever it says; blank lines are nobody's. */
function countLines(text: string): Lines {
  const lines: Lines = new Map();
  for (const raw of text.replace(/^modified:.*$/m, "").split("\n")) {
    const one = raw.trim();
    if (one !== "" && !STRUCTURE.has(one)) lines.set(one, (lines.get(one) ?? 0) + 1);
  }
  return lines;
}

/** What frames a list goes when the last item does; a fence may be that of another block. */
const STRUCTURE = new Set(["when:", "---", "```"]);

describe("makeConflictCopy", () => {
  it("is the same for the same text, and a memory with a name of its own", () => {
    const copy = makeConflictCopy("sub/project_deploy.md", BASE);
    expect(copy).toEqual(makeConflictCopy("sub/project_deploy.md", BASE));
    expect(copy.path).toMatch(/^sub\/project_deploy-conflict-[0-9a-f]{8}\.md$/);
    expect(isConflictPath(copy.path)).toBe(true);
    const memory = parseMemory(copy.path, copy.text);
    expect(memory.metadata.conflict_with).toBe("deploy");
    expect(memory.name).toMatch(/^deploy \(conflict [0-9a-f]{8}\)$/);
    expect(memory.body).toBe(parseMemory("a.md", BASE).body);
  });

  it("of a copy is another copy of the original", () => {
    const first = makeConflictCopy("a.md", BASE);
    const second = makeConflictCopy(first.path, `${first.text}more\n`);
    expect(second.path).toMatch(/^a-conflict-[0-9a-f]{8}\.md$/);
    expect(parseMemory("a.md", second.text).metadata.conflict_with).toBe("deploy");
  });

  it("takes more digits when the name is another text's, and shortens what is too long", () => {
    const short = makeConflictCopy("a.md", BASE);
    const long = makeConflictCopy("a.md", BASE, ({ path }) => path === short.path);
    expect(long.path).toMatch(/^a-conflict-[0-9a-f]{16}\.md$/);
    const path = `${"ü".repeat(80)}.md`;
    expect(findEntryProblem(makeConflictCopy(path, BASE).path)).toBeNull();
  });

  it("leaves a text alone that it does not understand", () => {
    for (const text of ["no frontmatter\n", "---\nname: x\n", "---\nbroken\n---\n", ""]) {
      expect(makeConflictCopy("a.md", text).text).toBe(text);
    }
  });
});
