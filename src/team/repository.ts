/** Team memory in the repository: what `memdir init --team` sets up in a checkout, how that is reverted, and what `memdir doctor` says about it. */

import { existsSync, lstatSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { moveInto, readRegular, resolveInside, SHARED_MODE, writeTemporary } from "../disk/fence.ts";
import { attempt, MemdirError, onDisk } from "../errors.ts";
import { type Check, check, names } from "../memory/doctor.ts";
import { editIndex } from "../memory/edit.ts";
import { type Git, readGit, runGit } from "../project/git.ts";
import { findBytes, INDEX_FILE, openState, type Store, statePath, walk } from "../store/store.ts";
import { sha256 } from "../text/hash.ts";
import { splitLines } from "../text/lines.ts";
import { isConflictPath } from "./merge.ts";

/** `root` is the top of the checkout. */
export interface TeamCheckout extends Git {
  /** The team's directory in it: `<root>/.claude/memory`. */
  team: Store;
  /** What starts memdir in this clone, for git's settings: program and first arguments. */
  command: readonly string[];
}

export type TeamSetup = Awaited<ReturnType<typeof prepareTeam>>;

/** Only says what it would do with `dryRun`. Running it again changes nothing; stopped half-way, running it again ends it. */
export async function prepareTeam(checkout: TeamCheckout, { dryRun = false } = {}) {
  const { team, root } = checkout;
  await refuseElsewhere(checkout);
  const { changes, make } = openChanges(dryRun);
  const index = join(team.path, INDEX_FILE);
  if (!existsSync(index))
    await make("folder", index, "the index of what the team remembers", () => editIndex(team, null, EMPTY_INDEX));
  const file = attributesFile(root);
  const before = readAttributes(file);
  const after = addAttributes(before);
  if (after !== before)
    await make("attributes", file, "memories are merged by section, the index by line", async () => {
      // On disk before anything is changed: what an editor or a missing line break made of the file comes back exactly.
      await team.change(() => receiptOf(team).write({ before, after: sha256(after) }));
      writeAttributes(checkout, before, after);
    });
  const settings = await readSettings(checkout);
  for (const [name, value] of Object.entries(wantedSettings(checkout.command)))
    if (settings.get(name) !== value)
      await make("driver", name, `in this clone: ${value}`, () => setSetting(checkout, name, value));
  const warning = await findIgnoreWarning(checkout);
  return { dir: team.path, changes, warnings: warning ? [warning.message] : [] };
}

/** Our lines and settings; memories and their index stay. */
export async function removeTeam(checkout: TeamCheckout, { dryRun = false } = {}) {
  const { changes, make } = openChanges(dryRun);
  const file = attributesFile(checkout.root);
  const before = readAttributes(file);
  const after = before === null ? null : findWayBack(checkout, before);
  const why = after === null ? "removed: it was memdir's" : "as it was";
  if (after !== before) await make("attributes", file, why, () => writeAttributes(checkout, before, after));
  for (const name of (await readSettings(checkout)).keys())
    await make("driver", name, "removed from git's settings of this clone", () =>
      runGit(checkout, ["config", "--local", "--unset-all", name]),
    );
  return { changes };
}

/** Notes each change (`what`: the file, or the name of git's setting), and makes it unless it is only asked for. */
function openChanges(dryRun: boolean) {
  type Kind = "folder" | "attributes" | "driver";
  const changes: { kind: Kind; what: string; why: string }[] = [];
  const make = async (kind: Kind, what: string, why: string, change: () => unknown) => {
    changes.push({ kind, what, why });
    if (!dryRun) await change();
  };
  return { changes, make };
}

/** So that people who find it in the repository know what it is. */
const EMPTY_INDEX = "# Team memory\n";

/** Two people who edit different sections do not meet; `binary` keeps our drivers out of ancestors that git makes up for itself. */
export function wantedSettings(command: readonly string[]): Record<string, string> {
  const start = command.map(quote).join(" ");
  const settingsOf = (driver: string, kind: string, name: string) => ({
    [`merge.${driver}.name`]: `memdir: ${name}`,
    [`merge.${driver}.driver`]: `${start} merge-driver ${kind} %O %A %B %P`,
    [`merge.${driver}.recursive`]: "binary",
  });
  return {
    ...settingsOf(MEMORY_DRIVER, "memory", "a memory, by fields and sections"),
    ...settingsOf(INDEX_DRIVER, "index", "the index of memories, by lines"),
  };
}

/** For the shell that git starts drivers with, also on Windows; `%` is git's own sign there. */
function quote(word: string): string {
  const portable = process.platform === "win32" ? word.replaceAll("\\", "/") : word;
  const escaped = portable.replaceAll("%", "%%");
  return /^[\w./:@%+-]+$/.test(escaped) ? escaped : `'${escaped.replaceAll("'", "'\\''")}'`;
}

/** Our settings of this clone, whatever they are set to. */
async function readSettings({ root, env }: Git): Promise<Map<string, string>> {
  const pattern = `^merge\\.(${MEMORY_DRIVER}|${INDEX_DRIVER})\\.`;
  const answer = await readGit({ root, env }, ["config", "--local", "-z", "--get-regexp", pattern]);
  const rows = (answer?.toString("utf8") ?? "").split("\0").filter((row) => row !== "");
  return new Map(rows.map((row) => /^([^\n]*)\n?(.*)$/s.exec(row)?.slice(1, 3) as [string, string]));
}

async function setSetting({ root, env }: TeamCheckout, name: string, value: string): Promise<void> {
  const { code } = await runGit({ root, env }, ["config", "--local", "--replace-all", name, value]);
  const message = `git did not accept the setting ${name} in ${root}: \`git -C ${root} status\` says why`;
  if (code !== 0) throw new MemdirError("disk", message);
}

/** Git answers, and there are files: no bare repository. */
async function isCheckout({ root, env }: Git): Promise<boolean> {
  return (await readGit({ root, env }, ["rev-parse", "--is-inside-work-tree"]))?.toString("utf8").trim() === "true";
}

async function refuseElsewhere(checkout: TeamCheckout): Promise<void> {
  const { root } = checkout;
  const message = `${root} is not a git checkout, or git refuses it: run \`git init\` there first, or share through a server (\`memdir join\`)`;
  if (!(await isCheckout(checkout))) throw new MemdirError("usage", message);
  // Throws where a link leads out of the repository.
  resolveInside(root, `.claude/memory/${INDEX_FILE}`);
}

function attributesFile(root: string): string {
  return join(root, ".gitattributes");
}

/** One byte is one character: whatever encoding it is in, the rest of it stays as it is. */
function readAttributes(file: string): string | null {
  const stat = lstatSync(file, { throwIfNoEntry: false });
  if (!stat) return null;
  if (!stat.isFile())
    throw new MemdirError("broken", `${file} is a link or not a regular file, so git does not read it: replace it`);
  return onDisk("read", file, () => readRegular(file)?.toString("latin1") ?? null);
}

function writeAttributes({ team, root }: TeamCheckout, before: string | null, after: string | null): void {
  const file = attributesFile(root);
  onDisk("write", file, () => {
    if (readAttributes(file) !== before)
      throw new MemdirError("conflict", `${file} was changed by another program just now: run the command again`);
    if (after === null) {
      unlinkSync(file);
      return;
    }
    const mode = before === null ? SHARED_MODE : lstatSync(file).mode & 0o777;
    const aside = statePath(team, "tmp");
    const folder = existsSync(aside) ? aside : root;
    moveInto(writeTemporary(folder, Buffer.from(after, "latin1"), mode), file);
  });
}

/** The file without our lines, null when there was none; and the hash of the file with nothing but our lines added. */
const Receipt = v.object({ before: v.nullable(v.string()), after: v.string() });

function findWayBack({ team }: TeamCheckout, text: string): string | null {
  const receipt = receiptOf(team).read();
  if (receipt?.after === sha256(text)) return receipt.before;
  const rest = removeAttributes(text);
  return rest === "" && text !== "" && (receipt === null || receipt.before === null) ? null : rest;
}

function receiptOf({ path }: Store) {
  return openState(path).record("attributes", (value) => v.parse(Receipt, value), { flush: true });
}

const MEMORY_DRIVER = "memdir";
const INDEX_DRIVER = "memdir-index";

/** The last line that matches a path decides: the index comes behind the rule that holds for all of the folder. */
const LINES = [
  `.claude/memory/**/*.md merge=${MEMORY_DRIVER}`,
  `.claude/memory/MEMORY.md merge=${INDEX_DRIVER}`,
  `.claude/memory/MEMORY.more.md merge=${INDEX_DRIVER}`,
];
const COMMENT = "# memdir: memories are merged by section (memdir init --team)";

/** The same text when all of it is there in the right order. `text` is null for no file. */
export function addAttributes(text: string | null): string {
  const before = text ?? "";
  if (hasAttributes(before)) return before;
  const eol = before.includes("\r\n") ? "\r\n" : "\n";
  // What is there in part, or in another order, is added again at the end.
  const rest = removeAttributes(before);
  const gap = rest === "" || rest.endsWith("\n") ? "" : eol;
  return `${rest}${gap}${[COMMENT, ...LINES].map((line) => line + eol).join("")}`;
}

export function removeAttributes(text: string): string {
  const own = new Set([COMMENT, ...LINES]);
  return splitLines(text)
    .filter((line) => !own.has(line.trim()))
    .join("");
}

export function hasAttributes(text: string): boolean {
  const lines = splitLines(text).map((line) => line.trim());
  const places = LINES.map((line) => lines.lastIndexOf(line));
  return places.every((place, at) => place >= 0 && (at === 0 || place > (places[0] as number)));
}

/** Inside the folder, and beside it. */
const FOLDER = ".claude/memory";
const INSIDE = `${FOLDER}/x.md`;
const INDEX = `${FOLDER}/MEMORY.md`;
const BESIDE = ".claude/x.json";

/** The exact rule, as `.gitignore:3: .claude/`, and how to lift it, or null. Never throws. */
export async function findIgnoreWarning({ root, env }: Git) {
  const { output } = await runGit({ root, env }, ["check-ignore", "-v", "--no-index", "--", INSIDE, INDEX, BESIDE]);
  const rules = parseRules(output.toString("utf8"));
  const found = rules.get(INSIDE) ?? rules.get(INDEX);
  if (!found) return null;
  const rule = `${found.source}:${found.line}: ${found.pattern}`;
  const message = `git ignores .claude/memory (${rule}), so no one else sees it; ${remedy(found, rules)}`;
  return { rule, message };
}

type Rule = Record<"source" | "line" | "pattern", string>;

/** Lines of `source:line:pattern<TAB>path`. A pattern that begins with `!` says that the path is not ignored. */
function parseRules(output: string): Map<string, Rule> {
  const rules = new Map<string, Rule>();
  for (const text of output.split("\n")) {
    const [, source, line, pattern, path] = /^(.*?):(\d+):(.*)\t([^\t]*)$/.exec(text) ?? [];
    if (source === undefined || line === undefined || pattern === undefined || path === undefined) continue;
    if (!pattern.startsWith("!")) rules.set(path, { source, line, pattern });
  }
  return rules;
}

/**
 * A file cannot be included while a folder above it is ignored: so that folder is included, all else in it is ignored, and
 * the memories come in.
 */
function remedy({ source, line }: Rule, rules: ReadonlyMap<string, Rule>): string {
  if (source.includes(".claude/")) return `take line ${line} out of ${source}`;
  const whole = rules.has(BESIDE) ? ["!/.claude/", "/.claude/*"] : [];
  const lines = [...whole, "!/.claude/memory/", "!/.claude/memory/**"].map((text) => `\`${text}\``);
  return `add these lines at the end of .gitignore: ${lines.join(", ")}`;
}

/** Empty where there is no repository, or one without team memory. Changes nothing; never throws for what it finds. */
export async function checkTeam(checkout: TeamCheckout): Promise<Check[]> {
  if (!existsSync(checkout.team.path) || !(await isCheckout(checkout))) return [];
  try {
    resolveInside(checkout.root, `.claude/memory/${INDEX_FILE}`);
  } catch (error) {
    return [check("team-merge", false, (error as Error).message, "replace the link with a directory")];
  }
  const { files } = walk(checkout.team.path, checkout.team.recursive);
  return [
    await checkDriver(checkout),
    ...(await checkIgnored(checkout, files)),
    ...checkMarkers(checkout, files),
    ...checkCopies(files),
  ];
}

const INIT = "memdir init --team";

async function checkDriver(checkout: TeamCheckout): Promise<Check> {
  const name = "team-merge";
  let text: string;
  try {
    text = readAttributes(attributesFile(checkout.root)) ?? "";
  } catch (error) {
    return check(name, false, (error as Error).message, "make .gitattributes a regular file");
  }
  if (!hasAttributes(text))
    return check(name, true, `git merges team memories line by line; \`${INIT}\` merges them by section`, null);
  const fix = async () => `set up ${(await prepareTeam(checkout)).changes.length} settings of git in this clone`;
  const settings = await readSettings(checkout);
  const wanted = Object.entries(wantedSettings(checkout.command)).filter(([key]) => key.endsWith(".driver"));
  const others = wanted.flatMap(([key, value]) => (settings.get(key) === value ? [] : [key]));
  const missing = others.filter((key) => !settings.get(key)).join(", ");
  const detail = missing
    ? `this clone lacks the merge driver that .gitattributes asks for (${missing})`
    : "the merge driver of this clone starts another installation of memdir";
  if (others.length > 0) return check(name, false, detail, INIT, fix);
  const other = await findOther(checkout);
  if (other)
    return check(name, false, other, "move memdir's lines to the end of .gitattributes, or remove the other rule");
  return check(name, true, "team memories are merged by section", null);
}

/** A later rule, or one of a folder below, wins over ours. */
async function findOther({ root, env }: TeamCheckout): Promise<string | null> {
  const file = ".claude/memory/x.md";
  const answer = await readGit({ root, env }, ["check-attr", "-z", "merge", "--", file]);
  const value = answer?.toString("utf8").split("\0")[2];
  return value === undefined || value === "memdir"
    ? null
    : `another rule of .gitattributes decides how memories are merged (merge=${value})`;
}

/** Files that were added by force are seen by others, whatever the rules say. */
async function checkIgnored(checkout: TeamCheckout, files: readonly string[]): Promise<Check[]> {
  const warning = await findIgnoreWarning(checkout);
  if (!warning) return [];
  const tracked = await readGit(checkout, ["ls-files", "-z", "--", FOLDER]);
  const seen = new Set((tracked?.toString("utf8") ?? "").split("\0").filter((path) => path !== ""));
  const hidden = files.filter((file) => !seen.has(`${FOLDER}/${file}`));
  if (seen.size > 0 && hidden.length === 0) return [];
  const fix = `lift the rule ${warning.rule}`;
  if (seen.size === 0) return [check("team-ignored", false, warning.message, fix)];
  const detail = `git ignores ${names(hidden)} of ${FOLDER} (${warning.rule}), so no one else sees ${hidden.length === 1 ? "it" : "them"}`;
  return [check("team-ignored", false, detail, `${fix}, or add with \`git add -f ${FOLDER}\``)];
}

/** A memory is small; what is larger is not searched. */
const MAX_BYTES = 1 << 20;
const MARKERS = /^<{7} [^\n]*\n[\s\S]*?^={7}\r?\n[\s\S]*?^>{7} /m;

function checkMarkers({ team }: TeamCheckout, files: readonly string[]): Check[] {
  const marked = files.filter((file) => {
    const data = attempt(() => findBytes(team, file), null);
    return data && data.length <= MAX_BYTES && data.includes("<<<<<<< ") && MARKERS.test(data.toString("utf8"));
  });
  if (marked.length === 0) return [];
  const detail = `conflict markers of git are in ${names(marked)}: models read them as text`;
  return [check("team-markers", false, detail, "memdir edit NAME, keep what holds, remove the markers")];
}

function checkCopies(files: readonly string[]): Check[] {
  const copies = files.filter(isConflictPath);
  if (copies.length === 0) return [];
  const detail = `${names(copies)}: two people changed the same part, and the other text is kept here`;
  return [check("team-conflict", false, detail, "bring both together with memdir edit, then memdir forget the copy")];
}
