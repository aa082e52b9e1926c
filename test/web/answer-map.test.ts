import { expect, it } from "vitest";
import type { ChangedAnswer, MemoryMap, MergeProposal } from "../../src/web/api.ts";
import { errorOf, note } from "../world.ts";
import { call, HOSTILE, makePage, makeUserWorld } from "./open-page.ts";

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
  expect(view.nodes[0]).toEqual({
    ...ref("user_alpha.md"),
    name: "alpha",
    type: "user",
    scope: "project",
    description: "about alpha",
  });
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
  expect(await map(page)).toEqual({ nodes: [], edges: [], duplicates: [] });
  world.write(
    "<svg onload=x>.md",
    `---\nname: ${HOSTILE.script}\ndescription: ${HOSTILE.rtl}\ntype: user\n---\n\n[[${HOSTILE.script}]] [[../../x]]\n`,
  );
  for (let i = 0; i < 500; i++)
    world.write(`m${i}.md`, `---\nname: m${i}\ntype: user\n---\n\nBody ${i} [[m${i + 1}]]\n`);
  const view = await map(page);
  expect(view.nodes.length).toBe(501);
  expect(view.edges.filter(({ kind }) => kind === "link").length).toBe(499);
  expect(view.edges.every(({ a, b }) => view.nodes[a] && view.nodes[b] && a !== b)).toBe(true);
});

it("finds what says the same, proposes a text, and merges in one change that one undo takes back", async () => {
  const { world, memdir, page } = await makePage();
  const body =
    "The build uses pnpm, caches packages under the workspace folder, signs artefacts with the release key, uploads bundles to storage, notifies the channel, and finally tags the commit.";
  await memdir.save(note("builds one", { description: "build", body, when: ["building"] }));
  await memdir.save(
    note("builds two", { description: "build", body: `${body}\n\nRun the linter.`, when: ["installing"] }),
  );
  const view = await map(page);
  expect(view.duplicates.length).toBe(1);
  expect(view.duplicates[0]!.share).toBeGreaterThan(0.5);
  const [keep, other] = [ref("user_builds_one.md"), ref("user_builds_two.md")];
  const query = { keepDirectory: 0, keepFile: keep.file, otherDirectory: 0, otherFile: other.file };
  const proposal = (await call(page, "GET", "/api/merge", query)) as MergeProposal;
  expect(proposal.text).toContain("Run the linter.");
  expect(proposal.text).toContain("installing");
  expect(proposal.diff).toContainEqual({ kind: "added", text: "Run the linter." });
  const [one, two, index] = [world.read(keep.file), world.read(other.file), world.index()];
  expect([proposal.left, proposal.right]).toEqual([one, two]);
  const { left, right, text } = proposal;
  const merged = (await call(page, "POST", "/api/merge", { keep, other, text, left, right })) as ChangedAnswer;
  expect(merged.ref).toEqual(keep);
  expect(world.exists(other.file)).toBe(false);
  expect(world.index()).not.toContain(other.file);
  await call(page, "POST", "/api/undo", { id: merged.entry });
  expect([world.read(keep.file), world.read(other.file), world.index()]).toEqual([one, two, index]);
});

it("merges nothing that changed meanwhile, with itself, across directories, or with a secret", async () => {
  const { world, memdir, page } = await makePage({ world: await makeUserWorld("elsewhere") });
  await memdir.save(note("one"));
  await memdir.save(note("two"));
  const [keep, other] = [ref("user_one.md"), ref("user_two.md")];
  const [left, right] = [world.read(keep.file), world.read(other.file)];
  const merge = (more: object) =>
    errorOf(call(page, "POST", "/api/merge", { keep, other, text: left, left, right, ...more }));
  expect((await merge({ right: "something else" })).code).toBe("conflict");
  expect((await merge({ left: "something else" })).code).toBe("conflict");
  expect((await merge({ other: keep, right: left })).code).toBe("usage");
  const at = memdir.directories.findIndex(({ scope }) => scope === "user");
  expect((await merge({ other: { directory: at, file: "user_elsewhere.md" } })).message).toContain(
    "different directories",
  );
  const secret = ["ghp", "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx"].join("_");
  const refused = await merge({ text: `${left}\n${secret}` });
  expect(refused.code).toBe("secret");
  expect(refused.message).not.toContain(secret);
  expect([world.read(keep.file), world.read(other.file)]).toEqual([left, right]);
});
