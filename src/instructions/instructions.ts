/** The instructions of one session: loaded once, extended when files are touched, kept until they change or are cleared. */

import { dirname, join, relative, resolve, sep } from "node:path";
import { isWithin, realPath, statOrNull } from "../disk/fence.ts";
import { openTurns } from "../model/tool.ts";
import {
  examineInstructions,
  type InstructionFile,
  type InstructionProblem,
  type RenderedInstructions,
  renderFor,
  type SkippedFile,
} from "./file.ts";
import { type InstructionScope, isClaudeFile, type Loaded, loadAtStart, loader, type WaitingRule } from "./load.ts";
import { matchesPaths } from "./rule-paths.ts";

/** The instruction files of a session. */
export interface Instructions {
  /** What is loaded at startup; cached until something changes on disk. */
  load(): Promise<InstructionFile[]>;
  /** What reading or writing this file adds; each file is added once, until `clear`. */
  touch(path: string): Promise<InstructionFile[]>;
  /** The same for every file that a shell command names. */
  touchCommand(command: string): Promise<InstructionFile[]>;
  /** The text for the model; null if there is none. `omit` is for read-only agents that need no rules. */
  render(place: "user" | "system", options?: { omit?: boolean }): Promise<RenderedInstructions | null>;
  /** The last rendered text, without touching the disk; null before the first. */
  cached(): RenderedInstructions | null;
  /** Every candidate that was not loaded, with the reason. */
  skipped(): Promise<SkippedFile[]>;
  /** Problems with the loaded files: too large, containing a secret, or private but tracked by git. */
  problems(): Promise<InstructionProblem[]>;
  /** Call it after the session was cleared or compacted: the next call reads everything again, and touches count again. */
  clear(): void;
}

export function openInstructions(scope: InstructionScope): Instructions {
  const read = async () => {
    const loaded = await loadAtStart(scope);
    const stamps = [...loaded.watched].map((path) => ({ path, stamp: stampOf(path) }));
    return { loaded, atStart: [...loaded.files], stamps };
  };
  let kept: ReturnType<typeof read> | null = null;
  let rendered: RenderedInstructions | null = null;
  const get = async () => {
    if (kept && !(await kept).stamps.every(({ path, stamp }) => stampOf(path) === stamp)) kept = null;
    kept ??= read();
    return kept;
  };
  /** One after the other, so that each touch returns only what it added. */
  const inTurn = openTurns();
  const touchAll = (paths: readonly string[]) =>
    inTurn(async () => {
      const { loaded } = await get();
      const added: InstructionFile[] = [];
      for (const path of paths) added.push(...(await touchFile(scope, loaded, path)));
      return added;
    });
  const atStart = async () => [...(await get()).atStart];
  return {
    load: atStart,
    touch: (path) => touchAll([path]),
    touchCommand: (command) => touchAll(filesInCommand(command, scope.cwd)),
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

/** Changes whenever the file does; "" when it does not exist. */
function stampOf(path: string): string {
  const stat = statOrNull(path);
  return stat ? `${stat.mtimeMs} ${stat.size} ${stat.ino}` : "";
}

/** Adds to `loaded` and returns what is new. Each file comes once until everything is loaded again. */
async function touchFile(scope: InstructionScope, loaded: Loaded, path: string): Promise<InstructionFile[]> {
  const file = resolve(scope.cwd, path);
  // Both the path and the real path of its folder must be below: a linked folder leads elsewhere.
  if (!isWithin(scope.cwd, file) || !isWithin(scope.cwd, realPath(dirname(file)))) return [];
  const start = loaded.files.length;
  const atStart = loaded.files.some(
    (each) => each.source !== "user" && each.source !== "managed" && isClaudeFile(each),
  );
  // Within one touch a file comes once however it is reached; after that only its name counts, as for the client.
  const load = loader(scope, { ...loaded, reals: new Map() }, false);
  // A model that reads or writes an instruction file knows it already.
  loaded.paths.add(file);

  const wait = (rule: WaitingRule) => isRuleFor(rule, file);
  const outer = loaded.waiting.filter(({ source }) => source === "managed" || source === "user");
  const inner = loaded.waiting.filter((rule) => !outer.includes(rule));
  for (const rule of outer.filter(wait)) await load.file(rule.path, rule.source);
  for (const folder of foldersBetween(scope.cwd, dirname(file))) {
    // Nothing can be below a missing folder.
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

/** The folders below `top` down to `folder`, outermost first; `top` itself is loaded at start. `folder` must be within `top`. */
export function foldersBetween(top: string, folder: string): string[] {
  const parts = relative(top, folder)
    .split(sep)
    .filter((part) => part !== "");
  return parts.map((_, i) => join(top, ...parts.slice(0, i + 1)));
}

/** More words than this are data, not file names. */
const MAX_WORDS = 200;

/** Existing files among the command's words, in order; quotes and escapes are removed, nothing is run or expanded. */
export function filesInCommand(command: string, cwd: string): string[] {
  const words = command.match(/(?:"(?:\\.|[^"\\])*"|'[^']*'|\\.|[^\s"'|&;<>()\\])+/gs) ?? [];
  const files = words.slice(0, MAX_WORDS).flatMap((word) => {
    const bare = word.replace(PART, (part) => bareOf(part));
    if (bare === "" || bare.startsWith("-") || bare.includes("\0")) return [];
    const path = resolve(cwd, bare);
    return statOrNull(path)?.isFile() ? [path] : [];
  });
  return [...new Set(files)];
}

const PART = /"(?:\\.|[^"\\])*"|'[^']*'|\\./gs;

/** A part of a word without its quotes; in double quotes a backslash only escapes what is special there. */
function bareOf(part: string): string {
  if (part.startsWith("'")) return part.slice(1, -1);
  return part.startsWith('"') ? part.slice(1, -1).replace(/\\(["\\$`])/g, "$1") : part.slice(1);
}
