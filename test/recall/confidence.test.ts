/** Which memories are sure enough to be shown, and what the order goes by. */

import { describe, expect, it } from "vitest";
import { standingOf, sureEnough, thresholdOf } from "../../src/recall/confidence.ts";

const shown = (...confidences: number[]) =>
  sureEnough(
    confidences.map((confidence) => ({ confidence })),
    "hybrid",
  ).map(({ confidence }) => confidence);

describe("what is shown", () => {
  it("nothing while the best one is not sure enough", () => {
    expect(shown(0.24, 0.19)).toEqual([]);
    expect(shown()).toEqual([]);
  });

  it("the best one, and others only if they are about as likely", () => {
    expect(shown(0.9, 0.5)).toEqual([0.9]);
    expect(shown(0.9, 0.7, 0.65, 0.1)).toEqual([0.9, 0.7, 0.65]);
  });

  it("nothing below the threshold beside a best one that is just above it", () => {
    expect(shown(0.26, 0.24)).toEqual([0.26]);
  });

  it("words alone have to be surer than words and meaning", () => {
    const ranked = [{ confidence: 0.3 }];
    expect(thresholdOf(ranked, "lexical")).toBeGreaterThan(thresholdOf(ranked, "hybrid"));
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
