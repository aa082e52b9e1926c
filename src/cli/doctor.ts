/** `memdir doctor`: the directory, the installation, and every wired agent tried for real; with --fix it fixes what is safe to fix. */

import { tmpdir } from "node:os";
import type { Memdir } from "../memdir.ts";
import { findAbandoned } from "../project/older.ts";
import { sanitiseLine } from "../text/sanitise.ts";
import type { Check, Mend } from "../verbs/doctor.ts";
import { answer, type Call, type Run } from "./command.ts";

export const doctor: Run = (call) => examine(call, proveMachine);

interface Fixed {
  name: string;
  ok: boolean;
  detail: string;
}

/** `prove` tries what is outside the directory: hooks, wiring, the repository's team memory. */
export async function examine(call: Call, prove: (call: Call, memdir: Memdir) => Promise<Check[]>): Promise<number> {
  const memdir = await call.open();
  const look = async () => [...(await memdir.doctor()), ...examineAbandoned(memdir), ...(await prove(call, memdir))];
  let checks = await look();
  const mended = call.flag("fix") ? await fixAll(checks) : [];
  if (mended.length > 0) checks = await look();
  const failed = checks.filter((check) => !check.ok).length;
  const fixed = mended.filter(({ ok }) => ok).length;
  const say = () => [
    ...describe(call, checks, mended),
    `${fixed > 0 ? `${fixed} fixed. ` : ""}${failed === 0 ? "All is well." : `${failed} to look at`}`,
  ];
  return answer(call, call.flag("fix") ? { checks, mended } : { checks }, say, failed === 0 ? 0 : 1);
}

/** One after the other, each once, however many checks ask for it. */
async function fixAll(checks: readonly Check[]): Promise<Fixed[]> {
  const mends = new Map<Mend, string>();
  for (const { ok, mend, name } of checks) if (!ok && mend && !mends.has(mend)) mends.set(mend, name);
  const mended: Fixed[] = [];
  for (const [mend, name] of mends) {
    try {
      mended.push({ name, ok: true, detail: await mend() });
    } catch (error) {
      mended.push({ name, ok: false, detail: (error as Error).message });
    }
  }
  return mended;
}

function describe({ terminal }: Call, checks: readonly Check[], mended: readonly Fixed[]): string[] {
  const { green, yellow, dim } = terminal.color;
  return [
    ...mended.map(({ name, ok, detail }) => {
      const what = ok ? `${green("fixed")} ${name}` : `${yellow("not fixed")} ${name}`;
      return `${what}: ${sanitiseLine(detail)}`;
    }),
    ...checks.flatMap(({ name, ok, detail, fix }) => [
      `${ok ? green("ok ") : yellow("!! ")} ${name}: ${sanitiseLine(detail)}`,
      ...(fix ? [dim(`    ${sanitiseLine(fix)}`)] : []),
    ]),
  ];
}

const MAX_SHOWN = 3;

/** No problem of this project: for whoever wonders where those memories went. */
function examineAbandoned({ config, location }: Memdir): Check[] {
  const found = findAbandoned(config.claudeDir, location.dir);
  if (found.length === 0) return [];
  const shown = found.slice(0, MAX_SHOWN).map(({ root, memories, dir }) => `${root} (${memories} memories in ${dir})`);
  const more = found.length > MAX_SHOWN ? ` and ${found.length - MAX_SHOWN} more` : "";
  const detail = `memories of projects that are gone: ${shown.join(", ")}${more}; \`memdir adopt DIR\` takes one over`;
  return [{ name: "abandoned", ok: true, detail, fix: null }];
}

/** Loaded here: most of it is only needed where an agent is wired. */
async function proveMachine(call: Call, memdir: Memdir): Promise<Check[]> {
  const [{ findMachine, openRepository }, { proveWiring }, { examineFaults }, { checkTeam }] = await Promise.all([
    import("./init.ts"),
    import("../wiring/proof.ts"),
    import("../hooks/faults.ts"),
    import("../team/repository-health.ts"),
  ]);
  const machine = findMachine(call);
  const faults = examineFaults(call.env, call.now());
  const team = await checkTeam(openRepository(memdir, machine));
  try {
    return [faults, ...team, ...(await proveWiring(machine, { temporary: tmpdir() }))];
  } catch (error) {
    return [faults, ...team, { name: "wiring", ok: false, detail: (error as Error).message, fix: "reinstall memdir" }];
  }
}
