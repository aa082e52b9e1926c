/** The composition root: options and environment in, a ready Memdir out. */

import { statSync } from "node:fs";
import { isAbsolute, join, relative, sep } from "node:path";
import { type Config, type Env, processEnv } from "./config.ts";
import { findDirectories, findPlace, type PlaceOptions } from "./directories.ts";
import { yieldTurn } from "./disk/breathe.ts";
import { realPath, resolveInside } from "./disk/fence.ts";
import { MemdirError } from "./errors.ts";
import type { InstructionOptions, Memdir, Named } from "./memdir.ts";
import type { Check } from "./memory/doctor.ts";
import { findByRef, findMemory } from "./memory/find.ts";
import type { Location } from "./project/locate.ts";
import { findOrphans } from "./project/older.ts";
import {
  approveImports,
  claimDirectory,
  findOwnerWarning,
  findPermitted,
  identifyProject,
  keepPermitted,
  settleOwner,
  trustDirectory,
} from "./project/owner.ts";
import type { Recaller } from "./recall/recaller.ts";
import type { SearchTexts } from "./recall/search.ts";
import type { SideQuery } from "./recall/select.ts";
import {
  type Embed,
  fileNameFor,
  findJournal,
  INDEX_FILE,
  isDailyLog,
  isTakenOver,
  type Listing,
  loadIndex,
  MEMORY_TYPES,
  openStore,
  readBytes,
  readJournals,
  repairDirectory,
  type Store,
  showMemory,
  signEntry,
} from "./store/store.ts";

export interface OpenOptions extends PlaceOptions {
  /** A model that chooses memories: system text and question in, answer out. Default: the one that MEMDIR_MODEL names; null for none. */
  ask?: SideQuery | null;
  /** Makes vectors of prompts and memories, or null for recall by words only. Default: as the setting `meaning` says. */
  embed?: Embed | null;
}

export async function openMemdir(options: OpenOptions): Promise<Memdir> {
  const env = options.env ?? processEnv();
  const { config, location } = findPlace(options, env);
  const found = findStores(options, config, location);
  const { main } = found;
  const isOpen = (from: { dir: string; recursive: boolean }) =>
    !isTakenOver(main, { path: from.dir, recursive: from.recursive });
  const older = found.older.filter(isOpen);
  const directories = found.directories.filter(
    (directory) => !directory.readOnly || isOpen({ ...directory, dir: directory.path }),
  );
  for (const directory of directories) await repairDirectory(directory);
  const isProject = main.path === location.dir;
  const ownerWarning = isProject ? await findOwnerWarning(location, env) : null;
  const warnings = [...config.problems, ...locationWarnings(location), ...(ownerWarning ? [ownerWarning] : [])];

  const permitted = [...findPermitted(location, config)];
  const find = async (name: Named) =>
    typeof name === "string" ? findMemory(directories, name) : findByRef(directories, name);
  /** Also memories that are gone have a history, under their file name. */
  const findNamed = async (name: string): Promise<string | null> => {
    try {
      return (await find(name)).file;
    } catch {
      return null;
    }
  };
  const survey = async (): Promise<Listing> => {
    const listings = await Promise.all(directories.map((store) => store.rows()));
    return { rows: listings.flatMap((l) => l.rows), skipped: listings.flatMap((l) => l.skipped) };
  };
  /** Every directory has its own journal: an entry of another than the main one is known by its scope too. */
  const signed = <T extends { undo: string | null }>(directory: Store, result: T): T =>
    result.undo === null ? result : { ...result, undo: signEntry(directories, directory, result.undo) };
  /** A directory is recorded as this project's when something was written into it. */
  const claimed = async <T>(result: Promise<T>): Promise<T> => {
    const done = await result;
    // Only a record of whose the directory is: what was asked for is done.
    if (isProject) await claimDirectory(location, env, main).catch((error: Error) => main.log(error.message));
    return done;
  };
  const findAdoptable = async () => {
    const identity = await identifyProject(location.project, env);
    const orphans = findOrphans({ config, identity, dir: location.dir });
    return { orphans: orphans.filter(({ dir }) => isOpen({ dir, recursive: dir.endsWith("memory") })), older };
  };

  const instructions = async (asked: InstructionOptions = {}) => {
    const { openInstructions } = await import("./instructions/instructions.ts");
    const { openScope } = await import("./instructions/scope.ts");
    const sources = options.settingSources ? { settingSources: options.settingSources } : {};
    return openInstructions(openScope(location.project, config, { ...asked, ...sources }));
  };

  /** What every session of this project is told anyway. */
  const readTold = async () =>
    (await (await instructions()).load()).map(({ path, content }) => ({ path, text: content }));

  let searchTexts: SearchTexts | null = null;
  let opened: Recaller | null = null;
  const recaller = async (): Promise<Recaller> => {
    const { openRecaller } = await import("./recall/recaller.ts");
    const ask = options.ask === undefined ? await findAsk(env, main.log) : options.ask;
    opened ??= openRecaller(directories, {
      findEmbed: async () => {
        if (options.embed !== undefined) return options.embed;
        return config.meaning === "off" ? null : (await import("./meaning/meaning.ts")).findEmbed();
      },
      findMeaning: async () => {
        if (options.embed !== undefined) return options.embed && { embed: options.embed };
        const { openPromptMeaning } = await import("./meaning/meaning.ts");
        return openPromptMeaning(config.meaning);
      },
      ask,
      now: main.now,
      ticks: () => performance.now(),
      log: main.log,
    });
    return opened;
  };
  /** What was written is ready to be recalled. */
  const noted = async <T extends { file: string }>(directory: Store, written: Promise<T>): Promise<T> => {
    const result = await written;
    (await recaller()).note(directory, result.file);
    return result;
  };

  // Verbs that write are loaded when they are called: reading must start fast.
  return yielding<Memdir>({
    location,
    config,
    directories,
    warnings,
    save: async (request) => {
      const { saveMemory } = await import("./memory/save.ts");
      return noted(main, claimed(saveMemory(main, request)));
    },
    list: async (filter = {}) => (await survey()).rows.filter((row) => !filter.type || row.type === filter.type),
    survey,
    show: async (name) => {
      const { directory, file } = await find(name);
      return showMemory(directory, file);
    },
    text: async (name) => {
      const { directory, file } = await find(name);
      return { file, path: join(directory.path, file), text: readBytes(directory, file).toString("utf8") };
    },
    edit: async (name, base, text, edits) => {
      const { directory, file } = await find(name);
      const { editMemory } = await import("./memory/edit.ts");
      return signed(directory, await noted(directory, editMemory(directory, file, base, text, edits)));
    },
    put: async (path, text, base, edits) => {
      const { editIndex, editMemory } = await import("./memory/edit.ts");
      const { directory, file } = findOwner(directories, path);
      if (file === INDEX_FILE) return signed(directory, await editIndex(directory, base, text));
      if (isDailyLog(file))
        throw new MemdirError("usage", `${file} is a daily log, which only grows: use \`memdir log\``);
      const written = noted(directory, editMemory(directory, file, base, text, edits));
      return signed(directory, await (directory === main ? claimed(written) : written));
    },
    forget: async (name, forgets) => {
      const { directory, file } = await find(name);
      const { forgetMemory } = await import("./memory/forget.ts");
      return signed(directory, await forgetMemory(directory, file, forgets));
    },
    rename: async (name, newName) => {
      const { directory, file } = await find(name);
      const { renameMemory } = await import("./memory/rename.ts");
      return signed(directory, await noted(directory, renameMemory(directory, file, newName)));
    },
    merge: async (keep, other, request) => {
      const [kept, gone] = [await find(keep), await find(other)];
      const { mergeMemories } = await import("./memory/merge.ts");
      const { directory } = kept;
      return signed(directory, await noted(directory, mergeMemories(kept, gone, request)));
    },
    search: async (query) => {
      const { openSearchTexts, searchMemories } = await import("./recall/search.ts");
      searchTexts ??= openSearchTexts();
      return searchMemories(directories, query, searchTexts);
    },
    recall: async (prompt, asked) => (await recaller()).recall(prompt, asked),
    prefetch: async (prompt, asked) => (await recaller()).prefetch(prompt, asked),
    warm: async (asked) => (await recaller()).warm(asked),
    prompt: async (asked) => {
      const { buildMemoryPrompt } = await import("./context/start.ts");
      const team = directories.find(({ scope }) => scope === "team");
      return buildMemoryPrompt(main, { ...asked, teamDir: config.team ? (team?.path ?? null) : null });
    },
    history: async (name) => {
      const entries = readJournals(directories);
      if (name === undefined) return entries;
      const found = await findNamed(name);
      const files = found === null ? MEMORY_TYPES.map((type) => fileNameFor(type, name)) : [found];
      const known = [name, `${name}.md`, ...files];
      const own = entries.filter(({ files }) => files.some(({ file }) => known.includes(file)));
      // Throws for a name that never was one.
      if (own.length === 0) await find(name);
      return own;
    },
    undo: async (id) => {
      const { directory, entry } = findJournal(directories, id);
      return signed(directory, await directory.undo(entry));
    },
    verify: async (name, { signal, ...asked } = {}) => {
      const { verifyMemories } = await import("./truth/verify.ts");
      const named = name === undefined ? null : await find(name);
      const { rows } = await survey();
      const wanted = named
        ? rows.filter(({ file, scope }) => file === named.file && scope === named.directory.scope)
        : rows;
      const root = location.project.worktreeRoot ?? location.project.cwd;
      return verifyMemories(main, { root, env, signal }, directories, wanted, { ...asked, isAll: named === null });
    },
    prune: async (request) => (await import("./memory/forget.ts")).pruneMemories(main, request),
    index: async () => {
      await repairDirectory(main);
      return loadIndex(main, { generate: true });
    },
    rebuildIndex: async () => {
      const { rebuildIndex } = await import("./memory/edit.ts");
      const rebuilt = await rebuildIndex(main);
      return { ...loadIndex(main, { generate: false }), ...rebuilt };
    },
    context: async (touched, asked) => {
      const { buildStartContext } = await import("./context/start.ts");
      return buildStartContext(main, await instructions(asked), location, config, warnings, touched);
    },
    instructions,
    approveImports: () => approveImports(location, config, main.now()),
    permitted,
    permit: (kind) => {
      if (!permitted.includes(kind)) permitted.push(kind);
      keepPermitted(location, config, permitted);
    },
    measure: async (directory = main, onProgress) => {
      const { measureDirectory } = await import("./truth/rot.ts");
      const { findSurfacedFiles } = await import("./recall/surface-log.ts");
      const { termsOf } = await import("./text/terms.ts");
      const told = await readTold();
      // Only the directory that is written to has a log, and a memory of another scope is also shown in other projects.
      const surfaced = directory === main ? findSurfacedFiles(directory) : null;
      return measureDirectory(directory, { termsOf, instructions: told, surfaced }, onProgress);
    },
    lint: async () => {
      const { lintStore } = await import("./truth/lint.ts");
      const { termsOf } = await import("./text/terms.ts");
      const told = await readTold();
      const lintOne = async (d: Store) =>
        (await lintStore(d, told, termsOf)).map((problem) => ({ ...problem, scope: d.scope }));
      return (await Promise.all(directories.map(lintOne))).flat();
    },
    doctor: async () => {
      const { examine } = await import("./memory/doctor.ts");
      const problems = await (await instructions()).problems();
      const { examineCues, examineMeaning } = await import("./recall/recaller.ts");
      const { openMeaning } = await import("./meaning/meaning.ts");
      return [
        ...(await examine(directories, { warnings, instructions: problems, ...(await findAdoptable()) })),
        examineMeaning(config.meaning === "off" ? null : openMeaning()),
        examineCues((await survey()).rows),
        await examineModel(env),
      ];
    },
    findAdoptable,
    adopt: async (from) => {
      const { adoptMemories } = await import("./memory/adopt.ts");
      if (!statSync(from, { throwIfNoEntry: false })?.isDirectory())
        throw new MemdirError("usage", `${from} is not a directory: \`memdir doctor\` lists what can be adopted`);
      const recursive = older.find(({ dir }) => dir === from)?.recursive ?? !from.endsWith("projects");
      return claimed(adoptMemories(main, { ...main, path: from, readOnly: true, recursive }));
    },
    settle: (way) => settleOwner(way, location, config, env, main.now),
    trust: ({ revoke }) => trustDirectory(location, config, revoke),
  });
}

/** However short a verb is, between two of them the host's timers and requests have their turn. */
function yielding<T extends object>(verbs: T): T {
  const wrapped = Object.entries(verbs).map(([name, verb]) => {
    if (typeof verb !== "function") return [name, verb];
    const run = (...given: unknown[]) => {
      const answer = verb(...given);
      return answer instanceof Promise ? answer.finally(yieldTurn) : answer;
    };
    return [name, run];
  });
  return Object.fromEntries(wrapped);
}

/** The stores of a project, opened. */
export function findStores(options: PlaceOptions, config: Config, location: Location) {
  const { main, directories, older } = findDirectories(options, config, location);
  const stores = directories.map(openStore);
  return { main: stores[directories.indexOf(main)] as Store, directories: stores, older };
}

/** Whose file a path is. Only Markdown outside hidden folders is a memory. */
function findOwner(directories: readonly Store[], path: string): { directory: Store; file: string } {
  const real = realPath(path);
  // A team's mirror lies inside the project's directory: the innermost one is meant.
  for (const directory of [...directories].sort((a, b) => b.path.length - a.path.length)) {
    const file = relative(realPath(directory.path), real).split(sep).join("/");
    if (directory.readOnly || file === "" || file.startsWith("../") || isAbsolute(file)) continue;
    resolveInside(directory.path, file);
    if (/\.md$/i.test(file) && !/(^|\/)\./.test(file)) return { directory, file };
    throw new MemdirError(
      "usage",
      `${file} is not a memory: a memory is a .md file, and folders that start with a dot are memdir's own`,
    );
  }
  throw new MemdirError("outside", `${path} is in none of the memory directories`);
}

async function examineModel(env: Env): Promise<Check> {
  const { chooseModel } = await import("./model/choose.ts");
  const choice = chooseModel(env);
  const name = "model";
  if (!choice) return { name, ok: true, detail: "none is configured (MEMDIR_MODEL): recall is offline", fix: null };
  if ("problem" in choice) return { name, ok: false, detail: "not usable: recall is offline", fix: choice.problem };
  return { name, ok: true, detail: `${choice.provider}/${choice.name} chooses what is recalled`, fix: null };
}

/** The model that the user's own environment names, never one from a repository's settings; its SDK is loaded when it is first asked. */
async function findAsk(env: Env, log: (message: string) => void): Promise<SideQuery | null> {
  if (!env.MEMDIR_MODEL) return null;
  const { chooseModel } = await import("./model/choose.ts");
  const choice = chooseModel(env);
  if (choice && "problem" in choice) log(choice.problem);
  if (!choice || "problem" in choice) return null;
  const { sideQuery } = await import("./model/choose.ts");
  let query: Promise<SideQuery> | null = null;
  return async (system, user, signal) => {
    query ??= choice.open().then((ask) => sideQuery(ask));
    return (await query)(system, user, signal);
  };
}

function locationWarnings({ rejected, untrusted }: Location): string[] {
  const warnings = rejected.map(({ via, value, reason }) => `${via} (${JSON.stringify(value)}) is not used: ${reason}`);
  if (untrusted) {
    warnings.push(
      `${untrusted.via} asks for the memory directory ${untrusted.dir}, outside the repository; it is not used until you run \`memdir trust\``,
    );
  }
  return warnings;
}
