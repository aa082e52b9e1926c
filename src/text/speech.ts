/**
 * Extracts a person's own words from a message, sentence by sentence: no code, quotes, logs, tags or pasted documents.
 */

export interface Sentence {
  /** As it was said, on one line. */
  text: string;
  /** Of the same length, with quotes and inline code blanked and apostrophes straight: what the patterns are matched against. */
  plain: string;
}

/** Replaces what was blanked: not a word, so that no pattern reads across it. */
export const BLANK = "\uFFFC";

/** Replaces a credential. A sentence that contains one is ignored. */
export const SECRET = "\uFFFB";

export function splitSpeech(message: string): Sentence[] {
  const own = dropAttached(dropElements(message.replace(/\r\n?/g, "\n")));
  const lines = dropPrinted(dropFences(own));
  return dropPasted(
    lines
      .map((line) => line.replace(/\s+/g, " ").trim())
      .filter((line) => line !== "")
      .join("\n"),
  )
    .split("\n")
    .flatMap((line) => splitLine(line.replace(/^(?:[-*+•]|\d{1,2}[.)]) /, "")));
}

/**
 * A message without what is certainly not the person's own text: comments, elements, quoted lines, and everything after
 * words to assistants. Code and texts to work on stay: they are often the person's own.
 */
export function dropForeign(message: string): string {
  const lines = dropElements(message).split("\n");
  const own = lines.filter((line) => !/^\s*>/.test(line)).join("\n");
  const planted = PLANTED.exec(own);
  return planted ? own.slice(0, planted.index) : own;
}

/** Comments, and elements such as `<system-reminder>` with their contents. `Vec<T>` is not closed and stays. */
function dropElements(text: string): string {
  const source = text.replace(/<!--[\s\S]*?(?:-->|$(?![\s\S]))/g, "\n");
  const unclosed = new Set<string>();
  let kept = "";
  let from = 0;
  for (const { 0: tag, 1: name = "", index } of source.matchAll(/<([a-z][\w-]{0,40})(?: [^<>]{0,200})?>/gi)) {
    if (index < from || unclosed.has(name)) continue;
    const end = source.indexOf(`</${name}>`, index + tag.length);
    if (end === -1) unclosed.add(name);
    else {
      kept += `${source.slice(from, index)}\n`;
      from = end + name.length + 3;
    }
  }
  return kept + source.slice(from);
}

/** "Fix the typos:" or "what did they write?" and a blank line: the paragraphs after it are a text to work on. */
function dropAttached(text: string): string {
  const end = ATTACHED.exec(text);
  return end ? text.slice(0, end.index + end[0].length) : text;
}

const ATTACHED = new RegExp(
  `(?:^|\\n)(?!.*\\b(?:remember|record|note|notes|mind|memory|merk|things?|rules?)\\b)(?:${[
    "[^\\n]{0,200}[:：]",
    "[^\\n]{0,200}\\b(?:wrote|writes?|said|says|posted|sent|got|this|text|mail|message|log|issue|ticket)\\b[^\\n]{0,40}[?:.]",
    "[^\\n]{0,120}\\b(?:tone|wording|typos?|grammar|subject line|headline|shorten|summar\\w+|translat\\w+|proofread|rephrase|rewrite|reword|polish|bullet points|this (?:text|e?mail|message|comment|paragraph|draft|post))\\b[^\\n]{0,60}",
  ].join("|")}) *\\n[ \\t]*\\n`,
  "i",
);

/** Without code in fences and quoted lines. A fence that is not closed extends to the end. */
function dropFences(text: string): string[] {
  let fence = "";
  return text.split("\n").filter((line) => {
    const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1] ?? "";
    const inside = fence !== "";
    if (!inside && mark !== "") fence = mark;
    else if (inside && mark.startsWith(fence)) fence = "";
    return !inside && mark === "" && !/^\s*>/.test(line);
  });
}

/**
 * "translate this: …" and words addressed to assistants: what follows is another text, not something that the person
 * says to us.
 */
function dropPasted(text: string): string {
  const planted = PLANTED.exec(text);
  const own = planted ? text.slice(0, planted.index) : text;
  return own.slice(0, Math.min(...PASTED.map((pattern) => pattern.exec(own)?.index ?? own.length)));
}

/** How another text is announced. */
const PASTED = [
  /(?:^|[.!?] |\n)(?:(?:can|could) you |please |pls |and |now |ok |then ){0,4}(?:translate|summari[sz]e|proofread|rephrase|reword|paraphrase|rewrite|explain|review|analy[sz]e|übersetze?|traduis|traduce|fasse?|here(?:'s| is) (?:the|a|an|my|what) (?:text|page|readme|docs?|document|e?mail|message|log|output|transcript|file|article|comment|issue|error)s?)\b[^:：\n.!?]{0,80}[:：]/i,
  // "Write in the manual: …", "add to the template: …". Not what is to go into the memory itself.
  /(?:^|[.!?] |\n)(?:(?:can|could) you |please |pls |and |now |ok |then ){0,4}(?:write|add|put|append|insert|paste|include|print|type|mention|state|change|set)\b(?![^:：\n]{0,80}\b(?:memory|memories|notes?|down)\b)[^:：\n.!?]{0,60}\b(?:in|to|into|at|on|as|under|like)\b[^:：\n.!?]{0,60}[:：]/i,
  // "New copy for the banner: …"
  /(?:^|[.!?] |\n)(?:the |a |our )?(?:new )?(?:[\w-]+ )?(?:copy|text|wording|label|title|headline|caption|tooltip|message|hint|subject|slogan|banner|placeholder|requirement|acceptance criterion|commit message)\b[^:：\n.!?]{0,60}(?:[:：]| reads? )/i,
  // "The mail should say: …"
  /(?:^|[.!?] |\n)[^:：\n.!?]{0,100}\b(?:should|must|shall|could|to|it|which|that) (?:says?|reads?|states?|mentions?|contains?)\b[^:：\n.!?]{0,40}[:：]/i,
  // A letter begins; at the beginning of the message it is the person's own greeting.
  /(?:^dear (?:customers?|users?|team|all|colleagues|friends|sir|madam)|(?<=\n) *(?:dear (?:\w+ ){0,3}\w+|(?:hi|hello) (?:team|all|everyone|folks)|sehr geehrte\w*[^\n]{0,40}|liebe (?:kolleg|alle)\w*))[,!]/i,
  // "This is from their FAQ", "here's what Tomas wrote": shown to the agent, but said by or meant for another person.
  /(?:^|[.!?:] |\n)(?:this is|that's|these are) (?:from|what)\b|(?:^|[.!?] |\n)(?:i |we )?(?:found|got|saw|received) (?:this|these)\b|(?:^|[.!?] |\n)here(?:'s| is| are) (?:what|my|the|our|his|her|their)\b|(?:^|[.!?] |\n)my (?:[\w-]+ )?(?:notes|standup|draft|summary|minutes)\b[^:\n]{0,40}:/i,
];

const PLANTED =
  /\b(?:note|message|instructions?|attention)\s+(?:to|for)\s+(?:all\s+|any\s+|the\s+)?(?:ai\b|llms?\b|assistants?\b|(?:coding\s+)?agents?\b|(?:language\s+)?models?\b)|\b(?:ai|llm)\s+(?:assistants?|agents?|models?|tools?)\s*(?:reading\s+this|[:,])|\b(?:assistants?|agents?)\s*(?:reading\s+this)?:|\bignore\s+(?:all\s+|any\s+)?(?:previous|prior|earlier)\s+instructions|^ *system *:/im;

/** Without what a program printed. A paragraph that begins with such a line and stands apart from what was said is pasted whole. */
function dropPrinted(lines: readonly string[]): string[] {
  let isPasted = false;
  return lines.filter((line, i) => {
    if (line.trim() === "") isPasted = false;
    else if (i > 0 && lines[i - 1]!.trim() === "" && isNoise(line)) isPasted = true;
    return !isPasted && !isNoise(line);
  });
}

/** Lines that a program wrote: logs, stack traces, diffs, shell prompts, tables. */
function isNoise(line: string): boolean {
  return (
    /^\s*(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d|\[\d\d:\d\d\]|\[\d+\/\d+\]|#\d+\s|(?:\[?(?:ERROR|WARN(?:ING)?|INFO|DEBUG|TRACE|FATAL|NOTICE)\]?)[\s:]|at\s+\S+\s*\(|File ".*", line \d|Traceback|\$ \S|[+-]{3} [ab]\/|@@ |\||diff --git)/.test(
      line,
    ) || /^(?: {4}|\t)\S.*[;{}()=]/.test(line)
  );
}

const segmenter = new Intl.Segmenter("en", { granularity: "sentence" });

/** By Unicode's rules, and also where a full stop is followed by a small letter, as many people type. */
function splitLine(line: string): Sentence[] {
  const plainLine = blankQuotes(line);
  const sentences: Sentence[] = [];
  let start = 0;
  const take = (end: number) => {
    const raw = plainLine.slice(start, end);
    const from = start + (raw.length - raw.trimStart().length);
    const to = from + raw.trim().length;
    if (to > from) sentences.push({ text: line.slice(from, to), plain: plainLine.slice(from, to) });
    start = end;
  };
  for (const { segment, index } of segmenter.segment(plainLine)) {
    for (const stop of segment.matchAll(/[.!?]\s+(?=\S)/g)) {
      const end = index + stop.index + stop[0].length;
      if (isEnd(plainLine, end)) take(end);
    }
    const end = index + segment.length;
    if (isEnd(plainLine, end)) take(end);
  }
  take(line.length);
  return sentences;
}

/** Not after an abbreviation, between "4." and "März", or in the middle of an address. */
function isEnd(line: string, end: number): boolean {
  const [before, after] = [line.slice(Math.max(0, end - 14), end), line.slice(end, end + 4)];
  if (/\S$/.test(before) && /^[\w/=]/.test(after) && /\/\S*$/.test(line.slice(0, end))) return false;
  return !ABBREVIATION.test(before) && !(/(?:^|[\s(])\d{1,2}\.\s+$/.test(before) && MONTH.test(after));
}

const MONTH = /^(?:jan|feb|mär|apr|mai|jun|jul|aug|sep|okt|nov|dez)/i;
const ABBREVIATION =
  /(?:^|[\s(])(?:\d{1,2}\.\s+$(?<=\b(?:am|vom|zum|bis|ab|dem|der|den|le)\s\d{1,2}\.\s+))|(?:^|[\s(])(?:e\.g|i\.e|z\.b|etc|vs|approx|ca|dr|mr|mrs|ms|prof|st|incl|resp|max|min|fig|bzw|usw)\.\s+$/i;

/** Longer quotes are likelier two apostrophes or inch marks than one quote. */
const MAX_QUOTE = 300;

const QUOTES = [
  /`{1,3}[^`]+`{1,3}/g,
  new RegExp(`"[^"]{1,${MAX_QUOTE}}"`, "g"),
  new RegExp(`[“„«‟][^“”„«»]{1,${MAX_QUOTE}}[”“»]`, "g"),
  new RegExp(`[「『][^「」『』]{1,${MAX_QUOTE}}[」』]`, "g"),
  new RegExp(`(?<=^|[\\s(:])'[^']{1,${MAX_QUOTE}}'(?=$|[\\s.,;:!?)])`, "g"),
  new RegExp(`(?<=^|[\\s(:])‘[^‘’]{1,${MAX_QUOTE}}’(?=$|[\\s.,;:!?)])`, "g"),
];

function blankQuotes(line: string): string {
  const blanked = QUOTES.reduce((text, quote) => text.replace(quote, (found) => BLANK.repeat(found.length)), line);
  return blanked.replace(/[’‘ʼ]/g, "'");
}
