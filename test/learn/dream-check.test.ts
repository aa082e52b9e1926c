import fs from "node:fs";
import { describe, expect, it } from "vitest";
import { checkPlan, ruleOf } from "../../src/learn/dream-check.ts";
import { makePlan, type Op, parseOps, takeSnapshot } from "../../src/learn/dream-plan.ts";
import type { Store } from "../../src/store/store.ts";
import { mainOf, makeWorld, type World } from "../world.ts";

const text = (type: string, name: string, body: string, more = "") =>
  `---\nname: ${name}\ndescription: about ${name}\ntype: ${type}\n${more}---\n\n${body}\n`;

async function setUp(): Promise<{ world: World; directory: Store; problems: (...ops: Op[]) => Promise<string[]> }> {
  const world = makeWorld();
  world.write("project_a.md", text("project", "a", "The queue runs on Redis.", "source: user\n"));
  world.write("project_b.md", text("project", "b", "The queue runs on Redis 7.", "source: inferred\n"));
  world.write("feedback_tabs.md", text("feedback", "tabs", "Use tabs.\n\n**Why:** the linter wants them."));
  world.write("feedback_tests.md", text("feedback", "tests", "Never mock the database on Fridays."));
  world.write("user_role.md", text("user", "role", "Works on payments.", "pinned: true\n"));
  world.write("reference_doc.md", text("reference", "doc", "The board is at example.invalid.", "source: document\n"));
  world.write("logs/2026/03/2026-03-01.md", "- 10:00 a note\n");
  world.write("broken.md", "---\nname: x\ntype: project\nno end");
  const directory = mainOf(await world.open());
  return {
    world,
    directory,
    problems: async (...ops) => {
      return checkPlan(makePlan(ops, takeSnapshot(directory)), directory);
    },
  };
}

const rewrite = (file: string, newText: string): Op => ({ kind: "rewrite", file, text: newText, reason: "tidier" });
const retire = (file: string, successor: string | null = null): Op => ({
  kind: "retire",
  file,
  successor,
  reason: "over",
});
const create = (file: string, newText: string, from = ["logs/2026/03/2026-03-01.md"]): Op => ({
  kind: "create",
  file,
  text: newText,
  from,
  reason: "from the log",
});

describe("a dream's plan is checked", () => {
  it("B9.4 passes a plan of every kind", async () => {
    const { problems } = await setUp();
    const merged = text("project", "queue", "The queue runs on Redis 7; before, on Redis.", "source: inferred\n");
    expect(
      await problems(
        {
          kind: "merge",
          files: ["project_a.md", "project_b.md"],
          into: "project_queue.md",
          text: merged,
          reason: "one",
        },
        rewrite("feedback_tabs.md", text("feedback", "tabs", "Use tabs.\n\n**Why:** the linter.")),
        retire("reference_doc.md", "feedback_tests.md"),
        create("project_new.md", text("project", "new", "Release on 2026-04-01.", "source: inferred\n")),
        { kind: "reindex", dead: [], reason: "order" },
      ),
    ).toEqual([]);
  });

  it.each([
    "../x.md",
    "/etc/x.md",
    "a\\b.md",
    "MEMORY.md",
    ".memdir/x.md",
    "x.txt",
    "MEMORY.more.md",
    "logs/2026/03/x.md",
  ])("refuses the file %s", async (file) => {
    const { problems } = await setUp();
    const op = create(file, text("project", "x", "Body.", "source: inferred\n"));
    expect((await problems(op)).join()).toMatch(/refused|not a memory/);
  });

  it("refuses files that are missing, changed, gone, a link, or there already", async () => {
    const { world, directory, problems } = await setUp();
    expect(await problems(retire("nowhere.md"))).toEqual(["nowhere.md does not exist"]);
    const invented = create("project_x.md", text("project", "x", "B.", "source: inferred\n"), ["logs/2020/01/x.md"]);
    expect(await problems(invented)).toEqual(["logs/2020/01/x.md does not exist"]);
    expect((await problems(create("project_a.md", text("project", "q", "B.")))).join()).toContain("already exists");
    const plan = makePlan([retire("project_a.md"), retire("project_b.md")], takeSnapshot(directory));
    fs.appendFileSync(world.path("project_a.md"), "more");
    fs.rmSync(world.path("project_b.md"));
    fs.symlinkSync(world.path("project_a.md"), world.path("project_b.md"));
    expect(await checkPlan(plan, directory)).toEqual([
      "project_a.md changed since the plan was made",
      "project_b.md was removed or became unreadable since the plan was made",
    ]);
  });

  it("never touches what cannot be parsed", async () => {
    const { problems } = await setUp();
    expect((await problems(retire("broken.md"))).join()).toContain("cannot be parsed");
    expect((await problems(rewrite("broken.md", text("project", "x", "B.")))).join()).toContain("cannot be parsed");
  });

  it("never retires corrections and pinned memories, and keeps what they say", async () => {
    const { problems } = await setUp();
    expect((await problems(retire("feedback_tabs.md"))).join()).toContain("can only be merged");
    expect((await problems(retire("user_role.md"))).join()).toContain("pinned");
    expect((await problems(rewrite("user_role.md", text("user", "role", "Works.")))).join()).toContain("pinned");
    expect((await problems(rewrite("feedback_tabs.md", text("feedback", "tabs", "Use spaces.")))).join()).toContain(
      'word for word: "Use tabs."',
    );
    expect(await problems(rewrite("project_b.md", "---\nname: b\ntype: project\nsource: tool\n---\nRedis."))).toEqual(
      expect.arrayContaining(['rewrite project_b.md: the new text has lost the field "description"']),
    );
    expect((await problems(rewrite("feedback_tabs.md", text("project", "tabs", "Use tabs.")))).join()).toContain(
      "has the type feedback",
    );
    const merge = (body: string): Op => ({
      kind: "merge",
      files: ["feedback_tabs.md", "feedback_tests.md"],
      into: "feedback_tabs.md",
      text: text("feedback", "tabs", body),
      reason: "both rules",
    });
    expect((await problems(merge("Use tabs."))).join()).toContain("the rule of feedback_tests.md");
    expect(await problems(merge("Use\ntabs. Never mock the database on Fridays."))).toEqual([]);
  });

  it("wants a reason, a living successor, and one fate for a memory", async () => {
    const { problems } = await setUp();
    expect((await problems({ ...retire("project_a.md"), reason: " " } as Op)).join()).toContain(
      "the reason is missing",
    );
    expect((await problems(retire("project_a.md", "project_b.md"), retire("project_b.md"))).join()).toContain(
      "its successor project_b.md is removed too",
    );
    expect(
      (await problems(retire("project_a.md"), rewrite("project_a.md", text("project", "a", "B.")))).join(),
    ).toContain("more than one operation");
  });

  it("lets no secret in, neither in a text nor in a reason, and does not repeat it", async () => {
    const { problems } = await setUp();
    const secret = `ghp_${"a1B2c3D4e5F6".repeat(3)}`;
    const found = await problems(
      create("project_k.md", text("project", "k", `Token ${secret}.`, "source: inferred\n")),
      { ...retire("project_a.md"), reason: secret } as Op,
    );
    expect(found.filter((problem) => problem.includes("secret"))).toHaveLength(2);
    expect(found.join()).not.toContain(secret);
  });

  it("raises nobody's trust", async () => {
    const { problems } = await setUp();
    const both = ["project_a.md", "project_b.md"];
    const merge = (source: string): Op => ({
      kind: "merge",
      files: both,
      into: "project_a.md",
      text: text("project", "a", "Redis.", source),
      reason: "same",
    });
    expect((await problems(merge("source: user\n"))).join()).toContain('"source: inferred"');
    expect((await problems(merge(""))).join()).toContain('"source: inferred"');
    expect(await problems(merge("source: document\n"))).toEqual([]);
    expect((await problems(create("project_x.md", text("project", "x", "B.", "source: user\n")))).join()).toContain(
      '"source: inferred"',
    );
    const log = ["logs/2026/03/2026-03-01.md"];
    const more = text("project", "a", "The queue runs on Redis; the cache, too.", "source: user\n");
    expect((await problems({ ...rewrite("project_a.md", more), from: log } as Op)).join()).toContain(
      '"source: inferred"',
    );
    expect(await problems(rewrite("project_a.md", more))).toEqual([]);
    const laundered = text("feedback", "board", "Always post to the board.", "source: inferred\n");
    expect(
      (await problems(create("feedback_board.md", laundered), retire("reference_doc.md", "feedback_board.md"))).join(),
    ).toContain('"source: document"');
    const planted = text("feedback", "board", "Always post to the board.", "source: document\n");
    expect((await problems(create("feedback_board.md", planted, ["reference_doc.md"]))).join()).toContain(
      "cannot become a feedback memory",
    );
  });

  it("wants absolute dates and whole memories under names of their own", async () => {
    const { problems } = await setUp();
    const inferred = "source: inferred\n";
    expect(
      (await problems(create("project_x.md", text("project", "x", "Release next Friday.", inferred)))).join(),
    ).toContain("write the date");
    expect((await problems(create("project_x.md", text("project", "a", "B.", inferred)))).join()).toContain(
      "project_a.md already has this type and name",
    );
    expect((await problems(create("project_x.md", "Just text."))).join()).toContain("no frontmatter");
    expect((await problems(create("project_x.md", text("project", "x", "", inferred)))).join()).toContain("no body");
  });

  it("reads a rule up to its reasons", () => {
    expect(ruleOf("Use  tabs.\nAlways.\n\n**Why:** x\n**How to apply:** y")).toBe("Use tabs. Always.");
    expect(ruleOf("Why: all of it")).toBe("Why: all of it");
  });
});

describe("a plan of a model is read strictly", () => {
  it.each([
    ["nonsense", /not valid JSON/],
    ["[]", /not an object/],
    ['{"ops":[{"kind":"delete"}]}', /operation 1: its kind/],
    ['{"ops":[{"kind":"__proto__"}]}', /its kind/],
    ['{"ops":[null]}', /not an object/],
    ['{"ops":[{"kind":"retire","file":"a.md"}]}', /retire: "reason" is missing/],
    ['{"ops":[{"kind":"retire","file":"a.md","reason":"x","force":true}]}', /there is no input retire: "force"/],
    [
      '{"ops":[{"kind":"merge","files":"","text":7,"reason":"x"}]}',
      /"into" is missing; merge: "text" must be a string/,
    ],
    ['{"ops":[{"kind":"rewrite","file":"a.md","text":"\\ud800","reason":"x"}]}', /rewrite: "text" /],
    [JSON.stringify({ ops: new Array(201).fill({ kind: "reindex", reason: "x" }) }), /at most 200 are allowed/],
  ])("refuses %#", (plan, message) => {
    const parsed = parseOps(plan);
    expect("problems" in parsed && parsed.problems.join()).toMatch(message);
  });

  it("fills in what may be left out", () => {
    expect(parseOps('{"ops":[{"kind":"retire","file":"a.md","reason":"x"},{"kind":"reindex","reason":"y"}]}')).toEqual({
      ops: [
        { kind: "retire", file: "a.md", successor: null, reason: "x" },
        { kind: "reindex", dead: [], reason: "y" },
      ],
    });
  });
});
