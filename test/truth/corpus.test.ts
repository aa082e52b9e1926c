/** The labelled memories over a built history, and this repository's own. */

import { execFileSync } from "node:child_process";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { examine } from "../../src/truth/examination.ts";
import { makeTemporary } from "../temporary.ts";
import { measureCorpus, readCorpus } from "./corpus/measure.ts";

const PRECISION = 0.95;
const RECALL = 0.85;

describe("labelled memories", () => {
  it.each([
    ["own", 60],
    ["more", 50],
    ["hard", 20],
    ["blind", 50],
  ])("B9.10 C35 what is moved, gone or expired is told: %s", async (name, least) => {
    const memories = readCorpus(name);
    expect(memories.length).toBeGreaterThanOrEqual(least);
    const { precision, recall, wrong, missed } = await measureCorpus(makeTemporary("truth", "memory"), memories);
    expect(precision, wrong.join("\n")).toBeGreaterThanOrEqual(PRECISION);
    expect(recall, missed.join("\n")).toBeGreaterThanOrEqual(RECALL);
  });

  it("are at least 150", () => expect(readCorpus("own", "more", "hard", "blind").length).toBeGreaterThanOrEqual(150));
});

describe("this repository", () => {
  const root = path.resolve(import.meta.dirname, "../..");
  /** The commit that moved a file from one room to another, rewriting it. */
  const MOVED = findMove(root);

  it.skipIf(MOVED === null)(
    "tells what a memory of an old commit says wrong at HEAD (skipped where history is shallow)",
    async () => {
      const text = [
        "Searching is in `src/memory/search.ts`; instruction files are found by src/instructions/discover.ts.",
        "The journal is `src/store/journal.ts`, with `beginEntry` and `endEntry`.",
        "We deleted src/cli/console-line.ts, see src/cli/run.ts.",
      ].join("\n\n");
      const { memories } = await examine(
        { root, env: { PATH: process.env.PATH } },
        [{ file: "old.md", text, written: new Date("2026-01-01") }],
        { names: new Set(), today: "2026-11-16" },
      );
      const findings = memories[0]?.findings.map(({ claim, verdict }) => `${claim.text} ${verdict}`);
      expect(findings).toEqual([
        "src/memory/search.ts moved",
        "src/instructions/discover.ts gone",
        "src/store/journal.ts holds",
        "beginEntry holds",
        "endEntry holds",
        "src/cli/run.ts holds",
      ]);
    },
  );
});

function findMove(root: string): string | null {
  try {
    const args = ["log", "--format=%h", "--diff-filter=D", "-1", "--", "src/memory/search.ts"];
    return (
      execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim() || null
    );
  } catch {
    return null;
  }
}
