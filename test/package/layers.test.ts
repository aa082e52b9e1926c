/** The ranks of scripts/layers.mjs hold for src/, and a breach of each kind is found. */
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { findBreaches, RANKS } from "../../scripts/layers.mjs";
import { makeTemporary } from "../temporary.ts";

const SRC = path.resolve(import.meta.dirname, "../../src");

function breachesOf(files: Record<string, string>): string[] {
  const root = makeTemporary("layers");
  for (const [file, text] of Object.entries(files)) {
    fs.mkdirSync(path.join(root, path.dirname(file)), { recursive: true });
    fs.writeFileSync(path.join(root, file), text);
  }
  return findBreaches(root);
}

describe("layers", () => {
  it("hold for every file of src", () => {
    expect(findBreaches(SRC)).toEqual([]);
  });

  it("give every room of src a rank", () => {
    const rooms = fs.readdirSync(SRC).map((name) => name.replace(/\.ts$/, ""));
    expect(rooms.filter((room) => !RANKS.flat().includes(room))).toEqual([]);
  });

  it.each([
    ["an import upwards", { "text/a.ts": 'import { b } from "../store/store.ts";' }],
    ["an import sideways", { "mcp/a.ts": 'import type { b } from "../web/b.ts";' }],
    ["an import when it is called", { "store/a.ts": 'await import("../cli/b.ts");' }],
    ["past the store's front door", { "recall/a.ts": 'import { b } from "../store/journal.ts";' }],
    ["the page and its server", { "web/page/main.tsx": 'import { b } from "../server.ts";' }],
    ["a room without a rank", { "attic/a.ts": 'import { b } from "../errors.ts";' }],
  ])("find %s", (_, files) => {
    expect(breachesOf(files)).toHaveLength(1);
  });

  it("let through what is below, and the room itself", () => {
    const files = {
      "recall/a.ts": 'import { b } from "../store/store.ts"; import { c } from "./c.ts"; import fs from "node:fs";',
      "web/page/main.tsx": 'import type { Api } from "../api.ts";',
    };
    expect(breachesOf(files)).toEqual([]);
  });
});
