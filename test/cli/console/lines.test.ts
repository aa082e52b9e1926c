/** Spinner, tool lines, diff preview and chart: pure functions of what they show and the columns there are. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sayWindow } from "../../../src/cli/console/slash-session.ts";
import {
  formatBytes,
  formatElapsed,
  formatTokens,
  spinnerLine,
  toolLine,
  toolResultLine,
} from "../../../src/cli/console/turn-view.ts";
import { openTerminal, print } from "../../../src/cli/terminal.ts";
import { measureWindow, WINDOW_PARTS } from "../../../src/context/window.ts";
import { SGR, widthOf } from "../../../src/text/wrap.ts";
import { diffLines, openPaint, type Paint, plainOf } from "../../../src/verb.ts";

const plain = openPaint(false);
const colored = openPaint(true);
const options = { columns: 60, paint: plain, cwd: "/p" };

describe("spinner", () => {
  const frameAt = (elapsedMs: number) => spinnerLine({ label: "", elapsedMs, tokens: null }, 40, plain).charAt(0);

  it("says what, for how long, how much, and how to stop it", () => {
    const spinning = { label: "Thinking…", elapsedMs: 12_345, tokens: 1234 };
    expect(spinnerLine(spinning, 80, plain)).toBe(
      "⠹ Thinking… 12s · 1.2k tokens · Ctrl-C stops".replace("⠹", frameAt(12_345)),
    );
    expect(spinnerLine(spinning, 20, plain).slice(2)).toBe("Thinking… 12s");
    expect(spinnerLine({ ...spinning, label: "x".repeat(99) }, 10, plain).slice(2)).toBe("xxxxxxx…");
    expect(widthOf(spinnerLine({ ...spinning, label: "a\x1b[2Jb\nc" }, 30, colored))).toBeLessThanOrEqual(30);
    expect(spinnerLine({ label: "a\x1b[2Jb\nc", elapsedMs: 0, tokens: null }, 10, plain).slice(2)).toBe("ab c 0s");
  });

  it("turns with the time and writes numbers shortly", () => {
    expect(frameAt(0)).not.toBe(frameAt(80));
    expect(frameAt(0)).toBe(frameAt(800));
    expect(frameAt(-5)).toBe(frameAt(0));
    expect([0, 59_999, 125_000, 3_720_000].map(formatElapsed)).toEqual(["0s", "59s", "2m 05s", "1h 02m"]);
    expect([0, 950, 999, 1000, 1234, 9949, 9960, 35_400, 999_600, 1_000_000].map(formatTokens)).toEqual([
      "0",
      "950",
      "999",
      "1.0k",
      "1.2k",
      "9.9k",
      "10k",
      "35k",
      "1.0M",
      "1.0M",
    ]);
    expect([0, 1023, 1024, 36_000].map(formatBytes)).toEqual(["0 B", "1023 B", "1.0 KB", "35 KB"]);
  });
});

describe("tool line", () => {
  const line = (name: string, input: Record<string, unknown>) => toolLine({ name, input }, options);

  it("says what a call is about", () => {
    expect(line("Read", { file_path: "/p/src/a.ts" })).toBe("● Read src/a.ts");
    expect(line("Edit", { file_path: "/elsewhere/a.ts", old_string: "x" })).toBe("● Edit /elsewhere/a.ts");
    expect(line("Bash", { command: "npm test\nrm -rf x" })).toBe("● Bash npm test rm -rf x");
    expect(line("Grep", { pattern: "a.*b", path: "/p/src" })).toBe("● Grep a.*b in src");
    expect(line("Glob", { pattern: "**/*.ts" })).toBe("● Glob **/*.ts");
    expect(line("Task", { description: "look around", n: 1 })).toBe("● Task look around");
    expect(line("Other", { n: 1 })).toBe('● Other {"n":1}');
    expect(line("Other", {})).toBe("● Other");
    expect(line("Read", { file_path: 7 })).toBe('● Read {"file_path":7}');
  });

  it("cannot be made to draw elsewhere, and keeps to the width", () => {
    expect(line("Bash", { command: "echo \x1b]0;title\x07\x1b[2J\r\u202eevil" })).toBe("● Bash echo evil");
    expect(line("Bash\x1b[H", { command: "你".repeat(99) })).toBe(`● Bash ${"你".repeat(26)}…`);
    expect(widthOf(toolLine({ name: "x".repeat(50), input: {} }, { ...options, columns: 10 }))).toBe(10);
  });

  it("shows a result by its first line and how many there are", () => {
    const result = (content: string, isError?: boolean) => toolResultLine({ content, isError }, options);
    expect(result("ok\n")).toBe("  └ ok");
    expect(result("\n\n  first\nsecond\nthird\n")).toBe("  └ first (5 lines)");
    expect(result("")).toBe("  └ (nothing)");
    expect(result("no such file", true)).toBe("  └ no such file");
    expect(toolResultLine({ content: "no", isError: true }, { columns: 60, paint: colored })).toContain("\x1b[31m");
    expect(result(`${"x".repeat(99)}\nb`)).toMatch(/^ {2}└ x+… \(2 lines\)$/);
    expect(widthOf(result("y".repeat(1_000_000)))).toBe(60);
  });
});

describe("diff preview", () => {
  const show = (before: string | null, after: string, maxLines = 20) => diffLines({ before, after }, plain, maxLines);

  it("shows what goes and what comes between the lines that stay", () => {
    expect(show("a\nb\nc\nold\nd\ne\nf\n", "a\nb\nc\nnew\nnewer\nd\ne\nf\n")).toEqual([
      "  b",
      "  c",
      "- old",
      "+ new",
      "+ newer",
      "  d",
      "  e",
    ]);
    expect(show(null, "one\ntwo\n")).toEqual(["+ one", "+ two"]);
    expect(show("one\ntwo\n", "")).toEqual(["- one", "- two"]);
    expect(show("same", "same")).toEqual(["  (no change)"]);
    expect(show("a\na\n", "a\na\na\n")).toEqual(["  a", "  a", "+ a"]);
  });

  it("cuts what is long, and removes control sequences", () => {
    const many = Array.from({ length: 100 }, (_, i) => `n${i}`).join("\n");
    expect(show("x", many, 6)).toEqual(["- x", "+ n0", "+ n1", "+ n2", "+ n3", "+ n4", "+ … 95 more lines"]);
    expect(show(many.replaceAll("n", "o"), many, 4)).toEqual([
      "- o0",
      "- o1",
      "- … 98 more lines",
      "+ n0",
      "+ n1",
      "+ … 98 more lines",
    ]);
    expect(show(null, `\x1b[2J\t${"w".repeat(50)}`)).toEqual([`+     ${"w".repeat(50)}`]);
  });
});

describe("chart", () => {
  const part = (name: (typeof WINDOW_PARTS)[number], bytes: number, tokens: number) => {
    return { name, text: "x".repeat(bytes), tokens };
  };
  const parts = [
    part("system prompt", 12_000, 3000),
    part("instructions", 8000, 2000),
    part("what was said", 200_000, 50_000),
    part("attachments", 10, 3),
    part("tools", 0, 0),
  ];

  it("shows every part with its bar, bytes, tokens and share", () => {
    const view = measureWindow(parts, 200_000);
    expect(plainOf(sayWindow(view)).split("\n")).toMatchInlineSnapshot(`
      [
        "55k of 200k tokens (27.5%)",
        "system prompt   12 KB  ~3.0k   1.5%  █░░░░░░░░░░░░░░░░░░░",
        "instructions   7.8 KB  ~2.0k   1.0%  █░░░░░░░░░░░░░░░░░░░",
        "what was said  195 KB   ~50k  25.0%  ███████░░░░░░░░░░░░░",
        "attachments      10 B     ~3   0.0%  █░░░░░░░░░░░░░░░░░░░",
        "tools             0 B     ~0   0.0%  ░░░░░░░░░░░░░░░░░░░░",
        "free                   ~145k  72.5%  ████████████████████",
      ]
    `);
    expect(plainOf(sayWindow({ ...view, isCounted: true }))).not.toContain("~");
  });

  it("fits 40 columns and more, with and without colour", () => {
    const any = fc.tuple(fc.constantFrom(...WINDOW_PARTS), fc.nat(2000), fc.nat(300_000));
    fc.assert(
      fc.property(
        fc.array(any, { maxLength: 14 }),
        fc.integer({ min: 40, max: 140 }),
        fc.integer({ min: 100_000, max: 1_000_000 }),
        (some, columns, windowTokens) => {
          const view = measureWindow(
            some.map((each) => part(...each)),
            windowTokens,
          );
          const show = (color: Paint) => {
            let shown = "";
            const show = (text: string) => {
              shown += `${text}\n`;
            };
            print({ ...openTerminal({}), color, columns, print: show }, sayWindow(view));
            return shown.trimEnd();
          };
          for (const line of show(colored).split("\n")) expect(widthOf(line)).toBeLessThanOrEqual(columns);
          expect(show(colored).replace(SGR, "")).toBe(show(plain));
        },
      ),
    );
  });
});

it.each([40, 20])("a progress bar keeps to a screen of %i columns, so that it can be cleared", (columns) => {
  const { stderr } = process;
  const kept = { isTTY: stderr.isTTY, columns: stderr.columns, write: stderr.write };
  const written: string[] = [];
  Object.assign(stderr, { isTTY: true, columns, write: (text: string) => written.push(text) > 0 });
  try {
    openTerminal({}).progress("reading the memories of this project")(12_345, 67_890);
  } finally {
    Object.assign(stderr, kept);
  }
  expect(widthOf(written.join("").replace("\r", ""))).toBeLessThan(columns);
});
