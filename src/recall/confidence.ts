/**
 * How likely it is that a memory helps with a prompt: a small network over what ranking found, trained on written stores and prompts
 * (`training/`). One scale from 0 to 1 for every adapter.
 */

import { DIMENSIONS } from "../store/store.ts";
import { CONFIDENCE, PROMPT_HEAD } from "./confidence-weights.ts";
import type { Method } from "./score.ts";

/** What ranking found out about a memory, the prompt and the store. */
export interface Signs {
  /** Similarity of the prompt to the memory's text and to its best cue; null where there is none. */
  text: number | null;
  cue: number | null;
  /** Of its second best cue, or its only one, and the mean of all of them. */
  secondCue: number | null;
  meanCue: number | null;
  /** The same for the better of both, of the best other memory. */
  bestOther: number;
  /** Of the similarities of all memories. */
  mean: number;
  deviation: number;
  /** How much of the prompt's weight the memory's words cover, 0 to 1, and those of the best other memory. */
  coverage: number;
  coverageOther: number;
  /** The same of rare words only. */
  rare: number;
  /** Whether the prompt sounds as if a memory could help, whatever there is. */
  need: number;
  /** Memories in the store, terms of the prompt, length of the memory in terms. */
  count: number;
  promptTerms: number;
  length: number;
  /** The share of letters beyond ASCII in the prompt. */
  foreign: number;
}

/** In the order of the weights; all about as large as 1. */
export function featuresOf(signs: Signs): number[] {
  const { text, cue, secondCue, meanCue, bestOther, mean, deviation, coverage, coverageOther, rare } = signs;
  const best = Math.max(text ?? cue ?? 0, cue ?? text ?? 0);
  const unusual = deviation > 0 ? (best - mean) / deviation : 0;
  return [
    (text ?? cue ?? 0) * 2,
    (cue ?? text ?? 0) * 2,
    cue === null ? 0 : 1,
    best * 2,
    clamp(unusual / 3, 2),
    clamp((best - bestOther) * 5, 2),
    coverage * 2,
    clamp((coverage - coverageOther) * 4, 2),
    rare,
    best * coverage * 4,
    best * rare * 2,
    clamp(signs.need / 3, 2),
    Math.log(signs.count + 1) / 5,
    Math.log(signs.promptTerms + 1) / 3,
    Math.log(signs.length + 1) / 5,
    Math.min(1, signs.foreign * 10),
    (secondCue ?? text ?? 0) * 2,
    (meanCue ?? text ?? 0) * 2,
  ];
}

/** 0 to 1. `hasMeaning`: without a prompt's vector words have to do, and have weights of their own. */
export function confidenceOf(features: readonly number[], hasMeaning: boolean): number {
  const { hidden, bias, out, last } = hasMeaning ? CONFIDENCE.hybrid : CONFIDENCE.lexical;
  let sum = last;
  for (let unit = 0; unit < out.length; unit++) {
    let input = bias[unit] as number;
    features.forEach((value, i) => {
      input += value * (hidden[unit]?.[i] ?? 0);
    });
    sum += (out[unit] as number) * Math.tanh(input);
  }
  return 1 / (1 + Math.exp(-sum));
}

/** How much more the words count for the order than for the confidence: long conversations are told apart by their words. */
const COVERAGE_IN_ORDER = 1;

/** What the order goes by, 0 to 1: the confidence, lifted by the words that the memory shares with the prompt. */
export function standingOf(confidence: number, coverage: number): number {
  const lifted = confidence * Math.exp(COVERAGE_IN_ORDER * coverage);
  return lifted / (lifted + 1 - confidence);
}

/** Whether a prompt needs a memory at all, by its vector alone; 0 for maybe. */
export function needOf(vector: Float32Array | null): number {
  if (!vector || vector.length !== DIMENSIONS) return 0;
  return vector.reduce((sum, value, i) => sum + value * (PROMPT_HEAD.weights[i] ?? 0), PROMPT_HEAD.bias);
}

/** The best one must be this likely to help: on stores that the network had not seen, four of five prompts that need nothing get nothing. */
const FLOORS = { hybrid: 0.25, lexical: 0.5 } as const;
/** What comes with it must be about as likely: one memory is the usual answer. */
const SHARE_OF_BEST = 0.7;
/** Below this it is marked: it helps less often than not. */
const EVEN = 0.5;

interface Confident {
  confidence: number;
}

/** Those to show, in their order. */
export function sureEnough<R extends Confident>(ranked: readonly R[], method: Method): R[] {
  const threshold = thresholdOf(ranked, method);
  return ranked.filter(({ confidence }) => confidence >= threshold);
}

/** What each of these must reach to be shown. */
export function thresholdOf(ranked: readonly Confident[], method: Method): number {
  const best = Math.max(...ranked.map(({ confidence }) => confidence));
  return Math.max(FLOORS[method === "lexical" ? "lexical" : "hybrid"], best * SHARE_OF_BEST);
}

export function isLow(confidence: number): boolean {
  return confidence < EVEN;
}

function clamp(value: number, most: number): number {
  return Math.max(-most, Math.min(most, value));
}
