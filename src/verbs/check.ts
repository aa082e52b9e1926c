/** `check`: installation, form, claims and health in one report with one exit code. */

import { bold, count, countMemories, type Line, verb } from "../verb.ts";
import { examine, sayChecks } from "./doctor.ts";
import { type MeasuredStore, measureAll, sayScore } from "./health.ts";
import { lint, verify } from "./verify.ts";

/** Without "nothing to fix", which is about memories alone: other parts may have said otherwise. */
function sayHealth(health: MeasuredStore): Line[] {
  return Object.values(health.counts).some((found) => found > 0) ? sayScore(health).slice(1) : [];
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
  exitCode: ({ install, form, claims }) =>
    install.checks.every(({ ok }) => ok) && form.problems.length === 0 && claims.problems.length === 0 ? 0 : 1,
  say({ install, form, claims, health }, reader) {
    const failed = install.checks.filter(({ ok }) => !ok);
    const part = (title: string, summary: string, lines: readonly Line[]): Line[] => [
      [bold(title), `: ${summary}`],
      ...lines,
    ];
    const known = { ...reader, input: {} };
    return [
      ...part("Installation", failed.length === 0 ? "all is well" : `${failed.length} to look at`, sayChecks(failed)),
      ...part(
        "Form",
        form.problems.length === 0 ? "nothing to fix" : `${form.problems.length} to fix`,
        lint.say(form, known).slice(0, -1),
      ),
      ...part(
        "Claims",
        `${countMemories(claims.checked)} checked, ${count(claims.problems.length, "problem")}`,
        verify.say(claims, known).slice(0, claims.problems.length),
      ),
      ...part("Health", health.memories > 0 ? `${health.score} of 100` : "no score", sayHealth(health)),
    ];
  },
});
