import { expect, it } from "vitest";
import { compareTexts } from "../../src/web/text-parts.ts";

const compare = async (before: string[], after: string[]) => {
  const parts = await compareTexts(before.join("\n\n"), after.join("\n\n"), () => null);
  return parts.map((part) => [part.before, part.after]);
};

it("puts a changed block next to what it became, and what is new where it stands", async () => {
  const before = ["Deploys run on Tuesdays.", "The queue is Kafka.", "Gone without a trace."];
  const after = ["Deploys run on Fridays.", "Something unrelated entirely.", "The queue is RabbitMQ."];
  expect(await compare(before, after)).toEqual([
    [before[0], after[0]],
    [null, after[1]],
    [before[1], after[2]],
    [before[2], null],
  ]);
});

it("looks for no pairs among thousands of blocks, and leaves none out", async () => {
  const before = Array.from({ length: 6_000 }, (_, at) => `a${at}`);
  const after = Array.from({ length: 6_000 }, (_, at) => `b${at} a${at}`);
  const parts = await compare(before, after);
  expect(parts.filter(([, is]) => is === null).map(([was]) => was)).toEqual(before);
  expect(parts.filter(([was]) => was === null).map(([, is]) => is)).toEqual(after);
});
