/** Which memories are sure enough to be shown, and what the order goes by. */

import { describe, expect, it } from "vitest";
import { confidenceOf, featuresOf, standingOf, sureEnough, thresholdOf } from "../../src/recall/confidence.ts";

const shown = (hasCues: boolean, ...confidences: number[]) =>
  sureEnough(
    confidences.map((confidence) => ({ confidence, hasCues, isByWords: false })),
    "hybrid",
  ).map(({ confidence }) => confidence);

describe("what is shown", () => {
  it("nothing while the best one is not sure enough", () => {
    expect(shown(true, 0.16, 0.15)).toEqual([]);
    expect(shown(true)).toEqual([]);
  });

  it("the best one, and others only if they are about as likely", () => {
    expect(shown(true, 0.9, 0.5)).toEqual([0.9]);
    expect(shown(true, 0.9, 0.7, 0.65, 0.1)).toEqual([0.9, 0.7, 0.65]);
  });

  it("without cues only those that are nearly as likely", () => {
    expect(shown(false, 0.9, 0.8, 0.7)).toEqual([0.9, 0.8]);
  });

  it("nothing below the threshold beside a best one that is just above it", () => {
    expect(shown(false, 0.23, 0.21)).toEqual([0.23]);
  });

  it("words alone have to be surer than words and meaning", () => {
    const ranked = [{ confidence: 0.3, hasCues: false }];
    expect(thresholdOf(ranked, "lexical")).toBeGreaterThan(thresholdOf(ranked, "hybrid"));
  });

  it("what only words speak for has to be as sure beside memories that have vectors", () => {
    const both = (...confidences: number[]) =>
      confidences.map((confidence, i) => ({ confidence, hasCues: true, isByWords: i > 0 }));
    expect(sureEnough(both(0.3, 0.49), "hybrid").map(({ confidence }) => confidence)).toEqual([0.3]);
    expect(sureEnough(both(0.4, 0.5), "hybrid").map(({ confidence }) => confidence)).toEqual([0.4, 0.5]);
  });
});

describe("a long memory", () => {
  const near = { text: 0.5, secondCue: null, meanCue: null, bestOther: 0.3, mean: 0.1, deviation: 0.1, coverage: 0.3 };
  const prompt = { coverageOther: 0.1, rare: 0.2, need: 0, count: 50, promptTerms: 6, foreign: 0 };
  const judge = (length: number, cue: number | null) =>
    confidenceOf(featuresOf({ ...near, ...prompt, length, cue }), true);

  it("counts for less than one a little shorter, unless it has cues", () => {
    expect(judge(130, null)).toBeLessThan(judge(110, null) - 0.02);
    expect(Math.abs(judge(130, 0.5) - judge(110, 0.5))).toBeLessThan(0.02);
  });
});

describe("the order", () => {
  it("is that of confidence where no words are shared, and shared words decide between equals", () => {
    expect(standingOf(0.4, 0)).toBeCloseTo(0.4, 12);
    expect(standingOf(0.4, 0.5)).toBeGreaterThan(standingOf(0.4, 0.1));
    expect(standingOf(0.6, 0)).toBeGreaterThan(standingOf(0.3, 0.9));
  });

  it("stays between 0 and 1", () => {
    for (const confidence of [0, 1e-9, 0.5, 1]) {
      for (const coverage of [0, 0.5, 1]) {
        const standing = standingOf(confidence, coverage);
        expect(standing >= 0 && standing <= 1).toBe(true);
      }
    }
  });
});
