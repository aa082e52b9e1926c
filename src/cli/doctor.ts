/** `memdir doctor`: the directory, the installation, and every wired agent tried for real; with --fix it mends what is safe to mend. */

import { tmpdir } from "node:os";
import { processEnv } from "../config.ts";
import type { Memdir } from "../memdir.ts";
import { findAbandoned } from "../project/older.ts";
import type { Check, Mend } from "../verbs/doctor.ts";
import type { Call, Run } from "./command.ts";
import { sanitiseLine } from "./console/sanitise.ts";

export const run: Run = (call) => doctor(call, proveMachine);

interface Mended {
  name: string;
  ok: boolean;
  detail: string;
}

/** `prove` tries what lies outside the directory: hooks, wiring, the repository's team memory. */
export async function doctor(call: Call, prove: (call: Call, memdir: Memdir) => Promise<Check[]>): Promise<number> {
  const memdir = await call.open();
  const look = async () => [...(await memdir.doctor()), ...examineAbandoned(memdir), ...(await prove(call, memdir))];
  let checks = await look();
  const mended = call.flag("fix") ? await mendAll(checks) : [];
  if (mended.length > 0) checks = await look();
  const failed = checks.filter((check) => !check.ok);
  if (call.json) call.terminal.json(call.flag("fix") ? { checks, mended } : { checks });
  else {
    show(call, checks, mended);
    const count = mended.filter(({ ok }) => ok).length;
    const done = count > 0 ? `${count} mended. ` : "";
    call.terminal.print(failed.length === 0 ? `${done}All is well.` : `${done}${failed.length} to look at`);
  }
  return failed.length === 0 ? 0 : 1;
}

/** One after the other, each once, however many checks ask for it. */
async function mendAll(checks: readonly Check[]): Promise<Mended[]> {
  const mends = new Map<Mend, string>();
  for (const { ok, mend, name } of checks) if (!ok && mend && !mends.has(mend)) mends.set(mend, name);
  const mended: Mended[] = [];
  for (const [mend, name] of mends) {
    try {
      mended.push({ name, ok: true, detail: await mend() });
    } catch (error) {
      mended.push({ name, ok: false, detail: (error as Error).message });
    }
  }
  return mended;
}

function show({ terminal }: Call, checks: readonly Check[], mended: readonly Mended[]): void {
  const { green, yellow, dim } = terminal.color;
  for (const { name, ok, detail } of mended) {
    const what = ok ? `${green("mended")} ${name}` : `${yellow("not mended")} ${name}`;
    terminal.print(`${what}: ${sanitiseLine(detail)}`);
  }
  for (const { name, ok, detail, fix } of checks) {
    terminal.print(`${ok ? green("ok ") : yellow("!! ")} ${name}: ${sanitiseLine(detail)}`);
    if (fix) terminal.print(dim(`    ${sanitiseLine(fix)}`));
  }
}

const MAX_SHOWN = 3;

/** No fault of this project: for whoever wonders where those memories went. */
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
  const [{ openWorld }, { proveWiring }, { examineFaults }, { openTeamCheckout }, { checkTeam }] = await Promise.all([
    import("./init.ts"),
    import("../wiring/proof.ts"),
    import("../hooks/faults.ts"),
    import("./init-team.ts"),
    import("../team/repository-health.ts"),
  ]);
  const world = openWorld(call);
  const faults = examineFaults(processEnv(), world.now());
  const team = await checkTeam(openTeamCheckout(memdir, world));
  try {
    return [faults, ...team, ...(await proveWiring(world, { temporary: tmpdir() }))];
  } catch (error) {
    return [faults, ...team, { name: "wiring", ok: false, detail: (error as Error).message, fix: "reinstall memdir" }];
  }
}
