/** A repository that is, or can be, prepared for team memory. */

import { join } from "node:path";
import type { Memdir } from "../memdir.ts";
import { getTeamMemDir, repositoryOf } from "../project/scopes.ts";
import type { Store } from "../store/store.ts";
import type { TeamCheckout } from "../team/repository.ts";
import type { Machine } from "../wiring/machine.ts";

/** git may be started by a program with another PATH: its command is absolute. */
export function openCheckout(
  memdir: Memdir,
  { env, node, dist }: Pick<Machine, "env" | "node" | "dist">,
): TeamCheckout {
  const root = repositoryOf(memdir.location.project);
  // The scope `team` may mean a server's mirror: here it is always the repository.
  const own = { path: getTeamMemDir(root), scope: "team", inRepository: true, readOnly: false, recursive: true };
  return { team: { ...(memdir.directories[0] as Store), ...own }, root, env, command: [node, join(dist, "cli.js")] };
}
