/** A background sync with the team's server: started by a hook that does not wait for it, with a deadline of its own. */

import { join } from "node:path";
import type { Config, Env } from "../config.ts";
import { findPlace } from "../directories.ts";
import type { Location } from "../project/locate.ts";
import { cwdOf, type EventInput } from "./event.ts";

/** Enough for a pass over a slow connection; the next pass does the rest. */
const SECONDS = 20;

export function syncBeside(input: EventInput, env: Env): boolean {
  const cwd = cwdOf(input);
  const { config, location } = findPlace({ cwd }, env);
  if (!wantsSync(config, location)) return false;
  start(cwd);
  return true;
}

/** Off by default, and only for projects that have joined a team. */
export function wantsSync({ hooks, disabled, teams }: Config, { project }: Pick<Location, "project">): boolean {
  return hooks.sync && disabled === null && Object.hasOwn(teams, project.root);
}

/** Detached and without our streams, as it outlives us, by at most its deadline. */
function start(cwd: string): void {
  const args = [join(__dirname, "cli.js"), "sync", "--deadline", String(SECONDS), "--json"];
  const { spawn } = process.getBuiltinModule("node:child_process");
  const child = spawn(process.execPath, args, { cwd, detached: true, stdio: "ignore", windowsHide: true });
  child.on("error", () => {});
  child.unref();
}
