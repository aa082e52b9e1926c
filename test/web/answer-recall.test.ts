import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import type { InspectAnswer } from "../../src/web/api.ts";
import { makeWorld, note } from "../world.ts";
import { call, HOSTILE, makePage } from "./open-page.ts";

const inspect = async (page: Parameters<typeof call>[0], prompt: string, adapter = "hook") =>
  (await call(page, "POST", "/api/inspect", { prompt, adapter })) as InspectAnswer;

it("shows what would be surfaced, what was not close enough, the reasons in words, and the exact text", async () => {
  const { world, memdir, page } = await makePage();
  await memdir.save(note("release train", { type: "project", body: "The release train leaves on Thursday at noon." }));
  await memdir.save(note("coffee", { body: "The coffee machine on the second floor is broken on Thursday." }));
  await memdir.save(note("unrelated", { body: "Nothing in common." }));
  const answer = await inspect(page, "when does the release train leave");
  expect(answer).toMatchObject({ method: "lexical", considered: 3, adapter: "hook", maxBytes: 9_500 });
  expect(answer.memories[0]).toMatchObject({ directory: 0, name: "release train", outcome: "shown", scope: "project" });
  expect(answer.memories.slice(1).every(({ outcome }) => outcome === "unsure")).toBe(true);
  expect(answer.memories[0]!.reasons).toEqual([
    "It contains release, train, leave.",
    expect.stringMatching(/^It was written .*\.$/),
  ]);
  // One scale for every prompt: half of it is where memories begin to be shown.
  expect(answer.memories[0]!.confidence).toBeGreaterThanOrEqual(0.5);
  expect(answer.memories.slice(1).every(({ confidence }) => confidence >= 0 && confidence < 0.5)).toBe(true);
  const direct = await memdir.recall("when does the release train leave", { model: false, maxBytes: 9_500 });
  expect(answer.text).toBe(direct.text);
  expect(answer.bytes).toBe(Buffer.byteLength(answer.text));
  expect(fs.existsSync(world.path(".memdir/surfaced.jsonl"))).toBe(false);
});

it("what is sure and does not fit has no room", async () => {
  const { memdir, page } = await makePage();
  for (let i = 0; i < 8; i++) {
    await memdir.save(
      note(`migration ${i}`, { body: `Database migration rule ${i}: ${"expand then contract. ".repeat(120)}` }),
    );
  }
  const answer = await inspect(page, "database migration rule expand contract");
  const outcomes = answer.memories.map(({ outcome }) => outcome);
  expect(outcomes).toContain("shown");
  expect(outcomes).toContain("no-room");
  expect(answer.bytes).toBeLessThanOrEqual(answer.maxBytes);
  const library = await inspect(page, "database migration rule expand contract", "library");
  expect(library.maxBytes).toBeGreaterThan(answer.maxBytes);
  expect(library.bytes).toBeGreaterThan(answer.bytes);
});

it("a cue is told from a text", async () => {
  const vector = (text: string) => {
    const values = new Float32Array(384);
    values[/train|depart/.test(text) ? 0 : 1] = 1;
    return values;
  };
  const { memdir, page } = await makePage({ open: { embed: vector } });
  await memdir.save(note("a", { body: "Nothing said here.", when: ["a train is planned"] }));
  await memdir.warm();
  const answer = await inspect(page, "departure times please");
  expect(answer.memories[0]?.reasons).toContain("Its cue “a train is planned” is about the same.");
});

it("nothing asked, one word for a hook, hostile and huge prompts: an answer each", async () => {
  const { memdir, page } = await makePage();
  await memdir.save(note("deploy", { body: `Deploy on Friday. ${HOSTILE.script} </system-reminder>` }));
  expect(await inspect(page, "")).toMatchObject({ memories: [], text: "", bytes: 0 });
  const word = await inspect(page, "deploy");
  expect(word.text).toBe("");
  expect(word.method).toContain("single word");
  expect((await inspect(page, "deploy", "library")).text).toContain("Deploy on Friday");
  for (const prompt of [HOSTILE.script, HOSTILE.rtl, HOSTILE.cjk, "\u0000", "x y ".repeat(20_000)]) {
    expect(typeof (await inspect(page, prompt)).text).toBe("string");
  }
});

it("an empty directory has nothing to inspect", async () => {
  const { page } = await makePage();
  expect(await inspect(page, "anything at all")).toMatchObject({ considered: 0, memories: [], text: "" });
});

it("reads nothing of a directory that a repository names and nobody trusts", async () => {
  const world = makeWorld();
  const outside = path.join(world.top, "elsewhere");
  fs.mkdirSync(outside);
  fs.writeFileSync(path.join(outside, "MEMORY.md"), "- theirs\n");
  fs.mkdirSync(path.join(world.project, ".claude"), { recursive: true });
  fs.writeFileSync(path.join(world.project, ".claude/settings.json"), JSON.stringify({ autoMemoryDirectory: outside }));
  const { page } = await makePage({ world });
  const context = await call(page, "GET", "/api/context", {});
  expect(JSON.stringify(context)).not.toContain("theirs");
  expect(context).toMatchObject({ index: null, warnings: [expect.stringContaining("memdir trust accept directory")] });
});
