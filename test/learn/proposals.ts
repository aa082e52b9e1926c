/** A proposal with what a test does not care about filled in. */

import type { Proposal } from "../../src/learn/proposal.ts";
import { START } from "../world.ts";

export function propose(more: Partial<Proposal> = {}): Proposal {
  return {
    id: "whatever",
    at: START,
    action: "save",
    file: null,
    type: "project",
    name: "retries",
    description: "How often",
    body: "Jobs are retried three times.",
    when: ["a job fails"],
    trust: "inferred",
    session: "s1",
    message: "m1",
    reason: "the user mentioned a decision",
    from: "extraction",
    ...more,
  };
}
