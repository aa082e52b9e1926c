/** Three bodies made one, section by section: two people who each add or change a section of their own are no conflict. */

import { mergeLines, pickChanged } from "../text/diff.ts";
import { splitLines } from "../text/lines.ts";

interface Section {
  /** The heading's line, or "" for what stands before the first one; with a number when it comes again. */
  key: string;
  /** Without the blank lines at its end. */
  text: string;
  blank: string;
}

/** Null where both changed the same lines, one changed what the other removed, or both ordered the sections anew. */
export function mergeSections(base: string, ours: string, theirs: string): string | null {
  const [before, our, their] = [base, ours, theirs].map(sectionsOf) as [Sections, Sections, Sections];
  const order = mergeOrder(before, our, their);
  if (order === null) return null;
  const merged: Section[] = [];
  for (const key of order) {
    const [b, o, t] = [before.get(key), our.get(key), their.get(key)];
    if (b && (!o || !t)) {
      // Removed by one: gone if the other left it as it was.
      if ((o ?? t ?? b).text !== b.text) return null;
      continue;
    }
    const text = mergeLines(b?.text ?? "", o?.text ?? b?.text ?? "", t?.text ?? b?.text ?? "");
    if (text === null) return null;
    const blanks = [b?.blank, o?.blank ?? b?.blank, t?.blank ?? b?.blank] as const;
    merged.push({ key, text, blank: pickChanged(...blanks) ?? blanks[2] ?? "" });
  }
  return join(merged, theirs.includes("\r\n") ? "\r\n" : "\n");
}

type Sections = ReadonlyMap<string, Section>;

function sectionsOf(body: string): Sections {
  const sections = new Map<string, Section>();
  let lines: string[] = [];
  let heading = "";
  let fence: string | null = null;
  const close = () => {
    let number = 1;
    let key = heading;
    while (sections.has(key)) key = `${heading}\n${++number}`;
    const all = lines.join("");
    const text =
      all.trimEnd() === "" ? "" : lines.slice(0, lines.findLastIndex((line) => line.trim() !== "") + 1).join("");
    // The first one is there even when it is empty, so that all three bodies begin alike.
    if (all !== "" || heading === "") sections.set(key, { key, text, blank: all.slice(text.length) });
  };
  for (const line of splitLines(body)) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1] ?? null;
    if (mark !== null && fence === null) fence = mark;
    else if (mark !== null && fence !== null && mark.startsWith(fence) && line.trim() === mark) fence = null;
    if (fence === null && /^ {0,3}#{1,6}\s/.test(line)) {
      close();
      heading = line.trim();
      lines = [];
    }
    lines.push(line);
  }
  close();
  return sections;
}

/** The side that put them in another order has its way; what only one side has stands behind what it stood behind. */
function mergeOrder(base: Sections, ours: Sections, theirs: Sections): string[] | null {
  const common = [...base.keys()].filter((key) => ours.has(key) && theirs.has(key));
  const isCommon = new Set(common);
  const [before, our, their] = [base, ours, theirs].map((side) =>
    [...side.keys()].filter((key) => isCommon.has(key)).join("\0"),
  ) as [string, string, string];
  const chosen = pickChanged(before, our, their);
  if (chosen === null) return null;
  const [lead, other] = chosen === their ? [theirs, ours] : [ours, theirs];
  const order = [...lead.keys()];
  let previous: string | null = null;
  for (const key of other.keys()) {
    if (!lead.has(key)) order.splice(previous === null ? 0 : order.indexOf(previous) + 1, 0, key);
    previous = key;
  }
  return order;
}

function join(sections: readonly Section[], eol: string): string {
  const filled = sections.filter(({ text, blank }) => text !== "" || blank !== "");
  return filled
    .map(({ text, blank }, i) => {
      if (i === filled.length - 1) return text + blank;
      const ended = text === "" || text.endsWith("\n") ? text : text + eol;
      // What was the last section has no blank line behind it yet.
      return ended + (blank === "" && text !== "" && nextIsNew(filled, i) ? eol : blank);
    })
    .join("");
}

/** Headings follow a blank line, unless somebody wrote them without one. */
function nextIsNew(sections: readonly Section[], at: number): boolean {
  return sections[at + 1]?.text.startsWith("#") === true;
}
