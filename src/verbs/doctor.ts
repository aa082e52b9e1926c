/** `doctor`: the installation, the store, and every wired agent, each tried for real; with --fix what is safe to fix is fixed. */

import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import type { Memdir } from "../memdir.ts";
import type { Check, Mend } from "../memory/doctor.ts";
import { countTokens } from "../model/cost.ts";
import { findAbandoned } from "../project/owner.ts";
import {
  bold,
  type Context,
  count,
  countMemories,
  dim,
  flag,
  good,
  type Line,
  type Reader,
  verb,
  warn,
} from "../verb.ts";
import { type MeasuredStore, measureAll, sayScore, scoreOrNull } from "./health.ts";
import { examineRules } from "./trust.ts";
import { lint, sayProblems, verify } from "./verify.ts";

/** Tries what is outside the store: hooks, wiring, the repository's team memory. */
export type Prove = (memdir: Memdir, context: Context) => Promise<Check[]>;

export const doctor = makeDoctor(proveMachine);

export function makeDoctor(prove: Prove) {
  return verb({
    args: [],
    input: {
      fix: flag("fix what is safe to fix: stale locks, broken caches, file modes, the index"),
      model: flag("send one short question to the model for background learning"),
    },
    about: "Checks the installation and the store, and tests every connected agent with a real round trip.",
    examples: ["doctor", "doctor --fix", "doctor --model"],
    hasWarnings: true,
    // A question to the model costs money and is entered in the ledger.
    writes: ({ fix, model }) => fix === true || model === true,
    async run(memdir, { fix = false, model = false }, context) {
      let checks = await examine(memdir, context, prove, model && !fix);
      const mended = fix ? await fixAll(checks) : [];
      // The model is asked once.
      if (mended.length > 0 || (fix && model)) checks = await examine(memdir, context, prove, model);
      return { checks, ...(fix && { mended }) };
    },
    exitCode: ({ checks }) => (checks.every(({ ok }) => ok) ? 0 : 1),
    say({ checks, mended = [] }) {
      const failed = checks.filter(({ ok }) => !ok).length;
      const fixed = mended.filter(({ ok }) => ok).length;
      return [
        ...mended.map(({ name, ok, detail }): Line => [ok ? good("fixed") : warn("not fixed"), ` ${name}: ${detail}`]),
        ...sayChecks(checks),
        `${fixed > 0 ? `${fixed} fixed. ` : ""}${failed === 0 ? "All is well." : count(failed, "problem")}`,
      ];
    },
  });
}

function sayChecks(checks: readonly Check[]): Line[] {
  return checks.flatMap(({ name, ok, detail, fix }): Line[] => [
    [ok ? good("ok ") : warn("!! "), ` ${name}: ${detail}`],
    ...(fix ? [dim(`    ${fix}`)] : []),
  ]);
}

/** With `isTried` the model for learning is asked a question. */
async function examine(memdir: Memdir, context: Context, prove = proveMachine, isTried = false): Promise<Check[]> {
  return [
    ...(await memdir.doctor()),
    await examineLearner(memdir, context, isTried),
    ...examineRules(memdir),
    ...examineAbandoned(memdir),
    ...(await prove(memdir, context)),
  ];
}

/** With `isTried` one question is asked, whatever was said today: whoever logged in again wants to know. */
async function examineLearner(memdir: Memdir, { env, signal }: Context, isTried: boolean): Promise<Check> {
  const found = (ok: boolean, detail: string, fix: string | null = null) => ({ name: "learning", ok, detail, fix });
  const wanted = memdir.config.learn.model;
  if (wanted === null) return found(true, "no model is configured (learn.model or MEMDIR_MODEL): it learns offline");
  const [{ openModel }, { openLearning }] = await Promise.all([import("../open-agent.ts"), import("../open-learn.ts")]);
  const model = openModel(env, wanted);
  if ("problem" in model) return found(false, "its model cannot be used", model.problem);
  const known = `${model.provider}/${model.name}`;
  const { ledger, directory } = openLearning(memdir);
  if (!isTried) {
    const ended = ledger.ended(model.provider);
    if (ended !== null) return found(false, `${known} is asked nothing more today`, ended);
    return found(true, `asks ${known}; doctor --model tries it`);
  }
  const system = [{ text: "You check a connection. Answer with the one word that is asked for." }];
  const content = [{ type: "text" as const, text: "Answer with the word: ready" }];
  const messages = [{ role: "user" as const, content }];
  const answer = await model.ask({ system, messages, maxTokens: MAX_TRIAL_TOKENS, signal });
  if (!answer.ok) return found(false, `${known} does not answer`, answer.error.message);
  const { usage } = answer;
  // A store is made by the first memory, not by a question about it.
  if (existsSync(directory.path)) {
    ledger.spend({ kind: "check", session: null, model: known, usage, produced: "an answer" });
  }
  return found(true, `${known} answers, for ${countTokens(usage)} tokens`);
}

/** One after the other, each once, however many checks ask for it. */
async function fixAll(checks: readonly Check[]) {
  const mends = new Map<Mend, string>();
  for (const { ok, mend, name } of checks) if (!ok && mend && !mends.has(mend)) mends.set(mend, name);
  const mended: Pick<Check, "name" | "ok" | "detail">[] = [];
  for (const [mend, name] of mends) {
    const failed = (error: Error) => ({ ok: false, detail: error.message });
    mended.push({ name, ...(await (async () => ({ ok: true, detail: await mend() }))().catch(failed)) });
  }
  return mended;
}

const MAX_SHOWN = 3;
/** A word, and what a model thinks before it. */
const MAX_TRIAL_TOKENS = 1_024;

/** Not a problem of this project: for people who wonder where those memories went. */
function examineAbandoned({ config, location }: Memdir): Check[] {
  const found = findAbandoned(config.claudeDir, location.dir);
  if (found.length === 0) return [];
  const shown = found
    .slice(0, MAX_SHOWN)
    .map(({ root, memories, dir }) => `${root} (${count(memories, "memory", "memories")} in ${dir})`);
  const more = found.length > MAX_SHOWN ? ` and ${found.length - MAX_SHOWN} more` : "";
  const detail = `memories of projects that are gone: ${shown.join(", ")}${more}; \`memdir adopt DIR\` takes one over`;
  return [{ name: "abandoned", ok: true, detail, fix: null }];
}

/** Loaded here: most of it is only needed where an agent is wired. */
async function proveMachine(memdir: Memdir, context: Context): Promise<Check[]> {
  const [{ proveWiring }, { examineFaults }, { checkTeam }, { findMachine, findWish, openCheckout }] =
    await Promise.all([
      import("../wiring/proof.ts"),
      import("../hooks/faults.ts"),
      import("../team/repository.ts"),
      import("./init.ts"),
    ]);
  const machine = findMachine(context);
  const wish = findWish(memdir, machine);
  const wiring = await proveWiring(machine, { temporary: tmpdir(), wish }).catch((error: Error): Check[] => {
    return [{ name: "wiring", ok: false, detail: error.message, fix: "reinstall memdir" }];
  });
  return [examineFaults(context.env, context.now()), ...(await checkTeam(openCheckout(memdir, machine))), ...wiring];
}

// --- `check`: installation, form, claims and health in one report with one exit code.

/** Without "nothing to fix", which is about memories alone: other parts may have said otherwise. */
function sayHealth(health: MeasuredStore, isOne: boolean): Line[] {
  return Object.values(health.counts).some((found) => found > 0) ? sayScore(health).slice(isOne ? 1 : 0) : [];
}

/** An existing store may have a hundred remarks of one kind: some of each show what it is about. */
const SHOWN_OF_KIND = 3;

/** The lines of the first problems of each rule, and how many more there are. */
function fewOfEach(
  problems: readonly { rule: string }[],
  lines: readonly Line[],
  { call }: Pick<Reader, "call">,
): Line[] {
  const counts = new Map<string, number>();
  const shown = lines.filter((_, i) => {
    const { rule } = problems[i] as { rule: string };
    counts.set(rule, (counts.get(rule) ?? 0) + 1);
    return (counts.get(rule) ?? 0) <= SHOWN_OF_KIND;
  });
  const folded = [...counts].flatMap(([rule, n]) => (n > SHOWN_OF_KIND ? [`${n - SHOWN_OF_KIND} of ${rule}`] : []));
  const more = lines.length - shown.length;
  return more === 0 ? shown : [...shown, dim(`and ${more} more (${folded.join(", ")}): ${call("lint")} lists them`)];
}

export const check = verb({
  args: [],
  input: {},
  about:
    "Runs doctor (installation), lint (form), verify (claims) and health. Changes nothing. " +
    "Exits with code 1 if any of the first three finds a problem.",
  examples: ["check"],
  hasWarnings: true,
  async run(memdir, _, context) {
    const install = { checks: await examine(memdir, context) };
    const form = await lint.run(memdir, {}, context);
    const claims = await verify.run(memdir, {}, context);
    const health = await measureAll(memdir, {}, context);
    return { install, form, claims, health };
  },
  json: ({ health, ...rest }) => ({ ...rest, health: scoreOrNull(health) }),
  exitCode: ({ install, form, claims }) =>
    install.checks.every(({ ok }) => ok) && form.problems.length === 0 && claims.problems.length === 0 ? 0 : 1,
  say({ install, form, claims, health }, reader) {
    const failed = install.checks.filter(({ ok }) => !ok);
    const part = (title: string, summary: string, lines: readonly Line[]): Line[] => [
      [bold(title), `: ${summary}`],
      ...lines,
    ];
    const known = { ...reader, input: {} };
    const stores = [health, ...health.others];
    const isOne = stores.length === 1;
    const scores = stores.map(({ scope, score }) => `${isOne ? "" : `${scope} `}${score} of 100`);
    return [
      ...part("Installation", failed.length === 0 ? "all is well" : count(failed.length, "problem"), sayChecks(failed)),
      ...part(
        "Form",
        form.problems.length === 0 ? "nothing to fix" : `${form.problems.length} to fix`,
        fewOfEach(form.problems, lint.say(form, known).slice(0, -1), reader),
      ),
      ...part(
        "Claims",
        `${countMemories(claims.checked)} checked, ${count(claims.problems.length, "problem")}`,
        sayProblems(claims.problems),
      ),
      ...part(
        "Health",
        health.memories > 0 ? scores.join(", ") : "no score",
        stores.flatMap((store) => sayHealth(store, isOne)),
      ),
    ];
  },
});
