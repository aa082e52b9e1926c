/** Whether a sentence is worth keeping and as what: a network over what said-features.ts sees of it; trained by training/extraction. */

import type { MemoryType } from "../store/store.ts";
import { lazily } from "../text/lazy.ts";
import { DENSE, type Embed, featuresOf, type Place } from "./said-features.ts";
import { CLASSIFIER } from "./said-weights.ts";

export type Kind = (typeof KINDS)[number];

export interface Judged {
  /** How likely it is worth keeping, 0 to 1. */
  keep: number;
  kind: Kind;
  /** How likely it is of that kind if it is worth keeping. */
  share: number;
}

const KINDS = ["correction", "confirmation", "preference", "decision", "pointer", "person"] as const;

export const TYPE_OF: Readonly<Record<Kind, MemoryType>> = {
  correction: "feedback",
  confirmation: "feedback",
  preference: "feedback",
  decision: "project",
  pointer: "reference",
  person: "user",
};

/** From `UNSURE` on it is shown to the user in the inbox, from `SURE` on it is kept. */
export const { unsure: UNSURE, sure: SURE } = CLASSIFIER;

const weights = lazily(() => ({ hidden: unpack(CLASSIFIER.hidden), out: unpack(CLASSIFIER.out) }));

/** One byte a weight, each row with a scale of its own. */
function unpack({ scales, bytes }: { scales: readonly number[]; bytes: string }): Float32Array[] {
  const all = Buffer.from(bytes, "base64");
  const width = all.length / scales.length;
  return scales.map((scale, row) =>
    Float32Array.from({ length: width }, (_, i) => all.readInt8(row * width + i) * scale),
  );
}

export function judge(place: Place, embed: Embed): Judged {
  const features = featuresOf(place, embed);
  const { hidden, out } = weights();
  // The last weight of each row is added.
  const inner = hidden.map((row) => Math.tanh(features.reduce((sum, x, i) => sum + x * row[i]!, row[DENSE]!)));
  const scores = out.map((row) => inner.reduce((sum, x, i) => sum + x * row[i]!, row[inner.length]!));
  const most = Math.max(...scores);
  const [skip = 0, ...kinds] = scores.map((score) => Math.exp(score - most));
  const kept = kinds.reduce((sum, x) => sum + x, 0);
  const best = Math.max(...kinds);
  return { keep: kept / (skip + kept), kind: KINDS[kinds.indexOf(best)]!, share: best / kept };
}
