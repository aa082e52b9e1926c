/** Promotion and demotion as one call, and a place to stop between their two steps. */

import type { Store } from "../../src/store/store.ts";
import { carryOut, planDemotion, planPromotion } from "../../src/team/promote.ts";

export async function promote(from: Store, team: Store, name: string, onWritten?: () => void) {
  return carryOut(await planPromotion([from], team, name), onWritten);
}

export async function demote(team: Store, to: Store, name: string, onWritten?: () => void) {
  return carryOut(await planDemotion([team], to, name), onWritten);
}
