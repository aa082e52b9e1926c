/** The golden file is what a model reads; review it as text. */
import { describe, expect, it } from "vitest";
import { buildDreamCorrection, buildDreamRequest, DREAM_SYSTEM, readPlan } from "../../src/prompts/dream.ts";

const material = { today: "2026-03-10", manifest: "", left: 0, findings: [], logs: [] };

describe("asking for a plan", () => {
  it("B9.4 reads as in the golden file", async () => {
    const request = buildDreamRequest({
      ...material,
      manifest: "- [user] user_role.md (2026-03-01, 9 days ago): works on payments",
      left: 3,
      findings: ["retire project_x.md: its deadline, 2025-01-01, was 433 days ago"],
      logs: [{ file: "logs/2026/03/2026-03-09.md", text: "- 10:00 prefers short answers\n" }],
    });
    const correction = buildDreamCorrection(["project_x.md is not there"]);
    const all = [DREAM_SYSTEM, request, correction].join("\n\n=====\n\n");
    await expect(`${all}\n`).toMatchFileSnapshot("golden/dream.md");
  });

  it("says so when there is nothing", () => {
    const request = buildDreamRequest(material);
    expect(request).toContain("(none)");
    expect(request).toContain("There are no daily logs.");
    expect(request).not.toContain("Found by simple rules");
  });
});

describe("finding the plan", () => {
  it.each([
    ['<plan>{"ops": []}</plan>', '{"ops": []}'],
    ['First <plan>a</plan>, no:\n<plan>\n```json\n{"ops": []}\n```\n</plan>\nThat is it.', '{"ops": []}'],
    ['{"ops": []}', null],
    ["<plan>cut", null],
    ["</plan>", null],
    ["", null],
  ])("%j", (answer, plan) => {
    expect(readPlan(answer)).toBe(plan);
  });

  it("is not misled by tags inside a text of the plan's strings", () => {
    expect(readPlan('<plan>{"text": "a </plan> b"}</plan>')).toBe('{"text": "a </plan> b"}');
  });
});
