/** `context`, `prompt` and `index`: what a host or a model gets to see. */

import { statSync } from "node:fs";
import { resolve } from "node:path";
import { MemdirError } from "../errors.ts";
import type { InstructionOptions, Memdir } from "../memdir.ts";
import { SECTION_NAMES } from "../prompts/memory.ts";
import type { Store } from "../store/store.ts";
import { block, choice, count, dim, flag, type Line, list, notes, type Span, text, verb } from "../verb.ts";

const SOURCES = ["user", "project", "local"] as const;

export const context = verb({
  args: [],
  input: {
    touch: list("also show what is loaded when this file is read or written", "FILE"),
    "add-dir": list("another directory, like Claude Code's --add-dir", "DIR"),
    "approve-imports": flag("allow imports from outside the working directory in this project, from now on"),
    "all-agents": flag("include AGENTS.md, GEMINI.md, Cursor's and Copilot's files"),
    "setting-sources": text("which settings to use: user,project,local", "LIST"),
  },
  hasWarnings: true,
  examples: ["context", "context --touch src/index.ts --json"],
  writes: (input) => input["approve-imports"] === true,
  async run(memdir, input, { cwd, open }) {
    const approved = input["approve-imports"] ? [memdir.approveImports().message] : [];
    const settingSources = readSources(input["setting-sources"]);
    const opened = settingSources || approved.length > 0 ? await open({ settingSources }) : memdir;
    const paths = (given: readonly string[] = []) => given.map((path) => resolve(cwd, path));
    const missing = input["add-dir"]?.find(
      (dir) => !statSync(resolve(cwd, dir), { throwIfNoEntry: false })?.isDirectory(),
    );
    if (missing !== undefined) throw new MemdirError("usage", `--add-dir ${missing}: there is no such directory`);
    const options = { addDirs: paths(input["add-dir"]), allAgents: input["all-agents"] === true };
    const found = await showContext(opened, paths(input.touch), options);
    return { ...found, approved, home: memdir.config.home, disabled: memdir.config.disabled };
  },
  json: ({ approved: _, home: _home, disabled: _disabled, ...found }) => found,
  say({ approved, home, disabled, ...found }) {
    const short = (text: string) => text.replaceAll(`${home}/`, "~/");
    // A token is about four characters of English.
    const describe = ({ path, label, size }: { path: string; label: string; size: number }): Span[] => [
      `${short(path)} `,
      dim(`(${label}): ${count(size, "character")}, about ${count(Math.ceil(size / 4), "token")}`),
    ];
    const { dir, index, warning } = found.memory;
    const lines = index === null ? "no index" : count(index.split("\n").length, "line");
    return [
      ...notes(approved),
      ...found.warnings.map((warning): Line => ({ warning })),
      ...found.instructions.map(describe),
      ...found.nested.map((file): Line => ["after a touch: ", ...describe(file)]),
      ...found.skipped.map(({ path, reason }): Line => [dim(`not loaded: ${short(path)}: ${short(reason)}`)]),
      dir === null ? `memory is off: ${disabled}` : `${short(dir)}/MEMORY.md: ${lines}`,
      `${short(found.environment.transcripts ?? "")}: transcripts of sessions here`,
      ...(warning ? [`> ${warning.message}`] : []),
    ];
  },
});

/** As `Memdir.context`, but to look is not to write: a missing index is shown as it would be generated. */
async function showContext(memdir: Memdir, touched: readonly string[], options: InstructionOptions) {
  const { buildStartContext } = await import("../context/start.ts");
  const { directories, location, config, warnings } = memdir;
  const main = { ...(directories[0] as Store), readOnly: true };
  return buildStartContext(main, await memdir.instructions(options), location, config, warnings, touched);
}

function readSources(given: string | undefined): (typeof SOURCES)[number][] | undefined {
  if (given === undefined) return undefined;
  const names = given.split(",").flatMap((name) => name.trim() || []);
  const bad = names.find((name) => !SOURCES.some((source) => source === name));
  if (bad !== undefined)
    throw new MemdirError("usage", `--setting-sources: "${bad}" is not a source: use ${SOURCES.join(", ")}`);
  return SOURCES.filter((source) => names.includes(source));
}

export const prompt = verb({
  args: [],
  input: {
    section: choice(SECTION_NAMES, "only this section", "NAME"),
    files: flag("include the memories that the index names, within a budget"),
  },
  examples: ["prompt --section saving"],
  run: async (memdir, { section, files }) => ({
    text: await memdir.prompt({ makeDirectory: false, section, files }),
  }),
  say: ({ text }) => [block(text)],
});

export const index = verb({
  args: [],
  input: { rebuild: flag("add a line for every memory that lacks one, and remove dead lines") },
  examples: ["index", "index --rebuild"],
  writes: ({ rebuild }) => rebuild === true,
  async run(memdir, { rebuild }) {
    const view = rebuild ? await memdir.rebuildIndex() : { ...(await memdir.index()), notices: [], undo: null };
    return { ...view, limits: memdir.config.index };
  },
  say({ limits, notices, undo, ...view }, { call }) {
    const overflow = view.overflow.length === 0 ? "" : `, ${view.overflow.length} more on the overflow page`;
    const size = `${view.lines} of ${count(limits.maxLines, "line")}, ${view.chars} of ${limits.maxChars} characters${overflow}`;
    return [
      // What was not read may not be empty.
      ...(view.index === "" && view.warning ? [] : [block(view.index || "MEMORY.md is empty.")]),
      ...(view.warning ? ["", `> ${view.warning.message}`] : []),
      { aside: dim(size) },
      ...notes(notices),
      ...(undo === null ? [] : [{ aside: dim(`${call(`undo ${undo}`)} reverts this`) }]),
    ];
  },
});
