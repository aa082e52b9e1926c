/** The health of a directory and of what surrounds it, each check with its remedy. Changes nothing by itself. */

import { accessSync, constants, existsSync, lstatSync, readlinkSync } from "node:fs";
import { processEnv } from "../config.ts";
import { loadNative } from "../disk/native.ts";
import { runGit } from "../project/git.ts";
import type { OlderDirectory } from "../project/older.ts";
import { findCollisions, type Orphan } from "../project/orphans.ts";
import {
  type Directory,
  hasFrontmatter,
  indexPath,
  listMemories,
  loadIndex,
  openListing,
  peekIndex,
  type Row,
  readOverflow,
} from "../store/store.ts";
import { type Check, check, names } from "./check.ts";
import { examineState } from "./doctor-state.ts";
import { rebuildIndex } from "./index-rebuild.ts";
import { lintDirectory } from "./lint.ts";

export type { Check } from "./check.ts";

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
  const link = examineLink(directory, at);
  if (!existsSync(directory.path))
    return link.length > 0
      ? link
      : [check("directory", true, `${at}${directory.path} is made with the first save`, null)];
  const { rows, skipped } = await listMemories(directory);
  const checks = [examineAccess(directory, at), ...link, ...examineRows(rows, at)];
  if (skipped.length > 0)
    checks.push(
      check("skipped", false, `${at}${names(skipped.map((s) => `${s.path} (${s.reason})`))}`, "move it elsewhere"),
    );
  checks.push(...(await examineIndex(directory, rows, at)), ...examineState(directory, at));
  const collisions = findCollisions(directory.path);
  if (collisions.length > 0)
    checks.push(
      check(
        "collision",
        false,
        `${at}${collisions.join(" and ")} have the same folder name, and so the same memories`,
        "memdir adopt --separate gives this project its own; --share if that is fine",
      ),
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

/** A directory may be a link, by the user's choice; one that leads nowhere is nobody's choice. */
function examineLink({ path }: Directory, at: string): Check[] {
  if (!lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) return [];
  const isThere = existsSync(path);
  const detail = `${at}${path} is a link to ${readlinkSync(path)}${isThere ? "" : ", which is not there"}`;
  return [check("link", isThere, detail, "make the folder that it leads to, or remove the link")];
}

function examineRows(rows: readonly Row[], at: string): Check[] {
  const unreadable = rows.filter((row) => row.unreadable);
  const broken = rows.filter((row) => row.problems.length > 0 && !row.unreadable);
  const found = broken.length ? `, ${broken.length} with problems: ${names(broken.map((row) => row.file))}` : "";
  const checks = [check("memories", broken.length === 0, `${at}${rows.length} memories${found}`, "memdir lint")];
  if (unreadable.length > 0) {
    const detail = names(unreadable.map((row) => `${row.file} (${row.problems[0]})`));
    checks.push(check("unreadable", false, `${at}${detail}`, "give yourself the right to read it, or remove the link"));
  }
  return checks;
}

/** Everything about the index is fixed by rebuilding it, which keeps what was written by hand and can be undone. */
async function examineIndex(directory: Directory, rows: readonly Row[], at: string): Promise<Check[]> {
  const mend = async () => {
    await rebuildIndex(directory);
    return `${at}the index was rebuilt from the memories`;
  };
  const view = loadIndex(directory, { generate: false });
  const size = `${at}${view.lines} lines, ${view.chars} characters`;
  const checks = [check("index", view.warning === null, size, "memdir index --rebuild", mend)];
  const missing = findUnlinked(directory, rows);
  if (missing.length > 0)
    checks.push(
      check("index-missing", false, `${at}no line in the index: ${names(missing)}`, "memdir index --rebuild", mend),
    );
  for (const { rule, file, line, message } of await lintDirectory(directory)) {
    const detail = `${at}${file}:${line}: ${message}`;
    if (rule === "secret") checks.push(check(rule, false, detail, `memdir edit ${file}`));
    if (rule === "index-dangling") checks.push(check(rule, false, detail, "memdir index --rebuild", mend));
  }
  return checks;
}

/** Others write the file first and its line a moment later. */
const GRACE_MS = 60_000;

/** Without an index there is nothing to be missing from: the client makes one by itself. */
function findUnlinked(directory: Directory, rows: readonly Row[]): string[] {
  const index = peekIndex(indexPath(directory));
  if (index.trim() === "") return [];
  const isListed = openListing(index, readOverflow(directory));
  const nowMs = directory.now().getTime();
  return rows
    .filter((row) => !row.unreadable && hasFrontmatter(row) && !isListed(row))
    .filter((row) => nowMs - Date.parse(row.modified) > GRACE_MS)
    .map(({ file }) => file);
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
  const args = ["check-ignore", "-q", "--no-index", "x.md"];
  return (await runGit({ root: path, env: processEnv() }, args, { timeoutMs: 2000 })).code === 0;
}
