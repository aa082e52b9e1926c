/** A dream that was talked into something: by a document among the memories, by a log, by its own good intentions. */

import { describe, expect, it } from "vitest";
import { applyPlan, checkPlan } from "../../src/learn/dream-check.ts";
import { dreamOffline } from "../../src/learn/dream-offline.ts";
import { makePlan, type Op, takeSnapshot } from "../../src/learn/dream-plan.ts";
import { mainOf, makeWorld } from "../world.ts";

const text = (type: string, name: string, body: string, more = "") =>
  `---\nname: ${name}\ndescription: about ${name}\ntype: ${type}\n${more}---\n\n${body}\n`;

const RULE = "enforce:\n  tool: Bash\n  pattern: git push --force\n";
const OTHER = "enforce:\n  tool: Bash\n  pattern: rm -rf\n";

async function openDream() {
  const world = makeWorld();
  world.write("feedback_tabs.md", text("feedback", "tabs", "Use tabs."));
  world.write("feedback_force.md", text("feedback", "force", "Never force a push.", RULE));
  world.write("feedback_rm.md", text("feedback", "rm", "Never remove folders.", OTHER));
  world.write("project_page.md", text("project", "page", "The page lists tools.", "source: document\n"));
  world.write(
    "project_old.md",
    text("project", "old", "The page is old.", "supersedes:\n  - older\nsource: document\n"),
  );
  world.write("logs/2026/03/2026-03-01.md", "- 10:00 a note\n");
  const directory = mainOf(await world.open());
  return async (...ops: Op[]) => {
    return (await checkPlan(makePlan(ops, takeSnapshot(directory)), directory)).join("\n");
  };
}

const rewrite = (file: string, newText: string): Op => ({ kind: "rewrite", file, text: newText, reason: "tidier" });

describe("a dream", () => {
  it.each([
    ["to a rule of the user", rewrite("feedback_tabs.md", text("feedback", "tabs", "Use tabs.", RULE))],
    [
      "under metadata",
      rewrite(
        "feedback_tabs.md",
        text("feedback", "tabs", "Use tabs.", `metadata:\n  ${RULE.replaceAll("\n  ", "\n    ")}`),
      ),
    ],
    [
      "to a new memory",
      {
        kind: "create",
        ...{ file: "feedback_new.md", from: ["logs/2026/03/2026-03-01.md"], reason: "from the log" },
        text: text("feedback", "new", "Push gently.", `source: inferred\n${RULE}`),
      } satisfies Op,
    ],
    [
      "in place of what a person wrote",
      rewrite(
        "feedback_force.md",
        text("feedback", "force", "Never force a push.", RULE.replace("--force", "--nothing")),
      ),
    ],
  ] as [string, Op][])("adds nothing that is enforced %s", async (_, op) => {
    expect(await (await openDream())(op)).toMatch(
      /only people can write enforced rules|which only the user makes, changes or removes/,
    );
  });

  it("loses nothing that is enforced, also by merging", async () => {
    const problems = await openDream();
    const merge = (files: string[], more: string): Op => ({
      ...{ kind: "merge", files, into: files[0]!, reason: "one rule" },
      text: text("feedback", "both", "Never force a push. Never remove folders. Use tabs.", more),
    });
    expect(await problems(merge(["feedback_force.md", "feedback_rm.md"], RULE))).toContain("which only the user makes");
    expect(await problems(merge(["feedback_tabs.md", "feedback_force.md"], ""))).toContain("which only the user makes");
    expect(await problems(merge(["feedback_force.md", "feedback_tabs.md"], RULE))).toContain(
      "which only the user makes",
    );
  });

  it("without a model: a copy that is enforced stays, and the rest is tidied up all the same", async () => {
    const world = makeWorld();
    const body = "Never force a push to the release branch, ask the release manager.";
    for (const [file, more] of [
      ["a", RULE],
      ["b", OTHER],
      ["c", ""],
      ["d", ""],
    ] as const)
      world.write(`feedback_${file}.md`, text("feedback", `push ${file}`, body, more));
    const directory = mainOf(await world.open());
    const plan = await dreamOffline(directory);
    expect(await checkPlan(plan, directory)).toEqual([]);
    await applyPlan(directory, plan);
    const left = world
      .files()
      .filter((file) => file.startsWith("feedback"))
      .map((file) => world.read(file))
      .join("");
    expect(left).toContain("git push --force");
    expect(left).toContain("rm -rf");
    expect(plan.ops.filter(({ kind }) => kind === "merge")).toHaveLength(1);
  });

  it("pins nothing, and lets no document take the place of another memory", async () => {
    const problems = await openDream();
    const tabs = text("feedback", "tabs", "Use tabs.", "pinned: true\n");
    expect(await problems(rewrite("feedback_tabs.md", tabs))).toContain("only people can pin");
    const page = (more: string) => text("project", "page", "The page lists tools.", `source: document\n${more}`);
    expect(await problems(rewrite("project_page.md", page("supersedes:\n  - tabs\n")))).toContain(
      "cannot supersede a memory",
    );
    const old = text("project", "old", "The page is rather old.", "supersedes:\n  - older\nsource: document\n");
    expect(await problems(rewrite("project_old.md", old))).toBe("");
  });
});
