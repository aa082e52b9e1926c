/** Which parts of a memory are records of past work, and that their findings are shown on request only. */

import fs from "node:fs";
import { describe, expect, it } from "vitest";
import type { Memdir } from "../../src/memdir.ts";
import { findClaims } from "../../src/truth/claims.ts";
import { makeWorld } from "../world.ts";

/** Why the memory's mention of src/a.ts is a record; undefined if it is a claim about today. */
const recordOf = (text: string) => {
  const { claims } = findClaims(text, { root: "/projects/harbor", names: ["harbor"], written: new Date("2026-03-10") });
  const found = claims.find((claim) => claim.text === "src/a.ts");
  expect(found).toBeDefined();
  return found?.record;
};

const READS = "it reads like a record of past work";

describe("a record of past work", () => {
  it.each([
    ["under a day", "## 2026-01-05\n\nSee src/a.ts."],
    ["under a day further up", "## 2026-01-05\n\n### Pool\n\n- src/a.ts drains it"],
    ["in an item that begins with a day", "- 2026-01-05: the pool is in src/a.ts."],
    ["in an item that begins with a day in words", "- 5 January 2026: the pool is in src/a.ts."],
    ["in an item that begins with a day in Chinese", "- 2026年1月5日 src/a.ts 已完成"],
    ["in a table by day", "| day | change |\n|---|---|\n| 2026-01-05 | src/a.ts drains the pool |"],
    ["under one of several days", "## Pool (2026-01-05)\n\nIn src/a.ts.\n\n## Auth (2026-01-09)\n\nIn src/b.ts."],
    ["under a finished heading with a day", "## ✅ BEHOBEN (2026-01-05)\n\n### Was gebaut wurde\n\n- src/a.ts"],
    ["in a sentence of a day", "**Why:** On 2026-01-05, a checkout of src/a.ts lost an afternoon of work."],
    ["in an update of a day", "**UPD [X] (2026-01-05):** the hub is now in src/a.ts. See there."],
    ["in a sentence of a commit", "Tag 6, Commit 31b5f40: Namen in src/a.ts vereinheitlicht."],
    ["under a commit", "### Other changes in `f2b1640`\n\n- src/a.ts: polish"],
    ["of a ticket", "- TICKET-0026: src/a.ts was slow.\n- TICKET-0027: done."],
    ["below a ticket", "- TL-76: fixed\n  - in src/a.ts\n- TL-77: open"],
    ["of a pull request", "- PR #5 — Smoke-CI für src/a.ts\n- PR #6 — URL-Fix"],
    ["of a version", "## v1.4.0\n\n- src/a.ts\n\n## v1.3.0\n\n- more"],
    ["of a card", "- 00517 — src/a.ts route\n- 00518 — form"],
    [
      "of an entry with its day",
      "### Pool\n\n- **Data:** 2026-01-05\n- **Area:** src/a.ts\n\n### Auth\n\n- **Data:** 2026-01-09",
    ],
    ["ticked off", "- [x] src/a.ts drains the pool"],
    ["ticked off with a sign", "1. ✅ src/a.ts drains the pool"],
    ["under history", "## History: how it was configured\n\nThe pool was in src/a.ts."],
  ])("is %s", (_, text) => expect(recordOf(text)).toEqual(expect.any(String)));

  it.each([
    ["under a heading", "## Layout\n\nSee src/a.ts."],
    ["of a day and of now", "## 2026-01-05\n\nSee src/a.ts.\n\n## Layout\n\nSee src/a.ts."],
    ["under the only day, which tells how old the memory is", "## Layout (2026-01-05)\n\nSee src/a.ts."],
    ["in a memory with its day", "# Pool\n\nDate: 2026-01-05\n\n## Layout\n\nSee src/a.ts."],
    ["with a day behind it", "See src/a.ts, as of 2026-01-05."],
    ["with a day in brackets", "The pool (rewritten 2026-01-05) is in src/a.ts."],
    ["after a sentence with a day", "All resolved as of 2026-01-05. See src/a.ts."],
    ["with a day that was still to come", "From 2026-09-01 on, src/a.ts drains the pool."],
    ["with a commit in brackets", "Draining (since 31b5f40) is in src/a.ts."],
    ["with a ticket further in", "- src/a.ts drains the pool (TICKET-0026)\n- src/b.ts (TICKET-0027)"],
    ["in a counted list", "- Rule #1: src/a.ts drains the pool\n- Rule #2: tests"],
    ["behind a name with a number", "UTF-8 text is read by src/a.ts."],
    ["with a colour", "The accent #7f5af0e is set in src/a.ts."],
    ["under a ticked heading without a day", "## Pool ✅\n\nIn src/a.ts."],
    ["that is not done yet, whatever was", "- [x] one\n- src/a.ts drains the pool"],
    ["about sessions", "## Session storage\n\nTokens are in src/a.ts."],
  ])("is not what stands %s", (_, text) => expect(recordOf(text)).toBeUndefined());

  it.each([
    ["m.md", "- PR #5: the pool is in src/a.ts\n- PR #6: more", "a record of past work: about PR #5"],
    ["notes-2026-03-12.md", "The pool is in src/a.ts.", "a record of past work: named for a day"],
    ["project_session_log.md", "The pool is in src/a.ts.", "a record of past work: named as history"],
    // Without a mark, and in any language, by what it means.
    ["state.md", "## What was done in sprint 8\n\n- Added `src/a.ts` and wired it up, all tests pass.", READS],
    ["etat.md", "## Travail terminé\n\n- Création de `src/a.ts`, ancien module supprimé.", READS],
    ["log.md", "## 完了した作業\n\n- `src/a.ts` を追加し、古いファイルを削除した。", READS],
  ])("is left out of what is shown, and told with its reason on request: %s", async (file, body, reason) => {
    const memdir = await rememberThenDelete(file, body);
    expect(await memdir.verify()).toMatchObject({ problems: [], hidden: 1 });
    const { problems } = await memdir.verify(undefined, { all: true });
    expect(problems.map(({ evidence }) => evidence)).toEqual([expect.stringContaining(`; ${reason}`)]);
  });

  it("that names a thing first does not hide where it is said of today", async () => {
    const done = "## What was done in sprint 8\n\n- Added `src/a.ts` and wired it up, all tests pass.";
    const memdir = await rememberThenDelete("state.md", `${done}\n\n## Key files\n\n- \`src/a.ts\` drains the pool`);
    expect((await memdir.verify()).problems).toMatchObject([{ claim: "src/a.ts", line: 12 }]);
  });
});

/** A memory of src/a.ts, which was deleted three days later. */
function rememberThenDelete(file: string, body: string): Promise<Memdir> {
  const world = makeWorld();
  const commit = (day: string) => {
    world.now = new Date(day);
    world.git("add", "-A");
    world.git("commit", "-q", "-m", "work");
  };
  fs.mkdirSync(`${world.project}/src`);
  fs.mkdirSync(`${world.project}/.claude/memory`, { recursive: true });
  fs.writeFileSync(`${world.project}/src/a.ts`, "export const drain = 1;\n");
  fs.writeFileSync(`${world.project}/.claude/memory/${file}`, `---\nname: m\ndescription: d\n---\n\n${body}\n`);
  commit("2026-03-12T10:00:00Z");
  fs.rmSync(`${world.project}/src/a.ts`);
  commit("2026-03-15T10:00:00Z");
  return world.open();
}
