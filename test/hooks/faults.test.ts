import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { MemdirError } from "../../src/errors.ts";
import {
  describe as describeError,
  examineFaults,
  markTold,
  noteFault,
  readFaults,
  readNewFaults,
} from "../../src/hooks/faults.ts";
import { makeTemporary } from "../temporary.ts";

const AT = new Date("2026-03-10T12:00:00.000Z");

function makeHome() {
  const home = makeTemporary("faults", "memory");
  const env = { HOME: home };
  const file = path.join(home, ".cache", "memdir", "faults.jsonl");
  const note = (error: unknown, event = "Stop") => noteFault(env, { at: AT, event, error });
  return { home, env, file, note };
}

describe("faults", () => {
  it("are kept for the user alone, oldest first", () => {
    const { env, file, note } = makeHome();
    expect(readFaults(env)).toEqual([]);
    note(new Error("one"));
    note("two", "SessionStart");
    expect(readFaults(env)).toEqual([
      { at: AT.toISOString(), event: "Stop", message: "one" },
      { at: AT.toISOString(), event: "SessionStart", message: "two" },
    ]);
    expect(fs.statSync(file).mode & 0o777).toBe(0o600);
    expect(fs.statSync(path.dirname(file)).mode & 0o777).toBe(0o700);
  });

  it("are new until a session was told", () => {
    const { env, note } = makeHome();
    note(new Error("one"));
    expect(readNewFaults(env)).toHaveLength(1);
    markTold(env, AT);
    expect(readNewFaults(env)).toEqual([]);
    note(new Error("two"));
    expect(readNewFaults(env)).toMatchObject([{ message: "two" }]);
    expect(readFaults(env)).toHaveLength(2);
  });

  it("say nothing of what was read, and little of where", () => {
    const { env, home } = makeHome();
    const said = (error: unknown) => describeError(error, env);
    const parsed = (() => {
      try {
        return JSON.parse('{"prompt": sk-secret}');
      } catch (error) {
        return error;
      }
    })();
    expect(said(parsed)).toBe("SyntaxError: the input is not JSON");
    expect(said(new Error(`EACCES: permission denied, open '${home}/a/b.md'`))).toBe(
      "EACCES: permission denied, open '~/a/b.md'",
    );
    expect(said(new Error("ENOENT: no such file, open '/srv/customers/acme/x.md'"))).toBe(
      "ENOENT: no such file, open '…/x.md'",
    );
    expect(said(new MemdirError("disk", 'cannot read "my words"\nand more'))).not.toMatch(/my words|and more/);
    expect(said(new Error("x".repeat(5000)))).toHaveLength(300);
    expect(said(undefined)).toBe("undefined");
    expect(said(null)).toBe("null");
  });

  it("are shown by doctor for a week, the last ones first", () => {
    const { env, note } = makeHome();
    expect(examineFaults(env, AT)).toEqual({
      name: "hooks",
      ok: true,
      detail: "none failed in the last seven days",
      fix: null,
    });
    for (const text of ["one", "two", "three", "four"]) note(new Error(text));
    expect(examineFaults(env, AT)).toMatchObject({
      ok: false,
      detail:
        "4 failed in the last seven days, the last: 2026-03-10 12:00 Stop: four; 2026-03-10 12:00 Stop: three; 2026-03-10 12:00 Stop: two",
    });
    expect(examineFaults(env, new Date(AT.getTime() + 8 * 86_400_000)).ok).toBe(true);
  });

  it("of a host that went away are none", () => {
    const { env, note } = makeHome();
    note(Object.assign(new Error("write EPIPE"), { code: "EPIPE" }));
    expect(readFaults(env)).toEqual([]);
  });

  it("are bounded, and the newest stay", () => {
    const { env, file, note } = makeHome();
    for (let i = 0; i < 400; i++) note(new Error(`${i} ${"x".repeat(280)}`));
    const sizes = [file, `${file}.1`].map((each) => fs.statSync(each).size);
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(66 * 1024);
    const kept = readFaults(env);
    expect(kept.at(-1)?.message).toMatch(/^399 /);
    expect(kept.length).toBeGreaterThan(50);
    expect(fs.readdirSync(path.dirname(file))).toEqual(["faults.jsonl", "faults.jsonl.1"]);
  });

  it("survive half a line, garbage, a link, a fifo's place taken by a folder, and a home that is not there", () => {
    const { env, file, home, note } = makeHome();
    note(new Error("one"));
    fs.appendFileSync(file, '{"at":"2026');
    note(new Error("two"));
    fs.appendFileSync(file, 'null\n[]\n5\n{"at":1}\n{"at":"x","event":"a","message":"b"}\n\0\n');
    expect(readFaults(env).map(({ message }) => message)).toEqual(["one", "two"]);

    fs.rmSync(file);
    const elsewhere = path.join(home, "elsewhere");
    fs.writeFileSync(elsewhere, "mine\n");
    fs.symlinkSync(elsewhere, file);
    note(new Error("three"));
    expect(fs.readFileSync(elsewhere, "utf8")).toBe("mine\n");
    expect(readFaults(env)).toEqual([]);

    fs.rmSync(file);
    fs.mkdirSync(file);
    note(new Error("four"));
    expect(readFaults(env)).toEqual([]);
    noteFault({ HOME: path.join(home, "absent") }, { at: AT, event: "Stop", error: new Error("x") });
    expect(fs.existsSync(path.join(home, "absent"))).toBe(false);
  });
});
