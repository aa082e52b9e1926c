/** The gate that every writer passes. */
import { describe, expect, it } from "vitest";
import { MemdirError } from "../../src/errors.ts";
import {
  admit,
  type Draft,
  findNamesake,
  findNewDates,
  findObjections,
  type Gate,
  MAX_MEMORY_BYTES,
  readGiven,
} from "../../src/store/admit.ts";

const TEXT = "---\nname: a\ndescription: b\ntype: feedback\n---\n\nRun the tests first.\n";
// Put together at run time: no secret stands in this file.
const SECRET = `ghp_${"a1B2c3D4e5".repeat(4).slice(0, 36)}`;
const RULE = TEXT.replace("type: feedback\n", "type: feedback\nenforce:\n  tool: Bash\n  pattern: 'rm -rf'\n");
const USER: Gate = { trust: "user" };

function rulesOf(draft: Partial<Draft>, gate = USER): string[] {
  return findObjections({ file: "a.md", text: TEXT, before: null, ...draft }, gate).map(({ rule }) => rule);
}

function codeOf(call: () => unknown): string {
  try {
    call();
    return "";
  } catch (error) {
    return error instanceof MemdirError ? error.code : String(error);
  }
}

describe("admit", () => {
  it("lets an ordinary memory through as it is", () => {
    expect(admit({ file: "a.md", text: TEXT, before: null }, USER)).toEqual({ text: TEXT, notices: [] });
  });

  it("refuses what is larger than a page", () => {
    const fits = TEXT + "x".repeat(MAX_MEMORY_BYTES - TEXT.length);
    expect(rulesOf({ text: fits })).toEqual([]);
    expect(rulesOf({ text: `${fits}x` })).toEqual(["size"]);
    expect(codeOf(() => admit({ file: "a.md", text: "x".repeat(3 << 20), before: null }, USER))).toBe("usage");
  });

  it.each([
    ["bytes that are no UTF-8", Buffer.from([0x61, 0xff, 0xfe])],
    ["a NUL byte", Buffer.from("a\0b")],
    ["a NUL character", "a\0b"],
    ["half a character", "a\ud83d"],
  ])("refuses %s, whoever writes", (_, text) => {
    expect(rulesOf({ text })).toEqual(["form"]);
    expect(rulesOf({ text }, { trust: "document", redact: true })).toEqual(["form"]);
  });

  it("refuses frontmatter that cannot be read, unless it could not be read before", () => {
    const broken = "---\nname: a\n\nno end";
    expect(rulesOf({ text: broken })).toEqual(["form"]);
    expect(rulesOf({ text: broken, before: broken })).toEqual([]);
  });

  it("refuses a secret, masks it when asked to, and never repeats it", () => {
    const text = `${TEXT}The token is ${SECRET}.\n`;
    const [objection] = findObjections({ file: "a.md", text, before: null }, USER);
    expect(objection).toMatchObject({ rule: "secret", code: "secret" });
    expect(JSON.stringify(objection)).not.toContain(SECRET);
    const admitted = admit({ file: "a.md", text, before: null }, { ...USER, redact: true });
    expect(admitted.text).not.toContain(SECRET);
    expect(admitted.text).toContain("[redacted: ");
    expect(admitted.notices).toHaveLength(1);
  });

  it("does not count a secret that was there before: the file can still be fixed", () => {
    const before = `${TEXT}The token is ${SECRET}.\n`;
    expect(rulesOf({ text: `${before}More.\n`, before })).toEqual([]);
    expect(rulesOf({ text: TEXT, before })).toEqual([]);
  });

  it("keeps enforced rules to the user: nobody else makes, changes or removes one", () => {
    for (const trust of ["inferred", "tool", "document"] as const) {
      expect(rulesOf({ text: RULE }, { trust })).toEqual(["enforced"]);
      expect(rulesOf({ text: RULE.replace("rm -rf", "rm"), before: RULE }, { trust })).toEqual(["enforced"]);
      expect(rulesOf({ text: TEXT, before: RULE }, { trust })).toEqual(["enforced"]);
      expect(rulesOf({ text: null, before: RULE }, { trust })).toEqual(["enforced"]);
      expect(rulesOf({ text: `${RULE}More.\n`, before: RULE }, { trust })).toEqual([]);
    }
    expect(rulesOf({ text: RULE })).toEqual([]);
    expect(rulesOf({ text: null, before: RULE })).toEqual([]);
  });

  it("finds dates that mean nothing later, but not those of lines that were there", async () => {
    const said = new Date("2026-03-10T12:00:00Z");
    expect(await findNewDates("We freeze next Thursday.\nFine.", "", said)).toMatchObject([{ line: 1 }]);
    expect(await findNewDates("We freeze next Thursday.\nFine.", "We freeze next Thursday.", said)).toEqual([]);
  });

  it("compares names without case and after NFC", () => {
    const there = { file: "b.md", type: "feedback", name: "Caf\u00e9 Rules" } as const;
    const wanted = { file: "a.md", type: "feedback", name: "cafe\u0301 rules" } as const;
    expect(findNamesake([there], wanted)).toBe(there);
    expect(findNamesake([there], { ...wanted, type: "user" })).toBeNull();
    expect(findNamesake([there], { ...wanted, file: "b.md" })).toBeNull();
  });

  it("reads what was given as text, or says why not", () => {
    expect(readGiven(Buffer.from("Grüße"), "standard input")).toBe("Grüße");
    expect(codeOf(() => readGiven(Buffer.from([0xff]), "standard input"))).toBe("usage");
  });
});
