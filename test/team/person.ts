/** A person with a home, a project and the built program. */

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";

/** The build that tests of whole programs run; HEAVY_DIST names another one, to show what it does differently. */
export const DIST = path.resolve(process.env.HEAVY_DIST ?? path.join(import.meta.dirname, "../../dist"));
export const CLI = path.join(DIST, "cli.js");

export interface Person {
  project: string;
  home: string;
  mirror: string;
  env: NodeJS.ProcessEnv;
  run(
    args: string[],
    input?: string,
    env?: NodeJS.ProcessEnv,
  ): Promise<{ code: number | null; out: string; err: string }>;
  start(args: string[]): ChildProcess;
  /** Every memory of the mirror by its file. */
  memories(): Map<string, string>;
}

export function makePerson(top: string): Person {
  const [home, project] = [path.join(top, "home"), path.join(top, "app")];
  for (const folder of [home, project]) fs.mkdirSync(folder);
  const env = { PATH: process.env.PATH, HOME: home, GIT_CONFIG_NOSYSTEM: "1", MEMDIR_MEANING: "0", NO_COLOR: "1" };
  execFileSync("git", ["init", "-q", project], { env });
  const start = (args: string[], more: NodeJS.ProcessEnv = {}) =>
    spawn(process.execPath, [CLI, ...args], { cwd: project, env: { ...env, ...more } });
  const slug = fs.realpathSync(project).replace(/[^a-zA-Z0-9]/g, "-");
  const mirror = path.join(home, ".claude", "projects", slug, "memory", "team");
  return {
    project,
    home,
    mirror,
    env,
    start: (args) => start(args),
    run: (args, input = "", more = {}) =>
      new Promise((done) => {
        const child = start(args, more);
        let [out, err] = ["", ""];
        child.stdout?.on("data", (chunk) => (out += chunk));
        child.stderr?.on("data", (chunk) => (err += chunk));
        child.stdin?.on("error", () => {});
        child.stdin?.end(input);
        child.on("close", (code) => done({ code, out, err }));
      }),
    memories: () =>
      new Map(
        fs
          .readdirSync(mirror)
          .filter((file) => file.endsWith(".md") && file !== "MEMORY.md" && file !== "MEMORY.more.md")
          .map((file) => [file, fs.readFileSync(path.join(mirror, file), "utf8")]),
      ),
  };
}

/** To be asked for before it may have ended. */
export function endOf(child: ChildProcess): Promise<unknown> {
  return new Promise((end) => child.on("close", end));
}
