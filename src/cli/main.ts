/** The binary. Answers `--version` before anything else is loaded: starting must cost little more than Node itself. */

declare const __MEMDIR_VERSION__: string;

if (process.argv.length === 3 && (process.argv[2] === "--version" || process.argv[2] === "-V")) {
  process.stdout.write(`${__MEMDIR_VERSION__}\n`);
} else {
  const { COMMAND_LINE, runCommandLine } = await import("./run.ts");
  process.exitCode = await runCommandLine(process.argv.slice(2), COMMAND_LINE);
}
