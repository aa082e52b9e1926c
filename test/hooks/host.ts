/** A process that answers events, for tests: it keeps what it is told to, starts nothing, and collects what fails. */

import fs from "node:fs";
import path from "node:path";
import { type Host, openDeadline } from "../../src/hooks/event.ts";
import { contentOf, readSharedRules } from "../../src/hooks/rules.ts";
import { findDirectories, findPlace } from "../../src/project/scopes.ts";
import type { World } from "../world.ts";

interface Making {
  env?: Record<string, string>;
  elapsedMs?: () => number;
  startedIn?: string;
  faults?: string[];
}

/** A new deadline with each call; what is kept, stays. */
export function makeHost(world: World, { env = {}, elapsedMs = () => 0, startedIn, faults = [] }: Making = {}) {
  const kept = new Map<string, unknown>();
  const started: (readonly string[])[] = [];
  const host = (): Host => ({
    env: { ...world.env, ...env },
    now: () => world.now,
    deadline: openDeadline(elapsedMs),
    onFault: ({ message }) => faults.push(message),
    startedIn: () => startedIn ?? world.project,
    start: (args) => started.push(args),
    keep: <T>(key: string, make: () => T) => {
      if (!kept.has(key)) kept.set(key, make());
      return kept.get(key) as T;
    },
  });
  return { host, faults, started };
}

/** The user accepts every rule of others that is there now. */
export function acceptRules(world: World): void {
  const { config, location } = findPlace({ cwd: world.project }, world.env);
  const { directories } = findDirectories({ cwd: world.project }, config, location);
  const file = path.join(world.home, ".claude", "memdir.json");
  const settings = fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, "utf8")) : {};
  const acceptedRules = { [world.project]: readSharedRules(directories).map(contentOf) };
  fs.writeFileSync(file, JSON.stringify({ ...settings, acceptedRules }));
}
