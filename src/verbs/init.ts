/** `init` and `uninstall`: the agents on this machine are connected, or a repository is prepared for team memory; and all of it is undone. */

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { diskError, exitCodeOf, MemdirError } from "../errors.ts";
import { cacheFolder } from "../hooks/faults.ts";
import type { Memdir } from "../memdir.ts";
import { getTeamMemDir, repositoryOf } from "../project/scopes.ts";
import type { Store } from "../store/store.ts";
import { prepareTeam, removeTeam, type TeamCheckout, type TeamSetup } from "../team/repository.ts";
import { commonEnds } from "../text/diff.ts";
import { redactSecrets } from "../text/secrets.ts";
import {
  bold,
  type Context,
  choice,
  dim,
  flag,
  type Input,
  list,
  type Reader,
  type Said,
  text,
  verb,
  warn,
} from "../verb.ts";
import { CLIENTS, chooseClients, claudeFolder } from "../wiring/clients.ts";
import { type HookWish, hasRules } from "../wiring/hook-form.ts";
import { checkLearner, findLearner, isDecided, questionFor, setLearner } from "../wiring/learner.ts";
import { findPassing, type Machine, openMachine } from "../wiring/machine.ts";
import { findTraces, purge, type Trace } from "../wiring/purge.ts";
import { HOOK_CHOICES, readReceipt } from "../wiring/receipt.ts";
import { applyChanges, type Change, type Plan, planWiring, unwire } from "../wiring/wiring.ts";
import { isAgreed, isBlind, needsYes, YES } from "./common.ts";

type FindMachine = (context: Context) => Machine;

export function findMachine({ cwd, env, now, log }: Context): Machine {
  return openMachine(fileURLToPath(import.meta.url), { cwd, env, now, log });
}

const INIT = {
  agent: list("only this agent, found or not: claude-code, codex, gemini, opencode, cursor, vscode", "NAME"),
  team: flag("prepare this repository for team memory instead (.claude/memory, merge driver)"),
  hooks: choice(
    HOOK_CHOICES,
    "how agents run hooks: through memdir's server where possible (server, the default), or as a process for each event (command)",
  ),
  "learn-with": text(
    "let background learning use this model: claude-code, codex, gemini-cli, opencode/PROVIDER/MODEL; off for none",
    "MODEL",
  ),
  "dry-run": flag("only show what would change"),
  yes: YES,
};

export function makeInit(find: FindMachine) {
  return verb({
    args: [],
    input: INIT,
    about: "Shows every change, asks first, and keeps a receipt so that uninstall can restore each file.",
    examples: ["init --dry-run"],
    writes: (input) => input["dry-run"] !== true,
    async run(memdir, input, context): Promise<Wired | Prepared> {
      const machine = find(context);
      return input.team
        ? prepare(openCheckout(memdir, machine), input, context)
        : wire(memdir, machine, input, context);
    },
    exitCode: (result) => ("problems" in result ? exitCodeFor(result.problems) : 0),
    say: (result, { call }) => ("problems" in result ? sayWired(result, call) : sayPrepared(result, call)),
  });
}

export const init = makeInit(findMachine);

type Wired = Awaited<ReturnType<typeof wire>>;

async function wire(memdir: Memdir, machine: Machine, input: Input<typeof INIT>, context: Context) {
  if (input["learn-with"]) checkLearner(input["learn-with"], machine);
  const wish = findWish(memdir, machine, input.hooks);
  const plans = planWiring(machine, chooseClients(machine, input.agent ?? []), wish);
  const names = CLIENTS.map(({ name }) => name).join(", ");
  if (plans.length === 0)
    context.show([`No agent was found on this machine; --agent NAME connects one anyway: ${names}`]);
  const done: Plan[] = [];
  for (const plan of plans) {
    context.show(describePlan(machine, plan));
    // Without a terminal all of it is shown, and then refused.
    if (plan.changes.length === 0 || isBlind(context, input)) continue;
    if (!(await isAgreed(context, input, `Connect ${plan.client.title}?`))) continue;
    try {
      await applyChanges(machine, plan.changes, input.hooks);
      done.push(plan);
    } catch (error) {
      plan.problem = diskError(error, "wire", plan.client.title);
    }
  }
  // Also where the files are in the chosen form already.
  if (input.yes || done.length > 0) await applyChanges(machine, [], input.hooks);
  const learner = await settleLearner(memdir, machine, input, context);
  const passing = done.length > 0 ? findPassing(machine.dist) : null;
  const changes = plans.flatMap(({ changes }) => changes);
  const wired = {
    changes: changes.map(({ client, file, kind, why }) => ({ client, file, kind, why })),
    applied: done.map(({ client }) => client.name),
    notes: [...done.flatMap(({ client }) => client.notes(machine)), ...(passing ? [passing] : [])],
    problems: plans.flatMap(({ client, problem }) => problemOf(client.name, problem)),
    ...(learner !== null && { learner }),
  };
  if (wired.changes.length === 0 || !isBlind(context, input)) return wired;
  context.show(warningsOf(wired.problems), wired);
  throw needsYes();
}

/** It spends what the user pays for: --yes alone does not say yes to it. Null when nothing was decided now. */
async function settleLearner(
  { config }: Memdir,
  machine: Machine,
  { "learn-with": said, "dry-run": isDry, yes }: Input<typeof INIT>,
  { ask }: Context,
): Promise<string | null> {
  if (isDry) return null;
  if (said) {
    setLearner(config, said);
    return said;
  }
  const found = yes || ask === null || isDecided(config) ? null : findLearner(machine);
  const answer = found && (await ask?.(questionFor(found, config)));
  // Left without an answer: asked again the next time.
  if (!found || typeof answer !== "boolean") return null;
  const chosen = answer ? found.name : "off";
  setLearner(config, chosen);
  return chosen;
}

/** What decides how hooks are wired now: what the user says or said before, the rules there are, and the settings. */
export function findWish({ directories, config }: Memdir, machine: Machine, said?: HookWish["hooks"]): HookWish {
  return {
    hooks: said ?? readReceipt(machine).hooks ?? "server",
    hasRules: hasRules(machine, directories),
    prefetches: config.hooks.prefetch || machine.env.MEMDIR_RECALL === "model",
  };
}

function sayWired({ applied, notes, problems, learner }: Wired, call: Reader["call"]): Said {
  const learns = learner === "off" ? "Background learning stays offline" : `Background learning asks ${learner}`;
  return [
    ...warningsOf(problems),
    ...applied.map((one) => `${CLIENTS.find(({ name }) => name === one)?.title ?? one} is connected`),
    ...notes.map((note) => `  ${note}`),
    ...(learner === undefined ? [] : [learns, dim(`learn.model in memdir.json; ${call("doctor --model")} tries it`)]),
    ...(applied.length > 0 ? [dim(`${call("doctor")} tests it; ${call("uninstall")} reverts it`)] : []),
    ...(applied.length > 0 ? [`Next: ${call("learn --since 30d")} proposes what your last sessions taught.`] : []),
  ];
}

function problemOf(client: string, problem: MemdirError | null) {
  return problem ? [{ client, code: problem.code, message: problem.message }] : [];
}

type Problems = ReturnType<typeof problemOf>;

function warningsOf(problems: Problems): Said {
  return problems.map(({ message }) => ({ warning: message }));
}

function exitCodeFor([first]: Problems): number {
  return first ? exitCodeOf(new MemdirError(first.code, first.message)) : 0;
}

function describePlan(machine: Machine, { client, changes, other, problem }: Plan): Said {
  if (problem) return [[bold(client.title), ": ", warn("left alone")]];
  const short = (path: string) => shorten(machine.home, path);
  const found = client.find(machine);
  const trace = found === null ? "not found here" : `found: ${short(found)}`;
  const state = changes.length > 0 ? "" : other === null ? ": connected already" : `: ${other} does it already`;
  return [
    [bold(client.title), " ", dim(`(${trace})`), state],
    ...changes.flatMap((change) => {
      const link = change.isLink ? `, a link to ${short(change.target)}` : "";
      return [`  ${change.kind} ${short(change.file)}${link}: ${change.why}`, { diff: partOf(change) }];
    }),
  ];
}

/** More than a diff shows around a change. */
const CONTEXT_LINES = 4;
/** Of a line that is shown in part. */
const CONTEXT_CHARS = 40;

/** What is around the change, without the secrets there; of a file that is one long line only the part that changes. */
function partOf({ before, after }: Change) {
  const lines = around(before?.split("\n") ?? [], after.split("\n"), CONTEXT_LINES);
  let [old, fresh] = [redactSecrets(lines.old.join("\n")), redactSecrets(lines.fresh.join("\n"))];
  if (!/\n./.test(old.trimEnd()) && !/\n./.test(fresh.trimEnd())) {
    const letters = around([...old], [...fresh], CONTEXT_CHARS);
    const [begin, end] = [letters.head > 0 ? "…" : "", letters.tail > 0 ? "…" : ""];
    [old, fresh] = [begin + letters.old.join("") + end, begin + letters.fresh.join("") + end];
  }
  return { before: before === null ? null : old, after: fresh };
}

/** Both without what they begin and end with, but for `context` items of it. */
function around(old: readonly string[], fresh: readonly string[], context: number) {
  const common = commonEnds(old, fresh);
  const [head, tail] = [Math.max(0, common.head - context), Math.max(0, common.tail - context)];
  return { head, tail, old: old.slice(head, old.length - tail), fresh: fresh.slice(head, fresh.length - tail) };
}

/** As people write it. */
function shorten(home: string, path: string): string {
  const isBelow = path.startsWith(home) && /^[\\/]/.test(path.slice(home.length));
  return isBelow ? `~${path.slice(home.length)}` : path;
}

const UNINSTALL = {
  agent: list("only this agent", "NAME"),
  team: flag("remove memdir from this repository's .gitattributes and git settings instead"),
  purge: flag(
    "also remove everything else that memdir keeps, except memories: undo history, waiting proposals, settings, caches",
  ),
  "dry-run": flag("only show what would change"),
  yes: YES,
};

export function makeUninstall(find: FindMachine) {
  return verb({
    args: [],
    input: UNINSTALL,
    examples: ["uninstall", "uninstall --purge --dry-run"],
    writes: (input) => input["dry-run"] !== true,
    async run(memdir, input, context): Promise<Removed> {
      if (input.purge && (input.team || (input.agent ?? []).length > 0)) {
        throw new MemdirError("usage", "--purge is for all of memdir; leave out --agent and --team");
      }
      const machine = find(context);
      const traces = input.purge ? findTraces(memdir, cacheFolder(machine.env)) : undefined;
      const remove = input.team
        ? (dryRun: boolean) => removeTeam(openCheckout(memdir, machine), { dryRun })
        : unwirerOf(machine, input.agent ?? [], traces);
      const planned = await remove(true);
      if (input["dry-run"]) return { ...planned, isPlanned: true };
      if (planned.changes.length + (traces?.length ?? 0) > 0 && !input.yes) {
        context.show(sayPlanned(planned), isBlind(context, input) ? jsonOf(planned) : undefined);
        if (!(await isAgreed(context, input, questionOf(input)))) return { ...planned, isDeclined: true };
      }
      const removed = await remove(false);
      if (!traces) return removed;
      // The receipt says how to undo the rest: everything stays until that is possible.
      if ("problems" in removed && removed.problems.length > 0) return { ...removed, purged: [] };
      await purge(memdir, traces);
      return removed;
    },
    json: jsonOf,
    exitCode: (result) => ("problems" in result ? exitCodeFor(result.problems) : 0),
    say(result): Said {
      if (result.isDeclined) return ["Nothing was changed"];
      if ("problems" in result) return result.isPlanned ? sayPlanned(result) : sayUnwired(result);
      if (result.changes.length === 0) return ["There is nothing of memdir's to remove from this repository"];
      if (result.isPlanned) return sayPlanned(result);
      return result.changes.map(({ what, why }) => `${what}: ${why}`);
    },
  });
}

export const uninstall = makeUninstall(findMachine);

type Removed = (Unwired | Pick<TeamSetup, "changes">) & { isDeclined?: true; isPlanned?: true };

function questionOf({ team, purge }: Input<typeof UNINSTALL>): string {
  if (team) return "Remove memdir from this repository?";
  return purge ? "Remove all of this? It cannot be undone" : "Disconnect these agents?";
}

function jsonOf(result: Removed) {
  if (!("problems" in result)) return { changes: result.changes };
  const { changes, problems, purged } = result;
  return {
    changes,
    problems,
    ...(purged && { purged: purged.map(({ path, what, bytes }) => ({ path, what, bytes })) }),
  };
}

type Unwired = Awaited<ReturnType<ReturnType<typeof unwirerOf>>>;

function unwirerOf(machine: Machine, agents: readonly string[], purged?: readonly Trace[]) {
  const chosen = agents.length === 0 ? [] : chooseClients(machine, agents);
  const clients = agents.length === 0 ? null : chosen.map(({ name }) => name);
  return async (dryRun: boolean) => {
    const removals = await unwire(machine, { clients, dryRun });
    return {
      changes: removals.flatMap(({ client, file, kind }) => (kind === "unchanged" ? [] : [{ client, file, kind }])),
      problems: removals.flatMap(({ client, problem }) => problemOf(client, problem)),
      home: machine.home,
      titles: chosen.map(({ title }) => title),
      memories: join(claudeFolder(machine), "projects"),
      ...(purged && { purged }),
    };
  };
}

function sayPlanned(planned: Removed): Said {
  if ("problems" in planned) return sayParts(planned, "will be");
  return planned.changes.map(({ what }) => `${what}: will be as it was before memdir`);
}

function sayParts({ changes, problems, home, titles, purged = [] }: Unwired, be: "will be" | "is"): Said {
  const short = (path: string) => shorten(home, path);
  const [was, partWas] = be === "is" ? ["was", "was"] : ["is", be];
  const none = titles.length === 0 ? "No agent is connected" : `Not connected: ${titles.join(", ")}`;
  const nothing = be === "is" ? `${none}, so there is nothing to undo` : "There is nothing to remove";
  const words = {
    restored: `${be} as it was before memdir`,
    removed: `${be} removed: it ${was} memdir's`,
    edited: `was changed since: only memdir's part ${partWas} removed`,
  };
  return [
    ...changes.map(({ file, kind }) => `${short(file)} ${words[kind]}`),
    ...purged.map(({ path, what, bytes }) => `${short(path)} (${what}; ${Math.ceil(bytes / 1024)} KB) ${be} removed`),
    ...warningsOf(problems),
    ...(changes.length + purged.length + problems.length === 0 ? [nothing] : []),
  ];
}

function sayUnwired(removed: Unwired): Said {
  const { changes, problems, home, memories, purged } = removed;
  return [
    ...sayParts(removed, "is"),
    `Your memories stay where they are: ${shorten(home, memories)}/*/memory and where your settings say`,
    ...(purged && problems.length === 0
      ? [
          "memdir may have left a cache, which git ignores, in repositories where it only read memories and Claude Code " +
            "never ran. To list such caches: find ~ -type d -name .memdir -path '*/.claude/*'",
          `${changes.length > 0 ? "Restart agents that are running now. " : ""}To remove the program: npm uninstall -g memdir`,
        ]
      : []),
    ...(purged && problems.length > 0 ? [{ warning: "nothing else was removed: solve this, and run it again" }] : []),
  ];
}

/** A repository that is, or can be, prepared for team memory. */
export function openCheckout(memdir: Memdir, { env, node, dist }: Machine): TeamCheckout {
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

function sayPrepared({ changes, warnings, applied }: Prepared, call: Reader["call"]): Said {
  const said = warnings.map((warning) => ({ warning }));
  if (!applied) return said;
  // Whoever comes second has nothing to commit.
  if (changes.every(({ kind }) => kind === "driver")) return [...said, "Team memory is ready in this clone"];
  return [
    ...said,
    "Team memory is ready; commit .gitattributes and .claude/memory",
    dim(`Each colleague runs ${call("init --team")} once in their clone`),
  ];
}
