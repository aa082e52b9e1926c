/**
 * Splits a memory's text into passages: sentences with their positions, separate headings and list items, code blocks
 * by kind.
 */

import type { Document } from "../text/frontmatter.ts";

export interface Passage {
  /** Line breaks inside a sentence are blanks here, so that offsets stay valid. */
  text: string;
  /** Offset in the file. */
  at: number;
  /** Passages of one paragraph or list item share it. */
  paragraph: number;
  /** A command line of a code block. */
  command: boolean;
  /** What introduces it: the line with a colon before its list, the heading. */
  lead: string;
  /** Everything it is under, from the outermost heading to the list item that it is part of. */
  over: readonly string[];
}

/** A memory is written for people; anything longer is data. */
const MAX_CHARS = 2_000_000;
/** Anything longer is not a sentence: it is cut, and the rest is the next one. */
const MAX_SENTENCE = 2_000;

const FENCE = /^\s*(?:>\s?)*(`{3,}|~{3,})\s*([\w+-]*)/;
const SHELL = /^(?:sh|bash|zsh|shell|console|terminal|cmd|powershell|ps1|fish)$/i;
const PROMPT = /^\s*(?:[$%>]\s+)?(?=(?:\.\/|npm |yarn |pnpm |make |just |node |python3? |cargo |go |bash |sh )\S)/;
const PROMPT_MARK = /^\s*[$%]\s/;
const OPENS = /^\s*(?:[-*+]\s|\d+[.)]\s|#{1,6}\s|\*\*|\||>)/;
const EXAMPLE =
  /\b(?:e\.g|example|sample|looks? like|for instance|pseudo|template|such as this|typical|roughly)\b[^\n]{0,80}$/i;

/** The document is that text, parsed. */
export function findPassages(text: string, document: Document): Passage[] {
  const passages: Passage[] = [];
  const description = findDescription(text, document);
  if (description) passages.push({ ...description, paragraph: 0, command: false, lead: "", over: [] });
  let paragraph = 1;
  let block: { at: number; end: number } | null = null;
  let fence: { mark: string; isShell: boolean; isOpen: boolean; hasPrompts: boolean } | null = null;
  let said = "";
  const leads = openLeads(text);
  const close = () => {
    if (!block) return;
    const shared = { paragraph: paragraph++, command: false, ...leads.over(block) };
    splitSentences(text, block.at, block.end, shared, passages);
    block = null;
  };
  const end = Math.min(text.length, MAX_CHARS);
  for (let at = document.bodyStart; at < end; ) {
    const newline = text.indexOf("\n", at);
    const next = newline < 0 || newline >= end ? end : newline + 1;
    const line = text.slice(at, Math.min(next, at + MAX_SENTENCE)).trimEnd();
    const mark = FENCE.exec(line);
    if (fence) {
      if (mark?.[1]?.startsWith(fence.mark) && mark[2] === "") fence = null;
      else if ((fence.isShell && (!fence.hasPrompts || PROMPT_MARK.test(line))) || (fence.isOpen && PROMPT.test(line)))
        passages.push({
          ...{ text: line.replace(/#\s.*$/, ""), at, paragraph: paragraph++ },
          ...{ command: true, lead: "", over: leads.headings() },
        });
    } else if (mark) {
      close();
      const isExample = EXAMPLE.test(said.trim().replace(/:$/, ""));
      const language = mark[2] ?? "";
      fence = {
        mark: mark[1] ?? "```",
        isShell: !isExample && SHELL.test(language),
        isOpen: !isExample && language === "",
        // Where commands have a prompt, everything else is what they print.
        hasPrompts: PROMPT_MARK.test(text.slice(next, next + MAX_SENTENCE)),
      };
    } else if (line.trim() === "") close();
    else {
      if (OPENS.test(line)) close();
      block ??= { at, end: at };
      block = { at: block.at, end: newline < 0 || newline >= end ? end : newline };
    }
    if (line.trim() !== "") said = line;
    at = next;
  }
  close();
  return passages;
}

const ITEM = /^\s*(?:[-*+]\s|\d+[.)]\s|\|)/;
const MAX_LEAD = 200;

/** Keeps the headings, what was said last over the items of a list, and the items that others are indented under. */
function openLeads(text: string) {
  let headings: readonly string[] = [];
  let opening = "";
  let items: readonly { said: string; indent: number }[] = [];
  return {
    headings: () => headings,
    over({ at, end }: { at: number; end: number }) {
      const raw = text.slice(at, Math.min(end, at + MAX_LEAD));
      const said = raw.trim();
      const indent = raw.length - raw.trimStart().length;
      const isItem = ITEM.test(said);
      items = items.filter((each) => each.indent < indent);
      if (said.startsWith("#")) {
        const depth = depthOf(said);
        headings = [...headings.filter((each) => depthOf(each) < depth), said];
        opening = "";
      } else if (!isItem && items.length === 0) opening = "";
      const heading = headings.at(-1) ?? "";
      const lead = (isItem ? `${heading} ${opening}` : heading).trim();
      const over = [...headings, ...(opening === "" ? [] : [opening]), ...items.map((each) => each.said)];
      const last = text.slice(Math.max(at, end - MAX_LEAD), end).trimEnd();
      if (isItem) items = [...items, { said, indent }];
      else if (items.length === 0 && last.endsWith(":")) opening = said;
      return { lead, over };
    },
  };
}

function depthOf(heading: string): number {
  return /^#*/.exec(heading)?.[0].length ?? 0;
}

/** The description is a sentence of the memory, too. */
function findDescription(text: string, { fields }: Document): { text: string; at: number } | null {
  const field = fields.find(({ key }) => key === "description");
  if (!field || typeof field.value !== "string" || field.value === "") return null;
  const at = text.indexOf(field.value, field.start);
  return at >= 0 && at < field.end ? { text: field.value.slice(0, MAX_SENTENCE), at } : null;
}

/** At a stop with a blank behind it, unless the stop belongs to a short form or to the number of an item. */
const STOP = /[.!?;](?=\s|$)/g;
const SHORT = /^\s*\d{1,3}$|(?:^|[\s(])(?:e\.g|i\.e|etc|vs|cf|approx|resp|incl|ca|no|[A-Za-z])$/i;

/** `**Why:** …`: the sentences behind the first are part of it, too. */
const LABEL = /^\s*(?:[-*+]\s+|\d+[.)]\s+)?(\*\*[^*]{2,60}:\*\*|\*\*[^*]{2,60}\*\*:)/;

function splitSentences(
  text: string,
  from: number,
  to: number,
  shared: Pick<Passage, "paragraph" | "command" | "lead" | "over">,
  into: Passage[],
): void {
  const block = text.slice(from, to).replace(/[\r\n]/g, " ");
  const label = LABEL.exec(block)?.[1];
  const later = label === undefined ? shared : { ...shared, over: [...shared.over, label] };
  let start = 0;
  const push = (end: number) => {
    for (let at = start; at < end; ) {
      // Not in the middle of a word, if there are words.
      const blank = end - at > MAX_SENTENCE ? block.lastIndexOf(" ", at + MAX_SENTENCE) : end;
      const next = blank > at ? blank : at + MAX_SENTENCE;
      const piece = block.slice(at, next);
      if (piece.trim() !== "") into.push({ ...(at === 0 ? shared : later), text: piece, at: from + at });
      at = next;
    }
    start = end;
  };
  for (const { index } of block.matchAll(STOP)) {
    if (!SHORT.test(block.slice(Math.max(start, index - 8), index))) push(index + 1);
  }
  push(block.length);
}
