/** The Bash tool: a command in a shell, with permission for each program it runs, and nothing left running when it ends. */

import { existsSync } from "node:fs";
import { type ChildCall, findProgram, runChild } from "../child-group.ts";
import { filled, number, required, text } from "../input.ts";
import type { Tool, ToolOutcome } from "../model/tool.ts";
import { WHOLE } from "./permission.ts";
import { defineTool, type Workbench } from "./workbench.ts";

/** Long enough for a test suite. */
const DEFAULT_MS = 120_000;
/** The longest timeout, whatever the model asks for. */
const MAX_MS = 600_000;

const FIELDS = { command: required(filled(text())), timeout: number("", { min: 1 }), description: text() };

export function openBash(bench: Workbench): Tool {
  return defineTool("Bash", FIELDS, async ({ command, timeout = DEFAULT_MS, description }, { signal }) => {
    if (command.includes("\0")) throw new Error("the command contains a NUL character");
    await permitCommand(bench, command, description, signal);
    if (signal.aborted) throw new Error("stopped by the user; the command was not run");
    if (!existsSync(bench.cwd)) throw new Error(`the working directory ${bench.cwd} is gone; no command can be run`);
    const timeoutMs = Math.min(timeout, MAX_MS);
    const outcome = await runCommand(command, { cwd: bench.cwd, env: withoutSecrets(bench.env), timeoutMs, signal });
    bench.onTouch({ command });
    return outcome;
  });
}

async function permitCommand(bench: Workbench, command: string, description: string | undefined, signal: AbortSignal) {
  const line = oneLine(command, 200);
  const summary = `Bash: ${line}${description ? ` (${oneLine(description, 100)})` : ""}`;
  for (const kind of kindsOf(command, SHELL)) {
    const answer = await bench.permit({ kind, tool: "Bash", summary, detail: command }, signal);
    if (!answer.allowed) throw new Error(`the command was not run: ${answer.reason}`);
  }
}

/** Control characters could show a person something other than what is run. */
function oneLine(text: string, maxChars: number): string {
  const line = text.replace(/[\s\p{Cc}\p{Cf}]+/gu, " ").trim();
  return line.length > maxChars ? `${line.slice(0, maxChars)}…` : line;
}

/** The environment without what looks like a key: a command easily prints its environment, and what it prints goes to the model. */
export function withoutSecrets(env: Workbench["env"]): Workbench["env"] {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !SECRET_NAME.test(name)));
}

const SECRET_NAME = /(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|API_?KEY|_KEY|_PAT|_AUTH)S?$/i;

const SHELL = process.platform === "win32" ? "cmd" : "posix";

function findShell(env: Workbench["env"]): string {
  if (SHELL === "cmd") return env.ComSpec ?? env.COMSPEC ?? "cmd.exe";
  const files = [findProgram(env, "bash")?.file ?? "", "/bin/bash", "/usr/bin/bash"];
  return files.find((file) => existsSync(file)) ?? "/bin/sh";
}

/** The permissions a command needs, never none: one for each program, if it can be taken apart for certain. Anything else is a kind of its own, by its full text, so that permission for one program can never carry another. */
export function kindsOf(command: string, shell: typeof SHELL = "posix"): string[] {
  const whole = [WHOLE + command.trim()];
  if (command.length > MAX_CHARS || (shell === "cmd" && !CMD_PLAIN.test(command))) return whole;
  const programs = takeApart(command);
  if (!programs || programs.length === 0) return whole;
  const kinds = programs.map(kindOf);
  if (kinds.includes(null)) return whole;
  // In another folder, a program named by its path is another program.
  if (programs.some(([name]) => name === "cd") && programs.some(([name]) => name?.includes("/"))) return whole;
  return [...new Set(kinds as string[])];
}

/** Anything longer is a script, whose parts nobody would recognise. */
const MAX_CHARS = 10_000;

/** Nothing that has a meaning for cmd.exe. */
const CMD_PLAIN = /^[\w ./:=-]*$/;

/** A name or path without anything that a shell would expand. */
const PLAIN = /^[\w@./+][\w@./+:-]*$/;

/** Programs whose first argument says what they do: it is part of the kind. For interpreters that is the script. */
const WITH_SUBCOMMAND: ReadonlySet<string> = new Set(
  (
    "git gh hg svn jj npm npx pnpm pnpx yarn bun bunx deno node tsx python pip pipx uv uvx poetry conda ruby gem bundle perl php " +
    "composer cargo rustup go make just mvn gradle dotnet swift mix docker podman kubectl helm terraform tofu aws gcloud az fly " +
    "heroku vercel systemctl service launchctl brew apt apt-get dnf yum pacman apk snap nix"
  ).split(" "),
);

/** Shell words that do not name a program, and programs that run their arguments or write code. */
const NEVER_APART: ReadonlySet<string> = new Set(
  (
    "if then elif else fi for while until do done case esac select function time coproc ! [[ ]] { } alias unalias bind builtin " +
    "caller command compgen complete declare enable eval exec export fc getopts hash let local logout mapfile popd pushd read " +
    "readarray readonly return set shift shopt source . times trap type typeset ulimit umask unset wait sh bash dash zsh ksh " +
    "mksh ash fish csh tcsh pwsh powershell cmd cmd.exe busybox toybox env sudo doas su runuser pkexec xargs parallel watch " +
    "nohup setsid setpriv nice ionice chrt taskset stdbuf timeout flock script unbuffer expect strace ltrace gdb lldb valgrind perf chroot " +
    "unshare nsenter proot fakeroot systemd-run at batch crontab ssh sshpass scp sftp rsync socat nc ncat telnet screen tmux " +
    "awk gawk mawk nawk sed tar zip unzip m4 ed ex vi vim nvim view emacs nano less more man entr osascript open xdg-open start"
  ).split(" "),
);

/** Subcommands that run a program of the caller's choice, or configure which one will be run. */
const RUNS_OTHERS =
  /^(?:git (?:bisect|config|filter-branch|submodule|difftool|mergetool|daemon|instaweb)|(?:npm|pnpm|yarn|bun) (?:exec|x|dlx|config|set)|(?:docker|podman|kubectl) (?:exec|run|debug|compose)|(?:go|cargo|dotnet) (?:generate|exec|tool)|(?:uv|poetry|conda|bundle|mix|nix|swift|rustup) (?:run|exec|shell|develop))$/;

/** Options of any program that name another program or a file to write; some programs accept them abbreviated. */
const OPTION_RISK =
  /^--?(?:exec|toolexec|eval|require|import|loader|script-shell|shell|node-options|config|rcfile|prefix|userconfig|globalconfig|init-script|to-command|checkpoint-action|rsh|use-compress|comp|hostname-bin|ou|pre(?:=|$))/;

/** The same for git alone: `rebase -x`, `grep -O`, and abbreviations. */
const GIT_RISK = /^(?:-[a-zA-Z]*[xO]|--(?:ex|up|rec|op|too))/;

/** What `find` can do besides finding. */
const FIND_RISK = /^-(?:exec|ok|delete|fprint|fls)/;

function kindOf(words: readonly string[]): string | null {
  const [program = "", ...args] = words;
  if (!PLAIN.test(program) || NEVER_APART.has(program)) return null;
  const name = (program.split("/").at(-1) ?? "").replace(/\.exe$/i, "").toLowerCase();
  if (NEVER_APART.has(name) || isRisky(name, args)) return null;
  const [subcommand] = args;
  // `python3.12` is python, too.
  const isKnown = WITH_SUBCOMMAND.has(name.replace(/[\d.]+$/, ""));
  if (!isKnown || subcommand === undefined) return `bash ${program}`;
  if (!PLAIN.test(subcommand) || RUNS_OTHERS.test(`${name} ${subcommand}`)) return null;
  return `bash ${program} ${subcommand}`;
}

function isRisky(name: string, args: readonly string[]): boolean {
  if (args.some((arg) => OPTION_RISK.test(arg))) return true;
  if (name === "find") return args.some((arg) => FIND_RISK.test(arg));
  if (name === "fd" || name === "fdfind") return args.some((arg) => /^-[a-zA-Z]*[xX]/.test(arg));
  // `printf -v PATH` sets a variable that decides which program comes next.
  if (name === "printf") return args[0]?.startsWith("-") === true;
  if (name === "make") return !args.every((arg) => PLAIN.test(arg));
  if (name !== "git") return false;
  return args.some((arg) => GIT_RISK.test(arg) || (args[0] === "clone" && /^-[a-z]*[cu]/.test(arg)));
}

/** What a plain command is made of; a redirection is harmless from one stream into another, or to /dev/null. */
const TOKEN = new RegExp(
  [
    /(?<space>[ \t])/,
    /'(?<single>[^']*)'/,
    /"(?<double>(?:[^"\\$`]|\\["\\])*)"/,
    /\\(?<escaped>[^\n\r])/,
    /(?<redirection>(?:>&[12]|&?>>?[ \t]*\/dev\/null)(?=[\s;&|]|$))/,
    /(?<end>[\n;|]|&(?!>))/,
    /(?<plain>[^'"\\>&$`<(){}\r\0\v\f])/,
  ]
    .map(({ source }) => source)
    .join("|"),
  "gy",
);

/**
 * The words of each program, quotes removed. Null for anything that is not plainly programs joined by `&&`, `||`, `;`, `|`,
 * `&` or line ends: expansions, substitutions, redirections, groups, comments, assignments, unclosed quotes.
 */
function takeApart(command: string): string[][] | null {
  const programs: string[][] = [];
  let words: string[] = [];
  let word: string | null = null;
  let at = 0;
  const endWord = () => {
    if (word !== null) words.push(word);
    word = null;
  };
  const endProgram = () => {
    endWord();
    if (words.length > 0) programs.push(words);
    words = [];
  };
  for (const { 0: token, groups = {} } of command.matchAll(TOKEN)) {
    at += token.length;
    const { space, single, double, escaped, redirection, end, plain } = groups;
    // `2>&1`: the number is the stream, not an argument.
    if (redirection && /^[12]$/.test(word ?? "")) word = null;
    if (space || redirection) endWord();
    else if (end) endProgram();
    else if (plain && (word === null ? NEVER_FIRST.has(plain) : plain === "=" && words.length === 0)) return null;
    else word = (word ?? "") + (single ?? double?.replace(/\\(["\\])/g, "$1") ?? escaped ?? plain ?? "");
  }
  if (at < command.length) return null;
  endProgram();
  return programs;
}

/** A comment, and a pattern that could match a file named like an option. */
const NEVER_FIRST: ReadonlySet<string> = new Set(["#", "*", "?", "["]);

// --- Runs a command in a shell, in its own process group that does not outlive it.

/** Time to clean up lock files and the like between SIGTERM and SIGKILL. */
const GRACE_MS = 500;

/** A process that left the group keeps the output open; it is not waited for any longer. */
const DRAIN_MS = 200;

/** What it printed, standard output and errors in the order they came, and its exit code, or why there is none. Must not throw. */
async function runCommand(
  command: string,
  { timeoutMs, ...place }: Pick<ChildCall<never>, "cwd" | "env" | "timeoutMs" | "signal">,
): Promise<ToolOutcome> {
  const output = openOutput();
  const shell = findShell(place.env);
  const isCmd = SHELL === "cmd";
  // Both streams through one pipe, so that lines keep the order in which they were printed.
  const posix = ["-c", 'exec 2>&1; exec "$0" -c "$1"', shell, command];
  const { code, by, cut, problem } = await runChild(shell, isCmd ? ["/d", "/s", "/c", `"${command}"`] : posix, {
    ...{ ...place, timeoutMs, graceMs: GRACE_MS, drainMs: DRAIN_MS, windowsVerbatimArguments: isCmd },
    ...{ onOut: output.add, onErr: output.add },
  });
  const why = {
    timeout: `stopped after ${timeoutMs / 1000} seconds; raise timeout, or do less`,
    stopped: "stopped by the user",
    "not started": `the command could not be started: ${problem}`,
  };
  const end = cut ? why[cut] : code === null ? `ended by ${by ?? "a signal"}` : `exit code ${code}`;
  const content = `${output.text().trimEnd() || "(no output)"}\n[${end}]`;
  return { content, ...((cut || code !== 0) && { isError: true }) };
}

/** 1 MB in all; a conversation is shown less, but the file with the full result may hold it. */
const MAX_HALF_BYTES = 512 * 1024;

export function openOutput(maxHalf = MAX_HALF_BYTES) {
  const head: Buffer[] = [];
  let headBytes = 0;
  let tail: Buffer[] = [];
  let tailBytes = 0;
  let total = 0;
  return {
    add(chunk: Buffer) {
      total += chunk.length;
      const taken = chunk.subarray(0, Math.max(0, maxHalf - headBytes));
      head.push(taken);
      headBytes += taken.length;
      const rest = chunk.subarray(taken.length);
      if (rest.length === 0) return;
      tail.push(rest);
      tailBytes += rest.length;
      // Joined only when there is twice as much as needed, so that each byte is copied only a few times.
      if (tailBytes < 2 * maxHalf) return;
      tail = [Buffer.from(Buffer.concat(tail).subarray(-maxHalf))];
      tailBytes = maxHalf;
    },
    text() {
      const end = Buffer.concat(tail).subarray(-maxHalf);
      const left = total - headBytes - end.length;
      const start = Buffer.concat(head);
      if (left === 0) return Buffer.concat([start, end]).toString();
      const note = `\n[… ${left.toLocaleString("en-US")} bytes left out …]\n`;
      return withoutHalves(start.toString()) + note + withoutHalves(end.toString());
    },
  };
}

/** A character may have been cut in half. */
function withoutHalves(text: string): string {
  return text.replace(/^\ufffd{1,3}|\ufffd{1,3}$/g, "");
}
