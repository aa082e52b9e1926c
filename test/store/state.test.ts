/** The contract of state: records, logs and locks that several processes share, and that no link or full disk harms. */

import { type ChildProcess, execFileSync } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MemdirError } from "../../src/errors.ts";
import { KEPT, type KeptFile, kindOf, openState, openStateIn, quietly, type State } from "../../src/store/state.ts";
import { bundleWorker, type Worker } from "../disk/worker.ts";
import { makeTemporary } from "../temporary.ts";
import { any } from "./state-values.ts";

let worker: Worker;
beforeAll(async () => {
  worker = await bundleWorker("../../store/state-worker.ts");
});
afterAll(() => worker.close());

const posix = it.skipIf(process.platform === "win32");

function makeState(): { top: string; dir: string; state: State; at: (...names: string[]) => string } {
  const top = makeTemporary("state", "memory");
  const dir = path.join(top, "memory");
  fs.mkdirSync(dir);
  return { top, dir, state: openState(dir), at: (...names) => path.join(dir, ".memdir", ...names) };
}

const modeOf = (file: string) => fs.statSync(file).mode & 0o777;

describe("a record", () => {
  it("is read as it was written, by the user alone, hidden from git", () => {
    const { state, at } = makeState();
    const record = state.record("cursors/one", any);
    expect(record.read()).toBeNull();
    record.write({ n: 1 });
    record.write({ n: 2 });
    expect(record.read()).toEqual({ n: 2 });
    expect([state.keys("cursors"), state.keys("cursors", "")]).toEqual([["cursors/one"], ["cursors/one.json"]]);
    expect(fs.readFileSync(at(".gitignore"), "utf8")).toBe("*\n");
    expect(fs.readdirSync(at("cursors"))).toEqual(["one.json"]);
    if (process.platform !== "win32") {
      expect([at(), at("cursors"), at("cursors", "one.json")].map(modeOf)).toEqual([0o700, 0o700, 0o600]);
    }
    record.remove();
    record.remove();
    expect(record.read()).toBeNull();
    expect(state.keys("cursors")).toEqual([]);
  });

  it.each(["", "{", "null", "[]", '{"n":"1"}', "\0\xff", `{"n":1,"x":"${"x".repeat(200)}"}`])(
    "that is not what is kept there is none, with a reason: %j",
    (text) => {
      const { state, at } = makeState();
      const record = state.record("sync", any, { maxBytes: 100 });
      record.write({ n: 1 });
      fs.writeFileSync(at("sync.json"), text);
      const why: string[] = [];
      expect(record.read((reason) => why.push(reason))).toBeNull();
      expect(why).toHaveLength(1);
      record.write({ n: 2 });
      expect(record.read()).toEqual({ n: 2 });
    },
  );

  it("asking makes nothing, and the folder around the state is not made", () => {
    const { state, dir } = makeState();
    expect([state.record("sync", any).read(), state.keys("inbox"), state.list()]).toEqual([null, [], []]);
    expect(state.log("ledger.jsonl", any).read()).toEqual([]);
    state.log("ledger.jsonl", any).check();
    expect(fs.readdirSync(dir)).toEqual([]);
    const gone = openState(path.join(dir, "gone"));
    expect(() => gone.record("sync", any).write({ n: 1 })).toThrow(MemdirError);
    expect(quietly(() => gone.record("sync", any).write({ n: 1 }))).toBe(false);
    expect(fs.readdirSync(dir)).toEqual([]);
  });

  it("is whole for every reader while several processes replace it", async () => {
    const { state, dir, at } = makeState();
    const record = state.record("verdicts", any);
    record.write({ n: 0 });
    let isDone = false;
    const writers = Promise.all(["a", "b", "c"].map((name) => worker.run("write", dir, name, 30))).then(() => {
      isDone = true;
    });
    while (!isDone) {
      expect(record.read()).not.toBeNull();
      await new Promise(setImmediate);
    }
    await writers;
    const last = record.read();
    expect(last).toMatchObject({ n: 29, filler: last?.name?.repeat(50_000) });
    expect(fs.readdirSync(at()).sort()).toEqual([".gitignore", "verdicts.json"]);
  });

  it("beyond the cap of its folder makes the oldest go", () => {
    const { state, at } = makeState();
    const cap = KEPT.surfaced.cap;
    for (let n = 0; n <= cap; n++) {
      state.record(`surfaced/s${n}`, any).write({ n });
      const then = new Date(Date.UTC(2026, 0, 1) + n * 1000);
      if (n < cap) fs.utimesSync(at("surfaced", `s${n}.json`), then, then);
    }
    const kept = state.keys("surfaced");
    expect(kept).toHaveLength(cap / 2);
    expect(kept).toContain(`surfaced/s${cap}`);
    expect(kept).not.toContain("surfaced/s0");
    // One that is there already sweeps nothing.
    for (let n = 0; n < cap / 2; n++) state.record(`surfaced/t${n}`, any).write({ n });
    expect(state.keys("surfaced")).toHaveLength(cap);
    state.record("surfaced/t0", any).write({ n: 1 });
    expect(state.keys("surfaced")).toHaveLength(cap);
  });

  it.each(["../sync", "a/../../b", "/sync", "", "a//b", ".hidden", "a\\b", "a\0"])("cannot be called %j", (key) => {
    const { state, dir } = makeState();
    expect(() => state.record(`${key}/x`, any).write({ n: 1 })).toThrow();
    expect(fs.readdirSync(dir)).toEqual([]);
  });

  it("of another kind is a text with a time", () => {
    const { state, at } = makeState();
    const text = state.text("dream-scan", { flush: true });
    text.touch(new Date(0));
    expect([text.read(), text.time()]).toEqual([null, null]);
    text.write("äöü");
    text.touch(new Date("2026-03-10T12:00:00Z"));
    expect([text.read(), text.time()?.toISOString()]).toEqual(["äöü", "2026-03-10T12:00:00.000Z"]);
    text.remove();
    expect(fs.readdirSync(at())).toEqual([".gitignore"]);
  });
});

describe("a log", () => {
  it("is read oldest first, or from the end as far as is needed", () => {
    const { state, at } = makeState();
    const log = state.log("ledger.jsonl", any);
    log.append([{ n: 1 }, { n: 2 }], { flush: true });
    log.append([{ n: 3 }]);
    expect(fs.readFileSync(at("ledger.jsonl"), "utf8")).toBe('{"n":1}\n{"n":2}\n{"n":3}\n');
    expect(log.read().map(({ n }) => n)).toEqual([1, 2, 3]);
    expect(log.tail({ mark: '"n":2' })).toEqual([{ n: 2 }]);
    if (process.platform !== "win32") expect(modeOf(at("ledger.jsonl"))).toBe(0o600);
    const filler = "é".repeat(1000);
    for (let n = 4; n < 604; n++) log.append([{ n, filler }]);
    expect(log.read().map(({ n }) => n)).toEqual(Array.from({ length: 603 }, (_, n) => n + 1));
    const end = log.tail({ isEnough: () => true });
    expect(end.at(-1)?.n).toBe(603);
    expect(end.length).toBeLessThan(200);
  });

  it("passes over torn and foreign lines, and takes no line with a torn one", () => {
    const { state, at } = makeState();
    const log = state.log("ledger.jsonl", any);
    log.append([{ n: 1 }]);
    fs.appendFileSync(at("ledger.jsonl"), `null\n[]\n{}\n\0\n\uFEFF{"n":2}\n${"x".repeat(3 << 20)}\n{"n":3,"fil`);
    log.append([{ n: 4 }]);
    expect(log.read().map(({ n }) => n)).toEqual([1, 2, 4]);
  });

  it("loses nothing that several processes append, also while it is renamed", async () => {
    const { state, dir, at } = makeState();
    // 480 lines of 2 KB are more than half of the cap, so that a part of them moves to the log before.
    const names = ["a", "b", "c", "d"];
    await Promise.all(names.map((name) => worker.run("append", dir, name, 120)));
    const lines = state.log("surfaced.jsonl", any).read();
    expect(lines).toHaveLength(480);
    for (const name of names) {
      expect(lines.flatMap((line) => (line.name === name ? [line.n] : []))).toEqual(
        Array.from({ length: 120 }, (_, n) => n),
      );
    }
    expect(fs.readdirSync(at()).sort()).toEqual([".gitignore", "surfaced.jsonl", "surfaced.jsonl.1"]);
  });

  it("beyond its cap loses the older half, and every line stays whole", () => {
    const { state, at } = makeState();
    const log = state.log("faults.jsonl", any);
    const { cap } = KEPT["faults.jsonl"];
    for (let n = 0; n < 400; n++) log.append([{ n, filler: "x".repeat(500) }]);
    const sizes = ["faults.jsonl", "faults.jsonl.1"].map((name) => fs.statSync(at(name)).size);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(cap + 2000);
    const kept = log.read().map(({ n }) => n);
    expect(kept.length).toBeGreaterThan(cap / 2 / 520 - 1);
    expect(kept).toEqual(Array.from({ length: kept.length }, (_, n) => 400 - kept.length + n));
  });

  it("is not renamed by two at once, and grows on meanwhile", () => {
    const { state, at } = makeState();
    const log = state.log("faults.jsonl", any);
    const release = state.lock("faults.jsonl.lock").try();
    for (let n = 0; n < 200; n++) log.append([{ n, filler: "x".repeat(500) }]);
    expect(fs.existsSync(at("faults.jsonl.1"))).toBe(false);
    expect(log.read().at(-1)?.n).toBe(199);
    release?.();
    log.append([{ n: 200 }]);
    expect(fs.existsSync(at("faults.jsonl.1"))).toBe(true);
    log.append([{ n: 201 }]);
    expect(log.read().slice(-2)).toEqual([{ n: 200 }, { n: 201 }]);
  });
});

describe("a lock", () => {
  async function hold(dir: string, kind = "native"): Promise<ChildProcess> {
    const child = worker.start("hold", dir, "", kind);
    const [said] = await once(child.stdout as NodeJS.ReadableStream, "data");
    expect(String(said).trim()).toBe("held");
    return child;
  }

  it("has one holder, and leaves nothing behind", async () => {
    const { state, at } = makeState();
    const lock = state.lock("extract-test");
    const release = lock.try();
    expect(release).not.toBeNull();
    expect(lock.try()).toBeNull();
    await expect(lock.wait({ timeoutMs: 1 })).rejects.toMatchObject({ code: "lock" });
    await expect(lock.wait({ signal: AbortSignal.abort() })).rejects.toThrow();
    const waiting = lock.wait();
    release?.();
    release?.();
    (await waiting)();
    expect(fs.readdirSync(at())).toEqual([".gitignore"]);
  });

  it.each(["native", "pid"])(
    "is held against other processes, and freed when its holder is killed (%s)",
    async (kind) => {
      const { state, dir, at } = makeState();
      const child = await hold(dir, kind);
      const lock = state.lock("extract-test", kind === "pid" ? null : undefined);
      expect(lock.try()).toBeNull();
      const waiting = lock.wait();
      child.kill("SIGKILL");
      (await waiting)();
      expect(fs.readdirSync(at())).toEqual([".gitignore"]);
    },
  );

  it("lets one at a time in", async () => {
    const { state, dir } = makeState();
    await Promise.all([1, 2, 3].map(() => worker.run("count", dir, "", 30)));
    expect(state.text("dream-scan").read()).toBe("90");
  });

  it("says in words that its folder cannot be made, to whoever tries and to whoever waits", async () => {
    const { top } = makeState();
    fs.writeFileSync(path.join(top, "file"), "");
    const lock = openState(path.join(top, "file", "memory")).lock("sync.lock");
    expect(() => lock.try()).toThrow(MemdirError);
    await expect(lock.wait()).rejects.toMatchObject({
      code: "disk",
      message: expect.stringMatching(/cannot lock .*ENOTDIR/),
    });
  });
});

describe("a link", () => {
  /** Each is put in place of something, and leads to a folder or file that must stay as it is. */
  const places: [string, (at: (...names: string[]) => string) => string][] = [
    ["the state folder", (at) => at()],
    ["a folder in it", (at) => at("inbox")],
  ];
  for (const [what, find] of places) {
    posix(`in place of ${what} is refused`, () => {
      const { top, state, at } = makeState();
      const outside = path.join(top, "outside");
      fs.mkdirSync(path.join(outside, "inbox"), { recursive: true });
      for (const name of ["one.json", "rejected.jsonl", "inbox/one.json", "inbox/rejected.jsonl"])
        fs.writeFileSync(path.join(outside, name), '{"n":1}\n');
      const before = fs.readdirSync(outside, { recursive: true }).sort();
      if (find(at) !== at()) fs.mkdirSync(at());
      fs.symlinkSync(outside, find(at));
      const record = state.record("inbox/one", any);
      const log = state.log("inbox/rejected.jsonl", any);
      expect([record.read(), log.read(), state.keys("inbox")]).toEqual([null, [], []]);
      expect(() => record.write({ n: 2 })).toThrow(find(at));
      expect(() => log.append([{ n: 2 }])).toThrow(find(at));
      expect(() => log.check()).toThrow(find(at));
      expect(() => state.lock("inbox/x.lock").try()).toThrow(find(at));
      expect(() => record.remove()).toThrow(find(at));
      expect(fs.readdirSync(outside, { recursive: true }).sort()).toEqual(before);
      expect(fs.readFileSync(path.join(outside, "inbox", "one.json"), "utf8")).toBe('{"n":1}\n');
    });
  }

  posix("in place of a file is not followed: a record replaces it, a log and a lock refuse it", () => {
    const { top, state, at } = makeState();
    const precious = path.join(top, "precious");
    fs.writeFileSync(precious, '{"n":1}\n');
    fs.mkdirSync(at());
    for (const name of ["sync.json", "ledger.jsonl", "extract-test", "surfaced.jsonl.1"])
      fs.symlinkSync(precious, at(name));
    const record = state.record("sync", any);
    const why: string[] = [];
    expect(record.read((reason) => why.push(reason))).toBeNull();
    expect(why).toHaveLength(1);
    state.text("sync.json").touch(new Date(0));
    record.write({ n: 2 });
    expect(fs.lstatSync(at("sync.json")).isFile()).toBe(true);
    expect(state.log("ledger.jsonl", any).read()).toEqual([]);
    expect(() => state.log("ledger.jsonl", any).append([{ n: 2 }])).toThrow(at("ledger.jsonl"));
    expect(() => state.lock("extract-test").try()).toThrow();
    expect(state.log("surfaced.jsonl", any).read()).toEqual([]);
    expect(fs.readFileSync(precious, "utf8")).toBe('{"n":1}\n');
    expect(fs.statSync(precious).mtimeMs).toBeGreaterThan(0);
  });

  posix("nor is a fifo or a folder waited for or written to", () => {
    const { state, at } = makeState();
    fs.mkdirSync(at("sync.json"), { recursive: true });
    execFileSync("mkfifo", [at("mirror.json"), at("ledger.jsonl")]);
    expect([state.record("sync", any).read(), state.record("mirror", any).read()]).toEqual([null, null]);
    expect(() => state.record("sync", any).write({ n: 1 })).toThrow(at("sync.json"));
    expect(() => state.log("ledger.jsonl", any).append([{ n: 1 }])).toThrow(at("ledger.jsonl"));
    expect(state.log("ledger.jsonl", any).read()).toEqual([]);
    expect(fs.readdirSync(at()).sort()).toEqual(["ledger.jsonl", "mirror.json", "sync.json"]);
  });
});

describe("a full disk", () => {
  it.runIf(canMount())("leaves what was there, and says so", () => {
    const { dir, state, at } = makeState();
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", dir], { stdio: "ignore" });
    try {
      const record = state.record("sync", any);
      const log = state.log("ledger.jsonl", any);
      record.write({ n: 1 });
      log.append([{ n: 1 }]);
      fill(path.join(dir, "filler"));
      expect(() => record.write({ n: 2, filler: "x".repeat(10_000) })).toThrow(/the disk is full/);
      expect(() => log.append([{ n: 2, filler: "x".repeat(10_000) }])).toThrow(/the disk is full/);
      expect([record.read(), log.read()]).toEqual([{ n: 1 }, [{ n: 1 }]]);
      fs.rmSync(path.join(dir, "filler"));
      log.append([{ n: 3 }]);
      expect(log.read()).toEqual([{ n: 1 }, { n: 3 }]);
      expect(fs.readdirSync(at()).sort()).toEqual([".gitignore", "ledger.jsonl", "sync.json"]);
    } finally {
      execFileSync("umount", ["-l", dir]);
    }
  });

  function fill(file: string): void {
    try {
      for (;;) fs.appendFileSync(file, "x".repeat(1024));
    } catch {
      // Full.
    }
  }
});

/** Only root may, and not in every container. */
function canMount(): boolean {
  const folder = makeTemporary("mount", "memory");
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], { stdio: "ignore" });
    execFileSync("umount", [folder], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

describe("what is kept", () => {
  it("works in any folder, without a .gitignore outside of .memdir", () => {
    const top = makeTemporary("state", "memory");
    const state = openStateIn(path.join(top, "cache"));
    state.log("faults.jsonl", any).append([{ n: 1 }]);
    expect(fs.readdirSync(path.join(top, "cache"))).toEqual(["faults.jsonl"]);
  });

  it("is described in docs/format.md, with its cap", () => {
    const rows = fs.readFileSync(path.resolve("docs/format.md"), "utf8").split("\n");
    for (const [name, kept] of Object.entries(KEPT) as [string, KeptFile][]) {
      const row = rows.find((line) => line.startsWith(`| \`${name}`) && /[`/]/.test(line.charAt(3 + name.length)));
      const [, , kind, , cap] = row?.split("|").map((cell) => cell.trim()) ?? [];
      expect([name, kind]).toEqual([name, kept.kind]);
      if (kept.cap !== undefined) expect([name, cap]).toEqual([name, describeCap(kept.kind, kept.cap)]);
    }
  });

  function describeCap(kind: string, cap: number): string {
    if (kind === "records") return `${cap.toLocaleString("en")} files`;
    return cap >= 1 << 20 ? `${cap >> 20} MB` : `${cap >> 10} KB`;
  }

  it("is known by its name", () => {
    const names = [
      "ledger.jsonl",
      "surfaced.jsonl.1",
      "extract-0123456789abcdef",
      "lock.pid",
      ".new-12-ab-0",
      "x.json.77",
    ];
    expect(names.map(kindOf)).toEqual(["log", "log", "lock", "lock", "temporary", "temporary"]);
    expect(kindOf("notes.txt")).toBeNull();
    const { state, at } = makeState();
    for (const key of ["sync", "dream-plan", "review-skipped"]) state.record(key, any).write({ n: 1 });
    fs.writeFileSync(at("notes.txt"), "");
    expect(state.list().map(({ name, kind }) => [name, kind])).toEqual([
      [".gitignore", "store"],
      ["dream-plan.json", "record"],
      ["notes.txt", null],
      ["review-skipped.json", "record"],
      ["sync.json", "record"],
    ]);
  });
});
