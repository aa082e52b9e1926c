/** MEMORY.md of two sides made one: a set of lines, each known by the memory it points to. It always succeeds. */

import { parseIndexLine } from "../store/store.ts";
import { pickChanged } from "../text/diff.ts";
import { splitLines } from "../text/lines.ts";

interface Item {
  line: string;
  /** Blank lines behind it. */
  blanks: number;
}

/**
 * Lines that either side took out go, lines that either side added come, behind the line that they stood behind. Of two
 * wordings of one line the longer one stays. What was written by hand keeps its order.
 */
export function mergeIndex(base: string, ours: string, theirs: string): string {
  const simple = pickChanged(base, ours, theirs);
  if (simple !== null) return simple;
  const [before, our, their] = [base, ours, theirs].map(itemsOf) as [Items, Items, Items];
  const merged: Item[] = [];
  for (const key of orderOf(our, their)) {
    const [b, o, t] = [before.get(key), our.get(key), their.get(key)];
    if (b && (!o || !t)) continue;
    const [one, two] = [o ?? t, t ?? o] as [Item, Item];
    merged.push({
      line: pickChanged(b?.line ?? "", one.line, two.line) ?? preferred(one.line, two.line),
      blanks: pickChanged(b?.blanks ?? -1, one.blanks, two.blanks) ?? Math.max(one.blanks, two.blanks),
    });
  }
  const eol = theirs.includes("\r\n") ? "\r\n" : "\n";
  return merged.map(({ line, blanks }, i) => (i === 0 && line === "" ? "" : line + eol) + eol.repeat(blanks)).join("");
}

type Items = ReadonlyMap<string, Item>;

/** The first item is what stands above the first line: nothing, or blank lines. */
function itemsOf(text: string): Items {
  const top: Item = { line: "", blanks: 0 };
  const items = new Map<string, Item>([["", top]]);
  let last = top;
  for (const raw of splitLines(text)) {
    const line = raw.trimEnd();
    if (line.trim() === "") {
      last.blanks++;
      continue;
    }
    const file = parseIndexLine(line)?.file;
    const name = file === undefined ? `text ${line}` : `file ${file}`;
    let key = name;
    for (let number = 2; items.has(key); number++) key = `${name}\n${number}`;
    last = { line, blanks: 0 };
    items.set(key, last);
  }
  return items;
}

function orderOf(ours: Items, theirs: Items): string[] {
  const order = [...theirs.keys()];
  let previous = "";
  for (const key of ours.keys()) {
    if (!theirs.has(key)) order.splice(order.indexOf(previous) + 1, 0, key);
    previous = key;
  }
  return order;
}

function preferred(a: string, b: string): string {
  if (a.length !== b.length) return a.length > b.length ? a : b;
  return a > b ? a : b;
}
