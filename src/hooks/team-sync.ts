/** A background sync with the team's server: started by a hook that does not wait for it, with a deadline of its own. */

import type { Config } from "../config.ts";
import type { Location } from "../project/locate.ts";
import { findPlace } from "../project/scopes.ts";
import type { Event, Host } from "./event.ts";

/** Enough for a pass over a slow connection; the next pass does the rest. */
const SECONDS = 20;

export function syncBeside({ cwd }: Pick<Event, "cwd">, { env, start }: Pick<Host, "env" | "start">): boolean {
  const { config, location } = findPlace({ cwd }, env);
  if (!wantsSync(config, location)) return false;
  start(["sync", "--deadline", String(SECONDS), "--json"], cwd);
  return true;
}

/** Off by default, and only for projects that have joined a team. */
export function wantsSync({ hooks, disabled, teams }: Config, { project }: Pick<Location, "project">): boolean {
  return hooks.sync && disabled === null && Object.hasOwn(teams, project.root);
}
