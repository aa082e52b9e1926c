/** The instructions of one session: loaded once, added to by touches, kept until they change or something clears them. */

import { dirname, join, relative, resolve, sep } from "node:path";
import { isWithin, realPath, statOrNull } from "../disk/fence.ts";
import type { InstructionFile, SkippedFile } from "./file.ts";
import { foldersBetween } from "./folders.ts";
import { matchesPaths } from "./globs.ts";
import { examineInstructions, type InstructionProblem } from "./health.ts";
import { isClaudeFile, type Loaded, loadAtStart, loader, type WaitingRule } from "./load.ts";
import { type RenderedInstructions, renderFor } from "./render.ts";
import type { InstructionScope } from "./scope.ts";
import { filesInCommand } from "./shell-command.ts";

export interface Instructions {
  /** What is loaded at start; from memory while nothing changed on disk. */
  load(): Promise<InstructionFile[]>;
  /** What reading or writing this file adds: each file once, until `clear`. */
  touch(path: string): Promise<InstructionFile[]>;
  /** The same for every file that a shell command names. */
  touchCommand(command: string): Promise<InstructionFile[]>;
  /** The text for the model; null when there is none. `omit` is for read-only agents that need no rules. */
  render(place: "user" | "system", options?: { omit?: boolean }): Promise<RenderedInstructions | null>;
  /** The last rendered text, without touching the disk; null before the first. */
  cached(): RenderedInstructions | null;
  /** Everything that was looked at and not loaded, with the reason. */
  skipped(): Promise<SkippedFile[]>;
  problems(): Promise<InstructionProblem[]>;
  /** After a clear or compact of the session: the next call reads everything again, and touches count anew. */
  clear(): void;
}

interface Kept {
  loaded: Loaded;
  /** How many of the loaded files came at start. */
  start: number;
  stamps: Map<string, string>;
}

export function openInstructions(scope: InstructionScope): Instructions {
  let kept: Promise<Kept> | null = null;
  let rendered: RenderedInstructions | null = null;
  const get = async (): Promise<Kept> => {
    if (kept && !isCurrent(await kept)) kept = null;
    kept ??= loadAtStart(scope).then((loaded) => ({
      loaded,
      start: loaded.files.length,
      stamps: stampAll(loaded.watched),
    }));
    return kept;
  };
  let last: Promise<unknown> = Promise.resolve();
  /** One after the other: what a touch adds is told to it alone. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = last.then(work);
    last = turn.catch(() => {});
    return turn;
  };
  const atStart = async () => {
    const { loaded, start } = await get();
    return loaded.files.slice(0, start);
  };
  return {
    load: atStart,
    touch: (path) => inTurn(async () => touchFile(scope, (await get()).loaded, path)),
    touchCommand: (command) =>
      inTurn(async () => {
        const { loaded } = await get();
        const added: InstructionFile[] = [];
        for (const path of filesInCommand(command, scope.cwd)) added.push(...(await touchFile(scope, loaded, path)));
        return added;
      }),
    render: async (place, options = {}) => {
      if (options.omit) return null;
      rendered = renderFor(await atStart(), place);
      return rendered;
    },
    cached: () => rendered,
    skipped: async () => {
      const { loaded } = await get();
      const waiting = loaded.waiting.map(({ path, patterns }) => ({
        path,
        reason: `a rule that waits for a file matching ${patterns.join(", ")}`,
      }));
      return [...loaded.skipped, ...waiting];
    },
    problems: async () => examineInstructions(await atStart()),
    clear: () => {
      kept = null;
      rendered = null;
    },
  };
}

function isCurrent({ stamps }: Kept): boolean {
  for (const [path, stamp] of stamps) if (stampOf(path) !== stamp) return false;
  return true;
}

function stampAll(paths: ReadonlySet<string>): Map<string, string> {
  return new Map([...paths].map((path) => [path, stampOf(path)]));
}

/** Changes whenever the file does; "" where there is none. */
function stampOf(path: string): string {
  const stat = statOrNull(path);
  return stat ? `${stat.mtimeMs} ${stat.size} ${stat.ino}` : "";
}

/** Adds to `loaded` and returns what is new. Each file comes once until everything is loaded afresh. */
async function touchFile(scope: InstructionScope, loaded: Loaded, path: string): Promise<InstructionFile[]> {
  const file = resolve(scope.cwd, path);
  // The name must lie below, and its folder in truth, too: a linked folder leads elsewhere.
  if (!isWithin(scope.cwd, file) || !isWithin(scope.cwd, realPath(dirname(file)))) return [];
  const start = loaded.files.length;
  const atStart = loaded.files.some(
    (each) => each.source !== "user" && each.source !== "managed" && isClaudeFile(each),
  );
  const load = loader(scope, loaded, false);
  // Whoever reads or writes an instruction file knows it already.
  loaded.paths.add(file);

  const wait = (rule: WaitingRule) => isRuleFor(rule, file);
  const outer = loaded.waiting.filter(({ source }) => source === "managed" || source === "user");
  const inner = loaded.waiting.filter((rule) => !outer.includes(rule));
  for (const rule of outer.filter(wait)) await load.file(rule.path, rule.source);
  for (const folder of foldersBetween(scope.cwd, dirname(file))) {
    // Below what is not there is nothing either.
    if (!statOrNull(folder)?.isDirectory()) break;
    const hasClaude = await load.file(join(folder, "CLAUDE.md"), "project");
    await load.file(join(folder, ".claude", "CLAUDE.md"), "project");
    await load.file(join(folder, "CLAUDE.local.md"), "local");
    await load.rules(join(folder, ".claude", "rules"), "project", folder);
    const here = loaded.waiting.filter(({ base }) => base === folder);
    for (const rule of here.filter(wait)) await load.file(rule.path, rule.source);
    const byClient = scope.agents && !atStart && !hasClaude && !loaded.paths.has(join(folder, "CLAUDE.md"));
    if (byClient || scope.allAgents) await load.agents(folder);
    if (scope.allAgents) await load.others(folder);
  }
  for (const rule of inner.filter(wait)) await load.file(rule.path, rule.source);
  loaded.waiting = loaded.waiting.filter((rule) => !loaded.paths.has(rule.path));
  return loaded.files.slice(start);
}

function isRuleFor(rule: WaitingRule, file: string): boolean {
  if (!isWithin(rule.base, file)) return false;
  return matchesPaths(rule.patterns, relative(rule.base, file).split(sep).join("/"));
}
