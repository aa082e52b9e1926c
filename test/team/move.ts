/** Promotion and demotion as one call, and a place to stop between their two steps. */

import { findMemory } from "../../src/memory/memories.ts";
import type { Store } from "../../src/store/store.ts";
import { carryOut, planDemotion, planPromotion } from "../../src/team/promote.ts";

export async function promote(from: Store, team: Store, name: string, onWritten?: () => void) {
  return carryOut(planPromotion(await findMemory([from], name), team), onWritten);
}

export async function demote(team: Store, to: Store, name: string, onWritten?: () => void) {
  return carryOut(planDemotion(await findMemory([team], name), to), onWritten);
}
