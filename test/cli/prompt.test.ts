/** `memdir prompt`: the very text that goes to the model. */

import fs from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { SECTION_NAMES } from "../../src/prompts/memory.ts";
import { expectError, openSandbox, type Sandbox } from "./run.ts";

describe("prompt", () => {
  let box: Sandbox;
  beforeAll(async () => {
    box = openSandbox();
    box.env.MEMDIR_MEANING = "0";
    await box.save("use pnpm", ["--type", "feedback"], "Use pnpm, never npm. It costs $1 and $& less.");
  });

  test("everything: place, types, what not to save, drift, index (B5.1, B5.2)", async () => {
    const { code, out, err } = await box.run(["prompt"]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toMatch(/^# Memory\n/);
    expect(out).toContain(box.dir());
    for (const type of ["user", "feedback", "project", "reference"]) expect(out).toContain(`**${type}**`);
    expect(out).toContain("- [use pnpm](feedback_use_pnpm.md) — Says use pnpm\n");
    expect(out).not.toContain("never npm");
    expect(out.endsWith("</memory-index>\n")).toBe(true);
  });

  test("the same bytes whenever it is asked, so that prompt caches hold", async () => {
    const first = await box.run(["prompt"]);
    const later = new Date(Date.now() - 5 * 86_400_000);
    fs.utimesSync(path.join(box.dir(), "feedback_use_pnpm.md"), later, later);
    expect(await box.run(["prompt"])).toEqual(first);
  });

  test("--section gives one part, and the parts make the whole", async () => {
    const parts = await Promise.all(SECTION_NAMES.map((name) => box.run(["prompt", "--section", name])));
    const whole = await box.run(["prompt"]);
    const said = parts.map(({ out }) => out.replace(/\n$/, "")).filter((part) => part !== "");
    expect(`${said.join("\n\n")}\n`).toBe(whole.out);
    expect(parts[SECTION_NAMES.indexOf("saving")]?.out).toMatch(/^## How to save\n/);
  });

  test("a part that does not exist: exit 2, with the names there are", async () => {
    const names = SECTION_NAMES.join(", ");
    expectError(
      await box.run(["prompt", "--section", "nope"]),
      2,
      new RegExp(`--section must be one of ${names}, not "nope"`),
    );
    expectError(await box.run(["prompt", "--section", ""]), 2, /--section must be one of .*, not ""/);
    expectError(await box.run(["prompt", "more"]), 2, /more/);
  });

  test("--files adds what the index names, in its fence, dollars and all (B5.5)", async () => {
    const { out } = await box.run(["prompt", "--files"]);
    expect(out).toContain("<system-reminder>\nMemory (saved today): ");
    expect(out).toContain("It costs $1 and $& less.");
  });

  test("--json has the text as one value", async () => {
    const [json, human] = await Promise.all([box.json(["prompt"]), box.run(["prompt"])]);
    expect(json).toEqual({ text: human.out.replace(/\n$/, "") });
  });

  test("no memories yet: it says so and makes nothing (B5.2)", async () => {
    const empty = openSandbox();
    const { out } = await empty.run(["prompt"]);
    expect(out).toContain("(No memories saved yet.)");
    expect(out).not.toContain("<memory-index>");
    expect(fs.existsSync(empty.dir())).toBe(false);
  });

  test("team memory is told of where there is some (B5.8)", async () => {
    const box2 = openSandbox();
    fs.mkdirSync(path.join(box2.cwd, ".claude", "memory"), { recursive: true });
    expect((await box2.run(["prompt", "--section", "team"])).out).toContain("## Team memory");
    const off = await box2.run(["prompt", "--section", "team"], { env: { TEAMMEM: "0" } });
    expect(off.out.trim()).toBe("");
  });
});
