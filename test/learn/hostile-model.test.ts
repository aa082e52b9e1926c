/** A model that is confused or hostile, and a world that changes under it; kept as the product keeps it. */

import fs from "node:fs";
import { describe, expect, it } from "vitest";
import { MemdirError } from "../../src/errors.ts";
import { readCursor } from "../../src/learn/extraction-gates.ts";
import { learnSession } from "../../src/learn/learn.ts";
import { openRulesExtractor } from "../../src/learn/rules.ts";
import type { Memdir } from "../../src/memdir.ts";
import { openExtractor, openLearning } from "../../src/open-learn.ts";
import { AT, DONE, extract, NOTHING, note, openExtractionDesk, SESSION, TALK, write } from "./extraction-desk.ts";

/** The desk with the product's own keeping; `change` may put something in the way of it. */
async function openRealDesk(settings: object = {}, change: (memdir: Memdir) => Partial<Memdir> = () => ({})) {
  const desk = await openExtractionDesk();
  fs.writeFileSync(`${desk.disk.home}/.claude/memdir.json`, JSON.stringify({ learn: settings }));
  const bare = await desk.disk.open();
  const memdir: Memdir = { ...bare, ...change(bare) };
  const { ask } = desk.model;
  const model = { ask, name: "claude-test", provider: "anthropic", windowTokens: 1, maxTokens: 1, cutoff: null };
  const learning = openLearning(memdir);
  const extractor = openExtractor(learning, () => model);
  return {
    ...desk,
    memdir,
    learning,
    look: (messages = TALK) => extract({ learning, extractor }, { session: SESSION, messages }),
    cursor: () => readCursor(desk.disk.dir, SESSION)?.message ?? null,
    memories: () => desk.disk.files().filter((file) => file !== "MEMORY.md"),
  };
}

const FILE = "feedback_keep_commits_separate.md";
const read = (file_path: string) => ({ tools: [{ name: "Read", input: { file_path } }] });
const writes = (...files: [string, string][]) => ({
  tools: files.map(([file_path, content]) => ({ name: "Write", input: { file_path, content } })),
});

describe("a world that changes", () => {
  it("what a person writes between the model's look at a file and its writing stays, and nothing is passed over", async () => {
    let meanwhile = () => {};
    const desk = await openRealDesk({}, (memdir) => ({
      list: (filter) => {
        meanwhile();
        return memdir.list(filter);
      },
    }));
    desk.disk.write(FILE, note({ source: "user" }));
    desk.server.queue(
      read(FILE),
      () => {
        meanwhile = () => desk.disk.write(FILE, note({ source: "user", body: "Never squash commits. Ask Ann first." }));
        return write(FILE, note({ body: "Never squash my commits, reviewers read them one by one." }));
      },
      DONE,
    );
    const result = await desk.look();
    expect(desk.disk.read(FILE)).toContain("Ask Ann first.");
    expect(result.failed).toContain("was changed in the meantime");
    expect(desk.cursor()).toBeNull();
  });

  it.each(["lock", "disk"] as const)("a %s that gives way later: the same is looked at again", async (code) => {
    let isHeld = true;
    const desk = await openRealDesk({}, (memdir) => ({
      save: async (request) => {
        if (isHeld) throw new MemdirError(code, "somebody has been writing for over 30 s");
        return memdir.save(request);
      },
    }));
    desk.server.queue(write("a.md"), DONE, write("a.md"), DONE);
    expect(await desk.look()).toMatchObject({ saved: [], failed: expect.stringContaining("over 30 s") });
    expect(desk.cursor()).toBeNull();
    isHeld = false;
    expect((await desk.look()).saved).toHaveLength(1);
    expect(desk.cursor()).toBe("a1");
  });

  it("the same for rules", async () => {
    const { learning, cursor } = await openRealDesk({}, () => ({
      save: () => Promise.reject(new MemdirError("lock", "somebody has been writing")),
    }));
    const text = "remember that the freeze starts on 2026-04-01";
    const messages = [{ role: "user" as const, content: [{ type: "text" as const, text }] }];
    const prompts = [{ uuid: "u1", text, at: AT, index: 0, parent: null }];
    const session = { id: SESSION, path: "x", messages, prompts, cwd: null, problems: [] };
    const done = await learnSession(
      learning,
      openRulesExtractor(learning, async () => null),
      session,
    );
    expect(done).toMatchObject({ saved: [], failed: expect.stringContaining("somebody has been writing") });
    expect(cursor()).toBeNull();
  });
});

describe("a model that", () => {
  it("calls fifty tools at once keeps every good one and loses none of the refusals", async () => {
    const desk = await openRealDesk();
    const good = Array.from({ length: 25 }, (_, i): [string, string] => [
      `feedback_${i}.md`,
      note({ name: `Commits ${i}`, body: `Never squash commits of branch ${i}.` }),
    ]);
    const bad = good.map(([, text], i): [string, string] => [`../out_${i}.md`, text]);
    desk.server.queue(writes(...good.flatMap((one, i) => [one, bad[i]!])), DONE);
    const result = await desk.look();
    expect(result).toMatchObject({ failed: null, calls: 50 });
    expect(result.saved).toHaveLength(25);
    expect(desk.memories()).toHaveLength(25);
    expect(desk.disk.grep("of branch 3.").filter((file) => file.includes("out_"))).toEqual([]);
  });

  it("writes one file twice in one answer leaves one memory, the later one", async () => {
    const desk = await openRealDesk();
    const later = note({ body: "Never squash commits, the reviewers read them one by one." });
    desk.server.queue(writes([FILE, note()], [FILE, later]), DONE);
    const result = await desk.look();
    expect(result.saved).toHaveLength(1);
    expect(desk.memories()).toEqual([result.saved[0]!.file]);
    expect(desk.disk.read(result.saved[0]!.file)).toContain("one by one");
  });

  it("writes a memory that exists twice in one answer, and edits it then, is not in its own way", async () => {
    const desk = await openRealDesk();
    desk.disk.write(FILE, note({ source: "user" }));
    const version = (more: string) => note({ body: `Never squash my commits, the reviewers read them. ${more}` });
    const edit = { file_path: FILE, old_string: "Second.", new_string: "Third." };
    desk.server.queue(
      read(FILE),
      writes([FILE, version("First.")], [FILE, version("Second.")]),
      read(FILE),
      { tools: [{ name: "Edit", input: edit }] },
      DONE,
    );
    expect(await desk.look()).toMatchObject({ failed: null, saved: [{ action: "updated" }] });
    expect(desk.disk.read(FILE)).toContain("Third.");
  });

  it("mends its draft while a person decides leaves one proposal, the later one", async () => {
    const desk = await openRealDesk({ mode: "inbox" });
    const later = note({ body: "Never squash commits, the reviewers read them one by one." });
    desk.server.queue(write(FILE), write(FILE, later), DONE);
    await desk.look();
    expect(desk.learning.inbox.list().map(({ body }) => body)).toEqual([expect.stringContaining("one by one")]);
    expect(desk.learning.ledger.entries().at(-1)?.produced).toBe("1 in the inbox");
  });

  it.each([
    ["a path upwards", "../../feedback_x.md"],
    ["backslashes upwards", "..\\..\\feedback_x.md"],
    ["the index", "MEMORY.md"],
    ["the index in small letters", "memory.md"],
    ["state", ".memdir/inbox/feedback_x.md"],
    ["a log", "logs/2026/03/2026-03-10.md"],
    ["a reserved name", "CON.md"],
    ["three hundred letters", `${"x".repeat(300)}.md`],
    ["signs that turn the direction", "feedback_\u202egnp.md"],
    ["another stream", "feedback_x.md:hidden.md"],
    ["a line break", "feedback\n_x.md"],
    ["nothing", ""],
  ])("names %s writes nothing there", async (_, file) => {
    const desk = await openRealDesk();
    desk.server.queue(write(file), DONE);
    await desk.look();
    // What may be kept is kept under a name of our own.
    for (const kept of desk.memories()) expect(kept).toBe(FILE);
    expect(desk.disk.grep("Never squash commits").filter((at) => !at.includes("/memory/"))).toEqual([]);
  });

  it.each([
    ["a path upwards", "../../etc/passwd"],
    ["a reserved name", "CON"],
    ["three hundred letters", "x".repeat(300)],
    ["signs that turn the direction", "abc\u202egnp\u2066"],
    ["faces", "🦊🦊"],
    ["the index", "MEMORY"],
    ["colours of a terminal", "\\e[31mred\\a"],
  ])("calls a memory by %s gets a plain file in the directory or nothing", async (_, name) => {
    const desk = await openRealDesk();
    desk.server.queue(write("feedback_a.md", note({ name: `"${name}"` })), DONE);
    const result = await desk.look();
    for (const file of desk.memories()) {
      expect(file).toMatch(/^feedback_[\p{L}\p{N}_-]+\.md$/u);
      expect(Buffer.byteLength(file)).toBeLessThan(256);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is looked for
      expect(`${desk.disk.read(file)}${desk.disk.index()}`).not.toMatch(/[\x00-\x08\x1b\x07]/);
    }
    expect(result.failed).toBeNull();
  });

  it("writes a book or an empty memory is refused, and the memory that is there stays", async () => {
    const desk = await openRealDesk();
    desk.disk.write(FILE, note({ source: "user" }));
    desk.server.queue(
      read(FILE),
      write(FILE, note({ body: " " })),
      write(FILE, ""),
      write("feedback_book.md", note({ name: "Book", body: `Never squash commits. ${"word ".repeat(40_000)}` })),
      NOTHING,
    );
    const result = await desk.look();
    expect(result.saved).toEqual([]);
    expect(desk.memories()).toEqual([FILE]);
    expect(desk.disk.read(FILE)).toBe(note({ source: "user" }));
  });

  it("says that there is nothing to keep after it wrote has kept it", async () => {
    const desk = await openRealDesk();
    desk.server.queue(write(FILE), NOTHING);
    expect(await desk.look()).toMatchObject({ saved: [{ file: FILE }], failed: null });
    expect(desk.cursor()).toBe("a1");
  });
});
