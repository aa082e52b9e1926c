/** A short name and a one-line description for what was said, made of its own words. */

/** As many words as a title has, and what fits a line of a list. */
const MAX_WORDS = 8;
const MAX_NAME = 80;
/** With the name and the file it keeps an index line under 200 characters mostly. */
const MAX_DESCRIPTION = 140;

/**
 * Statements that begin alike get different names, as a save under a name that is taken would be an update: of a long one the
 * first words are taken and the most telling ones of the rest (names, numbers, identifiers), in their order.
 */
export function nameStatement(statement: string): string {
  // Without its "every" a weekday would be one day.
  const line = statement
    .replace(/\s+/g, " ")
    .trim()
    .replace(/\b(?:every|each) ((?:mon|tues|wednes|thurs|fri|satur|sun)day)\b/gi, "$1s");
  const picked = isSpaced(line) ? pickWords(line.split(" ")) : pickUnspaced(line);
  // Text without spaces may still hold many short words of another script.
  const cut = picked.split(" ").slice(0, MAX_WORDS).join(" ");
  return stripEnds(cut.replace(/["“”„«»「」『』`]/g, "")) || "note";
}

export function describeStatement(statement: string): string {
  const line = statement.replace(/\s+/g, " ").trim();
  if (line.length <= MAX_DESCRIPTION) return line;
  const cut = line.slice(0, MAX_DESCRIPTION - 1);
  const end = isSpaced(line) ? cut.lastIndexOf(" ") : lastWordEnd(cut);
  return `${stripEnds(end > 0 ? cut.slice(0, end) : wellFormed(cut))}…`;
}

/** Chinese and Japanese write words without spaces between them. */
function isSpaced(line: string): boolean {
  const unspaced = line.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/gu)?.length ?? 0;
  return unspaced < line.length / 4;
}

const FILLER =
  /^(?:a|an|the|please|just|really|very|also|that|which|so|then|is|are|was|were|be|been|will|it|its|it's|our|we|you|they|and|there)$/i;

function pickWords(all: readonly string[]): string {
  const fitting = all.map((word) => (word.length > MAX_NAME ? wellFormed(word.slice(0, MAX_NAME)) : word));
  const whole = (words: readonly string[]) => words.length <= MAX_WORDS && words.join(" ").length <= MAX_NAME;
  if (whole(fitting)) return fitting.join(" ");
  const clause = firstClause(fitting);
  if (whole(clause)) return clause.join(" ");
  const words = dropFiller(clause);
  if (whole(words)) return words.join(" ");
  const opening = words.slice(0, MAX_WORDS - TELLING);
  const telling = words
    .map((word, at) => ({ at, weight: weigh(word) }))
    .slice(opening.length)
    .sort((a, b) => b.weight - a.weight || a.at - b.at)
    .slice(0, TELLING)
    .sort((a, b) => a.at - b.at)
    .map(({ at }) => words[at]!);
  let name = "";
  for (const word of [...opening, ...telling]) {
    const longer = name === "" ? word : `${name} ${word}`;
    if (longer.length <= MAX_NAME) name = longer;
  }
  return name.replace(/[,;:](?= )/g, "");
}

/** How many of the words come from the rest of a long statement. */
const TELLING = 2;

/** A clause shorter than this says too little alone; one that is followed by an exception, or is about "them", says something else. */
const MIN_CLAUSE = 4;

function firstClause(words: readonly string[]): readonly string[] {
  if (/^(?:it|they|this|that|these|those|he|she|there)$/i.test(words[0] ?? "")) return words;
  const end = words.findIndex((word, i) => i >= MIN_CLAUSE - 1 && /[,;.]$/.test(word)) + 1;
  return end === 0 || /^(?:except|unless|not|but|only|and|or|if|when)$/i.test(words[end] ?? "")
    ? words
    : words.slice(0, end);
}

function dropFiller(words: readonly string[]): readonly string[] {
  return words.filter((word, i) => i === 0 || !FILLER.test(bare(word)));
}

function weigh(word: string): number {
  const core = bare(word);
  const digits = /\d/.test(core) ? 6 : 0;
  if (core.length < 2) return digits;
  return digits + (/\p{Lu}/u.test(core) ? 5 : 0) + (/[_/.-]/.test(core) ? 3 : 0) + Math.min(core.length, 10) / 3;
}

/** The first clause, in whole words. */
function pickUnspaced(line: string): string {
  const clause = /^[^，。、；,;]{6,40}(?=[，。、；,;])/u.exec(line)?.[0];
  if (clause && line.length > 40) return `${clause}${pickTail(line.slice(clause.length))}`;
  return line.length <= 40 ? line : line.slice(0, lastWordEnd(line.slice(0, 40)));
}

/** Latin words and numbers behind the first clause tell two such statements apart. */
function pickTail(rest: string): string {
  const words = rest.match(/[A-Za-z0-9][\w./-]{1,20}/g)?.slice(0, 2) ?? [];
  return words.length > 0 ? ` ${words.join(" ")}` : "";
}

function lastWordEnd(text: string): number {
  let last = 0;
  for (const { index } of new Intl.Segmenter(undefined, { granularity: "word" }).segment(text)) last = index;
  return last || wellFormed(text).length;
}

function bare(word: string): string {
  return word.replace(/^[^\p{L}\p{N}#@\\/]+|[^\p{L}\p{N}]+$/gu, "");
}

/** No punctuation at the ends, and no word that waits for another one. */
function stripEnds(name: string): string {
  return name
    .replace(/^[\s.,;:!?、。，：–—-]+|[\s.,;:!?、。，：–—-]+$/gu, "")
    .replace(/(?: (?:the|a|an|of|and|or|to|in|on|at|for|with|by|from|that|is|are|because|but|not))+$/i, "");
}

function wellFormed(text: string): string {
  return text.replace(/[\uD800-\uDBFF]$/, "");
}
