import { describe, expect, it } from "vitest";

/** The seeds' key files, and the room and verb that each of them is here. */
const KEY_FILES: [string, () => Promise<Record<string, unknown>>, string][] = [
  ["memdir", () => import("../../src/open.ts"), "openMemdir"],
  ["memoryTypes", () => import("../../src/store/memory.ts"), "isMemoryType"],
  ["paths", () => import("../../src/project/locate.ts"), "locate"],
  ["memoryScan", () => import("../../src/store/rows.ts"), "scan"],
  ["findRelevantMemories", () => import("../../src/recall/recall.ts"), "recall"],
  ["memoryAge", () => import("../../src/store/row-entry.ts"), "ageInDays"],
  ["teamMemPaths", () => import("../../src/project/scopes.ts"), "getTeamMemPath"],
  ["teamMemPrompts", () => import("../../src/prompts/memory.ts"), "buildMemorySection"],
  ["SessionMemory", () => import("../../src/agent/notes.ts"), "takeNotes"],
  ["extractMemories", () => import("../../src/learn/learn.ts"), "learn"],
  ["teamMemorySync", () => import("../../src/team/sync.ts"), "syncDirectory"],
];

describe("the seeds' key files are one module each", () => {
  it.each(KEY_FILES)("B1.14 %s", async (_, load, verb) => {
    const module = await load();
    expect(Object.keys(module)).toContain(verb);
    expect(typeof module[verb]).toBe("function");
  });

  it("B1.14 no two of them are the same", async () => {
    const modules = await Promise.all(KEY_FILES.map(([, load]) => load()));
    expect(new Set(modules).size).toBe(KEY_FILES.length);
  });
});
