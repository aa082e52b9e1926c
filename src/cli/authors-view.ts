/** Who wrote the team's memories, in words, for listings. */

import { join } from "node:path";
import { processEnv } from "../config.ts";
import { type Directory, formatAuthorship, type Row } from "../store/store.ts";

/** Null for what is not the team's, and where nobody is known. Git is asked once for each directory, and only after a new commit. */
export async function findAuthors(
  directories: readonly Directory[],
): Promise<(row: Pick<Row, "scope" | "path" | "file">) => string | null> {
  const words = new Map<string, string>();
  const known = new Set<string>();
  for (const team of directories.filter(({ scope }) => scope === "team")) {
    // Most projects have no team, and must not pay for it.
    const { readAuthors } = await import("../team/authors.ts");
    const authors = await readAuthors(team, processEnv());
    if (team.inRepository && authors.size > 0) known.add(team.path);
    for (const [file, authorship] of authors) words.set(join(team.path, file), `by ${formatAuthorship(authorship)}`);
  }
  const isKnown = ({ path, file }: Pick<Row, "path" | "file">) =>
    [...known].some((directory) => join(directory, file) === path);
  return (row) => words.get(row.path) ?? (row.scope === "team" && isKnown(row) ? "not committed yet" : null);
}
