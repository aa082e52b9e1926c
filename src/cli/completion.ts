/** Completion scripts, made from the same table that reads the options. */

import { MemdirError } from "../errors.ts";
import type { Field } from "../verb.ts";
import { COMMON, type CommandRow, ownOptions, type Run } from "./command.ts";

/** `memdir completion SHELL`; `memdir completion names` lists the memories for the scripts. */
export function completeFor(commands: readonly CommandRow[]): Run {
  return async (call) => {
    const [shell = ""] = call.args;
    if (shell === "names") {
      const rows = await (await call.open({ quiet: true })).list();
      for (const { file } of rows) call.terminal.print(file.replace(/\.md$/, ""));
      return 0;
    }
    const script = SCRIPTS[shell];
    if (!script) throw new MemdirError("usage", `there is no completion for "${shell}": choose bash, zsh or fish`);
    const loaded = await Promise.all(commands.map(async (row) => ({ row, definition: await row.load() })));
    call.terminal.print(
      script(
        loaded.map(({ row, definition }) => ({
          ...{ name: row.name, summary: row.summary },
          options: Object.entries<Field>({ ...ownOptions(definition), ...COMMON }),
          takesName: definition.args[0]?.replace("?", "") === "name",
        })),
      ),
    );
    return 0;
  };
}

interface Completed {
  name: string;
  summary: string;
  options: [string, Field][];
  takesName: boolean;
}

const SCRIPTS: Record<string, (commands: readonly Completed[]) => string> = {
  bash: bashScript,
  zsh: (commands) => `autoload -U +X bashcompinit && bashcompinit\n${bashScript(commands)}`,
  fish: (commands) =>
    commands
      .flatMap(({ name, summary, options, takesName }) => {
        const inside = `complete -c memdir -n "__fish_seen_subcommand_from ${name}"`;
        return [
          `complete -c memdir -n __fish_use_subcommand -a ${name} -d ${quote(summary)}`,
          ...(takesName ? [`${inside} -f -a "(memdir completion names 2>/dev/null)"`] : []),
          ...options.map(([option, { help }]) => `${inside} -l ${option} -d ${quote(help)}`),
        ];
      })
      .join("\n"),
};

function bashScript(commands: readonly Completed[]): string {
  const cases = commands.map(({ name, options, takesName }) => {
    const words = options.map(([option]) => `--${option}`).join(" ");
    const names = takesName ? " $(memdir completion names 2>/dev/null)" : "";
    return `    ${name}) COMPREPLY=($(compgen -W "${words}${names}" -- "$word")) ;;`;
  });
  return `_memdir() {
  local word="\${COMP_WORDS[COMP_CWORD]}"
  if [ "$COMP_CWORD" -eq 1 ]; then COMPREPLY=($(compgen -W "${commands.map(({ name }) => name).join(" ")}" -- "$word")); return; fi
  case "\${COMP_WORDS[1]}" in
${cases.join("\n")}
  esac
}
complete -o default -F _memdir memdir`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "\\'")}'`;
}
