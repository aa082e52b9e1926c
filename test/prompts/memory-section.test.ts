/**
 * The golden files are what a model reads; review them as text. After a wanted change write them anew with
 * `npx vitest run test/prompts -u` and read the diff.
 */

import { describe, expect, it } from "vitest";
import {
  buildMemoryPart,
  buildMemorySection,
  DEFAULT_TOOL_NAMES,
  type MemorySection,
  SECTION_NAMES,
  type SectionName,
} from "../../src/prompts/memory.ts";
import { parseIndexLine } from "../../src/store/index-line.ts";
import { fileNameFor, MEMORY_TYPES, parseMemory } from "../../src/store/memory.ts";

const DIR = "/home/ana/.claude/projects/-home-ana-shop/memory";
const INDEX = `# Memory

- [Keep commits separate](feedback_separate_commits.md) — never squash a branch that goes to review
- [Billing freeze](project_billing_freeze.md) — no billing changes until 2026-05-22
`;
const EMPTY: MemorySection = { dir: DIR, index: "" };
const FULL: MemorySection = {
  dir: DIR,
  index: INDEX,
  indexWarning: "> MEMORY.md has 250 lines (limit 200): 50 lines from line 201 on are not loaded.",
  teamDir: "/home/ana/shop/.claude/memory",
  transcriptsDir: "/home/ana/.claude/projects/-home-ana-shop",
  memories: "Memory (saved today): feedback_separate_commits.md:\n\nLeave the commits as they are.\n",
};

const part = (name: SectionName, section: MemorySection = EMPTY) => buildMemoryPart(name, section);

describe("the whole section", () => {
  it("B5.1 B5.2 B5.9 reads as in the golden file, nothing saved yet", async () => {
    await expect(buildMemorySection(EMPTY)).toMatchFileSnapshot("golden/memory-section-empty.md");
  });

  it("B5.1 B5.2 B5.8 B5.9 reads as in the golden file, everything on", async () => {
    await expect(buildMemorySection(FULL)).toMatchFileSnapshot("golden/memory-section-full.md");
  });

  it("B5.1 is its parts in order, each once", () => {
    expect(buildMemorySection(FULL)).toBe(SECTION_NAMES.map((name) => part(name, FULL)).join("\n\n"));
    expect(SECTION_NAMES.filter((name) => part(name) === "")).toEqual(["team"]);
  });

  it("B5.2 opens with the title and the directory, which exists", () => {
    expect(buildMemorySection(EMPTY)).toMatch(/^# Memory\n/);
    expect(part("location")).toContain(`\`${DIR}\`. The directory exists; write straight away.`);
  });

  it("gives equal bytes for equal input, with no clock or environment in it", () => {
    const built = buildMemorySection(FULL);
    expect(buildMemorySection(structuredClone(FULL))).toBe(built);
    expect(built).not.toMatch(/undefined|null|\[object|\r/);
    expect(built).not.toMatch(/[ \t]$/m);
  });

  it("stays within its budget, since it is paid for in every request", () => {
    expect(buildMemorySection(EMPTY).length).toBeLessThan(7_500);
    expect(buildMemorySection({ ...FULL, withIndex: false }).length).toBeLessThan(7_500);
  });
});

describe("index", () => {
  it("B5.2 says so when nothing is saved", () => {
    for (const index of ["", "\n", " \n\n"])
      expect(part("index", { dir: DIR, index })).toBe("## Current index (MEMORY.md)\n\n(No memories saved yet.)");
    expect(buildMemorySection(FULL)).not.toContain("No memories saved yet");
  });

  it("B5.2 shows the index as it is, between marks, then the warning, then memories", () => {
    const shown = part("index", FULL);
    expect(shown).toContain(`<memory-index>\n${INDEX}</memory-index>\n\n> MEMORY.md has 250 lines`);
    expect(shown.endsWith("Leave the commits as they are.")).toBe(true);
  });

  it("B5.2 leaves odd lines of the index alone", () => {
    const odd = "  - [x](a.md) — costs $1, $& and {{memory}}\n\n# Memory\n```";
    expect(part("index", { dir: DIR, index: odd })).toContain(`<memory-index>\n${odd}\n</memory-index>`);
  });

  it("C42 leaves out index and memories when they go to the user context, and nothing else", () => {
    const without = buildMemorySection({ ...FULL, withIndex: false });
    expect(`${without}\n\n${part("index", { ...FULL, withIndex: false })}`).toBe(buildMemorySection(FULL));
  });

  it("C42 stays the same without the index while memories come and go", () => {
    const system = (index: string) => buildMemorySection({ ...FULL, index, memories: index, withIndex: false });
    expect(system("")).toBe(system(INDEX));
  });
});

describe("what to save", () => {
  const exclusions = part("exclusions");
  const types = part("types");

  it("B3.1 only what cannot be derived from the project's present state", () => {
    expect(exclusions).toContain("only what cannot be worked out from the project as it stands");
  });

  it.each([
    ["B3.2 B3.8", "code patterns, architecture, file paths"],
    ["B3.2 B3.8", "git history"],
    ["B3.2 B3.8", "debugging solutions"],
    ["B3.3 B3.8", "CLAUDE.md"],
    ["B3.4 B3.8", "details of the task"],
    ["B3.8", "secrets"],
  ])("%s leaves out: %s", (_, words) => {
    const listed = exclusions.split("\n").filter((line) => line.startsWith("- "));
    expect(listed.some((line) => line.includes(words))).toBe(true);
  });

  it("B3.5 holds even when the user asks: then the surprising part is asked for and kept", () => {
    expect(exclusions).toMatch(
      /even when the user asks.*ask which part of it was surprising or non-obvious.*keep only/,
    );
    expect(part("remember")).toContain("left out (below) you ask about first");
  });

  it("B3.6 has the four types of the code, each with trigger, use and example", () => {
    const blocks = types.split(/\n(?=- \*\*)/).slice(1);
    expect(blocks.map((block) => /^- \*\*(\w+)\*\*/.exec(block)?.[1])).toEqual([...MEMORY_TYPES]);
    for (const block of blocks) expect(block).toMatch(/\n {2}- Save when .*\n {2}- Use it .*\n {2}- Example/);
  });

  it.each([
    ["user", /Save when you learn about their role/],
    ["feedback", /Save when the user corrects you, and just as much when they affirm/],
    ["project", /goals, decisions, deadlines[\s\S]*Make dates absolute/],
    ["reference", /a place outside the project/],
  ])("B3.6 %s has its trigger", (type, trigger) => {
    expect(types.split(/\n(?=- \*\*)/).find((block) => block.startsWith(`- **${type}**`))).toMatch(trigger);
  });

  it("B3.7 names preferences, corrections, conventions, references and ways of working", () => {
    for (const words of ["prefer", "corrects", "conventions", "tracker", "ways of working"])
      expect(types).toContain(words);
  });

  it("B3.9 sends what always applies to CLAUDE.md, what changes to memory, plans and steps to their own places", () => {
    expect(part("other-places")).toMatch(
      /CLAUDE\.md: rules that always apply.*Facts that will change belong in memory/,
    );
    expect(part("other-places")).toMatch(/- Plan: [\s\S]*- Task list: /);
  });

  it("B3.11 asks for the reason and says what it is good for", () => {
    expect(types).toMatch(/`\*\*Why:\*\*`.*`\*\*How to apply:\*\*`.*a case no one foresaw.*when the rule has expired/);
  });

  it("saves or forgets at once when asked", () => {
    expect(part("remember")).toMatch(/Remember.*at once[\s\S]*Forget.*at once/);
  });
});

describe("how to save", () => {
  const saving = part("saving");
  const example = /```markdown\n([\s\S]*?\n)```/.exec(saving)?.[1] ?? "";
  const memory = parseMemory("feedback_separate_commits.md", example);

  it("B5.2 names tool, file name and index line, in the forms that memdir itself reads and writes", () => {
    expect(saving).toContain("`Write` the file `{type}_{slug}.md`");
    expect(fileNameFor("feedback", "separate commits")).toBe("feedback_separate_commits.md");
    expect(saving).toContain("feedback_separate_commits.md");
    const line = /`(- \[Title\].*?)`/.exec(saving)?.[1] ?? "";
    expect(parseIndexLine(line)).toEqual({ file: "file.md", title: "Title", hook: "hook" });
    expect(saving).toContain("150 characters");
    expect(saving).toContain("instead of adding a second");
  });

  it("shows an example that memdir reads without complaint", () => {
    expect(memory).toMatchObject({ name: "Keep commits separate", type: "feedback", typeExplicit: true, problems: [] });
    expect(memory.body).toMatch(/\n\n\*\*Why:\*\* .+\n\*\*How to apply:\*\* /);
  });

  it("shows six cues that use none of the memory's own words", () => {
    expect(memory.when).toHaveLength(6);
    const own = new Set(wordsOf(`${memory.name} ${memory.description} ${memory.body}`));
    expect(wordsOf(memory.when.join(" ")).filter((word) => own.has(word))).toEqual([]);
  });

  /** Short words are glue. */
  function wordsOf(text: string): string[] {
    return text.toLowerCase().match(/[a-z]{4,}/g) ?? [];
  }
});

describe("how to use", () => {
  it("B5.1 says when to look, when it is a must, and what ignoring means", () => {
    expect(part("access")).toMatch(
      /bear on the request[\s\S]*recall[\s\S]*a must[\s\S]*ignore memory, act as if it were empty.*not mention/,
    );
  });

  it("B5.6 has what a memory names checked before it is recommended", () => {
    expect(part("drift")).toMatch(/file, function or flag was true on the day it was saved/);
    expect(part("drift")).toMatch(/A file: check that it exists\.\n- A function, flag or setting: `Grep`/);
    expect(part("drift")).toMatch(/trust what you observe, and fix or delete the memory/);
  });

  it("B5.7 knows what is authoritative", () => {
    expect(part("drift")).toMatch(/recent history `git log` is authoritative, on the current state the code/);
  });

  it("B5.4 searches index, files, then all memories", () => {
    expect(part("search")).toMatch(/1\. .*index.*\n2\. `Read`.*\n3\. .*`Grep` all `\*\.md` in `\/home/);
    expect(part("search")).toContain(DIR);
    expect(part("search")).not.toContain("jsonl");
  });

  it("B5.4 searches transcripts last, where there are any, and the team's memories where there are any", () => {
    expect(part("search", FULL)).toMatch(
      /\n4\. .*`\*\.jsonl` in `\/home\/ana\/\.claude\/projects\/-home-ana-shop`.*last\.$/,
    );
    expect(part("search", FULL)).toContain("and `/home/ana/shop/.claude/memory`");
  });

  it("B5.8 tells of the team directory when team memory is on", () => {
    expect(part("team", FULL)).toContain(
      "`/home/ana/shop/.claude/memory` is shared with everyone who works on this project",
    );
    expect(part("team", FULL)).toContain("Never a secret");
    for (const teamDir of [undefined, null, ""]) {
      expect(part("team", { ...FULL, teamDir })).toBe("");
      expect(buildMemorySection({ ...FULL, teamDir })).not.toMatch(/team/i);
    }
  });

  it("B11.16 speaks of the host's tools by the host's names", () => {
    const tools = {
      read: "read_file",
      write: "write_file",
      edit: "replace",
      grep: "search_text",
      remove: "delete_file",
    };
    const built = buildMemorySection({ ...FULL, tools });
    for (const name of Object.values(tools)) expect(built).toContain(`\`${name}\``);
    for (const name of Object.values(DEFAULT_TOOL_NAMES)) expect(built).not.toContain(`\`${name}\``);
  });

  it("B11.16 keeps the usual names where the host gives none", () => {
    expect(buildMemorySection({ ...EMPTY, tools: { grep: undefined } })).toBe(buildMemorySection(EMPTY));
    expect(part("search", { ...EMPTY, tools: { grep: "rg" } })).toContain("`rg` all");
    expect(part("search", { ...EMPTY, tools: { grep: "rg" } })).toContain("`Read`");
  });
});
