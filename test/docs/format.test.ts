/** docs/format.md says what the code does: every example is read, and its own claims are checked. */

import fs from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { INDEX_FILE, OVERFLOW_FILE } from "../../src/project/locate.ts";
import { CLIENT_LIMITS, formatIndexLine, parseIndexLine } from "../../src/store/index-line.ts";
import { MEMORY_TYPES, parseMemory } from "../../src/store/memory.ts";
import { makeWorld, START } from "../world.ts";

const document = fs.readFileSync(fileURLToPath(new URL("../../docs/format.md", import.meta.url)), "utf8");

interface Example {
  line: number;
  /** Null for a valid one. */
  reason: string | null;
  text: string;
}

const examples: Example[] = [...document.matchAll(/^```markdown (valid|invalid: (.+))\n([\s\S]*?)^```$/gm)].map(
  (match) => ({
    line: document.slice(0, match.index).split("\n").length,
    reason: match[2] ?? null,
    text: match[3] ?? "",
  }),
);

function isIndex(text: string): boolean {
  return text
    .trim()
    .split("\n")
    .every((line) => /^([-*]|\d+\.) /.test(line));
}

const memories = examples.filter(({ text }) => !isIndex(text));
const indexes = examples.filter(({ text }) => isIndex(text));
const where = ({ line, reason }: Example) => `line ${line}${reason ? `: ${reason}` : ""}`;

describe("docs/format.md", () => {
  it("marks every Markdown example", () => {
    expect(document.match(/^```markdown.*$/gm)).toHaveLength(examples.length);
    expect(examples.filter(({ reason }) => reason === null).length).toBeGreaterThan(4);
    expect(examples.filter(({ reason }) => reason !== null).length).toBeGreaterThan(6);
  });

  it.each(memories.filter(({ reason }) => reason === null).map((e) => [where(e), e] as const))(
    "the valid memory in %s is read without a problem",
    (_, { text }) => {
      const memory = parseMemory("example.md", text);
      expect(memory.problems).toEqual([]);
      expect(memory).toMatchObject({ typeExplicit: true, broken: false });
      expect(memory.description).not.toBe("");
      expect(memory.body).not.toBe("");
    },
  );

  it.each(memories.filter(({ reason }) => reason !== null).map((e) => [where(e), e] as const))(
    "the invalid memory in %s is refused for that reason",
    (_, { text, reason }) => {
      expect(parseMemory("example.md", text).problems.join("\n")).toContain(reason);
    },
  );

  it.each(indexes.map((e) => [where(e), e] as const))("the index lines in %s", (_, { text, reason }) => {
    for (const line of text.trim().split("\n")) {
      if (reason === null) expect([line, parseIndexLine(line)?.file]).toEqual([line, expect.stringMatching(/\.md$/)]);
      else expect([line, parseIndexLine(line)]).toEqual([line, null]);
    }
  });

  it("B4.6 shows the index line that is written", () => {
    const first = parseMemory("user_prefers_tabs.md", memories[0]?.text ?? "");
    expect(document).toContain(`\n${formatIndexLine(first)}\n`);
  });

  it("B4.2 C7 the first example is what a save writes", async () => {
    const world = makeWorld();
    const first = parseMemory("user_prefers_tabs.md", memories[0]?.text ?? "");
    const saved = await (await world.open()).save({
      type: first.type,
      name: first.name,
      description: first.description,
      body: first.body,
      when: first.when,
      pinned: first.pinned,
      source: first.source ?? { by: "user", session: null, message: null },
    });
    expect(world.read(saved.file)).toBe(memories[0]?.text);
    expect(memories[0]?.text).toContain(START);
  });

  it("has a row for every field of a memory, and for nothing else", () => {
    const table = /### Fields\n\n([\s\S]*?)\n\n/.exec(document)?.[1] ?? "";
    const rows = [...table.matchAll(/^\| `(\w+)` \|/gm)].map((match) => match[1]);
    const { file, typeExplicit, problems, broken, unreadable, body, metadata, ...fields } = parseMemory("a.md", "");
    // Read where they matter, by team memory, and not part of every header.
    const ofTeams = ["share", "conflict_with"];
    expect(rows.sort()).toEqual([...Object.keys(fields), ...ofTeams].sort());
  });

  it("B2.1 names the four types", () => {
    const table = /### The four types[\s\S]*?\n\n([\s\S]*?)\n\n/.exec(document)?.[1] ?? "";
    expect([...table.matchAll(/^\| `(\w+)` \|/gm)].map((match) => match[1])).toEqual([...MEMORY_TYPES]);
  });

  it("C12 names the files and caps", () => {
    for (const name of [INDEX_FILE, OVERFLOW_FILE]) expect(document).toContain(`\`${name}\``);
    expect(document).toContain(`**${CLIENT_LIMITS.maxLines} lines** and **25,000 characters**`);
    expect(CLIENT_LIMITS.maxChars).toBe(25_000);
  });

  it("names everything that lies in .memdir", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    await memdir.save({ type: "user", name: "a", body: "x" });
    const names = fs.readdirSync(world.path(".memdir"));
    const state = document.slice(document.indexOf("## `.memdir/`"));
    for (const name of names) expect(state).toContain(`\`${name}`);
  });
});
