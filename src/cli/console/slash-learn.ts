/** Slash commands about what memdir learns by itself: what waits for a person, tidying up, and what all of it costs. */

import { MemdirError } from "../../errors.ts";
import { acceptProposal } from "../../learn/apply.ts";
import { applySeenPlan, planSeen } from "../../learn/dream.ts";
import { countOps } from "../../learn/dream-plan.ts";
import type { Inbox } from "../../learn/inbox.ts";
import { costOf } from "../../learn/ledger.ts";
import type { Proposal } from "../../learn/proposal.ts";
import { openLearning } from "../../open-learn.ts";
import { sanitiseLine } from "../../text/sanitise.ts";
import { columnsOf, warning } from "../command.ts";
import { type Dreamer, describeDream, dreamNow, NOTHING_TO_DO, readStatus, viewPlan, viewStatus } from "../dream.ts";
import { describeAccepted, describeRejected, editProposal, findWaiting, viewProposal } from "../inbox.ts";
import { costText, grouped, viewToday } from "../ledger.ts";
import type { Choice } from "./input-state.ts";
import { type Console, printFolded, type SlashCommand, stay } from "./slash.ts";

export const LEARN_COMMANDS: readonly SlashCommand[] = [
  {
    name: "inbox",
    usage: "[accept ID|reject ID|edit ID|all]",
    help: "what was learnt and waits for you, one by one; all lists it",
    words: ["accept", "reject", "edit", "all"],
    run: stay(answerInbox),
  },
  {
    name: "dream",
    usage: "[plan|apply|status]",
    help: "tidies up memories by a plan that you see first",
    words: ["plan", "apply", "status"],
    run: stay(answerDream),
  },
  { name: "cost", usage: "", help: "what this session and background work have used", run: stay(showCost) },
];

const DREAM_VERBS: Readonly<Record<string, (console: Console) => Promise<void>>> = {
  "": async (console) => tidyUp(console, console.choose),
  plan: async (console) => tidyUp(console, null),
  apply: async (console) => {
    const report = await console.working("dreaming", (signal) => dreamNow(dreamerOf(console), signal));
    printFolded(console, describeDream(report, "/undo"));
  },
  status: async (console) => {
    for (const line of viewStatus(readStatus(dreamerOf(console)))) printFolded(console, line);
  },
};

async function answerDream(rest: string, console: Console): Promise<void> {
  if (!Object.hasOwn(DREAM_VERBS, rest)) {
    const known = "there are /dream, which asks before it changes anything, and /dream plan, apply and status";
    throw new MemdirError("usage", `/dream ${sanitiseLine(rest).slice(0, 40)} is not known: ${known}`);
  }
  await DREAM_VERBS[rest]?.(console);
}

/** The plan that is applied is the one that was seen; what changed meanwhile makes it fail with nothing written. */
async function tidyUp(console: Console, choose: Console["choose"]): Promise<void> {
  const { terminal, columns } = console;
  const learning = openLearning(console.memdir);
  const plan = await console.working("dreaming", (signal) => planSeen(learning, dreamerOf(console).model, signal));
  if (plan.ops.length === 0) return terminal.print(NOTHING_TO_DO);
  terminal.print(viewPlan(plan, learning.directory, terminal.color, columns()));
  if (!choose)
    return printFolded(console, terminal.color.dim("/dream apply plans anew and does it; /undo takes it back"));
  const key = await choose(`Tidy up like this? ${countOps(plan)}`, [
    { key: "a", label: "apply it, as one change" },
    { key: "l", label: "leave everything as it is" },
  ]);
  if (key !== "a") return terminal.print("nothing was changed");
  const entry = await applySeenPlan(learning.directory, plan, process.pid);
  printFolded(console, describeDream({ entry, skipped: null, produced: countOps(plan) }, "/undo"));
}

function dreamerOf({ memdir, agent }: Console): Dreamer {
  const model = agent.model();
  return { memdir, model: model.name === "" ? null : model, session: agent.sessionId };
}

async function showCost(_: string, console: Console): Promise<void> {
  const { agent, memdir, terminal } = console;
  const { color } = terminal;
  const { learn } = memdir.config;
  const { ledger } = openLearning(memdir);
  const { requests, ...usage } = agent.usage();
  const { provider, name } = agent.model();
  const model = `${provider}/${name}`;
  const cost = requests === 0 ? 0 : costOf(model, usage, learn.prices);
  const rows: string[][] = [
    ["requests", grouped(requests)],
    ["input tokens", grouped(usage.input)],
    ["read from the cache", grouped(usage.cacheRead)],
    ["written to the cache", grouped(usage.cacheWrite)],
    ["output tokens", grouped(usage.output)],
    ["cost", costText(cost)],
  ];
  terminal.print(columnsOf(rows).join("\n"));
  // The model may have been another one before: the sum says whose price it is made of.
  if (cost !== null && requests > 0) printFolded(console, color.dim(`at the price of ${sanitiseLine(model)}`));
  terminal.print(`\n${color.bold("Background work")}`);
  const problem = ledger.problem();
  if (problem !== null) warning(console, [sanitiseLine(problem)]);
  for (const line of viewToday(ledger, learn, color, cost === null ? [model] : [])) printFolded(console, line);
  printFolded(console, color.dim("memdir ledger lists every call"));
}

async function answerInbox(rest: string, console: Console): Promise<void> {
  const { inbox } = openLearning(console.memdir);
  const [verb = "", id, ...more] = rest.split(/\s+/);
  if (verb === "" && console.choose) return walk(console, inbox, console.choose);
  if (verb === "" || (verb === "all" && id === undefined)) return listAll(console, inbox);
  const act = ACTS.get(verb);
  if (!act || id === undefined || more.length > 0) {
    const calls = "/inbox accept ID, /inbox reject ID, /inbox edit ID or /inbox all";
    throw new MemdirError("usage", `the call is /inbox, which shows one after the other, ${calls}`);
  }
  await act(console, inbox, findWaiting(inbox, id, "/inbox"));
}

type Act = (console: Console, inbox: Inbox, proposal: Proposal) => Promise<void>;

const accept: Act = async (console, inbox, proposal) =>
  printFolded(console, describeAccepted(await acceptProposal(console.memdir, inbox, proposal), "/undo"));

const reject: Act = async (console, inbox, proposal) => {
  await inbox.reject(proposal.id);
  printFolded(console, describeRejected(proposal, "/memory save"));
};

const edit: Act = async (console, inbox, proposal) => {
  await show(console, await amend(console, inbox, proposal));
  printFolded(console, console.terminal.color.dim(`/inbox accept ${proposal.id} keeps it like this`));
};

const ACTS: ReadonlyMap<string, Act> = new Map([
  ["accept", accept],
  ["reject", reject],
  ["edit", edit],
]);

async function walk(console: Console, inbox: Inbox, choose: NonNullable<Console["choose"]>): Promise<void> {
  const ids = inbox.list().map(({ id }) => id);
  for (const [at, id] of ids.entries()) {
    const question = `Keep this? (${at + 1} of ${ids.length})`;
    if ((await decide(console, inbox, id, (choices) => choose(question, choices))) === "stop") break;
  }
  tellWaiting(console, inbox.list().length);
}

/** Until it is decided or put off. What was seen is what is accepted, whoever changes the proposal meanwhile. */
async function decide(
  console: Console,
  inbox: Inbox,
  id: string,
  choose: (choices: readonly Choice[]) => Promise<string | null>,
): Promise<"next" | "stop"> {
  for (;;) {
    const proposal = inbox.list().find((one) => one.id === id);
    // Somebody else was faster.
    if (!proposal) return "next";
    await show(console, proposal);
    const key = await choose(choicesFor(console, proposal));
    if (key === null || key === "s") return "stop";
    if (key === "l") return "next";
    try {
      if (key === "e") await amend(console, inbox, proposal);
      else {
        await (key === "a" ? accept : reject)(console, inbox, proposal);
        return "next";
      }
    } catch (error) {
      // It still waits: another answer may do.
      if (!(error instanceof MemdirError)) throw error;
      console.terminal.warn(`memdir: ${sanitiseLine(error.message)}`);
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

async function amend({ release, env }: Console, inbox: Inbox, proposal: Proposal): Promise<Proposal> {
  if (!release) throw new MemdirError("usage", `an editor needs a terminal: memdir inbox edit ${proposal.id}`);
  return release(() => editProposal(inbox, proposal, env));
}

async function listAll(console: Console, inbox: Inbox): Promise<void> {
  const proposals = inbox.list();
  for (const proposal of proposals) await show(console, proposal);
  tellWaiting(console, proposals.length);
}

function tellWaiting(console: Console, count: number): void {
  if (count === 0) console.terminal.print("the inbox is empty");
  else printFolded(console, console.terminal.color.dim(`${count} waiting: /inbox accept ID, edit ID or reject ID`));
}

async function show({ memdir, terminal, columns }: Console, proposal: Proposal): Promise<void> {
  terminal.print(await viewProposal(memdir, proposal, terminal.color, columns()));
  terminal.print("");
}
