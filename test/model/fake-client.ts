/** A program in the place of a client: on a PATH of its own, it runs a script and tells the test what it was given. */

import fs from "node:fs";
import path from "node:path";

/** In `script`, `args` is what it was started with, `input()` what it was asked, `seen(value)` tells, and `answer(…)` is Claude Code's. */
export function putFakeClient(folder: string, program: string, script: string): { PATH: string; told: string } {
  const [bin, told] = [path.join(folder, "bin"), path.join(folder, "told")];
  for (const each of [bin, told]) fs.mkdirSync(each, { recursive: true });
  fs.writeFileSync(
    path.join(bin, program),
    `#!${process.execPath}
const fs = require("node:fs"), path = require("node:path"), { spawn } = require("node:child_process");
const args = process.argv.slice(2), told = ${JSON.stringify(told)};
const run = fs.readdirSync(told).filter((name) => name.startsWith("run")).length + 1;
const seen = (value, name = "run" + run) => fs.writeFileSync(path.join(told, name), JSON.stringify(value));
const input = () => fs.readFileSync(0, "utf8");
const usage = { input_tokens: 7, output_tokens: 2 };
const answer = (more) => console.log(JSON.stringify({ type: "result", is_error: false, usage, ...more }));
${script}`,
    { mode: 0o755 },
  );
  return { PATH: bin, told };
}
