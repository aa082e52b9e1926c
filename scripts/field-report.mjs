#!/usr/bin/env node
/**
 * The figures of docs/field-report.md: measures the memories that repositories hold.
 *
 * node scripts/field-report.mjs [--cache DIR] FOLDER… prints one JSON value and one Markdown table. A FOLDER holds checkouts, or
 * git directories as NAME/repo; a name that occurs in two folders counts for the first. The repositories are only read: each is
 * cloned into a temporary folder, and nothing of theirs is run. Needs `npm run build`. With --cache, a repository that was
 * measured before is not measured again.
 */

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { figuresOf, formatTable } from "./field/figures.mjs";

const STORE = fileURLToPath(new URL("field/store.mjs", import.meta.url));
/** One huge history must not stop the rest. */
const TIMEOUT_MS = 300_000;

const { values, positionals } = parseArgs({ options: { cache: { type: "string" } }, allowPositionals: true });
if (positionals.length === 0) {
  process.stderr.write("usage: node scripts/field-report.mjs [--cache DIR] FOLDER…\n");
  process.exit(2);
}
const cache = values.cache ? resolve(values.cache) : mkdtempSync(join(tmpdir(), "field-report-"));
mkdirSync(cache, { recursive: true });
const repositories = findRepositories(positionals.map((folder) => resolve(folder)));
const measured = repositories.map(({ name, path, group }, i) => {
  process.stderr.write(`\r${i + 1} of ${repositories.length}`);
  return { ...measure(path, join(cache, `${name}.json`)), group };
});
process.stderr.write("\n");
if (!values.cache) rmSync(cache, { recursive: true });
const figures = figuresOf(measured);
process.stdout.write(`${JSON.stringify(figures, null, 1)}\n\n${formatTable(figures)}`);

function findRepositories(folders) {
  const found = new Map();
  for (const [i, folder] of folders.entries())
    for (const name of readdirSync(folder).sort()) {
      const path = [join(folder, name, "repo"), join(folder, name)].find(isRepository);
      if (path && !found.has(name)) found.set(name, { name, path, group: i + 1 });
    }
  return [...found.values()];
}

function isRepository(path) {
  return existsSync(join(path, ".git")) || (existsSync(join(path, "HEAD")) && existsSync(join(path, "objects")));
}

/** A process of its own, so that one can be stopped; `store` is null where it fails. */
function measure(path, file) {
  if (!existsSync(file)) {
    const { status, stderr } = spawnSync(process.execPath, [STORE, path, file], {
      encoding: "utf8",
      timeout: TIMEOUT_MS,
    });
    if (status !== 0)
      process.stderr.write(`\n${path}: ${String(stderr).trim().split("\n").slice(-12).join("\n") || "stopped"}\n`);
  }
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : { store: null };
}
