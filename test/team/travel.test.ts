/** What may be shared: by type, by words, by the field that decides. */

import { expect, test } from "vitest";
import { parseMemory } from "../../src/store/memory.ts";
import { findTypeProblem, refuseTravel } from "../../src/team/travel.ts";

function text(type: string | null, body: string, more = ""): string {
  return `---\nname: a note\n${type === null ? "" : `type: ${type}\n`}${more}---\n\n${body}\n`;
}

function findTravelProblem(file: string, text: string, scope = "project"): string | null {
  try {
    refuseTravel(file, text, scope);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

const ask = (type: string | null, body: string, more = "", scope = "project") =>
  findTravelProblem("x.md", text(type, body, more), scope);

test("project and reference travel", async () => {
  expect(await ask("project", "I moved the release to 2026-04-01.")).toBeNull();
  expect(await ask("reference", "The dashboard is at https://grafana.example/d/1.")).toBeNull();
});

test("a memory about the user stays without share: true", async () => {
  expect(await ask("user", "We all know Ada.")).toMatch(/about the user.*share: true/);
  expect(await ask("user", "Ada knows Go.", "share: true\n")).toBeNull();
  expect(await ask("user", "Ada knows Go.", "metadata:\n  share: true\n")).toBeNull();
});

test.each([
  "We use pnpm in this repository.",
  "Convention: one commit per change.",
  "CI fails on warnings, so run the linter first.",
  "All contributors sign their commits.",
  "In this project tests lie beside the code.",
  "Our migrations are named by date; pull requests name the issue.",
  "The repo has `I` and `my` as identifiers; the team keeps them.",
])("feedback that is a convention travels: %s", async (body) => {
  expect(await ask("feedback", body)).toBeNull();
});

test.each([
  ["I want short answers, and we use pnpm.", '"I"'],
  ["The user prefers tabs in this repo.", '"The user"'],
  ["Don't touch my branches; the team knows.", '"my"'],
  ["Call me before the CI runs.", '"me"'],
  ["I'm tired of emojis in the project.", '"I"'],
])("feedback that speaks of a person stays: %s", async (body, word) => {
  const problem = await ask("feedback", body);
  expect(problem).toContain(word);
  expect(problem).toContain("share: true");
  expect(await ask("feedback", body, "share: yes # agreed on Monday\n")).toBeNull();
});

test("feedback that says neither stays and says what would help", async () => {
  expect(await ask("feedback", "Use pnpm, never npm.")).toMatch(/nothing in it says.*convention.*share: true/);
  expect(await ask("feedback", "Circle the block, mention README and I/O.")).toMatch(/nothing in it says/);
});

test("share: false always holds back, and what is neither is asked about", async () => {
  expect(await ask("project", "x", "share: false\n")).toMatch(/share: false/);
  expect(await ask("project", "x", "share: true\nmetadata:\n  share: no\n")).toMatch(/share: false/);
  expect(await ask("project", "x", "share: perhaps\n")).toMatch(/neither true nor false/);
});

test("nothing lifts a secret, a broken file or an agent's own memory", async () => {
  const secret = `ghp_${"r7Kq2ZpX9vLm4TnB8wYc3HdJ6sFg1QaE5uRk"}`;
  const problem = await ask("project", `token ${secret}`, "share: true\n");
  expect(problem).toMatch(/github-token in line 7/);
  expect(problem).not.toContain(secret);
  expect(findTravelProblem("x.md", "---\nname: a\ntype: project\nshare: true\n")).toMatch(/fix it by hand/);
  expect(await ask("project", "x", "share: true\n", "agent:reviewer@user")).toMatch(/agent:reviewer@user/);
});

test("without a type it stays; an enforce block is fine", async () => {
  expect(await ask(null, "We do this here.")).toMatch(/what type/);
  const rule = "We never push to main.\n\n```enforce\ntool: Bash\ndeny: git push\n```";
  expect(await ask("feedback", rule)).toBeNull();
});

test("fields decide without the rules for secrets, too", () => {
  const ask = (more: string) => findTypeProblem(parseMemory("x.md", text("project", "x", more)));
  expect(ask("")).toBeNull();
  expect(ask("share: false\n")).toMatch(/share: false/);
  expect(ask("share: maybe\n")).toMatch(/neither/);
});
