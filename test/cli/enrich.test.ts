/** `memdir enrich` through the binary. */

import { expect, it, onTestFinished } from "vitest";
import { startModelServer } from "../model-server/model-server.ts";
import { openSandbox } from "./run.ts";

it("gives memories their cues, counts what it cost, and one undo takes them back", async () => {
  const box = openSandbox();
  const server = await startModelServer();
  onTestFinished(() => server.close());
  const env = { MEMDIR_MODEL: "anthropic/m", ANTHROPIC_API_KEY: "sk-x", ANTHROPIC_BASE_URL: server.url };
  await box.save("one");
  await box.save("two");
  const poor = (await box.run(["enrich"])).out;
  expect(poor).toContain("2 memories have no cues");
  expect(poor).toContain("memdir init --learn-with claude-code");
  expect(await box.json(["enrich"])).toMatchObject({ enriched: [], left: 2 });
  server.queue({
    text: '{"1": ["asking for the first"], "2": ["asking for the second"]}',
    usage: { input: 90, output: 10 },
  });
  const done = await box.json(["enrich"], { env });
  expect(done).toMatchObject({ enriched: ["user_two.md", "user_one.md"], left: 0, usage: { input: 90 } });
  expect((await box.json(["show", "two"])).when).toEqual(["asking for the first"]);
  const { today, entries } = await box.json(["ledger"]);
  expect(today).toMatchObject({ tokens: 100, calls: 1 });
  expect(entries).toMatchObject([{ kind: "enrich", produced: "2 enriched" }]);
  expect((await box.run(["enrich"], { env })).out).toBe("Every memory has cues.\n");
  await box.run(["undo"]);
  expect((await box.run(["enrich"])).out).toContain("2 memories have no cues");
});
