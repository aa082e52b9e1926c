/** The input on a keyboard and a terminal of the test's own: what depends on time, and what a real one rarely does. */
import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { openInput } from "../../../src/cli/console/input.ts";
import type { Completion } from "../../../src/cli/console/input-view.ts";
import { openScreen } from "../../../src/cli/console/screen.ts";
import { openPaint } from "../../../src/verb.ts";
import { openGrid } from "../../pty.ts";

interface Options {
  columns?: number;
  rows?: number;
  prompts?: string[];
  completions?: (text: string, cursor: number) => Completion[];
}

function open({ columns = 40, rows = 12, prompts = [], completions = () => [] }: Options = {}) {
  const grid = openGrid(columns, rows);
  const raw: boolean[] = [];
  let written = "";
  const stdin = Object.assign(new PassThrough(), { setRawMode: (on: boolean) => raw.push(on) });
  const timers = new Map<() => void, number>();
  let now = 1_000_000;
  let signal = () => {};
  const screen = openScreen({
    write: (text) => {
      written += text;
      grid.write(text.replaceAll("\n", "\r\n"));
    },
    columns: () => columns,
    rows: () => rows,
    isColour: false,
  });
  const input = openInput({
    stdin,
    screen,
    paint: openPaint(false),
    history: { prompts: () => prompts },
    placeholder: "type",
    completions,
    now: () => now,
    setTimer: (run, ms) => {
      timers.set(run, now + ms);
      return () => void timers.delete(run);
    },
    onSignal: (listener) => {
      signal = listener;
      return () => {};
    },
  });
  return {
    input,
    screen,
    stdin,
    raw,
    written: () => written,
    signal: () => signal(),
    /** Bytes as one chunk, taken in before it returns. */
    type: (text: string) => void stdin.emit("data", Buffer.from(text)),
    pass(ms: number) {
      now += ms;
      for (const [run, at] of [...timers]) {
        if (at > now) continue;
        timers.delete(run);
        run();
      }
    },
    seen: () => grid.screen().join("\n").trimEnd().split("\n"),
  };
}

describe("input", () => {
  it("takes Esc for itself only after a while", async () => {
    const { input, type, pass } = open();
    const answer = input.question("Sure?", [{ key: "y", label: "yes" }]);
    type("\x1b");
    pass(10);
    type("[B");
    pass(100);
    type("\x1b");
    pass(51);
    expect(await answer).toBe(null);
  });

  it("forgets the first Ctrl-C after two seconds", async () => {
    const { input, type, pass, seen } = open();
    const line = input.read();
    type("\x03");
    expect(seen()).toEqual(["> type", "Ctrl-C again leaves"]);
    pass(2001);
    expect(seen()).toEqual(["> type"]);
    type("\x03");
    pass(1000);
    type("\x03");
    expect(await line).toBe(null);
    expect(await input.read()).toBe(null);
    expect(await input.question("?", [{ key: "y", label: "yes" }])).toBe(null);
  });

  it("does not take what is still being typed for an answer", async () => {
    const { input, type, pass, seen } = open();
    type("I say yes");
    pass(100);
    const answer = input.question("Delete everything?", [
      { key: "y", label: "yes" },
      { key: "n", label: "no" },
    ]);
    type("y");
    pass(300);
    type(" y\r");
    pass(100);
    expect(seen().slice(0, 4)).toEqual(["  waits: I say yesy y", "Delete everything?", "  y  yes", "  n  no"]);
    pass(800);
    type("n");
    expect(await answer).toBe("n");
    expect(await input.read()).toEqual("I say yesy y");
  });

  it("lets Enter alone answer nothing, and Ctrl-C everything at once", async () => {
    const { input, type } = open();
    type("typing");
    const first = input.question("A?", [{ key: "y", label: "yes" }]);
    type("\x03");
    expect(await first).toBe(null);
    type("\x15");
    const second = input.question("B?", [
      { key: "one", label: "1" },
      { key: "two", label: "2" },
    ]);
    type("\r");
    type("\x1b[A\r");
    expect(await second).toBe("two");
  });

  it("calls who listens on Ctrl-C and on a signal, only while nothing is read", async () => {
    const { input, type, signal } = open();
    let stops = 0;
    const end = input.onInterrupt(() => stops++);
    type("\x03");
    signal();
    expect(stops).toBe(2);
    const line = input.read();
    type("abc\x03");
    expect(stops).toBe(2);
    end();
    type("x\r");
    expect(await line).toEqual("x");
    type("\x03");
    expect(stops).toBe(2);
  });

  it("gives lines in the order they were sent, and shows which wait", async () => {
    const { input, type, seen } = open();
    type("one\rtwo\rthree\rfour\rfi");
    expect(seen()).toEqual(["  waits: two", "  waits: three", "  waits: four", "> fi"]);
    for (const text of ["one", "two", "three", "four"]) expect(await input.read()).toEqual(text);
    expect(seen()).toEqual(["> one", "> two", "> three", "> four", "> fi"]);
  });

  it("asks one after the other what was asked at once", async () => {
    const { input, type, seen } = open();
    const answers = Promise.all(["A?", "B?", "C?"].map((text) => input.question(text, [{ key: "y", label: "yes" }])));
    expect(seen()[0]).toBe("A?");
    type("y");
    expect(seen()[0]).toBe("B?");
    type("\x03");
    input.close();
    expect(await answers).toEqual(["y", null, null]);
    expect(seen()).toEqual([""]);
  });

  it("keeps a large paste that waits a note", async () => {
    const { input, type, seen } = open();
    const pasted = "line\n".repeat(50);
    type(`\x1b[200~${pasted}\x1b[201~\r`);
    expect(seen()).toEqual(["  waits: [pasted text #1, 50 lines]", ">"]);
    expect(await input.read()).toEqual(pasted);
    expect(seen()).toEqual(["> [pasted text #1, 50 lines]", ">"]);
  });

  it("sends no empty line", async () => {
    const { input, type } = open();
    const line = input.read();
    type("\r  \r\x15\r");
    type("ok\r");
    expect(await line).toEqual("ok");
  });

  it("shows at most eight completions around the chosen one, harmless and cut", () => {
    const completions = (_: string, cursor: number) =>
      Array.from({ length: 20 }, (_each, i) => ({
        label: `/c${i}\x1b[2J`,
        description: "d\n".repeat(99),
        insert: `/c${i}`,
        from: cursor - 1,
      }));
    const { type, seen } = open({ completions });
    type("/");
    expect(seen().length).toBe(9);
    type("\x1b[A");
    expect(seen()[8]).toMatch(/^› \/c19 {2}d d d d .*…$/);
    type("\t");
    expect(seen()).toEqual(["> /c19"]);
  });

  it("takes the only completion on Tab, offers several, and none for nothing", () => {
    const words = ["alpha", "beta", "bet"];
    const completions = (text: string, cursor: number) => {
      const from = text.lastIndexOf(" ", cursor - 1) + 1;
      const begun = text.slice(from, cursor);
      return words
        .filter((word) => word.startsWith(begun))
        .map((word) => ({ label: word, description: "", insert: word, from }));
    };
    const { type, seen } = open({ completions });
    type("go a\t");
    expect(seen()).toEqual(["> go alpha"]);
    type(" b\t");
    expect(seen()).toEqual(["> go alpha b", "› beta", "  bet"]);
    type("et");
    expect(seen()).toEqual(["> go alpha bet", "› beta", "  bet"]);
    type("x");
    expect(seen()).toEqual(["> go alpha betx"]);
    type("\t");
    expect(seen()).toEqual(["> go alpha betx"]);
  });

  it("fits whatever there is into a few rows, the cursor in sight", () => {
    for (const rows of [2, 3, 5]) {
      const { input, screen, type, seen } = open({ rows, columns: 12 });
      screen.print("output");
      input.status(["one", "two", "three"]);
      void input.question("A long question that takes many rows here?", [
        { key: "y", label: "yes" },
        { key: "n", label: "no" },
      ]);
      type("\x1b[200~a\nb\nc\nd\ne\x1b[201~");
      type("n");
      type("1\n2\n3\n4\n5");
      expect(seen().at(-1)).toBe("  5");
      type("\x1b[A\x1b[A\x1b[A\x1b[A");
      expect(seen().some((line) => line.endsWith("1"))).toBe(true);
    }
  });

  it("takes a suggestion, and a large prompt of the history as a note", async () => {
    const large = "line\n".repeat(50);
    const { input, type, seen } = open({ prompts: [large] });
    input.suggest("/memory edit x");
    expect(seen()).toEqual(["> /memory edit x"]);
    type("\x15\x1b[A");
    expect(seen()).toEqual(["> [pasted text #1, 50 lines]"]);
    const line = input.read();
    type("\r");
    expect(await line).toEqual(large);
  });

  it("ends when the keyboard is gone, and gives it back when it is closed", async () => {
    const gone = open();
    const line = gone.input.read();
    gone.stdin.emit("end");
    expect(await line).toBe(null);
    const broken = open();
    const other = broken.input.question("?", []);
    broken.stdin.emit("error", new Error("EIO"));
    expect(await other).toBe(null);
    const closed = open();
    const last = closed.input.read();
    closed.input.close();
    expect(await last).toBe(null);
    expect(closed.raw).toEqual([true, false]);
    expect(closed.seen()).toEqual([""]);
  });

  it("leaves keyboard and screen to another program for a while, whatever that does", async () => {
    const { input, screen, raw, type, seen, stdin } = open();
    type("abc");
    await expect(
      input.release(async () => {
        expect(stdin.isPaused()).toBe(true);
        expect(seen()).toEqual([""]);
        type("not ours");
        screen.print("meanwhile");
        input.status(["busy"]);
        throw new Error("it failed");
      }),
    ).rejects.toThrow("it failed");
    expect(raw).toEqual([true, false, true]);
    expect(seen()).toEqual(["meanwhile", "busy", "> abc"]);
  });
});
