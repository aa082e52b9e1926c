/**
 * `dist/hook.cjs`, which hosts start for every event. It runs the bundle for that event next to it, using the engine's compiled code
 * from an earlier run: compiling would otherwise take a third of such a short process. It is the one place that catches: hosts never
 * see our errors, but they are recorded.
 */

import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Script } from "node:vm";
import { processEnv } from "../config.ts";
import { type EventInput, eventOf, type HookEvent, readInput, tell } from "./event.ts";
import { cacheFolder, makeCacheFolder } from "./faults.ts";

/** What each bundle exports. */
interface Exports {
  main(input: EventInput): unknown;
  rehearse(): void;
}

const MAIN_FILE = "hook-main.cjs";
const FILES: Readonly<Partial<Record<HookEvent, string>>> = {
  SessionStart: "hook-session.cjs",
  UserPromptSubmit: MAIN_FILE,
  PreToolUse: "hook-tool.cjs",
  PostToolUse: "hook-tool.cjs",
};
/** The end of a turn or a session, and compactions. */
const END_FILE = "hook-stop.cjs";
/** Compiled code belongs to one engine and one source, whose hash the build writes into its first line. */
const ENGINE = `${process.version}-${process.arch}`;
const MARK = /^\/\*([0-9a-f]{16})\*\/\n/;

if (require.main === module) {
  let name = "";
  try {
    const input = readInput(0);
    if (input !== undefined) {
      if (typeof input !== "object" || input === null) throw new TypeError("standard input is not a JSON object");
      name = String((input as EventInput).hook_event_name ?? "");
      const event = eventOf((input as EventInput).hook_event_name);
      if (event !== null) run(FILES[event] ?? END_FILE, input);
    }
  } catch (error) {
    // An incomplete installation, or a host with another format: it continues without memories.
    const env = processEnv();
    if (env.MEMDIR_DEBUG) tell((error as Error).stack ?? String(error));
    note({ at: new Date(), event: name, error });
  }
  // A regular shutdown of the engine takes more than a millisecond, and nothing is left to do.
  process.exit(0);
} else {
  module.exports = require(join(__dirname, MAIN_FILE));
}

/** In a bundle of its own, as hardly any run needs it. If that is missing too, nothing can be recorded. */
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
  const { script, isNew, kept, exports } = load(join(__dirname, file));
  try {
    exports.main(input);
  } finally {
    // A run that stopped early has compiled little, and the compiled code is kept for good.
    if (isNew) {
      exports.rehearse();
      if (kept !== null) keep(kept, script);
    }
  }
}

/**
 * Uses only the baseline WebAssembly compiler: the optimising one would finish after the code has run, and the process would wait for
 * it. Must run before the first script, as compiled code depends on these flags. Only prompts use WebAssembly. `node:v8` does the
 * same, but takes longer to load than it saves.
 */
function compileQuickly(): void {
  try {
    const { binding } = process as unknown as { binding(name: string): { setFlagsFromString?(flags: string): void } };
    const { noDeprecation } = process as { noDeprecation?: boolean };
    process.noDeprecation = true;
    binding("v8").setFlagsFromString?.("--liftoff-only");
    process.noDeprecation = noDeprecation ?? false;
  } catch {
    // This engine does not allow it.
  }
}

/** `kept`: where its compiled code is kept; null when the source does not state its hash. */
function load(program: string) {
  const source = readFileSync(program, "latin1");
  // The engine itself compares only the length of the source.
  const mark = MARK.exec(source)?.[1];
  const file = mark ? join(cacheFolder(processEnv()), `hook-${ENGINE}-${mark}.bin`) : null;
  const cachedData = file === null ? undefined : readKept(file);
  const wrapped = `(function(exports,require,module,__filename,__dirname){${source}\n})`;
  const script = new Script(wrapped, { filename: program, ...(cachedData ? { cachedData } : {}) });
  const made = { exports: {} as Exports };
  script.runInThisContext()(made.exports, require, made, program, __dirname);
  return { script, isNew: script.cachedDataRejected !== false, kept: file, exports: made.exports };
}

/** It is stored twice to detect damage: the engine does not check it, and crashes on damaged code. */
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

/** After the answer has been written, so that the host does not wait for it. */
function keep(file: string, script: Script): void {
  try {
    makeCacheFolder(cacheFolder(processEnv()));
    const temporary = `${file}.${process.pid}`;
    const data = script.createCachedData();
    writeFileSync(temporary, Buffer.concat([data, data]), { mode: 0o600, flag: "wx" });
    renameSync(temporary, file);
  } catch {
    // The home is not writable: the next run compiles again.
  }
}
