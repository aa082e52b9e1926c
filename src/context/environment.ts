/** Where the agent works, as a value: the words around it are in `prompts/environment.ts`. */

import { findProject } from "../project/root.ts";
import type { Environment, GitState } from "../prompts/environment.ts";

export interface Place {
  cwd: string;
  addedDirs: readonly string[];
  platform: string;
  osVersion: string | null;
  /** The date has its own place behind this block, which must be the same tomorrow. */
  today?: never;
}

/** A model that nobody described is left out, as far as it is not described. */
export interface ModelFacts {
  description: string | null;
  cutoff: string | null;
}

/** `git` may be null because it is not to be shown: whether this is a repository is then read from the disk. */
export function readEnvironment(place: Place, model: ModelFacts | null, git: GitState | null): Environment {
  return {
    cwd: place.cwd,
    isGitRepository: git !== null || findProject(place.cwd).insideGit,
    addedDirs: [...new Set(place.addedDirs)].filter((dir) => dir !== place.cwd),
    platform: place.platform,
    osVersion: place.osVersion,
    model: model?.description ?? null,
    cutoff: model?.cutoff ?? null,
  };
}
