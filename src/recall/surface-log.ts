/**
 * Which memories were shown when, through which client and why: `.memdir/surfaced.jsonl`, a line for each recall that showed some.
 * Answers "why did it say that?" and shows which memories never help. Nothing here throws.
 */

import { openState, quietly, type StateLog } from "../store/store.ts";
import { hashOf } from "../text/hash.ts";

export type Door = "agent" | "hook" | "mcp" | "cli";

export interface SurfacedMemory {
  /** Below its own directory, which is known by its scope. */
  file: string;
  scope: string;
  why: readonly string[];
}

export interface Surfacing {
  /** ISO time. */
  at: string;
  /** Null for a client without sessions. */
  session: string | null;
  door: Door;
  /** Never its text: a number by which equal prompts are known. */
  prompt: number;
  memories: readonly SurfacedMemory[];
}

const MAX_WHY = 6;
const MAX_WHY_CHARS = 160;
const MAX_NAME_CHARS = 300;

/** `directory` is the one that is written to, whatever scope a memory is of. Costs one append. */
export function logSurfaced(
  directory: string,
  surfaced: { at: Date; session: string | null; door: Door; prompt: string; memories: readonly SurfacedMemory[] },
): void {
  // A directory that cannot be written to is recalled from all the same.
  if (surfaced.memories.length > 0) quietly(() => logOf(directory).append([entryOf(surfaced)]));
}

/** Oldest first; [] when there is none. Lines that cannot be read are passed over. */
export function readSurfaceLog(directory: string): Surfacing[] {
  return logOf(directory).read();
}

function logOf(directory: string): StateLog<Surfacing> {
  return openState(directory).log("surfaced.jsonl", parse);
}

function entryOf({ at, session, door, prompt, memories }: Parameters<typeof logSurfaced>[1]): Surfacing {
  const clip = (text: string, length: number) => text.slice(0, length).toWellFormed();
  return {
    at: at.toISOString(),
    session: session === null ? null : clip(session, MAX_NAME_CHARS),
    door,
    prompt: hashOf(prompt),
    memories: memories.map(({ file, scope, why }) => ({
      file,
      scope,
      why: why.slice(0, MAX_WHY).map((reason) => clip(reason, MAX_WHY_CHARS)),
    })),
  };
}

const DOORS: ReadonlySet<unknown> = new Set(["agent", "hook", "mcp", "cli"]);

function parse(value: unknown): Surfacing | null {
  const { at, session, door, prompt, memories } = value as Surfacing;
  if (typeof at !== "string" || Number.isNaN(Date.parse(at)) || !DOORS.has(door) || !Array.isArray(memories))
    return null;
  const known = memories.flatMap(({ file, scope, why }): SurfacedMemory[] => {
    if (typeof file !== "string" || typeof scope !== "string" || !Array.isArray(why)) return [];
    return [{ file, scope, why: why.filter((reason) => typeof reason === "string") }];
  });
  const name = typeof session === "string" ? session : null;
  return { at, session: name, door, prompt: Number(prompt) || 0, memories: known };
}
