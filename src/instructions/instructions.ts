/** The instructions of one session: loaded once, added to by touches, kept until they change or something clears them. */

import { statOrNull } from "../disk/stat.ts";
import type { InstructionFile, SkippedFile } from "./file.ts";
import { examineInstructions, type InstructionProblem } from "./health.ts";
import { type Loaded, loadAtStart } from "./load.ts";
import { type RenderedInstructions, renderFor } from "./render.ts";
import type { InstructionScope } from "./scope.ts";
import { filesInCommand } from "./shell-command.ts";
import { touchFile } from "./touch.ts";

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
