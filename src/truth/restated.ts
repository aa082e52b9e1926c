/** Finds memories that repeat an instruction file, so that every prompt pays for it twice. */

import { openLikeness, type Said, type TermsOf } from "../text/likeness.ts";
import { blankCode } from "../text/lines.ts";

export interface InstructionText {
  /** The name that people know. */
  path: string;
  text: string;
}

interface Restated {
  /** Which instruction file says it. */
  path: string;
  /** From 1, in what is loaded of it. */
  line: number;
}

/** A shorter rule occurs in many files by chance. */
const MIN_WORDS = 3;
/** Instructions of more lines than this are not read. */
const MAX_SENTENCES = 20_000;

/** Whether a memory's rule or its description is in an instruction file, in nearly the same words. */
export function openRestated(
  instructions: readonly InstructionText[],
  termsOf: TermsOf,
): (memory: { description: string; body: string }) => Restated | null {
  const all = instructions.flatMap(({ path, text }) =>
    findLines(text).map(({ sentence, line }) => ({ said: saidOf(sentence), path, line })),
  );
  const known = all.slice(0, MAX_SENTENCES);
  if (known.length === 0) return () => null;
  const likeness = openLikeness<Restated>(
    known.map(({ said }) => said),
    termsOf,
  );
  for (const { said, path, line } of known) likeness.add(said, { path, line });
  return ({ description, body }) => {
    const lead = findSentences(leadOf(body));
    // A lead of many sentences says more than the one that is found.
    for (const sentence of lead.length <= 2 ? [lead[0] ?? "", lead.join(". "), description] : [lead.join(". ")]) {
      if (sentence.split(/\s+/).length < MIN_WORDS) continue;
      const found = likeness.find(saidOf(sentence));
      if (found) return found;
    }
    return null;
  };
}

function saidOf(sentence: string): Said {
  return { type: "", name: "", description: "", body: sentence.replace(/[`"'*_]/g, "") };
}

function findLines(text: string): { sentence: string; line: number }[] {
  const found: { sentence: string; line: number }[] = [];
  let from = 0;
  let line = 1;
  for (const sentence of findSentences(text)) {
    // Where its first words are; a sentence over two lines is found by them as well.
    const start = sentence.split(" ").slice(0, 3).join(" ");
    const at = text.indexOf(start, from);
    if (at >= from) {
      line += text.slice(from, at).split("\n").length - 1;
      from = at;
    }
    if (sentence.split(/\s+/).length >= MIN_WORDS) found.push({ sentence, line });
  }
  return found;
}

// --- A memory as sentences, for rules about its content rather than its formatting.

/** Anything longer is data: sentences beyond this are ignored. */
const MAX_CHARS = 20_000;

/** Of Markdown text; code blocks, tables and headings are not sentences. */
export function findSentences(text: string): string[] {
  return blankCode(text.slice(0, MAX_CHARS), { onlyFences: true })
    .split(/\n\s*\n|\n(?=[ \t]*(?:[-*+]|\d{1,3}[.)])\s)|\n(?=[ \t]*\*\*)|\n(?=#)/)
    .filter((block) => !/^\s*(?:#|\||<!--)/.test(block))
    .flatMap((block) => block.replace(/\s+/g, " ").split(/(?<=[.!?;])\s+(?=[A-Z`"'*(])/))
    .map(bare)
    .filter((sentence) => sentence !== "");
}

/** Without list markers, emphasis and the final full stop. */
function bare(sentence: string): string {
  return sentence
    .trim()
    .replace(/^(?:[-*+]|\d{1,3}[.)])\s+/, "")
    .replace(/^\[[ x]\]\s+/i, "")
    .replace(/\*\*|__/g, "")
    .replace(/[\s.;,!]+$/, "")
    .trim();
}

/** The part of a memory before its reasons: its rule or fact. */
export function leadOf(body: string): string {
  const text = body.trim().replace(/^(?:#{1,6}\s*(?:rule|fact|context|summary)\s*\n+)/i, "");
  const end = /\n\s*\n|\n\s*(?:\*\*(?:why|how to apply)|#+\s*(?:why|how to apply)\b)/i.exec(text);
  return (end ? text.slice(0, end.index) : text).slice(0, MAX_CHARS);
}
