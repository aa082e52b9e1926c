import { describe, expect, it } from "vitest";
import { findEmbed } from "../../src/meaning/meaning.ts";
import { findRelativeDates } from "../../src/text/relative-dates.ts";
import { findSecrets } from "../../src/text/secrets.ts";
import { EVERYDAY, type Figures, LEARNT, measure, measureTalk, readLabelled, readLines } from "../learn/measure.ts";

const embed = findEmbed();

/** What no memory may hold, however good the figures are. */
async function expectClean({ kept, forbidden }: Figures): Promise<void> {
  // What waits in the inbox is a question to the user.
  expect(forbidden.filter((what) => !what.includes("(inbox)"))).toEqual([]);
  for (const { id, proposal } of kept) {
    const text = `${proposal.name}\n${proposal.description}\n${proposal.body}`;
    expect(findSecrets(text), id).toEqual([]);
    if (proposal.action !== "forget")
      expect(await findRelativeDates(text, new Date("2026-11-16T12:00:00")), id).toEqual([]);
  }
}

describe.skipIf(embed === null)("labelled conversations, half of them with nothing to keep", () => {
  it("B3 B3.7 B3.8 precision and recall of all of them together", async () => {
    const figures = await measure(LEARNT.flatMap(readLabelled), embed);
    expect(figures.precision, figures.wrong.join("\n")).toBeGreaterThanOrEqual(0.9);
    expect(figures.recall, figures.missed.join("\n")).toBeGreaterThanOrEqual(0.6);
    await expectClean(figures);
  });

  // 0.75 on the sixth set, whose statements go on in a sentence that is not kept with them; above 0.85 on the others.
  it.each(LEARNT)("each: %s", async (set) => {
    const figures = await measure(readLabelled(set), embed);
    expect(figures.precision, figures.wrong.join("\n")).toBeGreaterThanOrEqual(0.7);
    expect(figures.recall, figures.missed.join("\n")).toBeGreaterThanOrEqual(0.4);
    await expectClean(figures);
  });
});

describe.skipIf(embed === null)("talk about the work at hand, one message after an answer", () => {
  it("B3.4 keeps at most one in two hundred of the lines that were not learnt from", async () => {
    const lines = readLines(EVERYDAY).filter((_, i) => i % 2 === 1);
    const { kept } = await measureTalk(lines, embed);
    expect(lines.length).toBeGreaterThan(250);
    expect(kept.length / lines.length, kept.join("\n")).toBeLessThanOrEqual(0.012);
  });
});
