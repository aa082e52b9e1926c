/** Recall with a configured model: the real SDK against a model server on loopback. */

import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SaveRequest } from "../../src/memory/save.ts";
import { startModelServer } from "../model-server/model-server.ts";
import { PATIENCE_MS } from "../until.ts";
import { makeWorld } from "../world.ts";

let server: Awaited<ReturnType<typeof startModelServer>>;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());

const envFor = (model: string) => ({
  MEMDIR_MODEL: model,
  ANTHROPIC_API_KEY: "sk-test-0000",
  ANTHROPIC_BASE_URL: server.url,
});

const DEPLOYS: SaveRequest = {
  type: "project",
  name: "deploys to staging",
  description: "Deploys run from main",
  body: "Press promote.",
};

describe("MEMDIR_MODEL", () => {
  it("C17 the named model chooses over the manifest, which holds no bodies", async () => {
    const world = makeWorld({ env: envFor("anthropic/claude-test") });
    const memdir = await world.open();
    await memdir.save({
      type: "project",
      name: "canary",
      description: "How releases reach users",
      body: "Ten percent of pods.",
    });
    await memdir.save({ type: "user", name: "editor", description: "Uses neovim", body: "No IDE." });
    server.queue({ text: '```json\n{"selected_memories": ["project_canary.md"]}\n```' });
    const { memories, method } = await memdir.recall("what happens between approval and customers?", {
      timeoutMs: PATIENCE_MS,
    });
    expect({ method, files: memories.map(({ file }) => file) }).toEqual({
      method: "model",
      files: ["project_canary.md"],
    });
    const sent = JSON.stringify(server.requests.at(-1));
    expect(sent).toContain("project_canary.md");
    expect(sent).not.toContain("Ten percent of pods");
  });

  it("a model that is not configured right is said in the log, and recall goes on offline", async () => {
    const world = makeWorld({ env: envFor("claude-test") });
    const memdir = await world.open();
    await memdir.save(DEPLOYS);
    const { memories, method } = await memdir.recall("how do deploys to staging work?");
    expect({ method, count: memories.length }).toEqual({ method: "lexical", count: 1 });
    expect(world.logged.join("\n")).toContain("MEMDIR_MODEL");
  });

  it("a repository's settings do not say which model is asked, or where", async () => {
    const world = makeWorld();
    fs.mkdirSync(path.join(world.project, ".claude"));
    const settings = { env: envFor("anthropic/claude-test") };
    fs.writeFileSync(path.join(world.project, ".claude", "settings.json"), JSON.stringify(settings));
    const memdir = await world.open();
    await memdir.save(DEPLOYS);
    const before = server.requests.length;
    expect((await memdir.recall("how do deploys to staging work?")).method).toBe("lexical");
    expect(server.requests.length).toBe(before);
  });
});
