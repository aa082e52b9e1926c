/** Cues made by a model, on the loopback server. */

import fs from "node:fs";
import { describe, expect, it, onTestFinished } from "vitest";
import { acceptProposal } from "../../src/learn/apply.ts";
import { type Enriching, enrich, findPoor } from "../../src/learn/enrich.ts";
import { openInbox } from "../../src/learn/inbox.ts";
import type { Proposal } from "../../src/learn/proposal.ts";
import { addCues } from "../../src/memory/edit.ts";
import { openAnthropic } from "../../src/model/anthropic.ts";
import { readCues } from "../../src/prompts/learning.ts";
import { logSurfaced } from "../../src/recall/surface-log.ts";
import { startModelServer } from "../model-server/model-server.ts";
import { PATIENCE_MS } from "../until.ts";
import { DAY, mainOf, makeWorld, note, type World } from "../world.ts";

async function openWorld(world: World, budget: Enriching["budget"] = () => ({ ok: true })) {
  const server = await startModelServer();
  onTestFinished(() => server.close());
  const memdir = await world.open();
  const directory = mainOf(memdir);
  const spent: number[] = [];
  const ask = await openAnthropic({ model: "m", apiKey: "sk-x", baseUrl: server.url, maxSilenceMs: PATIENCE_MS });
  const model = { ask, provider: "anthropic", name: "m", maxTokens: 1_000 };
  const ledger = { spend: ({ usage }: { usage: { output: number } }) => void spent.push(usage.output) };
  const enriching: Enriching = { directory, ledger, budget, inbox: null };
  const log = (message: string) => void world.logged.push(message);
  const run = (files: readonly string[], more: Partial<Enriching> = {}) =>
    enrich({ ...enriching, log, ...more }, model, files);
  return { server, memdir, directory, run, model, spent };
}

const cuesFor = (count: number) =>
  JSON.stringify(
    Object.fromEntries(
      Array.from({ length: count }, (_, i) => [String(i + 1), [`asking about ${i}`, `stuck on ${i}`]]),
    ),
  );

describe("enrich", () => {
  it("adds cues in batches of twenty, each one change that one undo reverts, and no memory becomes younger", async () => {
    const world = makeWorld();
    const { server, memdir, run, spent } = await openWorld(world);
    for (let i = 0; i < 22; i++) await memdir.save(note(`memory ${i}`));
    const files = world.files().filter((file) => file.startsWith("user_"));
    for (const file of files) world.age(file, 40 * DAY);
    const texts = new Map(files.map((file) => [file, world.read(file)]));
    const before = await memdir.list();
    server.queue({ text: `Here you are:\n\`\`\`json\n${cuesFor(20)}\n\`\`\`` }, { text: cuesFor(2) });
    const seen: number[] = [];
    const result = await run(files, { onProgress: (done) => seen.push(done) });
    expect(result).toMatchObject({ left: 0, stopped: null });
    expect(result.enriched).toEqual(files);
    expect(seen).toEqual([20, 22]);
    expect(spent).toHaveLength(2);
    const after = await (await world.open()).list();
    expect(after.every(({ when }) => when.length === 2)).toBe(true);
    for (const { file, modified } of before) {
      expect(after.find((row) => row.file === file)?.modified, file).toBe(modified);
    }
    const first = files[0] as string;
    const added = "when:\n  - asking about 0\n  - stuck on 0\n";
    expect(world.read(first).replace(added, "")).toBe(texts.get(first));
    await memdir.undo();
    expect((await findPoor(mainOf(memdir))).map(({ file }) => file).sort()).toEqual(files.slice(20).sort());
    await memdir.undo();
    for (const [file, text] of texts) expect(world.read(file), file).toBe(text);
  });

  it("asks about what a memory says, not about a banner above it", async () => {
    const world = makeWorld();
    const { server, memdir, run } = await openWorld(world);
    await memdir.save(
      note("long", { body: `<!--\n${"Written by the team. ".repeat(100)}\n-->\n\nDeploy on Tuesdays.` }),
    );
    server.queue({ text: cuesFor(1) });
    await run(["user_long.md"]);
    const sent = JSON.stringify(server.requests[0]?.body);
    expect(sent).toContain("Deploy on Tuesdays.");
    expect(sent).not.toContain("Written by the team.");
  });

  it("takes what was shown first, then the newest", async () => {
    const world = makeWorld();
    const { memdir, directory } = await openWorld(world);
    for (const name of ["old", "shown", "new"]) await memdir.save(note(name));
    world.age("user_old.md", 30 * DAY);
    world.age("user_shown.md", 60 * DAY);
    const memories = [{ file: "user_shown.md", scope: directory.scope, why: [] }];
    logSurfaced(directory.path, { at: new Date(), session: null, door: "cli", prompt: "x", memories });
    const poor = await findPoor(mainOf(await world.open()));
    expect(poor.map(({ file }) => file)).toEqual(["user_shown.md", "user_new.md", "user_old.md"]);
  });

  it("stops at the budget, at a failure and on request; the rest is left", async () => {
    const world = makeWorld();
    let calls = 0;
    const budget = () =>
      ++calls > 1 ? { ok: false as const, reason: "today's budget is spent" } : { ok: true as const };
    const { server, memdir, run } = await openWorld(world, budget);
    for (let i = 0; i < 22; i++) await memdir.save(note(`memory ${i}`));
    const files = world.files().filter((file) => file.startsWith("user_"));
    server.queue({ text: cuesFor(20) });
    expect(await run(files)).toMatchObject({ left: 2, stopped: "today's budget is spent" });
    server.queue({ status: 401 });
    const free = { budget: () => ({ ok: true as const }) };
    const failed = await run(files.slice(20), free);
    expect(failed).toMatchObject({ left: 2, enriched: [] });
    expect(failed.stopped).toContain("ANTHROPIC_API_KEY");
    expect(await run(files, { signal: AbortSignal.abort(), ...free })).toMatchObject({ left: 22 });
  });

  it("in the background does not ask again in vain, until the memory changes", async () => {
    const world = makeWorld();
    const { server, memdir, run } = await openWorld(world);
    await memdir.save(note("one"));
    server.queue({ text: '{"1": []}' });
    const inBackground = { isBackground: true, maxBatches: 1 };
    await run(["user_one.md"], inBackground);
    await run(["user_one.md"], inBackground);
    expect(server.requests).toHaveLength(1);
    fs.appendFileSync(world.path("user_one.md"), "more\n");
    server.queue({ text: cuesFor(1) });
    expect((await run(["user_one.md"], inBackground)).enriched).toEqual(["user_one.md"]);
  });

  it("proposes them where a person decides; accepting one adds the cues and changes nothing else", async () => {
    const world = makeWorld();
    const { server, memdir, directory, run } = await openWorld(world);
    await memdir.save(note("one"));
    const before = world.read("user_one.md");
    const inbox = openInbox(directory, directory);
    server.queue({ text: cuesFor(1) });
    expect(await run(["user_one.md"], { inbox })).toMatchObject({ enriched: ["user_one.md"] });
    expect(world.read("user_one.md")).toBe(before);
    // It waits already: the model is not asked again.
    expect(await run(["user_one.md"], { inbox })).toMatchObject({ enriched: [] });
    expect(server.requests).toHaveLength(1);
    const [proposal] = inbox.list();
    expect(proposal).toMatchObject({ file: "user_one.md", from: "enrich", when: ["asking about 0", "stuck on 0"] });
    await acceptProposal(memdir, inbox, proposal as Proposal);
    const after = world.read("user_one.md");
    expect(after).toContain("  - stuck on 0\n");
    const bare = (text: string) => text.replace(/^modified: .*\n/m, "");
    expect(bare(after).replace("when:\n  - asking about 0\n  - stuck on 0\n", "")).toBe(bare(before));
  });

  it("a file that changed meanwhile, a secret in a cue and an answer that is no list cost nothing", async () => {
    const world = makeWorld();
    const { server, memdir, directory, run } = await openWorld(world);
    await memdir.save(note("one"));
    server.queue({ text: "I cannot do that." });
    expect(await run(["user_one.md", "gone.md"])).toMatchObject({ left: 2, enriched: [], stopped: null });
    const base = world.read("user_one.md");
    const token = `ghp_${"aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6"}`;
    const refusedFor = async (...cues: string[]) =>
      (await addCues(directory, [{ file: "user_one.md", base, cues }])).refused[0]?.reason;
    expect(await refusedFor(token)).toMatch(/secret/);
    expect(await refusedFor(token)).not.toContain(token);
    fs.appendFileSync(world.path("user_one.md"), "more\n");
    expect(await refusedFor("a cue")).toMatch(/changed meanwhile/);
  });

  it.each([
    ["no frontmatter", "Just a text.\n"],
    ["an unclosed one", "---\nname: a\ntype: user\n\nText\n"],
    ["a broken line", "---\nname: a\n}{ nonsense\ntype: user\n---\n\nText\n"],
  ])("a file with %s is left alone, and no model is asked about it", async (_, text) => {
    const world = makeWorld();
    const { server, run } = await openWorld(world);
    world.write("odd.md", text);
    expect(await run(["odd.md"])).toMatchObject({ enriched: [], left: 1 });
    expect(server.requests).toEqual([]);
    expect(world.read("odd.md")).toBe(text);
  });

  it.each([
    ["Windows line ends", "---\r\nname: a\r\ndescription: d\r\ntype: user\r\n---\r\n\r\nText\r\n"],
    ["fields under metadata", "---\nname: a\ndescription: d\nmetadata:\n  type: user\n  x: 1\n---\n\nText"],
    ["comments and unknown fields", "---\n# mine\nname: a   \nother: [1, 2]\ntype: user # yes\n---\nText\n\n\n"],
  ])("%s stay as they are", async (_, text) => {
    const world = makeWorld();
    const { server, memdir, run } = await openWorld(world);
    world.write("user_a.md", text);
    server.queue({ text: cuesFor(1) });
    expect((await run(["user_a.md"])).enriched).toEqual(["user_a.md"]);
    const after = world.read("user_a.md");
    const lines = after.split(/(?<=\n)/).filter((line) => !/^\s*(?:when:|- asking about 0|- stuck on 0)/.test(line));
    expect(lines.join("")).toBe(text);
    await memdir.undo();
    expect(world.read("user_a.md")).toBe(text);
  });

  it("keeps the cues that are there, adds none twice, and bounds them", async () => {
    const world = makeWorld();
    const { memdir, directory } = await openWorld(world);
    await memdir.save(note("one", { when: ["First cue"] }));
    const many = ["first CUE", "two\nlines", " ", ...Array.from({ length: 20 }, (_, i) => `cue ${i}`)];
    await addCues(directory, [{ file: "user_one.md", base: world.read("user_one.md"), cues: many }]);
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
