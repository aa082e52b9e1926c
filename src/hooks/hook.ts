/**
 * `dist/hook.cjs`, what a host starts on every prompt. It runs `hook-main.cjs` beside it with the engine's own compiled
 * form of it, kept from an earlier run: a third of what such a short process does would otherwise be compiling.
 */

import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { Script } from "node:vm";
import { processEnv } from "../config.ts";

type Exports = Pick<typeof import("./prompt.ts"), "main" | "answer" | "rankPrompt">;

const MAIN_FILE = join(__dirname, "hook-main.cjs");
/** The compiled form belongs to one engine and one text. */
const KEY = `${process.version}-${process.arch}`;

if (require.main === module) {
  const { script, exports } = load();
  exports.main();
  if (script.isNew) keep(script);
  // Taking down the engine in good order costs more than a millisecond, and nothing is left to be done.
  process.exit(0);
} else {
  module.exports = require(MAIN_FILE);
}

interface Loaded {
  isNew: boolean;
  file: string;
  script: Script;
}

function load(): { script: Loaded; exports: Exports } {
  const source = readFileSync(MAIN_FILE, "latin1");
  const file = join(cacheFolder(), `hook-${KEY}-${source.length}.bin`);
  let cachedData: Buffer | undefined;
  try {
    cachedData = readFileSync(file);
  } catch {
    // The first run on this machine.
  }
  const wrapped = `(function(exports,require,module,__filename,__dirname){${source}\n})`;
  const script = new Script(wrapped, { filename: MAIN_FILE, ...(cachedData ? { cachedData } : {}) });
  const made = { exports: {} as Exports };
  script.runInThisContext()(made.exports, require, made, MAIN_FILE, __dirname);
  return { script: { isNew: script.cachedDataRejected !== false, file, script }, exports: made.exports };
}

/** After the answer is out: nobody waits for it. */
function keep({ file, script }: Loaded): void {
  try {
    mkdirSync(cacheFolder(), { recursive: true, mode: 0o700 });
    const temporary = `${file}.${process.pid}`;
    writeFileSync(temporary, script.createCachedData(), { mode: 0o600, flag: "wx" });
    renameSync(temporary, file);
  } catch {
    // A home that cannot be written to: the next run compiles again.
  }
}

/** The user's own, as nobody else may say what is run. */
function cacheFolder(): string {
  const env = processEnv();
  return join(env.XDG_CACHE_HOME || join(env.HOME || homedir(), ".cache"), "memdir");
}
