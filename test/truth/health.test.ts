/** What `health` finds in a directory, and what it leaves alone. */

import { describe, expect, it } from "vitest";
import { parseMemory } from "../../src/store/memory.ts";
import { termsOf } from "../../src/text/terms.ts";
import { gatherHealth, measureHealth, wholePoints } from "../../src/truth/health.ts";
import type { HealthInput, HealthMemory } from "../../src/truth/health-findings.ts";
import { makeMess } from "../learn/dream-mess.ts";
import { mainOf, makeWorld } from "../world.ts";

const NOW = new Date("2026-03-10T12:00:00.000Z");
const DAY = 86_400_000;

function memory(file: string, body: string, fields = "", ageDays = 1): HealthMemory {
  const type = /^(user|feedback|project|reference)/.exec(file)?.[1] ?? "project";
  const name = file.replace(/\.md$/, "");
  const cues = fields.includes("when:") ? "" : "when:\n  - asked\n";
  const text = `---\nname: ${name}\ndescription: about ${name}\ntype: ${type}\n${cues}${fields}---\n\n${body}\n`;
  const modifiedMs = NOW.getTime() - ageDays * DAY;
  return { memory: parseMemory(file, text), modifiedMs, secrets: [] };
}

function healthOf(memories: HealthMemory[], more: Partial<HealthInput> = {}) {
  const input = { memories, now: NOW, termsOf, linked: null, instructions: [], verdicts: new Map(), surfaced: null };
  return measureHealth({ ...input, ...more });
}

const kinds = (memories: HealthMemory[], more: Partial<HealthInput> = {}) =>
  healthOf(memories, more).findings.map(({ kind, file }) => `${kind} ${file}`);

describe("health", () => {
  it("an empty directory and a good one have 100", () => {
    expect(healthOf([])).toMatchObject({ score: 100, memories: 0, findings: [], first: [] });
    const good = [
      memory("user_editor.md", "Works in Helix and knows no other editor."),
      memory("feedback_tests.md", "Integration tests talk to a real database.\n\n**Why:** a mock hid a bug."),
    ];
    expect(healthOf(good)).toMatchObject({ score: 100, memories: 2, findings: [], first: [] });
  });

  it("duplicates and near-duplicates: the newer one stays", () => {
    const body =
      "The staging cluster is reset every night by a scheduled job called wipe-all, which drops databases, queues, caches and buckets.";
    const near =
      "Every night the staging cluster is reset by the scheduled job called wipe-all, which drops databases, caches, queues and buckets.";
    expect(
      kinds([
        memory("project_old.md", body, "", 9),
        memory("project_new.md", body, "", 1),
        memory("reference_elsewhere.md", "Dashboards are in Grafana, folder payments."),
      ]),
    ).toEqual(["duplicate project_old.md"]);
    expect(kinds([memory("project_reset.md", body, "", 1), memory("project_wipe.md", near, "", 9)])).toEqual([
      "near-duplicate project_wipe.md",
    ]);
  });

  it("two values of one thing are no finding: nothing tells which holds", () => {
    const memories = [
      memory("project_a.md", "The retry limit is 5.", "modified: 2025-11-02\n"),
      memory("project_b.md", "The retry limit is 3.", "modified: 2026-02-01\n"),
    ];
    expect(healthOf(memories)).toMatchObject({ score: 100, findings: [] });
  });

  it("points say what each kind costs, and add up to what the score lacks", () => {
    const body = "The staging cluster is reset every night by a scheduled job called wipe-all.";
    const { score, points, counts } = healthOf([
      memory("project_old.md", body, "links: [nowhere]\n", 9),
      memory("project_new.md", body, "", 1),
      memory("user_long.md", "word ".repeat(2000)),
      memory("user_tea.md", "Likes green tea."),
    ]);
    expect(counts).toMatchObject({ duplicate: 1, oversized: 1, "dead-link": 1 });
    // A memory with several problems counts as the worst of them.
    expect(points).toEqual({ duplicate: 15, oversized: 7.5 });
    expect(score).toBe(77);
  });

  it("whole points add up to what the score lacks, whatever was rounded or held down", () => {
    const good = Array.from({ length: 24 }, (_, i) =>
      memory(`user_${i}.md`, `Fact number ${i} stands alone ${"x".repeat(i)}.`),
    );
    const linkless = memory("project_l.md", "See there, it is linked.", "links: [gone-for-good]\n");
    const long = memory("project_long.md", "word ".repeat(2000));
    const secret = { ...memory("reference_key.md", "x y z"), secrets: [{ rule: "github-token", line: 9 }] };
    for (const bad of [[linkless], [linkless, long], [linkless, long, secret]]) {
      for (const count of [0, 1, 2, 5, 24]) {
        const health = healthOf([...bad, ...good.slice(0, count)]);
        const costs = Object.values(wholePoints(health));
        expect(costs.reduce((sum, cost) => sum + cost, 0)).toBe(100 - health.score);
      }
    }
    expect(wholePoints({ score: 96, points: { "dead-link": 10 / 3 } })).toEqual({ "dead-link": 4 });
    expect(wholePoints({ score: 99, points: { oversized: 0.6, "dead-link": 0.1 } })).toEqual({
      oversized: 1,
      "dead-link": 0,
    });
  });

  it("the remedy for what expired fits: prune leaves corrections and pinned memories alone", () => {
    const command = (...memories: HealthMemory[]) => healthOf(memories).first[0]?.command;
    const expires = "expires: 2020-01-01\n";
    const feedback = memory("feedback_a.md", "Use the old host.", expires);
    expect(command(feedback)).toBe("memdir forget feedback_a.md");
    expect(command(memory("project_p.md", "Freeze.", `${expires}pinned: true\n`))).toBe("memdir forget project_p.md");
    expect(command(feedback, memory("project_x.md", "Freeze.", expires))).toBe("memdir prune --suggest");
  });

  it("never recalled: only after thirty days of log, and not what is younger than that", () => {
    const memories = [memory("user_a.md", "Likes tea.", "", 90), memory("user_b.md", "Lives in Graz.", "", 3)];
    const since = (days: number) => new Date(NOW.getTime() - days * DAY).toISOString();
    const surfaced = (days: number, files: string[] = []) => ({
      surfaced: { since: since(days), files: new Set(files) },
    });
    expect(kinds(memories)).toEqual([]);
    expect(kinds(memories, surfaced(29))).toEqual([]);
    expect(kinds(memories, surfaced(40))).toEqual(["never-recalled user_a.md"]);
    expect(kinds(memories, surfaced(40, ["user_a.md"]))).toEqual([]);
  });

  it("expired, oversized, unlinked, dead links, secrets, broken", () => {
    const secret = { ...memory("reference_key.md", "x y z"), secrets: [{ rule: "github-token", line: 9 }] };
    const cueless: HealthMemory = {
      ...memory("user_tea.md", "Likes green tea."),
      memory: parseMemory("user_tea.md", "---\nname: tea\ndescription: tea\ntype: user\n---\n\nLikes green tea.\n"),
    };
    const linked = new Set(["project_freeze.md", "user_tea.md", "project_long.md", "reference_key.md", "project_l.md"]);
    expect(
      kinds(
        [
          memory("project_freeze.md", "Merge freeze until 2025-12-20.", "", 100),
          cueless,
          memory("project_long.md", "word ".repeat(2000)),
          secret,
          memory("project_l.md", "See there, it is linked.", "links: [user_tea, gone-for-good]\n"),
          memory("project_lost.md", "Nobody points here at all."),
          { ...memory("user_bad.md", ""), memory: parseMemory("user_bad.md", "---\nname: x\n") },
        ],
        { linked },
      ),
    ).toEqual([
      "secret reference_key.md",
      "unreadable user_bad.md",
      "expired project_freeze.md",
      "oversized project_long.md",
      "unlinked project_lost.md",
      "unlinked user_bad.md",
      "dead-link project_l.md",
    ]);
  });

  it("a memory that supersedes none is a dead link, unless the journal saw the other go", () => {
    const memories = [memory("project_n.md", "Argo rolls out.", "supersedes: [helm, Old way]\n")];
    expect(healthOf(memories).findings).toMatchObject([{ kind: "dead-link", detail: "supersedes helm, Old way" }]);
    const removed = new Set(["project-helm", "old-way"]);
    expect(kinds(memories, { removed })).toEqual([]);
  });

  it("B3.3 what an instruction file says already", () => {
    const instructions = [
      {
        path: "CLAUDE.md",
        text: "# Rules\n\n- Use pnpm, never npm.\n- All API handlers validate their input with zod schemas first.\n",
      },
    ];
    const memories = [
      memory("feedback_pnpm.md", "Use pnpm, never npm.\n\n**Why:** the lock file."),
      memory("feedback_npm.md", "Use npm, never pnpm.\n\n**Why:** the lock file."),
      memory("feedback_zod.md", "All API handlers validate input with zod schemas first."),
      memory("feedback_other.md", "API handlers log the request id with every line they write."),
    ];
    expect(kinds(memories, { instructions })).toEqual(["restated feedback_pnpm.md", "restated feedback_zod.md"]);
    expect(healthOf(memories, { instructions }).findings[0]?.detail).toBe("CLAUDE.md:3 already says it");
  });

  it("C35 what the last verify found wrong", () => {
    const verdicts = new Map([["project_a.md", "names src/auth.ts, moved to src/session/auth.ts"]]);
    const memories = ["a", "b"].map((name) => memory(`project_${name}.md`, `About ${name} in ${name}land.`));
    expect(kinds(memories, { verdicts })).toEqual(["false project_a.md"]);
  });

  it("a secret comes first and holds the score down, however many memories are well", () => {
    const words = "alpha beta gamma delta epsilon zeta eta theta iota kappa".split(" ");
    const memories = words.flatMap((one) =>
      words.map((two) => memory(`user_${one}_${two}.md`, `Knows ${one} ${two}.`)),
    );
    memories[0] = { ...(memories[0] as HealthMemory), secrets: [{ rule: "github-token", line: 4 }] };
    const health = healthOf(memories);
    expect(health.score).toBeLessThanOrEqual(60);
    expect(health.first[0]?.kind).toBe("secret");
  });

  it("file names with blanks and quotes are quoted in commands", () => {
    const health = healthOf([
      {
        ...memory("user_x.md", "x"),
        memory: { ...memory("user_x.md", "x").memory, file: "it's me.md", body: "w ".repeat(9000) },
      },
    ]);
    expect(health.first[0]?.command).toBe("memdir edit 'it'\\''s me.md'");
  });

  it("reads a directory as Claude Code leaves it, and finds what is wrong in a messy one", async () => {
    const world = makeWorld();
    makeMess(world);
    const directory = mainOf(await world.open());
    const gathered = await gatherHealth(directory);
    const health = healthOf([...gathered.memories], { linked: gathered.linked });
    expect(health.memories).toBe(120);
    expect(health.counts).toMatchObject({ duplicate: 10, expired: 10, secret: 0, unreadable: 0 });
    expect(health.score).toBeGreaterThan(50);
    expect(health.score).toBeLessThan(90);
    expect(health.first).toHaveLength(3);
  });

  it("hostile files: binary, empty, a link, a giant, lone surrogates, a file that vanishes", async () => {
    const world = makeWorld();
    world.write("binary.md", Buffer.from([0xff, 0xfe, 0x00, 0x80]));
    world.write("empty.md", "");
    world.write("giant.md", `---\nname: giant\ndescription: d\ntype: user\n---\n\n${"a b ".repeat(600_000)}`);
    world.write("crlf.md", "\ufeff---\r\nname: crlf\r\ndescription: d\r\ntype: user\r\n---\r\n\r\nBody.\r\n");
    if (process.platform !== "win32") (await import("node:fs")).symlinkSync("/etc/hostname", world.path("link.md"));
    const gathered = await gatherHealth(mainOf(await world.open()));
    const health = healthOf([...gathered.memories], { linked: gathered.linked });
    expect(health.findings.filter(({ kind }) => kind === "oversized").map(({ file }) => file)).toEqual(["giant.md"]);
    expect(health.findings.filter(({ kind }) => kind === "unreadable").map(({ file }) => file)).toContain("binary.md");
    expect(health.counts.duplicate).toBe(0);
  });

  it("ten thousand memories take seconds, also when they are all alike but for a number", () => {
    const memories = Array.from({ length: 10_000 }, (_, at) =>
      memory(
        `project_${at}.md`,
        `The worker pool number ${at} takes jobs of the queue called line-${at % 100} and never others.`,
      ),
    );
    const health = healthOf(memories);
    expect(health.memories).toBe(10_000);
    expect(health.counts["near-duplicate"]).toBe(0);
  });
});
