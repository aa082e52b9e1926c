/** Slash commands about what memdir learns by itself: what waits for a person, tidying up, and what all of it costs. */

import { costOf } from "../../learn/ledger.ts";
import type { Proposal } from "../../learn/proposal.ts";
import { openLearning } from "../../open-learn.ts";
import { bold, dim, type Said } from "../../verb.ts";
import { editProposal, sayWaiting } from "../../verbs/inbox.ts";
import { costText, grouped, readToday, sayToday } from "../../verbs/ledger.ts";
import { review, type Step } from "../../verbs/review.ts";
import { print } from "../say.ts";
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
  const { memdir, release, env } = console;
  const { inbox } = openLearning(memdir);
  const edit = release && ((proposal: Proposal) => release(() => editProposal(inbox, proposal, env)));
  await review(memdir, { choose, steps: STEPS, edit: edit ?? null, show: (said) => say(console, said), call });
  say(console, sayWaiting(inbox.list().length, call));
}

const STEPS: readonly Step[] = [
  { key: "a", label: "accept it", does: "accept" },
  { key: "e", label: "edit it first", does: "edit" },
  { key: "r", label: "reject: it does not come back", does: "reject" },
  { key: "l", label: "later", does: "later" },
  { key: "s", label: "stop here", does: "stop" },
];

function say({ terminal, columns }: Console, said: Said): void {
  print(terminal, said, columns());
}

function call(words: string): string {
  return `/${words}`;
}
