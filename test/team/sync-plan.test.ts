import { describe, expect, it } from "vitest";
import type { RemoteEntry } from "../../src/team/protocol.ts";
import { type PlanInput, planSync } from "../../src/team/sync-plan.ts";

const NOW = new Date("2026-03-10T12:00:00.000Z");
const ago = (seconds: number) => new Date(NOW.getTime() - seconds * 1000).toISOString();

const live = (hash: string, revision = `r-${hash}`): RemoteEntry => ({
  path: "a.md",
  hash,
  revision,
  deleted: false,
  author: "ann",
  at: "",
});
const gone: RemoteEntry = { path: "a.md", hash: "", revision: "r-gone", deleted: true, author: "ann", at: "" };

interface Case {
  local: string | null;
  remote: RemoteEntry | null;
  base: string | null;
  more?: Partial<PlanInput>;
}

function plan({ local, remote, base, more }: Case) {
  return planSync({
    // Another one, so that the directory is not an empty one.
    local: new Map([...(local === null ? [] : [["a.md", local] as const]), ["z.md", "Z"]]),
    held: new Set(),
    remote: new Map([
      ...(remote === null ? [] : [["a.md", remote] as const]),
      ["z.md", { ...live("Z"), path: "z.md" }],
    ]),
    agreed: new Map([
      ...(base === null ? [] : [["a.md", { hash: base, revision: `r-${base}` }] as const]),
      ["z.md", { hash: "Z", revision: "r-Z" }],
    ]),
    absent: new Map(),
    intended: new Set(),
    now: NOW,
    ...more,
  });
}

describe("planSync", () => {
  it.each<[string, Case, object | null]>([
    ["nothing anywhere but a memory of it", { local: null, remote: null, base: "A" }, { kind: "forget" }],
    ["a tombstone of what is gone here", { local: null, remote: gone, base: "A" }, { kind: "forget" }],
    ["a tombstone of what never was here", { local: null, remote: gone, base: null }, null],
    ["new there", { local: null, remote: live("B"), base: null }, { kind: "pull", local: null, why: "changed" }],
    ["new here", { local: "B", remote: null, base: null }, { kind: "push", expected: null, why: "changed" }],
    [
      "the same on both sides for the first time",
      { local: "A", remote: live("A"), base: null },
      { kind: "agree", revision: "r-A" },
    ],
    ["the same change on both sides", { local: "B", remote: live("B"), base: "A" }, { kind: "agree", hash: "B" }],
    ["nothing new", { local: "A", remote: live("A"), base: "A" }, null],
    [
      "the same text under a new revision",
      { local: "A", remote: live("A", "r9"), base: "A" },
      { kind: "agree", revision: "r9" },
    ],
    ["changed there", { local: "A", remote: live("B"), base: "A" }, { kind: "pull", local: "A" }],
    ["changed here", { local: "B", remote: live("A"), base: "A" }, { kind: "push", expected: "r-A" }],
    ["changed on both sides", { local: "B", remote: live("C"), base: "A" }, { kind: "merge", base: "A", local: "B" }],
    ["different from the start", { local: "B", remote: live("C"), base: null }, { kind: "merge", base: null }],
    ["removed there", { local: "A", remote: gone, base: "A" }, { kind: "remove-here", local: "A" }],
    [
      "removed there, changed here",
      { local: "B", remote: gone, base: "A" },
      { kind: "push", expected: null, why: "kept" },
    ],
    ["removed there long ago, new here", { local: "B", remote: gone, base: null }, { kind: "push", expected: null }],
    ["lost there", { local: "A", remote: null, base: "A" }, { kind: "push", expected: null, why: "lost" }],
    ["removed here, changed there", { local: null, remote: live("B"), base: "A" }, { kind: "pull", why: "returned" }],
    [
      "removed here, put again there",
      { local: null, remote: live("A", "r9"), base: "A" },
      { kind: "pull", why: "returned" },
    ],
    ["held", { local: "B", remote: live("C"), base: "A", more: { held: new Set(["a.md"]) } }, null],
    [
      "all missing here",
      { local: null, remote: live("A"), base: "A", more: { local: new Map(), held: new Set(["z.md"]) } },
      { kind: "pull", why: "emptied" },
    ],
    [
      "the only one, forgotten on purpose",
      {
        local: null,
        remote: live("A"),
        base: "A",
        more: { local: new Map(), held: new Set(["z.md"]), intended: new Set(["a.md"]) },
      },
      { kind: "remove-there", expected: "r-A" },
    ],
  ])("%s", (_, one, step) => {
    expect(plan(one).steps).toEqual(step === null ? [] : [expect.objectContaining({ path: "a.md", ...step })]);
  });

  const missing: Case = { local: null, remote: live("A"), base: "A" };

  it("takes a missing file for removed only when an earlier pass saw it missing 30 s ago", () => {
    const first = plan(missing);
    expect(first).toEqual({
      steps: [],
      absent: new Map([["a.md", ago(0)]]),
      waiting: [{ path: "a.md", until: ago(-30) }],
    });
    expect(plan({ ...missing, more: { absent: new Map([["a.md", ago(29)]]) } }).steps).toEqual([]);
    const due = plan({ ...missing, more: { absent: new Map([["a.md", ago(30)]]) } });
    expect(due.steps).toEqual([{ kind: "remove-there", path: "a.md", expected: "r-A" }]);
    expect(due.absent.get("a.md")).toBe(ago(30));
  });

  it("does not wait for what was removed on purpose, and not less because a clock was set back", () => {
    expect(plan({ ...missing, more: { intended: new Set(["a.md"]) } }).steps.length).toBe(1);
    const back = plan({ ...missing, more: { absent: new Map([["a.md", ago(-500)]]) } });
    expect(back.steps).toEqual([]);
    expect(back.absent.get("a.md")).toBe(ago(0));
  });

  it("forgets since when a file was missing once it is back", () => {
    expect(
      plan({ local: "A", remote: live("A"), base: "A", more: { absent: new Map([["a.md", ago(40)]]) } }).absent.size,
    ).toBe(0);
  });

  it.each([
    [20, 8],
    [100, 10],
    [400, 40],
    [900, 50],
  ])("of %i missing files removes %i in one pass", (count, cap) => {
    const paths = Array.from({ length: count }, (_, i) => `${String(i).padStart(4, "0")}.md`);
    const input: PlanInput = {
      local: new Map([["z.md", "Z"]]),
      held: new Set(),
      remote: new Map(paths.map((path) => [path, { ...live("A"), path }])),
      agreed: new Map(paths.map((path) => [path, { hash: "A", revision: "r-A" }])),
      absent: new Map(paths.map((path) => [path, ago(60)])),
      intended: new Set(),
      now: NOW,
    };
    const made = planSync(input);
    expect(made.steps.filter(({ kind }) => kind === "remove-there").length).toBe(cap);
    expect(made.waiting.length).toBe(count - cap);
  });
});
