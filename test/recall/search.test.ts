import { expect, test } from "vitest";
import { makeWorld } from "../world.ts";
import { memoryText } from "./store.ts";

async function search(query: string, bodies: Record<string, string>) {
  const world = makeWorld();
  for (const [name, body] of Object.entries(bodies)) world.write(`${name}.md`, memoryText({ name, body }));
  const hits = await (await world.open()).search(query);
  return hits.map(({ name, line }) => `${name}: ${line}`);
}

test("a word is found with another ending, and the first line that holds the most words is shown", async () => {
  const bodies = {
    one: "Nothing here.\nWe deploy on Mondays.\nWe (re)deploys/staging it on Fridays.",
    two: "Staging is broken.",
    three: "The dependency is old.",
  };
  expect(await search("deploying staging", bodies)).toEqual([
    "one: We (re)deploys/staging it on Fridays.",
    "two: Staging is broken.",
  ]);
  expect(await search("deploying", bodies)).toEqual(["one: We deploy on Mondays."]);
});

test("what is not a single word is found as it stands, whatever its case and width", async () => {
  const bodies = {
    path: "Look at src/DB/pool.ts first.",
    wide: "ＡＢＣ-12 is the key.",
    japanese: "本番へのデプロイは金曜日に行わない。",
  };
  expect(await search("src/db/pool", bodies)).toEqual(["path: Look at src/DB/pool.ts first."]);
  expect(await search("abc-12", bodies)).toEqual(["wide: ＡＢＣ-12 is the key."]);
  expect(await search("デプロイ", bodies)).toEqual(["japanese: 本番へのデプロイは金曜日に行わない。"]);
  expect(await search("pools", { path: "Look at the_pool-size." })).toEqual(["path: Look at the_pool-size."]);
});
