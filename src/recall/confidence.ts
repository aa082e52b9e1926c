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

/**
 * The network learnt from short memories. A long text without cues touches on more than it is about, and prompts that need nothing came
 * nearer to those of real stores: what it gave 0.22 counts as 0.17. In the order of `featuresOf`.
 */
const [CUE_AT, LENGTH_AT] = [2, 14];
const LONG = Math.log(120) / 5;
const LESS_FOR_LONG = 0.32;

/** 0 to 1. `hasMeaning`: without a prompt's vector words have to do, and have weights of their own. */
export function confidenceOf(features: readonly number[], hasMeaning: boolean): number {
  const { hidden, bias, out, last } = hasMeaning ? CONFIDENCE.hybrid : CONFIDENCE.lexical;
  const isLong = hasMeaning && features[CUE_AT] === 0 && (features[LENGTH_AT] as number) > LONG;
  let sum = isLong ? last - LESS_FOR_LONG : last;
  // Plain loops: a hundred finalists are judged in a process that may have just started.
  for (let unit = 0; unit < out.length; unit++) {
    const weights = hidden[unit] as readonly number[];
    let input = bias[unit] as number;
    for (let i = 0; i < weights.length; i++) input += (features[i] as number) * (weights[i] as number);
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

/** The best one must be this likely to help: on average over written sets, at least four of five prompts that need nothing get nothing. */
const FLOORS = { hybrid: 0.22, lexical: 0.5 } as const;
/** What comes with it must be about as likely: one memory is the usual answer. */
const SHARE_OF_BEST = 0.7;
/** Without cues what comes second is right in one case of four, so it must be nearly as likely. */
const SHARE_WITHOUT_CUES = 0.85;
/** Below this it is marked: it helps less often than not. */
export const EVEN = 0.5;

interface Confident {
  confidence: number;
  hasCues: boolean;
}

/** Those to show, in their order. What only words speak for must be as likely as where there is no meaning at all. */
export function sureEnough<R extends Confident & { isByWords: boolean }>(ranked: readonly R[], method: Method): R[] {
  const sure = ranked.filter(({ confidence, isByWords }) => !isByWords || confidence >= FLOORS.lexical);
  const threshold = thresholdOf(sure, method);
  return sure.filter(({ confidence }) => confidence >= threshold);
}

/** What each of these must reach to be shown. */
export function thresholdOf(ranked: readonly Confident[], method: Method): number {
  const best = Math.max(...ranked.map(({ confidence }) => confidence));
  if (method === "lexical") return Math.max(FLOORS.lexical, best * SHARE_OF_BEST);
  const hasCues = ranked.find(({ confidence }) => confidence === best)?.hasCues;
  return Math.max(FLOORS.hybrid, best * (hasCues ? SHARE_OF_BEST : SHARE_WITHOUT_CUES));
}

function clamp(value: number, most: number): number {
  return Math.max(-most, Math.min(most, value));
}
