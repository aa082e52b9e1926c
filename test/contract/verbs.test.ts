/** Every verb of the table keeps the contract. */

import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { completeLine } from "../../src/cli/console/slash-commands.ts";
import { VERBS } from "../../src/verbs/table.ts";
import { propose } from "../learn/proposals.ts";
import { note, START, type World } from "../world.ts";
import { type Sample, testVerb } from "./test-verb.ts";

const tea = async (world: World) => {
  await (await world.open()).save(note("tea", { body: "The user drinks green tea." }));
};

const twins = async (world: World) => {
  const memdir = await world.open();
  for (const name of ["green tea", "tea that is green"])
    await memdir.save(note(name, { body: "The user drinks green tea in the morning and never at night." }));
};

const putTalk = async ({ project, home }: World) => {
  const message = { role: "user", content: "Remember that releases are cut on Tuesdays, \x1b[2Jnever on Fridays." };
  const line = { type: "user", uuid: "u1", parentUuid: null, sessionId: "s-1", timestamp: START, message };
  const folder = path.join(home, ".claude", "projects", "-elsewhere");
  fs.mkdirSync(folder, { recursive: true });
  for (const file of [path.join(project, "talk.jsonl"), path.join(folder, "talk.jsonl")])
    fs.writeFileSync(file, `${JSON.stringify(line)}\n`);
};

function plantProposal(world: World): void {
  const proposal = propose({ id: "0123456789ab", reason: "said \x1b[2J" });
  world.write(".memdir/inbox/0123456789ab.json", JSON.stringify(proposal));
}

const release = (scope: string) => async (world: World) => {
  await (await world.open({ scope })).save(note("release day", { type: "project", body: "On Tuesdays." }));
};

const notes = async (world: World) => {
  fs.mkdirSync(path.join(world.project, "notes"));
  fs.writeFileSync(path.join(world.project, "notes", "style.md"), "Write names as nouns.\n");
};

const SAMPLES: Readonly<Record<string, Sample>> = {
  save: { input: { text: "Use pnpm, never npm: the lockfile is pnpm's." } },
  list: { input: { type: "user" }, given: tea },
  show: { input: { name: "tea" }, given: tea },
  search: { input: { words: "green tea" }, given: tea },
  recall: { input: { prompt: "what does the user drink, tea?" }, given: tea },
  // Without a terminal there is no editor.
  edit: { input: { name: "tea" }, given: tea, fails: true },
  forget: { input: { name: "tea", reason: "gone cold" }, given: tea },
  rename: { input: { name: "tea", to: "green tea" }, given: tea },
  undo: { input: {}, given: tea },
  history: { input: { name: "tea" }, given: tea },
  check: { input: {}, given: tea },
  doctor: { input: {}, given: tea },
  lint: { input: {}, given: tea },
  verify: { input: { name: "tea", all: true }, given: tea },
  health: { input: { all: true }, given: tea },
  prune: { input: { "older-than": 1, type: "user" }, given: tea },
  index: { input: { rebuild: true }, given: tea },
  why: { input: { name: "tea" }, given: tea },
  context: { input: {}, given: tea },
  prompt: { input: { section: "saving" } },
  adopt: { input: { from: "nowhere" }, fails: true },
  trust: { input: {}, fails: true },
  extract: { input: { transcript: "talk.jsonl" }, given: putTalk },
  learn: { input: { since: "30d", agent: "claude" }, given: putTalk },
  inbox: { input: { action: "accept", id: "0123" }, given: async (world) => plantProposal(world) },
  dream: { input: { apply: true, all: true }, given: twins },
  enrich: { input: {}, given: tea },
  log: { input: { text: "moved the build to node 22" } },
  ledger: { input: { days: 1 } },
  sessions: { input: { all: true }, given: putTalk },
  rewind: { input: { id: "latest" }, fails: true },
  init: { input: { "dry-run": true } },
  uninstall: { input: { "dry-run": true } },
  import: { input: { source: "markdown", path: "notes" }, given: notes },
  export: { input: { output: "exported/" }, given: tea },
  promote: { input: { name: "release day", yes: true }, given: release("project") },
  demote: { input: { name: "release day", yes: true }, given: release("team") },
  // No team was joined.
  sync: { input: {}, fails: true },
  join: { input: { leave: true }, fails: true },
  team: { input: {}, fails: true },
};

it("has a sample for every verb", () => {
  expect(Object.keys(SAMPLES).sort()).toEqual(VERBS.map(({ name }) => name).sort());
});

it("offers in the console what is for it, and completes names where a verb takes one", () => {
  const offered = new Set(completeLine("/", []).map(({ label }) => label.slice(1)));
  const own = ["memory", "cost", "context", "compact", "summary", "clear", "resume", "rewind", "model", "help", "exit"];
  const verbs = VERBS.filter(({ on }) => on.includes("console"));
  expect([...offered].sort()).toEqual([...verbs.map(({ name }) => name), ...own].sort());
  expect(offered).toContain("check");
  for (const { name, takesName } of verbs)
    expect(completeLine(`/${name} gr`, ["green tea"]).map(({ insert }) => insert)).toEqual(
      takesName ? ["green tea"] : [],
    );
  expect(completeLine("/rm gr", ["green tea"])).toHaveLength(1);
});

it("says of every verb whether it takes a name", async () => {
  for (const { name, takesName = false, load } of VERBS)
    expect([name, takesName]).toEqual([name, /^name\??$/.test((await load()).args[0] ?? "")]);
});

for (const row of VERBS) testVerb(row, SAMPLES[row.name] ?? { input: {} });
