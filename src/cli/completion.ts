/** Completion scripts, made from the same table that reads the options. */

import { MemdirError } from "../errors.ts";
import { type Field, positionsOf } from "../verb.ts";
import { type Call, COMMON, type CommandRow, ownOptions } from "./command.ts";

/** `memdir completion SHELL`; `memdir completion names` lists the memories for the scripts. */
export async function complete(call: Call, rows: readonly CommandRow[]): Promise<number> {
  const [shell = ""] = call.args;
  if (shell === "names") {
    const memories = await (await call.open({ quiet: true })).list();
    for (const { file } of memories) call.terminal.print(file.replace(/\.md$/, ""));
    return 0;
  }
  const script = SCRIPTS[shell];
  if (!script) throw new MemdirError("usage", `there is no completion for "${shell}": choose bash, zsh or fish`);
  call.terminal.print(script(await Promise.all(rows.map(describe))));
  return 0;
}

type Completed = Awaited<ReturnType<typeof describe>>;

async function describe({ name, group, aliases = [], formerly, summary, takesName, load }: CommandRow) {
  const definition = await load();
  const [first] = positionsOf(definition);
  return {
    ...{ name, summary, takesName, isOffered: group !== "plumbing" },
    called: [name, ...aliases, ...(formerly ? [formerly] : [])],
    options: Object.entries<Field>({ ...ownOptions(definition), ...COMMON }),
    /** What its first argument can be. */
    words: first ? wordsOf(definition.input[first.name]) : [],
  };
}

/** Their values are memories. */
const MEMORY_OPTIONS = ["link", "supersedes", "exclude"];

function wordsOf(field: Field | undefined): readonly string[] {
  return (field?.json.enum as readonly string[] | undefined) ?? [];
}

const SCRIPTS: Record<string, (commands: readonly Completed[]) => string> = {
  bash: bashScript,
  zsh: (commands) => `autoload -U +X bashcompinit && bashcompinit\n${bashScript(commands)}`,
  fish: (commands) =>
    commands
      .flatMap(({ name, isOffered, called, summary, options, takesName, words }) => {
        const inside = `complete -c memdir -n "__fish_seen_subcommand_from ${called.join(" ")}"`;
        return [
          ...(isOffered ? [`complete -c memdir -n __fish_use_subcommand -a ${name} -d ${quote(summary)}`] : []),
          ...(takesName ? [`${inside} -f -a "(memdir completion names 2>/dev/null)"`] : []),
          ...(words.length > 0 ? [`${inside} -f -a "${words.join(" ")}"`] : []),
          ...options.map(([option, field]) => `${inside} -l ${option}${fishValue(field)} -d ${quote(field.help)}`),
        ];
      })
      .join("\n"),
};

function fishValue(field: Field): string {
  const words = wordsOf(field);
  if (words.length > 0) return ` -x -a "${words.join(" ")}"`;
  return field.value === undefined ? "" : " -r";
}

/**
 * The command is the first word that is neither an option nor an option's value. A value that can be anything is left to
 * bash, which offers files. Memories are those of the project and scope that the line names; a shell does not expand the `~` of
 * a line that is being typed. Memories are named by whoever wrote them: unlike the words that compgen is given, bash must
 * not expand their names, neither here nor once they are on the line.
 */
function bashScript(commands: readonly Completed[]): string {
  const offered = commands.flatMap(({ name, isOffered }) => (isOffered ? [name] : []));
  const common = Object.keys(COMMON).map((name) => `--${name}`);
  const valued = Object.entries<Field>(COMMON).flatMap(([name, { value }]) => (value ? [`--${name}`] : []));
  const values = commands.flatMap(({ called, options }) =>
    options
      .filter(([option, { value }]) => value !== undefined && !valued.includes(`--${option}`))
      .map(([option, field]) => {
        const names = MEMORY_OPTIONS.includes(option) ? " names=1" : "";
        return `    ${either(called, `:--${option}`)}) words="${wordsOf(field).join(" ")}"${names} ;;`;
      }),
  );
  const cases = commands.map(({ called, options, takesName, words }) => {
    const offered = [...words, ...options.map(([option]) => `--${option}`)].join(" ");
    return `    ${either(called, ":*")}) words="${offered}"${takesName ? " names=1" : ""} ;;`;
  });
  return `_memdir() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" command="" words="" names="" at name option elsewhere=()
  for ((at = 1; at < COMP_CWORD; at++)); do
    option="\${COMP_WORDS[at]}"
    case "$option" in
      ${either(valued)})
        ((at++)); if [ "\${COMP_WORDS[at]}" = "=" ]; then ((at++)); fi
        elsewhere+=("$option" "\${COMP_WORDS[at]/#\\~/$HOME}") ;;
      ${either(valued, "=*")}) elsewhere+=("$option") ;;
      -*) ;;
      *) if [ -z "$command" ]; then command="$option"; fi ;;
    esac
  done
  if [ "$word" = "=" ]; then word=""
  elif [ "$before" = "=" ]; then before="\${COMP_WORDS[COMP_CWORD-2]}"; fi
  case "$command:$before" in
    *:--scope) words="user project team" ;;
    ${valued.map((name) => `*:${name}`).join("|")}) ;;
    help:*) words="${offered.join(" ")}" ;;
${values.join("\n")}
    :*) words="${[...offered, "help", ...common].join(" ")}" ;;
${cases.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  if [ -z "$names" ]; then return; fi
  while IFS= read -r name; do
    if [[ "$name" == "$word"* ]]; then COMPREPLY+=("$(printf %q "$name")"); fi
  done < <(memdir completion names "\${elsewhere[@]}" 2>/dev/null)
}
complete -o default -F _memdir memdir`;
}

/** Any of the words, as a pattern of bash. */
function either(words: readonly string[], end = ""): string {
  return words.map((word) => `${word}${end}`).join("|");
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "\\'")}'`;
}
