/** The composition root: options and environment in, a ready Memdir out. */

import { accessSync, constants, existsSync } from "node:fs";
import { type Config, type Env, processEnv } from "./config.ts";
import { waitForTurn, yielding, yieldTurn } from "./disk/turns.ts";
import { attempt, lazily, MemdirError } from "./errors.ts";
import type { InstructionOptions, Memdir } from "./memdir.ts";
import { findNamed, openMemories } from "./memory/memories.ts";
import { isRecorded, type Location, trustKey, warningsOf } from "./project/locate.ts";
import { claimDirectory, findOrphans, findOwnerWarning, identifyProject, openDecisions } from "./project/owner.ts";
import { findDirectories, findPlace, findTopMemory, mirrorOf, type PlaceOptions } from "./project/scopes.ts";
import type { AnyEmbed } from "./recall/recall.ts";
import type { Recaller } from "./recall/recaller.ts";
import type { SearchTexts } from "./recall/search.ts";
import type { SideQuery } from "./recall/select.ts";
import { isTakenOver, openStore, repairDirectory, type Store } from "./store/store.ts";

/** How a memory is opened, with everything that the process has decided. */
export interface OpenOptions extends PlaceOptions {
  /** A model that chooses memories: system text and question in, answer out. Default: the one that MEMDIR_MODEL names; null for none. */
  ask?: SideQuery | null | undefined;
  /** Makes vectors of prompts and memories, or null for recall by words only. Default: as the setting `meaning` says. */
  embed?: AnyEmbed | null | undefined;
}

/** Opens the sentence model: why there is none where `embed` is null. */
type FindMeaning = () => Promise<{ embed: AnyEmbed | null; problem: string | null }>;

const findMeaningHere: FindMeaning = async () => {
  const { meaning, problem } = (await import("./meaning/meaning.ts")).openMeaning();
  return { embed: meaning?.embed ?? null, problem };
};

function isReadable(folder: string): boolean {
  return attempt(() => accessSync(folder, constants.R_OK | constants.X_OK) === undefined, false);
}

/** What is not needed to read memories is loaded when it is called: reading must start fast. */
export async function openMemdir(options: OpenOptions, findMeaning = findMeaningHere): Promise<Memdir> {
  const env = options.env ?? processEnv();
  const { config, location } = findPlace(options, env);
  const { main, directories, older } = openOwn(findStores(options, config, location));
  for (const directory of directories) await repairDirectory(directory);
  const isProject = main.path === location.dir;
  const ownerWarning = isProject && !isRecorded(location) ? await findOwnerWarning(location, env) : null;
  const closed = directories.map(({ path }) => path).filter((path) => existsSync(path) && !isReadable(path));
  const warnings = [
    ...[...config.problems, ...warningsOf(location), ...(ownerWarning ? [ownerWarning] : [])],
    ...closed.map((path) => `${path} cannot be read, so its memories are missing; check its owner and mode`),
  ];

  const { recaller, note } = openLate({ ...options, findMeaning }, config, env, directories);
  let claimed: Promise<void> | null = null;
  /** A directory is recorded as this project's when something was written into it; by many writers at once only once. */
  const claim = async (directory: Store) => {
    if (!isProject || directory !== main || isRecorded(location)) return;
    // Only a record of whose the directory is: what was asked for is done.
    claimed ??= claimDirectory(location, env, main)
      .catch((error: Error) => main.log(error.message))
      .finally(() => {
        claimed = null;
      });
    await claimed;
  };
  const permitted = [...(config.permitted[trustKey(location.project)] ?? [])];
  /** Opened with the first decision: reading needs none. */
  const decisions = lazily(() => openDecisions(location, config, env, main.now, permitted));
  const memories = openMemories(directories, async (directory, file) => {
    await claim(directory);
    note(directory, file);
  });
  const instructions = async (asked: InstructionOptions = {}) => {
    const { openInstructions } = await import("./instructions/instructions.ts");
    const { openScope } = await import("./instructions/load.ts");
    const sources = options.settingSources ? { settingSources: options.settingSources } : {};
    return openInstructions(openScope(location.project, config, { ...asked, ...sources }));
  };
  const findAdoptable = async () => {
    const identity = await identifyProject(location.project, env);
    const orphans = findOrphans({ config, identity, dir: location.dir });
    const top = findTopMemory(location.project, directories);
    return { orphans: orphans.filter(({ dir }) => isOpen(main, dir, dir.endsWith("memory"))), older, top };
  };
  let searchTexts: SearchTexts | null = null;

  return yielding<Memdir>({
    location,
    config,
    directories,
    warnings,
    ...memories,
    permitted,
    permit: (kind) => decisions().permit(kind),
    approveImports: () => decisions().approveImports(),
    settle: async (way) => decisions().settle(way),
    trust: (asked) => decisions().trust(asked),
    ...openHealth({ env, location, directories, survey: memories.survey, instructions }),
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
    context: async (touched, asked) => {
      const { buildStartContext } = await import("./context/start.ts");
      return buildStartContext(main, await instructions(asked), location, config, warnings, touched);
    },
    instructions,
    propose: async (team, wish) => {
      const { proposeToTeam } = await import("./learn/apply.ts");
      return proposeToTeam(findOwn({ config, location, directories }), team, wish);
    },
    doctor: async () => {
      const { examine, examineModel } = await import("./memory/doctor.ts");
      const { examineCues, examineMeaning } = await import("./recall/recaller.ts");
      const { openMeaning } = await import("./meaning/meaning.ts");
      const problems = await (await instructions()).problems();
      return [
        ...(await examine(directories, { warnings, instructions: problems, ...(await findAdoptable()) })),
        examineMeaning(config.meaning ? openMeaning() : null),
        examineCues((await memories.survey()).rows),
        await examineModel(env),
      ];
    },
    findAdoptable,
    adopt: async (from) => {
      const { adoptMemories } = await import("./memory/adopt.ts");
      const recursive = older.find(({ dir }) => dir === from)?.recursive ?? !from.endsWith("projects");
      const adopted = await adoptMemories(main, from, recursive);
      await claim(main);
      return adopted;
    },
  });
}

/** The stores of a project, opened. */
export function findStores(options: PlaceOptions, config: Config, location: Location) {
  const { main, directories, older } = findDirectories(options, config, location);
  const stores = directories.map(openStore);
  return { main: stores[directories.indexOf(main)] as Store, directories: stores, older };
}

/** Whether it is what a team's server has, and not a folder of the project. */
export function isMirror({ location }: Pick<Memdir, "location">, { path }: Store): boolean {
  return path === mirrorOf(location.dir);
}

type Opened = Pick<Memdir, "config" | "location" | "directories">;

/**
 * The team's directory, whether it exists yet or not. Who has joined a server means its mirror: the repository's folder,
 * which others may see, never takes its place.
 */
export function findTeam(memdir: Opened): Store {
  const { config, location, directories } = memdir;
  const isMember = Object.hasOwn(config.teams, location.project.root);
  const found = directories.find((one) => one.scope === "team" && (!isMember || isMirror(memdir, one)));
  return found ?? findScope(memdir, "team");
}

/** The project's own directory, also of a Memdir that was opened for the team's alone. */
export function findOwn(memdir: Opened): Store {
  const [first] = memdir.directories as [Store];
  return first.scope === "team" ? findScope(memdir, undefined) : first;
}

/** The directory of a scope, whether it is among those that were opened or not. */
export function findScope({ config, location, directories }: Opened, scope: string | undefined): Store {
  const { now, by, log } = directories[0] as Store;
  return findStores({ cwd: location.project.cwd, scope, now, by, log, withOlder: false }, config, location).main;
}

/** Without those of older layouts whose memories have all been adopted. */
function openOwn({ main, directories, older }: ReturnType<typeof findStores>) {
  return {
    main,
    directories: directories.filter((each) => !each.readOnly || isOpen(main, each.path, each.recursive)),
    older: older.filter(({ dir, recursive }) => isOpen(main, dir, recursive)),
  };
}

function isOpen(main: Store, path: string, recursive: boolean): boolean {
  return !isTakenOver(main, { path, recursive });
}

/** Recall, opened when it is first asked for. */
function openLate(
  options: OpenOptions & { findMeaning: FindMeaning },
  config: Config,
  env: Env,
  directories: readonly Store[],
) {
  const { now, log } = directories[0] as Store;
  const given = options.embed;
  let problem: string | null = null;
  const findEmbed = async () => {
    if (given !== undefined) return given;
    if (!config.meaning) return null;
    const found = await options.findMeaning();
    problem = found.problem;
    return found.embed;
  };
  const whyWords = () => problem;
  let opened: Recaller | null = null;
  const recaller = async (): Promise<Recaller> => {
    const { openRecaller } = await import("./recall/recaller.ts");
    // All who waited for the module go on at the same moment.
    await yieldTurn();
    const ask = options.ask === undefined ? await findAsk(env, log) : options.ask;
    opened ??= openRecaller(directories, { findEmbed, whyWords, ask, now, ticks: () => performance.now(), log });
    return opened;
  };
  const waiting: [directory: Store, file: string][] = [];
  /** At once where recall is open. Else when it is quiet: a process that has ended by then need not load recall, which finds changed files by itself. */
  const note = (directory: Store, file: string): void => {
    opened?.note(directory, file);
    if (opened || waiting.push([directory, file]) > 1) return;
    const noteAll = async ({ note }: Recaller) => {
      for (const [at, name] of waiting.splice(0)) {
        await waitForTurn();
        note(at, name);
      }
    };
    setTimeout(() => void recaller().then(noteAll, (error: Error) => log(error.message)), QUIET_MS).unref();
  };
  return { recaller, note };
}

/** Whoever saves one memory often saves another. */
const QUIET_MS = 300;

/** The model that the user's own environment names, never one from a repository's settings; its SDK is loaded when it is first asked. */
async function findAsk(env: Env, log: (message: string) => void): Promise<SideQuery | null> {
  if (!env.MEMDIR_MODEL) return null;
  const { chooseModel, sideQuery } = await import("./model/choose.ts");
  const choice = chooseModel(env);
  if (choice && "problem" in choice) log(choice.problem);
  if (!choice || "problem" in choice) return null;
  let query: Promise<SideQuery> | null = null;
  return async (...question) => {
    query ??= choice.open().then(sideQuery, (cause) => {
      const remedy = "give `ask` to openMemdir, or leave memdir out of the bundle";
      throw new MemdirError("model", `memdir's files for ${choice.provider} are not beside this program: ${remedy}`, {
        cause,
      });
    });
    return (await query)(...question);
  };
}

type Known = Pick<Memdir, "location" | "directories" | "survey" | "instructions"> & { env: Env };

/** Whether memories still hold, and what is wrong with their wording. */
function openHealth({ env, location, directories, survey, instructions }: Known) {
  const main = directories[0] as Store;
  /** What every session of this project is told anyway. */
  const readTold = async () =>
    (await (await instructions()).load()).map(({ path, content }) => ({ path, text: content }));
  const health: Pick<Memdir, "verify" | "measure" | "lint"> = {
    verify: async (name, { signal, ...asked } = {}) => {
      const { verifyMemories } = await import("./truth/verify.ts");
      const named = name === undefined ? null : await findNamed(directories, name);
      const { rows } = await survey();
      const wanted = named
        ? rows.filter(({ file, scope }) => file === named.file && scope === named.directory.scope)
        : rows;
      const root = location.project.worktreeRoot ?? location.project.cwd;
      return verifyMemories(main, { root, env, signal }, directories, wanted, { ...asked, isAll: named === null });
    },
    measure: async (directory = main, onProgress) => {
      const { measureDirectory } = await import("./truth/health.ts");
      const { findSurfacedFiles } = await import("./recall/surface-log.ts");
      const { termsOf } = await import("./text/terms.ts");
      // Only the directory that is written to has a log, and a memory of another scope is also shown in other projects.
      const surfaced = directory === main ? findSurfacedFiles(directory) : null;
      return measureDirectory(directory, { termsOf, instructions: await readTold(), surfaced }, onProgress);
    },
    lint: async () => {
      const { lintStore } = await import("./truth/lint.ts");
      const { termsOf } = await import("./text/terms.ts");
      const told = await readTold();
      const lintOne = async (d: Store) =>
        (await lintStore(d, told, termsOf)).map((problem) => ({ ...problem, scope: d.scope }));
      return (await Promise.all(directories.map(lintOne))).flat();
    },
  };
  return health;
}
