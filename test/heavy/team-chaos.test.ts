/**
 * Real programs that sync with a server, a git branch and a shared folder, killed at any moment, while their store is put back to
 * backups. One of the three people, or all, have a disk that ignores case, and spell names anew.
 */

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import * as esbuild from "esbuild";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { SERVER_LIMITS } from "../../src/team/server/route.ts";
import { startServer } from "../../src/team/server/serve.ts";
import { makeDice } from "../team/dice.ts";
import { makeGitPlace } from "../team/git-place.ts";
import { CLI, endOf, makePerson } from "../team/person.ts";
import { mustCall } from "../team/server/caller.ts";
import { openMemoryData } from "../team/server/memory-data.ts";
import { makeTemporary } from "../temporary.ts";

/** In all stores together; with the syncs that end by themselves, some 2,000. */
const KILLS = Number(process.env.CHAOS_KILLS ?? 300);
/** Of a process that syncs with a folder: starting it costs more than a sync. */
const FOLDER_SYNCS = 20;
const SEED = Number(process.env.CHAOS_SEED ?? 20_261_117);
const FILES = ["plan.md", "deploys.md", "tests.md"];
const NAMES = ["ann", "bob", "eve"];

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const one of cleanups.splice(0)) await one();
});

/** People who share a store, and how each of them syncs. */
interface Team {
  people: { folder: string; isCaseless: boolean; sync(): ChildProcess }[];
  backUp(): () => void;
}

let programs: string;
beforeAll(async () => {
  programs = makeTemporary("chaos-programs");
  const entryPoints = ["caseless-program", "folder-program"].map((name) =>
    path.resolve(import.meta.dirname, `../team/${name}.ts`),
  );
  const modules = path.resolve(import.meta.dirname, "../../node_modules");
  const options = { bundle: true, platform: "node", format: "esm", packages: "external" } as const;
  await esbuild.build({
    ...options,
    entryPoints,
    outdir: programs,
    outExtension: { ".js": ".mjs" },
    logLevel: "error",
  });
  fs.symlinkSync(modules, path.join(programs, "node_modules"));
});

/** Eve has a Mac. */
const eve = (name: string) => name === "eve";

function startProgram(args: string[], env: NodeJS.ProcessEnv, caselessRoot: string | null, cwd: string): ChildProcess {
  const preload = pathToFileURL(path.join(programs, "caseless-program.mjs")).href;
  const caseless = caselessRoot === null ? {} : { CASELESS_ROOT: caselessRoot, NODE_OPTIONS: `--import ${preload}` };
  return spawn(process.execPath, args, { cwd, env: { ...env, ...caseless } });
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
  const people = NAMES.map((name) => ({ name, ...makePerson(makeTemporary(`chaos-${name}`, "memory")) }));
  for (const person of people) {
    const file = path.join(person.home, "token");
    fs.writeFileSync(file, token);
    expect(await person.run(["join", `${server.url}/acme/app`, "--token-file", file])).toMatchObject({ code: 0 });
  }
  return {
    people: people.map(({ name, mirror, home, env, project }) => ({
      folder: mirror,
      isCaseless: eve(name),
      sync: () => startProgram([CLI, "sync"], env, eve(name) ? home : null, project),
    })),
    backUp: data.backUp,
  };
}

async function shareBranch(): Promise<Team> {
  const place = makeGitPlace();
  cleanups.push(() => fs.rmSync(place.top, { recursive: true, force: true }));
  const people = NAMES.map((name) => ({ name, ...makePerson(makeTemporary(`chaos-${name}`, "memory")) }));
  for (const { project, env } of people)
    execFileSync("git", ["remote", "add", "origin", "https://git.example/acme/app.git"], { cwd: project, env });
  const tip = () => place.git("for-each-ref", "--format=%(objectname)", "refs/heads/memdir");
  const args = [CLI, "sync", "--git", place.remote, "--scope", "project"];
  return {
    people: people.map(({ name, mirror, home, env, project }) => ({
      folder: path.dirname(mirror),
      isCaseless: eve(name),
      sync: () => startProgram(args, env, eve(name) ? home : null, project),
    })),
    backUp() {
      const kept = tip();
      return () => void (kept === "" || place.git("update-ref", "refs/heads/memdir", kept));
    },
  };
}

async function shareFolder(isCaseless: (name: string) => boolean): Promise<Team> {
  const top = makeTemporary("chaos-folder", "memory");
  const shared = path.join(top, "shared");
  let backups = 0;
  return {
    people: NAMES.map((name) => {
      const folder = path.join(top, name);
      const args = [path.join(programs, "folder-program.mjs"), folder, shared, name, String(FOLDER_SYNCS)];
      // The store is on such a disk, too, where everybody's are.
      const root = isCaseless("ann") ? top : folder;
      const sync = () => startProgram(args, process.env, isCaseless(name) ? root : null, top);
      return { folder, isCaseless: isCaseless(name), sync };
    }),
    backUp() {
      const copy = path.join(top, `backup-${++backups}`);
      const options = { recursive: true, preserveTimestamps: true };
      if (!fs.existsSync(shared)) return () => {};
      fs.cpSync(shared, copy, options);
      return () => {
        fs.rmSync(shared, { recursive: true, force: true });
        fs.cpSync(copy, shared, options);
      };
    },
  };
}

const part = (share: number) => Math.ceil(KILLS * share);

describe.each([
  ["a server", shareServer, part(0.4)],
  ["a git branch", shareBranch, part(0.2)],
  ["a folder", () => shareFolder(eve), part(0.2)],
  ["a folder, all on disks that ignore case", () => shareFolder(() => true), part(0.2)],
] as const)("three people and %s", (_, share, kills) => {
  it(`lose no line in ${kills} kills`, { timeout: 7_200_000 }, async () => {
    const { people, backUp } = await share();
    const dice = makeDice(SEED);
    const count = { syncs: 0, kills: 0, restores: 0, lines: 0, respelled: 0, seconds: 0 };
    let restore = backUp();
    const lines: string[] = [];
    /** Of a whole sync; kills come anywhere in it. */
    let usual = 1_000;
    const began = performance.now();
    const syncOnce = async (start: () => ChildProcess, killAfter: number | null) => {
      const child = start();
      let err = "";
      child.stderr?.on("data", (chunk) => (err += chunk));
      let done = 0;
      child.stdout?.on("data", (chunk) => (done += String(chunk).match(/^\.+$/)?.[0].length ?? 0));
      const at = performance.now();
      const ended = endOf(child);
      if (killAfter !== null) {
        await Promise.race([ended, sleep(killAfter)]);
        child.kill("SIGKILL");
      }
      await ended;
      // One was under way when it was killed.
      count.syncs += Math.max(1, done + (child.signalCode === null ? 0 : 1));
      if (child.signalCode === "SIGKILL") count.kills++;
      // A killed one may have left something behind that the next has to wait for; another's store may have been put back meanwhile.
      else expect([0, 1, 3], err).toContain(child.exitCode);
      if (child.signalCode === null) usual = 0.8 * usual + 0.2 * (performance.now() - at);
      return child.exitCode;
    };
    for (let round = 0; count.kills < kills; round++) {
      if (round > 8 * kills) throw new Error("too few of the syncs last long enough to be killed");
      const running = people.map(async ({ folder, isCaseless, sync }, at) => {
        if (isCaseless && dice.below(4) === 0 && respell(folder, dice.pick(FILES))) count.respelled++;
        for (let i = dice.below(3); i > 0; i--) {
          const line = `line ${lines.length} of ${NAMES[at]};`;
          lines.push(line);
          addLine(folder, dice.pick(FILES), at, line);
        }
        await syncOnce(sync, dice.below(4) === 0 ? null : usual * (0.2 + 0.009 * dice.below(100)));
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
      for (const { sync } of people) expect([0, 1]).toContain(await syncOnce(sync, null));
    count.lines = lines.length;
    count.seconds = Math.round((performance.now() - began) / 1000);
    const texts = people.map(({ folder }) => readAll(folder));
    expect(new Set(texts).size, "different texts").toBe(1);
    expect(lines.filter((line) => !texts[0]?.includes(line))).toEqual([]);
    expect(count.restores).toBeGreaterThan(0);
    console.info(`${JSON.stringify(count)}, 0 lines lost, 0 replaced`);
  });
});

/** Every person has a part of each memory: their lines never meet in one place. */
function addLine(folder: string, file: string, at: number, line: string): void {
  const target = path.join(folder, spellingOf(folder, file) ?? file);
  const parts = NAMES.map((name) => `# Of ${name}\n\nWe note here.\n`).join("\n");
  const fresh = `---\nname: ${file}\ndescription: d\ntype: project\n---\n\n${parts}`;
  const text = fs.existsSync(target) ? fs.readFileSync(target, "utf8") : fresh;
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(`${target}.tmp`, text.replace(`# Of ${NAMES[at]}\n`, `# Of ${NAMES[at]}\n\n${line}\n`));
  fs.renameSync(`${target}.tmp`, target);
}

/** As a person with such a disk does it: `Plan.md` for `plan.md`, and back. */
function respell(folder: string, file: string): boolean {
  const now = spellingOf(folder, file);
  if (now === undefined) return false;
  const other = now === file ? file.replace(/^./, (letter) => letter.toUpperCase()) : file;
  fs.renameSync(path.join(folder, now), path.join(folder, other));
  return true;
}

function spellingOf(folder: string, file: string): string | undefined {
  const names = fs.existsSync(folder) ? fs.readdirSync(folder) : [];
  return names.find((name) => name.toLowerCase() === file);
}

function readAll(folder: string): string {
  const names = fs.existsSync(folder) ? fs.readdirSync(folder) : [];
  const memories = names.filter((name) => name.endsWith(".md") && !name.startsWith("MEMORY"));
  const rows = memories.map((name) => `${name.toLowerCase()}\n${fs.readFileSync(path.join(folder, name), "utf8")}`);
  return rows.sort().join("\n");
}
