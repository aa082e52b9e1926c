/** Where a project's sessions lie: in Claude Code's folder for the working directory, unlike memories, which a repository shares. */

import path from "node:path";
import type { Config } from "../config.ts";
import type { Project } from "./root.ts";
import { slugOf } from "./slug.ts";

export function sessionsFolder(config: Config, { cwd }: Project): string {
  return path.join(projectsFolder(config), slugOf(cwd));
}

/** The folders of all projects. */
export function projectsFolder({ claudeDir }: Config): string {
  return path.join(claudeDir, "projects");
}
