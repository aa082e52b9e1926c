/** What `memdir doctor` says about the hooks, which say nothing themselves where they fail. */

import type { Env } from "../config.ts";
import type { Check } from "../verbs/doctor.ts";
import { readFaults } from "./faults.ts";

/** What is older has been mended, or would have come again. */
const RECENT_MS = 7 * 86_400_000;
const MAX_SHOWN = 3;

export function examineFaults(env: Env, now: Date): Check {
  const recent = readFaults(env).filter(({ at }) => now.getTime() - Date.parse(at) < RECENT_MS);
  if (recent.length === 0) return { name: "hooks", ok: true, detail: "none failed in the last seven days", fix: null };
  const last = recent.slice(-MAX_SHOWN).map(({ at, event, message }) => {
    return `${at.slice(0, 16).replace("T", " ")} ${event || "no event"}: ${message}`;
  });
  const count = recent.length === 1 ? "one failed" : `${recent.length} failed`;
  return {
    name: "hooks",
    ok: false,
    detail: `${count} in the last seven days, the last: ${last.reverse().join("; ")}`,
    fix: "mend what the message names; if it is a file of memdir's own, install memdir again",
  };
}
