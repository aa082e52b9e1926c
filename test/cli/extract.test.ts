/** `memdir extract` through the binary, with a model on loopback and without one. */

import fs from "node:fs";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { startModelServer } from "../model-server/model-server.ts";
import { expectError, openSandbox, type Sandbox } from "./run.ts";

/** A conversation as a host leaves it. */
function putSession(box: Sandbox, ...turns: [string, string][]): string {
  const sessionId = "44444444-0000-4000-8000-000000000000";
  let parentUuid: string | null = null;
  const lines = turns.flatMap(([said, answer], i) => {
    const at = (second: number) => new Date(Date.UTC(2026, 2, 10, 12, i, second)).toISOString();
    const [one, two] = [`u${i}`, `a${i}`];
    const user = {
      type: "user",
      uuid: one,
      parentUuid,
      sessionId,
      timestamp: at(0),
      message: { role: "user", content: said },
    };
    parentUuid = two;
    const message = { id: `m${i}`, role: "assistant", content: [{ type: "text", text: answer }] };
    return [user, { type: "assistant", uuid: two, parentUuid: one, sessionId, timestamp: at(1), message }];
  });
  return box.put(`${sessionId}.jsonl`, `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`);
}

describe("extract", () => {
  it("B3.7 without a model: corrections and requests are kept, tasks are not; twice is once", async () => {
    const box = openSandbox();
    const file = putSession(
      box,
      ["fix the failing test please", "I put a sleep of two seconds before the check."],
      ["no, not with sleeps: wait for the event, the builds were flaky for a week", "Understood."],
      ["remember that the freeze starts on 2026-04-01", "Noted."],
    );
    const first = await box.json(["extract", "--transcript", file], { env: { MEMDIR_MEANING: "1" } });
    expect(first.skipped).toBeNull();
    expect(first.saved).toHaveLength(2);
    const rows = await box.json(["list"]);
    // The correction is saved, or waits in the inbox if the classifier is not sure.
    expect(rows.map(({ type }: { type: string }) => type)).toContain("project");
    expect(rows).toHaveLength(first.saved.filter(({ action }: { action: string }) => action === "saved").length);
    const again = await box.json(["extract", "--transcript", file]);
    expect(again.saved.filter(({ action }: { action: string }) => action !== "unchanged")).toEqual([]);
  });

  it("B8.4 B8.5 with a model: what it writes is checked, has its origin, and goes to the inbox if the mode says so", async () => {
    const box = openSandbox();
    const server = await startModelServer();
    onTestFinished(() => server.close());
    const env = { MEMDIR_MODEL: "anthropic/m", ANTHROPIC_API_KEY: "sk-x", ANTHROPIC_BASE_URL: server.url };
    const file = putSession(box, ["we always deploy from the release branch, never from main", "I will."]);
    const content =
      "---\nname: deploy from release\ndescription: Deploy from the release branch only\ntype: feedback\nsource: m1\n---\n\nDeploy from the release branch, never from main.\n";
    const write = {
      tools: [{ name: "Write", input: { file_path: path.join(box.dir(), "feedback_deploy.md"), content } }],
    };
    server.queue(write, { text: "Kept one." });
    const done = await box.json(["extract", "--transcript", file], { env: { ...env, MEMDIR_LEARN: "inbox" } });
    expect(done).toMatchObject({ skipped: null, turns: 2, saved: [{ action: "inbox" }] });
    expect(await box.json(["list"])).toEqual([]);
    const [waiting] = await box.json(["inbox"]);
    await box.run(["inbox", "accept", waiting.id]);
    const memory = await box.json(["show", "deploy from release"]);
    expect(memory.body).toContain("never from main");
    expect(JSON.stringify(memory.metadata.source)).toContain("user");
    const { entries } = await box.json(["ledger"]);
    expect(entries).toMatchObject([{ kind: "extraction" }]);
    const nothing = await box.json(["extract", "--transcript", file], { env });
    expect(nothing.saved).toEqual([]);
    expect(nothing.skipped).toMatch(/nothing|new/i);
  });

  it("off means off, and a missing file is said", async () => {
    const box = openSandbox();
    const file = putSession(box, ["remember that releases are cut on Tuesdays", "Noted."]);
    const off = await box.json(["extract", "--transcript", file], { env: { MEMDIR_LEARN: "off" } });
    expect(off).toMatchObject({ saved: [], skipped: expect.stringContaining("off") });
    expect(fs.existsSync(box.dir())).toBe(false);
    expectError(await box.run(["extract"]), 2, /--transcript/);
    expectError(await box.run(["extract", "--transcript", "nope.jsonl"]), 2, /no session/);
    expectError(
      await box.run(["extract", "--transcript", box.put("notes.txt", "my notes\n")]),
      2,
      /holds no conversation/,
    );
  });
});
