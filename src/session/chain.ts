/** How the lines of a transcript hang together: each names the one before it, so that a file can hold branches. */

import { isBoundary, isRecord, type TranscriptLine, textOrNull } from "./transcript-line.ts";

interface Link {
  uuid: string;
  parent: string | null;
  /** Where in the order of the file. */
  position: number;
  offset: number;
  length: number;
  type: string;
  /** A compaction happened here: nothing before it is sent. Holds the line that was the last one before. */
  boundary: { before: string | null } | null;
  /** The calls that it answers. */
  results: readonly string[];
}

interface Chain {
  /** Sidechains are left out; so are lines that nothing can hang on. */
  add(line: TranscriptLine, offset: number, length: number): void;
  /** The conversation goes on behind this line, whatever comes after it in the file. */
  rewind(leaf: string | null): void;
  /** From the first line that counts to the leaf, and how often the line before one was not found. */
  follow(): { links: Link[]; leaf: string | null; gaps: number };
}

export function makeChain(): Chain {
  const links: Link[] = [];
  const byUuid = new Map<string, Link>();
  let leaf: string | null = null;

  /** A compaction that nothing was written behind did not finish: the conversation stands where it stood. */
  const start = (): Link | null => {
    let link = leaf === null ? undefined : byUuid.get(leaf);
    const seen = new Set<Link>();
    while (link?.boundary && !seen.has(link)) {
      seen.add(link);
      link = link.boundary.before === null ? undefined : byUuid.get(link.boundary.before);
    }
    return link ?? null;
  };

  return {
    add(line, offset, length) {
      if (line.isSidechain === true) return;
      const isMessage = line.type === "user" || line.type === "assistant";
      // A message without a uuid is from a simpler program: it hangs on the line before it in the file.
      const own = textOrNull(line.uuid);
      if (own === null && !isMessage) return;
      const named = own === null ? leaf : textOrNull(line.parentUuid);
      const link: Link = {
        uuid: own ?? `line-${offset}`,
        parent: named === null ? null : (byUuid.get(named)?.uuid ?? named), // one string for both ends
        position: links.length,
        offset,
        length,
        type: line.type,
        boundary: isBoundary(line) ? { before: textOrNull(line.logicalParentUuid) } : null,
        results: line.type === "user" ? resultIds(line) : NONE,
      };
      links.push(link);
      byUuid.set(link.uuid, link);
      // Notices of the client also have a place in the chain, but nothing is said with them.
      if (isMessage || line.type === "attachment" || link.boundary) leaf = link.uuid;
    },
    rewind(to) {
      if (to === null || byUuid.has(to)) leaf = to;
    },
    follow() {
      const first = start();
      if (!first) return { links: [], leaf: null, gaps: 0 };
      const followed = followBack(first, links, byUuid);
      return { links: withStrays(followed.links, links), leaf: first.uuid, gaps: followed.gaps };
    },
  };
}

const NONE: readonly string[] = [];

/** Where the line before is missing, or the way leads in a circle, it goes on with the one before in the file. */
function followBack(
  first: Link,
  links: readonly Link[],
  byUuid: ReadonlyMap<string, Link>,
): { links: Link[]; gaps: number } {
  const way: Link[] = [];
  const seen = new Set<Link>();
  let gaps = 0;
  let link: Link | undefined = first;
  while (link) {
    seen.add(link);
    way.push(link);
    if (link.boundary || link.parent === null) break;
    const before = byUuid.get(link.parent);
    if (before && !seen.has(before)) {
      link = before;
      continue;
    }
    gaps++;
    let position: number = link.position - 1;
    while (position >= 0 && seen.has(links[position]!)) position--;
    link = links[position];
  }
  return { links: way.reverse(), gaps };
}

/** Each of several results may hang on its own call, beside the chain that goes on from the last of them. */
function withStrays(chain: readonly Link[], links: readonly Link[]): Link[] {
  const answers = new Set(chain.filter(({ type }) => type === "assistant").map(({ uuid }) => uuid));
  const answered = new Set(chain.flatMap(({ results }) => results));
  const on = new Set(chain);
  const strays = new Map<string, Link[]>();
  for (const link of links) {
    if (link.results.length === 0 || on.has(link) || link.parent === null || !answers.has(link.parent)) continue;
    if (link.results.some((id) => answered.has(id))) continue;
    strays.set(link.parent, [...(strays.get(link.parent) ?? []), link]);
  }
  return strays.size === 0 ? [...chain] : chain.flatMap((link) => [link, ...(strays.get(link.uuid) ?? [])]);
}

function resultIds({ message }: TranscriptLine): readonly string[] {
  if (!isRecord(message) || !Array.isArray(message.content)) return NONE;
  const ids = message.content.flatMap((block) =>
    isRecord(block) && block.type === "tool_result" && typeof block.tool_use_id === "string" ? [block.tool_use_id] : [],
  );
  return ids.length === 0 ? NONE : ids;
}
