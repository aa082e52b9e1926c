/** `memdir import` and `memdir export`: memories of other programs come in, ours go out as Markdown, JSON or AGENTS.md. */

import { resolve } from "node:path";
import { MemdirError } from "../errors.ts";
import { EXPORT_FORMATS, type ExportFormat, exportMemories } from "../exchange/export.ts";
import { type ImportResult, importMemories } from "../exchange/import.ts";
import { findImporter, findSources, harvest, IMPORTERS } from "../exchange/importers.ts";
import type { Memdir } from "../memdir.ts";
import { claimDirectory } from "../project/owner.ts";
import type { Store } from "../store/store.ts";
import { answer, type Call, count, note, type Run, typeOf, withProgress } from "./command.ts";

export const importAll: Run = async (call) => {
  const type = typeOf(call);
  const [source, path] = call.args;
  const importer = source === undefined ? null : findImporter(source);
  const memdir = await call.open();
  const directory = memdir.directories[0] as Store;
  if (importer === null) return listSources(call, memdir);
  const read = harvest(importer, path === undefined ? null : resolve(call.cwd, path), memdir, call.flag("all"));
  const dryRun = call.flag("dry-run");
  const result = await withProgress(call, "import", (onProgress) =>
    importMemories(directory, read.found, { type, dryRun, path: read.path, onProgress }),
  );
  if (result.undo !== null && directory.path === memdir.location.dir) {
    // It only records whose directory this is: the import itself is done.
    await claimDirectory(memdir.location, memdir.config.env, directory).catch((error: Error) =>
      directory.log(error.message),
    );
  }
  const value = { source: importer.name, path: read.path, dryRun, ...result, problems: read.problems };
  // What is here already is no failure: an import can be run again.
  const isRefused = ({ kind }: ImportResult["skipped"][number]) => kind === "secret" || kind === "unfit";
  const isNothing = result.imported.length === 0 && result.skipped.every(isRefused);
  return answer(call, value, () => printImported(call, read, result, dryRun), isNothing ? 2 : 0);
};

function listSources(call: Call, memdir: Memdir): number {
  const sources = findSources(memdir, call.flag("all"));
  return answer(call, sources, () => {
    const { print, color } = call.terminal;
    if (sources.length === 0) print("Nothing to import was found in the usual places.");
    for (const { source, path, memories, problem } of sources)
      print(`${source.padEnd(14)} ${problem === null ? String(memories).padStart(6) : "     ?"}  ${path}`);
    note(
      call,
      sources.flatMap(({ source, problem }) => (problem === null ? [] : [`${source}: ${problem}`])),
    );
    const names = IMPORTERS.map(({ name }) => name).join(", ");
    return color.dim(`memdir import SOURCE [PATH] --dry-run shows what would come in; sources: ${names}`);
  });
}

/** How many of those left out are named; --json names all. */
const SHOWN = 10;

function printImported(
  call: Call,
  read: { path: string; problems: readonly string[] },
  { imported, skipped, undo, notices }: ImportResult,
  dryRun: boolean,
): void {
  const { print, color } = call.terminal;
  const undone = undo === null ? "" : `; memdir undo ${undo} reverts it`;
  print(`${dryRun ? "would import" : "imported"} ${imported.length} from ${read.path}${undone}`);
  for (const { name, type, file } of imported.slice(0, dryRun ? imported.length : SHOWN))
    print(`    [${type}] ${name} ${color.dim(`(${file})`)}`);
  if (!dryRun && imported.length > SHOWN) print(`    and ${imported.length - SHOWN} more`);
  const known = skipped.filter(({ kind }) => kind === "known");
  if (known.length > 0) print(`${count(known.length, "memory was", "memories were")} imported before`);
  const others = skipped.filter(({ kind }) => kind !== "known");
  const left = others.slice(0, SHOWN).map(({ name, reason }) => `"${name}" is left out: ${reason}`);
  const more = others.length > SHOWN ? [`${others.length - SHOWN} more are left out; --json names them`] : [];
  note(call, [...left, ...more, ...read.problems, ...notices]);
}

export const exportAll: Run = async (call) => {
  const type = typeOf(call);
  const format = (call.value("format") ?? "markdown") as ExportFormat;
  if (!EXPORT_FORMATS.includes(format)) {
    throw new MemdirError("usage", `there is no format "${format}"; choose one of ${EXPORT_FORMATS.join(", ")}`);
  }
  const given = call.value("output");
  const isStandard = given === undefined || given === "-";
  // A slash at the end means a folder.
  const output = isStandard ? null : resolve(call.cwd, given) + (/[/\\]$/.test(given) ? "/" : "");
  const options = { format, type, output, force: call.flag("force") };
  const { exported, left, text, removed } = await exportMemories(await call.open(), options);
  const value = { format, output, exported, left, removed, ...(output === null ? { text } : {}) };
  return answer(call, value, () => {
    call.terminal.print(output === null ? (text ?? "").trimEnd() : `exported ${exported.length} to ${output}`);
    const forgotten = `removed from the export, because their memories are gone: ${removed.join(", ")}`;
    note(call, [
      ...left.map(({ file, reason }) => `${file} is left out: ${reason}`),
      ...(removed.length > 0 ? [forgotten] : []),
    ]);
  });
};
