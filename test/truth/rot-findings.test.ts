import { describe, expect, it } from "vitest";
import { parseMemory } from "../../src/store/memory.ts";
import { findExpiry } from "../../src/truth/rot-findings.ts";

const NOW = new Date("2026-03-10T12:00:00.000Z");
const find = (body: string, head = "type: project") =>
  findExpiry(parseMemory("a.md", `---\nname: a\n${head}\n---\n\n${body}\n`), NOW);

describe("a memory has expired", () => {
  it("when its only date was more than a month ago", () => {
    const reason = "its only date, 2026-01-02, was 67 days ago";
    expect(find("The freeze ends on 2026-01-02.")).toBe(reason);
    expect(find("Until 2026-01-02, that is 2026-01-02.")).toBe(reason);
    expect(find("Due.", "type: project\ndescription: due 2026-01-02")).toBe(reason);
  });

  it.each([
    ["that is merely late", "Due 2026-02-09."],
    ["that lies ahead", "Due 2026-06-01."],
    ["beside another", "From 2026-01-02 to 2026-09-01, so it holds."],
    ["beside another in words", "Due 2026-01-02, again in June 5."],
    ["at which something began", "In force since 2026-01-02."],
    ["that is none", "Due 2026-13-99."],
    ["in a longer number", "Ticket 12026-01-02-7."],
  ])("not by a day %s", (_, body) => {
    expect(find(body)).toBeNull();
  });

  it("not when it is pinned, of another type, or was looked at since", () => {
    const body = "Due 2026-01-02.";
    for (const head of [
      "type: feedback",
      "type: project\npinned: true",
      "type: project\nmodified: 2026-03-01",
      "type: project\nverified: 2026-03-01",
    ]) {
      expect(find(body, head)).toBeNull();
    }
    expect(find(body, "type: project\nmodified: 2026-01-01")).not.toBeNull();
  });
});
