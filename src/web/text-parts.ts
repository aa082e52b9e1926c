/** Two versions of a memory taken apart: the fields of its head and the blocks of its text, each as it was and as it is. */

import { CONFLICT_FIELD } from "../store/store.ts";
import { diffLines } from "../text/diff.ts";
import { type FieldValue, parseDocument } from "../text/frontmatter.ts";
import { overlap } from "../text/likeness.ts";
import { buildMarkdownTree, type FindLinked } from "./markdown-tree.ts";
import type { TextPart } from "./shapes.ts";

/** What programs write for themselves. */
const QUIET: ReadonlySet<string> = new Set([
  ...["created", "modified", "verified", "source", "metadata", "id", "node_type", "originSessionId", CONFLICT_FIELD],
]);

/** Null for a version that does not exist. */
export async function compareTexts(before: string | null, after: string | null, find: FindLinked): Promise<TextPart[]> {
  const [old, fresh] = [takeApart(before), takeApart(after)];
  const keys = new Set([...old.fields.keys(), ...fresh.fields.keys()]);
  const fields = [...keys].map((field): TextPart => {
    const [was, is] = [old.fields.get(field) ?? null, fresh.fields.get(field) ?? null];
    const part = { field, before: was?.shown ?? null, after: is?.shown ?? null, body: [] };
    return { ...part, lines: [was?.lines ?? null, is?.lines ?? null], ...(QUIET.has(field) && { isQuiet: true }) };
  });
  const blocks = pairBlocks(old.blocks, fresh.blocks).map(async (pair): Promise<TextPart> => {
    return { field: null, ...pair, body: await buildMarkdownTree(pair.after ?? pair.before ?? "", find) };
  });
  return [...fields, ...(await Promise.all(blocks))];
}

function takeApart(given: string | null) {
  const text = (given ?? "").replaceAll("\r\n", "\n");
  const { fields, body } = parseDocument(text);
  const taken = fields.map(
    ({ key, value, start, end }) => [key, { shown: show(value), lines: text.slice(start, end) }] as const,
  );
  return { fields: new Map(taken), blocks: splitBlocks(body) };
}

function show(value: FieldValue): string {
  return Array.isArray(value) ? value.map(inWords).join("\n") : inWords(value);
}

export function inWords(value: FieldValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** At blank lines, but not within code. */
function splitBlocks(body: string): string[] {
  const blocks: string[][] = [[]];
  let fence = "";
  for (const line of body.split("\n")) {
    const mark = /^\s*(```+|~~~+)/.exec(line)?.[1] ?? "";
    if (fence === "" ? mark !== "" : mark.startsWith(fence)) fence = fence === "" ? mark : "";
    if (line.trim() === "" && fence === "") blocks.push([]);
    else blocks.at(-1)?.push(line);
  }
  return blocks.flatMap((lines) => (lines.length === 0 ? [] : [lines.join("\n").trimEnd()]));
}

type Pair = Pick<TextPart, "before" | "after">;

/** Blocks that were changed stand next to what they became; what went stands before what came. */
function pairBlocks(before: readonly string[], after: readonly string[]): Pair[] {
  const pairs: Pair[] = [];
  let [removed, added]: [string[], string[]] = [[], []];
  const close = () => {
    const isPaired = removed.length * added.length <= MAX_COMPARED;
    const words = isPaired ? added.map(wordsOf) : [];
    let next = 0;
    const addUpTo = (end: number) => {
      for (; next < end; next++) pairs.push({ before: null, after: added[next] as string });
    };
    for (const old of removed) {
      const own = isPaired ? wordsOf(old) : null;
      const at = own === null ? -1 : words.findIndex((each, nth) => nth >= next && overlap(own, each) >= ALIKE);
      addUpTo(at);
      pairs.push({ before: old, after: at < 0 ? null : (added[next++] as string) });
    }
    addUpTo(added.length);
    [removed, added] = [[], []];
  };
  for (const { kind, text } of diffLines(before, after)) {
    if (kind === "removed") removed.push(text);
    else if (kind === "added") added.push(text);
    else {
      close();
      pairs.push({ before: text, after: text });
    }
  }
  close();
  return pairs;
}

/** Words in common of all their words: below it two paragraphs are about different things. */
const ALIKE = 0.2;

/** Two hundred blocks that became as many others: with more, nobody looks for what became of each. */
const MAX_COMPARED = 40_000;

function wordsOf(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu));
}
