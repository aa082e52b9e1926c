/** Help texts, made from the same table that reads the options. */

import { bold, type Field, type Fields, type Said } from "../verb.ts";
import { GROUPS } from "../verbs/table.ts";
import type { Env } from "../world.ts";
import { COMMON, type CommandRow, ownOptions, usageOf } from "./command.ts";
import { print, type Terminal } from "./terminal.ts";

/** As on most terminals; also for a pipe, so that help in a file reads well. */
const DEFAULT_COLUMNS = 80;
/** Longer lines are hard to read. */
const MAX_COLUMNS = 100;

/** `memdir help`, `memdir help --all` (true), `memdir help COMMAND`. */
export async function printHelp(
  terminal: Terminal,
  env: Env,
  rows: readonly CommandRow[],
  about: CommandRow | boolean,
): Promise<number> {
  const columns = terminal.columns ?? (Number(env.COLUMNS) || DEFAULT_COLUMNS);
  const overview = about === true ? allCommands : firstHelp;
  const help = typeof about === "object" ? await commandHelp(about) : overview(rows);
  print(terminal, help, Math.min(columns, MAX_COLUMNS));
  return 0;
}

const EVERYDAY: readonly (readonly [string, string])[] = [
  ["init", "connect the agents on this machine"],
  ['save "Use pnpm, never npm."', "save a memory"],
  ["list", "list memories"],
  ["show NAME", "show one memory; also edit, forget and rename it"],
  ["search WORDS", "find memories that contain the words"],
  ['recall "how do I deploy?"', "show what an agent would be shown"],
  ["undo", "undo the last change; history lists them"],
  ["check", "check the installation and all memories"],
  ["ui", "open a local web page to browse and curate memories"],
  ["", "open the console"],
];

function firstHelp(rows: readonly CommandRow[]): Said {
  const groupLine = (group: CommandRow["group"], title: string) => [
    bold(title),
    rows
      .filter((row) => row.group === group)
      .map(({ name }) => name)
      .join(", "),
  ];
  return [
    "memdir: a memory for coding agents, in plain Markdown files",
    "",
    { rows: EVERYDAY.map(([call, what]) => [`  memdir ${call}`.trimEnd(), what]) },
    "",
    {
      rows: [
        groupLine("health", "Health"),
        groupLine("learning", "Learning"),
        groupLine("agents", "Agents"),
        groupLine("team", "Team"),
        [bold("Options"), "--json, --cwd DIR, --memory-dir DIR, --scope SCOPE, --help, --version"],
      ],
    },
    "",
    "Run `memdir COMMAND --help` for details, `memdir help --all` for all commands.",
  ];
}

function allCommands(all: readonly CommandRow[]): Said {
  const width = Math.max(...all.map(({ name }) => name.length));
  const groups = Object.entries(GROUPS).flatMap(([group, title]): Said => {
    const rows = all.filter((row) => row.group === group);
    return ["", bold(title), { rows: rows.map(({ name, summary }) => [`  ${name.padEnd(width)}`, summary]) }];
  });
  return [
    "usage: memdir [command] [options]; without a command, opens the console",
    ...groups,
    "",
    bold("Options, before or after the command"),
    { rows: optionRows({ ...COMMON, version: { ...COMMON.help, help: "show the version", short: "V" } }) },
    "",
    "Exit codes: 0 done, 1 a check found problems, 2 bad input, 3 the disk, a lock or the network failed.",
  ];
}

async function commandHelp(row: CommandRow): Promise<Said> {
  const definition = await row.load();
  const own = ownOptions(definition);
  const aliases = row.aliases ? ["", `Also: ${row.aliases.map((alias) => `memdir ${alias}`).join(", ")}.`] : [];
  return [
    row.summary,
    "",
    [bold("usage"), `: ${usageOf(row.name, definition)} [options]`],
    ...(definition.about ? ["", definition.about] : []),
    ...aliases,
    "",
    { rows: [...optionRows(own), ...optionRows(COMMON)] },
    "",
    ...definition.examples.map((example, at) => [
      at === 0 ? bold(definition.examples.length === 1 ? "example" : "examples") : "",
      at === 0 ? `: ${shownExample(example)}` : `          ${shownExample(example)}`,
    ]),
  ];
}

/** Programs that read standard input show the whole line. */
function shownExample(example: string): string {
  return /\bmemdir\b/.test(example) ? example : `memdir ${example}`;
}

function optionRows(fields: Fields): string[][] {
  return Object.entries<Field>(fields).map(([name, { value, short, help }]) => {
    const head = `  ${short ? `-${short}, ` : ""}--${name}${value ? ` ${value}` : ""}`;
    return [head.padEnd(19), help];
  });
}
