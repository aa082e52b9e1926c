import { describe, expect, it } from "vitest";
import { parseMemory } from "../../src/store/memory.ts";
import { findExpiry } from "../../src/truth/health-findings.ts";

const NOW = new Date("2026-03-10T12:00:00.000Z");
const find = (body: string, head = "type: project\ncreated: 2025-12-01") =>
  findExpiry(parseMemory("a.md", `---\nname: a\n${head}\n---\n\n${body}\n`), NOW);

describe("a memory has expired", () => {
  it("when the deadline it is about was ahead of it, and passed more than a month ago", () => {
    const reason = "its deadline, 2026-01-02, was 67 days ago";
    expect(find("The freeze ends on 2026-01-02.")).toBe(reason);
    expect(find("Until 2026-01-02, that is by January 2, 2026.")).toBe(reason);
    expect(find("Launches on January 2.")).toBe(reason);
    expect(find("Due.", "type: project\ncreated: 2025-12-01\ndescription: due 2026-01-02")).toBe(reason);
    expect(find("Decided on 2025-11-20: the freeze lasts until 2026-01-02.")).toBe(reason);
  });

  it.each([
    ["that is merely late", "Due 2026-02-09."],
    ["that lies ahead", "Due 2026-06-01."],
    ["beside another", "Due 2026-01-02, the rest by 2026-09-01."],
    ["beside another in words", "Due 2026-01-02, again due June 5."],
    ["at which something began", "In force since 2026-01-02."],
    ["at which something happened", "The outage on 2026-01-02 took an hour."],
    ["of what is told apart by its age", "Invoices created before 2026-01-02 have no tax."],
    ["that was met", "Due 2026-01-02, done."],
    ["that is none", "Due 2026-13-99."],
    ["in a longer number", "Ticket 12026-01-02-7."],
    ["far down in the text", `${"The plan has many parts. ".repeat(20)}One is due 2026-01-02.`],
  ])("not by a day %s", (_, body) => {
    expect(find(body)).toBeNull();
  });

  it("not by a day that was past when it was written, nor when that is not known", () => {
    const body = "Due 2026-01-02.";
    expect(find(body, "type: project\ncreated: 2026-01-03")).toBeNull();
    expect(find(body, "type: project\ncreated: 2025-12-01\nmodified: 2026-01-02")).toBeNull();
    expect(find(body, "type: project")).toBeNull();
    expect(find(body, "type: project\ncreated: 2026-01-01")).not.toBeNull();
  });

  it("not when it is pinned, of another type, or was checked since", () => {
    const body = "Due 2026-01-02.";
    for (const head of ["type: feedback", "type: project\npinned: true", "type: project\nverified: 2026-03-01"]) {
      expect(find(body, `${head}\ncreated: 2025-12-01`)).toBeNull();
    }
    expect(find(body, "type: project\ncreated: 2025-12-01\nverified: 2026-01-01")).not.toBeNull();
  });
});
