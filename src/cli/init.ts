/** `memdir init`: finds the agents on this machine, shows what wiring them changes, asks, and does it. */

import { fileURLToPath } from "node:url";
import { processEnv } from "../config.ts";
import { diskError, exitCodeOf, MemdirError } from "../errors.ts";
import { commonEnds } from "../text/diff.ts";
import { redactSecrets } from "../text/secrets.ts";
import { CLIENTS, chooseClients } from "../wiring/clients.ts";
import { findPassing, type Machine, openMachine } from "../wiring/machine.ts";
import { applyChanges, type Change, type Plan, planWiring } from "../wiring/wiring.ts";
import { askPerson } from "./ask.ts";
import type { Call, Run } from "./command.ts";
import { diffPreview } from "./console/diff-preview.ts";
import { openPaint } from "./console/paint.ts";
import { sanitiseLine } from "./console/sanitise.ts";
import { foldLines } from "./diff-view.ts";
import { initTeam, openTeamCheckout } from "./init-team.ts";

export const run: Run = async (call) => {
  const world = openWorld(call);
  if (call.flag("team")) return initTeam(call, { world: openTeamCheckout(await call.open(), world), ask: askPerson });
  return init(call, { world, ask: askPerson, columns: process.stdout.columns });
};

export interface InitDesk {
  world: Machine;
  /** True for yes. Only asked on a terminal. */
  ask(question: string): Promise<boolean>;
  /** Of the terminal. */
  columns: number | undefined;
}

export async function init(call: Call, desk: InitDesk): Promise<number> {
  const { world } = desk;
  const { json, terminal } = call;
  const plans = planWiring(world, chooseClients(world, call.values("agent")));
  const isAsking = !call.flag("yes") && !call.flag("dry-run") && terminal.interactive && !json;
  const isBlind = !call.flag("yes") && !call.flag("dry-run") && !isAsking;
  const done: Plan[] = [];
  for (const plan of plans) {
    if (!json) show(call, desk, plan);
    if (plan.changes.length === 0 || isBlind || call.flag("dry-run")) continue;
    if (isAsking && !(await desk.ask(`Wire ${plan.client.title}?`))) continue;
    try {
      await applyChanges(world, plan.changes);
      done.push(plan);
    } catch (error) {
      plan.problem = diskError(error, "wire", plan.client.title);
      if (!json) terminal.warn(`memdir: ${sanitiseLine(plan.problem.message)}`);
    }
  }
  report(call, world, plans, done);
  if (isBlind && plans.some(({ changes }) => changes.length > 0)) {
    throw new MemdirError("usage", "nothing was changed, as nobody can be asked here; give --yes to do it");
  }
  const refused = plans.find(({ problem }) => problem !== null);
  return refused ? exitCodeOf(refused.problem) : 0;
}

/** Shared with the other commands about the wiring. */
export function openWorld(call: Call): Machine {
  const env = processEnv();
  return openMachine(fileURLToPath(import.meta.url), {
    cwd: call.cwd,
    env,
    now: () => new Date(),
    log: (message) => {
      if (env.MEMDIR_DEBUG) call.terminal.warn(`memdir: debug: ${message}`);
    },
  });
}

function show({ terminal }: Call, { world, columns }: InitDesk, plan: Plan): void {
  const { client, changes, other, problem } = plan;
  const { bold, dim, yellow } = terminal.color;
  if (problem) {
    terminal.print(`${bold(client.title)}: ${yellow("left alone")}`);
    terminal.warn(`memdir: ${sanitiseLine(problem.message)}`);
    return;
  }
  const found = client.find(world);
  const trace = found === null ? "not found here" : `found: ${shorten(world, found)}`;
  const state = changes.length > 0 ? "" : other === null ? ": wired already" : `: ${other} does it already`;
  terminal.print(`${bold(client.title)} ${dim(`(${trace})`)}${state}`);
  for (const change of changes) {
    const link = change.isLink ? `, a link to ${shorten(world, change.target)}` : "";
    terminal.print(`  ${change.kind} ${shorten(world, change.file)}${link}: ${change.why}`);
    const lines = diffOf(change, Math.max(MIN_COLUMNS, columns || PIPE_COLUMNS) - DIFF_INDENT.length, terminal.colored);
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
function diffOf({ before, after }: Change, columns: number, colored: boolean): string[] {
  const old = before?.split("\n") ?? [];
  const fresh = after.split("\n");
  const { head, tail } = findSame(old, fresh, CONTEXT_LINES);
  const part = (lines: string[]) => redactSecrets(lines.slice(head, lines.length - tail).join("\n"));
  const shown = elide(part(old), part(fresh));
  const options = { columns: Number.POSITIVE_INFINITY, maxLines: MAX_LINES, paint: openPaint(colored) };
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

function report({ json, terminal }: Call, world: Machine, plans: readonly Plan[], done: readonly Plan[]): void {
  const notes = done.flatMap(({ client }) => client.notes(world));
  const passing = done.length > 0 ? findPassing(world.dist) : null;
  if (passing) notes.push(passing);
  if (json) {
    terminal.json({
      changes: plans.flatMap(({ changes }) =>
        changes.map(({ client, file, kind, why }) => ({ client, file, kind, why })),
      ),
      applied: done.map(({ client }) => client.name),
      notes,
      problems: plans.flatMap(({ client, problem }) =>
        problem ? [{ client: client.name, code: problem.code, message: problem.message }] : [],
      ),
    });
    return;
  }
  if (plans.length === 0) {
    const names = CLIENTS.map(({ name }) => name).join(", ");
    terminal.print(`No agent was found on this machine; --agent NAME wires one nevertheless: ${names}`);
  }
  for (const { client } of done) terminal.print(`${client.title} is wired`);
  for (const note of notes) terminal.print(`  ${note}`);
  if (done.length > 0) terminal.print(terminal.color.dim("memdir doctor tries it; memdir uninstall takes it back"));
}

/** As people write it. */
export function shorten({ home }: Machine, path: string): string {
  const isBelow = path.startsWith(home) && /^[\\/]/.test(path.slice(home.length));
  return sanitiseLine(isBelow ? `~${path.slice(home.length)}` : path);
}
