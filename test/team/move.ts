/** Promotion and demotion as one call, and a place to stop between their two steps. */

import type { Directory } from "../../src/store/directory.ts";
import { carryOut, planDemotion, planPromotion } from "../../src/team/promote.ts";

export async function promote(from: Directory, team: Directory, name: string, onWritten?: () => void) {
  return carryOut(await planPromotion([from], team, name), onWritten);
}

export async function demote(team: Directory, to: Directory, name: string, onWritten?: () => void) {
  return carryOut(await planDemotion([team], to, name), onWritten);
}
