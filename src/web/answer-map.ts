/** All memories as a map: what links to what, what is near, what says the same, and two of those made one. */

import { MemdirError } from "../errors.ts";
import { joinTexts } from "../learn/dream-offline.ts";
import { findBytes, listMemories, parseMemory, readBytes } from "../store/store.ts";
import { findCompeting, settleText } from "../team/conflict-copy.ts";
import { overlap, weigh } from "../text/likeness.ts";
import { termsOf } from "../text/terms.ts";
import { findDoubles, type RotMemory } from "../truth/rot-findings.ts";
import type { ChangedAnswer, MemoryMap, MergeProposal, Ref } from "./api.ts";
import { type Desk, placeOf, refuseReadOnly } from "./desk.ts";
import { diffTexts } from "./diff.ts";
import { openLinkage } from "./linkage.ts";
import { findNear } from "./nearness.ts";

/** More points than these are a cloud, and nearness of each to each takes seconds. */
const MAX_NODES = 2_000;

export async function answerMap(desk: Desk): Promise<MemoryMap> {
  const { entries, edges } = openLinkage(desk);
  const shown = entries.slice(0, MAX_NODES);
  const descriptions = await Promise.all(
    desk.memdir.directories.map(async (directory) => {
      const { rows } = await listMemories(directory);
      return new Map(rows.map(({ file, description }) => [file, description]));
    }),
  );
  const linked = new Map<string, MemoryMap["edges"][0]>();
  for (const { from, to, kind } of edges) {
    if (Math.max(from, to) >= MAX_NODES) continue;
    // A pair that links both ways is one line; what supersedes what has a direction.
    const [a, b] = kind === "supersedes" || from < to ? [from, to] : [to, from];
    linked.set(`${kind} ${a} ${b}`, { a, b, kind, share: 1 });
  }
  const joined = new Set([...linked.values()].flatMap(({ a, b }) => [`${a} ${b}`, `${b} ${a}`]));
  const near = (await findNear(shown)).filter(({ a, b }) => !joined.has(`${a} ${b}`));
  return {
    nodes: shown.map(({ directory, file, name, type }) => ({
      directory,
      file,
      name,
      type,
      scope: desk.memdir.directories[directory]?.scope ?? "",
      description: descriptions[directory]?.get(file) ?? "",
    })),
    edges: [...linked.values(), ...near.map((pair) => ({ ...pair, kind: "near" as const }))],
    duplicates: findDuplicates(desk, shown),
  };
}

/** As `memdir rot` finds them: in each directory for itself. */
function findDuplicates(desk: Desk, nodes: readonly Ref[]): MemoryMap["duplicates"] {
  const places = new Map(nodes.map(({ directory, file }, at) => [`${directory}/${file}`, at]));
  return desk.memdir.directories.flatMap((_, directory) => {
    const own = nodes.filter((node) => node.directory === directory);
    const memories = own.flatMap((node) => readWhole(desk, node));
    const byFile = new Map(memories.map(({ memory }) => [memory.file, memory]));
    return findDoubles({ memories, termsOf }).flatMap(({ kind, file, others }) =>
      others.flatMap((other) => {
        const [one, two] = [byFile.get(other), byFile.get(file)];
        const [a, b] = [places.get(`${directory}/${other}`), places.get(`${directory}/${file}`)];
        if (!one || !two || a === undefined || b === undefined) return [];
        const share = kind === "duplicate" ? 1 : overlap(weigh(one, termsOf).terms, weigh(two, termsOf).terms);
        return [{ a, b, share }];
      }),
    );
  });
}

function readWhole({ memdir }: Desk, { directory: at, file }: Ref): RotMemory[] {
  const directory = memdir.directories[at];
  try {
    const bytes = directory && findBytes(directory, file);
    if (!bytes) return [];
    const memory = parseMemory(file, bytes);
    return [
      {
        memory,
        bytes: bytes.length,
        modifiedMs: Date.parse(memory.modified ?? memory.created ?? "") || 0,
        secrets: [],
      },
    ];
  } catch {
    return []; // gone, or locked, since it was listed
  }
}

/** The first with what only the other says; a person goes over it before anything is written. */
export async function answerMergeProposal(desk: Desk, keep: Ref, other: Ref): Promise<MergeProposal> {
  const [left, right] = [readSide(desk, keep), readSide(desk, other)];
  const text = joinTexts({ file: keep.file, text: left }, { file: other.file, text: right }, desk.now());
  return { left, right, text, diff: diffTexts(left, text) };
}

export interface Merge {
  keep: Ref;
  other: Ref;
  text: string;
  /** What both held when the person looked at them; as they are now where the page does not say. */
  left: string | undefined;
  right: string | undefined;
}

export async function answerMerge(desk: Desk, { keep, other, text, left, right }: Merge): Promise<ChangedAnswer> {
  refuseReadOnly(desk, keep);
  refuseReadOnly(desk, other);
  const base = { keep: left ?? readSide(desk, keep), other: right ?? readSide(desk, other) };
  const { file, undo } = await desk.memdir.merge(keep, other, { text: settle(base.keep, text), base });
  return {
    message: `merged ${other.file} into ${file}`,
    entry: undo,
    ref: { directory: keep.directory, file },
  };
}

/** Whoever keeps the text of a conflict's copy wants it in place of the memory, not another copy. */
function settle(before: string, text: string): string {
  return findCompeting(before) === null ? settleText(text) : text;
}

function readSide(desk: Desk, ref: Ref): string {
  const { directory, file } = placeOf(desk, ref);
  const bytes = readBytes(directory, file);
  const { broken, problems } = parseMemory(file, bytes);
  if (broken) throw new MemdirError("broken", `${file} cannot be read safely (${problems[0]}): mend it first`);
  return bytes.toString("utf8");
}
