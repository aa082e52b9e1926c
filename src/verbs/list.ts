/** `list` and `show`: memories as the store knows them. */

import { isAbsolute, join } from "node:path";
import type { Memdir } from "../memdir.ts";
import { filterRows, isBy } from "../memory/memories.ts";
import { findTopMemory } from "../project/scopes.ts";
import { ageInWords, formatAuthorship, type Listing, type Row, readAuthors } from "../store/store.ts";
import { block, bold, countMemories, date, dim, type Line, notes, type Span, text, verb, warn } from "../verb.ts";
import type { World } from "../world.ts";
import { NAME, TYPE } from "./common.ts";

type Authored<T> = T & { author?: string | null };

export const list = verb({
  args: [],
  input: {
    type: TYPE,
    since: date("only memories from this day on, such as 2026-03-01"),
    until: date("only memories up to and including this day"),
    by: text("only what this person or agent said: `user`, `inferred`, `mcp:codex`, a team member", "WHO"),
    cue: text("only memories with a cue that contains this", "TEXT"),
  },
  examples: ["list", "list --type feedback", "list --since 2026-03-01 --by user"],
  async run(memdir, { by, ...filter }, { env }) {
    const { rows, skipped } = await memdir.survey();
    const signed = await signRows(memdir, filterRows(rows, filter), env);
    const shown = signed.filter((row) => by === undefined || isBy(row, by) || isBy({ by: row.author ?? "" }, by));
    return { rows: shown, skipped, top: findTopMemory(memdir.location.project, memdir.directories) };
  },
  json: ({ rows }) => rows,
  // A whole directory that cannot be read is not one without memories.
  exitCode: ({ skipped }) => (skipped.some(({ path }) => isAbsolute(path)) ? 1 : 0),
  say({ rows, skipped, top }, { input, call }) {
    if (rows.length > 0) return [`${countMemories(rows.length)}:`, ...rows.flatMap(rowLines), ...passedOver(skipped)];
    if (skipped.some(({ path }) => isAbsolute(path))) return passedOver(skipped);
    const isFiltered = Object.entries(input).some(([name, value]) => name !== "type" && value !== undefined);
    if (isFiltered) return ["No memories match.", ...passedOver(skipped)];
    const none = input.type === undefined ? "No memories saved yet." : `No memories of the type ${input.type}.`;
    const offer = top === null ? [] : [`This repository keeps memories in ${top}: ${call(`list --memory-dir ${top}`)}`];
    return [none, ...offer, dim(`Save one: ${call('save "Use pnpm, never npm."')}`), ...passedOver(skipped)];
  },
});

function rowLines(row: Authored<Row>): Line[] {
  const author = row.author ? `: ${row.author}` : "";
  const scope = row.scope === "project" ? "" : `${row.scope}${author}, `;
  // A description that goes on from the name needs no name before it.
  const { name, description } = row;
  const goesOn = description.startsWith(name) && !/^[\p{L}\p{N}_]/u.test(description.slice(name.length));
  const shown = goesOn ? { ...row, name: description, description: "" } : row;
  const line = ["    ", ...titleOf(shown, (text) => text), " ", dim(`(${scope}${ageInWords(row.ageDays)})`)];
  return row.problems.length === 0 ? [line] : [line, ["        ", warn(`${row.file}: ${row.problems.join("; ")}`)]];
}

/** `[type] name — description` */
export function titleOf({ name, description, ...row }: Row, weight: (name: string) => Span): Span[] {
  const isSaid = description === "" || description.replace(/[.!]$/, "") === name;
  return [typeTag(row), weight(name), isSaid ? "" : ` — ${description}`];
}

/** `[type] name file, team: by Ann`: whose a memory is only where it is the team's. */
export function foundLine(row: Authored<Pick<Row, "name" | "file" | "scope" | "type" | "typeExplicit">>): Span[] {
  const { name, file, scope, author } = row;
  const isTeams = scope === "team" || scope.startsWith("team@");
  return [typeTag(row), bold(name), " ", dim(isTeams ? `${file}, ${scope}${author ? `: ${author}` : ""}` : file)];
}

/** `[type] ` before a memory's name, or nothing where the file does not state one. */
function typeTag({ type, typeExplicit }: Pick<Row, "type" | "typeExplicit">): string {
  return typeExplicit ? `[${type}] ` : "";
}

function passedOver(skipped: Listing["skipped"]): Line[] {
  return notes(skipped.flatMap(({ path, reason, isPlain }) => (isPlain ? [] : [`${path} is skipped: ${reason}`])));
}

export const show = verb({
  args: ["name"],
  input: { name: NAME },
  examples: ['show "use pnpm"'],
  async run(memdir, { name = "" }, { env }) {
    const memory = await memdir.show(name);
    const author = (await findAuthors(memdir, env))(memory);
    return author === null ? memory : { ...memory, author };
  },
  say(memory) {
    const who = "author" in memory ? `: ${memory.author}` : "";
    return [
      titleOf(memory, bold),
      dim(`${memory.path}, ${memory.scope}${who}, ${ageInWords(memory.ageDays)}`),
      ...memory.when.map((cue) => dim(`when: ${cue}`)),
      ...memory.problems.map((problem) => warn(`problem: ${problem}`)),
      block(`\n${memory.body}`),
    ];
  },
});

/** The team's with their authors; without one git is not asked. */
export async function signRows<T extends Pick<Row, "path" | "file" | "scope">>(
  memdir: Memdir,
  rows: readonly T[],
  env: World["env"],
): Promise<Authored<T>[]> {
  if (!rows.some(({ scope }) => scope === "team")) return [...rows];
  const authorOf = await findAuthors(memdir, env);
  return rows.map((row) => (row.scope === "team" ? { ...row, author: authorOf(row) } : row));
}

/**
 * Who wrote the team's memories, in words. Null for what is not the team's, and where it is not known. Git is asked once for
 * each directory, and only after a new commit.
 */
export async function findAuthors({ directories }: Pick<Memdir, "directories">, env: World["env"]) {
  const teams = directories.filter(({ scope }) => scope === "team");
  const shared = await Promise.all(teams.map(async (team) => ({ team, authors: await readAuthors(team, env) })));
  return ({ path, file }: Pick<Row, "path" | "file">): string | null => {
    const found = shared.find(({ team }) => join(team.path, file) === path);
    const written = found?.authors.get(file);
    if (written) return `by ${formatAuthorship(written)}`;
    return found?.team.inRepository && found.authors.size > 0 ? "not committed yet" : null;
  };
}
