/** Slash commands about what memdir learns by itself: what waits for a person, tidying up, and what all of it costs. */

import { MemdirError } from "../../errors.ts";
import { costOf } from "../../learn/ledger.ts";
import type { Proposal } from "../../learn/proposal.ts";
import { openLearning } from "../../open-learn.ts";
import { sanitiseLine } from "../../text/sanitise.ts";
import { bold, dim, type Said } from "../../verb.ts";
import { accept, editProposal, preview, reject, sayDecided, sayProposal, sayWaiting } from "../../verbs/inbox.ts";
import { costText, grouped, readToday, sayToday } from "../../verbs/ledger.ts";
import { print } from "../say.ts";
import type { Choice } from "./input-state.ts";
import type { Console, SlashCommand } from "./slash.ts";
import { runVerb } from "./slash-memory.ts";

export const LEARN_COMMANDS: readonly SlashCommand[] = [
  {
    name: "inbox",
    usage: "[accept ID|reject ID|edit ID|all]",
    help: "what was learnt and waits for you, one by one; all lists it",
    words: ["accept", "reject", "edit", "all"],
    run: (rest, console) =>
      rest === "" && console.choose
        ? walk(console, console.choose)
        : runVerb("inbox", rest === "all" ? "" : rest, console),
  },
  {
    name: "dream",
    usage: "[plan|apply --only STEPS|status]",
    help: "tidies up memories by a plan that you see first",
    words: ["plan", "apply", "status"],
    run: (rest, console) => runVerb("dream", rest.replace(/^(?=(?:plan|apply|status)(?:\s|$))/, "--"), console),
  },
  { name: "cost", help: "what this session and background work have used", run: showCost },
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
  say(console, [
    { rows },
    // The model may have been another one before: the sum says whose price it is made of.
    ...(cost !== null && requests > 0 ? [dim(`at the price of ${model}`)] : []),
    "",
    bold("Background work"),
    ...sayToday(readToday(memdir), cost === null ? [model] : []),
    dim("memdir ledger lists every call"),
  ]);
}

async function walk(console: Console, choose: NonNullable<Console["choose"]>): Promise<void> {
  const { inbox } = openLearning(console.memdir);
  const ids = inbox.list().map(({ id }) => id);
  for (const [at, id] of ids.entries()) {
    const question = `Keep this? (${at + 1} of ${ids.length})`;
    if ((await decide(console, id, (choices) => choose(question, choices))) === "stop") break;
  }
  say(console, sayWaiting(inbox.list().length, call));
}

/** Until it is decided or put off. */
async function decide(
  console: Console,
  id: string,
  choose: (choices: readonly Choice[]) => Promise<string | null>,
): Promise<"next" | "stop"> {
  const { memdir, release, env, terminal } = console;
  const { inbox } = openLearning(memdir);
  for (;;) {
    const proposal = inbox.list().find((one) => one.id === id);
    // It was decided elsewhere meanwhile.
    if (!proposal) return "next";
    say(console, sayProposal(await preview(memdir, proposal)));
    const key = await choose(choicesFor(console, proposal));
    if (key === null || key === "s") return "stop";
    if (key === "l") return "next";
    try {
      if (key === "e") await release?.(() => editProposal(inbox, proposal, env));
      else {
        say(console, sayDecided(await (key === "a" ? accept : reject)(memdir, proposal), call));
        return "next";
      }
    } catch (error) {
      // It still waits: another answer may do.
      if (!(error instanceof MemdirError)) throw error;
      terminal.warn(`memdir: ${sanitiseLine(error.message)}`);
    }
  }
}

function choicesFor({ release }: Console, { action }: Proposal): Choice[] {
  return [
    { key: "a", label: action === "forget" ? "accept: the memory goes" : "accept: it is remembered" },
    ...(release && action !== "forget" ? [{ key: "e", label: "edit it first" }] : []),
    { key: "r", label: "reject: it does not come back" },
    { key: "l", label: "later" },
    { key: "s", label: "stop here" },
  ];
}

function say({ terminal, columns }: Console, said: Said): void {
  print(terminal, said, columns());
}

function call(words: string): string {
  return `/${words}`;
}
