import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  fitMemories,
  formatInjection,
  MAX_SESSION_MEMORY_BYTES,
  openRecallSession,
} from "../../src/recall/injection.ts";

const bytes = (text: string) => Buffer.byteLength(text);
const candidate = (title: string, content: string) => ({
  path: `/m/${title}.md`,
  title,
  header: `Memory (saved today): /m/${title}.md:`,
  content,
});

describe("openRecallSession", () => {
  it("B6.12 B6.19 paths and content bytes add up over the session", () => {
    const session = openRecallSession();
    session.surface([candidate("a", "1234"), candidate("b", "漢字")]);
    session.surface([candidate("c", "")]);
    expect([...session.surfaced]).toEqual(["/m/a.md", "/m/b.md", "/m/c.md"]);
    expect(session.bytes).toBe(10);
    expect(session.maxBytes).toBe(61_440);
    expect(session.bytesLeft()).toBe(61_430);
  });

  it("B6.13 B11.20 it is full at 60 KB of bytes, in any language", () => {
    const session = openRecallSession();
    session.surface([candidate("a", "漢".repeat(MAX_SESSION_MEMORY_BYTES / 3 - 1))]);
    expect(session.isFull()).toBe(false);
    session.surface([candidate("b", "漢")]);
    expect(session.isFull()).toBe(true);
    expect(session.bytesLeft()).toBe(0);
  });

  it("B6.12 clear and compact begin anew", () => {
    const session = openRecallSession({ maxBytes: 10 });
    session.surface([candidate("a", "0123456789")]);
    expect(session.isFull()).toBe(true);
    session.clear();
    expect(session).toMatchObject({ bytes: 0, surfaced: new Set() });
    expect(session.isFull()).toBe(false);
  });
});

describe("fitMemories", () => {
  it("B6.18 what fits is the injection, nothing else", () => {
    const all = [candidate("a", "one"), candidate("b", "two")];
    expect(fitMemories(all)).toEqual({ memories: all, leftOut: [], text: formatInjection(all) });
    expect(fitMemories([])).toEqual({ memories: [], leftOut: [], text: "" });
  });

  it("B6.8 B6.9 at most five, each at most 4,096 bytes", () => {
    const { memories, leftOut } = fitMemories(
      Array.from({ length: 8 }, (_, i) => candidate(`m${i}`, "x".repeat(9000))),
    );
    expect(memories.map(({ title }) => title)).toEqual(["m0", "m1", "m2", "m3", "m4"]);
    for (const { content } of memories) expect(bytes(content)).toBe(4096);
    expect(leftOut).toEqual([]);
  });

  it("B6.13 the last one is cut to the room, those after it are named", () => {
    const all = ["a", "b", "c", "d"].map((title) => candidate(title, `${title} `.repeat(1500)));
    const { memories, leftOut, text } = fitMemories(all, { maxBytes: 7000 });
    expect(memories.map(({ title }) => title)).toEqual(["a", "b", "c"].slice(0, memories.length));
    expect(memories.at(-1)!.content).toContain("[cut here");
    expect(bytes(text)).toBeLessThanOrEqual(7000);
    expect(bytes(text)).toBeGreaterThan(6500);
    expect(leftOut.length).toBeGreaterThan(0);
    expect(text).toMatch(/<system-reminder>\nNot shown for lack of room: .*d\n<\/system-reminder>$/);
  });

  it("B6.13 a smaller one behind a large one still finds room", () => {
    const { memories, leftOut } = fitMemories([candidate("large", "x".repeat(3000)), candidate("small", "y")], {
      maxBytes: 400,
    });
    expect(memories.map(({ title }) => title)).toEqual(["small"]);
    expect(leftOut.map(({ title }) => title)).toEqual(["large"]);
  });

  it("B6.13 the session's rest binds too", () => {
    const all = [candidate("a", "x".repeat(1000)), candidate("b", "y".repeat(1000))];
    const fitted = fitMemories(all, { sessionLeft: 1500 });
    expect(fitted.memories.map(({ content }) => bytes(content))).toEqual([1000, 500]);
    expect(fitMemories(all, { sessionLeft: 1300 }).leftOut.map(({ title }) => title)).toEqual(["b"]);
    expect(fitMemories(all, { sessionLeft: 0 }).memories).toEqual([]);
  });

  it("C40 contents come back neutral, and that is what counts", () => {
    const { memories, text } = fitMemories([candidate("a", "</system-reminder>\u200b")]);
    expect(memories[0]!.content).toBe("&lt;/system-reminder>");
    expect(text).toBe(formatInjection(memories));
  });

  it("B6.13 the text never exceeds the budget, however small or odd", () => {
    const content = fc.oneof(
      fc.string({ unit: "binary", maxLength: 200 }),
      fc
        .array(
          fc.constantFrom(
            "</system-reminder>",
            "<system",
            "Human: ",
            "\n",
            "漢",
            "😀",
            "word ",
            "x".repeat(300),
            "\u200b",
          ),
          {
            maxLength: 60,
          },
        )
        .map((parts) => parts.join("")),
    );
    const title = fc.oneof(fc.string({ maxLength: 30 }), fc.constant("long ".repeat(100)));
    fc.assert(
      fc.property(
        fc.array(fc.tuple(title, content), { maxLength: 7 }),
        fc.oneof(fc.constantFrom(0, 10, 100), fc.integer({ min: -5, max: 12_000 })),
        fc.oneof(fc.constantFrom(0, 61_440), fc.integer({ min: 0, max: 5000 })),
        (raw, maxBytes, sessionLeft) => {
          const all = raw.map(([t, c], i) => ({ ...candidate(`m${i}`, c), title: t }));
          const { memories, leftOut, text } = fitMemories(all, { maxBytes, sessionLeft });
          expect(bytes(text)).toBeLessThanOrEqual(Math.max(0, maxBytes));
          expect(memories.reduce((sum, m) => sum + bytes(m.content), 0)).toBeLessThanOrEqual(sessionLeft);
          expect(memories.length + leftOut.length).toBe(Math.min(5, all.length));
          expect(text.startsWith(formatInjection(memories))).toBe(true);
          expect(text.length).toBeLessThanOrEqual(bytes(text));
        },
      ),
    );
  });
});
