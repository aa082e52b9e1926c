/** Which texts say the same, by terms that are given. */

import { describe, expect, it } from "vitest";
import { isAlike, openLikeness, type Said, stanceOf, weigh } from "../../src/text/likeness.ts";

const termsOf = (text: string) => text.toLowerCase().match(/[a-z]{3,}/g) ?? [];
const said = (body: string, more: Partial<Said> = {}): Said => ({
  type: "user",
  name: "",
  description: "",
  body,
  ...more,
});

const LONG = "every night the staging cluster wipes databases queues caches buckets";

describe("likeness", () => {
  it("the same words in another form or order, but not with another number or denial", () => {
    const alike = (a: string, b: string) => isAlike(weigh(said(a), termsOf), weigh(said(b), termsOf));
    expect(alike(LONG, `${LONG.toUpperCase()}  `)).toBe(true);
    expect(alike(LONG, LONG.split(" ").reverse().join(" "))).toBe(true);
    expect(alike(LONG, `${LONG} 5`)).toBe(false);
    expect(alike(LONG, `never ${LONG}`)).toBe(false);
    expect(alike("use tabs", "tabs, use")).toBe(false);
  });

  it("finds one among many, nearly alike only under the same type", () => {
    const all = [said(LONG), said("something else about editors and keyboards entirely")];
    const likeness = openLikeness<number>(all, termsOf);
    for (const [at, each] of all.entries()) likeness.add(each, at);
    expect(likeness.find(said(`${LONG} too`))).toBe(0);
    expect(likeness.find(said(`${LONG} too`, { type: "project" }))).toBe(null);
    expect(likeness.find(said(LONG, { type: "project" }))).toBe(0);
    expect(likeness.find(said("unknown"))).toBe(null);
  });

  it("one body under two long titles is two things", () => {
    const see = said("see there", { name: "billing dashboard owner contact", description: "who answers" });
    const likeness = openLikeness<number>([see], termsOf);
    likeness.add(see, 1);
    expect(likeness.find(said("see there", { name: "release calendar holidays", description: "days off" }))).toBe(null);
  });

  it("stance: numbers and denials, each once, in order", () => {
    expect(stanceOf("Don't use 3.2 or 3.2, never 10:30")).toBe("10:30 3.2 don't never");
  });
});
