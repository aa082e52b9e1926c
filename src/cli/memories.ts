/** The commands that look at memories and their journal: `list`, `show`, `search`, `history`. */

import { join } from "node:path";
import { ageInWords, formatAuthorship, type Row, type Store } from "../store/store.ts";
import { answer, type Call, countMemories, note, type Run, typeOf } from "./command.ts";
import type { Paint } from "./terminal.ts";

export const list: Run = async (call) => {
  const type = typeOf(call);
  const { color } = call.terminal;
  const memdir = await call.open();
  const { rows, skipped } = await memdir.survey();
  const shown = rows.filter((row) => type === undefined || row.type === type);
  const authorOf = await findAuthors(memdir.directories, call);
  const value = shown.map((row) => (row.scope === "team" ? { ...row, author: authorOf(row) } : row));
  const passed = skipped.flatMap(({ path, reason, isPlain }) => (isPlain ? [] : [`${path} is passed over: ${reason}`]));
  answer(call, value, () => {
    if (shown.length > 0)
      return [`${countMemories(shown.length)}:`, ...shown.map((row) => rowLine(row, authorOf(row), color))].join("\n");
    const hint = 'Save one: echo "Use pnpm." | memdir save --type feedback --name "use pnpm"';
    return ["No memories saved yet.", color.dim(hint)];
  });
  if (!call.json) note(call, passed);
  return 0;
};

export const show: Run = async (call) => {
  const memdir = await call.open();
  const memory = await memdir.show(call.args[0] as string);
  const author = (await findAuthors(memdir.directories, call))(memory);
  return answer(call, author === null ? memory : { ...memory, author }, () => {
    const { bold, dim, yellow } = call.terminal.color;
    const who = author === null ? "" : `: ${author}`;
    return [
      titleOf(memory, bold),
      dim(`${memory.path}, ${memory.scope}${who}, ${ageInWords(memory.ageDays)}`),
      ...memory.when.map((cue) => dim(`when: ${cue}`)),
      ...memory.problems.map((problem) => yellow(`problem: ${problem}`)),
      `\n${memory.body}`,
    ];
  });
};

export const search: Run = async (call) => {
  const hits = await (await call.open()).search(call.args.join(" "));
  const { bold, dim } = call.terminal.color;
  return answer(call, hits, () =>
    hits.length === 0
      ? "Nothing found."
      : hits.flatMap((hit) => [`[${hit.type}] ${bold(hit.name)} ${dim(hit.file)}`, `    ${hit.line}`]),
  );
};

export const history: Run = async (call) => {
  const entries = await (await call.open()).history(call.args[0]);
  const value = entries.map(({ id, at, action, files, by, reason, undoes }) => ({
    ...{ id, at, action, files: files.map(({ file }) => file), by, reason },
    ...(undoes ? { undoes } : {}),
  }));
  return answer(call, value, () => {
    if (value.length === 0) return "No changes yet.";
    return value.map(({ id, at, action, files, by, reason }) => {
      const more = files.length > 3 ? ` and ${files.length - 3} more` : files.length === 0 ? "MEMORY.md" : "";
      const who = call.terminal.color.dim(`${by}${reason === "" ? "" : `: ${reason}`}`);
      const when = at.slice(0, 16).replace("T", " ");
      return `${id.padStart(5)}  ${when}  ${action.padEnd(6)}  ${files.slice(0, 3).join(", ")}${more}  ${who}`;
    });
  });
};

/** `[type] name — description`. A type that the file does not state is not shown. */
export function plainRow(row: Row): string {
  return `    ${titleOf(row, (name) => name)}`;
}

function titleOf({ type, typeExplicit, name, description }: Row, weight: (name: string) => string): string {
  return `${typeExplicit ? `[${type}] ` : ""}${weight(name)}${description === "" ? "" : ` — ${description}`}`;
}

function rowLine(row: Row, author: string | null, color: Paint): string {
  const scope = row.scope === "project" ? "" : `${row.scope}${author === null ? "" : `: ${author}`}, `;
  const line = `${plainRow(row)} ${color.dim(`(${scope}${ageInWords(row.ageDays)})`)}`;
  return row.problems.length === 0
    ? line
    : `${line}\n        ${color.yellow(`${row.file}: ${row.problems.join("; ")}`)}`;
}

/**
 * Who wrote the team's memories, in words. Null for what is not the team's, and where nobody is known. Git is asked once for
 * each directory, and only after a new commit.
 */
async function findAuthors(
  directories: readonly Store[],
  { env }: Pick<Call, "env">,
): Promise<(row: Pick<Row, "scope" | "path" | "file">) => string | null> {
  const words = new Map<string, string>();
  const known = new Set<string>();
  for (const team of directories.filter(({ scope }) => scope === "team")) {
    // Most projects have no team, and must not pay for it.
    const { readAuthors } = await import("../team/authors.ts");
    const authors = await readAuthors(team, env);
    if (team.inRepository && authors.size > 0) known.add(team.path);
    for (const [file, authorship] of authors) words.set(join(team.path, file), `by ${formatAuthorship(authorship)}`);
  }
  const isKnown = ({ path, file }: Pick<Row, "path" | "file">) =>
    [...known].some((directory) => join(directory, file) === path);
  return (row) => words.get(row.path) ?? (row.scope === "team" && isKnown(row) ? "not committed yet" : null);
}
