/** Where a project's memories lie: which directories take part, and which one is written to. */

import { type Config, type Env, readConfig } from "./config.ts";
import { findProject, type Location, locate } from "./project/locate.ts";
import { findOlderDirectories } from "./project/older.ts";
import { listScopes, type ScopeDirectory, scopeDirectory } from "./project/scopes.ts";
import type { Directory } from "./store/store.ts";

export interface PlaceOptions {
  /** The working directory whose project is meant. */
  cwd: string;
  /** Instead of the directory that the environment, settings or project give. */
  memoryDir?: string | undefined;
  /** Restricts every verb to one scope: user, project, team, agent:NAME. */
  scope?: string | undefined;
  env?: Env;
  now?: () => Date;
  log?: (message: string) => void;
  /** Who asks, for the journal. */
  by?: string;
  /** False leaves out the directories of older layouts. */
  withOlder?: boolean;
  /** As Claude Code's --setting-sources. */
  settingSources?: readonly ("user" | "project" | "local")[];
}

export function findPlace(options: PlaceOptions, env: Env): { config: Config; location: Location } {
  const here = findProject(options.cwd);
  const sources = options.settingSources ? { settingSources: options.settingSources } : {};
  const config = readConfig({ cwd: options.cwd, env, projectRoot: here.worktreeRoot ?? here.cwd, ...sources });
  return { config, location: locate({ cwd: options.cwd, config, memoryDir: options.memoryDir, here }) };
}

export function findDirectories(options: PlaceOptions, config: Config, location: Location) {
  const context = { config, project: location.project, dir: location.dir };
  const open = (scope: ScopeDirectory, readOnly = false, recursive = true): Directory => ({
    path: scope.dir,
    scope: scope.scope,
    inRepository: scope.committable,
    readOnly,
    recursive,
    limits: config.index,
    ageDays: config.ageDays,
    now: options.now ?? (() => new Date()),
    by: options.by ?? "library",
    log: options.log ?? (() => {}),
  });
  const main = open(scopeDirectory(options.scope ?? "project", context));
  const others = options.scope ? [] : listScopes(context).map((scope) => open(scope));
  // An explicit directory stands alone.
  const older =
    options.withOlder !== false && main.path === location.dir && location.source === "computed"
      ? findOlderDirectories({ config, project: location.project, dir: location.dir })
      : [];
  const olderScope = { scope: "project", insideRepository: false, committable: false };
  const directories = [
    main,
    ...others.filter((directory) => directory.path !== main.path),
    ...older.map(({ dir, recursive }) => open({ ...olderScope, dir }, true, recursive)),
  ];
  return { main, directories, older };
}
