/** The health of a directory and of what surrounds it, each check with its remedy. Changes nothing. */

import { accessSync, constants, existsSync } from "node:fs";
import { loadNative } from "../disk/native.ts";
import type { OlderDirectory } from "../project/older.ts";
import type { Orphan } from "../project/orphans.ts";
import type { Directory } from "./directory.ts";
import { loadIndex } from "./index-load.ts";
import { lintDirectory } from "./lint.ts";
import { listMemories } from "./list.ts";
import { needsRecovery } from "./recover.ts";

export interface Check {
  name: string;
  ok: boolean;
  /** What was found. */
  detail: string;
  /** What to do about it; null when all is well. */
  fix: string | null;
}

/** What only the project's side knows. */
export interface Surroundings {
  warnings: readonly string[];
  older: readonly OlderDirectory[];
  orphans: readonly Orphan[];
  /** What is wrong with instruction files. */
  instructions: readonly { path: string; message: string }[];
}

export async function examine(directories: readonly Directory[], surroundings: Surroundings): Promise<Check[]> {
  const own = directories.filter((directory) => !directory.readOnly);
  const perDirectory = await Promise.all(own.map(examineDirectory));
  return [...examineProject(surroundings), examineLocks(), ...perDirectory.flat()];
}

function examineProject({ warnings, older, orphans, instructions }: Surroundings): Check[] {
  const checks = warnings.map((warning) => check("settings", false, warning, "follow the advice in the message"));
  if (warnings.length === 0) checks.push(check("settings", true, "nothing was refused", null));
  for (const { path, message } of instructions) checks.push(check("instructions", false, message, `edit ${path}`));
  if (instructions.length === 0) checks.push(check("instructions", true, "nothing to mend in CLAUDE.md files", null));
  for (const { dir, layout } of older) {
    checks.push(check("older-layout", false, `memories in ${dir} (${layout}) are only read`, `memdir adopt ${dir}`));
  }
  for (const { dir, memories, recordedRoot, reason, sure } of orphans) {
    const whose = recordedRoot ? `of ${recordedRoot}, which is gone` : "of an unknown project";
    const why = {
      "root-commit": "the same first commit",
      remote: "the same remote",
      name: "only the same folder name",
    }[reason];
    checks.push(
      check(
        "orphan",
        false,
        `${memories} memories ${whose}, in ${dir} (${why}${sure ? "" : ", not certain"})`,
        `memdir adopt ${dir}`,
      ),
    );
  }
  if (orphans.length === 0) checks.push(check("orphan", true, "no memories of a moved project were found", null));
  return checks;
}

function examineLocks(): Check {
  return loadNative()
    ? check("locks", true, "kernel locks are available", null)
    : check(
        "locks",
        false,
        "the native module did not load: slower pid files are used",
        "reinstall memdir on this platform",
      );
}

async function examineDirectory(directory: Directory): Promise<Check[]> {
  const at = `${directory.scope}: `;
  if (!existsSync(directory.path))
    return [check("directory", true, `${at}${directory.path} is made with the first save`, null)];
  const checks = [examineAccess(directory, at)];
  const { rows, skipped } = await listMemories(directory);
  const broken = rows.filter((row) => row.problems.length > 0);
  checks.push(
    check(
      "memories",
      broken.length === 0,
      `${at}${rows.length} memories${broken.length ? `, ${broken.length} with problems: ${names(broken.map((row) => row.file))}` : ""}`,
      "memdir lint",
    ),
  );
  if (skipped.length > 0)
    checks.push(
      check("skipped", false, `${at}${names(skipped.map((s) => `${s.path} (${s.reason})`))}`, "move it elsewhere"),
    );
  const view = loadIndex(directory, { generate: false });
  checks.push(
    check(
      "index",
      view.warning === null,
      `${at}${view.lines} lines, ${view.chars} characters`,
      "memdir index --rebuild",
    ),
  );
  const dangling = (await lintDirectory(directory)).filter(
    (problem) => problem.rule === "index-dangling" || problem.rule === "secret",
  );
  for (const { rule, file, line, message } of dangling) {
    checks.push(
      check(
        rule,
        false,
        `${at}${file}:${line}: ${message}`,
        rule === "secret" ? `memdir edit ${file}` : "memdir index --rebuild",
      ),
    );
  }
  checks.push(
    check("recovery", !needsRecovery(directory), `${at}no interrupted change is left`, "run any memdir command again"),
  );
  if (directory.inRepository && (await isIgnored(directory.path))) {
    checks.push(
      check(
        "ignored",
        false,
        `${at}${directory.path} is ignored by git: nobody else will see these memories`,
        "take it out of .gitignore",
      ),
    );
  }
  return checks;
}

function examineAccess(directory: Directory, at: string): Check {
  try {
    accessSync(directory.path, constants.R_OK | constants.W_OK | constants.X_OK);
    return check("directory", true, `${at}${directory.path}`, null);
  } catch {
    return check(
      "directory",
      false,
      `${at}${directory.path} cannot be written`,
      "check its owner and mode, or choose another with --memory-dir",
    );
  }
}

async function isIgnored(path: string): Promise<boolean> {
  const { execFile } = await import("node:child_process");
  return new Promise((done) => {
    execFile(
      "git",
      ["-C", path, "check-ignore", "-q", "--no-index", "x.md"],
      { timeout: 2000, windowsHide: true },
      (error) => done(error === null),
    );
  });
}

function check(name: string, ok: boolean, detail: string, fix: string | null): Check {
  return { name, ok, detail, fix: ok ? null : fix };
}

function names(all: readonly string[]): string {
  return all.length > 5 ? `${all.slice(0, 5).join(", ")} and ${all.length - 5} more` : all.join(", ");
}
