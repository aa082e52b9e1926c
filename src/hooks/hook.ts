/**
 * `dist/hook.cjs`, what a host starts for every event. It runs the file for that event beside it with the engine's own compiled
 * form of it, kept from an earlier run: a third of what such a short process does would otherwise be compiling. It is the one place
 * that catches: a host never notices that something of ours failed, but it is noted.
 */

import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Script } from "node:vm";
import { processEnv } from "../config.ts";
import { type EventInput, eventOf, type HookEvent, readInput, tell } from "./event.ts";
import { cacheFolder, makeCacheFolder } from "./faults.ts";

/** What each of the files that are run has. */
interface Exports {
  main(input: EventInput): unknown;
  rehearse(): void;
}

const MAIN_FILE = "hook-main.cjs";
const FILES: Readonly<Record<HookEvent, string>> = {
  SessionStart: "hook-session.cjs",
  UserPromptSubmit: MAIN_FILE,
  PreToolUse: "hook-tool.cjs",
  PostToolUse: "hook-tool.cjs",
  Stop: "hook-stop.cjs",
  PreCompact: "hook-stop.cjs",
  SessionEnd: "hook-stop.cjs",
};
/** The compiled form belongs to one engine and one text, whose hash the build writes into its first line. */
const ENGINE = `${process.version}-${process.arch}`;
const MARK = /^\/\*([0-9a-f]{16})\*\/\n/;

if (require.main === module) {
  let name = "";
  try {
    const input = readInput(0);
    if (input !== undefined) {
      if (typeof input !== "object" || input === null) throw new TypeError("standard input holds no JSON object");
      name = String((input as EventInput).hook_event_name ?? "");
      const event = eventOf((input as EventInput).hook_event_name);
      if (event !== null) run(FILES[event], input);
    }
  } catch (error) {
    // Half an installation, or a host that says something else: it goes on without memories.
    const env = processEnv();
    if (env.MEMDIR_DEBUG) tell((error as Error).stack ?? String(error));
    note({ at: new Date(), event: name, error });
  }
  // Taking down the engine in good order costs more than a millisecond, and nothing is left to be done.
  process.exit(0);
} else {
  module.exports = require(join(__dirname, MAIN_FILE));
}

/** A file of its own, as hardly any run needs it. Where even that is missing, there is nothing to note it with. */
function note(fault: { at: Date; event: string; error: unknown }): void {
  try {
    const { noteFault } = require("./hook-faults.cjs") as typeof import("./faults.ts");
    noteFault(processEnv(), fault);
  } catch {
    // See above.
  }
}

function run(file: string, input: EventInput): void {
  if (file === MAIN_FILE) compileQuickly();
  const { script, exports } = load(join(__dirname, file));
  try {
    exports.main(input);
  } finally {
    // A run that stopped early has compiled little, and what is kept is kept for good.
    if (script.isNew) {
      exports.rehearse();
      keep(script);
    }
  }
}

/**
 * The quick compiler only: the other one works beside us on code that will have run before it is done, and the process would
 * wait for it. Always before the first script, as the kept form is made for these settings. Only a prompt has such code.
 * `node:v8` says the same, and takes longer to load than it saves.
 */
function compileQuickly(): void {
  try {
    const { binding } = process as unknown as { binding(name: string): { setFlagsFromString?(flags: string): void } };
    const { noDeprecation } = process as { noDeprecation?: boolean };
    process.noDeprecation = true;
    binding("v8").setFlagsFromString?.("--liftoff-only");
    process.noDeprecation = noDeprecation ?? false;
  } catch {
    // An engine that does not let us.
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
  const file = mark ? join(cacheFolder(processEnv()), `hook-${ENGINE}-${mark}.bin`) : null;
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
    makeCacheFolder(cacheFolder(processEnv()));
    const temporary = `${file}.${process.pid}`;
    const data = script.createCachedData();
    writeFileSync(temporary, Buffer.concat([data, data]), { mode: 0o600, flag: "wx" });
    renameSync(temporary, file);
  } catch {
    // A home that cannot be written to: the next run compiles again.
  }
}
