/** Slash commands about what memdir learns by itself: what waits for a person, tidying up, and what all of it costs. */

import { MemdirError } from "../../errors.ts";
import { countOps } from "../../learn/dream-plan.ts";
import { costOf } from "../../learn/ledger.ts";
import { openLearning } from "../../open-learn.ts";
import { applySeen, type Dreamer, dreamNow, planNow, readStatus } from "../dream-steps.ts";
import { describeDream, NOTHING_TO_DO, viewPlan, viewStatus } from "../dream-view.ts";
import { costText, grouped, viewToday } from "../money-view.ts";
import { openPaint } from "./paint.ts";
import { sanitiseLine } from "./sanitise.ts";
import { type Desk, printFolded, type SlashCommand, stay } from "./slash-desk.ts";
import { answerInbox } from "./slash-inbox.ts";

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

const DREAM_VERBS: Readonly<Record<string, (desk: Desk) => Promise<void>>> = {
  "": async (desk) => tidyUp(desk, desk.choose),
  plan: async (desk) => tidyUp(desk, null),
  apply: async (desk) => {
    const report = await desk.working("dreaming", (signal) => dreamNow(dreamerOf(desk), signal));
    printFolded(desk, describeDream(report, "/undo"));
  },
  status: async (desk) => {
    for (const line of viewStatus(readStatus(dreamerOf(desk)))) printFolded(desk, line);
  },
};

async function answerDream(rest: string, desk: Desk): Promise<void> {
  if (!Object.hasOwn(DREAM_VERBS, rest)) {
    const known = "there are /dream, which asks before it changes anything, and /dream plan, apply and status";
    throw new MemdirError("usage", `/dream ${sanitiseLine(rest).slice(0, 40)} is not known: ${known}`);
  }
  await DREAM_VERBS[rest]?.(desk);
}

/** The plan that is applied is the one that was seen; what changed meanwhile makes it fail with nothing written. */
async function tidyUp(desk: Desk, choose: Desk["choose"]): Promise<void> {
  const { terminal, columns } = desk;
  const dreamer = dreamerOf(desk);
  const plan = await desk.working("dreaming", (signal) => planNow(dreamer, signal));
  if (plan.ops.length === 0) return terminal.print(NOTHING_TO_DO);
  const look = { paint: openPaint(terminal.colored), columns: columns() };
  terminal.print(viewPlan(plan, openLearning(desk.memdir).directory, look));
  if (!choose) return printFolded(desk, terminal.color.dim("/dream apply plans anew and does it; /undo takes it back"));
  const key = await choose(`Tidy up like this? ${countOps(plan)}`, [
    { key: "a", label: "apply it, as one change" },
    { key: "l", label: "leave everything as it is" },
  ]);
  if (key !== "a") return terminal.print("nothing was changed");
  const entry = await applySeen(dreamer, plan);
  printFolded(desk, describeDream({ entry, skipped: null, produced: countOps(plan) }, "/undo"));
}

function dreamerOf({ memdir, agent }: Desk): Dreamer {
  const model = agent.model();
  return { memdir, model: model.name === "" ? null : model, session: agent.sessionId };
}

async function showCost(_: string, desk: Desk): Promise<void> {
  const { agent, memdir, terminal } = desk;
  const { color } = terminal;
  const { learn } = memdir.config;
  const { ledger } = openLearning(memdir);
  const { requests, ...usage } = agent.usage();
  const { provider, name } = agent.model();
  const model = `${provider}/${name}`;
  const cost = requests === 0 ? 0 : costOf(model, usage, learn.prices);
  const rows = [
    ["requests", grouped(requests)],
    ["input tokens", grouped(usage.input)],
    ["read from the cache", grouped(usage.cacheRead)],
    ["written to the cache", grouped(usage.cacheWrite)],
    ["output tokens", grouped(usage.output)],
    ["cost", costText(cost)],
  ] as const;
  terminal.print(rows.map(([what, count]) => `${what.padEnd(20)} ${count}`).join("\n"));
  // The model may have been another one before: the sum says whose price it is made of.
  if (cost !== null && requests > 0) printFolded(desk, color.dim(`at the price of ${sanitiseLine(model)}`));
  terminal.print(`\n${color.bold("Background work")}`);
  const problem = ledger.problem();
  if (problem !== null) terminal.warn(`memdir: warning: ${sanitiseLine(problem)}`);
  for (const line of viewToday(ledger, learn, color, cost === null ? [model] : [])) printFolded(desk, line);
  printFolded(desk, color.dim("memdir ledger lists every call"));
}
