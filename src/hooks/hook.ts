/**
 * `dist/hook.cjs`, what a host starts on every prompt and at the end of every turn. It runs `hook-main.cjs` or `hook-stop.cjs`
 * beside it with the engine's own compiled form of it, kept from an earlier run: a third of what such a short process does would
 * otherwise be compiling.
 */

import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync, writeSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { Script } from "node:vm";
import { processEnv } from "../config.ts";
import type { HookInput } from "./prompt.ts";
import type { StopInput } from "./stop.ts";

/** What each of the files that are run has. */
interface Exports {
  main(input: HookInput & StopInput): unknown;
  rehearse(): void;
}

const MAIN_FILE = join(__dirname, "hook-main.cjs");
const STOP_FILE = join(__dirname, "hook-stop.cjs");
/** The compiled form belongs to one engine and one text, whose hash the build writes into its first line. */
const ENGINE = `${process.version}-${process.arch}`;
const MARK = /^\/\*([0-9a-f]{16})\*\/\n/;

if (require.main === module) {
  try {
    const input: unknown = JSON.parse(readFileSync(0, "utf8"));
    if (typeof input !== "object" || input === null) throw new TypeError("standard input holds no JSON object");
    const isStop = "hook_event_name" in input && input.hook_event_name === "Stop";
    // The quick compiler only: the other one works beside us on code that will have run before it is done. Always before
    // the first script, as the kept form is made for these settings. A stop has no such code, and does without the module.
    if (!isStop) process.getBuiltinModule("node:v8").setFlagsFromString("--liftoff-only");
    const { script, exports } = load(isStop ? STOP_FILE : MAIN_FILE);
    exports.main(input);
    if (script.isNew) {
      // A run that stopped early has compiled little, and what is kept is kept for good.
      exports.rehearse();
      keep(script);
    }
  } catch (error) {
    // Half an installation, or a host that says something else: it goes on without memories.
    if (processEnv().MEMDIR_DEBUG) tell(`memdir: ${(error as Error).stack}\n`);
  }
  // Taking down the engine in good order costs more than a millisecond, and nothing is left to be done.
  process.exit(0);
} else {
  module.exports = require(MAIN_FILE);
}

function tell(text: string): void {
  try {
    writeSync(2, text);
  } catch {
    // Nobody listens.
  }
}

interface Loaded {
  isNew: boolean;
  /** Null when the text does not say which one it is. */
  file: string | null;
  script: Script;
}

function load(program: string): { script: Loaded; exports: Exports } {
  const source = readFileSync(program, "latin1");
  // The engine itself compares no more than the length of the text.
  const mark = MARK.exec(source)?.[1];
  const file = mark ? join(cacheFolder(), `hook-${ENGINE}-${mark}.bin`) : null;
  const cachedData = file === null ? undefined : readKept(file);
  const wrapped = `(function(exports,require,module,__filename,__dirname){${source}\n})`;
  const script = new Script(wrapped, { filename: program, ...(cachedData ? { cachedData } : {}) });
  const made = { exports: {} as Exports };
  script.runInThisContext()(made.exports, require, made, program, __dirname);
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
