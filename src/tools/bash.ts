/** The Bash tool: a command in a shell, with permission for what it runs, and nothing of it left when it ends. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Tool, ToolOutcome } from "../model/tool.ts";
import { TOOL_WORDS } from "../prompts/tool-descriptions.ts";
import { kindsOf } from "./command-kind.ts";
import { buildSchema, readInput } from "./input.ts";
import { type CommandEnd, runCommand, type Shell } from "./shell-run.ts";
import type { Workbench } from "./workbench.ts";

/** Long enough for a test suite. */
const DEFAULT_MS = 120_000;
/** The model is not made to wait longer, whatever it asks for. */
const MAX_MS = 600_000;

const FIELDS = {
  command: { type: "string", required: true, filled: true },
  timeout: { type: "integer", minimum: 1 },
  description: { type: "string" },
} as const;

export function openBash(bench: Workbench): Tool {
  const words = TOOL_WORDS.Bash;
  return {
    name: "Bash",
    description: words.description,
    schema: buildSchema(FIELDS, words.inputs),
    async run(input, { signal }) {
      const { command, timeout = DEFAULT_MS, description } = readInput(FIELDS, input);
      if (command.includes("\0")) throw new Error("the command holds a NUL character");
      await permitCommand(bench, command, description, signal);
      if (signal.aborted) throw new Error("stopped by the user; the command was not run");
      if (!existsSync(bench.cwd)) throw new Error(`the working directory ${bench.cwd} is gone; no command can be run`);
      const timeoutMs = Math.min(timeout, MAX_MS);
      const env = withoutSecrets(bench.env);
      const end = await runCommand(command, { shell: findShell(env), cwd: bench.cwd, env, timeoutMs, signal });
      bench.onTouch({ command });
      return describe(end, timeoutMs);
    },
  };
}

async function permitCommand(bench: Workbench, command: string, description: string | undefined, signal: AbortSignal) {
  const line = oneLine(command, 200);
  const summary = `Bash: ${line}${description ? ` (${oneLine(description, 100)})` : ""}`;
  for (const kind of kindsOf(command, process.platform === "win32" ? "cmd" : "posix")) {
    const answer = await bench.permit({ kind, tool: "Bash", summary, detail: command }, signal);
    if (!answer.allowed) throw new Error(`the command was not run: ${answer.reason}`);
  }
}

/** Control characters could show a person something else than what is run. */
function oneLine(text: string, maxChars: number): string {
  const line = text.replace(/[\s\p{Cc}\p{Cf}]+/gu, " ").trim();
  return line.length > maxChars ? `${line.slice(0, maxChars)}…` : line;
}

/** Without what looks like a key. A command prints its environment easily, and what it prints goes to the model. */
export function withoutSecrets(env: Workbench["env"]): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && !SECRET_NAME.test(name)) kept[name] = value;
  }
  return kept;
}

const SECRET_NAME = /(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|API_?KEY|_KEY|_PAT|_AUTH)S?$/i;

function findShell(env: Readonly<Record<string, string>>): Shell {
  if (process.platform === "win32") return { program: env.ComSpec ?? env.COMSPEC ?? "cmd.exe", kind: "cmd" };
  const folders = [...(env.PATH ?? "").split(":").filter((folder) => folder.startsWith("/")), "/bin", "/usr/bin"];
  const bash = folders.map((folder) => join(folder, "bash")).find((path) => existsSync(path));
  return { program: bash ?? "/bin/sh", kind: "posix" };
}

function describe({ output, ended }: CommandEnd, timeoutMs: number): ToolOutcome {
  const printed = output.trimEnd();
  const said = printed === "" ? "(no output)" : printed;
  if (ended.kind === "exit")
    return { content: `${said}\n[exit code ${ended.code}]`, ...(ended.code !== 0 && { isError: true }) };
  const why = {
    timeout: `stopped after ${timeoutMs / 1000} seconds; raise timeout, or do less`,
    aborted: "stopped by the user",
    signal: `ended by ${ended.kind === "signal" ? ended.signal : ""}`,
    failed: `the command could not be started: ${ended.kind === "failed" ? ended.reason : ""}`,
  }[ended.kind];
  return { content: `${said}\n[${why}]`, isError: true };
}
