import { describe, expect, it } from "vitest";
import { describeStatement, nameStatement } from "../../src/memory/statement.ts";

describe("nameStatement", () => {
  it.each([
    ["never push to main", "never push to main"],
    ["the gate closes at six.", "the gate closes at six"],
    [
      "never regenerate golden images yourself, even if it looks harmless to you",
      "never regenerate golden images yourself",
    ],
    ["the load tests need at least 16 GB or they fail in odd ways", "the load tests need at least 16 GB"],
    [
      'the colours come from the Figma library "Halo tokens", not from the css',
      "the colours come from Figma library Halo tokens",
    ],
    ["", "note"],
    [
      "the staging cluster in Frankfurt gets wiped every Sunday night",
      "the staging cluster in Frankfurt gets wiped Sundays",
    ],
  ])("%s", (statement, name) => {
    expect(nameStatement(statement)).toBe(name);
  });

  it("tells statements apart that begin alike", () => {
    const names = ["Lyon", "Osaka", "Graz"].map((city) =>
      nameStatement(`the nightly export of the billing data is sent to the auditors in ${city} by mail every day`),
    );
    expect(new Set(names).size).toBe(3);
  });

  it("does not cut off an exception", () => {
    expect(nameStatement("we deploy every single day, except when Ida is away")).toContain("except");
  });

  it("cuts no word in the middle, also without spaces between them", () => {
    const long = nameStatement(
      "测试环境的数据库每周一会被清空因此不要在里面保存任何重要的数据否则第二天就会全部消失不见",
    );
    expect(long.length).toBeLessThanOrEqual(40);
    const words = nameStatement(`${"internationalisation ".repeat(12)}`);
    expect(words).toMatch(/^(?:internationalisation ?)+$/);
    expect(words.length).toBeLessThanOrEqual(80);
  });
});

describe("describeStatement", () => {
  it("is one line of at most 140 characters, cut between words", () => {
    const description = describeStatement("the gate closes at six\n".repeat(20));
    expect(description.length).toBeLessThanOrEqual(140);
    expect(description).toMatch(/^[^\n]+ (?:the|gate|closes|at|six)…$/);
  });
});
