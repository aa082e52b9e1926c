/**
 * Starts a part of memdir from the plugin's folder: `hook`, or `cli` with its arguments. The parts lie in `dist/` beside this
 * folder; where the host has copied the plugin alone, in the installation that `memdir init` noted down.
 */
const { existsSync, readFileSync } = require("node:fs");
const { homedir } = require("node:os");
const { isAbsolute, join } = require("node:path");
const { pathToFileURL } = require("node:url");

const PARTS = { hook: "hook.cjs", cli: "cli.js" };
const [part, ...args] = process.argv.slice(2);
const file = findPart(PARTS[part] ?? "");

if (file === null) {
  // A hook fails open: the host goes on without memories.
  if (part === "hook") process.exit(0);
  process.stderr.write(
    "memdir: the plugin does not find memdir: install it (npm install -g memdir), then run memdir init\n",
  );
  process.exit(3);
}
process.argv.splice(1, process.argv.length - 1, file, ...args);
if (file.endsWith(".cjs")) require("node:module").runMain();
else import(pathToFileURL(file).href);

function findPart(name) {
  const folders = [join(__dirname, "..", "dist"), notedFolder()];
  return (
    folders
      .filter(Boolean)
      .map((folder) => join(folder, name))
      .find((path) => name !== "" && existsSync(path)) ?? null
  );
}

/** The user's own note; a relative path would lead into the project. */
function notedFolder() {
  try {
    const { XDG_CACHE_HOME = "" } = process.env;
    const cache = isAbsolute(XDG_CACHE_HOME) ? XDG_CACHE_HOME : join(homedir(), ".cache");
    const folder = readFileSync(join(cache, "memdir", "installation"), "utf8").trim();
    return isAbsolute(folder) ? folder : null;
  } catch {
    return null;
  }
}
