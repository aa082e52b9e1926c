import { expect, it } from "vitest";
import {
  buildSchema,
  choice,
  date,
  filled,
  flag,
  group,
  list,
  number,
  readInput,
  required,
  text,
} from "../src/input.ts";

const FIELDS = {
  path: required(filled(text("A path"))),
  mode: choice(["a", "b"]),
  limit: number("", { min: 1 }),
  all: flag(),
  also: list(),
  since: date("from this day on"),
};

it("reads what is right, and takes numbers and switches that came as text", () => {
  expect(readInput(FIELDS, { path: "x", mode: "a", limit: 3, all: true })).toEqual({
    path: "x",
    mode: "a",
    limit: 3,
    all: true,
  });
  expect(readInput(FIELDS, { path: "x", limit: "3", all: "false" })).toMatchObject({ limit: 3, all: false });
  expect(readInput(FIELDS, { path: "x", limit: null })).toEqual({ path: "x" });
});

it.each([
  [{}, '"path" is missing'],
  [{ path: "" }, '"path" is empty'],
  [{ path: "  " }, '"path" is empty'],
  [{ path: 3 }, '"path" must be a string'],
  [{ path: ["x"] }, '"path" must be a string'],
  [{ path: "\ud800" }, "lone surrogate"],
  [{ path: "x", mode: "c" }, '"mode" must be one of a, b, not "c"'],
  [{ path: "x", limit: 0 }, '"limit" must be a whole number, 1 or more'],
  [{ path: "x", limit: 1.5 }, '"limit" must be a whole number'],
  [{ path: "x", limit: 1e12 }, '"limit" must be a whole number'],
  [{ path: "x", limit: Number.NaN }, '"limit" must be a whole number'],
  [{ path: "x", limit: "many" }, '"limit" must be a whole number, 1 or more, not "many"'],
  [{ path: "x", all: "yes" }, '"all" must be true or false, not "yes"'],
  [{ path: "x", also: [1] }, '"also" must be a list of strings'],
  [{ path: "x", also: ["a\ud800"] }, '"also" contains a lone surrogate'],
  [{ path: "x", since: "soon" }, '"since" must be a date such as 2026-03-01, not "soon"'],
  [{ path: "x", since: "2026-02-30" }, '"since" must be a date such as 2026-03-01, not "2026-02-30"'],
  [{ path: "x", file: "y" }, 'there is no input "file" (there are: path, mode, limit, all, also, since)'],
  [{ file: "y" }, 'there is no input "file"'],
])("%j: %s", (input, message) => {
  expect(() => readInput(FIELDS, input)).toThrow(message);
});

it("takes a single text for a list, and inputs under one name", () => {
  expect(readInput(FIELDS, { path: "x", also: "y" })).toEqual({ path: "x", also: ["y"] });
  const grouped = { keep: required(group(FIELDS)) };
  expect(readInput(grouped, { keep: { path: "x" } })).toEqual({ keep: { path: "x" } });
  for (const keep of ["x", 7, [], {}, { path: 1 }]) expect(() => readInput(grouped, { keep })).toThrow(/object|path/);
});

it("a list has an end", () => {
  expect(() => readInput(FIELDS, { path: "x", also: Array(1001).fill("a") })).toThrow('"also" has more than 1000');
});

it("names everything that is wrong at once", () => {
  expect(() => readInput(FIELDS, { limit: 0 })).toThrow(/path.*limit/);
});

it("inherited properties are no input", () => {
  expect(() => readInput(FIELDS, Object.create({ path: "x" }))).toThrow("missing");
});

it("builds a schema", () => {
  expect(buildSchema(FIELDS, { limit: "How many" })).toEqual({
    type: "object",
    properties: {
      path: { type: "string", description: "A path" },
      mode: { type: "string", description: "", enum: ["a", "b"] },
      limit: { type: "integer", description: "How many", minimum: 1 },
      all: { type: "boolean", description: "" },
      also: { type: "array", items: { type: "string" }, description: "" },
      since: { type: "string", description: "from this day on" },
    },
    required: ["path"],
    additionalProperties: false,
  });
});
