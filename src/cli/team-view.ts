/** `memdir team` alone: who I am in the team, who else is, when we last met, and what waits for a person. */

import { statSync } from "node:fs";
import type { Team } from "../open-team.ts";
import { statePath, walk } from "../store/store.ts";
import { isConflictPath } from "../team/conflict-copy.ts";
import { formatMembership } from "../team/membership.ts";
import type { PersonRow, RepositoryAnswer, Role } from "../team/protocol.ts";
import type { Call, Terminal } from "./command.ts";
import { sanitiseLine } from "./console/sanitise.ts";

export async function showTeam(call: Call, team: Team): Promise<number> {
  const { administration, directory, membership } = team;
  const [view, people] = await Promise.all([administration.view(), administration.people()]);
  const here = walk(directory.path).files;
  const own = view.repositories.find(({ name }) => name === membership.repository);
  const status: Status = {
    url: formatMembership(membership),
    directory: directory.path,
    person: view.person,
    role: own?.role ?? view.role,
    memories: { here: here.length, there: own?.memories ?? 0 },
    lastSync: statSync(statePath(directory, "sync.json"), { throwIfNoEntry: false })?.mtime.toISOString() ?? null,
    conflicts: here.filter(isConflictPath),
    repositories: view.repositories,
    people,
  };
  if (call.json) call.terminal.json(status);
  else print(call.terminal, status);
  return 0;
}

interface Status {
  url: string;
  directory: string;
  person: string;
  role: Role | null;
  memories: { here: number; there: number };
  lastSync: string | null;
  conflicts: string[];
  repositories: RepositoryAnswer[];
  /** Null for everybody but admins. */
  people: PersonRow[] | null;
}

function print(terminal: Terminal, status: Status): void {
  const { bold, dim, yellow } = terminal.color;
  terminal.print(`${bold(status.url)} ${dim(sanitiseLine(status.directory))}`);
  terminal.print(`you are ${sanitiseLine(status.person)}, ${status.role ?? "without a role here"}`);
  const { here, there } = status.memories;
  terminal.print(`${here} memories here, ${there} there; last sync ${status.lastSync ?? "never"}`);
  for (const { name, role, memories } of status.repositories) {
    terminal.print(`  ${sanitiseLine(name)}: ${memories} memories, you are ${role}`);
  }
  for (const { name, role, repositories } of status.people ?? []) {
    const roles = [role, ...repositories.map((one) => `${one.role} in ${one.repository}`)].filter(
      (one) => one !== null,
    );
    terminal.print(`  ${sanitiseLine(name)}: ${sanitiseLine(roles.join(", ")) || "no role"}`);
  }
  for (const path of status.conflicts) {
    terminal.print(`${yellow("conflict")} ${sanitiseLine(path)}: bring it together with its memory, then forget it`);
  }
}
