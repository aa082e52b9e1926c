import { expect, it } from "vitest";
import type { MemoryMap } from "../../src/web/api.ts";
import { note } from "../world.ts";
import { call, HOSTILE, makePage } from "./open-page.ts";

const map = async (page: Parameters<typeof call>[0]) => (await call(page, "GET", "/api/map")) as MemoryMap;
const ref = (file: string) => ({ directory: 0, file });

function named(view: MemoryMap): string[] {
  return view.edges.map(({ a, b, kind }) => `${view.nodes[a]?.name} ${kind} ${view.nodes[b]?.name}`).sort();
}

it("joins what links, what supersedes and what is near by its words", async () => {
  const { memdir, page } = await makePage();
  await memdir.save(note("alpha", { body: "See [[beta]]." }));
  await memdir.save(note("beta", { body: "Back to [alpha](user_alpha.md)." }));
  await memdir.save(note("gamma", { body: "Replaces.", supersedes: ["alpha"] }));
  await memdir.save(note("kafka one", { body: "Kafka partitions rebalance when consumers restart during deploys." }));
  await memdir.save(note("kafka two", { body: "Consumers restart and Kafka partitions rebalance slowly." }));
  const view = await map(page);
  expect(view.nodes.length).toBe(5);
  expect(view).toMatchObject({ total: 5, alone: 0, uncompared: 0 });
  const [first] = view.nodes;
  expect(first).toMatchObject({ ...ref("user_alpha.md"), name: "alpha", type: "user", scope: "project" });
  expect(first?.description).toBe("about alpha");
  const [one, two] = ["kafka one", "kafka two"].map((name) => view.nodes.find((node) => node.name === name)?.cluster);
  expect(one).toBe(two);
  expect(one).not.toBe(first?.cluster);
  expect(named(view).filter((line) => !line.includes("near"))).toEqual(["alpha link beta", "gamma supersedes alpha"]);
  expect(named(view)).toContain("kafka one near kafka two");
  expect(view.edges.every(({ share }) => share > 0 && share <= 1)).toBe(true);
});

it("is near by meaning where vectors are known", async () => {
  const embed = (text: string) => {
    const values = new Float32Array(384);
    values[/cat|feline/.test(text) ? 0 : /dog/.test(text) ? 1 : 2] = 1;
    return values;
  };
  const { memdir, page } = await makePage({ open: { embed } });
  await memdir.save(note("x", { description: "cat", body: "cat" }));
  await memdir.save(note("y", { description: "feline", body: "feline" }));
  await memdir.save(note("z", { description: "dog", body: "dog" }));
  await memdir.warm();
  expect(named(await map(page))).toEqual(["x near y"]);
});

it("an empty map, and one of hostile names and 500 memories", async () => {
  const { world, page } = await makePage();
  expect(await map(page)).toEqual({ nodes: [], edges: [], clusters: [], total: 0, alone: 0, uncompared: 0 });
  world.write(
    "<svg onload=x>.md",
    `---\nname: ${HOSTILE.script}\ndescription: ${HOSTILE.rtl}\ntype: user\n---\n\n[[${HOSTILE.script}]] [[../../x]]\n`,
  );
  for (let i = 0; i < 500; i++)
    world.write(`m${i}.md`, `---\nname: m${i}\ntype: user\n---\n\nBody ${i} [[m${i + 1}]]\n`);
  const view = await map(page);
  // What is not drawn is counted.
  expect(view.total).toBe(501);
  expect(view.nodes.length).toBe(400);
  expect(view.alone).toBeLessThan(2);
  expect(view.edges.every(({ a, b }) => view.nodes[a] && view.nodes[b] && a !== b)).toBe(true);
});
