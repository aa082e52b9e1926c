/** How the memories of all directories link to one another, as recall sees it. */

import { type Edge, findEdges, openLinkPlaces } from "../recall/links.ts";
import { listEntries, type RowEntry } from "../store/store.ts";
import type { MemoryTitle, Ref } from "./api.ts";
import type { Desk } from "./desk.ts";

export interface Linkage {
  /** Of all directories, one after the other; edges name positions in them. */
  entries: (Pick<RowEntry, "file" | "name" | "type" | "links" | "ranking"> & { directory: number })[];
  edges: Edge[];
  find(link: string): MemoryTitle | null;
  at(ref: Ref): number;
}

/** Reads what recall has kept, and the files that it does not know yet. Nothing is written. */
export function openLinkage({ memdir }: Desk): Linkage {
  const entries = memdir.directories.flatMap((directory, at) =>
    listEntries(directory).map(({ file, name, type, links, ranking }) => ({
      ...{ file, name, type, links, ranking },
      directory: at,
    })),
  );
  const place = openLinkPlaces(entries);
  return {
    entries,
    edges: findEdges(entries, place),
    find(link) {
      const at = place(link);
      return at === null ? null : titleOf(entries[at] as Linkage["entries"][0]);
    },
    at: ({ directory, file }) => entries.findIndex((entry) => entry.directory === directory && entry.file === file),
  };
}

function titleOf({ directory, file, name }: MemoryTitle): MemoryTitle {
  return { directory, file, name };
}

/** Both ways, each memory once; a name that no memory has is only a name. */
export function linksAt(
  { entries, edges, find }: Linkage,
  at: number,
): {
  to: (MemoryTitle | { name: string })[];
  from: MemoryTitle[];
} {
  const entry = entries[at];
  if (!entry) return { to: [], from: [] };
  const to = new Map<string, MemoryTitle | { name: string }>();
  for (const link of entry.links) {
    const name = link.replace(/^>/, "");
    const found = find(link);
    if (found && found.directory === entry.directory && found.file === entry.file) continue;
    // Addresses are no memories.
    if (!found && /^[a-z]+:\/\//i.test(name)) continue;
    to.set(found ? `${found.directory}/${found.file}` : `?${name}`, found ?? { name });
  }
  const sources = new Set(edges.filter((edge) => edge.to === at).map(({ from }) => from));
  return { to: [...to.values()], from: [...sources].map((from) => titleOf(entries[from] as Linkage["entries"][0])) };
}
