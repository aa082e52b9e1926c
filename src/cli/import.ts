/** `memdir import`. */

import { resolve } from "node:path";
import { MemdirError } from "../errors.ts";
import { type ImportResult, importMemories } from "../exchange/import.ts";
import { findImporter, findSources, harvest, IMPORTERS } from "../exchange/importers.ts";
import type { Memdir } from "../memdir.ts";
import { claimDirectory } from "../project/owner.ts";
import { type Directory, isMemoryType, MEMORY_TYPES } from "../store/store.ts";
import type { Call, Run } from "./command.ts";

export const run: Run = async (call) => {
  const type = call.value("type");
  if (type !== undefined && !isMemoryType(type)) {
    throw new MemdirError("usage", `the type "${type}" is none of ${MEMORY_TYPES.join(", ")}`);
  }
  const [source, path] = call.args;
  const importer = source === undefined ? null : findImporter(source);
  const memdir = await call.open();
  const directory = memdir.directories[0] as Directory;
  if (importer === null) return listSources(call, memdir);
  const read = harvest(importer, path === undefined ? null : resolve(call.cwd, path), memdir, call.flag("all"));
  const dryRun = call.flag("dry-run");
  const progress = call.terminal.progress("import");
  const result = await importMemories(directory, read.found, {
    type,
    dryRun,
    path: read.path,
    onProgress: progress.show,
  }).finally(progress.end);
  if (result.undo !== null && directory.path === memdir.location.dir) {
    // Only a record of whose the directory is: what was asked for is done.
    await claimDirectory(memdir.location, memdir.config.env, directory).catch((error: Error) =>
      directory.log(error.message),
    );
  }
  if (call.json) {
    const { path, problems } = read;
    call.terminal.json({ source: importer.name, path, dryRun, ...result, problems });
  } else tell(call, read, result, dryRun);
  return 0;
};

function listSources({ json, terminal, flag }: Call, memdir: Memdir): number {
  const sources = findSources(memdir, flag("all"));
  if (json) {
    terminal.json(sources);
    return 0;
  }
  if (sources.length === 0) terminal.print("Nothing to import was found in the usual places.");
  for (const { source, path, memories, problem } of sources)
    terminal.print(`${source.padEnd(14)} ${problem === null ? String(memories).padStart(6) : "     ?"}  ${path}`);
  for (const { source, problem } of sources) if (problem !== null) terminal.warn(`memdir: note: ${source}: ${problem}`);
  const names = IMPORTERS.map(({ name }) => name).join(", ");
  terminal.print(
    terminal.color.dim(`memdir import SOURCE [PATH] --dry-run shows what would come in; sources: ${names}`),
  );
  return 0;
}

/** Of what was left out so many are named; --json names all. */
const SHOWN = 10;

function tell(
  { terminal }: Call,
  read: { path: string; problems: readonly string[] },
  result: ImportResult,
  dryRun: boolean,
): void {
  const { imported, skipped, undo, notices } = result;
  const note = (text: string) => terminal.warn(`memdir: note: ${text}`);
  const undone = undo === null ? "" : `; memdir undo ${undo} takes it back`;
  terminal.print(`${dryRun ? "would import" : "imported"} ${imported.length} from ${read.path}${undone}`);
  for (const { name, type, file } of imported.slice(0, dryRun ? imported.length : SHOWN))
    terminal.print(`    [${type}] ${name} ${terminal.color.dim(`(${file})`)}`);
  if (!dryRun && imported.length > SHOWN) terminal.print(`    and ${imported.length - SHOWN} more`);
  const known = skipped.filter(({ kind }) => kind === "known");
  if (known.length > 0) terminal.print(`${known.length} were imported before`);
  const others = skipped.filter(({ kind }) => kind !== "known");
  for (const { name, reason } of others.slice(0, SHOWN)) note(`"${name}" is left out: ${reason}`);
  if (others.length > SHOWN) note(`${others.length - SHOWN} more are left out; --json names them`);
  for (const problem of [...read.problems, ...notices]) note(problem);
}
