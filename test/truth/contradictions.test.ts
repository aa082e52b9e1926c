/** One subject with two values is a contradiction; two subjects, two products, or a list are none. */

import { describe, expect, it } from "vitest";
import { termsOf } from "../../src/text/terms.ts";
import { type Dated, findContradictions } from "../../src/truth/contradictions.ts";

function dated(name: string, body: string, day: string, supersedes: string[] = []): Dated {
  return { file: `${name}.md`, name, description: `about ${name}`, body, day, supersedes };
}

const between = (older: string, newer: string) =>
  findContradictions([dated("older", older, "2025-06-01"), dated("newer", newer, "2026-01-01")], termsOf);

describe("contradictions", () => {
  it.each([
    ["The retry limit is 5.", "The retry limit is 3."],
    ["The release is on 2026-03-01.", "The release is on 2026-04-01."],
    ["Deploys happen on Tuesdays.", "Deploys happen on Thursday."],
    ["The gateway timeout is 30 seconds.", "The gateway timeout is now 47 seconds."],
    ["The staging database is `db-2`.", "The staging database is `db-3`."],
    ["The dev server listens on 3000.", "The dev server listens on 5173, since the move."],
    ["The billing data lies in Postgres 14.", "The billing data lies in Postgres 16."],
    ["The API uses Node 20.", "The API uses Node 22."],
    ["Line length: 100", "Line length: 120"],
    ["The status page is https://a.example/status.", "The status page is https://b.example/status."],
    ["Our log level defaults to `info`.", "Our log level defaults to `warn`."],
    ["Squash commits before merging.", "Never squash commits before merging."],
    ["Use semicolons in TypeScript.", "Don't use semicolons in TypeScript."],
    ["Always add a changelog entry.", "Do not add a changelog entry."],
    ["- The worker pool is 8\n- other things", "Intro.\n\nThe worker pool is 16 (measured)."],
  ])("%s / %s", (older, newer) => {
    expect(between(older, newer)).toMatchObject([{ older: { file: "older.md" }, newer: { file: "newer.md" } }]);
  });

  it.each([
    ["The retry limit is 5.", "The retry limit is 5."],
    ["The 2.3 release is on 2026-03-01.", "The 2.4 release is on 2026-04-01."],
    ["The API uses Postgres 14.", "The API uses Redis 7."],
    ["The API is slow.", "The API is written in Go."],
    ["The retry limit of uploads is 5.", "The retry limit of mails is 3."],
    ["It is 5.", "It is 6."],
    ["Version: 3", "Version: 4"],
    ["The limit was 5.", "The limit is 6."],
    ["If the queue is full the limit is 5.", "If the queue is empty the limit is 6."],
    ["Use tabs in Go.", "Use spaces in Python."],
    ["Never commit to main.", "Commit to main only for docs, unless frozen."],
    ["Use fixtures instead of mocks.", "Don't use fixtures instead of mocks."],
    ["The user is a designer.", "The user is an engineer."],
    ["```\nThe limit is 5.\n```", "The limit is 6."],
    ["Ask before pushing.", "Ask before deploying."],
    ["Teams: 5\nTeams: 6", "Nothing about it."],
    ["The meeting is on Monday.", "The retrospective is on Friday."],
    ["Step 1: 5 minutes", "Step 2: 6 minutes"],
    ["", ""],
  ])("not: %s / %s", (older, newer) => {
    expect(between(older, newer)).toEqual([]);
  });

  it("what is superseded by name, stem or file has been settled", () => {
    for (const name of ["older", "older.md"]) {
      const pair = [
        dated("older", "The retry limit is 5.", "2025-06-01"),
        dated("newer", "The retry limit is 3.", "2026-01-01", [name]),
      ];
      expect(findContradictions(pair, termsOf)).toEqual([]);
    }
  });

  it("of three, the newest counts, and what agrees with it is left alone", () => {
    const found = findContradictions(
      [
        dated("a", "The retry limit is 5.", "2025-06-01"),
        dated("b", "The retry limit is 3.", "2026-01-01"),
        dated("c", "The retry limit is 3.", "2025-01-01"),
      ],
      termsOf,
    );
    expect(found.map(({ older, newer }) => [older.file, newer.file])).toEqual([["a.md", "b.md"]]);
  });

  it("a subject of which everybody speaks is a word, and no thousand contradictions", () => {
    const many = Array.from({ length: 200 }, (_, at) => dated(`m${at}`, `The batch size is ${at}.`, "2026-01-01"));
    expect(findContradictions(many, termsOf)).toEqual([]);
  });
});
