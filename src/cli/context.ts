/** `memdir context`: what a host loads at start. */

import { resolve } from "node:path";
import { processEnv } from "../config.ts";
import { MemdirError } from "../errors.ts";
import { openMemdir } from "../open.ts";
import type { Call, Run } from "./command.ts";

export const run: Run = async (call) => {
  const open = () =>
    openMemdir({
      cwd: call.cwd,
      env: processEnv(),
      by: "cli",
      memoryDir: call.value("memory-dir"),
      scope: call.value("scope"),
      ...readSources(call),
    });
  if (call.flag("approve-imports")) call.terminal.warn(`memdir: note: ${(await open()).approveImports().message}`);
  const memdir = await open();
  const touched = call.values("touch").map((file) => resolve(call.cwd, file));
  const addDirs = call.values("add-dir").map((directory) => resolve(call.cwd, directory));
  const context = await memdir.context(touched, { addDirs, allAgents: call.flag("all-agents") });
  if (call.json) {
    call.terminal.json(context);
    return 0;
  }
  for (const warning of context.warnings) call.terminal.warn(`memdir: warning: ${warning}`);
  const { dim } = call.terminal.color;
  const short = (text: string) => text.replaceAll(`${memdir.config.home}/`, "~/");
  // A token is about four characters of English.
  const describe = ({ path, label, size }: { path: string; label: string; size: number }) =>
    `${short(path)} ${dim(`(${label}): ${size} characters, about ${Math.ceil(size / 4)} tokens`)}`;
  for (const file of context.instructions) call.terminal.print(describe(file));
  for (const file of context.nested) call.terminal.print(`after a touch: ${describe(file)}`);
  for (const { path, reason } of context.skipped)
    call.terminal.print(dim(`not loaded: ${short(path)}: ${short(reason)}`));
  const { dir, index, warning } = context.memory;
  if (dir === null) call.terminal.print(`memory is off: ${memdir.config.disabled}`);
  else
    call.terminal.print(
      `${short(dir)}/MEMORY.md: ${index === null ? "no index" : `${index.split("\n").length} lines`}`,
    );
  call.terminal.print(`${short(context.environment.transcripts ?? "")}: transcripts of sessions here`);
  if (warning) call.terminal.print(`> ${warning.message}`);
  return 0;
};

const SOURCES = ["user", "project", "local"] as const;

function readSources(call: Call): { settingSources?: (typeof SOURCES)[number][] } {
  const list = call.value("setting-sources");
  if (list === undefined) return {};
  const names = list
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  const bad = names.find((name) => !SOURCES.some((source) => source === name));
  if (bad !== undefined) throw new MemdirError("usage", `--setting-sources: "${bad}" is none of ${SOURCES.join(", ")}`);
  return { settingSources: SOURCES.filter((source) => names.includes(source)) };
}
