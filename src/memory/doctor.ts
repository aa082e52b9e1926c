/** The health of a directory and of what surrounds it, each check with its remedy. Changes nothing by itself. */

import { accessSync, chmodSync, constants, existsSync, lstatSync, readlinkSync } from "node:fs";
import { dirname } from "node:path";
import { type Env, processEnv } from "../config.ts";
import { isAlive, loadNative, lstatOrNull } from "../disk/fence.ts";
import { attempt, diskError, messageOf } from "../errors.ts";
import { runGit } from "../project/git.ts";
import { findCollisions, type Orphan } from "../project/owner.ts";
import type { OlderDirectory } from "../project/scopes.ts";
import {
  checkState,
  hasFrontmatter,
  INDEX_FILE,
  type IndexView,
  indexPath,
  isUtf8Text,
  type Kept,
  loadIndex,
  needsRecovery,
  openListing,
  peekIndex,
  type Row,
  readOverflow,
  repairDirectory,
  type State,
  type Store,
  statePath,
} from "../store/store.ts";
import { count } from "../text/sanitise.ts";
import { rebuildIndex } from "./edit.ts";
import { lintDirectory } from "./lint.ts";

/** What only the project's side knows. */
export interface Surroundings {
  warnings: readonly string[];
  older: readonly OlderDirectory[];
  orphans: readonly Orphan[];
  /** `memory/` of the repository, which is not in use. */
  top: string | null;
  /** What is wrong with instruction files. */
  instructions: readonly { path: string; message: string }[];
}

export async function examine(directories: readonly Store[], surroundings: Surroundings): Promise<Check[]> {
  const own = directories.filter((directory) => !directory.readOnly);
  const perDirectory = await Promise.all(own.map(examineDirectory));
  return [...examineProject(surroundings), examineLocks(), ...perDirectory.flat()];
}

function examineProject({ warnings, older, orphans, top, instructions }: Surroundings): Check[] {
  // Each says itself what to do.
  const checks = warnings.map((warning) => check("settings", false, warning, null));
  if (warnings.length === 0) checks.push(check("settings", true, "nothing was refused", null));
  for (const { path, message } of instructions) checks.push(check("instructions", false, message, `edit ${path}`));
  if (instructions.length === 0) checks.push(check("instructions", true, "no problems in CLAUDE.md files", null));
  for (const { dir, layout } of older) {
    checks.push(check("older-layout", false, `memories in ${dir} (${layout}) are only read`, `memdir adopt ${dir}`));
  }
  if (top !== null) {
    const fix = `memdir list --memory-dir ${top} uses them, memdir adopt ${top} copies them into your own store`;
    checks.push(check("memory-folder", false, `the repository keeps memories in ${top}, which are not in use`, fix));
  }
  for (const { dir, memories, recordedRoot, reason, sure } of orphans) {
    const whose = recordedRoot ? `of ${recordedRoot}, which is gone` : "of an unknown project";
    const how = `${count(memories, "memory", "memories")} ${whose}, in ${dir} (${AGREEMENTS[reason]}${sure ? "" : ", not certain"})`;
    checks.push(check("orphan", false, how, `memdir adopt ${dir}`));
  }
  if (orphans.length === 0) checks.push(check("orphan", true, "no memories of a moved project were found", null));
  return checks;
}

const AGREEMENTS = {
  "root-commit": "the same first commit",
  remote: "the same remote",
  name: "only the same folder name",
};

function examineLocks(): Check {
  if (loadNative()) return check("locks", true, "kernel locks are available", null);
  const detail = "the native module did not load: slower pid files are used";
  return check("locks", false, detail, "reinstall memdir on this platform");
}

export async function examineModel(env: Env): Promise<Check> {
  const { chooseModel } = await import("../model/choose.ts");
  const choice = chooseModel(env);
  if (!choice) return check("model", true, "none is configured (MEMDIR_MODEL): recall is offline", null);
  if ("problem" in choice) return check("model", false, "not usable: recall is offline", choice.problem);
  return check("model", true, `${choice.provider}/${choice.name} chooses what is recalled`, null);
}

async function examineDirectory(directory: Store): Promise<Check[]> {
  const at = `${directory.scope}: `;
  const there = findExisting(directory.path);
  const link = examineLink(there, at);
  const access = examineAccess(there, at);
  if (!existsSync(directory.path)) {
    const wrong = [...link, access].filter(({ ok }) => !ok);
    return wrong.length > 0
      ? wrong.slice(0, 1)
      : [check("directory", true, `${at}${directory.path} is made with the first save`, null)];
  }
  const { rows, skipped } = await directory.rows();
  // What cannot be entered cannot be looked at further.
  if (skipped.some(({ path }) => path === ".")) return [access, ...link];
  const checks = [access, ...link, ...examineRows(rows, at)];
  const [plain, odd] = [skipped.filter(({ isPlain }) => isPlain), skipped.filter(({ isPlain }) => !isPlain)];
  if (plain.length > 0) {
    const detail = `${names(plain.map(({ path }) => path))}: no frontmatter and not in ${INDEX_FILE}, so not a memory`;
    checks.push(check("other-files", true, `${at}${detail}`, null));
  }
  if (odd.length > 0) {
    const detail = names(odd.map(({ path, reason }) => `${path} (${reason})`));
    checks.push(check("skipped", false, `${at}${detail}`, "move it elsewhere"));
  }
  checks.push(...(await examineIndex(directory, rows, at)), ...examineState(directory, at));
  const collisions = findCollisions(directory.path);
  if (collisions.length > 0) {
    const detail = `${at}${collisions.join(" and ")} have the same folder name, and so the same memories`;
    const fix = "memdir adopt --separate gives this project its own; --share if that is fine";
    checks.push(check("collision", false, detail, fix));
  }
  // Of the team's directory the checks of the repository say it, with the rule.
  if (directory.inRepository && directory.scope !== "team" && (await isIgnored(directory.path))) {
    const detail = `${at}${directory.path} is ignored by git: other people will not see these memories`;
    checks.push(check("ignored", false, detail, "take it out of .gitignore"));
  }
  return checks;
}

/** As much of a path as there is, also a link that leads nowhere: what is missing is made there. */
function findExisting(path: string): string {
  return lstatOrNull(path) || dirname(path) === path ? path : findExisting(dirname(path));
}

/** A directory may be a link, by the user's choice; one that leads nowhere is nobody's choice. */
function examineLink(path: string, at: string): Check[] {
  if (!lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) return [];
  const isThere = existsSync(path);
  const detail = `${at}${path} is a link to ${readlinkSync(path)}${isThere ? "" : ", which is not there"}`;
  return [check("link", isThere, detail, "make the folder that it leads to, or remove the link")];
}

function examineRows(rows: readonly Row[], at: string): Check[] {
  const unreadable = rows.filter((row) => row.unreadable);
  const broken = rows.filter((row) => row.problems.length > 0 && !row.unreadable);
  const found = broken.length ? `, ${broken.length} with problems: ${names(broken.map((row) => row.file))}` : "";
  const checks = [
    check("memories", broken.length === 0, `${at}${count(rows.length, "memory", "memories")}${found}`, "memdir lint"),
  ];
  if (unreadable.length > 0) {
    const detail = names(unreadable.map((row) => `${row.file} (${row.problems[0]})`));
    checks.push(check("unreadable", false, `${at}${detail}`, "give yourself the right to read it, or remove the link"));
  }
  return checks;
}

/** Everything about the index is fixed by rebuilding it, which keeps what was written by hand and can be undone. */
async function examineIndex(directory: Store, rows: readonly Row[], at: string): Promise<Check[]> {
  const mend = async () => {
    await rebuildIndex(directory);
    return `${at}the index was rebuilt from the memories`;
  };
  const rebuild = `memdir index --rebuild${directory.scope === "project" ? "" : ` --scope ${directory.scope}`}`;
  let view: IndexView;
  try {
    view = loadIndex(directory, { generate: false });
  } catch (error) {
    return [check("index", false, `${at}${messageOf(error)}`, "give yourself the right to read it")];
  }
  if (!isUtf8Text(indexPath(directory)))
    return [check("index", false, `${at}${INDEX_FILE} is not UTF-8 text: changes are refused`, "save it as UTF-8")];
  const size = `${count(view.lines, "line")}, ${view.chars} characters`;
  const detail = `${at}${view.truncated ? size : (view.warning?.message ?? size)}`;
  const missing = findUnlinked(directory, rows);
  const isMissing = lstatSync(indexPath(directory), { throwIfNoEntry: false }) === undefined && missing.length > 0;
  const linted = await lintDirectory(directory);
  const named = (wanted: string, fix: (file: string) => string, mend?: Mend) =>
    linted
      .filter(({ rule }) => rule === wanted)
      .map(({ file, line, message }) => check(wanted, false, `${at}${file}:${line}: ${message}`, fix(file), mend));
  return [
    // Before the index, which repeats the names and descriptions of memories.
    ...named("secret", (file) => `memdir edit ${file}`),
    isMissing
      ? check("index", false, `${at}${INDEX_FILE} is missing`, rebuild, mend)
      : check("index", view.warning === null, detail, rebuild, mend),
    ...(missing.length > 0 && !isMissing
      ? [check("index-missing", false, `${at}no line in the index: ${names(missing)}`, rebuild, mend)]
      : []),
    ...named("index-dangling", () => rebuild, mend),
  ];
}

/** As health counts them: of whatever age. */
function findUnlinked(directory: Store, rows: readonly Row[]): string[] {
  const isListed = openListing(peekIndex(indexPath(directory)), readOverflow(directory));
  return rows.filter((row) => !row.unreadable && hasFrontmatter(row) && !isListed(row)).map(({ file }) => file);
}

function examineAccess(path: string, at: string): Check {
  const reading = constants.R_OK | constants.X_OK;
  if (isOpenTo(path, reading | constants.W_OK)) return check("directory", true, `${at}${path}`, null);
  const what = isOpenTo(path, reading) ? "written" : "read";
  const fix = "check its owner and mode, or choose another with --memory-dir";
  return check("directory", false, `${at}${path} cannot be ${what}`, fix);
}

function isOpenTo(path: string, mode: number): boolean {
  return attempt(() => accessSync(path, mode) === undefined, false);
}

/** Files that were added by force are seen by others, whatever the rules say. */
async function isIgnored(path: string): Promise<boolean> {
  const ask = (...args: string[]) => runGit({ root: path, env: processEnv() }, args, { timeoutMs: 2000 });
  if ((await ask("check-ignore", "-q", "--no-index", "x.md")).code !== 0) return false;
  const memories = async (...args: string[]) => {
    const files = (await ask("ls-files", "-z", ...args)).output.toString("utf8").split("\0");
    return files.filter((file) => file.endsWith(".md") && !file.startsWith(".memdir/"));
  };
  const hidden = await memories("--others", "--ignored", "--exclude-standard");
  return hidden.length > 0 || (await memories()).length === 0;
}

// --- The state folder of a directory: locks of dead processes, leftovers, caches that cannot be read, what others may read.

/** Files and folders of the state; the state folder itself is `.`. */
type Own = Pick<Kept, "name" | "kind" | "stat">;

function shownNames(own: readonly Own[]): string {
  return names(own.map(({ name }) => (name === "." ? ".memdir" : `.memdir/${name}`)));
}

/** Nothing is fixed, nor looked for, behind a link in the place of the folder. */
function examineState(directory: Store, at: string): Check[] {
  const state = directory.state();
  let entries: Kept[];
  try {
    checkState(directory);
    entries = state.list();
  } catch (error) {
    const fix = isOpenTo(statePath(directory), constants.X_OK) ? `remove ${statePath(directory)}` : CLOSED;
    return [check("state", false, `${at}${diskError(error, "read", statePath(directory)).message}`, fix)];
  }
  const folder = lstatSync(statePath(directory), { throwIfNoEntry: false });
  const own = [...(folder ? [{ name: ".", kind: null, stat: folder }] : []), ...entries].filter(
    ({ stat }) => stat.isFile() || stat.isDirectory(),
  );
  return [
    ...examineRights(directory, at, own),
    examineRecovery(directory, at),
    examineStaleLocks(state, at, entries),
    examineLeftovers(state, directory.now(), at, entries),
    examineCaches(state, at, entries),
    ...(process.platform === "win32" ? [] : [examineModes(directory, at, own)]),
  ];
}

/** What a change writes in. A cache that cannot be written only costs time. */
function examineRights(directory: Store, at: string, own: readonly Own[]): Check[] {
  const closed = own.filter(({ name, kind, stat }) => {
    const mode = constants.R_OK | constants.W_OK | (stat.isDirectory() ? constants.X_OK : 0);
    return kind !== "cache" && !isOpenTo(statePath(directory, name), mode);
  });
  if (closed.length === 0) return [];
  const detail = `${at}${shownNames(closed)} cannot be written: changes are refused`;
  return [check("state", false, detail, CLOSED)];
}

const CLOSED = "check the owner and mode";

function examineRecovery(directory: Store, at: string): Check {
  const mend = async () => {
    await repairDirectory(directory);
    return "the interrupted change was finished or reverted";
  };
  // What cannot be read has been named by then.
  const isLeft = attempt(() => needsRecovery(directory), false);
  const detail = isLeft ? "an interrupted change or its temporary files are left" : "no interrupted change is left";
  return check("recovery", !isLeft, `${at}${detail}`, MEND_COMMAND, mend);
}

/** A lock is a file, and one beside it with the holder's number. It is taken as any writer would take it, and released. */
function examineStaleLocks(state: State, at: string, entries: readonly Kept[]): Check {
  const stale = entries
    .filter(({ name, kind, stat }) => kind === "lock" && name.endsWith(".pid") && stat.isFile() && !isHeld(state, name))
    .map(({ name }) => name.replace(/\.pid$/, ""));
  const mend = () => {
    const freed = stale.filter((name) => {
      const release = state.lock(name).try();
      release?.();
      return release !== null;
    });
    return `freed ${names(freed)}`;
  };
  const detail = stale.length === 0 ? "no lock of a dead process" : `locks of dead processes: ${names(stale)}`;
  return check("stale-locks", stale.length === 0, `${at}${detail}`, MEND_COMMAND, mend);
}

function isHeld(state: State, name: string): boolean {
  const pid = Number(state.text(name).read()?.split(" ")[0]);
  // One that is just being written has no number yet.
  return !Number.isInteger(pid) || pid <= 0 || isAlive(pid);
}

/** Of a writer that is alive they are younger. */
const LEFT_MS = 60_000;

/** Those in `tmp` are found as part of an interrupted change. */
function examineLeftovers(state: State, now: Date, at: string, entries: readonly Kept[]): Check {
  const left = entries
    .filter(({ kind, stat }) => kind === "temporary" && stat.isFile() && now.getTime() - stat.mtimeMs > LEFT_MS)
    .map(({ name }) => name);
  const mend = () => {
    for (const name of left) state.text(name).remove();
    return `removed ${names(left)}`;
  };
  const detail = left.length === 0 ? "no leftovers" : `leftovers: ${names(left)}`;
  return check("leftovers", left.length === 0, `${at}${detail}`, MEND_COMMAND, mend);
}

/** What is whole but of another version is passed over and made anew when it is needed. */
function examineCaches(state: State, at: string, entries: readonly Kept[]): Check {
  const broken = entries.filter((entry) => entry.kind === "cache" && isBroken(state, entry)).map(({ name }) => name);
  const mend = () => {
    // A folder in a cache's place is not removed: there may be something in it.
    for (const name of broken) state.text(name).remove();
    return `removed ${names(broken)}: rebuilt when needed`;
  };
  const detail = broken.length === 0 ? "caches can be read" : `caches that cannot be read: ${names(broken)}`;
  return check("caches", broken.length === 0, `${at}${detail}`, MEND_COMMAND, mend);
}

function isBroken(state: State, { name, stat, minBytes }: Kept): boolean {
  if (minBytes !== null) return !stat.isFile() || stat.size < minBytes;
  const key = name.replace(/\.json$/, "");
  const maxBytes = Number.POSITIVE_INFINITY;
  return state.record(key, (value) => (typeof value === "object" ? value : null), { maxBytes }).read() === null;
}

const OTHERS = 0o077;

/** What is remembered of a user's work is theirs alone. Files further in are behind the folder's own mode. */
function examineModes(directory: Store, at: string, own: readonly Own[]): Check {
  const open = own.filter(({ stat }) => (stat.mode & OTHERS) !== 0);
  const shown = shownNames(open);
  const mend = () => {
    for (const { name } of open) close(statePath(directory, name));
    return `closed ${shown} to others`;
  };
  const detail = open.length === 0 ? "state is the user's alone" : `others can read or write ${shown}`;
  return check("permissions", open.length === 0, `${at}${detail}`, MEND_COMMAND, mend);
}

/** Looked at again: what was fixed before may have removed it. */
function close(file: string): void {
  const stat = lstatSync(file, { throwIfNoEntry: false });
  if (stat?.isFile() || stat?.isDirectory()) chmodSync(file, stat.isDirectory() ? 0o700 : 0o600);
}

// --- One thing that `memdir doctor` looks at, with its remedy.

/** One check of the installation, and what to do if it failed. */
export interface Check {
  /** What was checked, in a word or two. */
  name: string;
  /** True when nothing needs to be done. */
  ok: boolean;
  /** What was found. */
  detail: string;
  /** What to do about it; null when all is well. */
  fix: string | null;
  /**
   * Fixes it, if that cannot lose anything, and says what was done. Several checks may share one. May throw; anything
   * left over shows up when everything is checked again.
   */
  mend?: Mend;
}

export type Mend = () => string | Promise<string>;

export function check(name: string, ok: boolean, detail: string, fix: string | null, mend?: Mend): Check {
  return { name, ok, detail, fix: ok ? null : fix, ...(ok || !mend ? {} : { mend }) };
}

const MEND_COMMAND = "memdir doctor --fix";

/** Some of them, and how many more. */
export function names(all: readonly string[]): string {
  return all.length > 5 ? `${all.slice(0, 5).join(", ")} and ${all.length - 5} more` : all.join(", ");
}
