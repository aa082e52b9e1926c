/** `init` and `uninstall`: the agents on this machine are connected, or a repository is prepared for team memory; and all of it is undone. */

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { diskError, exitCodeOf } from "../errors.ts";
import type { Memdir } from "../memdir.ts";
import { getTeamMemDir, repositoryOf } from "../project/scopes.ts";
import type { Store } from "../store/store.ts";
import { prepareTeam, removeTeam, type TeamCheckout, type TeamSetup } from "../team/repository.ts";
import { commonEnds } from "../text/diff.ts";
import { redactSecrets } from "../text/secrets.ts";
import { bold, type Context, dim, flag, type Input, type Line, list, type Said, verb, warn } from "../verb.ts";
import { CLIENTS, chooseClients, claudeFolder } from "../wiring/clients.ts";
import { findPassing, type Machine, openMachine } from "../wiring/machine.ts";
import { applyChanges, type Change, type Plan, planWiring, type Removal, unwire } from "../wiring/wiring.ts";
import { isAgreed, isBlind, needsYes, YES } from "./common.ts";

type FindMachine = (context: Context) => Machine;

export function findMachine({ cwd, env, now, log }: Context): Machine {
  return openMachine(fileURLToPath(import.meta.url), { cwd, env, now, log });
}

const INIT = {
  agent: list("only this one, found or not: claude-code, codex, gemini, opencode, cursor, vscode", "NAME"),
  team: flag("instead: prepare this repository for team memory (.claude/memory, merge driver)"),
  "dry-run": flag("only show what would change"),
  yes: YES,
};

export function makeInit(find: FindMachine) {
  return verb({
    args: [],
    input: INIT,
    on: ["cli"],
    about: "Shows every change, asks, and keeps a receipt, so that uninstall can restore each file.",
    examples: ["init --dry-run"],
    writes: (input) => input["dry-run"] !== true,
    async run(memdir, input, context) {
      const machine = find(context);
      return input.team ? prepare(openCheckout(memdir, machine), input, context) : wire(machine, input, context);
    },
    json: (result) => ("plans" in result ? reportOf(result) : result),
    exitCode(result) {
      const problem = "plans" in result && result.plans.find((plan) => plan.problem !== null)?.problem;
      return problem ? exitCodeOf(problem) : 0;
    },
    say(result, { call }) {
      if (!("plans" in result)) return sayPrepared(result, call("init --team"));
      const { plans, done, notes } = result;
      const names = CLIENTS.map(({ name }) => name).join(", ");
      return [
        ...(plans.length > 0 ? [] : [`No agent was found on this machine; --agent NAME wires one anyway: ${names}`]),
        ...done.map(({ client }) => `${client.title} is wired`),
        ...notes.map((note) => `  ${note}`),
        ...(done.length > 0 ? [dim(`${call("doctor")} tries it; ${call("uninstall")} undoes it`)] : []),
      ];
    },
  });
}

export const init = makeInit(findMachine);

interface Wired {
  plans: Plan[];
  done: Plan[];
  notes: string[];
}

async function wire(machine: Machine, input: Input<typeof INIT>, context: Context): Promise<Wired> {
  const plans = planWiring(machine, chooseClients(machine, input.agent ?? []));
  const done: Plan[] = [];
  for (const plan of plans) {
    context.show(describePlan(machine, plan));
    // Without a terminal all of it is shown, and then refused.
    if (plan.changes.length === 0 || isBlind(context, input)) continue;
    if (!(await isAgreed(context, input, `Wire ${plan.client.title}?`))) continue;
    try {
      await applyChanges(machine, plan.changes);
      done.push(plan);
    } catch (error) {
      plan.problem = diskError(error, "wire", plan.client.title);
      context.show([{ warning: plan.problem.message }]);
    }
  }
  const passing = done.length > 0 ? findPassing(machine.dist) : null;
  const notes = [...done.flatMap(({ client }) => client.notes(machine)), ...(passing ? [passing] : [])];
  const wired = { plans, done, notes };
  if (isBlind(context, input) && plans.some(({ changes }) => changes.length > 0)) {
    context.show([], reportOf(wired));
    throw needsYes();
  }
  return wired;
}

function reportOf({ plans, done, notes }: Wired) {
  return {
    changes: plans.flatMap(({ changes }) =>
      changes.map(({ client, file, kind, why }) => ({ client, file, kind, why })),
    ),
    applied: done.map(({ client }) => client.name),
    notes,
    problems: problemsOf(plans.map(({ client, problem }) => ({ client: client.name, problem }))),
  };
}

function problemsOf(rows: readonly Pick<Removal, "client" | "problem">[]) {
  return rows.flatMap(({ client, problem }) =>
    problem ? [{ client, code: problem.code, message: problem.message }] : [],
  );
}

function describePlan(machine: Machine, { client, changes, other, problem }: Plan): Said {
  if (problem) return [[bold(client.title), ": ", warn("left alone")], { warning: problem.message }];
  const found = client.find(machine);
  const trace = found === null ? "not found here" : `found: ${shorten(machine, found)}`;
  const state = changes.length > 0 ? "" : other === null ? ": wired already" : `: ${other} does it already`;
  return [
    [bold(client.title), " ", dim(`(${trace})`), state],
    ...changes.flatMap((change): Line[] => {
      const link = change.isLink ? `, a link to ${shorten(machine, change.target)}` : "";
      return [`  ${change.kind} ${shorten(machine, change.file)}${link}: ${change.why}`, { diff: partOf(change) }];
    }),
  ];
}

/** More than a diff shows around a change. */
const CONTEXT_LINES = 4;
/** Of a line that is shown in part. */
const CONTEXT_CHARS = 40;

/** What is around the change, without the secrets there; of a file that is one long line only the part that changes. */
function partOf({ before, after }: Change): { before: string | null; after: string } {
  const lines = around(before?.split("\n") ?? [], after.split("\n"), CONTEXT_LINES);
  const [old, fresh] = [lines.old, lines.fresh].map((part) => redactSecrets(part.join("\n"))) as [string, string];
  if ([old, fresh].some((text) => /\n./.test(text.trimEnd())))
    return { before: before === null ? null : old, after: fresh };
  const letters = around([...old], [...fresh], CONTEXT_CHARS);
  const join = (part: readonly string[]) =>
    `${letters.head > 0 ? "…" : ""}${part.join("")}${letters.tail > 0 ? "…" : ""}`;
  return { before: before === null ? null : join(letters.old), after: join(letters.fresh) };
}

/** Both without what they begin and end with, but for `context` items of it. */
function around(old: readonly string[], fresh: readonly string[], context: number) {
  const common = commonEnds(old, fresh);
  const [head, tail] = [Math.max(0, common.head - context), Math.max(0, common.tail - context)];
  return { head, tail, old: old.slice(head, old.length - tail), fresh: fresh.slice(head, fresh.length - tail) };
}

/** As people write it. */
function shorten({ home }: Machine, path: string): string {
  const isBelow = path.startsWith(home) && /^[\\/]/.test(path.slice(home.length));
  return isBelow ? `~${path.slice(home.length)}` : path;
}

type Removed = Pick<TeamSetup, "changes"> | { machine: Machine; removals: Removal[] };

export function makeUninstall(find: FindMachine) {
  return verb({
    args: [],
    input: {
      agent: list("only this one", "NAME"),
      team: flag("instead: remove memdir from this repository's .gitattributes and git settings"),
      "dry-run": flag("only show what would change"),
    },
    on: ["cli"],
    examples: ["uninstall"],
    writes: (input) => input["dry-run"] !== true,
    async run(memdir, { agent = [], team, "dry-run": dryRun = false }, context): Promise<Removed> {
      const machine = find(context);
      if (team) {
        const { changes } = await removeTeam(openCheckout(memdir, machine), { dryRun, onlyClone: false });
        return { changes };
      }
      const clients = agent.length === 0 ? null : chooseClients(machine, agent).map(({ name }) => name);
      return { machine, removals: await unwire(machine, { clients, dryRun }) };
    },
    json(result) {
      if (!("removals" in result)) return result;
      const changes = result.removals.filter(({ kind }) => kind !== "unchanged");
      return {
        changes: changes.map(({ client, file, kind }) => ({ client, file, kind })),
        problems: problemsOf(result.removals),
      };
    },
    exitCode(result) {
      const problem = "removals" in result && result.removals.find((removal) => removal.problem !== null)?.problem;
      return problem ? exitCodeOf(problem) : 0;
    },
    say(result) {
      if (!("removals" in result)) {
        if (result.changes.length === 0) return ["There is nothing of memdir's to remove from this repository"];
        return result.changes.map(({ what, why }) => `${what}: ${why}`);
      }
      const { machine, removals } = result;
      const said = removals.flatMap(({ file, kind, problem }): Line[] => {
        if (problem) return [{ warning: problem.message }];
        return kind === "unchanged" ? [] : [`${shorten(machine, file)} ${REMOVED[kind]}`];
      });
      const place = shorten(machine, join(claudeFolder(machine), "projects"));
      return [
        ...(said.length === 0 ? ["No agent is wired: there is nothing to undo"] : said),
        `Your memories stay where they are: ${place}/*/memory and where your settings say`,
      ];
    },
  });
}

export const uninstall = makeUninstall(findMachine);

const REMOVED: Record<Exclude<Removal["kind"], "unchanged">, string> = {
  restored: "is as it was before",
  removed: "is removed: it was memdir's",
  edited: "was changed since: only memdir's part was removed",
};

/** A repository that is, or can be, prepared for team memory. */
export function openCheckout(
  memdir: Memdir,
  { env, node, dist }: Pick<Machine, "env" | "node" | "dist">,
): TeamCheckout {
  const root = repositoryOf(memdir.location.project);
  // The scope `team` may mean a server's mirror: here it is always the repository.
  const own = { path: getTeamMemDir(root), scope: "team", inRepository: true, readOnly: false, recursive: true };
  // git may be started by a program with another PATH: its command is absolute.
  return { team: { ...(memdir.directories[0] as Store), ...own }, root, env, command: [node, join(dist, "cli.js")] };
}

type Prepared = Awaited<ReturnType<typeof prepare>>;

async function prepare(repository: TeamCheckout, input: Input<typeof INIT>, context: Context) {
  const plan = await prepareTeam(repository, { dryRun: true });
  context.show([
    [bold("Team memory"), ` ${plan.dir}${plan.changes.length === 0 ? ": prepared already" : ""}`],
    ...plan.changes.map(({ what, why }) => `  ${what}: ${why}`),
  ]);
  const applied = plan.changes.length > 0 && (await isAgreed(context, input, "Prepare this repository?"));
  return { ...(applied ? await prepareTeam(repository) : plan), applied };
}

function sayPrepared({ changes, warnings, applied }: Prepared, call: string): Said {
  const said = warnings.map((warning): Line => ({ warning }));
  if (!applied) return said;
  // Whoever comes second has nothing to commit.
  if (changes.every(({ kind }) => kind === "driver")) return [...said, "Team memory is ready in this clone"];
  return [
    ...said,
    "Team memory is ready; commit .gitattributes and .claude/memory",
    dim(`Each colleague runs ${call} once in their clone`),
  ];
}
