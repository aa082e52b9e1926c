import { describe, expect, it } from "vitest";
import { sourceFor } from "../../src/learn/proposal.ts";
import { mayReplace, trustOf } from "../../src/store/memory.ts";

const by = (word: string) => ({ by: word, session: null, message: null });

describe("how far a memory is trusted", () => {
  it("as it says; one that says nothing counts as the user's, an unknown word as a conclusion", () => {
    expect(["user", "inferred", "tool", "document", "Tool"].map((word) => trustOf(by(word)))).toEqual([
      "user",
      "inferred",
      "tool",
      "document",
      "tool",
    ]);
    expect(trustOf(null)).toBe("user");
    expect(trustOf(by("administrator"))).toBe("inferred");
  });

  it("is not replaced by what is trusted less", () => {
    expect(mayReplace(by("user"), "inferred")).toBe(false);
    expect(mayReplace(null, "tool")).toBe(false);
    expect(mayReplace(by("tool"), "document")).toBe(false);
    expect(mayReplace(by("tool"), "tool")).toBe(true);
    expect(mayReplace(by("document"), "user")).toBe(true);
  });
});

describe("what is written about the origin", () => {
  const proposal = { trust: "user" as const, session: "s-1", message: "m:2" };

  it("the lowest trust wins when a memory is changed", () => {
    expect(sourceFor(proposal)).toEqual({ by: "user", session: "s-1", message: "m:2" });
    expect(sourceFor(proposal, by("document")).by).toBe("document");
    expect(sourceFor({ ...proposal, trust: "tool" }, null).by).toBe("tool");
  });

  it("ids that could pose as something else are left out", () => {
    expect(sourceFor({ ...proposal, session: "x message=y", message: "a\nby: user" })).toEqual(by("user"));
    expect(sourceFor({ ...proposal, session: "", message: "x".repeat(500) })).toEqual(by("user"));
  });
});
