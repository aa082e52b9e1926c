/** `memdir recall`. */

import { MemdirError } from "../errors.ts";
import type { Recalled, RecallOptions } from "../recall/recall.ts";
import type { Call, Run } from "./command.ts";
import { prefetch } from "./recall-prefetch.ts";

export const run: Run = async (call) => {
  if (call.flag("prefetch")) return prefetch(call);
  const options = optionsOf(call);
  const memdir = await call.open();
  await warm(call, memdir.warm);
  const result = await memdir.recall(call.args.join(" "), options);
  if (call.json) {
    const { memories, considered, method, tookMs, leftOut } = result;
    call.terminal.json({ memories, considered, method, tookMs, leftOut });
    return 0;
  }
  const { print, color } = call.terminal;
  for (const memory of result.memories) printMemory(call, memory);
  if (result.leftOut.length > 0) print(color.dim(`Did not fit: ${result.leftOut.join(", ")}`));
  const found = result.memories.length === 0 ? "Nothing that clearly helps" : `${result.memories.length} recalled`;
  print(color.dim(`${found}, of ${result.considered} memories (${result.method}, ${Math.round(result.tookMs)} ms)`));
  return 0;
};

/** Memories whose meaning is not known yet are looked at first: long work the first time, shown as it goes. */
async function warm(call: Call, warmAll: (options: object) => Promise<unknown>): Promise<void> {
  const progress = call.terminal.progress("reading memories");
  try {
    await warmAll({ onProgress: (done: number, total: number) => progress.show(done, total) });
  } finally {
    progress.end();
  }
}

function printMemory(call: Call, memory: Recalled): void {
  const { print, color } = call.terminal;
  print(`[${memory.type}] ${color.bold(memory.name)} ${color.dim(memory.file)}  ${memory.score.toFixed(2)}`);
  if (memory.description !== "") print(`    ${memory.description}`);
  for (const reason of memory.why) print(color.dim(`    ${reason}`));
}

function optionsOf(call: Call): RecallOptions {
  const limit = countOf(call, "limit");
  const maxBytes = countOf(call, "max-bytes");
  return {
    exclude: call.values("exclude"),
    ...(limit === undefined ? {} : { limit }),
    ...(maxBytes === undefined ? {} : { maxBytes }),
    ...(call.flag("no-model") ? { model: false } : {}),
    ...(call.flag("all") ? { everything: true } : {}),
  };
}

function countOf(call: Call, name: string): number | undefined {
  const text = call.value(name);
  if (text === undefined) return undefined;
  if (!/^\d{1,9}$/.test(text)) throw new MemdirError("usage", `--${name} takes a whole number, not "${text}"`);
  return Number(text);
}
