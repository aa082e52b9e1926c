/** All of `memdir lint`: the format (memory/lint.ts), and whether what is said belongs into a memory, and into this one. */

import { type Directory, type Memory, parseMemory, readBytes, scan } from "../store/store.ts";
import { parseDocument } from "../text/frontmatter.ts";
import type { TermsOf } from "../text/likeness.ts";
import { type LintProblem, lintDirectory } from "../verbs/lint.ts";
import { findDerivable } from "./lint-derivable.ts";
import { findWrongType } from "./lint-type.ts";
import { findPassing, findTwoFacts, findVagueDescription } from "./lint-wording.ts";
import type { Remark } from "./remark.ts";
import { type InstructionText, openRestated } from "./restated.ts";

export interface LintWorld {
  termsOf: TermsOf;
  instructions: readonly InstructionText[];
}

/** Longer texts are data, and have been called oversized already. */
const MAX_CHARS = 100_000;

/** Problems of one file stand together, those of the index last. */
export async function lintStore(directory: Directory, world: LintWorld): Promise<LintProblem[]> {
  const format = await lintDirectory(directory);
  const wording = lintMemories(readAll(directory), world);
  const files = [...new Set([...format, ...wording].map(({ file }) => file))];
  const known = new Set(scan(directory).memories.map(({ header }) => header.file));
  const inOrder = [...files.filter((file) => known.has(file)).sort(), ...files.filter((file) => !known.has(file))];
  const all = new Map<string, LintProblem[]>(inOrder.map((file) => [file, []]));
  for (const problem of [...format, ...wording]) all.get(problem.file)?.push(problem);
  return [...all.values()].flat();
}

/** What is said in memories that can be read; a file that is broken has other worries. */
export function lintMemories(memories: readonly { memory: Memory; text: string }[], world: LintWorld): LintProblem[] {
  const restated = openRestated(world.instructions, world.termsOf);
  return memories.flatMap(({ memory, text }) => {
    if (memory.broken || memory.unreadable) return [];
    const short = { ...memory, body: memory.body.slice(0, MAX_CHARS) };
    const said = restated(short);
    const remarks: Remark[] = [
      ...findVagueDescription(short, world.termsOf),
      ...findDerivable(short),
      ...findTwoFacts(short),
      ...findPassing(short),
      ...findWrongType(short),
      ...(said ? [{ rule: "restated", message: restatedMessage(said), line: null }] : []),
    ];
    const above = remarks.some(({ line }) => line !== null) ? linesAbove(text) : 0;
    return remarks.map(({ rule, message, line }) => ({
      file: memory.file,
      line: line === null ? null : line + above,
      rule,
      message,
    }));
  });
}

function restatedMessage({ path, line }: { path: string; line: number }): string {
  return `${path} says this already (line ${line} of what is loaded): every prompt pays for it twice, forget one of them`;
}

function readAll(directory: Directory): { memory: Memory; text: string }[] {
  return scan(directory).memories.flatMap(({ header }) => {
    try {
      const data = readBytes(directory, header.file);
      return [{ memory: parseMemory(header.file, data), text: data.toString("utf8") }];
    } catch {
      return []; // said by the format's check
    }
  });
}

/** How many lines stand before the body. */
function linesAbove(text: string): number {
  const region = text.slice(parseDocument(text).bodyStart);
  const start = text.length - region.trimStart().length;
  return text.slice(0, start).split("\n").length - 1;
}
