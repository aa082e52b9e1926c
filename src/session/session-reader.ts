/** Reads a session back from its transcript: the conversation as it was sent, ready to continue. */

import { basename, dirname } from "node:path";
import { addUsage, type Message, NO_USAGE, type Usage } from "../model/ask.ts";
import { count } from "../text/sanitise.ts";
import { buildConversation, type Prompt } from "./conversation.ts";
import { eachRecord, withLines } from "./line-stream.ts";
import {
  answerOf,
  parseLine,
  type Title,
  type TranscriptLine,
  textOrNull,
  titleAfter,
  userBlocks,
} from "./transcript-line.ts";

/** A session read from its transcript, to be continued. */
export interface ResumedSession {
  /** The session's id. */
  id: string;
  /** Path of its transcript. */
  path: string;
  /** The parent of the next message. */
  leaf: string | null;
  /** Ready to be sent: calls have results, and the first message is the user's. */
  messages: Message[];
  /** What the user said, oldest first. */
  prompts: Prompt[];
  /** Snapshots of the file history and what was shown (`SHOWN_LINE`), oldest first. */
  notes: TranscriptLine[];
  /** What the transcript calls it; null if it has no title. */
  title: string | null;
  /** The model that answered last; null if unknown. */
  model: string | null;
  /** The whole cost of the session, including what was rewound or compacted since. */
  usage: Usage;
  /** The working directory it was last in; null if unknown. */
  cwd: string | null;
  /** What could not be read. */
  problems: string[];
}

/** The part of a session that learning needs, whichever agent wrote it. */
export type HeardSession = Pick<ResumedSession, "id" | "path" | "messages" | "prompts" | "cwd" | "problems">;

/** The type of the line that records which reminders and memories were shown up to a prompt. */
export const SHOWN_LINE = "memdir-shown";

const NOTE_TYPES: ReadonlySet<string> = new Set(["file-history-snapshot", SHOWN_LINE]);
/** A hundred checkpoints, each with two lines for every file that was changed since. */
const MAX_NOTES = 20_000;

/** Reads twice: first how the lines are linked, then only those that count. Throws if there is no such file. */
export function readSession(path: string): Promise<ResumedSession> {
  return withLines(path, async (lines) => {
    const chain = makeChain();
    const spent = countUsage();
    const facts = { title: null as Title | null, cwd: null as string | null };
    const places: { offset: number; length: number }[] = [];
    const problems = await eachRecord(lines, parseLine, (line, { offset, length }) => {
      chain.add(line, offset, length);
      spent.add(line);
      facts.title = titleAfter(facts.title, line);
      facts.cwd = textOrNull(line.cwd) ?? facts.cwd;
      if (line.type === "rewind") chain.rewind(textOrNull(line.leafUuid));
      if (NOTE_TYPES.has(line.type)) places.push({ offset, length });
    });
    const { links, leaf, gaps } = chain.follow();
    if (gaps > 0) problems.push(`${count(gaps, "line")} missing in the chain; the order of the file is taken there`);
    const lineAt = (at: { offset: number; length: number }) => parseLine(lines.at(at.offset, at.length).toString());
    const conversation = buildConversation();
    for (const link of links) {
      const line = lineAt(link);
      if (line) conversation.add({ line, uuid: link.uuid, parent: link.parent });
    }
    const notes = places.slice(-MAX_NOTES).flatMap((place) => lineAt(place) ?? []);
    const { cwd, title } = facts;
    const [id, usage, said] = [sessionIdOf(path), spent.total(), conversation.finish()];
    return { id, path, leaf, notes, title: title?.title ?? null, usage, cwd, problems, ...said };
  });
}

/** The name of its file, or in seed 001's layout that of its folder. */
export function sessionIdOf(path: string): string {
  const name = basename(path);
  return name === "transcript.jsonl" ? basename(dirname(path)) : name.replace(/\.jsonl$/, "");
}

function countUsage() {
  let earlier = NO_USAGE;
  /** Every line of a message has its usage; the last one is the most accurate. */
  let current: { id: string | null; usage: Usage } = { id: null, usage: NO_USAGE };
  return {
    add(line: TranscriptLine) {
      const answer = answerOf(line);
      if (!answer) return;
      if (answer.id === null || answer.id !== current.id) earlier = addUsage(earlier, current.usage);
      current = answer;
    },
    total: () => addUsage(earlier, current.usage),
  };
}

type Link = ReturnType<typeof linkOf>;

function linkOf(
  line: TranscriptLine,
  uuid: string,
  parent: string | null,
  place: Record<"position" | "offset" | "length", number>,
) {
  const isBoundary = line.type === "system" && line.subtype === "compact_boundary";
  const blocks = line.type === "user" ? userBlocks(line) : [];
  return {
    ...place,
    uuid,
    parent,
    type: line.type,
    /** A compaction happened here: nothing before it is sent. Holds the last line before it. */
    boundary: isBoundary ? { before: textOrNull(line.logicalParentUuid) } : null,
    /** The calls that it answers. */
    results: blocks.flatMap((block) => (block.type === "tool_result" ? [block.id] : [])),
  };
}

/** How the lines of a transcript are linked: each names its parent, so that a file can hold branches. */
export function makeChain() {
  const links: Link[] = [];
  const byUuid = new Map<string, Link>();
  let leaf: string | null = null;

  /** A compaction with nothing written after it did not finish: the conversation is where it was before. */
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
    /** Skips sidechains and lines that cannot be a parent. */
    add(line: TranscriptLine, offset: number, length: number) {
      if (line.isSidechain === true) return;
      const isMessage = line.type === "user" || line.type === "assistant";
      // A message without a uuid comes from a simpler program: its parent is the line before it in the file.
      const own = textOrNull(line.uuid);
      if (own === null && !isMessage) return;
      const named = own === null ? leaf : textOrNull(line.parentUuid);
      const parent = named === null ? null : (byUuid.get(named)?.uuid ?? named); // one string for both ends
      const link = linkOf(line, own ?? `line-${offset}`, parent, { position: links.length, offset, length });
      links.push(link);
      byUuid.set(link.uuid, link);
      // The client's notices are in the chain, too, but are not part of the conversation.
      if (isMessage || line.type === "attachment" || link.boundary) leaf = link.uuid;
    },
    /** The conversation continues after this line, whatever comes after it in the file. */
    rewind(to: string | null) {
      if (to === null || byUuid.has(to)) leaf = to;
    },
    /** From the first line that counts to the leaf, and how many parents were missing. */
    follow(): { links: Link[]; leaf: string | null; gaps: number } {
      const first = start();
      if (!first) return { links: [], leaf: null, gaps: 0 };
      const followed = followBack(first, links, byUuid);
      return { links: withStrays(followed.links, links), leaf: first.uuid, gaps: followed.gaps };
    },
  };
}

/** Where a parent is missing, or the chain is circular, the line before it in the file is taken. */
function followBack(first: Link, links: readonly Link[], byUuid: ReadonlyMap<string, Link>) {
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

/** Each of several results may have its own call as parent, beside the chain that continues from the last of them. */
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
