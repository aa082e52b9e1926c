import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { applyPlan, checkPlan } from "../../src/learn/dream-check.ts";
import { dreamOffline } from "../../src/learn/dream-offline.ts";
import { countOps, formatPlan, makePlan, takeSnapshot } from "../../src/learn/dream-plan.ts";
import { DAY, mainOf, makeWorld } from "../world.ts";
import { makeMess, memoryText } from "./dream-mess.ts";

async function dreamOf(files: Record<string, string>) {
  const world = makeWorld();
  for (const [file, text] of Object.entries(files)) world.write(file, text);
  const directory = mainOf(await world.open());
  const plan = await dreamOffline(directory);
  expect(await checkPlan(plan, directory)).toEqual([]);
  return { world, directory, plan };
}

describe("a dream without a model", () => {
  it("B9.4 tidies up 120 messy memories, and finds nothing more to do afterwards", async () => {
    const world = makeWorld();
    makeMess(world);
    const directory = mainOf(await world.open());
    const plan = await dreamOffline(directory);
    expect(countOps(plan)).toBe("20 merged, 10 retired, index sorted");
    expect(await checkPlan(plan, directory)).toEqual([]);
    const gone = plan.ops.flatMap((op) => (op.kind === "retire" ? [op.file] : []));
    expect(gone).toHaveLength(10);
    expect(gone.every((file) => file.endsWith("_freeze.md"))).toBe(true);
    // What contradicts is left to somebody who understands it.
    expect(plan.ops.flatMap((op) => (op.kind === "merge" ? op.files : [])).join()).not.toContain("store");
    await applyPlan(directory, plan);
    expect(world.files().filter((file) => file !== "MEMORY.md")).toHaveLength(90);
    expect(world.index()).toMatch(/^# Memory\n\nKept by hand and by tools\.\n\n/);
    expect(world.index()).not.toMatch(/project_gone|lost\.md|_freeze/);
    expect((await dreamOffline(directory)).ops).toEqual([]);
  });

  it("leaves both sides of a conflict to a person, whoever plans", async () => {
    const body = "Each customer may ask sixty times a minute; more is refused for a minute.";
    const copy = "project_limits-conflict-0123abcd.md";
    const { plan, directory } = await dreamOf({
      "project_limits.md": memoryText("project", "limits", body),
      [copy]: memoryText("project", "limits (conflict 0123abcd)", body, "conflict_with: limits\n"),
    });
    expect(plan.ops.filter(({ kind }) => kind !== "reindex")).toEqual([]);
    const op = { kind: "retire" as const, file: copy, successor: null, reason: "the same" };
    const asked = makePlan([op], takeSnapshot(directory));
    expect(await checkPlan(asked, directory)).toEqual([expect.stringContaining("a person must resolve")]);
  });

  it("merges exact and near duplicates of one type, keeping cues, links and every word", async () => {
    const body = "The staging cluster is reset every night by a scheduled job called wipe-all.";
    const { plan } = await dreamOf({
      "project_a.md": memoryText(
        "project",
        "staging reset",
        body,
        "modified: 2026-01-02T00:00:00.000Z\nwhen:\n  - one\n",
      ),
      "project_b.md": memoryText("project", "staging resets", `${body}\n\nAsk ops.`, "when:\n  - two\nsource: tool\n"),
      "reference_c.md": memoryText("reference", "staging reset", body),
    });
    const [op] = plan.ops;
    expect(plan.ops).toHaveLength(1);
    expect(op).toMatchObject({ kind: "merge", files: ["project_a.md", "project_b.md"], into: "project_a.md" });
    expect(op?.kind === "merge" && op.text).toBe(
      `---\nname: staging reset\ndescription: about staging reset\ntype: project\nmodified: 2026-03-10T12:00:00.000Z\nwhen:\n  - one\n  - two\nsource: tool\n---\n\n${body}\n\nAsk ops.\n`,
    );
  });

  it.each([
    ["numbers", "The data of billing lies in the big Postgres 14 cluster of the platform team.", "14", "16"],
    ["a denial", "Always run the slow integration suite before merging into the main branch.", "Always", "Never"],
  ])("leaves memories apart that differ in %s", async (_, body, word, other) => {
    const { plan } = await dreamOf({
      "project_a.md": memoryText("project", "one", body),
      "project_b.md": memoryText("project", "one more", body.replace(word, other)),
    });
    expect(plan.ops).toEqual([]);
  });

  it("mixes nothing from a document into what the user wants, and removes nothing that is pinned", async () => {
    const rule = "Always squash the commits of a branch before the merge into main happens.";
    const { plan } = await dreamOf({
      "feedback_a.md": memoryText("feedback", "squash", rule, "source: user\n"),
      "feedback_b.md": memoryText("feedback", "squash it", rule, "source: document\n"),
      "user_a.md": memoryText("user", "role", "Leads the platform team in the Berlin office.", "pinned: true\n"),
      "user_b.md": memoryText("user", "role too", "Leads the platform team in the Berlin office.", "pinned: true\n"),
    });
    expect(plan.ops).toEqual([]);
  });

  const WRITTEN = "created: 2026-01-05\n";

  it.each([
    ["Release freeze until 2026-01-20.", WRITTEN, true],
    ["Release freeze until 2026-01-20.", "created: 2026-01-05\nmodified: 2026-01-10\n", true],
    ["Release freeze until 2026-02-20.", WRITTEN, false],
    ["The outage ended on 2025-12-20.", WRITTEN, false],
    ["Release freeze until 2026-01-20.", "", false],
    ["In use since 2025-01-20.", WRITTEN, false],
    ["Decided on 2025-01-20 to use Postgres.", WRITTEN, false],
    ["Freeze from 2025-01-20.", WRITTEN, false],
    ["Freeze 2026-01-01 to 2026-04-01.", WRITTEN, false],
    ["Freeze until 2026-01-20, then again until 2026-07-20.", WRITTEN, false],
    ["Freeze until 2026-01-20.", `${WRITTEN}pinned: true\n`, false],
    ["Freeze until 2026-01-20.", `${WRITTEN}verified: 2026-03-01\n`, false],
    ["Freeze until 2026-01-20.", `${WRITTEN}enforce:\n  tool: Bash\n  pattern: git push\n`, false],
    ["Freeze until 9999-99-99.", WRITTEN, false],
  ])("%s %s is over: %s", async (body, more, over) => {
    const { plan } = await dreamOf({ "project_a.md": memoryText("project", "freeze", body, more) });
    expect(plan.ops.map(({ kind }) => kind)).toEqual(over ? ["retire"] : []);
  });

  it.each([
    ["project", "", true],
    ["reference", "", true],
    ["feedback", "", false],
    ["user", "", false],
    ["project", "pinned: true\n", false],
    ["project", "enforce:\n  tool: Bash\n  pattern: git push\n", false],
  ])("what a named memory supersedes is retired: %s %s %s", async (type, more, isOver) => {
    const { plan, directory } = await dreamOf({
      "helm.md": memoryText(type, "helm", "Charts are rolled out by hand.", more),
      "argo.md": memoryText(type, "argo", "Argo rolls out everything.", "supersedes: [helm]\n"),
    });
    const retired = { kind: "retire", file: "helm.md", successor: "argo.md", reason: "superseded by argo.md" };
    expect(plan.ops).toEqual(isOver ? [retired] : []);
    await applyPlan(directory, plan);
    expect((await directory.rows()).rows.map(({ file }) => file)).toEqual(
      isOver ? ["argo.md"] : ["argo.md", "helm.md"],
    );
  });

  it("nothing supersedes itself, and a successor that does not exist retires nothing", async () => {
    const { plan } = await dreamOf({
      "helm.md": memoryText("project", "helm", "Charts are rolled out by hand.", "supersedes: [helm]\n"),
    });
    expect(plan.ops).toEqual([]);
  });

  it("retires a memory all of whose names went after it was written, by the last verify of this text", async () => {
    const world = makeWorld();
    const put = (files: Record<string, string>) => {
      for (const [file, text] of Object.entries(files)) fs.writeFileSync(path.join(world.project, file), text);
    };
    world.now = new Date(world.now.getTime() - 10 * DAY);
    put({ "pool.ts": "export const poolSize = 1;\n", "cache.ts": "export const c = 1;\n", "main.ts": "run();\n" });
    world.git("add", "-A");
    world.git("commit", "-qm", "one");
    const memdir = await world.open();
    const save = (name: string, type: "project" | "feedback", body: string) => memdir.save({ type, name, body });
    await save("gone", "project", "It is in `./pool.ts` and `./cache.ts`.");
    await save("half", "project", "Read `./pool.ts` before `./main.ts`.");
    await save("one", "project", "Read `./pool.ts` first.");
    await save("rule", "feedback", "Never touch `./pool.ts` and `./cache.ts`.");
    world.now = new Date(world.now.getTime() + 5 * DAY);
    world.git("rm", "-q", "pool.ts", "cache.ts");
    world.git("commit", "-qm", "two");
    const retired = async () =>
      (await dreamOffline(mainOf(memdir))).ops.flatMap((op) =>
        op.kind === "retire" ? [`${op.file}: ${op.reason}`] : [],
      );
    expect(await retired()).toEqual([]);
    await memdir.verify();
    expect(await retired()).toEqual(["project_gone.md: all 2 things it names were removed after it was written"]);
    fs.appendFileSync(world.path("project_gone.md"), "\nSee also the wiki.\n");
    expect(await retired()).toEqual([]);
  });

  it("leaves alone what is broken, unreadable, empty, or no text", async () => {
    const { plan } = await dreamOf({
      "a.md": "",
      "b.md": "",
      "c.md": "---\nname: x\ntype: project\ncreated: 2019-01-01\nuntil 2020-01-01",
      "d.md":
        "\uFEFF---\r\nname: d\r\ntype: project\r\ncreated: 2019-01-01\r\ndescription: d\r\n---\r\nUntil 2020-01-01.\r\n",
      "e.md": "\0\x01\x02",
    });
    expect(plan.ops.map((op) => (op.kind === "retire" ? op.file : op.kind))).toEqual(["d.md"]);
  });

  it("shows the plan as a diff that moves no cursor", async () => {
    const { plan, directory } = await dreamOf({
      "project_a.md": memoryText("project", "freeze", "Freeze until 2026-01-20.\u001b[2J", WRITTEN),
    });
    expect(formatPlan(plan, directory)).toBe(
      `1. retire project_a.md: its deadline, 2026-01-20, was 49 days ago\n--- project_a.md\n+++ (gone)\n${[
        "---",
        "name: freeze",
        "description: about freeze",
        "type: project",
        "created: 2026-01-05",
        "---",
        "",
        "Freeze until 2026-01-20.",
        "",
      ]
        .map((line) => `-${line}\n`)
        .join("")}`,
    );
    expect(formatPlan({ ops: [], base: {} }, directory)).toBe("Nothing to tidy up.\n");
  });
});
