/** `memdir verify`. */

import type { Problem, Verification } from "../truth/verify.ts";
import type { Call, Run } from "./command.ts";
import { sanitiseLine } from "./console/sanitise.ts";

export const run: Run = async (call) => {
  const memdir = await call.open();
  const progress = call.terminal.progress("files");
  const stop = new AbortController();
  const onInterrupt = () => stop.abort();
  process.once("SIGINT", onInterrupt);
  try {
    const result = await memdir.verify(call.args[0], {
      changedSince: call.value("changed-since"),
      fix: call.flag("fix"),
      stamp: call.flag("no-stamp") ? "none" : call.flag("stamp") ? "all" : "private",
      signal: stop.signal,
      onProgress: progress.show,
    });
    progress.end();
    if (call.json) call.terminal.json(result);
    else print(call, result);
    return result.problems.length === 0 ? 0 : 1;
  } finally {
    progress.end();
    process.off("SIGINT", onInterrupt);
  }
};

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
