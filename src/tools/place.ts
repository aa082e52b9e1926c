/** Where a path that a model gave leads: inside the fence or nowhere, or anywhere with the permission that it takes. */

import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { isWithin, realPath, resolveInside } from "../disk/fence.ts";
import type { Workbench } from "./workbench.ts";

export interface Place {
  /** Absolute, as it was written. */
  path: string;
  /** With all links resolved: what is opened, and what is kept in mind. */
  real: string;
  /** For the model and for people. */
  shown: string;
}

/** Throws for what the fence does not hold, whether it exists or not. */
export function findPlace(bench: Workbench, given: string): Place {
  if (given === "") throw new Error("the path is empty; give the path of a file");
  const fence = bench.fence === null ? null : realPath(bench.fence);
  if (given.includes("\0")) throw fence ? fenced(bench) : new Error("the path holds a NUL character");
  const path = resolve(baseOf(bench), withHome(given, bench.env));
  const place = (real: string) => ({ path, real, shown: showPath(bench, path) });
  if (fence === null) return place(realPath(path));

  const root = [fence, resolve(bench.fence as string)].find((each) => isWithin(each, path));
  if (root === undefined) throw fenced(bench);
  const below = relative(root, path);
  if (below === "") return place(fence);
  let real: string;
  try {
    real = realPath(resolveInside(fence, below.split(sep).join("/")));
  } catch {
    throw fenced(bench);
  }
  if (!isWithin(fence, real)) throw fenced(bench);
  return place(real);
}

/** One answer for everything outside, so that it tells nothing about what is there. */
export function fenced(bench: Workbench): Error {
  return new Error(`only ${bench.fence} can be used here, without links out of it; give a path below it`);
}

/** Where relative paths start. */
function baseOf({ cwd, fence }: Workbench): string {
  if (fence === null) return cwd;
  const root = realPath(fence);
  return isWithin(root, cwd) ? cwd : root;
}

/** Short where that is unambiguous, and always on one line. */
export function showPath(bench: Workbench, path: string): string {
  const base = baseOf(bench);
  const shown = isWithin(base, path) ? relative(base, path) || "." : path;
  // Any control character could make one name look like several lines.
  return /\p{Cc}/u.test(shown) ? JSON.stringify(shown) : shown;
}

/** Whether reading there needs no permission. */
export function isReadable(bench: Workbench, place: Place): boolean {
  return bench.fence !== null || bench.readable.some((dir) => isWithin(realPath(dir), place.real));
}

/** Throws when reading there was not allowed. */
export async function permitRead(bench: Workbench, tool: string, place: Place, signal: AbortSignal): Promise<void> {
  if (isReadable(bench, place)) return;
  const link = place.real === place.path ? "" : `, which is ${showPath(bench, place.real)}`;
  const summary = `${tool} ${place.shown}${link} (outside the working directory)`;
  const answer = await bench.permit({ kind: "read outside", tool, summary }, signal);
  if (!answer.allowed) throw new Error(`${place.shown} was not read: ${answer.reason}`);
}

/** Throws when changing files was not allowed. A fence and a store of its own are permission enough. */
export async function permitEdit(
  bench: Workbench,
  tool: string,
  place: Place,
  detail: string,
  signal: AbortSignal,
): Promise<void> {
  if (bench.fence !== null || bench.store?.owns(place.real)) return;
  const link = place.real === place.path ? "" : `, which is ${showPath(bench, place.real)}`;
  const where = isWithin(bench.cwd, place.real) ? "" : " (outside the working directory)";
  const summary = `${tool} ${place.shown}${link}${where}`;
  const answer = await bench.permit({ kind: "edit", tool, summary, detail }, signal);
  if (!answer.allowed) throw new Error(`${place.shown} was not changed: ${answer.reason}`);
}

function withHome(given: string, env: Workbench["env"]): string {
  const home = env.HOME ?? env.USERPROFILE;
  if (!home || !isAbsolute(home)) return given;
  return given === "~" || given.startsWith("~/") ? join(home, given.slice(1)) : given;
}
