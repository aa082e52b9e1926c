/** Notes beside a session in lists and searches. */

import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { findNotes } from "../../src/session/session-scan.ts";
import { listSessions, searchSessions } from "../../src/session/sessions.ts";
import { makeTemporary } from "../temporary.ts";

const ID = "0b5e7c1a-0000-4000-8000-000000000001";

function put(notes: string | null): { dir: string; file: string } {
  const dir = makeTemporary("notes");
  const file = path.join(dir, `${ID}.jsonl`);
  const message = { role: "user", content: "please look at it" };
  fs.writeFileSync(file, `${JSON.stringify({ type: "user", uuid: "1", parentUuid: null, message })}\n`);
  if (notes !== null) {
    fs.mkdirSync(path.join(dir, ID, "session-memory"), { recursive: true });
    fs.writeFileSync(path.join(dir, ID, "session-memory", "summary.md"), notes);
  }
  return { dir, file };
}

const NOTES =
  "# Session Title\n_What it is about_\n\nPrices become cents\n\n# Current State\n_What is done_\nThe checkout rounds.\n";

it("B8.8 C27 a session is listed under the title in its notes, and found by what they say", async () => {
  const { dir } = put(NOTES);
  const places = { dirs: [dir], older: null };
  expect((await listSessions(places))[0]).toMatchObject({ id: ID, title: "Prices become cents", messages: 1 });
  const [hit] = await searchSessions(places, "checkout rounds");
  expect(hit).toMatchObject({ id: ID, role: "notes", line: expect.stringContaining("The checkout rounds.") });
  expect(await searchSessions(places, "done")).toEqual([]);
});

it("without notes, with an empty form or with something odd in their place it is as before", async () => {
  for (const notes of [null, "", "# Session Title\n_What it is about_\n", "no headings at all"]) {
    const { dir, file } = put(notes);
    expect(findNotes(file)?.title ?? null).toBeNull();
    expect((await listSessions({ dirs: [dir], older: null }))[0]?.title).toBe("please look at it");
  }
  const { dir, file } = put(null);
  fs.mkdirSync(path.join(dir, ID, "session-memory", "summary.md"), { recursive: true });
  expect(findNotes(file)).toBeNull();
});
