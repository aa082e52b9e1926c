/** Where a project's sessions are: in Claude Code's folder for the working directory, unlike memories, which a repository shares. */

import { readdirSync } from "node:fs";
import path from "node:path";
import type { Config } from "../config.ts";
import { isWithin } from "../disk/fence.ts";
import { attempt } from "../errors.ts";
import { type Project, slugOf } from "./locate.ts";

export function sessionsFolder(config: Config, { cwd }: Project): string {
  return path.join(projectsFolder(config), slugOf(cwd));
}

/** The folders of all projects. */
function projectsFolder({ claudeDir }: Config): string {
  return path.join(claudeDir, "projects");
}

/** The folders in which sessions are looked for: this project's, or those of all, and seed 001's folder. */
export function sessionPlaces(config: Config, project: Project, all = false): { dirs: string[]; older: string } {
  const projects = projectsFolder(config);
  const names = all ? attempt(() => readdirSync(projects), []) : [slugOf(project.cwd)];
  const dirs = names.map((name) => path.join(projects, name));
  return { dirs, older: path.join(config.claudeDir, "sessions") };
}

/** Seed 001's layout keeps the sessions of all projects together: those of other projects are left out. */
export function isSessionHere(
  session: { path: string; cwd: string | null },
  config: Config,
  project: Project,
): boolean {
  return session.cwd === null || session.cwd === project.cwd || isWithin(projectsFolder(config), session.path);
}
