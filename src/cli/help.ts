/** Help texts, made from the same table that reads the options. */

import type { Color, Command, Option } from "./command.ts";
import { COMMANDS, COMMON_OPTIONS } from "./commands.ts";

export function generalHelp(color: Color): string {
  const width = Math.max(...COMMANDS.map((c) => c.name.length));
  const lines = COMMANDS.map((c) => `  ${c.name.padEnd(width)}  ${c.summary}`);
  return [
    "memdir: a memory for coding agents, in plain Markdown files",
    "",
    `${color.bold("usage")}: memdir [command] [options]     without a command: the console`,
    "",
    ...lines,
    "",
    optionLines(COMMON_OPTIONS),
    "  --version          the version",
    "",
    "memdir COMMAND --help tells more. Exit codes: 0 done, 1 a check found problems, 2 bad input, 3 disk or lock failed.",
  ].join("\n");
}

export function commandHelp(command: Command, color: Color): string {
  const name = command.name === "console" ? "memdir" : `memdir ${command.name}`;
  const own = Object.keys(command.options).length > 0 ? [optionLines(command.options), ""] : [];
  return [
    command.summary,
    "",
    `${color.bold("usage")}: ${`${name} ${command.usage}`.trim()} [options]`,
    "",
    ...own,
    optionLines(COMMON_OPTIONS),
    "",
    `${color.bold("example")}: ${command.example}`,
  ].join("\n");
}

function optionLines(options: Record<string, Option>): string {
  const heads = Object.entries(options).map(([name, { value, short }]) => {
    const shortForm = short ? `-${short}, ` : "";
    return `${shortForm}--${name}${value ? ` ${value}` : ""}`;
  });
  const width = Math.max(17, ...heads.map((head) => head.length));
  return Object.values(options)
    .map(({ help }, i) => `  ${(heads[i] as string).padEnd(width)}  ${help}`)
    .join("\n");
}
