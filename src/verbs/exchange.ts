/** `import` and `export`: memories of other programs come in, ours go out as Markdown, JSON or AGENTS.md. */

import { resolve } from "node:path";
import { statOrNull } from "../disk/fence.ts";
import { EXPORT_FORMATS, exportMemories } from "../exchange/export.ts";
import { importMemories } from "../exchange/import.ts";
import { findImporter, findSources, harvest, IMPORTERS } from "../exchange/importers.ts";
import { claimDirectory } from "../project/owner.ts";
import { MEMORY_TYPES, type Store } from "../store/store.ts";
import { choice, count, countMemories, dim, flag, notes, text, verb } from "../verb.ts";

/** How many of those imported or left out are named; --json names all. */
const SHOWN = 10;

const importAll = verb({
  args: ["source?", "path?"],
  input: {
    source: text("the program to import from", "SOURCE"),
    path: text("where they are, if not in the usual place", "PATH"),
    "dry-run": flag("only show what would be imported, and what would not"),
    type: choice(MEMORY_TYPES, "import all of them as this type: user, feedback, project or reference", "TYPE"),
    all: flag("claude-mem: include other projects"),
  },
  about: "Imports them as one change that can be undone. Without a source, lists what it finds on this machine.",
  examples: ["import"],
  writes: ({ source, "dry-run": isDry }) => source !== undefined && isDry !== true,
  async run(memdir, { source, path, type, all = false, "dry-run": dryRun = false }, { cwd, progress }) {
    if (source === undefined) return findSources(memdir, all);
    const importer = findImporter(source);
    const directory = memdir.directories[0] as Store;
    const read = harvest(importer, path === undefined ? null : resolve(cwd, path), memdir, all);
    const options = { type, dryRun, path: read.path, onProgress: progress("import") };
    const result = await importMemories(directory, read.found, options);
    if (result.undo !== null && directory.path === memdir.location.dir) {
      // It only records whose directory this is: the import itself is done.
      await claimDirectory(memdir.location, memdir.config.env, directory).catch((error: Error) =>
        directory.log(error.message),
      );
    }
    return { source: importer.name, path: read.path, dryRun, ...result, problems: read.problems };
  },
  exitCode(result) {
    if (Array.isArray(result) || result.imported.length > 0) return 0;
    // Nothing new is not a failure: an import can be run again.
    return result.skipped.every(({ kind }) => kind === "secret" || kind === "unfit") ? 2 : 0;
  },
  say(result, { call }) {
    if (Array.isArray(result)) {
      const names = IMPORTERS.map(({ name }) => name).join(", ");
      return [
        result.length === 0
          ? "Nothing to import was found in the usual places."
          : {
              rows: result.map(({ source, path, memories, problem }) => [
                ...[source, problem === null ? String(memories) : "?", path],
              ]),
              right: [1],
            },
        ...notes(result.flatMap(({ source, problem }) => (problem === null ? [] : [`${source}: ${problem}`]))),
        dim(`${call("import SOURCE [PATH] --dry-run")} shows what would come in; sources: ${names}`),
      ];
    }
    const { imported, skipped, undo, notices, path, dryRun, problems } = result;
    const undone = undo === null ? "" : `; ${call(`undo ${undo}`)} reverts it`;
    const shown = imported.slice(0, dryRun ? imported.length : SHOWN);
    const known = skipped.filter(({ kind }) => kind === "known").length;
    const others = skipped.filter(({ kind }) => kind !== "known");
    return [
      `${dryRun ? "would import" : "imported"} ${countMemories(imported.length)} from ${path}${undone}`,
      ...shown.map(({ name, type, file }) => [`    [${type}] ${name} `, dim(`(${file})`)]),
      ...(imported.length > shown.length ? [`    and ${imported.length - shown.length} more`] : []),
      ...(known > 0 ? [`${count(known, "memory was", "memories were")} imported before`] : []),
      ...notes(others.slice(0, SHOWN).map(({ name, reason }) => `"${name}" is left out: ${reason}`)),
      ...notes(others.length > SHOWN ? [`${others.length - SHOWN} more are left out; --json names them`] : []),
      ...notes([...problems, ...notices]),
    ];
  },
});

const exportAll = verb({
  args: [],
  input: {
    format: choice(EXPORT_FORMATS, "markdown (default), json or agents-md", "FORMAT"),
    output: text("a file, or a folder for markdown (default: standard output)", "PATH"),
    type: choice(MEMORY_TYPES, "only this type (default for agents-md: feedback and project)", "TYPE"),
    force: flag("overwrite files that are not an earlier export"),
    team: flag("agents-md: include the team's memories, each with its author"),
  },
  examples: ["export --format agents-md --output AGENTS.md"],
  writes: ({ output = "-" }) => output !== "-",
  async run(memdir, { format = "markdown", output: given = "-", type, force = false, team = false }, { cwd }) {
    // A slash at the end means a folder.
    const path = given === "-" ? null : resolve(cwd, given) + (/[/\\]$/.test(given) ? "/" : "");
    const { text, ...result } = await exportMemories(memdir, { format, type, output: path, force, team });
    const isWritten = result.output === null || statOrNull(result.output) !== null;
    return { format, ...result, ...(path === null ? { text } : {}), isWritten };
  },
  json: ({ isWritten: _, ...result }) => result,
  say: ({ output, exported, left, text, removed, isWritten }) => [
    output === null
      ? { raw: (text ?? "").trimEnd() }
      : isWritten
        ? `exported ${countMemories(exported.length)} to ${output}`
        : `there are no memories to export: ${output} was not created`,
    ...notes(sayLeft(left)),
    ...notes(
      removed.length > 0 ? [`removed from the export, because their memories are gone: ${removed.join(", ")}`] : [],
    ),
  ],
});

/** Those left out for one reason are one line. */
function sayLeft(left: readonly { file: string; reason: string }[]): string[] {
  const reasons = new Map<string, string[]>();
  for (const { file, reason } of left) reasons.set(reason, [...(reasons.get(reason) ?? []), file]);
  return [...reasons].map(([reason, files]) =>
    files.length === 1
      ? `${files[0]} is left out: ${reason}`
      : `${files.length} memories are left out, each because ${reason}`,
  );
}

export { exportAll as export, importAll as import };
