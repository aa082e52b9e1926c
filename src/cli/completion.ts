/** `memdir completion`: scripts for bash, zsh and fish, made from the table of commands. */

import { MemdirError } from "../errors.ts";
import type { Run } from "./command.ts";
import { COMMANDS, COMMON_OPTIONS } from "./commands.ts";

export const run: Run = async (call) => {
  const shell = call.args[0] as string;
  const script = SCRIPTS[shell];
  if (!script) throw new MemdirError("usage", `no completion for "${shell}": choose bash, zsh or fish`);
  call.terminal.print(script());
  return 0;
};

const names = () => COMMANDS.map((c) => c.name).join(" ");
const optionsOf = (options: object) =>
  Object.keys({ ...options, ...COMMON_OPTIONS })
    .map((name) => `--${name}`)
    .join(" ");

const SCRIPTS: Record<string, () => string> = {
  bash: () => `_memdir() {
  local word="\${COMP_WORDS[COMP_CWORD]}"
  if [ "$COMP_CWORD" -eq 1 ]; then COMPREPLY=($(compgen -W "${names()}" -- "$word")); return; fi
  case "\${COMP_WORDS[1]}" in
${COMMANDS.map((c) => `    ${c.name}) COMPREPLY=($(compgen -W "${optionsOf(c.options)}" -- "$word")) ;;`).join("\n")}
  esac
}
complete -o default -F _memdir memdir`,
  zsh: () => `autoload -U +X bashcompinit && bashcompinit
${SCRIPTS.bash?.() ?? ""}`,
  fish: () =>
    COMMANDS.flatMap((c) => [
      `complete -c memdir -n __fish_use_subcommand -a ${c.name} -d ${quote(c.summary)}`,
      ...Object.entries({ ...c.options, ...COMMON_OPTIONS }).map(
        ([name, { help }]) =>
          `complete -c memdir -n "__fish_seen_subcommand_from ${c.name}" -l ${name} -d ${quote(help)}`,
      ),
    ]).join("\n"),
};

function quote(text: string): string {
  return `'${text.replaceAll("'", "\\'")}'`;
}
