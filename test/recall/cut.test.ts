import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clipLine, cutContent, MAX_MEMORY_BYTES_PER_FILE } from "../../src/recall/neutral.ts";

const bytes = (text: string) => Buffer.byteLength(text);
const anyText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 300 }),
  fc
    .array(fc.constantFrom("a", "é", "漢", "😀", "👩‍💻", "\n", " ", "\r\n"), { maxLength: 400 })
    .map((parts) => parts.join("")),
);

describe("cutContent", () => {
  it("B6.9 what fits is left as it is", () => {
    expect(cutContent("short\n")).toEqual({ content: "short\n", cut: false });
    expect(cutContent("")).toEqual({ content: "", cut: false });
    const full = "x".repeat(MAX_MEMORY_BYTES_PER_FILE);
    expect(cutContent(full)).toEqual({ content: full, cut: false });
  });

  it("B6.9 C40 one byte more is cut, and the marker lies inside the limit", () => {
    const { content, cut } = cutContent("x".repeat(4097));
    expect(cut).toBe(true);
    expect(bytes(content)).toBe(4096);
    expect(content).toMatch(/^x+\n\n\[cut here.*read the file.*\]$/);
  });

  it.each([
    ["é", 2],
    ["漢", 3],
    ["😀", 4],
  ])("C40 B11.20 %s counts as its %d bytes and is never halved", (character, size) => {
    for (let lead = 0; lead < size; lead++) {
      const { content, cut } = cutContent("x".repeat(lead) + character.repeat(4096));
      expect(cut).toBe(true);
      expect(bytes(content)).toBeLessThanOrEqual(4096);
      expect(bytes(content)).toBeGreaterThan(4096 - size);
      expect(content).not.toContain("�");
      expect(content.isWellFormed()).toBe(true);
    }
  });

  it("C40 200 lines are shown, the 201st is not", () => {
    const lines = Array.from({ length: 201 }, (_, i) => `line ${i + 1}`);
    expect(cutContent(lines.slice(0, 200).join("\n")).cut).toBe(false);
    expect(cutContent(`${lines.slice(0, 200).join("\n")}\n`).cut).toBe(false);
    const { content, cut } = cutContent(lines.join("\n"));
    expect(cut).toBe(true);
    expect(content).toContain("line 200\n\n[cut here");
    expect(content).not.toContain("line 201");
  });

  it("C40 a near line end is preferred, a far one is not", () => {
    const near = cutContent(`${"x".repeat(900)}\n${"y".repeat(900)}`, { maxBytes: 1000 });
    expect(near.content).toMatch(/x\n\n\[cut/);
    expect(near.content).not.toContain("y".repeat(10));
    const far = cutContent(`title\n${"y".repeat(5000)}`, { maxBytes: 1000 });
    expect(bytes(far.content)).toBe(1000);
  });

  it("C40 the result is never longer than the limit, however small, and is the text's beginning", () => {
    fc.assert(
      fc.property(
        anyText,
        fc.integer({ min: 0, max: 600 }),
        fc.integer({ min: 0, max: 20 }),
        (text, maxBytes, maxLines) => {
          const { content, cut } = cutContent(text, { maxBytes, maxLines });
          expect(bytes(content)).toBeLessThanOrEqual(maxBytes);
          expect(cut).toBe(content !== text);
          if (!cut) return;
          const kept = content.replace(/\n+\[cut.*\]$/, "");
          expect(text.toWellFormed().startsWith(kept)).toBe(true);
          expect(kept.split("\n").length).toBeLessThanOrEqual(Math.max(1, maxLines));
        },
      ),
    );
  });

  it("C40 cutting twice changes nothing", () => {
    fc.assert(
      fc.property(
        anyText,
        fc.integer({ min: 160, max: 600 }),
        fc.integer({ min: 1, max: 20 }),
        (text, maxBytes, maxLines) => {
          const once = cutContent(text, { maxBytes, maxLines }).content;
          expect(cutContent(once, { maxBytes, maxLines }).content).toBe(once);
        },
      ),
    );
  });

  it("a clipped line ends with a whole character", () => {
    expect(clipLine("abc", 3)).toBe("abc");
    expect(clipLine("abcd", 3)).toBe("ab…");
    expect(clipLine("a😀😀", 3)).toBe("a…");
  });
});
