/** The binary. Answers `--version` before anything else is loaded: starting must cost little more than Node itself. */

import path from "node:path";
import { cacheFolder, processEnv } from "../config.ts";

declare const __MEMDIR_VERSION__: string;

if (process.argv.length === 3 && (process.argv[2] === "--version" || process.argv[2] === "-V")) {
  process.stdout.write(`${__MEMDIR_VERSION__}\n`);
} else {
  try {
    // Compiling what is loaded takes a fifth of a short command. Node 22 and later can keep it, which the types of Node 20 lack.
    const module = process.getBuiltinModule("node:module") as { enableCompileCache?(folder: string): unknown };
    module.enableCompileCache?.(path.join(cacheFolder(processEnv()), "compiled"));
  } catch {
    // Without a home directory there is no place to keep it.
  }
  const { COMMAND_LINE, runCommandLine } = await import("./run.ts");
  process.exitCode = await runCommandLine(process.argv.slice(2), COMMAND_LINE);
}
