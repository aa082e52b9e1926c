/** What the tools work with: where they are, what they may read and change, whom they ask and notify. */

import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { isWithin, realPath, resolveInside } from "../disk/fence.ts";
import { attempt } from "../errors.ts";
import { buildSchema, type Fields, type Input, readInput } from "../input.ts";
import type { Tool, ToolOutcome } from "../model/tool.ts";
import { TOOL_WORDS } from "../prompts/tool-descriptions.ts";
import type { FileHistory } from "../session/file-history.ts";
import type { FileState } from "../session/file-state.ts";
import type { PermissionRequest, Permit } from "./permission.ts";

export type ToolName = keyof typeof TOOL_WORDS;

/** What tools work with: where they are, what they may read and change, and what is called when they do. */
export interface Workbench {
  /** Absolute and real. Relative paths start here, or at the fence if this is outside it. */
  cwd: string;
  /** The tools see only this directory, and need no permission in it. There is no Bash. Null means the whole machine, with permission. */
  fence: string | null;
  /** Reading below these needs no permission. */
  readable: readonly string[];
  /** Which files were read, so that nothing unseen is overwritten. */
  files: FileState;
  /** Keeps copies of files before they are changed; null keeps none. */
  history: Pick<FileHistory, "before" | "after"> | null;
  /** Asks for permission where it is needed. */
  permit: Permit;
  /** For commands. What looks like a secret is not passed on. */
  env: Readonly<Record<string, string | undefined>>;
  /** A file was read or written, or a command was run. */
  onTouch: (touch: { path: string } | { command: string }) => void;
  /** Writes the files that are memories; null when there are none. */
  store: Store | null;
}

/** A tool whose input is checked before it runs; its description is found by its name. */
export function defineTool<const F extends Fields>(
  name: ToolName,
  fields: F,
  run: (input: Input<F>, call: Call) => Promise<ToolOutcome>,
): Tool {
  const { description, inputs } = TOOL_WORDS[name];
  return {
    name,
    description,
    schema: buildSchema(fields, inputs),
    run: async (input, { signal }) => run(readInput(fields, input), { tool: name, signal }),
  };
}

/** The call that a tool is working on. */
export interface Call {
  tool: ToolName;
  signal: AbortSignal;
}

/** Files with their own way of being written, such as memories. All paths are real. */
interface Store {
  owns(path: string): boolean;
  /** `base` is the text that the new one was made from; null for a new file. */
  write(path: string, text: string, base: string | null): Promise<{ notices: string[] }>;
  /** What a reader should know about a file. */
  remark(path: string): string | null;
}

export type Target = ReturnType<typeof findTarget>;

/** Throws for anything outside the fence, whether it exists or not. */
export function findTarget(bench: Workbench, given: string) {
  if (given === "") throw new Error("the path is empty; give the path of a file");
  const fence = bench.fence === null ? null : realPath(bench.fence);
  if (given.includes("\0")) throw fence ? fenced(bench) : new Error("the path contains a NUL character");
  const path = resolve(baseOf(bench), withHome(given, bench.env));
  const target = (real: string) => ({
    /** Absolute, as given. */
    path,
    /** With all links resolved: what is opened and remembered. */
    real,
    /** For the model and for people. */
    shown: showPath(bench, path),
  });
  if (fence === null) return target(realPath(path));

  const root = [fence, resolve(bench.fence as string)].find((each) => isWithin(each, path));
  if (root === undefined) throw fenced(bench);
  const below = relative(root, path);
  if (below === "") return target(fence);
  const real = attempt(() => realPath(resolveInside(fence, below.split(sep).join("/"))), null);
  if (real === null || !isWithin(fence, real)) throw fenced(bench);
  return target(real);
}

/** The same error for everything outside, so that it reveals nothing about what is there. */
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

/** Whether reading it needs no permission. */
export function isReadable(bench: Workbench, target: Target): boolean {
  return bench.fence !== null || bench.readable.some((dir) => isWithin(realPath(dir), target.real));
}

/** Throws when permission to read it is denied. */
export async function permitRead(bench: Workbench, call: Call, target: Target): Promise<void> {
  if (!isReadable(bench, target)) await ask(bench, call, target, "read", { kind: "read outside" });
}

/** Throws when permission to change it is denied. Within a fence or a store of its own, none is needed. */
export async function permitEdit(bench: Workbench, call: Call, target: Target, detail: string): Promise<void> {
  const isFree = bench.fence !== null || bench.store?.owns(target.real);
  if (!isFree) await ask(bench, call, target, "changed", { kind: "edit", detail });
}

async function ask(
  bench: Workbench,
  { tool, signal }: Call,
  target: Target,
  done: string,
  asked: Pick<PermissionRequest, "kind" | "detail">,
): Promise<void> {
  const link = target.real === target.path ? "" : `, which is ${showPath(bench, target.real)}`;
  const where = asked.kind === "edit" && isWithin(bench.cwd, target.real) ? "" : " (outside the working directory)";
  const answer = await bench.permit({ ...asked, tool, summary: `${tool} ${target.shown}${link}${where}` }, signal);
  if (!answer.allowed) throw new Error(`${target.shown} was not ${done}: ${answer.reason}`);
}

function withHome(given: string, env: Workbench["env"]): string {
  const home = env.HOME ?? env.USERPROFILE;
  if (!home || !isAbsolute(home)) return given;
  return given === "~" || given.startsWith("~/") ? join(home, given.slice(1)) : given;
}
