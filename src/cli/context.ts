/** The commands that show what a host or a model gets to see: `context`, `prompt`, `index`. */

import { resolve } from "node:path";
import { MemdirError } from "../errors.ts";
import { SECTION_NAMES, type SectionName } from "../prompts/memory.ts";
import { answer, type Call, defined, note, type Run, warning } from "./command.ts";

export const context: Run = async (call) => {
  // Its own answer holds the warnings.
  const open = () => call.open({ quiet: true, ...readSources(call) });
  if (call.flag("approve-imports")) note(call, [(await open()).approveImports().message]);
  const memdir = await open();
  const touched = call.values("touch").map((file) => resolve(call.cwd, file));
  const addDirs = call.values("add-dir").map((directory) => resolve(call.cwd, directory));
  const found = await memdir.context(touched, { addDirs, allAgents: call.flag("all-agents") });
  return answer(call, found, () => {
    warning(call, found.warnings);
    const { dim } = call.terminal.color;
    const short = (text: string) => text.replaceAll(`${memdir.config.home}/`, "~/");
    // A token is about four characters of English.
    const describe = ({ path, label, size }: { path: string; label: string; size: number }) =>
      `${short(path)} ${dim(`(${label}): ${size} characters, about ${Math.ceil(size / 4)} tokens`)}`;
    const { dir, index: text, warning: truncated } = found.memory;
    const lines = text === null ? "no index" : `${text.split("\n").length} lines`;
    return [
      ...found.instructions.map(describe),
      ...found.nested.map((file) => `after a touch: ${describe(file)}`),
      ...found.skipped.map(({ path, reason }) => dim(`not loaded: ${short(path)}: ${short(reason)}`)),
      dir === null ? `memory is off: ${memdir.config.disabled}` : `${short(dir)}/MEMORY.md: ${lines}`,
      `${short(found.environment.transcripts ?? "")}: transcripts of sessions here`,
      ...(truncated ? [`> ${truncated.message}`] : []),
    ];
  });
};

const SOURCES = ["user", "project", "local"] as const;

function readSources(call: Call): { settingSources?: (typeof SOURCES)[number][] } {
  const given = call.value("setting-sources");
  if (given === undefined) return {};
  const names = given.split(",").flatMap((name) => name.trim() || []);
  const bad = names.find((name) => !SOURCES.some((source) => source === name));
  if (bad !== undefined) throw new MemdirError("usage", `--setting-sources: "${bad}" is none of ${SOURCES.join(", ")}`);
  return { settingSources: SOURCES.filter((source) => names.includes(source)) };
}

export const prompt: Run = async (call) => {
  const section = call.value("section") as SectionName | undefined;
  if (section !== undefined && !SECTION_NAMES.includes(section)) {
    throw new MemdirError("usage", `--section "${section}" is none of ${SECTION_NAMES.join(", ")}`);
  }
  const text = await (await call.open()).prompt({
    makeDirectory: false,
    ...defined({ section }),
    ...(call.flag("files") ? { files: true } : {}),
  });
  return answer(call, { text }, () => text);
};

export const index: Run = async (call) => {
  const memdir = await call.open();
  const rebuilt = call.flag("rebuild") ? await memdir.rebuildIndex() : null;
  const view = rebuilt ?? (await memdir.index());
  return answer(call, view, () => {
    const { print, warn, color } = call.terminal;
    const { maxLines, maxChars } = memdir.config.index;
    print(view.index === "" ? "MEMORY.md is empty." : view.index);
    if (view.warning) print(`\n> ${view.warning.message}`);
    const overflow = view.overflow.length === 0 ? "" : `, ${view.overflow.length} more on the overflow page`;
    warn(color.dim(`${view.lines} of ${maxLines} lines, ${view.chars} of ${maxChars} characters${overflow}`));
    note(call, rebuilt?.notices ?? []);
    if (rebuilt?.undo) warn(color.dim(`memdir undo ${rebuilt.undo} reverts this`));
  });
};
