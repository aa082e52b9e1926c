#!/usr/bin/env node
// How reading grows with hostile text: a whole against a tenth of it, from one run: hostile.mjs [--check] [--quick].
// In time of the processor. Linear is 10×, quadratic 100×. Needs the packages for tests. With --check it ends with 1 when something grows faster than it may.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import * as esbuild from "esbuild";
import { formatTable, takeTurns, timeRow } from "./recall-timing.mjs";

const { values: options } = parseArgs({
  options: { check: { type: "boolean", default: false }, quick: { type: "boolean", default: false } },
});
const CHARACTERS = options.quick ? 50_000 : 100_000;
const ROUNDS = options.quick ? 5 : 9;
/** Between linear and quadratic: what no longer fits the processor's cache takes three times as long. */
const TARGET = 40;
/** What takes less says more about the machine. */
const MIN_MS = 1;

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), "..");
const top = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "memdir-bench-hostile-")));
process.on("exit", () => fs.rmSync(top, { recursive: true, force: true }));
// Packages are found through it.
fs.symlinkSync(path.join(root, "node_modules"), path.join(top, "node_modules"));

const SOURCE = `
export { findImports } from "./src/instructions/imports.ts";
export { readRulePaths } from "./src/instructions/rule-paths.ts";
export { parseIndexLine } from "./src/store/index-line.ts";
export { termsOf } from "./src/text/terms.ts";
export { stripForClient } from "./src/text/lines.ts";
export { parseDocument } from "./src/text/frontmatter.ts";
export { findRelativeDates } from "./src/text/relative-dates.ts";
export { findSecrets } from "./src/text/secrets.ts";
export { findClaims } from "./src/truth/claims.ts";
`;
const outfile = path.join(top, "readers.mjs");
await esbuild.build({
  stdin: { contents: SOURCE, resolveDir: root },
  outfile,
  bundle: true,
  platform: "node",
  format: "esm",
  packages: "external",
  logLevel: "error",
});
const read = await import(pathToFileURL(outfile).href);

const DAY = new Date("2026-03-10T12:00:00.000Z");
const CLAIMS = { root: top, names: ["harbor"], written: DAY };
/** Whoever reads, and what they are given again and again. */
const READERS = {
  frontmatter: [
    (text) => read.parseDocument(`---\na: ${text}\n---\nbody\n`),
    ["a: b\n", "[{", "a: [\n", 'a: "x\n', " ", '\\"'],
  ],
  "comments taken out": [read.stripForClient, ["<!-- a\n", "<!-- a -->\n", "```\n", "<div>\n", "- <!--\n"]],
  imports: [read.findImports, ["@a ", "@a\n", "And @a\n\n", "@a\\ ", "```\n@a\n\n"]],
  "paths of a rule": [(text) => read.readRulePaths(`---\npaths: ${text}\n---\n`), ["[", "\n  - a", ",", ": ", "---x"]],
  "a line of the index": [(text) => read.parseIndexLine(`- [a](${text}b`), ["[", "[a](", " ", "(a)", "[x.md"]],
  terms: [read.termsOf, ["deploy the service ", "a/", "aB", "部", "a'", "部a", "ﷺ"]],
  dates: [(text) => read.findRelativeDates(text, DAY), ["tomorrow ", "`", "next ", "in 3 ", "Monday to ", "12 days "]],
  secrets: [
    read.findSecrets,
    [
      "password:",
      "eyJ-",
      "a://a:",
      "-----BEGIN PRIVATE KEY-----\n",
      "curl -u a:",
      "xoxb-a-",
      "key a1B2c3D4e5F6 ",
      "| key | a1B2c3D4e5F6g7H8 |\n",
    ],
  ],
  claims: [(text) => read.findClaims(text, CLAIMS), ["a/", "a.", "`", "[[", "--a", "f(", "branch ", "a in b/"]],
};

/** A busy machine makes some rounds slow, and none fast. */
const fastest = (times) => times.toSorted((a, b) => a - b).slice(0, Math.ceil(times.length / 3));

const rows = [];
for (const [name, [reader, units]] of Object.entries(READERS)) {
  for (const unit of units) {
    process.stderr.write(`${name}: ${JSON.stringify(unit)}\n`);
    const time = (characters) => {
      const text = unit.repeat(Math.ceil(characters / unit.length));
      return async () => {
        const started = process.cpuUsage();
        await reader(text);
        const { user, system } = process.cpuUsage(started);
        return (user + system) / 1000;
      };
    };
    const { whole, tenth } = await takeTurns(ROUNDS, { whole: time(CHARACTERS), tenth: time(CHARACTERS / 10) });
    const target = Math.min(...whole) < MIN_MS ? null : TARGET;
    rows.push(timeRow(`${name}, ${JSON.stringify(unit)}`, fastest(whole), "a tenth of it", fastest(tenth), target));
  }
}
console.log(formatTable(rows));
if (options.check && rows.some(({ isMissed }) => isMissed)) process.exitCode = 1;
