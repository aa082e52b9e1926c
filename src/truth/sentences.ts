/** Splits a memory into sentences, for rules about its content rather than its formatting. */

/** Anything longer is data: sentences beyond this are ignored. */
const MAX_CHARS = 20_000;

/** Of Markdown text; code blocks, tables and headings are not sentences. */
export function findSentences(text: string): string[] {
  return blankCode(text.slice(0, MAX_CHARS))
    .split(/\n\s*\n|\n(?=[ \t]*(?:[-*+]|\d{1,3}[.)])\s)|\n(?=[ \t]*\*\*)|\n(?=#)/)
    .filter((block) => !/^\s*(?:#|\||<!--)/.test(block))
    .flatMap((block) => block.replace(/\s+/g, " ").split(/(?<=[.!?;])\s+(?=[A-Z`"'*(])/))
    .map(bare)
    .filter((sentence) => sentence !== "");
}

/**
 * Replaces code blocks with blank lines, so that lines keep their numbers. A block that is not closed extends to the
 * end.
 */
export function blankCode(text: string): string {
  if (!text.includes("```") && !text.includes("~~~")) return text;
  let fence: string | null = null;
  const lines = text.split("\n").map((line) => {
    const mark = /^[ \t]*(```|~~~)/.exec(line)?.[1];
    if (fence === null && mark === undefined) return line;
    if (fence === null) fence = mark ?? null;
    else if (mark === fence) fence = null;
    return "";
  });
  return lines.join("\n");
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
