#!/usr/bin/env node
// How many files of src/ have a function that runs for a verb: walks.mjs [--files]. The sources are compiled file by file, run with
// V8's coverage on a project of their own, and counted: a short walk is a design goal (see ARCHITECTURE.md).
import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { transform } from "esbuild";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
// Below node_modules, so that packages are found from there; of this process alone, as checkouts may share that folder.
const out = path.join(fs.realpathSync(path.join(root, "node_modules")), `.walks-${process.pid}`);
const MEMORY = ["--type", "feedback", "--description", "How tests are run here"];
const MCP_SAVE = [
  {
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "walks", version: "1" } },
  },
  {
    method: "tools/call",
    params: {
      name: "save",
      arguments: {
        type: "project",
        name: "third",
        description: "A fact",
        body: "The release branch is called release.",
      },
    },
  },
];

fs.rmSync(out, { recursive: true, force: true });
await compile();
const top = fs.mkdtempSync(path.join(os.tmpdir(), "memdir-walks-"));
try {
  const project = path.join(top, "project");
  fs.mkdirSync(path.join(top, "home"));
  execFileSync("git", ["init", "-q", project]);
  run(["save", ...MEMORY, "--name", "first"], "Run the tests with `make check`.\n");
  report("list", ["list"]);
  report("save", ["save", ...MEMORY, "--name", "second"], "Lint with `make lint`.\n");
  report("recall", ["recall", "how do I run the tests?"]);
  const lines = MCP_SAVE.map((message, id) => JSON.stringify({ jsonrpc: "2.0", id, ...message })).join("\n");
  report("MCP save", ["mcp"], `${lines}\n`);
} finally {
  fs.rmSync(top, { recursive: true, force: true });
  fs.rmSync(out, { recursive: true, force: true });
}

async function compile() {
  const { version } = JSON.parse(fs.readFileSync(path.join(root, "package.json"), "utf8"));
  const files = fs.readdirSync(path.join(root, "src"), { recursive: true }).map(String);
  for (const file of files.filter((name) => name.endsWith(".ts"))) {
    const text = fs.readFileSync(path.join(root, "src", file), "utf8");
    const define = { __MEMDIR_VERSION__: JSON.stringify(version) };
    const { code } = await transform(text, { loader: "ts", format: "esm", target: "node20", define });
    const target = path.join(out, "src", file.replace(/\.ts$/, ".js"));
    fs.mkdirSync(path.dirname(target), { recursive: true });
    fs.writeFileSync(target, code.replace(/((?:from|import)\s*\(?\s*"\.[^"]*)\.ts"/g, '$1.js"'));
  }
  fs.writeFileSync(path.join(out, "package.json"), '{ "type": "module" }\n');
  // By these an installation is known; the walks run neither.
  for (const name of ["hook.cjs", "cli.js"]) fs.writeFileSync(path.join(out, name), "");
}

function run(args, input = "", env = {}) {
  const main = pathToFileURL(path.join(out, "src", "cli", "main.js")).href;
  const done = spawnSync(process.execPath, [fileURLToPath(main), ...args], {
    cwd: path.join(top, "project"),
    input,
    encoding: "utf8",
    env: { PATH: process.env.PATH, HOME: path.join(top, "home"), MEMDIR_MEANING: "0", ...env },
  });
  if (done.status !== 0) throw new Error(`memdir ${args.join(" ")} ended with ${done.status}: ${done.stderr}`);
}

function report(name, args, input) {
  const coverage = path.join(top, `coverage-${name.replace(" ", "-")}`);
  run(args, input, { NODE_V8_COVERAGE: coverage });
  const ran = new Set();
  const loaded = new Set();
  for (const file of fs.readdirSync(coverage)) {
    for (const { url, functions } of JSON.parse(fs.readFileSync(path.join(coverage, file), "utf8")).result) {
      if (!url.startsWith(pathToFileURL(out).href)) continue;
      const source = path.relative(path.join(out, "src"), fileURLToPath(url)).replace(/\.js$/, ".ts");
      loaded.add(source);
      // The first one is the module itself.
      if (functions.slice(1).some(({ ranges }) => ranges[0].count > 0)) ran.add(source);
    }
  }
  console.log(`${name}: functions of ${ran.size} files ran, ${loaded.size} were loaded`);
  if (process.argv.includes("--files"))
    console.log(
      [...ran]
        .sort()
        .map((file) => `  ${file}`)
        .join("\n"),
    );
}
