/** `memdir doctor`: the checks of the directory and of the wiring in one answer. */

import { expect, test } from "vitest";
import { doctor } from "../../src/cli/doctor.ts";
import type { Check } from "../../src/memory/doctor.ts";
import { makeWorld } from "../world.ts";
import { hearCall } from "./call.ts";

const wired = (ok: boolean): Check => ({
  name: "wiring",
  ok,
  detail: ok ? "Codex: the hook recalls" : "Codex: the hook\ndoes not \x1b[2Jwork",
  fix: ok ? null : "memdir init --agent codex",
});

test("all is well: 0", async () => {
  const { call, printed } = hearCall(makeWorld(), {});
  expect(await doctor(call, async () => [wired(true)])).toBe(0);
  expect(printed.at(-2)).toBe("ok  wiring: Codex: the hook recalls");
  expect(printed.at(-1)).toBe("All is well.");
});

test("an agent that does not work: 1, with what to do, on one harmless line", async () => {
  const { call, printed } = hearCall(makeWorld(), {});
  expect(await doctor(call, async () => [wired(false)])).toBe(1);
  expect(printed.slice(-3)).toEqual([
    "!!  wiring: Codex: the hook does not work",
    "    memdir init --agent codex",
    "1 to look at",
  ]);
});

test("--json has both kinds of checks", async () => {
  const { call, answers } = hearCall(makeWorld(), { json: true });
  await doctor(call, async () => [wired(false)]);
  const names = answers[0].checks.map(({ name }: Check) => name);
  expect(names).toContain("settings");
  expect(names.at(-1)).toBe("wiring");
});
