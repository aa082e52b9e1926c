/**
 * `dist/hook.cjs`, what a host starts on every prompt. It runs `hook-main.cjs` beside it with the engine's own compiled
 * form of it, kept from an earlier run: a third of what such a short process does would otherwise be compiling.
 */

import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync, writeSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { Script } from "node:vm";
import { processEnv } from "../config.ts";

type Exports = Pick<typeof import("./prompt.ts"), "main" | "answer" | "rankPrompt" | "rehearse">;

const MAIN_FILE = join(__dirname, "hook-main.cjs");
/** The compiled form belongs to one engine and one text, whose hash the build writes into its first line. */
const ENGINE = `${process.version}-${process.arch}`;
const MARK = /^\/\*([0-9a-f]{16})\*\/\n/;

if (require.main === module) {
  try {
    // The quick compiler only: the other one works beside us on code that will have run before it is done. Always before
    // the first script, as the kept form is made for these settings.
    setFlagsFromString("--liftoff-only");
    const { script, exports } = load();
    exports.main();
    if (script.isNew) {
      // A run that stopped early has compiled little, and what is kept is kept for good.
      exports.rehearse();
      keep(script);
    }
  } catch (error) {
    // Half an installation: the host goes on without memories.
    if (processEnv().MEMDIR_DEBUG) writeSync(2, `memdir: ${(error as Error).stack}\n`);
  }
  // Taking down the engine in good order costs more than a millisecond, and nothing is left to be done.
  process.exit(0);
} else {
  module.exports = require(MAIN_FILE);
}

interface Loaded {
  isNew: boolean;
  /** Null when the text does not say which one it is. */
  file: string | null;
  script: Script;
}

function load(): { script: Loaded; exports: Exports } {
  const source = readFileSync(MAIN_FILE, "latin1");
  // The engine itself compares no more than the length of the text.
  const mark = MARK.exec(source)?.[1];
  const file = mark ? join(cacheFolder(), `hook-${ENGINE}-${mark}.bin`) : null;
  const cachedData = file === null ? undefined : readKept(file);
  const wrapped = `(function(exports,require,module,__filename,__dirname){${source}\n})`;
  const script = new Script(wrapped, { filename: MAIN_FILE, ...(cachedData ? { cachedData } : {}) });
  const made = { exports: {} as Exports };
  script.runInThisContext()(made.exports, require, made, MAIN_FILE, __dirname);
  return { script: { isNew: script.cachedDataRejected !== false, file, script }, exports: made.exports };
}

/** It is written twice: the engine does not look whether it is sound, and dies of what is not. */
function readKept(file: string): Buffer | undefined {
  try {
    const kept = readFileSync(file);
    const half = kept.subarray(0, kept.length / 2);
    return kept.length % 2 === 0 && half.equals(kept.subarray(half.length)) ? half : undefined;
  } catch {
    // The first run on this machine.
    return undefined;
  }
}

/** After the answer is out: nobody waits for it. */
function keep({ file, script }: Loaded): void {
  if (file === null) return;
  try {
    // One by one: a home that is not there is not made, and Node's own `recursive` never ends under an automounter.
    for (const folder of [dirname(cacheFolder()), cacheFolder()]) {
      if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 });
    }
    const temporary = `${file}.${process.pid}`;
    const data = script.createCachedData();
    writeFileSync(temporary, Buffer.concat([data, data]), { mode: 0o600, flag: "wx" });
    renameSync(temporary, file);
  } catch {
    // A home that cannot be written to: the next run compiles again.
  }
}

/** The user's own, as nobody else may say what is run: a relative path would lead into the project. */
function cacheFolder(): string {
  const { XDG_CACHE_HOME = "", HOME = "" } = processEnv();
  if (isAbsolute(XDG_CACHE_HOME)) return join(XDG_CACHE_HOME, "memdir");
  return join(isAbsolute(HOME) ? HOME : homedir(), ".cache", "memdir");
}
