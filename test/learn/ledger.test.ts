import { execFile, execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { describe, expect, test } from "vitest";
import { openLedger, type Spent, startOfDay } from "../../src/learn/ledger.ts";
import type { Prices } from "../../src/model/cost.ts";
import { makeTemporary } from "../temporary.ts";

const NOW = "2026-03-10T12:00:00.000Z";
const posix = test.skipIf(process.platform === "win32");

function spent(more: Partial<Spent> = {}): Spent {
  const usage = { input: 100, output: 10, cacheRead: 1000, cacheWrite: 0 };
  return {
    at: NOW,
    kind: "extraction",
    session: "s1",
    model: "ollama/m",
    usage,
    produced: "1 saved",
    skipped: null,
    ...more,
  };
}

function desk(prices: Prices = {}) {
  const top = makeTemporary("ledger", "memory");
  const file = path.join(top, "memory", ".memdir", "ledger.jsonl");
  const world = { now: new Date(NOW), logged: [] as string[] };
  const open = () =>
    openLedger(
      path.join(top, "memory"),
      { now: () => world.now, log: (message) => world.logged.push(message) },
      prices,
    );
  const put = (content: string | Uint8Array) => {
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, content);
  };
  return { top, file, world, open, put, ledger: open() };
}

const line = (more: Partial<Spent> = {}) => `${JSON.stringify(spent(more))}\n`;

describe("writing", () => {
  test("B8.3 a call is one line that another process reads back", () => {
    const { ledger, open, file } = desk();
    ledger.spend(spent());
    ledger.spend(spent({ kind: "dream", session: null }));
    expect(fs.readFileSync(file, "utf8")).toBe(line() + line({ kind: "dream", session: null }));
    expect(open().entries()).toEqual([spent(), spent({ kind: "dream", session: null })]);
  });

  test("B8.7 a skip is kept with its reason, at the clock's time, and costs nothing", () => {
    const { ledger } = desk();
    ledger.skip("extraction", "s1", "the agent saved in this turn");
    expect(ledger.entries()).toEqual([
      {
        at: NOW,
        kind: "extraction",
        session: "s1",
        model: "",
        usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
        produced: "",
        skipped: "the agent saved in this turn",
      },
    ]);
    expect(ledger.today()).toEqual({ tokens: 0, cost: 0, calls: 0, unpriced: [] });
  });

  posix("the file is the user's alone, and hidden from git", () => {
    const { ledger, file } = desk();
    ledger.spend(spent());
    expect(fs.statSync(file).mode & 0o777).toBe(0o600);
    expect(fs.statSync(path.dirname(file)).mode & 0o777).toBe(0o700);
    expect(fs.readFileSync(path.join(path.dirname(file), ".gitignore"), "utf8")).toBe("*\n");
  });

  test("half a line of a writer that died takes no other with it", () => {
    const { ledger, put, file } = desk();
    put(`${line()}{"at":"2026`);
    ledger.spend(spent({ session: "s2" }));
    expect(ledger.entries().map((entry) => entry.session)).toEqual(["s1", "s2"]);
    expect(fs.readFileSync(file, "utf8").split("\n")).toHaveLength(4);
  });

  test("values that are none become some, so that sums stay sums", () => {
    const { ledger } = desk();
    const usage = { input: Number.NaN, output: -5, cacheRead: Number.POSITIVE_INFINITY, cacheWrite: 3 };
    ledger.spend(spent({ usage, at: "yesterday or so", produced: `${"x".repeat(600)}`, model: "a\ud800" }));
    const [entry] = ledger.entries();
    expect(entry).toMatchObject({ at: NOW, usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 3 } });
    expect(entry?.produced).toHaveLength(500);
    expect(entry?.model).toBe("a\ufffd");
  });

  test("several processes lose no line", async () => {
    const { top, ledger } = desk();
    const program = path.join(top, "writer.mjs");
    const source = fileURLToPath(new URL("../../src/learn/ledger.ts", import.meta.url));
    await build({
      stdin: {
        contents: `import { openLedger } from ${JSON.stringify(source)};
          const [dir, session] = process.argv.slice(2);
          const ledger = openLedger(dir, { now: () => new Date(${JSON.stringify(NOW)}), log: console.error });
          const usage = { input: 1, output: 0, cacheRead: 0, cacheWrite: 0 };
          for (let n = 0; n < 100; n++) {
            ledger.spend({ at: ${JSON.stringify(NOW)}, kind: "notes", session, model: "m", usage, produced: "p".repeat(n), skipped: null });
          }`,
        resolveDir: top,
        loader: "js",
      },
      bundle: true,
      platform: "node",
      format: "esm",
      outfile: program,
      logLevel: "error",
    });
    const run = promisify(execFile);
    const ran = await Promise.all(
      ["a", "b", "c"].map((id) => run(process.execPath, [program, path.join(top, "memory"), id])),
    );
    expect(ran.map(({ stderr }) => stderr)).toEqual(["", "", ""]);
    expect(ledger.today()).toMatchObject({ tokens: 300, calls: 300 });
    expect(ledger.entries({ session: "b" })).toHaveLength(100);
  });
});

describe("a place that takes no entry", () => {
  const spoilers: [string, (file: string, top: string) => void][] = [
    [
      "a link to another file",
      (file, top) => {
        fs.mkdirSync(path.dirname(file), { recursive: true });
        fs.writeFileSync(path.join(top, "precious"), "mine");
        fs.symlinkSync(path.join(top, "precious"), file);
      },
    ],
    [
      "a dangling link",
      (file, top) => {
        fs.mkdirSync(path.dirname(file), { recursive: true });
        fs.symlinkSync(path.join(top, "precious"), file);
      },
    ],
    [
      "a folder that is a link",
      (file, top) => {
        fs.mkdirSync(path.join(top, "elsewhere"));
        fs.mkdirSync(path.join(top, "memory"));
        fs.symlinkSync(path.join(top, "elsewhere"), path.dirname(file));
      },
    ],
    ["a folder of its name", (file) => void fs.mkdirSync(file, { recursive: true })],
    [
      "a file in the folder's place",
      (file, top) => {
        fs.mkdirSync(path.join(top, "memory"));
        fs.writeFileSync(path.dirname(file), "");
      },
    ],
    [
      "a fifo",
      (file) => {
        fs.mkdirSync(path.dirname(file), { recursive: true });
        execFileSync("mkfifo", [file]);
      },
    ],
  ];

  for (const [what, spoil] of spoilers) {
    posix(`${what}: nothing throws, it is told, and what was spent is counted`, () => {
      const { ledger, file, top, world } = desk();
      spoil(file, top);
      const before = fs.readdirSync(top, { recursive: true }).sort();
      expect(ledger.problem()).toContain(path.dirname(file));
      ledger.spend(spent());
      ledger.skip("notes", null, "too early");
      expect(ledger.today()).toMatchObject({ tokens: 210, calls: 1 });
      expect(world.logged.length).toBeGreaterThan(0);
      expect(fs.readdirSync(top, { recursive: true }).sort()).toEqual(before);
      if (what === "a link to another file") expect(fs.readFileSync(path.join(top, "precious"), "utf8")).toBe("mine");
    });
  }

  posix("what waited is written once the way is free, once", () => {
    const { ledger, file, open } = desk();
    fs.mkdirSync(file, { recursive: true });
    ledger.spend(spent({ session: "first" }));
    fs.rmdirSync(file);
    expect(ledger.problem()).toBeNull();
    ledger.spend(spent({ session: "second" }));
    ledger.spend(spent({ session: "third" }));
    for (const each of [ledger, open()]) {
      expect(each.entries().map((entry) => entry.session)).toEqual(["first", "second", "third"]);
    }
  });

  posix("what waits has a bound, and skips go before calls", () => {
    const { ledger, file } = desk();
    fs.mkdirSync(file, { recursive: true });
    ledger.spend(spent());
    for (let n = 0; n < 300; n++) ledger.skip("extraction", "s", "nothing new");
    expect(ledger.entries().length).toBeLessThanOrEqual(200);
    expect(ledger.today().calls).toBe(1);
  });

  test("asking makes nothing", () => {
    const { ledger, top } = desk();
    expect(ledger.problem()).toBeNull();
    expect(ledger.entries()).toEqual([]);
    expect(ledger.today()).toEqual({ tokens: 0, cost: 0, calls: 0, unpriced: [] });
    expect(fs.readdirSync(top)).toEqual([]);
  });
});

describe("reading", () => {
  test("passes over what is no entry", () => {
    const { put, ledger } = desk();
    const strange = [
      "",
      "null",
      "[]",
      "{}",
      "7",
      '"at"',
      '{"at":"x","kind":"dream"}',
      `{"at":"${NOW}","kind":"other"}`,
    ];
    const bytes = Buffer.from([0xff, 0xfe, 0x00, 0x0a]);
    put(
      Buffer.concat([
        Buffer.from(`\uFEFF${line()}`),
        bytes,
        Buffer.from(`${strange.join("\n")}\n${line().trim()}\r\n`),
      ]),
    );
    expect(ledger.entries()).toEqual([spent(), spent()]);
  });

  test("an entry that lacks parts has empty ones", () => {
    const { put, ledger } = desk();
    put(`{"at":"${NOW}","kind":"dream","usage":{"input":"9"},"session":7}`);
    const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
    expect(ledger.entries()).toEqual([
      { at: NOW, kind: "dream", session: null, model: "", usage, produced: "", skipped: null },
    ]);
  });

  test("by time and by session", () => {
    const { put, ledger } = desk();
    const old = "2026-03-09T11:59:59.999Z";
    put(
      line({ at: old }) +
        line({ session: "s2" }) +
        line({ session: 'q"s1"' }) +
        line({ session: null, produced: '"s1"' }) +
        line(),
    );
    expect(ledger.entries({ since: new Date("2026-03-09T12:00:00Z") })).toHaveLength(4);
    expect(ledger.entries({ session: "s1" })).toEqual([spent({ at: old }), spent()]);
    expect(ledger.entries({ session: 'q"s1"' })).toHaveLength(1);
    expect(ledger.entries({ session: "s1", since: new Date(NOW) })).toEqual([spent()]);
    expect(ledger.entries({ session: "s" })).toEqual([]);
  });

  test("lines across the bounds of chunks are whole, in order, and none is read twice", () => {
    const { put, ledger } = desk();
    const many = Array.from({ length: 6000 }, (_, n) => line({ session: `é${n}`, produced: "ü".repeat(n % 50) }));
    put(many.join(""));
    expect(ledger.entries().map((entry) => entry.session)).toEqual(many.map((_, n) => `é${n}`));
  });

  test("a line that is far too long is damage, and those around it are read", () => {
    const { put, ledger } = desk();
    put(`${line({ session: "before" })}${"x".repeat(3 << 20)}\n${line({ session: "after" })}`);
    expect(ledger.entries().map((entry) => entry.session)).toEqual(["before", "after"]);
  });

  test("of 100 MB only the end is read, and today is whole", () => {
    const { put, ledger, file } = desk();
    put("");
    fs.truncateSync(file, 100 << 20);
    fs.appendFileSync(file, `\n${line({ at: "2026-03-01T12:00:00Z" }).repeat(3000)}${line()}`);
    expect(ledger.today()).toMatchObject({ tokens: 210, calls: 1 });
    expect(ledger.entries()).toHaveLength(3001);
  });

  test("one line out of order does not hide those before it", () => {
    const { put, ledger } = desk();
    put(line() + line({ at: "2020-01-01T00:00:00Z" }) + line());
    expect(ledger.today().calls).toBe(2);
  });

  test("a ledger that vanished is an empty one", () => {
    const { ledger, file } = desk();
    ledger.spend(spent());
    fs.rmSync(path.dirname(file), { recursive: true });
    expect(ledger.entries()).toEqual([]);
    ledger.spend(spent());
    expect(ledger.entries()).toHaveLength(1);
  });
});

describe("today", () => {
  test("sums calls, with cached input as a tenth and the user's prices", () => {
    const { ledger } = desk({ "ollama/*": { input: 1, output: 2, cacheRead: 0.1, cacheWrite: 0 } });
    ledger.spend(spent());
    ledger.spend(spent());
    const { cost, ...rest } = ledger.today();
    expect(rest).toEqual({ tokens: 420, calls: 2, unpriced: [] });
    expect(cost).toBeCloseTo(0.00044, 10);
  });

  test("a model without a price makes the cost unknown, not nothing", () => {
    const { ledger } = desk();
    ledger.spend(spent({ model: "anthropic/some-model" }));
    expect(ledger.today()).toMatchObject({ cost: null, unpriced: ["anthropic/some-model"] });
  });

  test("ends at midnight, and a clock that ran ahead does not spend it", () => {
    const { ledger, world } = desk();
    ledger.spend(spent({ at: "2026-03-11T00:00:00.000Z" }));
    expect(ledger.today().calls).toBe(0);
    world.now = new Date("2026-03-11T08:00:00Z");
    expect(ledger.today().calls).toBe(1);
  });

  test("is the day of the user's own clock, also when it has 23 hours", () => {
    const zone = process.env.TZ;
    try {
      process.env.TZ = "America/New_York";
      const { ledger, world } = desk();
      // 8 March 2026 begins at 05:00 UTC and, clocks put forward, ends at 04:00 UTC.
      for (const at of [
        "2026-03-08T04:59:59Z",
        "2026-03-08T05:00:00Z",
        "2026-03-09T03:59:59Z",
        "2026-03-09T04:00:00Z",
      ]) {
        ledger.spend(spent({ at }));
      }
      world.now = new Date("2026-03-09T01:00:00Z");
      expect(ledger.today().calls).toBe(2);
      expect(startOfDay(world.now).toISOString()).toBe("2026-03-08T05:00:00.000Z");
      expect(startOfDay(world.now, 1).toISOString()).toBe("2026-03-09T04:00:00.000Z");
    } finally {
      process.env.TZ = zone;
    }
  });
});
