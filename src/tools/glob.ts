/** The Glob tool: files by their names, the newest first. */

import { lstatSync, type Stats } from "node:fs";
import { isAbsolute, join, sep } from "node:path";
import type { Tool } from "../model/tool.ts";
import { TOOL_WORDS } from "../prompts/tool-descriptions.ts";
import { isPseudo } from "./file.ts";
import { compilePattern, isMagic } from "./glob-pattern.ts";
import { buildSchema, readInput } from "./input.ts";
import { fenced, findPlace, permitRead, showPath } from "./place.ts";
import { WALK_LIMITS, type WalkLimits, walkFiles } from "./walk.ts";
import type { Workbench } from "./workbench.ts";

/** As many as Claude Code shows. */
const MAX_NAMES = 100;

/** Passed over unless they are named: what is in them is not the user's work. */
export const SKIPPED: readonly string[] = [".git", "node_modules"];

const FIELDS = {
  pattern: { type: "string", required: true, filled: true },
  path: { type: "string" },
} as const;

export function openGlob(bench: Workbench, limits: WalkLimits = WALK_LIMITS): Tool {
  const words = TOOL_WORDS.Glob;
  return {
    name: "Glob",
    description: words.description,
    schema: buildSchema(FIELDS, words.inputs),
    async run(input, { signal }) {
      const { pattern: given, path } = readInput(FIELDS, input);
      const pattern = sep === "\\" ? given.replaceAll(sep, "/") : given;
      const { folder, rest } = splitPattern(pattern);
      if (rest.split(/[/{},]/).includes("..")) {
        throw bench.fence === null ? new Error("`..` can only stand at the start of a pattern") : fenced(bench);
      }
      const place = findPlace(bench, joinFolder(path || ".", folder));
      await permitRead(bench, "Glob", place, signal);
      if (isPseudo(place.real) || !lookAt(place.real)?.isDirectory()) throw new Error(`${place.shown} is no folder`);
      const compiled = compilePattern(rest);
      const found: { path: string; time: number }[] = [];
      let cut = "";
      const files = walkFiles(place.real, {
        signal,
        limits,
        enter: (parts) =>
          compiled.mayHold(parts) && (!SKIPPED.includes(parts.at(-1) ?? "") || isNamed(compiled.names, parts)),
        onCut: (reason) => {
          cut = reason;
        },
      });
      for await (const file of files) {
        // Behind a fence a link is nothing: it may lead out.
        if ((file.isLink && bench.fence !== null) || !compiled.matches(file.parts)) continue;
        found.push({ path: join(place.path, ...file.parts), time: timeOf(file.path) });
      }
      return report(bench, pattern, found, cut);
    },
  };
}

function isNamed(names: ReadonlySet<string>, parts: readonly string[]): boolean {
  return names.has(parts.at(-1) ?? "");
}

/** The folder that the pattern starts with, and what is left of it. The last part is always left. */
function splitPattern(pattern: string): { folder: string; rest: string } {
  const parts = pattern.split("/");
  const magic = parts.findIndex(isMagic);
  const at = Math.min(magic < 0 ? parts.length - 1 : magic, parts.length - 1);
  const folder = parts.slice(0, at).join("/");
  return { folder: at > 0 && folder === "" ? "/" : folder, rest: parts.slice(at).join("/") };
}

function joinFolder(path: string, folder: string): string {
  if (folder === "") return path;
  return isAbsolute(folder) || folder === "~" || folder.startsWith("~/") ? folder : `${path}/${folder}`;
}

/** Zero for what is gone. */
export function timeOf(path: string): number {
  return lookAt(path)?.mtimeMs ?? 0;
}

/** Links not followed; null for what cannot be looked at. */
export function lookAt(path: string): Stats | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null;
  } catch {
    return null;
  }
}

function report(bench: Workbench, pattern: string, found: { path: string; time: number }[], cut: string): string {
  const note = cut ? `\n[The search ended ${cut}; look in a smaller folder to see everything.]` : "";
  if (found.length === 0) {
    const hint = pattern.includes("/") || pattern.includes("**") ? "" : `; **/${pattern} looks in folders below, too`;
    return `no files match ${pattern}${hint}${note}`;
  }
  found.sort((a, b) => b.time - a.time || (a.path < b.path ? -1 : 1));
  const names = found.slice(0, MAX_NAMES).map(({ path }) => showPath(bench, path));
  const more = found.length - names.length;
  const rest = more > 0 ? `\n[${more.toLocaleString("en-US")} more files match; narrow the pattern to see them.]` : "";
  return names.join("\n") + rest + note;
}
