import { expect, it } from "vitest";
import { buildSchema, readInput } from "../../src/tools/input.ts";

const FIELDS = {
  path: { type: "string", required: true, filled: true },
  mode: { type: "string", values: ["a", "b"] },
  limit: { type: "integer", minimum: 1 },
  all: { type: "boolean" },
} as const;

it("reads what is right, and takes numbers and switches that came as text", () => {
  expect(readInput(FIELDS, { path: "x", mode: "a", limit: 3, all: true })).toEqual({
    path: "x",
    mode: "a",
    limit: 3,
    all: true,
  });
  expect(readInput(FIELDS, { path: "x", limit: "3", all: "false" })).toMatchObject({ limit: 3, all: false });
  expect(readInput(FIELDS, { path: "x", limit: null })).toMatchObject({ path: "x", limit: undefined });
});

it.each([
  [{}, '"path" is missing'],
  [{ path: "" }, '"path" is empty'],
  [{ path: "  " }, '"path" is empty'],
  [{ path: 3 }, '"path" must be a text'],
  [{ path: ["x"] }, '"path" must be a text'],
  [{ path: "\ud800" }, "half a surrogate pair"],
  [{ path: "x", mode: "c" }, '"mode" must be one of a, b'],
  [{ path: "x", limit: 0 }, '"limit" must be at least 1'],
  [{ path: "x", limit: 1.5 }, '"limit" must be a whole number'],
  [{ path: "x", limit: Number.NaN }, '"limit" must be a whole number'],
  [{ path: "x", limit: "many" }, '"limit" must be a whole number'],
  [{ path: "x", all: "yes" }, '"all" must be true or false'],
  [{ path: "x", file: "y" }, 'there is no input "file" (there are: path, mode, limit, all)'],
  [{ file: "y" }, 'there is no input "file"'],
])("%j: %s", (input, message) => {
  expect(() => readInput(FIELDS, input)).toThrow(message);
});

it("names everything that is wrong at once", () => {
  expect(() => readInput(FIELDS, { limit: 0 })).toThrow(/path.*limit/);
});

it("inherited properties are no input", () => {
  expect(() => readInput(FIELDS, Object.create({ path: "x" }))).toThrow("missing");
});

it("builds a schema", () => {
  expect(buildSchema(FIELDS, { path: "A path" })).toEqual({
    type: "object",
    properties: {
      path: { type: "string", description: "A path" },
      mode: { type: "string", description: "", enum: ["a", "b"] },
      limit: { type: "integer", description: "", minimum: 1 },
      all: { type: "boolean", description: "" },
    },
    required: ["path"],
    additionalProperties: false,
  });
});
