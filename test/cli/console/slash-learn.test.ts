/** /dream, /cost and /summary on real files, with a person who answers as the test says. */

import fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { LOCK_FILE } from "../../../src/learn/dream-gates.ts";
import { openLedger } from "../../../src/learn/ledger.ts";
import { openLearner } from "../../../src/open-learn.ts";
import { NOTES_TEMPLATE } from "../../../src/prompts/learning.ts";
import { widthOf } from "../../../src/text/wrap.ts";
import { type AgentDesk, openDesk } from "../../agent/desk.ts";
import { memoryText } from "../../learn/dream-mess.ts";
import { errorOf, type World } from "../../world.ts";
import { EVIL, HARMFUL, type Seat, type SeatOptions, sitDown } from "./seat.ts";

const SAME = "The staging database is reset every night at three; never keep test data there over night.";

async function makeTwins({ memdir }: Seat): Promise<void> {
  await memdir.save({ type: "project", name: "staging reset", description: "when", body: SAME });
  await memdir.save({ type: "project", name: "staging database reset", description: "when", body: SAME });
}

const bytes = (world: World) =>
  Object.fromEntries(
    world
      .files()
      .filter((file) => file.endsWith(".md"))
      .map((file) => [file, world.read(file)]),
  );

describe("/dream", () => {
  test("B9.4 offline: the plan is shown, asked about, applied as one change and undone whole", async () => {
    const seat = await sitDown();
    await makeTwins(seat);
    const before = bytes(seat.world);
    const left = await seat.type("/dream", "n", "n");
    expect(left).toMatch(/^1\. merge [\s\S]*\nnothing was changed$/);
    expect(bytes(seat.world)).toEqual(before);
    expect(seat.world.exists(LOCK_FILE)).toBe(false);
    const done = await seat.type("/dream", "y", "y");
    expect(seat.asked[0]?.question).toMatch(/^Step 1 of 2, merge .*\?$/);
    const undo = /\n1 merged.*; (\/undo \S+) reverts it$/.exec(done)?.[1];
    expect(Object.keys(bytes(seat.world)).length).toBeLessThan(Object.keys(before).length);
    expect(await seat.type("/dream status")).toMatch(/^last {6}2026-03-10T/);
    await seat.type(undo as string);
    expect(bytes(seat.world)).toEqual(before);
    expect(seat.world.exists(".memdir/ledger.jsonl")).toBe(false);
  });

  test("Escape, a pipe and plan only show it; apply does it", async () => {
    const seat = await sitDown();
    await makeTwins(seat);
    const before = bytes(seat.world);
    expect(await seat.type("/dream", null)).toMatch(/\nnothing was changed: you left at step 1 of 2$/);
    expect(seat.asked).toHaveLength(1);
    expect(await seat.type("/dream plan")).toContain("/dream --apply --only 1 applies the first step");
    const piped = await sitDown({ world: seat.world, isPiped: true });
    expect(await piped.type("/dream")).toContain("/dream --apply --only 1 applies the first step");
    expect((await errorOf(piped.type("/dream apply"))).code).toBe("usage");
    expect(bytes(seat.world)).toEqual(before);
    expect(await piped.type("/dream apply --only 1,2")).toMatch(/merged.*; \/undo \S+ reverts it$/);
    expect(await piped.type("/dream")).toBe("There is nothing to tidy up.");
    expect(await piped.type("/dream apply --all")).toContain("nothing");
  });

  test("each step is asked about, and only those with a yes are applied", async () => {
    const seat = await sitDown();
    await makeTwins(seat);
    const helm = memoryText("project", "helm", "Charts are rolled out by hand.");
    const argo = memoryText("project", "argo", "Argo rolls out everything.", "supersedes: [helm]\n");
    seat.world.write("helm.md", helm);
    seat.world.write("argo.md", argo);
    const index = "- [argo](argo.md)\n- [helm](helm.md)\n";
    fs.appendFileSync(seat.world.path("MEMORY.md"), index);
    const done = await seat.type("/dream", "n", "y", "n");
    expect(seat.asked.map(({ question }) => question)).toEqual([
      "Step 1 of 3, retire helm.md in favour of argo.md: superseded by argo.md?",
      expect.stringMatching(/^Step 2 of 3, merge /),
      "Step 3 of 3, reindex MEMORY.md: corrections first?",
    ]);
    expect(done).toMatch(/\n1 merged; \/undo \S+ reverts it$/);
    expect(seat.world.read("helm.md")).toBe(helm);
    expect(Object.keys(bytes(seat.world)).filter((file) => file.includes("staging"))).toHaveLength(1);
  });

  test("files that changed while the question stood: nothing is written", async () => {
    const seat = await sitDown();
    await makeTwins(seat);
    const change = () => {
      fs.appendFileSync(seat.world.path("project_staging_reset.md"), "\nAnd at noon.\n");
      return "y";
    };
    const error = await errorOf(seat.type("/dream", change, "y"));
    expect(error.code).toBe("conflict");
    expect(error.message).toContain("nothing was written");
    expect(seat.world.exists(LOCK_FILE)).toBe(false);
    expect(seat.world.read("project_staging_reset.md")).toContain("And at noon.");
  });

  test("somebody else who is dreaming is not disturbed", async () => {
    const seat = await sitDown();
    await makeTwins(seat);
    const before = bytes(seat.world);
    const take = () => {
      seat.world.write(LOCK_FILE, String(process.ppid), { ageMs: 0 });
      return "y";
    };
    expect((await errorOf(seat.type("/dream", take, "y"))).message).toMatch(
      /another dream is running \(process \d+\); try again/,
    );
    expect((await errorOf(seat.type("/dream apply --all"))).message).toMatch(
      /another dream is running \(process \d+\)/,
    );
    expect(await seat.type("/dream status")).toMatch(/running {3}yes, process \d+/);
    expect(bytes(seat.world)).toEqual(before);
    expect(seat.world.read(LOCK_FILE)).toBe(String(process.ppid));
  });

  test("no directory yet, and words that are not known", async () => {
    const seat = await sitDown();
    expect(await seat.type("/dream")).toBe("There is nothing to tidy up.");
    expect(seat.world.exists("")).toBe(false);
    const error = await errorOf(seat.type(`/dream ${EVIL}`));
    expect(error.message).toContain("one argument too many");
    expect(error.message).not.toMatch(HARMFUL);
    expect((await errorOf(seat.type("/dream constructor"))).code).toBe("usage");
  });

  test("40 columns and hostile words: every line fits and none is lost", async () => {
    const seat = await sitDown({ columns: 40 });
    const body = `${SAME} ${EVIL}`;
    seat.world.write("project_one.md", memoryText("project", "one thing", body));
    seat.world.write("project_two.md", memoryText("project", "other thing", body));
    const said = await seat.type("/dream", "n");
    expect(said).not.toMatch(HARMFUL);
    for (const line of said.split("\n")) expect(widthOf(line)).toBeLessThanOrEqual(40);
    expect(said.replace(/\s+/g, " ")).toContain(SAME);
  });
});

const answer = (ops: unknown[]) => ({
  text: `<plan>\n${JSON.stringify({ ops })}\n</plan>`,
  usage: { input: 900, output: 100 },
});

async function sitWithModel(more: SeatOptions = {}): Promise<Seat & { server: AgentDesk["server"] }> {
  const desk = await openDesk();
  const agent = await desk.open();
  return { ...(await sitDown({ world: desk.world, agent, ...more })), server: desk.server };
}

const ledgerOf = ({ world }: Seat) => openLedger(world.dir, { now: () => world.now, log: () => {} });

describe("/dream with the agent's model", () => {
  test("B9.4 its plan is shown with reasons, applied when the person says so, and in the ledger", async () => {
    const seat = await sitWithModel();
    await seat.memdir.save({ type: "project", name: "freeze", body: "Frozen until 2026-03-01." });
    await seat.memdir.save({ type: "user", name: "tabs", body: "Likes tabs." });
    const before = bytes(seat.world);
    const reason = "the freeze is over\x1b[2J";
    seat.server.queue(answer([{ kind: "retire", file: "project_freeze.md", successor: null, reason }]));
    const said = await seat.type("/dream", "y");
    expect(said).toContain("1. retire project_freeze.md: the freeze is over");
    expect(said).toContain("-Frozen until 2026-03-01.");
    expect(said).not.toMatch(HARMFUL);
    expect(seat.world.exists("project_freeze.md")).toBe(false);
    expect(ledgerOf(seat).entries()).toMatchObject([
      { kind: "dream", model: "anthropic/claude-test", produced: "a plan: 1 retired", skipped: null },
    ]);
    expect(ledgerOf(seat).today().tokens).toBe(1000);
    await seat.type(/\/undo \S+/.exec(said)?.[0] as string);
    expect(bytes(seat.world)).toEqual(before);
  });

  test("a model that fails or answers nonsense changes nothing; what it cost is counted", async () => {
    const seat = await sitWithModel();
    await makeTwins(seat);
    const before = bytes(seat.world);
    seat.server.queue({ status: 401 });
    expect((await errorOf(seat.type("/dream"))).message).toContain("nothing was changed");
    expect(ledgerOf(seat).entries()).toEqual([]);
    seat.server.queue(
      { text: "no plan", usage: { input: 400, output: 100 } },
      { text: "none", usage: { input: 400, output: 100 } },
    );
    expect((await errorOf(seat.type("/dream"))).code).toBe("model");
    expect(ledgerOf(seat).today()).toMatchObject({ tokens: 1000, calls: 1 });
    seat.server.queue(answer([]), { text: "no" }, { text: "no" });
    expect(await seat.type("/dream apply --all")).toContain("nothing to tidy up");
    expect((await errorOf(seat.type("/dream apply --all"))).message).toContain("nothing was changed");
    expect(ledgerOf(seat).today().calls).toBe(3);
    expect(bytes(seat.world)).toEqual(before);
  });

  test("Ctrl-C stops it", async () => {
    const stop = new AbortController();
    const seat = await sitWithModel({ signal: stop.signal });
    await makeTwins(seat);
    const before = bytes(seat.world);
    seat.server.queue(() => {
      setTimeout(() => stop.abort(), 10);
      return { text: ["thinking"], fault: "hang" };
    });
    expect((await errorOf(seat.type("/dream"))).message).toBe("it was stopped; nothing was changed");
    expect(bytes(seat.world)).toEqual(before);
  });
});

const PRICE = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };

function setLearn(world: World, learn: object): void {
  fs.writeFileSync(path.join(world.home, ".claude", "memdir.json"), JSON.stringify({ learn }));
}

describe("/cost", () => {
  test("before anything: nothing was used, nothing is unknown", async () => {
    const seat = await sitDown();
    expect(await seat.type("/cost")).toBe(
      [
        "requests              0",
        "input tokens          0",
        "read from the cache   0",
        "written to the cache  0",
        "output tokens         0",
        "cost                  0",
        "",
        "Background work",
        "Today: 0 calls, 0 tokens, cost 0",
        "Left today: 200,000 of 200,000 tokens",
        "A session may take 50,000. Cached input counts a tenth.",
        "memdir ledger lists every call",
      ].join("\n"),
    );
    expect(seat.world.exists(".memdir/ledger.jsonl")).toBe(false);
  });

  test("the session's own by the user's prices, then background work and what is left", async () => {
    const desk = await openDesk();
    setLearn(desk.world, { prices: { "anthropic/*": PRICE }, tokensPerDay: 5000 });
    const agent = await desk.open();
    desk.server.queue({ text: "Hello.", usage: { input: 1000, output: 200, cacheRead: 0, cacheWrite: 0 } });
    await agent.say("hello you there");
    const seat = await sitDown({ world: desk.world, agent });
    ledgerOf(seat).spend({
      at: desk.world.now.toISOString(),
      kind: "extraction",
      session: "s",
      model: "anthropic/small",
      usage: { input: 1000, output: 0, cacheRead: 0, cacheWrite: 0 },
      produced: "1 saved",
      skipped: null,
    });
    const said = await seat.type("/cost");
    expect(said).toMatch(/^requests {14}1\ninput tokens {10}1,000\n/);
    expect(said).toMatch(/^cost {18}0\.0060\nat the price of anthropic\/claude-test$/m);
    expect(said).toContain("Today: 1 call, 1,000 tokens, cost 0.0030\nLeft today: 4,000 of 5,000 tokens");
  });

  test("without a price it is unknown and never nothing; 40 columns are enough", async () => {
    const desk = await openDesk();
    const agent = await desk.open();
    desk.server.queue({ text: "Hello." });
    await agent.say("hello you there");
    const seat = await sitDown({ world: desk.world, agent, columns: 40 });
    const said = await seat.type("/cost");
    expect(said).toMatch(/^cost {18}unknown$/m);
    expect(said).not.toContain("at the price");
    expect(said.replace(/\s+/g, " ")).toContain("No price is known for anthropic/claude-test: set learn.prices");
    for (const line of said.split("\n")) expect(widthOf(line)).toBeLessThanOrEqual(40);
  });

  test.skipIf(process.platform === "win32")("a ledger that cannot be kept is told", async () => {
    const seat = await sitDown();
    seat.world.write(".memdir/x", "");
    fs.symlinkSync(path.join(seat.world.top, "elsewhere"), seat.world.path(".memdir/ledger.jsonl"));
    expect(await seat.type("/cost")).toMatch(/warning: [\s\S]*ledger\.jsonl is a symbolic link/);
  });
});

test("twins without descriptions can be merged too; a reason of several lines is one", async () => {
  const seat = await sitWithModel();
  await seat.memdir.save({ type: "project", name: "freeze", body: "Frozen until 2026-03-01." });
  const reason = "over\n--- feedback_rule.md\n+++ (gone)";
  seat.server.queue(answer([{ kind: "retire", file: "project_freeze.md", successor: null, reason }]));
  expect(await seat.type("/dream", "n")).toContain("project_freeze.md: over --- feedback_rule.md +++ (gone)\n");
  const offline = await sitDown();
  await offline.memdir.save({ type: "project", name: "staging reset", body: SAME });
  await offline.memdir.save({ type: "project", name: "staging database reset", body: SAME });
  expect(await offline.type("/dream", "y", "y")).toContain("1 merged");
});

describe("/summary", () => {
  test("B8.8 needs a model, and says what is missing", async () => {
    const seat = await sitDown();
    await expect(seat.type("/summary")).rejects.toThrow(/model/);
  });

  test("B8.8 takes notes now and says where they are", async () => {
    const desk = await openDesk();
    const memdir = await desk.world.open();
    const agent = await desk.open({ openLearner: openLearner(memdir) });
    const file = path.join(path.dirname(agent.transcriptPath), agent.sessionId, "session-memory", "summary.md");
    const hint = /# Current State\n(_.*_)\n/.exec(NOTES_TEMPLATE)![1]!;
    const edit = { name: "Edit", input: { file_path: file, old_string: hint, new_string: `${hint}\nGreeted.` } };
    desk.server.queue({ text: "Hi." }, { text: "NOTHING TO KEEP" }, { tools: [edit] }, { text: "Noted." });
    await agent.say("hello you there");
    await agent.drain();
    const seat = await sitDown({ world: desk.world, agent });
    expect(await seat.type("/summary")).toBe(`the notes are in ${file}`);
    expect(fs.readFileSync(file, "utf8")).toContain("Greeted.");
  });
});
