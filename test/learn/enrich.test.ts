/** Cues made by a model, on the loopback server. */

import fs from "node:fs";
import { describe, expect, it, onTestFinished } from "vitest";
import { type EnrichOptions, enrich } from "../../src/learn/enrich.ts";
import { addCues } from "../../src/memory/edit.ts";
import { openAnthropic } from "../../src/model/anthropic.ts";
import { readCues } from "../../src/prompts/learning.ts";
import { parseMemory } from "../../src/store/memory.ts";
import { startModelServer } from "../model-server/model-server.ts";
import { PATIENCE_MS } from "../until.ts";
import { DAY, errorOf, mainOf, makeWorld, note, type World } from "../world.ts";

async function openWorld(world: World, budget: EnrichOptions["budget"] = () => ({ ok: true })) {
  const server = await startModelServer();
  onTestFinished(() => server.close());
  const memdir = await world.open();
  const directory = mainOf(memdir);
  const spent: number[] = [];
  const enriching: EnrichOptions = {
    ask: await openAnthropic({ model: "m", apiKey: "sk-x", baseUrl: server.url, maxSilenceMs: PATIENCE_MS }),
    read: async (file) => {
      const text = world.read(file);
      const { name, description, body } = parseMemory(file, text);
      return { text, name, description, body };
    },
    write: async (file, base, cues) => void (await addCues(directory, file, base, cues)),
    budget,
    spent: (usage) => void spent.push(usage.output),
  };
  const log = (message: string) => void world.logged.push(message);
  return { server, memdir, directory, enriching, spent, log };
}

const cuesFor = (count: number) =>
  JSON.stringify(
    Object.fromEntries(
      Array.from({ length: count }, (_, i) => [String(i + 1), [`asking about ${i}`, `stuck on ${i}`]]),
    ),
  );

describe("enrich", () => {
  it("adds cues in batches, through the journal, and no memory becomes younger", async () => {
    const world = makeWorld();
    const { server, memdir, enriching, spent, log } = await openWorld(world);
    for (let i = 0; i < 10; i++) await memdir.save(note(`memory ${i}`));
    const files = world.files().filter((file) => file.startsWith("user_"));
    for (const file of files) world.age(file, 40 * DAY);
    const before = await memdir.list();
    server.queue({ text: `Here you are:\n\`\`\`json\n${cuesFor(8)}\n\`\`\`` }, { text: cuesFor(2) });
    const seen: number[] = [];
    const result = await enrich({ log }, files, { ...enriching, onProgress: (done) => seen.push(done) });
    expect(result).toMatchObject({ left: 0, stopped: null });
    expect(result.enriched).toEqual(files);
    expect(seen).toEqual([8, 10]);
    expect(spent).toHaveLength(2);
    const after = await (await world.open()).list();
    expect(after.every(({ when }) => when.length === 2)).toBe(true);
    for (const { file, modified } of before) {
      expect(after.find((row) => row.file === file)?.modified, file).toBe(modified);
    }
    await memdir.undo();
    expect((await memdir.show("memory 9")).when).toEqual([]);
  });

  it("stops at the budget, at a failure and on request; the rest is left", async () => {
    const world = makeWorld();
    let calls = 0;
    const budget = () =>
      ++calls > 1 ? { ok: false as const, reason: "today's budget is spent" } : { ok: true as const };
    const { server, memdir, enriching, log } = await openWorld(world, budget);
    for (let i = 0; i < 10; i++) await memdir.save(note(`memory ${i}`));
    const files = world.files().filter((file) => file.startsWith("user_"));
    server.queue({ text: cuesFor(8) });
    expect(await enrich({ log }, files, enriching)).toMatchObject({ left: 2, stopped: "today's budget is spent" });
    server.queue({ status: 401 });
    const failed = await enrich({ log }, files.slice(8), { ...enriching, budget: () => ({ ok: true }) });
    expect(failed).toMatchObject({ left: 2, enriched: [] });
    expect(failed.stopped).toContain("ANTHROPIC_API_KEY");
    const stop = AbortSignal.abort();
    expect(await enrich({ log }, files, { ...enriching, budget: () => ({ ok: true }), signal: stop })).toMatchObject({
      left: 10,
    });
  });

  it("a file that changed meanwhile, a secret in a cue and an answer that is no list cost nothing", async () => {
    const world = makeWorld();
    const { server, memdir, directory, enriching, log } = await openWorld(world);
    await memdir.save(note("one"));
    server.queue({ text: "I cannot do that." });
    expect(await enrich({ log }, ["user_one.md", "gone.md"], enriching)).toMatchObject({
      left: 2,
      enriched: [],
      stopped: null,
    });
    const base = world.read("user_one.md");
    const token = `ghp_${"aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6"}`;
    expect((await errorOf(addCues(directory, "user_one.md", base, [token]))).code).toBe("secret");
    fs.appendFileSync(world.path("user_one.md"), "more\n");
    expect((await errorOf(addCues(directory, "user_one.md", base, ["a cue"]))).code).toBe("conflict");
  });

  it("keeps the cues that are there, adds none twice, and bounds them", async () => {
    const world = makeWorld();
    const { memdir, directory } = await openWorld(world);
    await memdir.save(note("one", { when: ["First cue"] }));
    const many = ["first CUE", "two\nlines", " ", ...Array.from({ length: 20 }, (_, i) => `cue ${i}`)];
    await addCues(directory, "user_one.md", world.read("user_one.md"), many);
    const { when } = await memdir.show("one");
    expect(when.slice(0, 3)).toEqual(["First cue", "two lines", "cue 0"]);
    expect(when).toHaveLength(8);
  });

  it("reads what models answer", () => {
    expect(readCues('{"1": ["a", 2, "b"], "2": "no", "9": ["c"]}', 2)).toEqual(new Map([[0, ["a", "b"]]]));
    expect(readCues("nothing", 1)).toBeNull();
    expect(readCues("{broken", 1)).toBeNull();
    expect(readCues("[1]", 1)).toBeNull();
  });
});
