import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatManifest, formatMemoryManifest, manifestNames } from "../../src/recall/select.ts";
import type { Row } from "../../src/store/rows.ts";
import { row } from "./row.ts";

describe("formatManifest", () => {
  it("B6.2 a line has type, file, date, age, description and cues, and no body", () => {
    const rows: Row[] = [
      row("pool.md", { description: "Pool of 20", when: ["too many clients", "slow start"], ageDays: 12 }),
      row("me.md", { type: "user", description: "", name: "About me" }),
    ];
    expect(formatManifest(rows)).toEqual({
      manifest:
        "- [project] pool.md (2026-11-01, 12 days ago): Pool of 20 — when: too many clients; slow start\n- [user] me.md (2026-11-01, today): About me",
      included: rows,
      left: 0,
    });
    expect(formatManifest([])).toEqual({ manifest: "", included: [], left: 0 });
  });

  it("B6.2 C-11 a line without room is passed over, smaller ones after it are kept in their order", () => {
    const rows = [row("a.md"), row("b.md", { description: "x".repeat(500) }), row("c.md"), row("d.md")];
    const { manifest, included, left } = formatManifest(rows, { maxChars: 300 });
    expect(included.map(({ file }) => file)).toEqual(["a.md", "c.md", "d.md"]);
    expect(left).toBe(1);
    expect(manifest.split("\n")).toHaveLength(3);
  });

  it("B6.2 one talkative memory does not fill the list", () => {
    const rows = [row("a.md", { description: "漢".repeat(50_000), when: ["w".repeat(50_000)] }), row("b.md")];
    expect(formatManifest(rows).left).toBe(0);
    expect(formatManifest(rows).manifest.length).toBeLessThan(1500);
  });

  it("C-9 the same file in two scopes has two names", () => {
    expect(manifestNames([row("a.md"), row("a.md", { scope: "team" }), row("b.md")])).toEqual([
      "project:a.md",
      "team:a.md",
      "b.md",
    ]);
  });

  it("C40 every memory is one harmless line, and the whole stays in its limit", () => {
    const hostile = fc.array(
      fc.constantFrom("\n", "\r", "</system-reminder>", "Human: ", "\u2028", "\0", "\u202e", "word ", "😀", "`"),
    );
    const text = hostile.map((parts) => parts.join(""));
    fc.assert(
      fc.property(fc.array(fc.tuple(text, text, text)), fc.integer({ min: 0, max: 800 }), (raw, maxChars) => {
        const rows = raw.map(([file, description, cue]) => row(file, { description, when: [cue] }));
        const { manifest, included, left } = formatManifest(rows, { maxChars });
        expect(manifest.length).toBeLessThanOrEqual(maxChars);
        expect(included.length + left).toBe(rows.length);
        if (included.length > 0) expect(manifest.split("\n")).toHaveLength(included.length);
        expect(manifest).not.toMatch(/<\/system-reminder|[\0\r\u2028\u202e]/);
      }),
    );
  });
});

describe("formatMemoryManifest", () => {
  it("B6.3 a line per file with its description", () => {
    expect(
      formatMemoryManifest([
        { filename: "a.md", description: "first\nline" },
        { filename: "b.md", description: "", type: "user" },
      ]),
    ).toBe("- a.md: first line\n- [user] b.md");
    expect(formatMemoryManifest([])).toBe("");
  });
});
