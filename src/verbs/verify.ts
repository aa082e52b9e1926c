/** `lint` and `verify`: the form of memories, and what they claim about the code. */

import { groupByCause, type Problem } from "../truth/problems.ts";
import type { VerifiedMemory } from "../truth/verify.ts";
import { bold, count, countMemories, dim, flag, good, type Line, notes, text, verb, warn } from "../verb.ts";
import { NAME } from "./common.ts";

export const lint = verb({
  args: [],
  input: {},
  about: "Checks the form and wording of every memory, and the index. Exits with code 1 if there is something to fix.",
  examples: ["lint"],
  run: async (memdir) => ({ problems: await memdir.lint() }),
  exitCode: ({ problems }) => (problems.length === 0 ? 0 : 1),
  say({ problems }) {
    const placeOf = openPlaces(problems);
    const lines = problems.map(
      ({ file, scope, line, rule, message }): Line => [
        `${placeOf({ file, scope })}${line === null ? "" : `:${line}`}: ${message} `,
        dim(`(${rule})`),
      ],
    );
    return [...lines, problems.length === 0 ? "Nothing to fix." : `${problems.length} to fix`];
  },
});

export const verify = verb({
  args: ["name?"],
  input: {
    name: NAME,
    "changed-since": text("only memories that mention something changed since this commit", "REV"),
    fix: flag("update the paths of moved files, as one change that can be undone"),
    all: flag("also show findings that are uncertain, in records of past work, or gone before the memory was written"),
    stamp: flag("mark memories as checked if everything they name exists"),
  },
  about:
    "Checks what memories name against the code and git, and shows what has changed since. " +
    "A memory is not true just because the names in it exist. Exits with code 1 if it finds a problem.",
  examples: ["verify", "verify --fix"],
  // A stamp is a line in the memory's head.
  writes: ({ fix, stamp }) => fix === true || stamp === true,
  run: (memdir, { name, fix = false, stamp = false, all = false, ...given }, { signal, progress }) =>
    memdir.verify(name, {
      changedSince: given["changed-since"],
      ...{ fix, stamp, all },
      signal,
      onProgress: progress("files"),
    }),
  exitCode: ({ problems }) => (problems.length === 0 ? 0 : 1),
  say({ checked, problems, hidden, memories, fixed, stamped, undo, notes: remarks }, { call, input }) {
    const countOf = (verdict: VerifiedMemory["verdict"]) =>
      memories.filter((memory) => memory.verdict === verdict).length;
    const doubtful = countOf("doubtful");
    const amended = new Set(fixed.map(({ file, scope }) => `${scope}:${file}`)).size;
    const summary = [
      `${doubtful} with problems${problems.length > doubtful ? ` (${problems.length} in all)` : ""}`,
      ...(fixed.length > 0 ? [`${countOf("fixed")} with all problems fixed`] : []),
      `${countOf("holds")} with everything they name still there`,
    ];
    return [
      ...sayProblems(problems, input.all),
      ...fixed.map(({ file, from, to }): Line => [bold(file), ": ", good("fixed"), ` ${from} is now ${to}`]),
      `${countMemories(checked)} checked: ${summary.join(", ")}${stamped > 0 ? `; ${stamped} stamped as checked` : ""}`,
      ...(fixed.length > 0 ? [`${count(fixed.length, "problem")} fixed in ${countMemories(amended)}`] : []),
      ...(hidden > 0 ? [dim(`${count(hidden, "less certain finding")}: ${call("verify --all")}`)] : []),
      ...(problems.some(isMechanical) && !input.fix ? [`${call("verify --fix")} writes the new paths`] : []),
      ...undo.map((id) => dim(`${call(`undo ${id}`)} reverts this`)),
      ...notes(remarks),
    ];
  },
});

/** A line for each cause; with `isAll` one for each problem. */
export function sayProblems(problems: readonly Problem[], isAll = false): Line[] {
  const placeOf = openPlaces(problems);
  const groups = isAll ? problems.map((problem) => [problem] as const) : groupByCause(problems);
  return groups.map(([{ file, scope, line, claim, verdict, evidence, confidence }, ...more]) => [
    bold(`${placeOf({ file, scope })}:${line}`),
    ": ",
    warn(verdict),
    ` ${claim} ${more.length === 0 ? "" : `and ${more.length} more in this section `}`,
    dim(`(${evidence}; ${Math.round(confidence * 100)} % sure)`),
  ]);
}

/** Two scopes may have files of the same name: where there are problems in several, each says where it is. */
function openPlaces(all: readonly Placed[]): (placed: Placed) => string {
  const isOne = new Set(all.map(({ scope }) => scope)).size < 2;
  return ({ file, scope }) => (isOne ? file : `${scope}: ${file}`);
}

type Placed = Pick<Problem, "file" | "scope">;

function isMechanical({ verdict, what }: Problem): boolean {
  return verdict === "moved" && (what === "path" || what === "script");
}
