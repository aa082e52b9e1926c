/** Whatever adapter is asked, a memory has one age, one type and one verdict, and a prompt is shown the same memories in the same words. */

import { execFile } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { MAX_HOOK_CHARS } from "../../src/config.ts";
import type { Memdir } from "../../src/memdir.ts";
import { NOTHING_RECALLED } from "../../src/prompts/mcp.ts";
import { answerMemories } from "../../src/web/answer-memories.ts";
import { inspectRecall } from "../../src/web/answer-recall.ts";
import { makeMcpOptions, openWire, type Wire } from "../mcp/wire.ts";
import { makePage } from "../web/open-page.ts";
import { DAY, makeWorld, type World } from "../world.ts";

const DIST = fileURLToPath(new URL("../../dist", import.meta.url));
const run = promisify(execFile);
const LIMIT_MS = 240_000;

/** Topic, body, and what else stands in its head. */
const NOTES: Readonly<Record<string, [name: string, body: string, head?: string]>> = {
  "deploy.md": [
    "Deploy to staging with kubectl",
    "Use kubectl apply on staging, never helm.",
    "when:\n  - roll out a release\n",
  ],
  "helm.md": ["Deploy with helm", "Helm charts for staging.", "links: [deploy]\n"],
  "argo.md": ["Argo rollouts", "Argo does the rollouts now.", "supersedes: [helm]\n"],
  "pool.md": ["Database pool size", "The pool holds twenty connections.", "when:\n  - requests time out under load\n"],
  "postgres.md": ["Integration tests use Postgres", "Never mock the database in tests.", "source: inferred\n"],
  "force.md": ["No force push", "Never force-push to main.", "enforce:\n  tool: Bash\n  pattern: push --force\n"],
  "colour.md": [
    "Colour blind user",
    "Figures use cividis, never red against green.",
    "when:\n  - choose colours for a plot\n",
  ],
  "auth.md": ["Sessions in auth.ts", "Login sessions are kept in src/auth.ts."],
  "release.md": ["Release on Thursdays", "The release train leaves on Thursday."],
  "logs.md": ["Structured logging", "Log JSON with a request id."],
  "flags.md": ["Feature flags", "New features go behind flags."],
  "deno.md": ["部署 到 测试环境", "部署用 kubectl。"],
};
const PROMPTS = [
  "how do we deploy to staging?",
  "roll out a release to the cluster",
  "kubectl apply fails on staging",
  "which helm chart do we use",
  "argo rollouts status",
  "requests time out under load, what is the pool size?",
  "can I mock the database in the tests?",
  "may I push --force to main",
  "plot the loss curves with red and green lines",
  "choose colours for a plot legend",
  "where is the login session kept",
  "src/auth.ts throws on login",
  "when does the release train leave",
  "add a request id to the JSON log",
  "put the new feature behind a flag",
  "怎么部署到测试环境",
  "what is the weather like on the moon",
  "rename this variable please",
  "the team style for commit messages",
  "squash commits before merging",
];

let world: World;
let memdir: Memdir;
let wire: Wire;

beforeAll(async () => {
  world = makeWorld({ env: { MEMDIR_MEANING: "1", NO_COLOR: "1" }, settings: { hooks: { deadlineMs: 60_000 } } });
  world.now = new Date();
  const iso = (days: number) => new Date(world.now.getTime() - days * DAY).toISOString();
  Object.entries(NOTES).forEach(([file, [name, body, head = ""]], i) => {
    const type = file === "force.md" ? "feedback" : "project";
    world.write(
      file,
      `---\nname: ${name}\ndescription: d\ntype: ${type}\nmodified: ${iso(318 + i)}\n${head}---\n\n${body}\n`,
    );
  });
  world.write("MEMORY.md", "- [deploy](deploy.md)\n");
  world.write("README.md", "How to deploy to staging with kubectl: this is no memory.\n");
  // Shared through the repository: one dates itself, one was committed long ago, one is new.
  const team = path.join(world.project, ".claude", "memory");
  fs.mkdirSync(team, { recursive: true });
  const put = (file: string, name: string, head = "") =>
    fs.writeFileSync(
      path.join(team, file),
      `---\nname: ${name}\ntype: feedback\n${head}---\n\n${name}, the team says.\n`,
    );
  put("squash.md", "Squash commits before merging");
  put("style.md", "Team style for commit messages", `modified: ${iso(40)}\n`);
  const real = world.now;
  world.now = new Date(real.getTime() - 90 * DAY);
  fs.rmSync(path.join(world.project, ".git"), { recursive: true });
  world.git("init", "-q", ".");
  world.git("add", ".");
  world.git("commit", "-qm", "memories");
  world.now = real;
  put("fresh.md", "Uncommitted team note");
  // Restored by copy: every file has the time of the copy.
  const copied = new Date(real.getTime() - 60_000);
  for (const file of Object.keys(NOTES)) fs.utimesSync(world.path(file), copied, copied);
  const { size, mtimeMs } = fs.statSync(world.path("auth.md"));
  const kept = {
    verdict: "doubtful",
    at: iso(1),
    head: "",
    says: "names src/auth.ts, which is gone",
    exist: 0,
    gone: 1,
    bytes: size,
    mtimeMs,
  };
  world.write(".memdir/verdicts.json", JSON.stringify({ version: 2, memories: { "auth.md": kept } }));
  await new Promise((done) => setTimeout(done, 200));
  memdir = await world.open({ now: () => new Date() });
  await memdir.list();
  await memdir.warm();
  wire = openWire(makeMcpOptions(world, { open: (asked) => world.open({ ...asked, now: () => new Date() }) }));
  await wire.ask("initialize", {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "contract", version: "1" },
  });
}, LIMIT_MS);

const env = () => ({ ...world.env, PATH: process.env.PATH ?? "" }) as Record<string, string>;

async function cli(...args: string[]) {
  const { stdout } = await run(process.execPath, [path.join(DIST, "cli.js"), ...args, "--json"], {
    cwd: world.project,
    env: env(),
  });
  return JSON.parse(stdout);
}

/** The text that the hook adds to each prompt, all asked in one process. */
async function askHook(prompts: readonly string[]): Promise<string[]> {
  const script = `const answer = require(${JSON.stringify(path.join(DIST, "hook.cjs"))}).openHooks();
    const ask = async (prompt) => {
      const { out } = await answer({ hook_event_name: "UserPromptSubmit", cwd: process.cwd(), prompt });
      return out === "" ? "" : JSON.parse(out).hookSpecificOutput.additionalContext;
    };
    Promise.all(${JSON.stringify(prompts)}.map(ask)).then((texts) => console.log(JSON.stringify(texts)));`;
  const { stdout } = await run(process.execPath, ["-e", script], { cwd: world.project, env: env() });
  return JSON.parse(stdout);
}

interface Seen {
  file: string;
  scope: string;
  type: string;
  ageDays: number;
}

const seen = (rows: readonly Seen[]) =>
  rows.map(({ file, scope, type, ageDays }) => `${scope} ${file} ${type} ${ageDays}`).sort();

describe("a memory", () => {
  it("has the same age and type in every list", { timeout: LIMIT_MS }, async () => {
    const rows = await memdir.list();
    expect(rows.find(({ file }) => file === "deploy.md")?.ageDays).toBe(318);
    expect(rows.find(({ file }) => file === "squash.md")?.ageDays).toBe(90);
    expect(rows.find(({ file }) => file === "style.md")?.ageDays).toBe(40);
    expect(rows.find(({ file }) => file === "fresh.md")?.ageDays).toBe(0);
    expect(rows.some(({ file }) => file === "README.md")).toBe(false);
    const { page } = await makePage({ world, open: { now: () => new Date() } });
    const listed = await wire.call("list", { limit: 100 });
    expect(seen(await cli("list"))).toEqual(seen(rows));
    expect(seen((await answerMemories(page)).rows)).toEqual(seen(rows));
    expect(seen(listed.structuredContent.memories)).toEqual(seen(rows));
    for (const { file, ageDays } of rows) expect([file, (await memdir.show(file)).ageDays]).toEqual([file, ageDays]);
  });

  it("restored by copy is as old as it says, also where a model reads of it", { timeout: LIMIT_MS }, async () => {
    const [text = ""] = await askHook(["how do we deploy to staging?"]);
    expect(text).toMatch(/The memory below is 3[12]\d days old/);
    expect(text).not.toContain("saved today");
  });

  it("has the same verdict wherever it is shown", { timeout: LIMIT_MS }, async () => {
    const prompt = "where is the login session kept, in src/auth.ts?";
    const says = /Checked against the code: it names src\/auth\.ts, which is gone/;
    const { page } = await makePage({ world, open: { now: () => new Date() } });
    const row = (await answerMemories(page)).rows.find(({ file }) => file === "auth.md");
    expect(row?.verdict).toMatchObject({ state: "gone", says: expect.stringContaining("src/auth.ts, which is gone") });
    expect((await askHook([prompt]))[0]).toMatch(says);
    expect((await memdir.recall(prompt)).text).toMatch(says);
    expect((await wire.call("recall", { prompt })).content[0].text).toMatch(says);
  });
});

describe("a prompt", () => {
  it("is shown the same memories, in the same words", { timeout: LIMIT_MS }, async () => {
    const { memdir: shownOnPage } = await makePage({ world, open: { now: () => new Date() } });
    const texts = await askHook(PROMPTS);
    let shown = 0;
    for (const [i, prompt] of PROMPTS.entries()) {
      const found = await memdir.recall(prompt, { model: false, maxBytes: MAX_HOOK_CHARS });
      const files = found.memories.map(({ file }) => file);
      shown += files.length;
      expect([prompt, texts[i]]).toEqual([prompt, found.text]);
      const asked = await cli("recall", prompt, "--no-model");
      expect([prompt, asked.method, asked.memories.map((each: Seen) => each.file)]).toEqual([
        prompt,
        found.method,
        files,
      ]);
      const mcp = (await wire.call("recall", { prompt })).content[0].text;
      expect([prompt, mcp]).toEqual([prompt, found.text || NOTHING_RECALLED]);
      const page = await inspectRecall(shownOnPage, prompt, "hook");
      expect([prompt, page.method, page.text]).toEqual([prompt, found.method, found.text]);
    }
    expect(shown).toBeGreaterThan(10);
  });
});
