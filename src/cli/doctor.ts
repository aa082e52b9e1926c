/** `memdir doctor`: the directory, the installation, and every wired agent tried for real. */

import { tmpdir } from "node:os";
import type { Check } from "../memory/doctor.ts";
import type { Call, Run } from "./command.ts";
import { sanitiseLine } from "./console/sanitise.ts";

export const run: Run = (call) => doctor(call, proveMachine);

/** `prove` tries the wiring. */
export async function doctor(call: Call, prove: (call: Call) => Promise<Check[]>): Promise<number> {
  const memdir = await call.open();
  const checks = [...(await memdir.doctor()), ...(await prove(call))];
  const failed = checks.filter((check) => !check.ok);
  if (call.json) call.terminal.json({ checks });
  else {
    const { green, yellow, dim } = call.terminal.color;
    for (const { name, ok, detail, fix } of checks) {
      call.terminal.print(`${ok ? green("ok ") : yellow("!! ")} ${name}: ${sanitiseLine(detail)}`);
      if (fix) call.terminal.print(dim(`    ${fix}`));
    }
    call.terminal.print(failed.length === 0 ? "All is well." : `${failed.length} to look at`);
  }
  return failed.length === 0 ? 0 : 1;
}

/** Loaded here: most of it is only needed where an agent is wired. */
async function proveMachine(call: Call): Promise<Check[]> {
  const [{ openWorld }, { proveWiring }] = await Promise.all([import("./init.ts"), import("../wiring/proof.ts")]);
  try {
    return await proveWiring(openWorld(call), { temporary: tmpdir() });
  } catch (error) {
    return [{ name: "wiring", ok: false, detail: (error as Error).message, fix: "reinstall memdir" }];
  }
}
