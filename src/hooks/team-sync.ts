/** A sync with the team's server beside a session: started by a hook that does not wait for it, and ended by itself. */

import { join } from "node:path";
import type { Config, Env } from "../config.ts";
import { findPlace } from "../directories.ts";
import type { Location } from "../project/locate.ts";
import { cwdOf, type EventInput } from "./event.ts";

/** Enough for a pass over a slow line; whatever is left is for the next one. */
const SECONDS = 20;

export function syncBeside(input: EventInput, env: Env): boolean {
  const cwd = cwdOf(input);
  const { config, location } = findPlace({ cwd }, env);
  if (!wantsSync(config, location)) return false;
  start(cwd);
  return true;
}

/** Off unless the user says so, and nothing to do where the project has joined no team. */
export function wantsSync({ hooks, disabled, teams }: Config, { project }: Pick<Location, "project">): boolean {
  return hooks.sync && disabled === null && Object.hasOwn(teams, project.root);
}

/** In a session of its own, with nothing of ours open: it outlives us, by at most its deadline. */
function start(cwd: string): void {
  const args = [join(__dirname, "cli.js"), "sync", "--deadline", String(SECONDS), "--json"];
  const { spawn } = process.getBuiltinModule("node:child_process");
  const child = spawn(process.execPath, args, { cwd, detached: true, stdio: "ignore", windowsHide: true });
  child.on("error", () => {});
  child.unref();
}
