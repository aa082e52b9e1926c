/** The README's first minute, command by command in a clean home on a terminal of 80 columns, prints what the README shows. */

import fs from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { BINARY, openSandbox } from "../cli/run.ts";
import { openPty } from "../pty.ts";

const README = fs.readFileSync(fileURLToPath(new URL("../../README.md", import.meta.url)), "utf8");

it("prints what it shows", async () => {
  const [, tour = ""] = /## A one-minute tour\n.*?```console\n(.*?)```/s.exec(README) ?? [];
  const steps = tour.split(/^\$ /m).slice(1);
  expect(steps.length).toBeGreaterThan(5);
  const box = openSandbox();
  fs.writeFileSync(box.at("memdir"), `#!/bin/sh\nexec "${process.execPath}" "${BINARY}" "$@"\n`, { mode: 0o755 });
  const env = { ...box.env, PATH: `${box.top}:${box.env.PATH}`, NO_COLOR: "1", TERM: "xterm", MEMDIR_MEANING: "1" };
  for (const step of steps) {
    const [command = "", ...shown] = step.trimEnd().split("\n");
    const pty = openPty("sh", ["-c", command], { cwd: box.cwd, env, cols: 80 });
    expect(await pty.exit, command).toBe(0);
    expect(steady(pty.text()), command).toEqual(steady(shown.join("\n")));
  }
});

/** Times differ from one run to the next. */
function steady(text: string): string[] {
  return text
    .replaceAll("\r", "")
    .trimEnd()
    .split("\n")
    .map((line) =>
      line
        .trimEnd()
        .replace(/\d+ ms\)/, "N ms)")
        .replace(/\d\.\d\d$/, "N"),
    );
}
