#!/usr/bin/env node
// Installs the real clients that `npm run test:clients` drives, each in a folder of its own below a cache: test tools, never dependencies.
// A client that is there is not installed again. What could not be installed is told and skipped; in CI on Linux x64 it is a failure.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

/** Where npm has Node itself. */
const NODE = `node-${process.platform.replace("win32", "win")}-${os.arch()}`;

/** The versions that spec and tests speak of. `program`: below node_modules, the first that is there; .js runs on Node. */
const CLIENTS = {
  "claude-code": {
    package: "@anthropic-ai/claude-code",
    version: "2.1.325",
    // The package's own bin is put in place by a script; the binary itself needs none.
    programs: ["", "-musl"].map((libc) => `@anthropic-ai/claude-code-${process.platform}-${os.arch()}${libc}/claude`),
  },
  codex: { package: "@openai/codex", version: "0.166.0", programs: ["@openai/codex/bin/codex.js"] },
  "gemini-cli": {
    package: "@google/gemini-cli",
    version: "0.61.0",
    programs: ["@google/gemini-cli/bundle/gemini.js"],
  },
  opencode: {
    package: "opencode-ai",
    version: "1.18.33",
    programs: ["", "-baseline", "-musl", "-baseline-musl"].map(
      (kind) => `opencode-${process.platform.replace("win32", "windows")}-${os.arch()}${kind}/bin/opencode`,
    ),
  },
  inspector: {
    package: "@modelcontextprotocol/inspector",
    version: "2.12.0",
    programs: ["@modelcontextprotocol/inspector/clients/launcher/build/index.js"],
  },
  // The later ones import what Node 20 lacks.
  conformance: {
    package: "@modelcontextprotocol/conformance",
    version: "0.1.13",
    programs: ["@modelcontextprotocol/conformance/dist/index.js"],
  },
  // Runtimes other than the Node of the tests that the library is used on.
  bun: {
    package: "bun",
    version: "1.4.4",
    programs: ["", "-baseline", "-musl"].map((kind) => `@oven/bun-${process.platform}-${os.arch()}${kind}/bin/bun`),
  },
  "node-22": { package: NODE, version: "22.23.3", programs: [`${NODE}/bin/node`] },
  "node-24": { package: NODE, version: "24.21.0", programs: [`${NODE}/bin/node`] },
  deno: {
    package: "deno",
    version: "2.9.6",
    programs: ["", "-glibc"].map((libc) => `@deno/${process.platform}-${os.arch()}${libc}/deno`),
  },
};

/** Written when everything else is there. */
const MARKER = "complete.json";
const INSTALL_MS = 15 * 60 * 1000;
const VERSION_MS = 60 * 1000;

if (process.argv[1] && fs.realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  process.exitCode = main(process.argv.slice(2));
}

/** @returns {string} */
export function cacheFolder() {
  return process.env.MEMDIR_CLIENTS_CACHE || path.join(os.homedir(), ".cache", "memdir-clients");
}

/**
 * How to start a client, or null if it is not installed.
 * @param {string} name @param {string} [cache] @returns {{ program: string, args: string[] } | null}
 */
export function findClient(name, cache = cacheFolder()) {
  try {
    const folder = folderOf(name, cache);
    const { program } = JSON.parse(fs.readFileSync(path.join(folder, MARKER), "utf8"));
    return commandOf(path.join(folder, program));
  } catch {
    return null;
  }
}

/** Whether a client that is missing fails the run instead of being skipped. */
export function isRequired(env = process.env) {
  return Boolean(env.CI) && process.platform === "linux" && process.arch === "x64";
}

/** @param {string[]} only names of clients; none: all */
function main(only) {
  const cache = cacheFolder();
  const unknown = only.find((name) => !Object.hasOwn(CLIENTS, name));
  if (unknown !== undefined) {
    process.stderr.write(`clients: no client "${unknown}"; there are ${Object.keys(CLIENTS).join(", ")}\n`);
    return 2;
  }
  let missing = 0;
  for (const name of only.length > 0 ? only : Object.keys(CLIENTS)) {
    const { version } = CLIENTS[name];
    if (findClient(name, cache)) {
      say(`${name} ${version}: there`);
      continue;
    }
    const started = Date.now();
    say(`${name} ${version}: installing into ${cache}`);
    const problem = install(name, cache);
    if (problem === null) {
      say(`${name} ${version}: installed in ${Math.round((Date.now() - started) / 1000)} s`);
    } else {
      missing += 1;
      process.stderr.write(`clients: ${name} ${version} cannot be installed, its tests are skipped: ${problem}\n`);
    }
  }
  return missing > 0 && isRequired() ? 1 : 0;
}

/**
 * Beside its place first, then renamed: whoever comes second throws its own away.
 * @returns {string | null} what went wrong
 */
function install(name, cache) {
  const { package: wanted, version, programs } = CLIENTS[name];
  const folder = folderOf(name, cache);
  let aside = "";
  try {
    fs.mkdirSync(cache, { recursive: true });
    sweep(cache);
    aside = fs.mkdtempSync(path.join(cache, `.${name}-`));
    // --force: npm must take this version even if it asks for another Node. Scripts are not needed by any of them.
    const flags = [
      "--force",
      "--ignore-scripts",
      "--no-audit",
      "--no-fund",
      "--no-update-notifier",
      "--loglevel=error",
    ];
    const ran = npm(["install", "--prefix", aside, ...flags, `${wanted}@${version}`], aside);
    if (ran !== null) return ran;
    const { program, problem } = choose(aside, programs.map(executable), version);
    if (problem !== null) return problem;
    fs.writeFileSync(path.join(aside, MARKER), `${JSON.stringify({ name: wanted, version, program })}\n`);
    place(aside, folder);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    if (aside !== "") fs.rmSync(aside, { recursive: true, force: true });
  }
}

/** The first that starts: one and the same package may be there for older processors, too. */
function choose(folder, programs, version) {
  let problem = `there is no program for ${process.platform} ${os.arch()} in the package`;
  for (const program of programs.filter((file) => fs.existsSync(path.join(folder, file)))) {
    const found = probe(path.join(folder, program), version, folder);
    if (found === null) return { program, problem: null };
    problem = found;
  }
  return { program: "", problem };
}

/** What killed installations left behind. */
function sweep(cache) {
  for (const entry of fs.readdirSync(cache, { withFileTypes: true })) {
    const folder = path.join(cache, entry.name);
    const age = Date.now() - (fs.statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY);
    if (entry.isDirectory() && entry.name.startsWith(".") && age > 2 * INSTALL_MS) {
      fs.rmSync(folder, { recursive: true, force: true });
    }
  }
}

/** A folder is only ever put there whole, so one that is in the way is either as good as ours or broken. */
function place(aside, folder) {
  try {
    fs.renameSync(aside, folder);
  } catch {
    if (fs.existsSync(path.join(folder, MARKER))) return;
    fs.rmSync(folder, { recursive: true, force: true });
    fs.renameSync(aside, folder);
  }
}

function folderOf(name, cache) {
  return path.join(cache, `${name}-${CLIENTS[name].version}`);
}

function executable(program) {
  const suffix = process.platform === "win32" && !program.endsWith(".js") ? ".exe" : "";
  return path.join("node_modules", ...`${program}${suffix}`.split("/"));
}

function commandOf(file) {
  return file.endsWith(".js") ? { program: process.execPath, args: [file] } : { program: file, args: [] };
}

/** npm's own file when npm started us: a .cmd cannot be started without a shell. @returns {string | null} what went wrong */
function npm(args, cwd) {
  const cli = process.env.npm_execpath ?? "";
  const [program, before] = /npm-cli\.c?js$/.test(cli) ? [process.execPath, [cli]] : ["npm", []];
  return run(program, [...before, ...args], { cwd, timeout: INSTALL_MS }).problem;
}

/** That it starts on this machine, with a home of its own, and is the version that was asked for. @returns {string | null} */
function probe(file, version, folder) {
  const home = path.join(folder, "home");
  fs.mkdirSync(home);
  const { program, args } = commandOf(file);
  const env = {
    ...process.env,
    HOME: home,
    USERPROFILE: home,
    DISABLE_AUTOUPDATER: "1",
    OPENCODE_DISABLE_AUTOUPDATE: "1",
  };
  const flags = file.includes("inspector") ? ["--cli", "--version"] : ["--version"];
  const { out, problem } = run(program, [...args, ...flags], { cwd: home, env, timeout: VERSION_MS });
  fs.rmSync(home, { recursive: true, force: true });
  if (problem !== null) return problem;
  return out.includes(version) ? null : `it says that it is version ${out.trim().slice(0, 80)}`;
}

function run(program, args, options) {
  const ran = spawnSync(program, args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], ...options });
  if (ran.error) return { out: "", problem: `${path.basename(program)}: ${ran.error.message}` };
  if (ran.status === 0) return { out: ran.stdout, problem: null };
  const said = `${ran.stderr}${ran.stdout}`.trim().split("\n").slice(-5).join("\n");
  return { out: "", problem: `${path.basename(program)} ended with ${ran.status ?? ran.signal}: ${said}` };
}

function say(text) {
  process.stdout.write(`clients: ${text}\n`);
}
