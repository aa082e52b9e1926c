import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findNameProblem } from "../../src/disk/fence.ts";
import { cleanName, fileNameFor, oneLine, otherFileNames, sameName, slugify } from "../../src/store/memory.ts";

describe("slugify", () => {
  it.each([
    ["Prefers tabs", "prefers_tabs"],
    ["  --Hello,  World!-- ", "hello_world"],
    ["CI/CD & deploys", "ci_cd_deploys"],
    ["日本語の名前", "日本語の名前"],
    ["Größe", "größe"],
    ["Ｆｕｌｌ ｗｉｄｔｈ", "full_width"],
    ["a.b.c", "a_b_c"],
    ["con", "con"],
  ])("B4.3 %j becomes %s", (name, slug) => {
    expect(slugify(name)).toBe(slug);
  });

  it.each(["🎉", "🎉🎊", "…", "///", ""])("B4.3 %j has no letter: a safe fallback", (name) => {
    expect(slugify(name)).toMatch(/^memory_[0-9a-f]{8}$/);
  });

  it("B4.3 different emoji get different fallbacks", () => {
    expect(slugify("🎉")).not.toBe(slugify("🎊"));
  });

  it("B4.3 10,000 characters are cut to 40 whole characters", () => {
    expect(slugify("x".repeat(10_000))).toBe("x".repeat(40));
    expect([...slugify("𠮷".repeat(10_000))]).toHaveLength(40);
    expect(slugify("𠮷".repeat(10_000)).isWellFormed()).toBe(true);
  });

  it("B4.3 NFC and NFD of a name slug alike", () => {
    expect(slugify("café".normalize("NFD"))).toBe(slugify("café".normalize("NFC")));
  });

  it("B4.3 no name makes a file name that leads elsewhere or cannot be stored", () => {
    const unit = fc.oneof(
      fc.constantFrom("..", "/", "\\", "\0", "%2e", "．", "：", "é", "e\u0301", " "),
      fc.string({ unit: "binary" }),
    );
    fc.assert(
      fc.property(
        fc.array(unit).map((parts) => parts.join("")),
        (name) => {
          const file = fileNameFor("user", name);
          expect(findNameProblem(file)).toBeNull();
          expect(file).toMatch(/^user_[\p{L}\p{N}\p{M}_]+\.md$/u);
          expect(Buffer.byteLength(file)).toBeLessThanOrEqual(255);
          expect(file).toBe(file.normalize("NFC"));
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe("fileNameFor", () => {
  it("B4.2 is {type}_{slug}.md, numbered from the second", () => {
    expect(fileNameFor("feedback", "Use slog")).toBe("feedback_use_slog.md");
    expect(fileNameFor("feedback", "Use slog", 2)).toBe("feedback_use_slog_2.md");
  });

  it.each(["con", "NUL", "aux", "lpt1", "COM9", "prn"])(
    "B4.3 the Windows device %s is no file name of ours",
    (name) => {
      expect(fileNameFor("user", name)).toBe(`user_${name.toLowerCase()}.md`);
    },
  );

  it("B4.3 the index's own name is none of a memory", () => {
    expect(fileNameFor("user", "MEMORY")).toBe("user_memory.md");
  });

  it("C6 other writers' names: kebab case, without the type", () => {
    expect(otherFileNames("user", "Prefers tabs")).toEqual([
      "user-prefers-tabs.md",
      "user_prefers-tabs.md",
      "prefers_tabs.md",
      "prefers-tabs.md",
    ]);
  });
});

describe("cleanName", () => {
  it.each([
    [" a \n b\t", "a b"],
    ["a\0b\u001b[31m", "a b [31m"],
    ["a\u2028b", "a b"],
    ["cafe\u0301", "café"],
  ])("B4.3 %j becomes %j", (name, clean) => {
    expect(cleanName(name)).toBe(clean);
  });

  it("B4.3 an empty name is refused, and how to give one is said", () => {
    expect(() => cleanName(" \n\0 ")).toThrow(/^the name is empty: give one, such as/);
  });

  it("B4.3 10,000 characters are refused with the limit", () => {
    expect(() => cleanName("x".repeat(10_000))).toThrow(/10000 characters, the limit is 200/);
    expect(cleanName("x".repeat(200))).toHaveLength(200);
  });
});

it("B4.3 names are the same over white space, normalisation and case", () => {
  expect(sameName("café  au lait", "cafe\u0301 au\nlait")).toBe(true);
  expect(sameName("Tabs", "tabs")).toBe(true);
  expect(sameName("Tabs", "tab")).toBe(false);
  expect(oneLine(" a\r\n b ")).toBe("a b");
});
