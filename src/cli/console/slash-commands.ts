/** The table of slash commands, those about learning among them, and which one a line means. */

import { MemdirError } from "../../errors.ts";
import { costOf } from "../../model/cost.ts";
import { openLearning } from "../../open-learn.ts";
import { sanitiseLine } from "../../text/sanitise.ts";
import { bold, dim } from "../../verb.ts";
import { review, sayWaiting } from "../../verbs/inbox.ts";
import { costText, grouped, readToday, sayToday } from "../../verbs/ledger.ts";
import { VERBS } from "../../verbs/table.ts";
import { print } from "../terminal.ts";
import type { Completion } from "./input-view.ts";
import type { Console, SlashCommand } from "./slash-memory.ts";
import { MEMORY_COMMAND, runLine, runVerb } from "./slash-memory.ts";
import { SESSION_COMMANDS } from "./slash-session.ts";

const LEARN_COMMANDS: readonly SlashCommand[] = [
  {
    name: "inbox",
    usage: "[accept ID|reject ID|edit ID|all]",
    help: "Review proposed memories one by one; all lists them",
    words: ["accept", "reject", "edit", "all"],
    run: (rest, console) =>
      rest === "" && console.terminal.interactive
        ? walk(console)
        : runVerb("inbox", rest === "all" ? "" : rest, console),
  },
  {
    name: "dream",
    usage: "[plan|apply --only STEPS|status]",
    help: "Tidy up memories with a plan that you see first",
    words: ["plan", "apply", "status"],
    run: (rest, console) => runVerb("dream", rest.replace(/^(?=(?:plan|apply|status)(?:\s|$))/, "--"), console),
  },
  { name: "cost", help: "Show what this session and background work have used", run: showCost },
];

async function showCost(_: string, console: Console): Promise<void> {
  const { agent, memdir } = console;
  const { requests, ...usage } = agent.usage();
  const { provider, name } = agent.model();
  const model = `${provider}/${name}`;
  const cost = requests === 0 ? 0 : costOf(model, usage, memdir.config.learn.prices);
  const rows = [
    ["requests", grouped(requests)],
    ["input tokens", grouped(usage.input)],
    ["read from the cache", grouped(usage.cacheRead)],
    ["written to the cache", grouped(usage.cacheWrite)],
    ["output tokens", grouped(usage.output)],
    ["cost", costText(cost)],
  ];
  print(console.terminal, [
    { rows },
    // The model may have been another one before: the sum says whose price it is made of.
    ...(cost !== null && requests > 0 ? [dim(`at the price of ${model}`)] : []),
    "",
    bold("Background work"),
    ...sayToday(readToday(memdir), cost === null ? [model] : []),
    dim("memdir ledger lists every call"),
  ]);
}

async function walk(console: Console): Promise<void> {
  const { memdir, release, env, terminal } = console;
  const call = (words: string) => `/${words}`;
  await review(memdir, { choose: terminal.choose, release, env, show: (said) => print(terminal, said), call });
  print(terminal, sayWaiting(openLearning(memdir).inbox.list().length, call));
}

const LEAVE = { help: "Leave; Ctrl-D works too", run: async () => "leave" as const };

/** The conversation's own; a verb of the same name is called by them. */
const OWN: readonly SlashCommand[] = [
  ...LEARN_COMMANDS,
  ...SESSION_COMMANDS,
  {
    name: "help",
    help: "Show this list",
    run: async (_, console) => print(console.terminal, [{ rows: helpRows(console) }]),
  },
  { name: "exit", ...LEAVE },
  { name: "quit", ...LEAVE, isAlias: true },
];

const SLASH_COMMANDS: readonly SlashCommand[] = [
  MEMORY_COMMAND,
  ...VERBS.filter(({ name, on }) => on.includes("console") && !OWN.some((own) => own.name === name)).flatMap((row) =>
    [row.name, ...(row.aliases ?? [])].map((name, at) => ({
      ...{ name, help: row.summary, isAlias: at > 0, takesName: row.takesName },
      run: (rest: string, console: Console) => runLine(row, rest, console),
    })),
  ),
  ...OWN,
];

const LISTED = SLASH_COMMANDS.filter(({ isAlias }) => !isAlias);

/** Runs the command that a line beginning with / names. What it throws names memories and files: it is harmless to print. */
export async function runSlash(line: string, console: Console): Promise<"stay" | "leave"> {
  const [, name = "", rest = ""] = /^\/(\S*)\s*([\s\S]*)$/.exec(line.trim()) ?? [];
  const command = SLASH_COMMANDS.find((one) => one.name === name.toLowerCase());
  if (!command) {
    const row = VERBS.find((one) => one.name === name || one.formerly === name);
    const near =
      row?.formerly === name
        ? row
        : SLASH_COMMANDS.find((one) => name !== "" && one.name.startsWith(name.toLowerCase().slice(0, 3)));
    const hint =
      row?.name === name ? `: run \`memdir ${name}\` in a shell` : near ? ` (did you mean /${near.name}?)` : "";
    throw new MemdirError("usage", `there is no /${sanitiseLine(name)} here${hint}; /help lists what you can type`);
  }
  try {
    return (await command.run(rest.trim(), console)) === "leave" ? "leave" : "stay";
  } catch (error) {
    if (!(error instanceof MemdirError)) throw error;
    throw new MemdirError(error.code, sanitiseLine(error.message), { cause: error, details: error.details });
  }
}

/** What could follow what is typed: commands, then the words or the memories that a command takes. */
export function completeLine(text: string, names: readonly string[]): Completion[] {
  const lower = text.toLowerCase();
  const offer = (label: string, from: number, end = "", description = "") => ({
    ...{ label, description, insert: `${label}${end}`, from },
  });
  if (/^\/\S*$/.test(lower))
    return LISTED.filter(({ name }) => `/${name}`.startsWith(lower)).map(({ name, usage, help }) =>
      offer(`/${name}`, 0, usage ? " " : "", help),
    );
  const [, first = "", word = ""] = /^\/(\S+)\s+(\S*)$/.exec(text) ?? [];
  const commandOf = (called: string) => SLASH_COMMANDS.find(({ name }) => name === called.toLowerCase());
  const words = (commandOf(first)?.words ?? []).filter((one) => one.startsWith(word));
  // Behind `/show`, and behind `/memory show`.
  const [, called = "", typed = ""] = /^\/(?:memory\s+)?(\S+)\s+(.*)$/i.exec(text) ?? [];
  const found = commandOf(called)?.takesName ? [...new Set(names.map(sanitiseLine))] : [];
  return [
    ...words.map((one) => offer(`/${first} ${one}`, 0, " ")),
    ...found
      .filter((name) => name.toLowerCase().startsWith(typed.toLowerCase()))
      .map((name) => offer(name, text.length - typed.length)),
  ];
}

const PLAIN: readonly (readonly [string, string])[] = [
  ["remember TEXT", "Save a memory; its type is guessed"],
  ["forget NAME", "Remove a memory"],
  ["#TEXT", "Save TEXT as a memory at once"],
];

function helpRows({ offline }: Console): (readonly string[])[] {
  const slashes = LISTED.map(({ name, usage = "", help }) => [`/${name} ${usage}`.trim(), help] as const);
  return [...(offline ? PLAIN : PLAIN.slice(2)), ...slashes];
}
