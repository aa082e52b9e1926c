#!/usr/bin/env node
// Builds dist/: build.mjs [--quiet] [--no-types]. Does nothing when nothing changed since the last build.
// Files arrive by rename and chunks carry a hash in their name, so a program running from dist/ is not broken by a build.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import { builtinModules, createRequire } from "node:module";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import zlib from "node:zlib";

const ENTRIES = {
  cli: "src/cli/main.ts",
  run: "src/cli/run.ts",
  hook: "src/hooks/hook.ts",
  index: "src/index.ts",
  agentKit: "src/agent-kit.ts",
  ai: "src/ai.ts",
  anthropic: "src/anthropic.ts",
  compat: "src/compat.ts",
  memoryTool: "src/memory-tool/memory-tool.ts",
  verbs: "src/library/verbs.ts",
  meaningThread: "src/meaning/thread-side.ts",
};
/** Commands that few calls need: many times the code of all others together, which must not pay for it at their start. */
const APART = {
  adopt: "src/verbs/adopt.ts",
  doctor: "src/verbs/doctor.ts",
  exchange: "src/verbs/exchange.ts",
  health: "src/verbs/health.ts",
  init: "src/verbs/init.ts",
  promote: "src/verbs/promote.ts",
  prune: "src/verbs/prune.ts",
  sync: "src/verbs/sync.ts",
  team: "src/verbs/team.ts",
  trust: "src/verbs/trust.ts",
  verify: "src/verbs/verify.ts",
  why: "src/verbs/why.ts",
  dream: "src/verbs/dream.ts",
  extract: "src/verbs/extract.ts",
  inbox: "src/verbs/inbox.ts",
  learn: "src/verbs/learn.ts",
  ledger: "src/verbs/ledger.ts",
  log: "src/verbs/log.ts",
  rewind: "src/verbs/rewind.ts",
  sessions: "src/verbs/sessions.ts",
  help: "src/cli/help.ts",
  completion: "src/cli/completion.ts",
  prefetch: "src/cli/prefetch.ts",
  "extract-hook": "src/cli/extract-hook.ts",
  chat: "src/cli/chat.ts",
  "run-hook": "src/cli/run-hook.ts",
  mcp: "src/cli/mcp.ts",
  serve: "src/cli/serve.ts",
  "merge-driver": "src/cli/merge-driver.ts",
  ui: "src/cli/ui.ts",
};
/** What open.ts loads when a verb needs it, and listing does not: one more file, so that the first one is read faster. */
const LATER = [
  "context/start",
  "instructions/instructions",
  "instructions/load",
  "meaning/meaning",
  "model/choose",
  "recall/recaller",
  "recall/search",
];
/** The page of `memdir ui`: what runs in the browser. */
const PAGE = "src/web/page";
/** What single verbs load: only a few commands and doors call these. */
const ALONE = [
  "recall/surface-log",
  "memory/statement",
  "truth/lint",
  "truth/health",
  "truth/verify",
  "wiring/hook-form",
];
/** Made by the scripts in training/, and kept with the sources. */
const ASSETS = ["minilm-tuning.bin", "glossary.txt"];
/** What the hook command loads for one event, or after an error. */
const HOOKS = ["prompt", "stop", "session", "tool", "faults"];
const EXTERNAL = ["fs-native-extensions", "@electric-sql/pglite", "pg-native", "ai"];
/** Large packages that few commands need: files of their own, loaded when they are asked for. */
const VENDOR = {
  marked: "./vendor/marked.js",
  "@anthropic-ai/sdk": "./vendor/anthropic.js",
  openai: "./vendor/openai.js",
};
/** A quick build leaves chunks of earlier builds this long, for processes that still run them. */
const KEEP_OLD_MS = 60 * 60 * 1000;
const LOCK_WAIT_MS = 120 * 1000;

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const dist = path.join(root, "dist");
// npm never packs files named ._*, so neither of these is published.
const stampFile = path.join(dist, "._stamp.json");
const lockFile = path.join(dist, "._lock");
const quiet = process.argv.includes("--quiet");
const withTypes = !process.argv.includes("--no-types");

try {
  await main();
} catch (error) {
  process.stderr.write(`build: ${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}

async function main() {
  const started = Date.now();
  if (isFresh(fingerprint())) return say("up to date");
  fs.mkdirSync(dist, { recursive: true });
  await withLock(async () => {
    const print = fingerprint(); // taken before the build: a file saved meanwhile makes the next one run
    if (isFresh(print)) return say("up to date");
    fs.rmSync(stampFile, { force: true });
    const files = new Map(await bundle());
    if (withTypes) for (const [name, text] of declarations()) files.set(name, text);
    for (const [name, text] of files) put(name, text);
    prune(files);
    put("._stamp.json", JSON.stringify({ print, types: withTypes, files: [...files.keys()] }));
    say(`${files.size} files${withTypes ? "" : ", no types"}, ${Date.now() - started} ms`);
  });
}

function say(text) {
  if (!quiet) process.stdout.write(`build: ${text}\n`);
}

/** Name, time and size of everything the output depends on; also sees files that are gone. */
function fingerprint() {
  const hash = createHash("sha256");
  const own = ["package.json", "package-lock.json", "tsconfig.json", "tsconfig.build.json", "scripts/build.mjs"];
  const inputs = [...own, ...ASSETS.map((name) => `assets/${name}`)];
  for (const file of [...inputs, ...walk(path.join(root, "src")).map((name) => `src/${name}`)]) {
    const stat = fs.statSync(path.join(root, file), { throwIfNoEntry: false });
    hash.update(`${file} ${stat?.mtimeMs} ${stat?.size}\n`);
  }
  return hash.digest("hex");
}

function isFresh(print) {
  try {
    const stamp = JSON.parse(fs.readFileSync(stampFile, "utf8"));
    if (stamp.print !== print || (withTypes && !stamp.types)) return false;
    return stamp.files.every((name) => fs.existsSync(path.join(dist, name)));
  } catch {
    return false;
  }
}

/**
 * The command line is one file: Node takes about a millisecond for every further module. The library's entries share
 * theirs, so that an error class is the same in both.
 * @returns {Promise<[string, string | Uint8Array][]>}
 */
async function bundle() {
  const vendor = Object.entries(VENDOR).map(([name, file]) => [file.slice("./".length, -".js".length), name]);
  const agent = Object.fromEntries(Object.keys(APART).map((name) => [`./${name}.ts`, `./${name}.js`]));
  const nameOf = (/** @type {string} */ module) => module.replaceAll("/", "-");
  const alone = Object.fromEntries(
    ALONE.flatMap((module) => [`./${module}.ts`, `../${module}.ts`].map((name) => [name, `./${nameOf(module)}.js`])),
  );
  const hooks = Object.fromEntries(HOOKS.map((name) => [`./${name}.ts`, `./hook-${name}.cjs`]));
  const later = Object.fromEntries(LATER.map((name) => [`./${name}.ts`, "./later.js"]));
  const results = await Promise.all([
    build({ cli: ENTRIES.cli }, { plugins: [apart({ "./run.ts": "./run.js" })] }),
    build(
      { run: ENTRIES.run },
      { plugins: [apart({ ...VENDOR, ...agent, ...later, ...alone })], minifyIdentifiers: true },
    ),
    build({ later: "later" }, { plugins: [together("later", LATER), apart(VENDOR)], minifyIdentifiers: true }),
    build(
      { ...APART, ...Object.fromEntries(ALONE.map((module) => [nameOf(module), `src/${module}.ts`])) },
      // The server loads the command's own files for its events: split once more, its start would be many small files.
      { plugins: [apart({ ...VENDOR, ...hooks })], splitting: true },
    ),
    build(
      { hook: ENTRIES.hook, ...Object.fromEntries(HOOKS.map((name) => [`hook-${name}`, `src/hooks/${name}.ts`])) },
      { plugins: [apart(hooks)], minifyIdentifiers: true, format: "cjs" },
    ),
    build(
      {
        index: ENTRIES.index,
        "agent-kit": ENTRIES.agentKit,
        ai: ENTRIES.ai,
        anthropic: ENTRIES.anthropic,
        compat: ENTRIES.compat,
        "memory-tool": ENTRIES.memoryTool,
        verbs: ENTRIES.verbs,
        "meaning-thread": ENTRIES.meaningThread,
      },
      { plugins: [apart(VENDOR)], splitting: true },
    ).then(withoutSdks),
    build(Object.fromEntries(vendor), { splitting: true }),
    buildPage(),
  ]);
  /** @type {[string, string | Uint8Array][]} */
  const files = results.flatMap(({ outputFiles }) =>
    outputFiles.map((file) => [path.relative(dist, file.path).replace(/^(hook.*)\.js$/, "$1.cjs"), file.text]),
  );
  for (const file of files) if (/^(run\.js|later\.js|hook.*\.cjs)$/.test(file[0])) file[1] = escaped(String(file[1]));
  for (const [name, text] of files.filter(([name]) => name.startsWith("web/"))) files.push(...packed(name, text));
  for (const name of ASSETS) files.push([name, fs.readFileSync(path.join(root, "assets", name))]);
  const cli = files.find(([name]) => name === "cli.js");
  if (cli && !String(cli[1]).startsWith("#!")) cli[1] = `#!/usr/bin/env node\n${cli[1]}`;
  files.push(["THIRD-PARTY.txt", thirdParty(results.flatMap(({ metafile }) => Object.keys(metafile.inputs)))]);
  return files;
}

/**
 * A program that is bundled with the library takes on none of the model SDKs, which are as large as all of memdir: it has
 * its own and gives `ask`. A bundler follows no address that is made at run time.
 */
function withoutSdks({ outputFiles, metafile }) {
  const sdk = /\bimport\("(\.\/vendor\/(?:anthropic|openai)\.js)"\)/g;
  const apart = ({ path, text }) => ({ path, text: text.replace(sdk, 'import(new URL("$1",import.meta.url).href)') });
  return { outputFiles: outputFiles.map(apart), metafile };
}

/** Short names spare the command line milliseconds at every start; the library keeps its own for stack traces. */
async function build(entryPoints, { plugins = [], splitting = false, minifyIdentifiers = false, format = "esm" }) {
  const esbuild = await import("esbuild");
  const { version } = JSON.parse(fs.readFileSync(path.join(root, "package.json"), "utf8"));
  return esbuild
    .build({
      absWorkingDir: root,
      entryPoints,
      outdir: "dist",
      chunkNames: "shared-[hash]",
      bundle: true,
      splitting,
      format,
      // Node takes milliseconds to import what it requires at once.
      ...(format === "cjs" ? { supported: { "dynamic-import": false } } : {}),
      platform: "node",
      target: "node20",
      external: EXTERNAL,
      // Its other form asks for its own files at run time, which a bundle does not have.
      alias: { "jsonc-parser": "jsonc-parser/lib/esm/main.js" },
      plugins: [...plugins, format === "cjs" ? plainBuiltins() : builtinsWithoutRequire()],
      define: {
        __MEMDIR_VERSION__: JSON.stringify(version),
        // A file is found by its path as well as by its address.
        ...(format === "cjs" ? { "import.meta.url": "__filename" } : {}),
      },
      minifyIdentifiers,
      minifyWhitespace: true,
      minifySyntax: true,
      lineLimit: 160, // Node prints the whole line an error came from
      legalComments: "none", // the licences are in THIRD-PARTY.txt
      // A source with any other character is held in twice the memory and read half as fast.
      charset: minifyIdentifiers ? "ascii" : "utf8",
      metafile: true,
      write: false,
      logLevel: "silent",
    })
    .catch((error) => {
      throw new Error(esbuild.formatMessagesSync(error.errors ?? [], { kind: "error" }).join("\n") || error.message);
    });
}

/** For browsers: one file of code, what it loads later, one of style, and the page itself as it was written. */
async function buildPage() {
  const esbuild = await import("esbuild");
  const missing = ["main.tsx", "style.css", "index.html"].filter((name) => !fs.existsSync(path.join(root, PAGE, name)));
  if (missing.length > 0) {
    say(`no page: ${missing.join(", ")} missing in ${PAGE}`);
    return { outputFiles: [], metafile: { inputs: {} } };
  }
  return esbuild
    .build({
      absWorkingDir: root,
      entryPoints: [
        { in: `${PAGE}/main.tsx`, out: "page" },
        { in: `${PAGE}/style.css`, out: "page" },
        { in: `${PAGE}/index.html`, out: "index" },
      ],
      outdir: "dist/web",
      chunkNames: "[name]-[hash]",
      loader: { ".html": "copy" },
      bundle: true,
      splitting: true,
      format: "esm",
      platform: "browser",
      target: "es2022",
      tsconfig: `${PAGE}/tsconfig.json`,
      jsx: "automatic",
      jsxImportSource: "preact",
      minify: true,
      charset: "utf8",
      legalComments: "none",
      metafile: true,
      write: false,
      logLevel: "silent",
    })
    .catch((error) => {
      throw new Error(esbuild.formatMessagesSync(error.errors ?? [], { kind: "error" }).join("\n") || error.message);
    });
}

/** As browsers take it, made here once instead of at every start of the page. */
function packed(name, text) {
  const params = { [zlib.constants.BROTLI_PARAM_QUALITY]: 9 }; // the highest takes seconds for a few percent
  return [
    [`${name}.br`, zlib.brotliCompressSync(text, { params })],
    [`${name}.gz`, zlib.gzipSync(text, { level: 9 })],
  ];
}

/**
 * What the bundler leaves in patterns, where an escape means the same: hooks are read as one byte per character. A
 * character that has a backslash of its own loses it, or `\’` would become a backslash and the letters u2019.
 */
function escaped(text) {
  return text.replace(/(\\*)([^\0-\x7f])/g, (_, backslashes, unit) => {
    const before = backslashes.length % 2 === 1 ? backslashes.slice(1) : backslashes;
    return `${before}\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

/** Imports that lead to a file of another build. */
function apart(targets) {
  return {
    name: "apart",
    setup(build) {
      build.onResolve({ filter: /./ }, ({ path: name, kind }) =>
        kind === "dynamic-import" && Object.hasOwn(targets, name) ? { path: targets[name], external: true } : undefined,
      );
    },
  };
}

/** An entry that exports what several modules export. */
function together(entry, modules) {
  return {
    name: "together",
    setup(build) {
      build.onResolve({ filter: new RegExp(`^${entry}$`) }, () => ({ path: entry, namespace: "together" }));
      build.onLoad({ filter: /./, namespace: "together" }, () => ({
        contents: modules.map((name) => `export * from "./${name}.ts";`).join("\n"),
        resolveDir: path.join(root, "src"),
      }));
    },
  };
}

/**
 * Bundled CommonJS packages call `require("util")`, which an ES module does not have. Asking Node itself for the
 * built-in costs nothing in chunks that need none, where a banner with `createRequire` would slow every start.
 * @returns {import("esbuild").Plugin}
 */
function builtinsWithoutRequire() {
  const names = new Set([...builtinModules, ...builtinModules.map((name) => `node:${name}`)]);
  return {
    name: "builtins-without-require",
    setup(build) {
      build.onResolve({ filter: /^[a-z:/_]+$/ }, ({ path: name, kind }) =>
        kind === "require-call" && names.has(name) ? { path: name, namespace: "builtin" } : undefined,
      );
      build.onLoad({ filter: /.*/, namespace: "builtin" }, ({ path: name }) => ({
        contents: `module.exports = process.getBuiltinModule("${name}");`,
      }));
    },
  };
}

/**
 * In CommonJS a default import of a built-in becomes a copy of everything in it, a tenth of what a hook has time for.
 * @returns {import("esbuild").Plugin}
 */
function plainBuiltins() {
  return {
    name: "plain-builtins",
    setup(build) {
      build.onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path: file }) => ({
        contents: fs
          .readFileSync(file, "utf8")
          .replace(/^import (\w+) from ("node:\w+");$/gm, "const $1 = require($2);"),
        loader: "ts",
      }));
    },
  };
}

/** Types of what the library's entries reach. @returns {[string, string][]} */
function declarations() {
  if (!fs.existsSync(path.join(root, ENTRIES.index)) && !fs.existsSync(path.join(root, ENTRIES.compat))) return [];
  const outDir = fs.mkdtempSync(path.join(dist, "._types-"));
  try {
    const tsc = path.join(path.dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");
    const args = [tsc, "-p", "tsconfig.build.json", "--outDir", outDir];
    const run = spawnSync(process.execPath, args, { cwd: root, encoding: "utf8" });
    if (run.status !== 0) throw new Error(`tsc failed\n${run.stdout}${run.stderr}`.trim());
    const all = walk(outDir).map((name) => {
      // tsc leaves `./x.ts` in declarations; in the package there is only x.d.ts, which `./x.js` stands for
      const text = fs.readFileSync(path.join(outDir, name), "utf8");
      return [`types/${name}`, text.replace(/((?:from|import\() ?["']\.{1,2}\/[^"']+)\.ts(?=["'])/g, "$1.js")];
    });
    const entries = ["index", "agent-kit", "ai", "anthropic", "compat", "memory-tool/memory-tool", "library/verbs"];
    return reachable(
      new Map(all),
      entries.map((name) => `types/${name}.d.ts`),
    );
  } finally {
    fs.rmSync(outDir, { recursive: true, force: true });
  }
}

/**
 * What users can see, and nothing that only the inside needs: that may speak of packages which are bundled.
 * @param {Map<string, string>} files @param {string[]} entries @returns {[string, string][]}
 */
function reachable(files, entries) {
  const seen = new Set();
  for (const queue = [...entries]; queue.length > 0; ) {
    const name = queue.pop();
    const text = name === undefined || seen.has(name) ? undefined : files.get(name);
    if (name === undefined || text === undefined) continue;
    seen.add(name);
    for (const [, target] of text.matchAll(/(?:from|import\() ?["'](\.{1,2}\/[^"']+)\.js["']/g)) {
      queue.push(`${path.posix.join(path.posix.dirname(name), target)}.d.ts`);
    }
  }
  return [...files].filter(([name]) => seen.has(name));
}

function thirdParty(inputs) {
  const folders = new Set(inputs.map((file) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0]));
  folders.delete(undefined);
  const parts = [...folders].sort().map((folder) => {
    const full = path.join(root, folder);
    const { name, version, license } = JSON.parse(fs.readFileSync(path.join(full, "package.json"), "utf8"));
    const texts = fs.readdirSync(full).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file));
    const text = texts.sort().map((file) => fs.readFileSync(path.join(full, file), "utf8").trim());
    return `${name} ${version} (${license})\n\n${text.join("\n\n") || "The package holds no licence text."}\n`;
  });
  const trained =
    "minilm-tuning.bin is a change of the weights of all-MiniLM-L6-v2 (Apache License 2.0); glossary.txt was learnt from translated messages of free software: see docs/recall.md.";
  return `Packages bundled into these files, with their licences. ${trained}\n\n${parts.join(`\n${"-".repeat(80)}\n\n`)}`;
}

/** Writes by rename, and only when the content differs. */
function put(name, text) {
  const file = path.join(dist, name);
  if (!fs.existsSync(file) || !fs.readFileSync(file).equals(Buffer.from(text))) {
    fs.mkdirSync(path.dirname(file), { recursive: true });
    const temporary = path.join(dist, `._${process.pid}.tmp`);
    fs.writeFileSync(temporary, text, { mode: name === "cli.js" ? 0o755 : 0o644 });
    fs.renameSync(temporary, file);
  }
}

/** Removes what this build did not make. Types stay in a quick build, and so do recent chunks. */
function prune(files) {
  for (const name of walk(dist)) {
    if (files.has(name) || name.startsWith("._lock")) continue;
    if (!withTypes && name.startsWith("types/")) continue;
    const file = path.join(dist, name);
    const age = Date.now() - (fs.statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0);
    if (withTypes || age > KEEP_OLD_MS) fs.rmSync(file, { force: true });
  }
}

/** Files below a folder, relative to it, with forward slashes, sorted. */
function walk(folder) {
  if (!fs.existsSync(folder)) return [];
  const entries = fs.readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
  return files.map((file) => path.relative(folder, file).replaceAll(path.sep, "/")).sort();
}

/** One build at a time; a lock whose owner died is taken over. */
async function withLock(work) {
  const until = Date.now() + LOCK_WAIT_MS;
  while (!take()) {
    if (Date.now() > until)
      throw new Error(`another build holds ${path.relative(root, lockFile)}; remove it if none runs`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  try {
    await work();
  } finally {
    fs.rmSync(lockFile, { force: true });
  }
}

function take() {
  try {
    fs.writeFileSync(lockFile, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
    if (!ownerLives()) fs.rmSync(lockFile, { force: true });
    return false;
  }
}

function ownerLives() {
  try {
    const age = Date.now() - fs.statSync(lockFile).mtimeMs;
    const pid = Number(fs.readFileSync(lockFile, "utf8"));
    if (!pid) return age < 5000; // made, its pid not yet written
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}
