/** Real folders and real repositories for the tests of `project/` and `config.ts`. */

import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { type Config, type Env, readConfig } from "../../src/config.ts";
import { findProject } from "../../src/project/locate.ts";
import { makeTemporary } from "../temporary.ts";

export interface Fixture {
  /** Real path of a fresh folder that is removed after the file's tests. */
  top: string;
  home: string;
  /** Writes files below `top`; an object becomes JSON. */
  put(files: Record<string, string | object>): void;
  at(...parts: string[]): string;
  git(cwd: string, ...args: string[]): string;
  /** `git init` and one commit of what is there. */
  repository(relative: string): string;
  config(cwd: string, env?: Env, sources?: readonly ("user" | "project" | "local")[]): Config;
}

export function makeFixture(): Fixture {
  const top = makeTemporary("project");
  const home = path.join(top, "home");
  fs.mkdirSync(home);
  const at = (...parts: string[]) => path.join(top, ...parts);
  const fixture: Fixture = {
    top,
    home,
    at,
    put(files) {
      for (const [name, content] of Object.entries(files)) {
        fs.mkdirSync(path.dirname(at(name)), { recursive: true });
        fs.writeFileSync(at(name), typeof content === "string" ? content : JSON.stringify(content));
      }
    },
    git(cwd, ...args) {
      const config = ["init.defaultBranch=main", "commit.gpgsign=false", "protocol.file.allow=always"];
      return execFileSync("git", [...config.flatMap((item) => ["-c", item]), ...args], {
        cwd,
        encoding: "utf8",
        stdio: ["ignore", "pipe", "ignore"],
      }).trim();
    },
    repository(relative) {
      fs.mkdirSync(at(relative), { recursive: true });
      fixture.git(at(relative), "init", "-q");
      fixture.git(at(relative), "add", "-A");
      fixture.git(at(relative), "commit", "-q", "--allow-empty", "-m", relative);
      return at(relative);
    },
    config(cwd, env = {}, settingSources) {
      const project = findProject(cwd);
      const projectRoot = project.worktreeRoot ?? project.cwd;
      const managed = { MEMDIR_MANAGED_DIR: at("managed") };
      return readConfig({ cwd, env: { HOME: home, ...managed, ...env }, projectRoot, settingSources });
    },
  };
  return fixture;
}
