/** Shared memories: where they are shared, and who writes them. */

import { statOrNull } from "../disk/fence.ts";
import { statePath } from "../store/store.ts";
import { findMembership, formatMembership } from "../team/membership.ts";
import { get, type Page } from "./answer.ts";
import { authorsOf } from "./answer-memories.ts";
import type { TeamAnswer } from "./api.ts";

export const TEAM_ROUTE = get("/api/team", {}, async (page): Promise<TeamAnswer> => {
  const shared = page.memdir.directories.filter(({ scope }) => scope === "team");
  const authors = await Promise.all(shared.map((directory) => authorsOf(page, directory)));
  const written = authors.flatMap((files) => [...files.values()]);
  return { place: findPlace(page), lastSync: lastSync(page), people: countPeople(written) };
});

/** A server that the project has joined comes before the folder in the repository. */
function findPlace({ memdir, log }: Page): TeamAnswer["place"] {
  try {
    const membership = findMembership(memdir.config, memdir.location.project);
    if (membership) return { kind: "server", where: formatMembership(membership) };
  } catch (error) {
    log((error as Error).message);
  }
  const shared = memdir.directories.find(({ scope }) => scope === "team");
  return shared ? { kind: shared.inRepository ? "repository" : "none", where: shared.path } : null;
}

/** When the notes of the last sync were written, as `memdir team` shows it. */
function lastSync({ memdir }: Page): string | null {
  const times = memdir.directories.map((directory) => statOrNull(statePath(directory, "sync.json"))?.mtimeMs ?? 0);
  const latest = Math.max(0, ...times);
  return latest === 0 ? null : new Date(latest).toISOString();
}

/** The busiest first; memories that were not committed or synced yet have no author. */
function countPeople(rows: readonly { author: string; at: string }[]): TeamAnswer["people"] {
  const people = new Map<string, TeamAnswer["people"][0]>();
  for (const { author, at } of rows) {
    if (author === "") continue;
    const known = people.get(author) ?? { name: author, memories: 0, last: null };
    known.memories++;
    if (known.last === null || at > known.last) known.last = at;
    people.set(author, known);
  }
  return [...people.values()].sort((a, b) => b.memories - a.memories || (a.name < b.name ? -1 : 1));
}
