/** Real programs that sync with a server and with a git branch, killed at any moment, while their store is put back to backups. */

import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { SERVER_LIMITS } from "../../src/team/server/route.ts";
import { startServer } from "../../src/team/server/serve.ts";
import { type Dice, makeDice } from "../team/dice.ts";
import { makeGitPlace } from "../team/git-place.ts";
import { endOf, makePerson, type Person } from "../team/person.ts";
import { mustCall } from "../team/server/caller.ts";
import { openMemoryData } from "../team/server/memory-data.ts";
import { makeTemporary } from "../temporary.ts";

/** In all; a third of them with git, where each takes longer. */
const KILLS = Number(process.env.CHAOS_KILLS ?? 300);
const SEED = Number(process.env.CHAOS_SEED ?? 20_261_117);
const FILES = ["plan.md", "deploys.md", "tests.md"];
const NAMES = ["ann", "bob", "eve"];

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const one of cleanups.splice(0)) await one();
});

/** People who share a store, and how each of them syncs. */
interface Team {
  people: { person: Person; folder: string; sync: string[] }[];
  backUp(): () => void;
}

async function shareServer(): Promise<Team> {
  const now = () => new Date();
  const data = openMemoryData(now);
  // The token is made of the name, and the program takes none that is short.
  const { token } = await data.createTeam("acme", "ann of the team");
  await data.addRepository(await mustCall(data, token), "app");
  const limits = { ...SERVER_LIMITS, rate: { requests: 1_000_000, seconds: 60 } };
  const server = await startServer({ data, now, log: () => {}, limits, port: 0 });
  cleanups.push(() => server.close());
  const people = NAMES.map((name) => makePerson(makeTemporary(`chaos-${name}`, "memory")));
  for (const person of people) {
    const file = path.join(person.home, "token");
    fs.writeFileSync(file, token);
    expect(await person.run(["join", `${server.url}/acme/app`, "--token-file", file])).toMatchObject({ code: 0 });
  }
  return { people: people.map((person) => ({ person, folder: person.mirror, sync: ["sync"] })), backUp: data.backUp };
}

async function shareBranch(): Promise<Team> {
  const place = makeGitPlace();
  cleanups.push(() => fs.rmSync(place.top, { recursive: true, force: true }));
  const people = NAMES.map((name) => makePerson(makeTemporary(`chaos-${name}`, "memory")));
  for (const { project, env } of people)
    execFileSync("git", ["remote", "add", "origin", "https://git.example/acme/app.git"], { cwd: project, env });
  const tip = () => place.git("for-each-ref", "--format=%(objectname)", "refs/heads/memdir");
  return {
    people: people.map((person) => ({
      person,
      folder: path.dirname(person.mirror),
      sync: ["sync", "--git", place.remote, "--scope", "project"],
    })),
    backUp() {
      const kept = tip();
      return () => void (kept === "" || place.git("update-ref", "refs/heads/memdir", kept));
    },
  };
}

describe.each([
  ["a server", shareServer, Math.ceil((2 * KILLS) / 3)],
  ["a git branch", shareBranch, Math.ceil(KILLS / 3)],
] as const)("three people and %s", (_, share, kills) => {
  it(`lose no line in ${kills} kills`, { timeout: 900_000 }, async () => {
    const { people, backUp } = await share();
    const dice = makeDice(SEED);
    const count = { syncs: 0, kills: 0, restores: 0, lines: 0 };
    let restore = backUp();
    const lines: string[] = [];
    for (let round = 0; count.kills < kills; round++) {
      if (round > 4 * kills) throw new Error("too few of the syncs last long enough to be killed");
      const running = people.map(async ({ person, folder, sync }, at) => {
        for (let i = dice.below(3); i > 0; i--) {
          const line = `line ${lines.length} of ${NAMES[at]};`;
          lines.push(line);
          addLine(folder, dice.pick(FILES), at, line);
        }
        const wasKilled = await runAndKill(person, sync, dice);
        count.syncs++;
        if (wasKilled) count.kills++;
        const here = readAll(folder);
        const gone = lines.filter((line) => line.endsWith(`${NAMES[at]};`) && !here.includes(line));
        expect(gone, `lines of ${NAMES[at]} that a sync replaced`).toEqual([]);
      });
      await Promise.all(running);
      if (dice.below(6) === 0) restore = backUp();
      if (dice.below(6) === 0) {
        restore();
        count.restores++;
      }
    }
    for (let round = 0; round < 4; round++)
      for (const { person, sync } of people) {
        const { code, err } = await person.run(sync);
        count.syncs++;
        expect([0, 1], err).toContain(code);
      }
    count.lines = lines.length;
    const texts = people.map(({ folder }) => readAll(folder));
    expect(new Set(texts).size, "different texts").toBe(1);
    expect(lines.filter((line) => !texts[0]?.includes(line))).toEqual([]);
    expect(count.restores).toBeGreaterThan(0);
    console.info(`${JSON.stringify(count)}, 0 lines lost, 0 replaced`);
  });
});

/** Every person has a part of each memory: their lines never meet in one place. */
function addLine(folder: string, file: string, at: number, line: string): void {
  const target = path.join(folder, file);
  const parts = NAMES.map((name) => `# Of ${name}\n\nWe note here.\n`).join("\n");
  const fresh = `---\nname: ${file}\ndescription: d\ntype: project\n---\n\n${parts}`;
  const text = fs.existsSync(target) ? fs.readFileSync(target, "utf8") : fresh;
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(`${target}.tmp`, text.replace(`# Of ${NAMES[at]}\n`, `# Of ${NAMES[at]}\n\n${line}\n`));
  fs.renameSync(`${target}.tmp`, target);
}

/** A start takes some 200 ms, so that most are hit somewhere in the middle. */
async function runAndKill(person: Person, args: string[], dice: Dice): Promise<boolean> {
  const child = person.start(args);
  const ended = endOf(child);
  const wait = dice.below(4) === 0 ? 20_000 : 150 + dice.below(900);
  await Promise.race([ended, sleep(wait)]);
  child.kill("SIGKILL");
  await ended;
  return child.signalCode === "SIGKILL";
}

function readAll(folder: string): string {
  const names = fs.readdirSync(folder).filter((name) => name.endsWith(".md") && !name.startsWith("MEMORY"));
  return names.map((name) => `${name}\n${fs.readFileSync(path.join(folder, name), "utf8")}`).join("\n");
}
