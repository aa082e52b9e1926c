import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Key, openKeys } from "../../../src/cli/console/keys.ts";

const names = (input: string) =>
  openKeys()
    .feed(Buffer.from(input))
    .map((key) => (key.type === "press" ? key.name : `${key.type}:${key.text}`));

/** Text in one piece, however it was cut. */
function joined(keys: Key[]): Key[] {
  const all: Key[] = [];
  for (const key of keys) {
    const last = all.at(-1);
    if (key.type === "text" && last?.type === "text")
      all[all.length - 1] = { type: "text", text: last.text + key.text };
    else all.push(key);
  }
  return all;
}

describe("keys", () => {
  it("knows text, controls and the sequences of common terminals", () => {
    expect(names("héllo 你好 👍🏽")).toEqual(["text:héllo 你好 👍🏽"]);
    expect(names("a\rb\nc\x1b\r")).toEqual(["text:a", "enter", "text:b", "newline", "text:c", "newline"]);
    expect(names("\x01\x05\x0b\x15\x17\x19\x0c\x12\x03\x04\x1a")).toEqual(
      ["a", "e", "k", "u", "w", "y", "l", "r", "c", "d", "z"].map((letter) => `ctrl-${letter}`),
    );
    expect(names("\x1b[A\x1b[B\x1b[C\x1b[D\x1bOA\x1bOM")).toEqual(["up", "down", "right", "left", "up", "enter"]);
    expect(names("\x1b[H\x1b[F\x1b[1~\x1b[4~\x1b[7~\x1b[8~\x1bOH")).toEqual([
      "home",
      "end",
      "home",
      "end",
      "home",
      "end",
      "home",
    ]);
    expect(names("\x1b[3~\t\x1b[Z\x7f\b")).toEqual(["delete", "tab", "shift-tab", "backspace", "backspace"]);
    expect(names("\x1bb\x1bf\x1bd\x1b\x7f\x1b[1;5D\x1b[1;3C")).toEqual([
      "word-left",
      "word-right",
      "alt-d",
      "alt-backspace",
      "word-left",
      "word-right",
    ]);
  });

  it("tells Shift-Enter from Enter where the terminal does", () => {
    expect(names("\x1b[13;2u\x1b[27;2;13~\x1b[13u\x1b[13;2:3u")).toEqual(["newline", "newline", "enter"]);
    expect(names("\x1b[99;5u\x1b[106;5u\x1b[97u\x1b[98;3u\x1b[9;2u\x1b[27u")).toEqual([
      "ctrl-c",
      "newline",
      "text:a",
      "word-left",
      "shift-tab",
      "escape",
    ]);
  });

  it("swallows what it does not know", () => {
    expect(
      names("\x1b[99~a\x1b[?1;2cb\x1bOzc\x1b[[Ad\x1b]11;rgb:0/0/0\x07e\x1bPx\x1b\\f\x1b[Ig\x1b[Oh\x00\x1ci"),
    ).toEqual(["text:abcdefghi"]);
    expect(names(`\x1b[${"1;".repeat(400)}ma`).join()).toContain("a");
    expect(names("\x1b[12\x1b[A")).toEqual(["up"]);
    expect(names("\x1b[57441;2u\x1b[55296uok")).toEqual(["text:ok"]);
  });

  it("takes Esc alone only when it is told that nothing follows", () => {
    const keys = openKeys();
    expect(keys.feed("\x1b")).toEqual([]);
    expect(keys.waiting()).toBe(true);
    expect(keys.flush()).toEqual([{ type: "press", name: "escape" }]);
    expect(keys.waiting()).toBe(false);
    expect(keys.feed("\x1b")).toEqual([]);
    expect(keys.feed("[A")).toEqual([{ type: "press", name: "up" }]);
    expect(keys.feed("\x1b[1")).toEqual([]);
    expect(keys.flush()).toEqual([]);
    expect(keys.feed("x")).toEqual([{ type: "text", text: "x" }]);
  });

  it("gives a paste in one piece, with its line breaks and tabs, without its control sequences", () => {
    expect(names("\x1b[200~a\r\nb\rc\n\td\x1b[31me\x03\x1b[201~z")).toEqual(["paste:a\nb\nc\n\tde", "text:z"]);
    expect(names("\x1b[200~\x1b[201~")).toEqual(["paste:"]);
  });

  it("takes 5,000 pasted lines in small chunks", () => {
    const lines = Array.from({ length: 5000 }, (_, i) => `line ${i} 你好 some more words to make it long`).join("\r");
    const bytes = Buffer.from(`\x1b[200~${lines}\x1b[201~\r`);
    for (const size of [1, 7, 1024]) {
      const keys = openKeys();
      const got: Key[] = [];
      for (let at = 0; at < bytes.length; at += size) got.push(...keys.feed(bytes.subarray(at, at + size)));
      expect(got).toEqual([
        { type: "paste", text: lines.replaceAll("\r", "\n") },
        { type: "press", name: "enter" },
      ]);
    }
  });

  it("lets Ctrl-C out of a paste that never ended", () => {
    const keys = openKeys();
    expect(keys.feed("\x1b[200~abc")).toEqual([]);
    expect(keys.feed("\x03")).toEqual([
      { type: "paste", text: "abc" },
      { type: "press", name: "ctrl-c" },
    ]);
    expect(names("x")).toEqual(["text:x"]);
  });

  it("reads the same keys however the bytes are cut", () => {
    const piece = fc.constantFrom(
      "a",
      "é",
      "你",
      "👩‍👩‍👧",
      "\x1b[A",
      "\x1b[13;2u",
      "\r",
      "\x7f",
      "\x1b[200~p\nq\x1b[201~",
      "\x1bb",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), fc.array(fc.nat(9), { maxLength: 40 }), (parts, cuts) => {
        const bytes = Buffer.from(parts.join(""));
        const keys = openKeys();
        const got: Key[] = [];
        let at = 0;
        for (const size of [...cuts, bytes.length]) {
          got.push(...keys.feed(bytes.subarray(at, at + size)));
          at += size;
        }
        expect(joined(got)).toEqual(joined(openKeys().feed(bytes)));
      }),
    );
  });

  it("never throws and holds nothing back for ever, whatever bytes come", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 30 }), { maxLength: 20 }), (chunks) => {
        const keys = openKeys();
        for (const chunk of chunks) for (const key of keys.feed(chunk)) expect(key.type).toMatch(/text|paste|press/);
        keys.flush();
        expect(keys.waiting()).toBe(false);
      }),
    );
  });
});
