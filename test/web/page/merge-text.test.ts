import { expect, it } from "vitest";
import { diffWords, mergeParts, suggestPicks } from "../../../src/web/page/parts/merge-text.ts";
import { compareTexts } from "../../../src/web/text-parts.ts";

const LEFT = `---
name: queue
description: How often a job is tried
type: project
modified: 2026-01-01T00:00:00.000Z
when:
  - "a job fails"
---

Jobs are retried three times.

Only on the left.
`;
const RIGHT = `---
name: queue
description: How often a job is retried
type: project
modified: 2026-02-02T00:00:00.000Z
when:
  - "a job fails"
  - "the queue is full"
---

Jobs are retried five times.

\`\`\`
one

two
\`\`\`
`;

const compare = (left: string, right: string) => compareTexts(left, right, () => null);

it("marks words, not letters, and scripts without spaces by the character", () => {
  const words = (before: string, after: string) =>
    diffWords(before, after).map(({ kind, text }) => `${kind[0]}${text}`);
  expect(words("retried three times", "retried five times")).toEqual(["sretried ", "rthree", "afive", "s times"]);
  expect(words("記憶の地図", "記憶の図")).toEqual(["s記憶の", "r地", "s図"]);
  expect(words("same", "same")).toEqual(["ssame"]);
  expect(words("", "new")).toEqual(["anew"]);
});

it("takes two versions apart: fields by name, paragraphs next to what they became, code as one", async () => {
  const parts = await compare(LEFT, RIGHT);
  expect(parts.map(({ field, before, after }) => [field, before === after])).toEqual([
    ["name", true],
    ["description", false],
    ["type", true],
    ["modified", false],
    ["when", false],
    [null, false],
    [null, false],
    [null, false],
  ]);
  expect(parts.find(({ field }) => field === "modified")?.isQuiet).toBe(true);
  const blocks = parts.filter(({ field }) => field === null);
  expect(blocks.map(({ before, after }) => [before, after])).toEqual([
    ["Jobs are retried three times.", "Jobs are retried five times."],
    ["Only on the left.", null],
    [null, "```\none\n\ntwo\n```"],
  ]);
});

it("keeps the first plus what only the other says, unless the person picks otherwise", async () => {
  const parts = await compare(LEFT, RIGHT);
  const picks = suggestPicks(parts);
  const text = mergeParts(parts, picks);
  expect(text).toBe(
    LEFT.replace('  - "a job fails"\n', '  - "a job fails"\n  - "the queue is full"\n').concat(
      "\n```\none\n\ntwo\n```\n",
    ),
  );
  const at = parts.findIndex(({ before }) => before?.startsWith("Jobs"));
  expect(mergeParts(parts, picks.with(at, "right"))).toContain("five times");
  expect(mergeParts(parts, picks.with(at, "both"))).toContain("three times.\n\nJobs are retried five");
  expect(mergeParts(parts, picks.with(at + 1, "none"))).not.toContain("Only on the left");
});

it("picking one side everywhere gives that side, also without a head and with other line ends", async () => {
  const parts = await compare(LEFT, RIGHT);
  const all = (side: "left" | "right") =>
    mergeParts(
      parts,
      parts.map(({ before, after }) => ((side === "left" ? before : after) === null ? "none" : side)),
    );
  expect(all("left")).toBe(LEFT);
  expect(all("right")).toBe(RIGHT);
  const plain = await compare("One.\r\n\r\nTwo.\r\n", "One.\n\nThree.\n");
  expect(mergeParts(plain, suggestPicks(plain))).toMatch(/^One\.\n\nTwo\./);
});
