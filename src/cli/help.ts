/** Help texts and completion scripts, made from the same table that reads the options. */

import { MemdirError } from "../errors.ts";
import { COMMON_OPTIONS, type Command, columnsOf, type Option, type Run } from "./command.ts";
import type { Paint } from "./terminal.ts";

export function generalHelp(commands: readonly Command[], color: Paint): string {
  return [
    "memdir: a memory for coding agents, in plain Markdown files",
    "",
    `${color.bold("usage")}: memdir [command] [options]     without a command: the console`,
    "",
    ...columnsOf(commands.map(({ name, summary }) => [`  ${name}`, summary])),
    "",
    ...optionLines({ ...COMMON_OPTIONS, version: { help: "the version" } }),
    "",
    "memdir COMMAND --help says more. Exit codes: 0 done, 1 a check found problems, 2 bad input, 3 disk or lock failed.",
  ].join("\n");
}

export function commandHelp(command: Command, color: Paint): string {
  const name = command.name === "console" ? "memdir" : `memdir ${command.name}`;
  const own = Object.keys(command.options).length > 0 ? [...optionLines(command.options), ""] : [];
  return [
    command.summary,
    "",
    `${color.bold("usage")}: ${`${name} ${command.usage}`.trim()} [options]`,
    "",
    ...own,
    ...optionLines(COMMON_OPTIONS),
    "",
    `${color.bold("example")}: ${command.example}`,
  ].join("\n");
}

function optionLines(options: Record<string, Option>): string[] {
  return columnsOf(
    Object.entries(options).map(([name, { value, short, help }]) => {
      const head = `  ${short ? `-${short}, ` : ""}--${name}${value ? ` ${value}` : ""}`;
      return [head.padEnd(19), help];
    }),
  );
}

/** `memdir completion`. */
export function completeFor(commands: readonly Command[]): Run {
  return async ({ args: [shell = ""], terminal }) => {
    const script = SCRIPTS[shell];
    if (!script) throw new MemdirError("usage", `no completion for "${shell}": choose bash, zsh or fish`);
    terminal.print(script(commands));
    return 0;
  };
}

const optionsOf = ({ options }: Command) =>
  Object.keys({ ...options, ...COMMON_OPTIONS })
    .map((name) => `--${name}`)
    .join(" ");

const SCRIPTS: Record<string, (commands: readonly Command[]) => string> = {
  bash: bashScript,
  zsh: (commands) => `autoload -U +X bashcompinit && bashcompinit\n${bashScript(commands)}`,
  fish: (commands) =>
    commands
      .flatMap((c) => [
        `complete -c memdir -n __fish_use_subcommand -a ${c.name} -d ${quote(c.summary)}`,
        ...Object.entries({ ...c.options, ...COMMON_OPTIONS }).map(
          ([name, { help }]) =>
            `complete -c memdir -n "__fish_seen_subcommand_from ${c.name}" -l ${name} -d ${quote(help)}`,
        ),
      ])
      .join("\n"),
};

function bashScript(commands: readonly Command[]): string {
  return `_memdir() {
  local word="\${COMP_WORDS[COMP_CWORD]}"
  if [ "$COMP_CWORD" -eq 1 ]; then COMPREPLY=($(compgen -W "${commands.map((c) => c.name).join(" ")}" -- "$word")); return; fi
  case "\${COMP_WORDS[1]}" in
${commands.map((c) => `    ${c.name}) COMPREPLY=($(compgen -W "${optionsOf(c)}" -- "$word")) ;;`).join("\n")}
  esac
}
complete -o default -F _memdir memdir`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "\\'")}'`;
}
