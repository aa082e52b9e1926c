import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Editor,
  EMPTY,
  echoOf,
  layEditor,
  press,
  replaceBefore,
  submittedText,
  withoutText,
  withText,
} from "../../../src/cli/console/editor.ts";
import { type Key, type KeyName, openKeys } from "../../../src/cli/console/keys.ts";
import { widthOf } from "../../../src/text/wrap.ts";

/** Types what a terminal would send; whether the last key was left to the editor's owner. */
function type(input: string, from: Editor = EMPTY) {
  let editor = from;
  let isLeft = false;
  for (const key of openKeys().feed(input)) {
    const next = press(editor, key);
    isLeft = next === null;
    editor = next ?? editor;
  }
  return { editor, isLeft };
}
/** The text with the cursor as a bar. */
const seen = ({ editor: { text, cursor } }: { editor: Editor }) => `${text.slice(0, cursor)}|${text.slice(cursor)}`;
const view = (columns: number, maxRows = 100) => ({
  columns,
  prompt: "> ",
  maxRows,
  dim: (text: string) => text,
});

describe("editor", () => {
  it("moves and deletes by what a person sees as a character", () => {
    expect(seen(type("a👩‍👩‍👧e\u0301\x1b[D\x1b[D"))).toBe("a|👩‍👩‍👧e\u0301");
    expect(seen(type("a👩‍👩‍👧\x7f"))).toBe("a|");
    expect(seen(type("你好\x1b[D\x1b[3~"))).toBe("你|");
    expect(seen(type("\x7f\x1b[D\x1b[3~x"))).toBe("x|");
    // A mark that comes a chunk later joins its letter.
    expect(seen(type("\x7f", type("\u0301", type("e").editor).editor))).toBe("|");
  });

  it("moves by words and lines", () => {
    expect(seen(type("foo bar-baz\x1bb\x1bb"))).toBe("foo |bar-baz");
    expect(seen(type("foo bar\x01\x1bf\x1bf"))).toBe("foo bar|");
    expect(seen(type("one\ntwo\x01"))).toBe("one\n|two");
    expect(seen(type("one\ntwo\x01\x1b[D"))).toBe("one|\ntwo");
    expect(seen(type("one\ntwo three\x1b[A"))).toBe("one|\ntwo three");
    expect(seen(type("one\ntwo\x1b[A\x01\x1b[B\x05"))).toBe("one\ntwo|");
  });

  it("kills and puts back", () => {
    expect(seen(type("foo bar\x17\x01\x19"))).toBe("bar|foo ");
    expect(seen(type("foo bar\x15x\x19"))).toBe("xfoo bar|");
    expect(seen(type("foo bar\x01\x0b\x19\x19"))).toBe("foo barfoo bar|");
    expect(seen(type("foo bar\x01\x1bd"))).toBe("| bar");
    expect(seen(type("a\nb\x1b[A\x05\x0b"))).toBe("a|b");
    expect(seen(type("path/to/x\x17"))).toBe("|");
  });

  it("makes lines with Ctrl-J, Alt-Enter and a backslash", () => {
    expect(seen(type("a\nb"))).toBe("a\nb|");
    expect(seen(type("a\x1b\rb"))).toBe("a\nb|");
    expect(seen(type("a\\\rb"))).toBe("a\nb|");
    expect(type("a\\\r").isLeft).toBe(false);
  });

  it("leaves to its owner what does not concern the text", () => {
    for (const input of [
      "a\r",
      "\t",
      "\x1b[Z",
      "\x1b[A",
      "\x1b[B",
      "\x03",
      "\x04",
      "\x12",
      "\x0c",
      "\x1a",
      "\x1b\x1b",
      "\x0f",
    ])
      expect([input, type(input).isLeft]).toEqual([input, true]);
    for (const input of ["a\x04", "a\nb\x1b[A", "\x7f", "\x17"])
      expect([input, type(input).isLeft]).toEqual([input, false]);
    expect(type("a\nb\x1b[A\x1b[A").isLeft).toBe(true);
  });

  it("shows a large paste as a note, hands it on whole, and deletes it as one", () => {
    const lines = Array.from({ length: 5000 }, (_, i) => `line ${i}`).join("\n");
    const { editor } = type(`see \x1b[200~${lines}\x1b[201~ ok`);
    expect(echoOf(editor)).toBe("see [pasted text #1, 5000 lines] ok");
    expect(submittedText(editor)).toBe(`see ${lines} ok`);
    expect(layEditor(editor, view(80)).lines).toEqual(["> see [pasted text #1, 5000 lines] ok"]);
    expect(submittedText(type("\x7f\x7f\x7f\x7f", editor).editor)).toBe("see ");
    expect(submittedText(type("\x17\x17\x19", editor).editor)).toBe(`see ${lines} `);
    expect(submittedText(type("\x1bb\x1bbX", editor).editor)).toBe(`see X${lines} ok`);
    expect(echoOf(type(`\x1b[200~${"x".repeat(1001)}\x1b[201~`).editor)).toBe("[pasted text #1, 1001 characters]");
    expect(echoOf(type("\x1b[200~a\nb\x1b[201~").editor)).toBe("a\nb");
    expect(echoOf(type(`\x1b[200~${"x\n".repeat(11)}\x1b[201~`, editor).editor)).toContain("#2, 11 lines");
  });

  it("cannot be told a paste that was never made", () => {
    expect(submittedText(type("a\u{10f000}b").editor)).toBe("a\ufffdb");
    expect(submittedText(type("\u{10f000}", type(`\x1b[200~${"x".repeat(2000)}\x1b[201~\x15`).editor).editor)).toBe(
      "\ufffd",
    );
    const cleared = withoutText(type(`\x1b[200~${"x".repeat(2000)}\x1b[201~\x15`).editor);
    expect(cleared).toEqual(EMPTY);
  });

  it("takes another text, and a completion in place of a word", () => {
    expect(withText(type("abc").editor, "你好")).toMatchObject({ text: "你好", cursor: 2 });
    expect(submittedText(withText(EMPTY, "y".repeat(3000)))).toBe("y".repeat(3000));
    expect(replaceBefore(type("/he x\x1b[D\x1b[D").editor, 0, "/help")).toMatchObject({ text: "/help x", cursor: 5 });
  });

  it("lays its text out in columns, wide characters whole, the cursor inside", () => {
    expect(layEditor(type("你好世界").editor, view(10))).toEqual({
      lines: ["> 你好世", "  界"],
      cursor: { row: 1, column: 4 },
    });
    expect(layEditor(type("abcdefg").editor, view(10))).toEqual({
      lines: ["> abcdefg"],
      cursor: { row: 0, column: 9 },
    });
    expect(layEditor(type("abcdefgh\x1b[D").editor, view(10))).toEqual({
      lines: ["> abcdefg", "  h"],
      cursor: { row: 1, column: 2 },
    });
    expect(layEditor(type("a\n\n\x1b[200~\tb\x1b[201~").editor, view(40)).lines).toEqual(["> a", "  ", "      b"]);
    expect(layEditor(type("1\n2\n3\n4\n5\x1b[A").editor, view(40, 2))).toEqual({
      lines: ["  3", "  4"],
      cursor: { row: 1, column: 3 },
    });
  });

  it("stays sound whatever keys come", () => {
    const presses: KeyName[] = [
      "left",
      "right",
      "up",
      "down",
      "backspace",
      "delete",
      "word-left",
      "word-right",
      "home",
      "end",
      "ctrl-k",
      "ctrl-u",
      "ctrl-w",
      "ctrl-y",
      "ctrl-d",
      "alt-d",
      "alt-backspace",
      "newline",
      "enter",
    ];
    const key: fc.Arbitrary<Key> = fc.oneof(
      fc.constantFrom(...presses).map((name): Key => ({ type: "press", name })),
      fc
        .constantFrom("a", " ", "你", "e\u0301", "👍🏽", "\u200d", "\ud83d", "\\", "🇩🇪")
        .map((text): Key => ({ type: "text", text })),
      fc.constantFrom("x\n".repeat(20), "y\tz").map((text): Key => ({ type: "paste", text })),
    );
    const paste: Key = { type: "paste", text: "x\n".repeat(20) };
    fc.assert(
      fc.property(fc.array(key, { maxLength: 60 }), fc.integer({ min: 5, max: 50 }), (keys, columns) => {
        let editor = EMPTY;
        for (const each of keys) editor = press(editor, each) ?? editor;
        expect(editor.cursor).toBeGreaterThanOrEqual(0);
        expect(editor.cursor).toBeLessThanOrEqual(editor.text.length);
        const { lines, cursor } = layEditor(editor, view(columns));
        for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(columns);
        expect(cursor.row).toBeLessThan(lines.length);
        expect(cursor.column).toBeLessThan(columns);
      }),
      { examples: [[[paste, { type: "text", text: "\u200d" }], 29]] },
    );
  });
});
