import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openScreen, RESET } from "../../../src/cli/console/screen.ts";
import { SGR } from "../../../src/text/wrap.ts";
import { openGrid } from "../../pty.ts";

function open(columns = 40, rows = 10, options: { isColour?: boolean } = {}) {
  const size = { columns, rows };
  const grid = openGrid(columns, rows);
  let raw = "";
  const screen = openScreen({
    write: (text) => {
      raw += text;
      grid.write(text);
    },
    columns: () => size.columns,
    rows: () => size.rows,
    isColour: options.isColour ?? true,
  });
  const resize = (to: { columns: number; rows: number }) => {
    Object.assign(size, to);
    grid.resize(to.columns, to.rows);
  };
  const seen = () => grid.screen().join("\n").trimEnd().split("\n");
  const all = () => grid.history().join("\n").trimEnd().split("\n");
  return { screen, grid, seen, all, resize, raw: () => raw };
}

describe("screen", () => {
  it("keeps the live lines below what is printed", () => {
    const { screen, seen, grid } = open();
    screen.live(["working", "> abc"], { row: 1, column: 5 });
    screen.print("one");
    screen.print("two\nthree\n");
    expect(seen()).toEqual(["one", "two", "three", "working", "> abc"]);
    expect(grid.cursor()).toEqual({ row: 4, column: 5, visible: true });
    screen.print("hello");
    expect(seen()).toEqual(["one", "two", "three", "hello", "working", "> abc"]);
    screen.print("next");
    screen.live(["> "], { row: 0, column: 2 });
    expect(seen()).toEqual(["one", "two", "three", "hello", "next", ">"]);
    screen.print("");
    screen.live([], null);
    expect(seen()).toEqual(["one", "two", "three", "hello", "next"]);
    expect(grid.cursor()).toEqual({ row: 6, column: 0, visible: true });
  });

  it("hides the cursor only while live lines have no place for it, and gives everything back", () => {
    const { screen, grid, raw } = open();
    screen.live(["spinning"], null);
    expect(grid.cursor().visible).toBe(false);
    expect(grid.modes()).toEqual(["2004"]);
    screen.close();
    screen.close();
    expect(grid.screen().join("")).toBe("");
    screen.print("late");
    screen.live(["> "], null);
    expect(grid.cursor().visible).toBe(true);
    expect(grid.modes()).toEqual([]);
    expect(grid.screen().join("")).toBe("late");
    expect(raw()).toContain(RESET);
  });

  it("writes nothing when nothing changed, and only the changed line otherwise", () => {
    const { screen, raw, seen } = open();
    screen.live(["first line", "second line", "> "], { row: 2, column: 2 });
    const before = raw().length;
    screen.live(["first line", "second line", "> "], { row: 2, column: 2 });
    expect(raw().length).toBe(before);
    screen.live(["first line", "2nd", "> "], { row: 2, column: 2 });
    expect(raw().slice(before)).not.toContain("first");
    expect(seen()).toEqual(["first line", "2nd", ">"]);
  });

  it("scrolls like any output: what went up is still there", () => {
    const { screen, all } = open(20, 5);
    screen.live(["status", "> x"], { row: 1, column: 3 });
    for (let i = 0; i < 30; i++) screen.print(`line ${i}`);
    expect(all()).toEqual([...Array.from({ length: 30 }, (_, i) => `line ${i}`), "status", "> x"]);
  });

  it("lets the terminal wrap long output and cuts long live lines", () => {
    const { screen, seen } = open(10, 10);
    screen.live(["a status that is too long", "> x"], { row: 1, column: 99 });
    screen.print("0123456789");
    screen.print("0123456789abc");
    screen.print("你好你好你好");
    expect(seen()).toEqual(["0123456789", "0123456789", "abc", "你好你好你", "好", "a status …", "> x"]);
  });

  it("keeps the rows around the cursor when the live lines do not fit", () => {
    const { screen, seen, grid } = open(20, 4);
    screen.print("output");
    screen.live(["a", "b", "c", "d", "e", "f"], { row: 2, column: 1 });
    expect(seen()).toEqual(["a", "b", "c", "d"]);
    expect(grid.cursor()).toMatchObject({ row: 2, column: 1 });
    screen.live(["a", "b", "c", "d", "e", "f"], { row: 5, column: 1 });
    expect(seen()).toEqual(["c", "d", "e", "f"]);
    screen.live(["> "], { row: 0, column: 2 });
    expect(seen()).toEqual([">"]);
  });

  it("finds its live lines again after the terminal became narrower, wider, lower", () => {
    const { screen, all, seen, resize } = open(40, 12);
    screen.print("output stays");
    screen.live(["a status line of thirty columns", "> some text that was typed here"], { row: 1, column: 31 });
    for (const to of [
      { columns: 20, rows: 12 },
      { columns: 60, rows: 12 },
      { columns: 10, rows: 6 },
      { columns: 40, rows: 12 },
    ]) {
      resize(to);
      const text = "> typed".slice(0, to.columns);
      screen.live(["status", text], { row: 1, column: text.length });
      expect(all().join("").replaceAll(" ", "")).toBe("outputstaysstatus>typed");
    }
    expect(seen()).toEqual(["output stays", "status", "> typed"]);
  });

  it("has no colour without colour, the layout as before", () => {
    const { screen, raw, seen } = open(40, 10, { isColour: false });
    screen.live(["\x1b[2mstatus\x1b[22m", "> "], { row: 1, column: 2 });
    screen.print("\x1b[31mred\x1b[39m");
    expect(seen()).toEqual(["red", "status", ">"]);
    screen.close();
    expect(raw().replaceAll("\x1b[0m", "").match(SGR)).toBe(null);
  });

  it("clears", () => {
    const { screen, seen } = open();
    screen.print("old");
    screen.live(["> x"], { row: 0, column: 3 });
    screen.clear();
    expect(seen()).toEqual(["> x"]);
  });

  it("leaves no garbage, whatever is printed, drawn and resized", () => {
    const word = fc.constantFrom("a", "bb ccc", "你好", "👍", "x".repeat(33), "e\u0301e", "\x1b[1mbold\x1b[22m", "");
    const line = fc.array(word, { maxLength: 4 }).map((words) => words.join(" "));
    const step = fc.oneof(
      line.map((text) => ({ do: "print" as const, text })),
      fc.array(line, { maxLength: 4 }).map((lines) => ({ do: "live" as const, lines })),
    );
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 25 }),
        fc.constantFrom(10, 40),
        fc.constantFrom(4, 8),
        (steps, columns, rows) => {
          const { screen, grid } = open(columns, rows);
          let printed = "";
          for (const each of steps) {
            if (each.do === "live") screen.live(each.lines, { row: each.lines.length - 1, column: 0 });
            else {
              screen.print(each.text);
              printed += `${each.text}\n`;
            }
          }
          screen.live([], null);
          screen.close();
          // What lies on the terminal is what was printed, no more and no less; where lines broke is its own affair.
          const bare = (text: string) => text.replace(SGR, "").replace(/\s+/g, "");
          expect(bare(grid.history().join(""))).toBe(bare(printed));
        },
      ),
    );
  });
});
