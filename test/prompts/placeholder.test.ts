import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { substituteMemory } from "../../src/prompts/memory.ts";

describe("substituteMemory", () => {
  it("B5.3 substitutes {{memory}} with $ in the content", () => {
    const section = "costs $1 or $& or $$ or $` or $' or $<x>";
    expect(substituteMemory("a {{memory}} b", section)).toBe(`a ${section} b`);
  });

  it("B5.3 substitutes every one, with or without spaces", () => {
    expect(substituteMemory("{{memory}}|{{ memory }}|{{memory  }}", "M")).toBe("M|M|M");
  });

  it("B5.3 leaves other braces alone", () => {
    const prompt = "{memory} {{Memory}} {{memory.x}} {{ mem ory }} {{\nmemory}} {{";
    expect(substituteMemory(prompt, "M")).toBe(prompt);
  });

  it("B5.3 does not substitute inside what it inserted", () => {
    expect(substituteMemory("{{memory}}", "x {{memory}} y")).toBe("x {{memory}} y");
    expect(substituteMemory("{{{{memory}}memory}}", "")).toBe("{{memory}}");
  });

  it("B5.3 inserts any text unchanged", () => {
    fc.assert(fc.property(fc.string(), (section) => substituteMemory("<{{memory}}>", section) === `<${section}>`));
  });
});
