import { describe, expect, test } from "vitest";
import { BUILT_IN_PRICES, costOf, countTokens, findPrice, type Price, sumUp } from "../../src/model/cost.ts";

const MILLION = { input: 1_000_000, output: 1_000_000, cacheRead: 1_000_000, cacheWrite: 1_000_000 };
const price = (input: number): Price => ({ input, output: 10, cacheRead: 0.1, cacheWrite: 1.25 });

describe("the cost of a call", () => {
  test("is each kind of token by its price per million", () => {
    const prices = { "anthropic/*": price(2) };
    expect(costOf("anthropic/some-model", MILLION, prices)).toBeCloseTo(13.35, 10);
    expect(costOf("anthropic/some-model", { ...MILLION, output: 0, cacheRead: 0, cacheWrite: 0 }, prices)).toBe(2);
  });

  test("is unknown, not nothing, for a model without a price", () => {
    expect(costOf("anthropic/some-model", MILLION)).toBeNull();
    expect(costOf("", MILLION)).toBeNull();
  });

  test("is nothing for models on the user's own machine, unless the user says otherwise", () => {
    expect(costOf("ollama/qwen3:8b", MILLION)).toBe(0);
    expect(costOf("ollama/qwen3:8b", MILLION, { "*": price(1) })).not.toBe(0);
    expect(Object.keys(BUILT_IN_PRICES)).toEqual(["ollama/*"]);
  });
});

describe("patterns of names", () => {
  test.each([
    ["a/b", "a/b", true],
    ["a/b", "a/bc", false],
    ["a/*", "a/b", true],
    ["a/*", "a/", true],
    ["*b", "a/b", true],
    ["*", "", true],
    ["a*a", "a", false],
    ["a*b*c", "a-b-c", true],
    ["a*b*c", "a-c-b", false],
    ["a.c", "abc", false],
    ["a**c", "ac", true],
    ["*-b-*", "a-b-c", true],
  ])("%s and %s: %s", (pattern, model, expected) => {
    expect(findPrice(model, { [pattern]: price(1) }) !== null).toBe(expected);
  });

  test("the one that says most wins, an exact name over all, whatever their order", () => {
    const prices = {
      "anthropic/*": price(1),
      "*": price(2),
      "anthropic/claude-*": price(3),
      "anthropic/claude-x": price(4),
    };
    expect(findPrice("anthropic/claude-x", prices)?.input).toBe(4);
    expect(findPrice("anthropic/claude-y", prices)?.input).toBe(3);
    expect(findPrice("anthropic/other", prices)?.input).toBe(1);
    expect(findPrice("openai/other", prices)?.input).toBe(2);
  });

  test("many stars on a long name are soon done", () => {
    expect(findPrice("a".repeat(10_000), { [`${"a*".repeat(500)}b`]: price(1) })).toBeNull();
  });

  test("a name that objects have by birth is no pattern", () => {
    expect(findPrice("constructor", {})).toBeNull();
  });
});

describe("sums", () => {
  test("cached input counts a tenth, what is written to the cache counts whole", () => {
    expect(countTokens({ input: 100, output: 20, cacheRead: 1000, cacheWrite: 3 })).toBe(223);
    expect(countTokens({ input: 0, output: 0, cacheRead: 1, cacheWrite: 0 })).toBe(1);
  });

  test("one model without a price makes the whole cost unknown, and is named once", () => {
    const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 };
    const call = (model: string) => ({ model, usage });
    expect(sumUp([call("ollama/a"), call("x/y"), call("x/y"), call("ollama/a")])).toEqual({
      tokens: 8,
      cost: null,
      calls: 4,
      unpriced: ["x/y"],
    });
    expect(sumUp([])).toEqual({ tokens: 0, cost: 0, calls: 0, unpriced: [] });
  });
});
