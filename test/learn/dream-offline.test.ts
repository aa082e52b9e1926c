import { describe, expect, it } from "vitest";
import { applyPlan } from "../../src/learn/dream-apply.ts";
import { checkPlan } from "../../src/learn/dream-check.ts";
import { dreamOffline } from "../../src/learn/dream-offline.ts";
import { countOps, formatPlan, makePlan, takeSnapshot } from "../../src/learn/dream-plan.ts";
import { mainOf, makeWorld } from "../world.ts";
import { makeMess, memoryText } from "./dream-mess.ts";

async function dreamOf(files: Record<string, string>) {
  const world = makeWorld();
  for (const [file, text] of Object.entries(files)) world.write(file, text);
  const directory = mainOf(await world.open());
  const plan = await dreamOffline(directory);
  expect(await checkPlan(plan, directory)).toEqual({ ok: true });
  return { world, directory, plan };
}

describe("a dream without a model", () => {
  it("B9.4 tidies up 120 messy memories, and finds nothing more to do afterwards", async () => {
    const world = makeWorld();
    makeMess(world);
    const directory = mainOf(await world.open());
    const plan = await dreamOffline(directory);
    expect(countOps(plan)).toBe("20 merged, 10 retired, index sorted");
    expect(await checkPlan(plan, directory)).toEqual({ ok: true });
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
    expect(await checkPlan(asked, directory)).toMatchObject({
      ok: false,
      problems: [expect.stringContaining("a person must resolve")],
    });
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

  it.each([
    ["Release freeze until 2026-01-20.", "", true],
    ["Release freeze until 2026-02-20.", "", false],
    ["In use since 2025-01-20.", "", false],
    ["Freeze from 2025-01-20.", "", false],
    ["Freeze 2026-01-01 to 2026-04-01.", "", false],
    ["Freeze until 2026-01-20, then again in Q3.", "", false],
    ["Freeze until 2026-01-20.", "pinned: true\n", false],
    ["Freeze until 2026-01-20.", "verified: 2026-03-01\n", false],
    ["Freeze until 9999-99-99.", "", false],
  ])("%s %s is over: %s", async (body, more, over) => {
    const { plan } = await dreamOf({ "project_a.md": memoryText("project", "freeze", body, more) });
    expect(plan.ops.map(({ kind }) => kind)).toEqual(over ? ["retire"] : []);
  });

  it("leaves alone what is broken, unreadable, empty, or no text", async () => {
    const { plan } = await dreamOf({
      "a.md": "",
      "b.md": "",
      "c.md": "---\nname: x\ntype: project\nuntil 2020-01-01",
      "d.md": "\uFEFF---\r\nname: d\r\ntype: project\r\ndescription: d\r\n---\r\nUntil 2020-01-01.\r\n",
      "e.md": "\0\x01\x02",
    });
    expect(plan.ops.map((op) => (op.kind === "retire" ? op.file : op.kind))).toEqual(["d.md"]);
  });

  it("shows the plan as a diff that moves no cursor", async () => {
    const { plan, directory } = await dreamOf({
      "project_a.md": memoryText("project", "freeze", "Freeze until 2026-01-20.\u001b[2J"),
    });
    expect(formatPlan(plan, directory)).toBe(
      `1. retire project_a.md: its only date, 2026-01-20, was 49 days ago\n--- project_a.md\n+++ (gone)\n${[
        "---",
        "name: freeze",
        "description: about freeze",
        "type: project",
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
