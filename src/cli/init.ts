/** `memdir init` and `memdir uninstall`: what wiring the agents on this machine changes is shown, asked about and done, and taken out again. */

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { diskError, exitCodeOf, MemdirError } from "../errors.ts";
import { openCheckout } from "../table/team-repository.ts";
import { prepareTeam, removeTeam, type TeamCheckout } from "../team/repository.ts";
import { commonEnds } from "../text/diff.ts";
import { sanitiseLine } from "../text/sanitise.ts";
import { redactSecrets } from "../text/secrets.ts";
import { CLIENTS, chooseClients, claudeFolder } from "../wiring/clients.ts";
import { findPassing, type Machine, openMachine } from "../wiring/machine.ts";
import { applyChanges, type Change, type Plan, planWiring, type Removal, unwire } from "../wiring/wiring.ts";
import { answer, type Call, canAsk, isAgreed, NOBODY_TO_ASK, type Run, warning } from "./command.ts";
import { diffPreview, foldLines } from "./console/diff-preview.ts";
import type { Paint } from "./terminal.ts";

export const init: Run = async (call) => {
  const machine = findMachine(call);
  return call.flag("team") ? initTeam(call, openCheckout(await call.open(), machine)) : wire(call, machine);
};

export const uninstall: Run = async (call) => {
  const machine = findMachine(call);
  return call.flag("team") ? leaveTeam(call, openCheckout(await call.open(), machine)) : unwireAll(call, machine);
};

/** The machine that is wired; also for the other commands about the wiring. */
export function findMachine({ cwd, env, now, log }: Call): Machine {
  return openMachine(fileURLToPath(import.meta.url), { cwd, env, now, log });
}

export async function wire(call: Call, machine: Machine): Promise<number> {
  const { json, terminal } = call;
  const plans = planWiring(machine, chooseClients(machine, call.values("agent")));
  const isBlind = !call.flag("yes") && !call.flag("dry-run") && !canAsk(call);
  const done: Plan[] = [];
  for (const plan of plans) {
    if (!json) showPlan(call, machine, plan);
    if (plan.changes.length === 0 || isBlind || !(await isAgreed(call, `Wire ${plan.client.title}?`))) continue;
    try {
      await applyChanges(machine, plan.changes);
      done.push(plan);
    } catch (error) {
      plan.problem = diskError(error, "wire", plan.client.title);
      if (!json) terminal.warn(`memdir: ${sanitiseLine(plan.problem.message)}`);
    }
  }
  report(call, machine, plans, done);
  if (isBlind && plans.some(({ changes }) => changes.length > 0)) throw new MemdirError("usage", NOBODY_TO_ASK);
  const refused = plans.find(({ problem }) => problem !== null);
  return refused ? exitCodeOf(refused.problem) : 0;
}

function showPlan({ terminal }: Call, machine: Machine, plan: Plan): void {
  const { client, changes, other, problem } = plan;
  const { bold, dim, yellow } = terminal.color;
  if (problem) {
    terminal.print(`${bold(client.title)}: ${yellow("left alone")}`);
    terminal.warn(`memdir: ${sanitiseLine(problem.message)}`);
    return;
  }
  const found = client.find(machine);
  const trace = found === null ? "not found here" : `found: ${shorten(machine, found)}`;
  const state = changes.length > 0 ? "" : other === null ? ": wired already" : `: ${other} does it already`;
  terminal.print(`${bold(client.title)} ${dim(`(${trace})`)}${state}`);
  for (const change of changes) {
    const link = change.isLink ? `, a link to ${shorten(machine, change.target)}` : "";
    terminal.print(`  ${change.kind} ${shorten(machine, change.file)}${link}: ${change.why}`);
    const columns = Math.max(MIN_COLUMNS, terminal.columns || PIPE_COLUMNS) - DIFF_INDENT.length;
    const lines = diffOf(change, columns, terminal.color);
    for (const line of lines) terminal.print(`${DIFF_INDENT}${line}`);
  }
}

const DIFF_INDENT = "    ";
/** Where there is no terminal to ask. */
const PIPE_COLUMNS = 160;
/** Some terminals say that they have none. */
const MIN_COLUMNS = 40;
/** The longest change, seven hooks, has about eighty lines; what somebody else wrote is not shown. */
const MAX_LINES = 200;
/** More than the preview shows around a change. */
const CONTEXT_LINES = 4;
/** Of a line that is shown in part. */
const CONTEXT_CHARS = 40;

/** Only what lies around the change is looked at, and secrets that stand there are not shown. */
function diffOf({ before, after }: Change, columns: number, paint: Paint): string[] {
  const old = before?.split("\n") ?? [];
  const fresh = after.split("\n");
  const { head, tail } = findSame(old, fresh, CONTEXT_LINES);
  const part = (lines: string[]) => redactSecrets(lines.slice(head, lines.length - tail).join("\n"));
  const shown = elide(part(old), part(fresh));
  const options = { columns: Number.POSITIVE_INFINITY, maxLines: MAX_LINES, paint };
  return foldLines(diffPreview(before === null ? null : shown.old, shown.fresh, options), columns);
}

/** A file that is one long line: only what is around the change in it. */
function elide(old: string, fresh: string): { old: string; fresh: string } {
  if (/\n./.test(old.trimEnd()) || /\n./.test(fresh.trimEnd())) return { old, fresh };
  const { head, tail } = findSame([...old], [...fresh], CONTEXT_CHARS);
  const cut = (text: string) => {
    const letters = [...text];
    const middle = letters.slice(head, letters.length - tail).join("");
    return `${head > 0 ? "…" : ""}${middle}${tail > 0 ? "…" : ""}`;
  };
  return { old: cut(old), fresh: cut(fresh) };
}

/** How many items both begin and end with, but for `context` of them. */
function findSame(old: readonly string[], fresh: readonly string[], context: number): { head: number; tail: number } {
  const { head, tail } = commonEnds(old, fresh);
  return { head: Math.max(0, head - context), tail: Math.max(0, tail - context) };
}

function report(call: Call, machine: Machine, plans: readonly Plan[], done: readonly Plan[]): void {
  const { terminal } = call;
  const notes = done.flatMap(({ client }) => client.notes(machine));
  const passing = done.length > 0 ? findPassing(machine.dist) : null;
  if (passing) notes.push(passing);
  const value = {
    changes: plans.flatMap(({ changes }) =>
      changes.map(({ client, file, kind, why }) => ({ client, file, kind, why })),
    ),
    applied: done.map(({ client }) => client.name),
    notes,
    problems: plans.flatMap(({ client, problem }) =>
      problem ? [{ client: client.name, code: problem.code, message: problem.message }] : [],
    ),
  };
  const names = CLIENTS.map(({ name }) => name).join(", ");
  answer(call, value, () => [
    ...(plans.length > 0 ? [] : [`No agent was found on this machine; --agent NAME wires one nevertheless: ${names}`]),
    ...done.map(({ client }) => `${client.title} is wired`),
    ...notes.map((one) => `  ${one}`),
    ...(done.length > 0 ? [terminal.color.dim("memdir doctor tries it; memdir uninstall takes it back")] : []),
  ]);
}

/** As people write it. */
function shorten({ home }: Machine, path: string): string {
  const isBelow = path.startsWith(home) && /^[\\/]/.test(path.slice(home.length));
  return sanitiseLine(isBelow ? `~${path.slice(home.length)}` : path);
}

export async function unwireAll(call: Call, machine: Machine): Promise<number> {
  const names = call.values("agent");
  const clients = names.length === 0 ? null : chooseClients(machine, names).map(({ name }) => name);
  const removals = await unwire(machine, { clients, dryRun: call.flag("dry-run") });
  const changes = removals.filter(({ kind }) => kind !== "unchanged");
  const problems = removals.flatMap(({ client, problem }) => (problem ? [{ client, problem }] : []));
  const value = {
    changes: changes.map(({ client, file, kind }) => ({ client, file, kind })),
    problems: problems.map(({ client, problem: { code, message } }) => ({ client, code, message })),
  };
  const say = () => {
    const { print, warn } = call.terminal;
    for (const removal of changes) print(`${shorten(machine, removal.file)} ${REMOVED[removal.kind]}`);
    for (const { problem } of problems) warn(`memdir: ${sanitiseLine(problem.message)}`);
    if (changes.length === 0 && problems.length === 0) print("No agent is wired: there is nothing to take back");
    const place = shorten(machine, join(claudeFolder(machine), "projects"));
    return `Your memories stay where they are: ${place}/*/memory and where your settings say`;
  };
  const [first] = problems;
  return answer(call, value, say, first ? exitCodeOf(first.problem) : 0);
}

const REMOVED: Record<Removal["kind"], string> = {
  restored: "is as it was before",
  removed: "is removed: it was memdir's",
  edited: "changed since: only memdir's part was taken out",
  unchanged: "",
};

export async function initTeam(call: Call, repository: TeamCheckout): Promise<number> {
  const { json, terminal } = call;
  const { bold, dim } = terminal.color;
  const plan = await prepareTeam(repository, { dryRun: true });
  if (!json) {
    const state = plan.changes.length === 0 ? ": prepared already" : "";
    terminal.print(`${bold("Team memory")} ${sanitiseLine(plan.dir)}${state}`);
    for (const { what, why } of plan.changes) terminal.print(`  ${sanitiseLine(what)}: ${sanitiseLine(why)}`);
  }
  const applied = plan.changes.length > 0 && (await isAgreed(call, "Prepare this repository?"));
  const setup = applied ? await prepareTeam(repository) : plan;
  return answer(call, { ...setup, applied }, () => {
    warning(call, setup.warnings.map(sanitiseLine));
    if (!applied) return [];
    // Whoever comes second has nothing to commit.
    if (setup.changes.every(({ kind }) => kind === "driver")) return "Team memory is ready in this clone";
    return [
      "Team memory is ready; commit .gitattributes and .claude/memory",
      dim("Each colleague runs memdir init --team once in their clone"),
    ];
  });
}

/** What `memdir init --team` did to this checkout; memories stay. */
export async function leaveTeam(call: Call, repository: TeamCheckout): Promise<number> {
  const { changes } = await removeTeam(repository, { dryRun: call.flag("dry-run"), onlyClone: false });
  return answer(call, { changes }, () =>
    changes.length === 0
      ? "There is nothing of memdir's to take out of this repository"
      : changes.map(({ what, why }) => sanitiseLine(`${what}: ${why}`)),
  );
}
