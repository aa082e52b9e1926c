/** `memdir verify`. */

import type { Memdir } from "../memdir.ts";
import type { Directory } from "../memory/directory.ts";
import type { Row } from "../memory/list.ts";
import { type Problem, type Verification, verifyMemories } from "../truth/verify.ts";
import type { Call, Run } from "./command.ts";
import { sanitiseLine } from "./console/sanitise.ts";

export const run: Run = async (call) => {
  const memdir = await call.open();
  const main = memdir.directories[0] as Directory;
  const name = call.args[0];
  const rows = await findRows(memdir, name);
  const progress = call.terminal.progress("files");
  const stop = new AbortController();
  const onInterrupt = () => stop.abort();
  process.once("SIGINT", onInterrupt);
  try {
    const result = await verifyMemories(
      {
        directories: memdir.directories,
        root: memdir.location.project.worktreeRoot ?? memdir.location.project.cwd,
        env: memdir.config.env,
        now: main.now,
        signal: stop.signal,
        onProgress: progress.show,
      },
      rows,
      {
        changedSince: call.value("changed-since"),
        fix: call.flag("fix"),
        stamp: call.flag("no-stamp") ? "none" : call.flag("stamp") ? "all" : "private",
        isAll: name === undefined,
      },
    );
    progress.end();
    if (call.json) call.terminal.json(result);
    else print(call, result);
    return result.problems.length === 0 ? 0 : 1;
  } finally {
    progress.end();
    process.off("SIGINT", onInterrupt);
  }
};

async function findRows(memdir: Memdir, name: string | undefined): Promise<Row[]> {
  const rows = await memdir.list();
  if (name === undefined) return rows;
  const { file, scope } = await memdir.show(name);
  return rows.filter((row) => row.file === file && row.scope === scope);
}

function print({ terminal }: Call, { checked, problems, memories, fixed, stamped, undo, notes }: Verification): void {
  const { color } = terminal;
  for (const { file, line, claim, verdict, evidence } of problems) {
    const place = color.bold(`${sanitiseLine(file)}:${line}`);
    terminal.print(
      `${place}: ${color.yellow(verdict)} ${sanitiseLine(claim)} ${color.dim(`(${sanitiseLine(evidence)})`)}`,
    );
  }
  for (const { file, from, to } of fixed) {
    terminal.print(
      `${color.bold(sanitiseLine(file))}: ${color.green("fixed")} ${sanitiseLine(from)} is now ${sanitiseLine(to)}`,
    );
  }
  const count = (verdict: string) => memories.filter((memory) => memory.verdict === verdict).length;
  const summary = [
    `${checked} ${checked === 1 ? "memory" : "memories"} checked`,
    `${count("holds")} hold`,
    `${problems.length} ${problems.length === 1 ? "problem" : "problems"}`,
    `${count("unchecked")} with nothing to check or not all of it known`,
  ];
  terminal.print(`${summary.join(", ")}${stamped > 0 ? `; ${stamped} stamped as verified` : ""}`);
  if (problems.some(isMechanical) && fixed.length === 0) terminal.print("memdir verify --fix writes the new paths");
  for (const id of undo) terminal.print(color.dim(`memdir undo ${id} takes it back`));
  for (const note of notes) terminal.warn(`memdir: note: ${sanitiseLine(note)}`);
}

function isMechanical({ verdict, what }: Problem): boolean {
  return verdict === "moved" && (what === "path" || what === "script");
}
