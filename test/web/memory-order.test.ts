import { describe, expect, it } from "vitest";
import { AGES, SORTS, type VerdictState } from "../../src/web/api.ts";
import { countFacets, orderRows, readAsked } from "../../src/web/memory-order.ts";

type Ordered = Parameters<typeof countFacets>[0][number];

function row(name: string, more: Partial<Ordered> = {}): Ordered {
  return {
    name,
    scope: "project",
    type: "project",
    modified: "2026-01-01T00:00:00.000Z",
    ageDays: 0,
    when: [],
    verdict: null,
    recalled: 0,
    author: null,
    ...more,
  };
}

const asked = (query: string, isRanked = query.includes("q=")) =>
  readAsked(Object.fromEntries(new URLSearchParams(query)), isRanked);
const names = (rows: Ordered[], query: string) => orderRows(rows, asked(query)).map(({ name }) => name);
const says = (state: VerdictState) => ({ verdict: { state, says: "" } });

describe("what the address asks for", () => {
  it("youngest first, and by rank where words are asked; a rank of nothing is none", () => {
    expect(asked("").sort).toBe("age");
    expect(asked("q=x").sort).toBe("rank");
    expect(asked("sort=rank").sort).toBe("age");
    expect(asked("sort=nonsense&q=x").sort).toBe("rank");
    for (const sort of SORTS) expect(asked(`q=x&sort=${sort}`).sort).toBe(sort);
    expect(asked("reversed=true").isReversed).toBe(true);
    expect(asked("reversed=yes").isReversed).toBe(false);
  });
});

describe("order", () => {
  const rows = [
    row("b", {
      modified: "2026-01-03T00:00:00.000Z",
      when: ["x", "y"],
      recalled: 1,
      type: "user",
      scope: "user",
      ...says("holds"),
    }),
    row("a", { modified: "2026-01-02T00:00:00.000Z", when: ["x", "y", "z"], recalled: 0, ...says("gone") }),
    row("c", { modified: "2026-01-04T00:00:00.000Z", when: ["x", "y"], recalled: 9, type: "feedback" }),
  ];

  it.each([
    ["", ["c", "b", "a"]],
    ["reversed=true", ["a", "b", "c"]],
    ["sort=name", ["a", "b", "c"]],
    ["sort=name&reversed=true", ["c", "b", "a"]],
    ["sort=cues", ["a", "b", "c"]],
    ["sort=recalled", ["c", "b", "a"]],
    ["sort=verdict", ["a", "c", "b"]],
    ["sort=type", ["c", "a", "b"]],
    ["sort=scope", ["a", "c", "b"]],
  ])("%s", (query, expected) => {
    expect(names(rows, query)).toEqual(expected);
  });

  it("leaves the rows that it was given as they are", () => {
    const given = [...rows];
    orderRows(given, asked("sort=name"));
    expect(given).toEqual(rows);
  });
});

describe("filters", () => {
  it("by type, scope and verdict; what nobody checked is unchecked", () => {
    const rows = [row("a", { type: "user", scope: "team", ...says("holds") }), row("b", says("moved")), row("c")];
    expect(names(rows, "type=user")).toEqual(["a"]);
    expect(names(rows, "scope=team")).toEqual(["a"]);
    expect(names(rows, "verdict=holds")).toEqual(["a"]);
    expect(names(rows, "verdict=unchecked")).toEqual(["c"]);
    expect(names(rows, "verdict=unchecked,moved")).toEqual(["b", "c"]);
    expect(names(rows, "type=user&verdict=unchecked")).toEqual([]);
    expect(countFacets(rows, asked("type=user")).verdict).toEqual([
      { value: "holds", count: 1 },
      { value: "moved", count: 0 },
      { value: "unchecked", count: 0 },
    ]);
    expect(countFacets(rows, asked("type=user")).type.map(({ value }) => value)).toEqual(["project", "user"]);
  });

  it("every age is in one group", () => {
    const days = [-1, 0, 0.9, 1, 6.9, 7, 30.9, 31, 91, 92, 5000];
    const rows = days.map((ageDays) => row(String(ageDays), { ageDays }));
    const groups = AGES.map(({ label }) => names(rows, `age=${encodeURIComponent(label)}`).length);
    expect(groups).toEqual([3, 2, 2, 2, 2]);
  });
});

it("by rank, in the order that the rows came", () => {
  const rows = [row("c"), row("a"), row("b")];
  expect(names(rows, "q=x")).toEqual(["c", "a", "b"]);
  expect(names(rows, "q=x&reversed=true")).toEqual(["b", "a", "c"]);
});
