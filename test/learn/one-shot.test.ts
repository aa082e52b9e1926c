/** Extraction by a model without tools: one question, one JSON answer, and once more for what was refused. */

import { describe, expect, it } from "vitest";
import { readCursor } from "../../src/learn/extraction-gates.ts";
import { EXTRACTION_SCHEMA, ONE_SHOT_RULES } from "../../src/prompts/learning.ts";
import { parseMemory } from "../../src/store/memory.ts";
import {
  answer,
  type ExtractionDesk,
  extract,
  FILE,
  note,
  openExtractionDesk,
  SESSION,
  TALK,
  user,
} from "./extraction-desk.ts";

const openDesk = (more: Parameters<typeof openExtractionDesk>[0] = {}) =>
  openExtractionDesk({ takesTools: false, ...more });
const request = { session: SESSION, messages: TALK };
const NONE = { text: '{"memories": []}' };

/** The text of the last message that the model was sent. */
const lastPrompt = ({ server }: ExtractionDesk): string =>
  server.requests
    .at(-1)
    ?.body.messages.at(-1)
    .content.map(({ text }: { text: string }) => text)
    .join("\n") ?? "";

describe("one question", () => {
  it("offers no tools, shows rules, list and messages, and keeps what is answered like any other extraction", async () => {
    const desk = await openDesk();
    desk.disk.write("user_role.md", note({ type: "user", name: "Role", description: "works on payments" }));
    desk.server.queue(answer(note()));
    const result = await extract(desk, request);
    expect(result).toMatchObject({ failed: null, turns: 1, calls: 1, saved: [{ file: FILE, action: "saved" }] });
    const body = desk.server.requests[0]?.body;
    expect(body.tools).toBeUndefined();
    expect(body.system[0]?.text).toBe(ONE_SHOT_RULES);
    expect(desk.prompt()).toContain("user_role.md");
    expect(desk.prompt()).toContain("[m1] THE USER");
    expect(desk.prompt()).not.toContain(desk.disk.dir);
    const memory = parseMemory(FILE, desk.disk.read(FILE));
    expect(memory).toMatchObject({
      type: "feedback",
      name: "Keep commits separate",
      source: { by: "user", message: "u1" },
    });
    expect(memory.when).toHaveLength(3);
    expect(readCursor(desk.disk.dir, SESSION)?.message).toBe("a1");
    expect(desk.spent).toMatchObject([{ kind: "extraction", model: "anthropic/claude-test", produced: "1 saved" }]);
  });

  it("is asked with a schema that allows no other fields, and a file only for what exists", () => {
    const { memories } = EXTRACTION_SCHEMA.properties as { memories: { items: Record<string, unknown> } };
    const { properties, required, additionalProperties } = memories.items;
    expect(Object.keys(properties as object)).toEqual(["file", ...(required as string[])]);
    expect(additionalProperties).toBe(false);
  });

  it("an empty list is nothing to keep: the cursor moves", async () => {
    const desk = await openDesk();
    desk.server.queue({ text: 'Here it is:\n```json\n{"memories": []}\n```' });
    expect(await extract(desk, request)).toMatchObject({ saved: [], refused: [], failed: null, turns: 1 });
    expect(readCursor(desk.disk.dir, SESSION)?.message).toBe("a1");
  });

  it("a conversation is not forked: the whole text is shown", async () => {
    const desk = await openDesk();
    desk.server.queue(NONE);
    const conversation = { system: [], tools: [], messages: TALK.map(({ message }) => message), sent: 0 };
    await extract(desk, { ...request, conversation });
    expect(desk.server.requests[0]?.body.messages).toHaveLength(1);
    expect(desk.prompt()).toContain("| Please never squash my commits");
  });

  it.each([
    ["no JSON", { text: "I have saved it." }],
    ["another object", { text: '{"notes": []}' }],
    ["half an answer", { text: '{"memories": [{"name": "x', stop: "max_tokens" as const }],
  ])("%s, twice: it failed, and the cursor stays", async (_, wrong) => {
    const desk = await openDesk();
    desk.server.queue(wrong, wrong);
    const result = await extract(desk, request);
    expect(result).toMatchObject({ saved: [], turns: 2 });
    expect(result.failed).not.toBeNull();
    expect(readCursor(desk.disk.dir, SESSION)).toBeNull();
  });

  it("waits in the inbox where the mode says so, and writes nothing once it was stopped", async () => {
    const desk = await openDesk({ mode: "inbox" });
    desk.server.queue(answer(note()));
    expect(await extract(desk, request)).toMatchObject({ saved: [{ action: "inbox" }] });
    const stopped = await openDesk();
    stopped.server.queue(answer(note()), NONE);
    let looks = 0;
    await extract(stopped, { ...request, isWanted: () => ++looks < 3 });
    expect(stopped.proposals).toEqual([]);
  });
});

describe("a second question", () => {
  it("says what was refused; what is fixed is kept, and what was kept is not repeated", async () => {
    const desk = await openDesk();
    const tomorrow = note({
      name: "Freeze",
      description: "Freeze",
      type: "project",
      body: "The freeze begins tomorrow.",
    });
    const said = [...TALK, user("u2", "The freeze begins tomorrow.")];
    const fixed = note({
      name: "Freeze",
      description: "Freeze",
      type: "project",
      source: "m3",
      body: "The freeze begins on 2026-03-10.",
    });
    desk.server.queue(answer(note(), tomorrow.replace("source: m1", "source: m3")), answer(fixed));
    const result = await extract(desk, { session: SESSION, messages: said });
    expect(result).toMatchObject({ failed: null, refused: [], turns: 2 });
    expect(result.saved.map(({ file }) => file)).toEqual([FILE, "project_freeze.md"]);
    expect(lastPrompt(desk)).toMatch(/Not kept yet:\n- project_freeze\.md was not written: .*"tomorrow" is 2026-03-10/);
    expect(desk.disk.read("project_freeze.md")).toContain("on 2026-03-10");
  });

  it("what is refused twice is refused, and the cursor moves", async () => {
    const desk = await openDesk();
    const rule = note({ source: null });
    desk.server.queue(answer(rule), answer(rule));
    const result = await extract(desk, request);
    expect(result).toMatchObject({ saved: [], failed: null, turns: 2 });
    expect(result.refused).toEqual([expect.stringContaining("must say where it comes from")]);
    expect(readCursor(desk.disk.dir, SESSION)?.message).toBe("a1");
  });

  it("a memory that exists is shown before it is changed, by its file or its name, and the rest of it stays", async () => {
    for (const file of [FILE, null, "feedback_no_such.md"]) {
      const desk = await openDesk();
      const old = note({ source: "user" }).replace("type:", "other: kept\ntype:");
      desk.disk.write(FILE, old);
      const body =
        "Never squash commits, and never rebase them.\n\n**Why:** reviewers read them.\n**How to apply:** always.";
      const changed = {
        text: String(answer(note({ body })).text).replace('"file":null', `"file":${JSON.stringify(file)}`),
      };
      desk.server.queue(changed, changed);
      const result = await extract(desk, request);
      expect(result, String(file)).toMatchObject({
        failed: null,
        refused: [],
        saved: [{ file: FILE, action: "updated" }],
      });
      expect(lastPrompt(desk)).toContain(`<memory file="${FILE}">\n---\nname: Keep commits separate`);
      const now = desk.disk.read(FILE);
      expect(now).toContain("other: kept");
      expect(now).toContain("never rebase them");
      expect(desk.disk.files().filter((each) => each.startsWith("feedback_"))).toEqual([FILE]);
    }
  });

  it("a memory that changed after it was shown is not overwritten", async () => {
    const desk = await openDesk();
    desk.disk.write(FILE, note({ source: "user" }));
    const changed = answer(note({ body: "Never squash commits at all.\n\n**Why:** x.\n**How to apply:** y." }));
    desk.server.queue(changed, () => {
      desk.disk.write(FILE, note({ source: "user", body: "Mine now." }));
      return changed;
    });
    const result = await extract(desk, request);
    expect(result.saved).toEqual([]);
    expect(desk.disk.read(FILE)).toContain("Mine now.");
  });

  it("looks at twenty memories and no more, and at nothing that is not one", async () => {
    const desk = await openDesk();
    const many = Array.from({ length: 25 }, (_, i) => ({
      file: "../../etc/passwd",
      name: `n${i}`,
      type: "project",
      description: "d",
      when: [],
      source: [],
      body: `${i}`,
    }));
    desk.server.queue({ text: JSON.stringify({ memories: [7, "x", { name: 1 }, null, ...many] }) }, NONE);
    const result = await extract(desk, request);
    expect(result.saved).toHaveLength(16);
    expect(lastPrompt(desk)).toContain("only the first 20 memories");
    for (const { file } of result.saved) expect(file).toMatch(/^project_n\d+\.md$/);
  });
});
