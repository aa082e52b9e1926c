/**
 * Starts a part of memdir from the plugin's folder: `hook`, or `cli` with its arguments. The parts are in `dist/` next to this
 * folder or, if the host copied only the plugin, in the package that npm installed globally.
 */
const { existsSync } = require("node:fs");
const { dirname, join } = require("node:path");
const { pathToFileURL } = require("node:url");

const PARTS = { hook: "hook.cjs", cli: "cli.js" };
const [part, ...args] = process.argv.slice(2);
const file = findPart(PARTS[part]);

if (file) {
  process.argv.splice(1, process.argv.length - 1, file, ...args);
  if (file.endsWith(".cjs")) require("node:module").runMain();
  else import(pathToFileURL(file).href);
} else if (part !== "hook") {
  // A hook fails open: the host continues without memories.
  process.stderr.write("memdir: the plugin cannot find memdir; install it with: npm install -g memdir\n");
  process.exitCode = 3;
}

function findPart(name) {
  const bin = dirname(process.execPath);
  const folders = [
    join(__dirname, "..", "dist"),
    join(bin, "..", "lib", "node_modules", "memdir", "dist"),
    join(bin, "node_modules", "memdir", "dist"),
  ];
  return name && folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}
